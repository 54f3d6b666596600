package ipsched

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// WriteMPS writes the program in free MPS, to be maximised. The same program gives the same bytes.
func (m *Program) WriteMPS(w io.Writer, name string) error {
	out := &mpsWriter{bufio.NewWriter(w)}
	out.line("NAME", name)
	out.line("OBJSENSE")
	out.line("", "MAX")
	out.line("ROWS")
	out.line("", "N", "obj")
	for r, row := range m.RowName {
		out.line("", m.sense(r), row)
	}
	out.line("COLUMNS")
	out.line("", "M0 'MARKER' 'INTORG'")
	for k, column := range m.ColName {
		out.line("", column, "obj", number(m.Cost[k]))
		for e := m.ColStart[k]; e < m.ColStart[k+1]; e++ {
			out.line("", column, m.RowName[m.Row[e]], number(m.Coef[e]))
		}
	}
	out.line("", "M1 'MARKER' 'INTEND'")
	out.line("RHS")
	for r, row := range m.RowName {
		if side := m.side(r); side != 0 {
			out.line("", "RHS", row, number(side))
		}
	}
	out.line("BOUNDS")
	for k, column := range m.ColName {
		out.line("", "UP", "BND", column, number(m.Upper[k]))
	}
	out.line("ENDATA")
	return out.Flush()
}

// sense is a row's type; rows of Direct have one side, or two that are equal.
func (m *Program) sense(r int) string {
	switch {
	case m.RowLower[r] == m.RowUpper[r]:
		return "E"
	case m.RowUpper[r] == Unbounded:
		return "G"
	}
	return "L"
}

func (m *Program) side(r int) int64 {
	if m.RowUpper[r] == Unbounded {
		return m.RowLower[r]
	}
	return m.RowUpper[r]
}

func number(v int64) string { return strconv.FormatInt(v, 10) }

// mpsWriter writes lines. The first error sticks to the bufio.Writer, and Flush returns it.
type mpsWriter struct{ *bufio.Writer }

func (w *mpsWriter) line(fields ...string) {
	_, _ = w.WriteString(strings.Join(fields, " "))
	_ = w.WriteByte('\n')
}
