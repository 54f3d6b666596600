// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// grid is a table of text; the first columns are names.
type grid struct {
	header []string
	rows   [][]string
	names  int
}

func newGrid(shown []Metric) *grid {
	g := &grid{header: []string{"workload", "method"}, names: 2}
	for _, m := range shown {
		g.header = append(g.header, m.Title)
	}
	return g
}

// withoutEmpty leaves out the columns in which nothing stands.
func (g *grid) withoutEmpty() *grid {
	out := &grid{names: g.names, rows: make([][]string, len(g.rows))}
	for i, title := range g.header {
		if !slices.ContainsFunc(g.rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		out.header = append(out.header, title)
		for k, row := range g.rows {
			out.rows[k] = append(out.rows[k], row[i])
		}
	}
	return out
}

func (g *grid) widths() []int {
	w := make([]int, len(g.header))
	for _, row := range append([][]string{g.header}, g.rows...) {
		for i, cell := range row {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// lines writes every row with its cells padded, numbers to the right.
func (g *grid) lines(begin, between, end string, rule bool) string {
	var b strings.Builder
	widths := g.widths()
	write := func(row []string) {
		cells := make([]string, len(row))
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if cells[i] = pad + cell; i < g.names {
				cells[i] = cell + pad
			}
		}
		b.WriteString(strings.TrimRight(begin+strings.Join(cells, between)+end, " ") + "\n")
	}
	write(g.header)
	if rule {
		row := make([]string, len(widths))
		for i, w := range widths {
			if row[i] = strings.Repeat("-", max(w, 1)); i >= g.names {
				row[i] = strings.Repeat("-", max(w-1, 1)) + ":"
			}
		}
		write(row)
	}
	for _, row := range g.rows {
		write(row)
	}
	return b.String()
}

func (g *grid) text() string     { return g.lines("", "  ", "", false) }
func (g *grid) markdown() string { return g.lines("| ", " | ", " |", true) }

// wrap breaks a paragraph into lines of 100 characters.
func wrap(text string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width+1+n > 100:
			b.WriteString("\n")
			width = 0
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}
