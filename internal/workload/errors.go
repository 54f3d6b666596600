// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// InputError is a fault in an input file.
type InputError struct {
	File  string
	Line  int    // from 1; 0 where the fault is of the file as a whole
	Field string // name of the field; empty where the fault is of the line
	Value string // the field's text
	Err   error  // what is wrong
}

// Error is one line: file:line: field NAME: "VALUE": what is wrong.
func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if e.Field != "" {
		fmt.Fprintf(&b, "field %s: %s: ", e.Field, Quote(e.Value))
	}
	return b.String() + e.Err.Error()
}

// Unwrap gives what is wrong.
func (e *InputError) Unwrap() error { return e.Err }

// Quote quotes a value for a message, cut to a length that leaves it one line.
func Quote(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strconv.Quote(s)
}

// What is wrong with a number.
var (
	ErrNotNumber = errors.New("not a number")
	ErrNotWhole  = errors.New("not a whole number")
	ErrTooLarge  = conf.ErrTooLarge
)

// maxExact bounds numbers so that float64 holds every whole one exactly.
const maxExact = 1 << 53

// ParseDecimal parses a decimal number of magnitude below maxExact.
func ParseDecimal(text []byte) (float64, error) {
	for _, c := range text {
		// ParseFloat also knows infinities, hexadecimal numbers and underscores.
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return 0, ErrNotNumber
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && math.Abs(v) >= maxExact:
		return 0, ErrTooLarge
	case err != nil:
		return 0, ErrNotNumber
	}
	return v, nil
}
