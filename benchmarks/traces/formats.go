// SPDX-License-Identifier: BSD-3-Clause

// Package traces reads traces and machines: the Standard Workload Format of the Parallel Workloads
// Archive ([ReadSWF]), the output of Slurm's sacct, and two traces of GPU clusters ([ReadAlibaba],
// [ReadPhilly]). [ReadFile] tells them apart. Package workload says what becomes of a job.
package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aucsched/aucsched/internal/workload"
)

// Options are those of all the readers, each for its own format.
type Options struct {
	SWF   SWFOptions
	Sacct workload.SacctOptions
	GPU   GPUTraceOptions
}

// format is a kind of trace file.
type format struct {
	what string // in words
	// is tells the format by the file's path, in lower case and without .gz, and
	// by the file's first line, or as much of it as is at hand.
	is   func(path string, first []byte) bool
	read func(r io.Reader, name string, o Options) (*workload.Workload, error)
	// fields are those that a file of comma-separated values must name in its first line, which
	// tells its format where is is nil.
	fields []string
	advice string // for a file that lacks some of the fields
}

// formats are tried in order.
var formats = []format{
	{
		what: "Standard Workload Format (18 numbers a line, comments behind ;)",
		is: func(path string, first []byte) bool {
			return strings.HasSuffix(path, ".swf") || isSWF(first)
		},
		read: func(r io.Reader, name string, o Options) (*workload.Workload, error) { return ReadSWF(r, name, o.SWF) },
	},
	{
		what: "sacct --parsable2 (first line: field names with JobID, separated by |)",
		is: func(_ string, first []byte) bool {
			return bytes.Contains(first, []byte("|")) && bytes.Contains(bytes.ToLower(first), []byte("jobid"))
		},
		read: func(r io.Reader, name string, o Options) (*workload.Workload, error) {
			return workload.ReadSacct(r, name, o.Sacct)
		},
	},
	{
		what: "Alibaba's list of pods (first line: name,cpu_milli,...)",
		read: func(r io.Reader, name string, o Options) (*workload.Workload, error) {
			return ReadAlibaba(r, name, o.GPU)
		},

		fields: alibabaPods, advice: "; --policy fgd and the others for pods need no times",
	},
	{
		what: "Philly's jobs (first line: timestamp,duration,num_gpus,...)",
		read: func(r io.Reader, name string, o Options) (*workload.Workload, error) {
			return ReadPhilly(r, name, o.GPU)
		},

		fields: phillyFields,
	},
}

// ReadFile is Read of the file at path.
func ReadFile(path string, o Options) (*workload.Workload, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	defer file.Close()
	return Read(file, path, o)
}

// Read reads a trace in whichever known format it is, packed with gzip or not. The format is told
// by the path's suffix or by the first line that is not blank.
func Read(file io.Reader, path string, o Options) (*workload.Workload, error) {
	r, err := workload.Plain(file, path)
	if err != nil {
		return nil, err
	}
	first, err := r.Peek(1 << 12)
	if len(first) == 0 && err != io.EOF {
		return nil, &workload.InputError{File: path, Err: workload.ReadError(err)}
	}
	first, _, _ = bytes.Cut(bytes.TrimLeft(first, " \t\r\n"), []byte("\n"))
	suffix := strings.TrimSuffix(strings.ToLower(path), ".gz")
	for _, f := range formats {
		if f.is != nil && f.is(suffix, first) || f.is == nil && len(missing(first, f.fields)) == 0 {
			return f.read(r, path, o)
		}
	}
	return nil, &workload.InputError{File: path, Err: unknownFormat(first)}
}

// isSWF tells a comment or a record of SWF.
func isSWF(line []byte) bool {
	if bytes.HasPrefix(line, []byte(";")) {
		return true
	}
	fields := bytes.Fields(line)
	for _, f := range fields[:min(len(fields), swfFields)] {
		if _, err := workload.ParseDecimal(f); err != nil {
			return false
		}
	}
	return len(fields) >= swfFields
}

// unknownFormat says what a file lacks that has half of a format's fields, or else which formats
// there are.
func unknownFormat(first []byte) error {
	var known []string
	for _, f := range formats {
		if lacks := missing(first, f.fields); 2*len(lacks) <= len(f.fields) && len(lacks) > 0 {
			return fmt.Errorf("it begins like %s but its first line lacks %s%s", f.what, strings.Join(lacks, ", "), f.advice)
		}
		known = append(known, f.what)
	}
	return errors.New("in no known format; known are " + strings.Join(known, ", "))
}
