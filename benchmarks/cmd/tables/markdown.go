// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// table is a table of a page. The first textColumns are aligned to the left, the
// others to the right.
type table struct {
	textColumns int
	header      []string
	rows        [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String is the table in Markdown, its columns padded so that it reads well as text.
func (t *table) String() string {
	width := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c), 3)
		}
	}
	var b strings.Builder
	line := func(cells []string) {
		for i, w := range width {
			gap := strings.Repeat(" ", w-utf8.RuneCountInString(cells[i]))
			if i < t.textColumns {
				b.WriteString("| " + cells[i] + gap + " ")
			} else {
				b.WriteString("| " + gap + cells[i] + " ")
			}
		}
		b.WriteString("|\n")
	}
	line(t.header)
	rule := make([]string, len(width))
	for i, w := range width {
		if rule[i] = strings.Repeat("-", w-1) + ":"; i < t.textColumns {
			rule[i] = strings.Repeat("-", w)
		}
	}
	line(rule)
	for _, row := range t.rows {
		line(row)
	}
	return b.String()
}

// wrap breaks a text into lines of at most 100 characters, where it has blanks; all but
// the first begin with indent. None begins with ">", as that would be a quotation.
func wrap(text, indent string) string {
	var b strings.Builder
	column := utf8.RuneCountInString(indent)
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > 100 && word != ">":
			b.WriteString("\n" + indent)
			column = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// duration is a time in nanoseconds with three significant digits.
func duration(ns float64) string {
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.ns {
			return digits(ns/u.ns) + " " + u.name
		}
	}
	return digits(ns) + " ns"
}

// digits is a positive number with about three significant digits.
func digits(x float64) string {
	switch {
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// count is a whole number with commas between the thousands.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// signed is a number with its sign; nothing is neither more nor less.
func signed(x float64, decimals int) string {
	s := fmt.Sprintf("%+.*f", decimals, x)
	if strings.Trim(s, "+-0.") == "" {
		return s[1:]
	}
	return s
}

// times is a ratio.
func times(x float64) string { return "×" + digits(x) }
