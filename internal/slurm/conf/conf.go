// SPDX-License-Identifier: BSD-3-Clause

// Package conf reads slurm.conf and files of the same grammar: its lines, with those of the
// files that it includes, and the nodes and partitions that they describe.
package conf

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/input"
)

// Limits of what is read.
const (
	maxBytes    = 16 << 20 // of a file with all that it includes
	maxIncludes = 64       // files
)

// Conf is a slurm.conf.
type Conf struct {
	Path string
	// Lines are those that say something, the lines of an included file in place of the Include.
	Lines []Line
	// Faults are what Slurm would refuse the file for, in the file's order. The fields that stand
	// before such a place have been read.
	Faults []*Error
	// Moved says of files that are not where an Include names them which copies were read.
	Moved []*Error
}

// Read reads a file and the files that it includes.
func Read(path string) (*Conf, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFrom(f, path)
}

// ReadFrom is Read of what is open already; path is the file's name in errors, and its directory is
// that of the files that it includes.
func ReadFrom(in io.Reader, path string) (*Conf, error) {
	r := reader{conf: Conf{Path: path}, dir: filepath.Dir(path), left: maxBytes}
	if err := r.file(in, path); err != nil {
		return nil, err
	}
	return &r.conf, nil
}

// Last is the value of a setting, of which the last line counts. Lines with several fields, such as
// those of nodes, set nothing but their first.
func (c *Conf) Last(key string) (value string, line *Line, ok bool) {
	for i := len(c.Lines) - 1; i >= 0; i-- {
		if first := &c.Lines[i].Fields[0]; strings.EqualFold(first.Key, key) {
			return first.Value, &c.Lines[i], true
		}
	}
	return "", nil, false
}

// Option is the value of an option of a list with commas, as SchedulerParameters is one; given says
// whether it is there.
func (c *Conf) Option(key, option string) (value string, given bool) {
	list, _, _ := c.Last(key)
	for one := range strings.SplitSeq(list, ",") {
		if name, text, _ := strings.Cut(strings.TrimSpace(one), "="); strings.EqualFold(name, option) {
			value, given = text, true
		}
	}
	return value, given
}

// reader reads a file and what it includes.
type reader struct {
	conf        Conf
	dir         string   // of the main file, to which all names of files are relative
	files, left int      // read so far, and bytes still to be read
	within      []string // the files that are being read, each includes the next
}

func (r *reader) file(in io.Reader, path string) error {
	if r.files++; r.files > maxIncludes {
		return &Error{File: path, Err: fmt.Errorf("more than %d files included", maxIncludes)}
	}
	text, err := io.ReadAll(io.LimitReader(in, int64(r.left)+1))
	if err != nil {
		return &Error{File: path, Err: err}
	}
	if r.left -= len(text); r.left < 0 {
		return &Error{File: path, Err: fmt.Errorf("more than %d MiB, with all that is included", maxBytes>>20)}
	}
	if text, err = input.TrimMark(text); err != nil {
		return &Error{File: path, Line: 1, Err: err}
	}
	r.within = append(r.within, path)
	defer func() { r.within = r.within[:len(r.within)-1] }()
	return logicalLines(string(text), func(line string, number int) error { return r.line(line, path, number) })
}

// line takes a logical line.
func (r *reader) line(text, path string, number int) error {
	l := Line{File: path, Number: number}
	if name, rest, ok := included(text); ok {
		r.fault(&l, rest)
		return r.include(&l, name)
	}
	first, rest, ok := cutField(text)
	if ok {
		l.Fields = []Field{first}
	} else {
		rest = text
	}
	if begins(first.Key) {
		l.Fields, rest = fields(text)
		if k := slices.IndexFunc(l.Fields[1:], func(f Field) bool { return begins(f.Key) }) + 1; k > 0 {
			rest, l.Fields = l.Fields[k].Key+"="+l.Fields[k].Value, l.Fields[:k]
		}
	}
	if r.fault(&l, rest); len(l.Fields) > 0 {
		r.conf.Lines = append(r.conf.Lines, l)
	}
	return nil
}

// fault notes what Slurm can't read of a line, if anything.
func (r *reader) fault(l *Line, rest string) {
	if rest = strings.Trim(rest, space); rest == "" {
		return
	}
	err := fmt.Errorf("the line can't be read from %.60q on", rest)
	r.conf.Faults = append(r.conf.Faults, &Error{File: l.File, Line: l.Number, Err: err})
}

// include reads the file that a line includes. In its name %c is the cluster's, as it has been read
// so far, in lower case.
func (r *reader) include(l *Line, name string) error {
	if name == "" {
		return l.bad("Include", name, "the name of a file is missing")
	}
	if strings.Contains(name, "%c") {
		cluster, _, ok := r.conf.Last("ClusterName")
		if !ok {
			return l.bad("Include", name, "%%c needs a ClusterName before it")
		}
		name = strings.ReplaceAll(name, "%c", strings.ToLower(cluster))
	}
	if strings.Contains(name, "*") {
		return l.bad("Include", name, "Slurm includes single files, and knows no patterns")
	}
	path, err := r.find(l, name)
	if err != nil {
		return err
	}
	if slices.Contains(r.within, path) {
		return l.bad("Include", name, "includes itself: %s", strings.Join(append(r.within, path), " -> "))
	}
	f, err := os.Open(path)
	if err != nil {
		return l.bad("Include", name, "%w", err)
	}
	defer f.Close()
	if err := r.file(f, path); err != nil {
		return fmt.Errorf("%s:%d: %w", l.File, l.Number, err)
	}
	return nil
}

// find is where an included file is: where its name says. For a copy of a slurm.conf from elsewhere
// it may be beside the copy or below its directory, with as many directories of the name as fit.
func (r *reader) find(l *Line, name string) (string, error) {
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(r.dir, name)
	}
	_, err := os.Stat(path)
	if err == nil || !os.IsNotExist(err) {
		return path, nil
	}
	for rest, more := name, true; more; {
		if _, rest, more = strings.Cut(rest, "/"); !more || rest == "" {
			continue
		}
		if beside := filepath.Join(r.dir, rest); Exists(beside) {
			moved := fmt.Errorf("is not there: %s was read", beside)
			r.conf.Moved = append(r.conf.Moved, &Error{l.File, l.Number, "Include", name, moved})
			return beside, nil
		}
	}
	return "", l.bad("Include", name, "%w, nor a copy of it beside the slurm.conf", err)
}

// Exists reports whether there is such a file.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// begins reports whether lines that begin with such a key have further fields. It stands nowhere
// else in a line.
func begins(key string) bool {
	return slices.ContainsFunc(several, func(k string) bool { return strings.EqualFold(k, key) })
}

var several = []string{"NodeName", "PartitionName", "NodeSet", "DownNodes", "FrontendName", "SwitchName", "BlockName"}
