// SPDX-License-Identifier: BSD-3-Clause

package mps

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/intprog"
)

// WriteProgram writes a program in free MPS, to be maximised, all columns integer. The
// same program gives the same bytes. Names with a blank, and rows whose limits contradict
// each other, are an error.
func WriteProgram(w io.Writer, p *intprog.Program, name string) error {
	for _, names := range [][]string{p.ColName, p.RowName, {name}} {
		for _, n := range names {
			if n == "" || strings.ContainsFunc(n, isBlank) {
				return fmt.Errorf("write MPS: the name %q is empty or has a blank", n)
			}
		}
	}
	out := &writer{Writer: bufio.NewWriter(w)}
	out.line("NAME", name)
	out.line("OBJSENSE")
	out.line("", "MAX")
	out.line("ROWS")
	out.line("", "N", "obj")
	kinds := make([]string, p.Rows())
	for r := range kinds {
		kinds[r] = kindOf(p.Low[r], p.High[r])
		if kinds[r] == "" {
			return fmt.Errorf("write MPS: row %s has no limit, or none that can be met", p.RowName[r])
		}
		out.line("", kinds[r], p.RowName[r])
	}
	out.line("COLUMNS")
	out.line("", "M0 'MARKER' 'INTORG'")
	byCol := byColumn(p)
	for i, entries := range byCol {
		out.line("", p.ColName[i], "obj", strconv.FormatInt(p.Worth[i], 10))
		for k := 0; k < len(entries); k += 2 {
			out.line("", p.ColName[i], p.RowName[entries[k]], strconv.FormatInt(p.Coef[entries[k+1]], 10))
		}
	}
	out.line("", "M1 'MARKER' 'INTEND'")
	writeLimits(out, p, kinds)
	out.line("ENDATA")
	return out.Flush()
}

// kindOf is the type of a row with these limits; one with both has its lower one as a range.
func kindOf(low, high int64) string {
	switch {
	case low > high || low == intprog.NoLow && high == intprog.NoHigh:
		return ""
	case low == high:
		return "E"
	case high == intprog.NoHigh:
		return "G"
	}
	return "L"
}

// byColumn are pairs of a row and an entry, by column.
func byColumn(p *intprog.Program) [][]int32 {
	byCol := make([][]int32, p.Columns())
	for r := range p.Low {
		for k := p.RowStart[r]; k < p.RowStart[r+1]; k++ {
			byCol[p.Col[k]] = append(byCol[p.Col[k]], int32(r), k)
		}
	}
	return byCol
}

func writeLimits(out *writer, p *intprog.Program, kinds []string) {
	out.line("RHS")
	for r, kind := range kinds {
		side := p.High[r]
		if kind == "G" {
			side = p.Low[r]
		}
		if side != 0 {
			out.line("", "RHS", p.RowName[r], strconv.FormatInt(side, 10))
		}
	}
	ranges := false
	for r, kind := range kinds {
		if kind == "L" && p.Low[r] != intprog.NoLow {
			if !ranges {
				out.line("RANGES")
				ranges = true
			}
			out.line("", "RNG", p.RowName[r], strconv.FormatInt(p.High[r]-p.Low[r], 10))
		}
	}
	out.line("BOUNDS")
	for i := range p.Worth {
		out.line("", "UP", "BND", p.ColName[i], strconv.FormatInt(p.Upper[i], 10))
	}
}
