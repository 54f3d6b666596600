// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// YesNo is how a setting that is on or off is shown.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Count is a number of things: "1 core", "2 cores".
func Count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Seconds is a number of seconds in the unit of its size, in as few digits as say something: "27
// s", "1.6 min", "6.8 h", "12.0 d".
func Seconds(s float64) string {
	switch {
	case s >= 48*3600:
		return fmt.Sprintf("%.1f d", s/86400)
	case s >= 3600:
		return fmt.Sprintf("%.1f h", s/3600)
	case s >= 60:
		return fmt.Sprintf("%.1f min", s/60)
	}
	return fmt.Sprintf("%.0f s", s)
}

// cellWidth is how many characters of a text from outside a table shows.
const cellWidth = 80

// Cell is [Plain] for a column of a table, which is as wide as its longest text in every row: of a
// long text it has the beginning and dots.
func Cell(s string) string {
	n := 0
	for i := range s {
		if n++; n > cellWidth {
			return Plain(s[:i]) + "..."
		}
	}
	return Plain(s)
}

// Plain is text of a file on one line of a terminal. What is no printable character stands there by
// its code, as in Go's strings. So it can't move the cursor, colour or reorder what follows.
func Plain(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(s[:size])
		} else {
			quoted := strconv.Quote(s[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}
