// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"fmt"
	"strconv"
	"strings"
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
		fmt.Fprintf(&b, "field %s: %s: ", e.Field, quote(e.Value))
	}
	return b.String() + e.Err.Error()
}

// Unwrap gives what is wrong.
func (e *InputError) Unwrap() error { return e.Err }

// quote quotes a value for a message, cut to a length that leaves it one line.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strconv.Quote(s)
}
