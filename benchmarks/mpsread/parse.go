// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/aucsched/aucsched/internal/input"
)

// maxMPSLine is the length of the longest line that is read, in bytes.
const maxMPSLine = 1 << 20

// source is an MPS file as it stands, before anything is concluded from it.
type source struct {
	name      string
	line      int
	sense     Sense
	objective int32 // index into rows, -1 before there is one
	objName   string
	rows      []row
	rowIndex  map[string]int32
	cols      []column
	colIndex  map[string]int32
	entries   []entry // of all columns, one after the other
	integers  bool    // between INTORG and INTEND
	reading   string  // the section, "" before the first
	setName   map[string]string
	fields    [][]byte
}

type row struct {
	name     string
	line     int
	kind     byte // N, L, G or E
	rhs      decimal
	hasRHS   bool
	ranged   decimal
	hasRange bool
	last     int32 // the last column with an entry in the row, -1 for none
}

type column struct {
	name         string
	line         int
	start        int // in entries; the next column's start ends it
	integer      bool
	objective    decimal
	lower, upper bound
}

// bound is a bound that a file gives, or the default where set is false.
type bound struct {
	value    decimal
	infinite bool
	set      bool
}

// entry is a coefficient other than zero, outside the N rows.
type entry struct {
	mant int64
	row  int32
	exp  int16
}

func (f *source) fail(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", f.name, f.line, fmt.Errorf(format, args...))
}

// parse reads a file as far as ENDATA; what comes after is not looked at, but
// for a gzip stream's checksum.
func parse(r io.Reader, name string) (*source, error) {
	f := &source{
		name: name, objective: -1, rowIndex: map[string]int32{}, colIndex: map[string]int32{},
		setName: map[string]string{},
	}
	in := bufio.NewReader(r)
	text := in
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		text = bufio.NewReader(z)
	}
	if err := input.SkipMark(text); err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	if err := f.parse(text); err != nil {
		return nil, err
	}
	// A checksum follows the data; a file this much longer than its model is not read on.
	if _, err := io.CopyN(io.Discard, text, 1<<20); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: after ENDATA: %w", name, err)
	}
	return f, f.chooseObjective()
}

func (f *source) parse(text io.Reader) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 1<<16), maxMPSLine)
	seen := map[string]bool{}
	var parseLine func() error
	for lines.Scan() {
		f.line++
		line := lines.Bytes()
		if len(line) > 0 && line[0] == '*' {
			continue
		}
		f.split(line)
		f.dropComment()
		if len(f.fields) == 0 {
			continue
		}
		section := f.header(line[0] == ' ' || line[0] == '\t')
		if section == "" {
			if parseLine == nil {
				return f.fail("a data line outside of any section: %s", excerpt(line))
			}
			if err := parseLine(); err != nil {
				return err
			}
			continue
		}
		if section == "ENDATA" {
			return nil
		}
		if seen[section] {
			return f.fail("a second section %s", section)
		}
		seen[section], f.reading = true, section
		var err error
		if parseLine, err = f.section(section); err != nil {
			return err
		}
	}
	f.line++
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return f.fail("the line is longer than %d bytes", maxMPSLine)
	} else if err != nil {
		return f.fail("%w", err)
	}
	return f.fail("the file ends without ENDATA")
}

// section starts a section, whose header f.fields holds, and returns what reads its lines.
func (f *source) section(name string) (parseLine func() error, err error) {
	header := f.fields[1:]
	switch name {
	case "NAME":
		return nil, nil
	case "OBJSENSE", "OBJNAME", "OBJECT":
		parse := f.senseLine
		if name == "OBJNAME" || name == "OBJECT" {
			parse = f.objectiveLine
		}
		if len(header) > 0 {
			f.fields = header
			return nil, parse()
		}
		return parse, nil
	case "ROWS":
		return f.rowLine, nil
	case "COLUMNS":
		return f.columnLine, nil
	case "RHS":
		return f.rhsLine, nil
	case "RANGES":
		return f.rangeLine, nil
	case "BOUNDS":
		return f.boundLine, nil
	}
	return nil, f.fail("section %s is not one of a 0-1 packing model", excerpt([]byte(name)))
}

func (f *source) senseLine() error {
	switch word := strings.ToUpper(string(f.fields[0])); {
	case strings.HasPrefix(word, "MAX"):
		f.sense = Maximise
	case strings.HasPrefix(word, "MIN"):
		f.sense = Minimise
	default:
		return f.fail("OBJSENSE %s is neither MAX nor MIN", excerpt(f.fields[0]))
	}
	return nil
}

func (f *source) objectiveLine() error {
	if f.objName != "" {
		return f.fail("a second objective name %s", excerpt(f.fields[0]))
	}
	f.objName = string(f.fields[0])
	return nil
}

func (f *source) rowLine() error {
	if len(f.fields) != 2 || len(f.fields[0]) != 1 {
		return f.fail("a ROWS line has a type and a name, not %d fields", len(f.fields))
	}
	kind := f.fields[0][0] &^ 0x20
	if strings.IndexByte("NLGE", kind) < 0 {
		return f.fail("row %s: type %s is not one of N, L, G, E", excerpt(f.fields[1]), excerpt(f.fields[0]))
	}
	name := string(f.fields[1])
	if _, ok := f.rowIndex[name]; ok {
		return f.fail("a second row %q", name)
	}
	if name == "'MARKER'" {
		return f.fail("row %q: the name is reserved", name)
	}
	f.rowIndex[name] = int32(len(f.rows))
	f.rows = append(f.rows, row{name: name, line: f.line, kind: kind, last: -1})
	return nil
}

// chooseObjective picks the row that OBJNAME says, or else the first N row.
func (f *source) chooseObjective() error {
	if f.objective >= 0 {
		return nil
	}
	for i, row := range f.rows {
		if row.kind == 'N' && (f.objName == "" || row.name == f.objName) {
			f.objective = int32(i)
			return nil
		}
	}
	if f.objName != "" {
		return f.fail("there is no N row %q to be the objective", f.objName)
	}
	return f.fail("there is no objective (N row)")
}

func (f *source) columnLine() error {
	if f.isMarker() {
		return f.markerLine()
	}
	if len(f.fields) < 3 || len(f.fields)%2 == 0 {
		return f.fail("a COLUMNS line has a name and pairs of row and number, not %d fields", len(f.fields))
	}
	if err := f.chooseObjective(); err != nil {
		return err
	}
	c := int32(len(f.cols)) - 1
	if c < 0 || f.cols[c].name != string(f.fields[0]) {
		name := string(f.fields[0])
		if _, ok := f.colIndex[name]; ok {
			return f.fail("column %q is taken up again: its lines have to follow one another", name)
		}
		c++
		f.colIndex[name] = c
		f.cols = append(f.cols, column{name: name, line: f.line, start: len(f.entries), integer: f.integers})
	}
	for k := 1; k < len(f.fields); k += 2 {
		if err := f.addEntry(c, f.fields[k], f.fields[k+1]); err != nil {
			return err
		}
	}
	return nil
}

func (f *source) markerLine() error {
	switch string(f.fields[2]) {
	case "'INTORG'":
		f.integers = true
	case "'INTEND'":
		f.integers = false
	default:
		return f.fail("marker %s is neither 'INTORG' nor 'INTEND'", excerpt(f.fields[2]))
	}
	return nil
}

func (f *source) addEntry(c int32, rowName, number []byte) error {
	r, ok := f.rowIndex[string(rowName)]
	if !ok {
		return f.fail("column %q: there is no row %s", f.cols[c].name, excerpt(rowName))
	}
	row := &f.rows[r]
	if row.last == c {
		return f.fail("column %q: a second entry in row %q", f.cols[c].name, row.name)
	}
	row.last = c
	value, err := parseDecimal(number)
	if err != nil {
		return f.fail("column %q, row %q: %s: %w", f.cols[c].name, row.name, excerpt(number), err)
	}
	switch {
	case r == f.objective:
		f.cols[c].objective = value
	case row.kind == 'N' || value.sign() == 0:
	case value.wide != nil:
		return f.fail("column %q, row %q: the coefficient %s needs more than 31 bits", f.cols[c].name, row.name, excerpt(number))
	case len(f.entries) == math.MaxInt32:
		return f.fail("more than %d entries", math.MaxInt32)
	default:
		f.entries = append(f.entries, entry{mant: value.mant, row: r, exp: int16(value.exp)})
	}
	return nil
}

// checkSet holds a section to one set of values: a file may have several, to choose from.
func (f *source) checkSet(section string, name []byte) error {
	if len(name) == 0 {
		return nil
	}
	if old, ok := f.setName[section]; ok && old != string(name) {
		return f.fail("%s: a second set %s beside %q", section, excerpt(name), old)
	}
	f.setName[section] = string(name)
	return nil
}

// rowValues reads a line of RHS or RANGES, where the set's name may be left out.
func (f *source) rowValues(section string, assign func(r *row, value decimal) error) error {
	fields := f.fields
	var set []byte
	if len(fields)%2 == 1 {
		set, fields = fields[0], fields[1:]
	}
	if len(fields) == 0 {
		return f.fail("%s: a line without a row and a number", section)
	}
	if err := f.checkSet(section, set); err != nil {
		return err
	}
	for k := 0; k < len(fields); k += 2 {
		r, ok := f.rowIndex[string(fields[k])]
		if !ok {
			return f.fail("%s: there is no row %s", section, excerpt(fields[k]))
		}
		value, err := parseDecimal(fields[k+1])
		if err != nil {
			return f.fail("%s, row %q: %s: %w", section, f.rows[r].name, excerpt(fields[k+1]), err)
		}
		if err := assign(&f.rows[r], value); err != nil {
			return err
		}
	}
	return nil
}

func (f *source) rhsLine() error {
	return f.rowValues("RHS", func(r *row, value decimal) error {
		if r.hasRHS {
			return f.fail("RHS: a second value for row %q", r.name)
		}
		r.hasRHS, r.rhs = true, value
		return nil
	})
}

func (f *source) rangeLine() error {
	return f.rowValues("RANGES", func(r *row, value decimal) error {
		if r.hasRange {
			return f.fail("RANGES: a second value for row %q", r.name)
		}
		if r.kind == 'N' {
			return f.fail("RANGES: row %q is of type N", r.name)
		}
		r.hasRange, r.ranged = true, value
		return nil
	})
}
