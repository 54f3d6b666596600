// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// row is a line of sacct's output, taken apart by the line of names.
type row struct {
	column map[string]int // index of a field by its name in lower case; nil before the names
	names  []string
	fields []string
	fault  error           // the first one met in the values of this row
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
func (r *row) areNames(text string) bool {
	if text == strings.Join(r.names, "|") || text == strings.Join(r.names, "|")+"|" {
		return true
	}
	lower := "|" + strings.ToLower(text) + "|"
	return strings.Contains(lower, "|submit|") && (strings.Contains(lower, "|jobid|") || strings.Contains(lower, "|jobidraw|"))
}

// readNames takes the line of field names.
func (r *row) readNames(text string) error {
	r.names = strings.Split(strings.TrimSuffix(text, "|"), "|")
	r.column = make(map[string]int, len(r.names))
	for i, name := range r.names {
		key := strings.ToLower(name)
		if _, ok := r.column[key]; ok {
			return &InputError{Field: name, Value: text, Err: errors.New("named twice in the first line")}
		}
		r.column[key] = i
	}
	if r.all == nil {
		r.all = make(map[string]bool, len(r.names))
	}
	for key := range r.column {
		r.all[key] = true
	}
	for _, n := range needed {
		if !r.hasAny(n.any) {
			return &InputError{Err: fmt.Errorf("no field %s for %s; run sacct --parsable2 --format=%s",
				strings.Join(n.any, " or "), n.what, SacctFormat)}
		}
	}
	return nil
}

func (r *row) has(name string) bool {
	_, ok := r.column[strings.ToLower(name)]
	return ok
}

func (r *row) hasAny(names []string) bool {
	for _, n := range names {
		if r.has(n) {
			return true
		}
	}
	return false
}

var errFreeText = errors.New("(leave out fields of free text such as JobName)")

// split takes a line of values.
func (r *row) split(text string) error {
	r.fault = nil
	r.fields = strings.Split(text, "|")
	if n := len(r.fields); n == len(r.names)+1 && r.fields[n-1] == "" {
		r.fields = r.fields[:n-1] // --parsable ends each line with the separator
	}
	if len(r.fields) != len(r.names) {
		return &InputError{Err: fmt.Errorf("%d fields, the first line names %d %w", len(r.fields), len(r.names), errFreeText)}
	}
	return nil
}

// get is the value of a field, by its name in lower case; empty if missing.
func (r *row) get(name string) string {
	if i, ok := r.column[name]; ok {
		return strings.TrimSpace(r.fields[i])
	}
	return ""
}

// blame notes a fault of the row, if it is the first.
func (r *row) blame(err error) {
	if r.fault == nil {
		r.fault = err
	}
}

// bad notes a fault in the value of a field.
func (r *row) bad(name string, err error) {
	r.blame(&InputError{Field: r.names[r.column[name]], Value: r.get(name), Err: err})
}

// parse is the parsed value of a field, or 0 where it is empty or missing.
func (r *row) parse(name string, parser func(string) (int64, error)) int64 {
	v := r.get(name)
	if v == "" {
		return 0
	}
	n, err := parser(v)
	if err != nil {
		r.bad(name, err)
		return 0
	}
	return n
}

// number is the value of a field that holds a number.
func (r *row) number(name string) int64 { return r.parse(name, parseCount) }

// maxCount bounds the counts in sacct's output, so that sums of them are in range.
const maxCount = 1 << 40

// parseCount parses a whole number of at least 0, with Slurm's suffixes for large
// ones: 1.50K is 1536.
func parseCount(v string) (int64, error) {
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
		return 0, errNotNumber
	}
	f, err := parseDecimal([]byte(digits))
	switch f *= unit; {
	case err != nil:
		return 0, err
	case f != math.Trunc(f):
		return 0, errNotWhole
	case f < 0:
		return 0, errors.New("must not be negative")
	case f > maxCount:
		return 0, errTooLarge
	}
	return int64(f), nil
}
