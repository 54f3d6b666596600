// SPDX-License-Identifier: BSD-3-Clause

package matrix

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

//go:embed intro.md.tmpl
var intro string

// Page is benchmarks/results/emulation.md, which command wrote.
func (r *Report) Page(command string) []byte {
	return []byte(strings.ReplaceAll(intro, "COMMAND", command) + r.Markdown())
}

// Markdown prints what came out, each kind of figures in one table.
func (r *Report) Markdown() string {
	var b strings.Builder
	r.deviations(&b)
	r.tables(&b)
	return b.String()
}

// table writes a table of text; the first columns are names, the others numbers.
func table(b *strings.Builder, names int, rows [][]string) {
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i > 0 {
			continue
		}
		b.WriteString("|")
		for k := range row {
			if k < names {
				b.WriteString("---|")
			} else {
				b.WriteString("---:|")
			}
		}
		b.WriteString("\n")
	}
}

func titles() []string {
	var out []string
	for i := range metrics {
		out = append(out, metrics[i].title)
	}
	return out
}

func (m *MethodReport) against() []string {
	var out []string
	for i := range m.Against {
		out = append(out, fmt.Sprintf("%+.*f %s", metrics[i].decimals, m.Against[i].Mean, metrics[i].verdict(&m.Against[i])))
	}
	return out
}

// deviations are the simulator's, over all methods.
func (r *Report) deviations(b *strings.Builder) {
	b.WriteString("\n## Simulator against Slurm\n\nBy how much the simulator's means differ from the " +
		"real Slurm's, over all methods and experiments: the mean of the deviations, and the mean of\n" +
		"their absolute values.\n\n")
	rows := [][]string{append([]string{"methods", "number"}, titles()...)}
	for _, kind := range []string{"backfill", "auction1", "auction2", "ipsched"} {
		row := []string{kind, "0"}
		n := 0
		sums, sizes := make([]float64, len(metrics)), make([]float64, len(metrics))
		for i := range r.Experiments {
			for _, m := range r.Experiments[i].Methods {
				if m.Scheduler != kind || len(m.Deviation) == 0 {
					continue
				}
				n++
				for k, d := range m.Deviation {
					sums[k] += d
					sizes[k] += math.Abs(d)
				}
			}
		}
		if n == 0 {
			continue
		}
		row[1] = fmt.Sprint(n)
		for k := range metrics {
			row = append(row, fmt.Sprintf("%+.1f%%, %.1f%%", 100*sums[k]/float64(n), 100*sizes[k]/float64(n)))
		}
		rows = append(rows, row)
	}
	table(b, 1, rows)
}

// tables are the experiments, their figures, what these are against backfill's, how far the
// simulator is off, and the commands.
func (r *Report) tables(b *strings.Builder) {
	about := [][]string{{"experiment", "what"}}
	figures := [][]string{append([]string{"experiment", "method", "where", "seeds"}, titles()...)}
	against := [][]string{append([]string{"experiment", "method - backfill", "seeds"}, titles()...)}
	off := [][]string{append([]string{"experiment", "simulator - Slurm"}, titles()...)}
	commands := [][]string{{"experiment", "method", "on Slurm", "in the simulator"}}
	for i := range r.Experiments {
		e := &r.Experiments[i]
		about = append(about, []string{e.Name, e.Title})
		for k := range e.Methods {
			m := &e.Methods[k]
			for _, row := range m.figures() {
				figures = append(figures, append([]string{e.Name}, row...))
			}
			if len(m.Against) > 0 {
				against = append(against, append([]string{e.Name, m.Name, fmt.Sprint(m.Against[0].Seeds)}, m.against()...))
			}
			if len(m.Deviation) > 0 {
				row := []string{e.Name, m.Name}
				for _, d := range m.Deviation {
					row = append(row, fmt.Sprintf("%+.1f%%", 100*d))
				}
				off = append(off, row)
			}
			commands = append(commands, []string{e.Name, m.Name,
				fmt.Sprintf("aucsched emulate %s --seeds %s", strings.Join(e.ArgsOf("emulate", m.Method), " "), seedList(r.Seeds)),
				fmt.Sprintf("aucsched simulate %s --seed S", strings.Join(e.ArgsOf("simulate", m.Method), " "))})
		}
	}
	for _, t := range []struct {
		heading, text string
		names         int
		rows          [][]string
	}{
		{"Experiments", "", 2, about},
		{"Figures", "The papers', the real Slurm's and the simulator's.", 3, figures},
		{"Against backfill", "On the real Slurm: means of the differences, seed by seed.", 2, against},
		{"Deviations", "By how much the simulator's means differ from the real Slurm's.", 2, off},
		{"Commands", "", 4, commands},
	} {
		if len(t.rows) < 2 {
			continue
		}
		b.WriteString("\n## " + t.heading + "\n\n")
		if t.text != "" {
			b.WriteString(t.text + "\n\n")
		}
		table(b, t.names, t.rows)
	}
}

// figures are the paper's, the real Slurm's and the simulator's.
func (m *MethodReport) figures() [][]string {
	var rows [][]string
	if len(m.Paper) > 0 {
		row := []string{m.Name, "paper", ""}
		for i := range metrics {
			cell := ""
			if p, ok := m.Paper[metrics[i].key]; ok {
				cell = fmt.Sprintf("%.*f", metrics[i].decimals, p)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	add := func(where string, figures []stats.Figure) {
		if len(figures) == 0 {
			rows = append(rows, append([]string{m.Name, where, "not run"}, make([]string, len(metrics))...))
			return
		}
		row := []string{m.Name, where, fmt.Sprint(figures[0].Seeds)}
		for i, f := range figures {
			if f.Seeds < 2 {
				row = append(row, fmt.Sprintf("%.*f", metrics[i].decimals, f.Mean))
			} else {
				row = append(row, fmt.Sprintf("%.*f ± %.*f", metrics[i].decimals, f.Mean, metrics[i].decimals, f.Dev))
			}
		}
		rows = append(rows, row)
	}
	add("Slurm", m.Slurm)
	add("simulator", m.Simulated)
	return rows
}

func seedList(seeds []uint64) string {
	first, last := seeds[0], seeds[len(seeds)-1]
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}
