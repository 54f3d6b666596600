// SPDX-License-Identifier: BSD-3-Clause

// Package slurmconf reads slurm.conf: its lines, with those of the files that it includes, and the
// nodes and partitions that they describe.
package slurmconf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/aucsched/aucsched/internal/bom"
)

// Limits of what is read.
const (
	maxBytes    = 16 << 20 // a file
	maxIncludes = 64       // files
)

// Field is KEY=VALUE of a line, or a word alone, which has no value.
type Field struct{ Key, Value string }

// Line is a line, with those that continue it, and where it begins.
type Line struct {
	File   string
	Number int
	Fields []Field
}

// Get is the value of a key, whatever its case; the first of several.
func (l *Line) Get(key string) (value string, ok bool) {
	for _, f := range l.Fields {
		if strings.EqualFold(f.Key, key) {
			return f.Value, true
		}
	}
	return "", false
}

// Error is what is wrong with a file, a line of it, or a field of that.
type Error struct {
	File         string
	Line         int    // 0: the file as a whole
	Field, Value string // both may be empty
	Err          error
}

func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", text, e.Line)
	}
	if e.Field != "" {
		text = fmt.Sprintf("%s: %s: %q", text, e.Field, e.Value)
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// bad is an error of a field of the line.
func (l *Line) bad(field, value, format string, args ...any) error {
	return &Error{l.File, l.Number, field, value, fmt.Errorf(format, args...)}
}

// Conf is a slurm.conf: the lines that say something, those of an included file in place of the
// line that includes it.
type Conf struct{ Lines []Line }

// Read reads a file and what it includes. Names of included files are relative to the directory of
// the file that includes them.
func Read(path string) (*Conf, error) {
	r := reader{}
	if err := r.file(path); err != nil {
		return nil, err
	}
	return &r.conf, nil
}

// Last is the value of a key of the whole file, of which the last line counts.
func (c *Conf) Last(key string) (value string, line *Line, ok bool) {
	for i := len(c.Lines) - 1; i >= 0; i-- {
		if value, ok = c.Lines[i].Get(key); ok {
			return value, &c.Lines[i], true
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

type reader struct {
	conf  Conf
	files int
}

func (r *reader) file(path string) error {
	if r.files++; r.files > maxIncludes {
		return &Error{File: path, Err: fmt.Errorf("more than %d files included", maxIncludes)}
	}
	text, err := readLimited(path)
	if err != nil {
		return err
	}
	if text, err = bom.Trim(text); err != nil {
		return &Error{File: path, Line: 1, Err: err}
	}
	return r.parse(string(text), path)
}

func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	switch {
	case err != nil:
		return nil, &Error{File: path, Err: err}
	case len(text) > maxBytes:
		return nil, &Error{File: path, Err: fmt.Errorf("more than %d MiB", maxBytes>>20)}
	}
	return text, nil
}

// parse takes the lines of a file.
func (r *reader) parse(text, path string) error {
	logical, number, n := "", 0, 0
	for physical := range strings.Lines(text) {
		n++
		if logical == "" {
			number = n
		}
		physical = strings.TrimRight(physical, "\r\n")
		if cut, on := strings.CutSuffix(physical, `\`); on {
			logical += cut
			continue
		}
		if err := r.line(Line{path, number, fields(logical + physical)}); err != nil {
			return err
		}
		logical = ""
	}
	return r.line(Line{path, number, fields(logical)})
}

func (r *reader) line(l Line) error {
	if len(l.Fields) == 0 {
		return nil
	}
	if !strings.EqualFold(l.Fields[0].Key, "include") {
		r.conf.Lines = append(r.conf.Lines, l)
		return nil
	}
	if len(l.Fields) != 2 || l.Fields[1].Value != "" {
		return &Error{l.File, l.Number, "", "", errors.New("after Include comes the name of one file")}
	}
	file := l.Fields[1].Key
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(l.File), file)
	}
	if err := r.file(file); err != nil {
		return fmt.Errorf("%s:%d: %w", l.File, l.Number, err)
	}
	return nil
}

// fields splits a line at white space outside double quotes, which it drops, up to a comment.
func fields(line string) (all []Field) {
	var field strings.Builder
	quoted, started := false, false
	flush := func() {
		if started {
			key, value, _ := strings.Cut(field.String(), "=")
			all = append(all, Field{key, value})
		}
		field.Reset()
		started = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted, started = !quoted, true
		case c == '#' && (i == 0 || line[i-1] != '\\'):
			flush()
			return all
		case !quoted && strings.IndexByte(" \t\r\n\v\f", c) >= 0:
			flush()
		default:
			field.WriteByte(c)
			started = true
		}
	}
	flush()
	return all
}
