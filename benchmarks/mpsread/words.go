// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"fmt"
	"strings"
)

// split sets f.fields to the blank-separated words of a line.
func (f *source) split(line []byte) {
	f.fields = f.fields[:0]
	start := -1
	for i, c := range line {
		if c == ' ' || c == '\t' || c == '\r' {
			if start >= 0 {
				f.fields = append(f.fields, line[start:i])
			}
			start = -1
		} else if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		f.fields = append(f.fields, line[start:])
	}
}

// excerpt quotes the beginning of a text for a message.
func excerpt(s []byte) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q...", s[:60])
	}
	return fmt.Sprintf("%q", s)
}

// dropComment cuts f.fields at the first word that begins with $ or * and is not a name. Names may
// begin so too: such a word is one where a name must stand, or where its number follows.
func (f *source) dropComment() {
	for i, w := range f.fields {
		if (w[0] == '$' || w[0] == '*') && !f.isName(i) {
			f.fields = f.fields[:i]
			return
		}
	}
}

func (f *source) isName(i int) bool {
	known := false
	switch f.reading {
	case "ROWS":
		return i == 1
	case "OBJNAME", "OBJECT":
		return i == 0
	case "COLUMNS", "RHS", "RANGES":
		_, known = f.rowIndex[string(f.fields[i])]
	case "BOUNDS":
		_, known = f.colIndex[string(f.fields[i])]
		first := i == 1 && len(f.fields) > 2
		if first && !known {
			_, known = f.colIndex[string(f.fields[2])]
		}
		return i > 0 && (known || len(f.fields[i]) > 1 && (f.number(i+1) || first && f.number(3)))
	}
	return known || len(f.fields[i]) > 1 && (f.number(i+1) || i == 0 && (f.number(2) || f.isMarker()))
}

// number says whether field i is there and a number.
func (f *source) number(i int) bool {
	if i >= len(f.fields) {
		return false
	}
	_, err := parseBound(f.fields[i])
	return err == nil
}

func (f *source) isMarker() bool { return len(f.fields) == 3 && string(f.fields[1]) == "'MARKER'" }

// header returns the section that a line begins, or "" for a line of data. As in HiGHS, headers may
// be indented and data need not be: a section's name before that of a row is a column or a set.
func (f *source) header(indented bool) string {
	word := strings.ToUpper(string(f.fields[0]))
	alone := len(f.fields) == 1
	switch word {
	case "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA":
		if alone {
			return word
		}
		if _, row := f.rowIndex[string(f.fields[1])]; !indented && !row {
			return word
		}
	case "NAME", "OBJSENSE", "OBJNAME", "OBJECT", "QSECTION", "QCMATRIX", "CSECTION", "SOS", "SETS", "INDICATORS":
		if !indented {
			return word
		}
	default:
		if !indented && (alone || f.reading == "") {
			return word
		}
	}
	return ""
}
