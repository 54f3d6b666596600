// SPDX-License-Identifier: BSD-3-Clause

package localitylog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/workload"
)

// The lines of the authors' files are records of labelled fields in braces:
//
//	{ id: 0 memory: 128 bandwidth: 0.1 core: 20 }
var (
	clusterLabels  = []string{"id:", "memory:", "bandwidth:", "core:"}
	workloadLabels = []string{"id:", "subtime:", "delay:", "walltime:", "cores:", "user:", "data:", "data_size:",
		"workload:", "start_time_from_history:", "start_node_from_history:"}
)

// maxGB bounds memories and files, as package locality does.
const maxGB = 1e9

// maxLine is the length of the longest line that the readers take, in bytes.
const maxLine = 1 << 16

// records goes through the records of a file, one a line. Empty lines are passed over.
type records struct {
	name   string
	labels []string
	s      *bufio.Scanner
	line   int
	values []string
	err    error // the first fault of the current record, or of the file
}

func newRecords(r io.Reader, name string, labels []string) *records {
	b := bufio.NewReader(r)
	s := bufio.NewScanner(b)
	s.Buffer(make([]byte, 0, 1<<12), maxLine)
	records := &records{name: name, labels: labels, s: s}
	if err := input.SkipMark(b); err != nil {
		records.line = 1
		records.fail("", "", err)
	}
	return records
}

// next reads a record; false at the end or after an error.
func (r *records) next() bool {
	for r.err == nil && r.s.Scan() {
		r.line++
		if text := strings.TrimSpace(r.s.Text()); text != "" {
			return r.split(text)
		}
	}
	if err := r.s.Err(); err != nil && r.err == nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		r.line++
		r.fail("", "", fmt.Errorf("reading: %w", err))
	}
	return false
}

// split takes a record apart.
func (r *records) split(text string) bool {
	tokens := strings.Fields(text)
	want := 2*len(r.labels) + 2
	last := tokens[len(tokens)-1]
	switch {
	case tokens[0] != "{":
		return r.fail("line", tokens[0], errors.New(`must begin with "{"`))
	case last != "}":
		return r.fail("line", last, errors.New(`must end with "}"`))
	case len(tokens) != want:
		return r.fail("", "", fmt.Errorf("%d tokens: must be %d: { %s ... }", len(tokens), want, strings.Join(r.labels, " ... ")))
	}
	r.values = r.values[:0]
	for i, label := range r.labels {
		if got := tokens[1+2*i]; got != label {
			return r.fail(strings.TrimSuffix(label, ":"), got, fmt.Errorf("must be labelled %q", label))
		}
		r.values = append(r.values, tokens[2+2*i])
	}
	return true
}

// fail notes the first fault, and returns false.
func (r *records) fail(field, value string, err error) bool {
	if r.err == nil {
		r.err = &workload.InputError{File: r.name, Line: r.line, Field: field, Value: value, Err: err}
	}
	return false
}

// failField is fail for the field at place i.
func (r *records) failField(i int, err error) {
	r.fail(strings.TrimSuffix(r.labels[i], ":"), r.values[i], err)
}

// whole gives the field at place i as a whole number within low..high.
func (r *records) whole(i int, low, high int64) int64 {
	n, err := strconv.ParseInt(r.values[i], 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		r.failField(i, errors.New("must be a whole number"))
	case err != nil || n < low || n > high:
		r.failField(i, fmt.Errorf("must be in %d..%d", low, high))
	default:
		return n
	}
	return 0
}

// real gives the field at place i as a number from low on, above it if open, up to maxGB.
func (r *records) real(i int, open bool) float64 {
	x, err := strconv.ParseFloat(r.values[i], 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		r.failField(i, errors.New("must be a number"))
	case err != nil || math.IsNaN(x) || x < 0 || x > maxGB || open && x == 0:
		from := "at least"
		if open {
			from = "above"
		}
		r.failField(i, fmt.Errorf("must be %s 0 and at most %g", from, float64(maxGB)))
	default:
		return x
	}
	return 0
}
