// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// SacctFormat is a value of sacct's --format that has all that ReadSacct uses:
//
//	sacct --allusers --allocations --parsable2 --starttime=... --format=...
const SacctFormat = "JobID,Submit,Start,End,ElapsedRaw,TimelimitRaw,ReqCPUS,AllocCPUS,ReqNodes,NNodes,ReqTRES,AllocTRES,State,Priority,User"

// Row is a line of sacct's output, taken apart by the line of names.
type Row struct {
	Column map[string]int // index of a field by its name in lower case; nil before the names
	Names  []string
	Fields []string
	Fault  error           // the first one met in the values of this row
	all    map[string]bool // the names of all lines of names, in lower case
}

// needed lists, for each thing that a job must have, the fields that can give it.
var needed = []struct {
	what string
	any  []string
}{
	{"the job's ID", []string{"JobID", "JobIDRaw"}},
	{"the submission", []string{"Submit"}},
	{"the start", []string{"Start"}},
	{"the run time", []string{"ElapsedRaw", "Elapsed", "End"}},
	{"the time limit", []string{"TimelimitRaw", "Timelimit"}},
	{"the number of cores", []string{"ReqCPUS", "AllocCPUS", "NCPUS", "ReqTRES", "AllocTRES"}},
}

// areNames reports whether a line is one of field names again, as in files that were joined.
func (r *Row) areNames(text string) bool {
	if text == strings.Join(r.Names, "|") || text == strings.Join(r.Names, "|")+"|" {
		return true
	}
	lower := "|" + strings.ToLower(text) + "|"
	return strings.Contains(lower, "|submit|") && (strings.Contains(lower, "|jobid|") || strings.Contains(lower, "|jobidraw|"))
}

// readNames takes the line of field names.
func (r *Row) readNames(text string) error {
	r.Names = strings.Split(strings.TrimSuffix(text, "|"), "|")
	r.Column = make(map[string]int, len(r.Names))
	for i, name := range r.Names {
		key := strings.ToLower(name)
		if _, ok := r.Column[key]; ok {
			return &InputError{Field: name, Value: text, Err: errors.New("named twice in the first line")}
		}
		r.Column[key] = i
	}
	if r.all == nil {
		r.all = make(map[string]bool, len(r.Names))
	}
	for key := range r.Column {
		r.all[key] = true
	}
	for _, n := range needed {
		if !r.hasAny(n.any) {
			return &InputError{Err: fmt.Errorf("no field %s for %s; aucsched try --how prints the command that writes all",
				strings.Join(n.any, " or "), n.what)}
		}
	}
	return nil
}

func (r *Row) Has(name string) bool {
	_, ok := r.Column[strings.ToLower(name)]
	return ok
}

func (r *Row) hasAny(names []string) bool { return slices.ContainsFunc(names, r.Has) }

var errFreeText = errors.New("(leave out fields of free text such as JobName)")

// split takes a line of values.
func (r *Row) split(text string) error {
	r.Fault = nil
	r.Fields = strings.Split(text, "|")
	if n := len(r.Fields); n == len(r.Names)+1 && r.Fields[n-1] == "" {
		r.Fields = r.Fields[:n-1] // --parsable ends each line with the separator
	}
	if len(r.Fields) != len(r.Names) {
		return &InputError{Err: fmt.Errorf("%d fields, the first line names %d %w", len(r.Fields), len(r.Names), errFreeText)}
	}
	return nil
}

// Get is the value of a field, by its name in lower case; empty if missing.
func (r *Row) Get(name string) string {
	if i, ok := r.Column[name]; ok {
		return strings.TrimSpace(r.Fields[i])
	}
	return ""
}

// Blame notes a fault of the row, if it is the first.
func (r *Row) Blame(err error) {
	if r.Fault == nil {
		r.Fault = err
	}
}

// Bad notes a fault in the value of a field.
func (r *Row) Bad(name string, err error) {
	r.Blame(&InputError{Field: r.Names[r.Column[name]], Value: r.Get(name), Err: err})
}

// Parse is the parsed value of a field, or 0 where it is empty or missing.
func (r *Row) Parse(name string, parser func(string) (int64, error)) int64 {
	v := r.Get(name)
	if v == "" {
		return 0
	}
	n, err := parser(v)
	if err != nil {
		r.Bad(name, err)
		return 0
	}
	return n
}

// number is the value of a field that holds a number.
func (r *Row) number(name string) int64 { return r.Parse(name, ParseCount) }

// maxCount bounds the counts in sacct's output, so that sums of them are in range.
const maxCount = 1 << 40

// ParseCount parses a whole number of at least 0, with Slurm's suffixes for large
// ones: 1.50K is 1536.
func ParseCount(v string) (int64, error) {
	digits := strings.TrimRight(v, "KMG")
	unit := 1.0
	switch v[len(digits):] {
	case "":
	case "K":
		unit = 1 << 10
	case "M":
		unit = 1 << 20
	case "G":
		unit = 1 << 30
	default:
		return 0, ErrNotNumber
	}
	f, err := ParseDecimal([]byte(digits))
	switch f *= unit; {
	case err != nil:
		return 0, err
	case f != math.Trunc(f):
		return 0, ErrNotWhole
	case f < 0:
		return 0, errors.New("must not be negative")
	case f > maxCount:
		return 0, ErrTooLarge
	}
	return int64(f), nil
}
