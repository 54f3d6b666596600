// SPDX-License-Identifier: BSD-3-Clause

// Package mps writes models and programs in free MPS, for other solvers. Reading is a package of
// its own, mpsread, so that what schedules takes no parser along.
package mps

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/ipmodel"
)

// Write writes a model in free MPS, as integers: the objective, to be
// maximised, counts units of worth, so that Scale and Offset are not written. A
// group is a row of its own, of type L with 1 on the right-hand side, or E where
// it is required; a group that is not required and has one column needs none.
// The capacities' rows follow. Rows and columns have the model's names, or
// c0, c1, ... and r0, r1, ...; groups have g0, g1, ... The same model
// gives the same bytes.
//
// mpsread.Read gives back a model with the same best choices, without the columns
// that are worth nothing and the rows that can't bind.
//
// A name that MPS can't hold (empty, with a blank, or taken twice) is an error, as
// is a model that is not valid.
func Write(w io.Writer, m *ipmodel.Model, name string) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("write MPS: %w", err)
	}
	names, err := newNames(m)
	if err != nil {
		return fmt.Errorf("write MPS: %w", err)
	}
	if name == "" || strings.ContainsFunc(name, isBlank) {
		return fmt.Errorf("write MPS: model name %q is empty or has a blank", name)
	}
	out := &writer{Writer: bufio.NewWriter(w), m: m, names: names}
	out.line("NAME", name)
	out.line("OBJSENSE")
	out.line("", "MAX")
	out.rows()
	out.columns()
	out.rightHandSides()
	out.bounds()
	out.line("ENDATA")
	return out.Flush()
}

// names holds the names that are written; an empty group name means no row.
type names struct {
	objective          string
	column, row, group []string
}

func newNames(m *ipmodel.Model) (n names, err error) {
	taken := map[string]bool{}
	if n.row, err = namesOf("row", m.RowName, len(m.Cap), "r", taken); err != nil {
		return n, err
	}
	n.objective = freeName("obj", taken)
	n.group = make([]string, m.Groups())
	for g := range n.group {
		if m.IsRequired(g) || m.GroupStart[g+1]-m.GroupStart[g] > 1 {
			n.group[g] = freeName("g"+strconv.Itoa(g), taken)
		}
	}
	n.column, err = namesOf("column", m.ColName, len(m.Value), "c", map[string]bool{})
	return n, err
}

func namesOf(what string, given []string, count int, prefix string, taken map[string]bool) ([]string, error) {
	names := make([]string, count)
	for i := range names {
		name := prefix + strconv.Itoa(i)
		if len(given) > 0 {
			name = given[i]
		}
		if name == "" || what == "row" && name == "'MARKER'" || strings.ContainsFunc(name, isBlank) {
			return nil, fmt.Errorf("%s %d: the name %q is empty, reserved or has a blank", what, i, name)
		}
		if taken[name] {
			return nil, fmt.Errorf("%s %d: the name %q is taken", what, i, name)
		}
		taken[name] = true
		names[i] = name
	}
	return names, nil
}

// freeName is want, with as many underscores as make it unique.
func freeName(want string, taken map[string]bool) string {
	for taken[want] {
		want += "_"
	}
	taken[want] = true
	return want
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

// writer writes the sections. The first error sticks to the bufio.Writer, and Flush returns it.
type writer struct {
	*bufio.Writer
	names
	m *ipmodel.Model
}

func (w *writer) line(fields ...string) {
	for i, field := range fields {
		if i > 0 {
			_ = w.WriteByte(' ')
		}
		_, _ = w.WriteString(field)
	}
	_ = w.WriteByte('\n')
}

func (w *writer) rows() {
	w.line("ROWS")
	w.line("", "N", w.objective)
	for g, name := range w.group {
		switch {
		case name == "":
		case w.m.IsRequired(g):
			w.line("", "E", name)
		default:
			w.line("", "L", name)
		}
	}
	for _, name := range w.row {
		w.line("", "L", name)
	}
}

func (w *writer) columns() {
	w.line("COLUMNS")
	w.line("", "M0 'MARKER' 'INTORG'")
	for g := range w.m.Groups() {
		for i := w.m.GroupStart[g]; i < w.m.GroupStart[g+1]; i++ {
			w.writeColumn(i, w.group[g])
		}
	}
	w.line("", "M1 'MARKER' 'INTEND'")
}

func (w *writer) writeColumn(i int32, group string) {
	name := w.column[i]
	w.line("", name, w.objective, strconv.FormatInt(w.m.Value[i], 10))
	if group != "" {
		w.line("", name, group, "1")
	}
	for k := w.m.ColStart[i]; k < w.m.ColStart[i+1]; k++ {
		w.line("", name, w.row[w.m.Row[k]], strconv.Itoa(int(w.m.Coef[k])))
	}
}

func (w *writer) rightHandSides() {
	w.line("RHS")
	for _, name := range w.group {
		if name != "" {
			w.line("", "RHS", name, "1")
		}
	}
	for r, name := range w.row {
		w.line("", "RHS", name, strconv.FormatInt(w.m.Cap[r], 10))
	}
}

func (w *writer) bounds() {
	w.line("BOUNDS")
	for _, name := range w.column {
		w.line("", "UP", "BND", name, "1")
	}
}
