// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

// Text prints the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	for i := range r.Tables {
		t := &r.Tables[i]
		fmt.Fprintf(&b, "%s: %s; %s\n", t.Name, t.Title, r.seeds())
		for _, n := range t.Notes {
			b.WriteString(wrap(n) + "\n")
		}
		b.WriteString("\n")
		b.WriteString(t.figures().text())
		if orders := t.orders(); len(orders.rows) > 0 {
			b.WriteString("\n" + orders.text())
		}
		b.WriteString("\n")
		for _, line := range t.summaryLines() {
			b.WriteString(line + "\n")
		}
		for _, line := range t.remarks() {
			b.WriteString(line + "\n")
		}
		b.WriteString("\n")
	}
	fmt.Fprintln(&b, wrap(howToRead()))
	for _, line := range r.warnings() {
		b.WriteString(wrap(line) + "\n")
	}
	return b.String()
}

// Markdown prints the report as a page that command wrote.
func (r *Report) Markdown(command string) string {
	var b strings.Builder
	b.WriteString("# Reproduction\n")
	say := func(format string, a ...any) { b.WriteString("\n" + wrap(fmt.Sprintf(format, a...)) + "\n") }
	say("The experiments of the papers' tables in the simulator, %s. Written by `%s`; change the command, not this page.",
		r.seeds(), command)
	say("%s", howToRead())
	for _, line := range r.warnings() {
		say("%s", line)
	}
	if verdicts := r.verdicts(); len(verdicts.rows) > 0 {
		b.WriteString("\n## Order of the methods\n")
		say("How many comparisons have the printed order / are within noise / have another order.")
		b.WriteString("\n" + verdicts.markdown())
	}
	said := make(map[string]bool)
	for i := range r.Tables {
		t := &r.Tables[i]
		fmt.Fprintf(&b, "\n## %s\n", t.Name)
		say("%s.", t.Title)
		for _, n := range t.Notes {
			if !said[n] {
				say("%s", n)
			}
			said[n] = true
		}
		for _, line := range t.remarks() {
			say("%s", line)
		}
	}
	b.WriteString("\n## Figures\n\n" + r.together((*TableReport).figures).markdown())
	if differences := r.together((*TableReport).orders); len(differences.rows) > 0 {
		b.WriteString("\n## Differences\n\n" + differences.markdown())
	}
	return b.String()
}

// together is one grid of those of all tables. Its columns are all of theirs.
func (r *Report) together(of func(*TableReport) *grid) *grid {
	var grids []*grid
	for i := range r.Tables {
		grids = append(grids, of(&r.Tables[i]))
	}
	all := &grid{header: []string{"table", "workload", grids[0].header[1]}, names: 3}
	for _, title := range append(titles(), boundTitle) {
		if slices.ContainsFunc(grids, func(g *grid) bool { return slices.Contains(g.header, title) }) {
			all.header = append(all.header, title)
		}
	}
	for i, g := range grids {
		for _, cells := range g.rows {
			row := append([]string{r.Tables[i].Name}, cells[:2]...)
			for _, title := range all.header[3:] {
				cell := ""
				if at := slices.Index(g.header, title); at >= 0 {
					cell = cells[at]
				}
				row = append(row, cell)
			}
			all.rows = append(all.rows, row)
		}
	}
	return all
}

// verdicts counts, of each table and metric, the comparisons that have the paper's order.
func (r *Report) verdicts() *grid {
	g := &grid{header: append([]string{"table"}, titles()...), names: 1}
	for i := range r.Tables {
		row := append([]string{r.Tables[i].Name}, make([]string, len(metrics))...)
		for _, tally := range r.Tables[i].Summary {
			o := tally.Orders
			row[slices.Index(g.header, titleOf(tally.Metric))] = fmt.Sprintf("%d / %d / %d",
				o[Same]+o[SameOnce], o[Noise], o[Opposite]+o[OpposedOnce])
		}
		if len(r.Tables[i].Summary) > 0 {
			g.rows = append(g.rows, row)
		}
	}
	return g.withoutEmpty()
}

func (r *Report) seeds() string {
	first, last := r.Seeds[0], r.Seeds[len(r.Seeds)-1]
	if first == last {
		return fmt.Sprintf("seed %d", first)
	}
	return fmt.Sprintf("seeds %d-%d", first, last)
}

func (r *Report) warnings() []string {
	if len(r.Programs) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("Several builds of the program ran these cells (%s): run them "+
		"again in an empty directory to be sure that their figures belong together.", strings.Join(r.Programs, ", "))}
}

// shown are the metrics of the table that keep tells.
func (t *TableReport) shown(keep func(*Metric, *RowReport) bool) []Metric {
	var shown []Metric
	for _, m := range metrics {
		for i := range t.Rows {
			if keep(&m, &t.Rows[i]) {
				shown = append(shown, m)
				break
			}
		}
	}
	return shown
}

func (t *TableReport) figures() *grid {
	shown := t.shown(func(m *Metric, r *RowReport) bool { _, ok := r.Ours[m.Key]; return ok })
	g := newGrid(shown)
	bounded := t.bounded()
	if bounded {
		g.header = append(g.header, boundTitle)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		row := []string{r.Workload, r.Method}
		for _, m := range shown {
			cell := ""
			if f, ok := r.Ours[m.Key]; ok {
				cell = plusMinus(f, m.decimals)
			}
			if p, ok := r.Paper[m.Key]; ok {
				cell += " (" + m.printed(p) + ")"
			}
			row = append(row, cell)
		}
		switch {
		case r.AboveBound != nil:
			row = append(row, plusMinus(*r.AboveBound, 1))
		case bounded:
			row = append(row, "")
		}
		g.rows = append(g.rows, row)
	}
	return g
}

const boundTitle = "above bound %"

// bounded tells whether any row is held against the least possible runtime.
func (t *TableReport) bounded() bool {
	return slices.ContainsFunc(t.Rows, func(r RowReport) bool { return r.AboveBound != nil })
}

// plusMinus is a figure with its deviation. It leaves out the deviation of one
// seed, which has none.
func plusMinus(f stats.Figure, decimals int) string {
	if f.Seeds < 2 {
		return fmt.Sprintf("%.*f", decimals, f.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, f.Mean, decimals, f.Dev)
}

func (t *TableReport) orders() *grid {
	shown := t.shown(func(m *Metric, r *RowReport) bool { _, ok := r.Orders[m.Key]; return ok })
	g := newGrid(shown)
	g.header[1] = "method - baseline"
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Against == "" {
			continue
		}
		row := []string{r.Workload, r.Method + " - " + r.Against}
		for _, m := range shown {
			cell := ""
			if c, ok := r.Orders[m.Key]; ok {
				cell = fmt.Sprintf("%s (%s) %s", signed(c.Ours.Mean, m.decimals), signedText(m.printed(c.Paper)), c.Order)
			}
			row = append(row, cell)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

func (t *TableReport) summaryLines() []string {
	var lines []string
	for _, tally := range t.Summary {
		var parts []string
		for _, o := range []Order{Same, Noise, Opposite, SameOnce, OpposedOnce} {
			if n := tally.Orders[o]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, o))
			}
		}
		lines = append(lines, fmt.Sprintf("order of %s: %s", titleOf(tally.Metric), strings.Join(parts, "; ")))
	}
	return lines
}

func (t *TableReport) remarks() []string {
	var lines []string
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Remark != "" {
			lines = append(lines, fmt.Sprintf("Remark on %s, %s: %s.", r.Workload, r.Method, r.Remark))
		}
		if r.Unrun > 0 {
			lines = append(lines,
				fmt.Sprintf("Remark on %s, %s: %d jobs of all seeds together did not run; the figures are of the others.",
					r.Workload, r.Method, r.Unrun))
		}
	}
	return lines
}

// titles are those of all metrics.
func titles() (all []string) {
	for i := range metrics {
		all = append(all, metrics[i].Title)
	}
	return all
}

func titleOf(key string) string {
	for _, m := range metrics {
		if m.Key == key {
			return m.Title
		}
	}
	return key
}

// printed is a figure with the decimals that the papers have: whole percent, else as
// many as ours or more.
func (m *Metric) printed(v float64) string {
	least := m.decimals
	if m.Key == CPUUtilization || m.Key == GPUUtilization {
		least = 0
	}
	// differences have rounding in them
	exact := strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
	_, fraction, _ := strings.Cut(exact, ".")
	return fmt.Sprintf("%.*f", max(least, len(fraction)), v)
}

func signed(v float64, decimals int) string { return signedText(fmt.Sprintf("%.*f", decimals, v)) }

// signedText gives a printed number its sign, and none to zero.
func signedText(s string) string {
	switch digits := strings.TrimPrefix(s, "-"); {
	case strings.Trim(digits, "0.") == "":
		return digits
	case digits == s:
		return "+" + s
	}
	return s
}
