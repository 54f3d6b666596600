// SPDX-License-Identifier: BSD-3-Clause

package matrix

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

//go:embed intro.md
var intro string

// Page is benchmarks/results/emulation.md, which command wrote.
func (r *Report) Page(command string) []byte {
	return []byte(strings.ReplaceAll(intro, "COMMAND", command) + r.Markdown())
}

// Markdown prints what came out, section by section.
func (r *Report) Markdown() string {
	var b strings.Builder
	r.summary(&b)
	r.deviations(&b)
	for i := range r.Experiments {
		r.Experiments[i].markdown(&b, r.Seeds)
	}
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

// summary is our best settings against backfill, an experiment a line.
func (r *Report) summary(b *strings.Builder) {
	b.WriteString("\n## Our best settings against stock backfill\n\nOn the real Slurm, means of the differences seed by seed.\n\n")
	rows := [][]string{append([]string{"experiment", "method", "seeds"}, titles()...)}
	for i := range r.Experiments {
		for _, m := range r.Experiments[i].Methods {
			if m.Best && len(m.Against) > 0 {
				rows = append(rows, append([]string{r.Experiments[i].Name, m.Name, fmt.Sprint(m.Against[0].Seeds)}, m.against()...))
			}
		}
	}
	table(b, 2, rows)
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
	b.WriteString("\n## Simulator against Slurm\n\nBy how much the simulator's means are off the " +
		"real Slurm's, over the methods and experiments of this page: the mean of the " +
		"deviations, and of their sizes.\n\n")
	rows := [][]string{append([]string{"methods", "of them"}, titles()...)}
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

func (e *ExperimentReport) markdown(b *strings.Builder, seeds []uint64) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n", e.Name, e.Title)
	rows := [][]string{append([]string{"method", "where", "seeds"}, titles()...)}
	for i := range e.Methods {
		rows = append(rows, e.Methods[i].figures()...)
	}
	table(b, 2, rows)
	rows = [][]string{append([]string{"method - backfill, on Slurm", "seeds"}, titles()...)}
	off := [][]string{append([]string{"simulator - Slurm"}, titles()...)}
	for i := range e.Methods {
		m := &e.Methods[i]
		if len(m.Against) > 0 {
			rows = append(rows, append([]string{m.Name, fmt.Sprint(m.Against[0].Seeds)}, m.against()...))
		}
		if len(m.Deviation) > 0 {
			row := []string{m.Name}
			for _, d := range m.Deviation {
				row = append(row, fmt.Sprintf("%+.1f%%", 100*d))
			}
			off = append(off, row)
		}
	}
	for _, t := range [][][]string{rows, off} {
		if len(t) > 1 {
			b.WriteString("\n")
			table(b, 1, t)
		}
	}
	b.WriteString("\nThe commands:\n\n```\n")
	for i := range e.Methods {
		m := &e.Methods[i]
		fmt.Fprintf(b, "# %s\naucsched emulate %s --seeds %s\naucsched simulate %s --seed S\n",
			m.Name, strings.Join(e.ArgsOf("emulate", m.Method), " "), seedList(seeds),
			strings.Join(e.ArgsOf("simulate", m.Method), " "))
	}
	b.WriteString("```\n")
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
