// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

// Report sets our figures beside the papers'.
type Report struct {
	Seeds  []uint64      `json:"seeds"`
	Tables []TableReport `json:"tables"`
	// Programs are the builds that ran the cells; results of several may differ.
	Programs []string `json:"programs"`
}

// TableReport is a table of a [Report].
type TableReport struct {
	Name    string      `json:"name"`
	Title   string      `json:"title"`
	Notes   []string    `json:"notes,omitempty"`
	Rows    []RowReport `json:"rows"`
	Summary []Tally     `json:"summary"`
}

// RowReport is a row of a table.
type RowReport struct {
	Workload string                  `json:"workload"`
	Method   string                  `json:"method"`
	Args     []string                `json:"args"`
	Ours     map[string]stats.Figure `json:"ours"`
	Paper    map[string]float64      `json:"paper"`
	// AboveBound is by how many per cent our runtime exceeds what no policy could
	// undercut on the same jobs; nil where that is not known or jobs did not run.
	AboveBound *stats.Figure `json:"above_bound_pct,omitempty"`
	// Unrun is how many jobs did not run, over all seeds.
	Unrun  int    `json:"unrun"`
	Remark string `json:"remark,omitempty"`
	// Against names the method that the row is compared with; "" for that one.
	Against string                `json:"against,omitempty"`
	Orders  map[string]Comparison `json:"orders,omitempty"`
}

// Comparison is a metric of two methods.
type Comparison struct {
	Ours  stats.Difference `json:"ours"`
	Paper float64          `json:"paper"`
	Order Order            `json:"order_reproduced"`
}

// Tally counts the verdicts on a metric over a table.
type Tally struct {
	Metric string        `json:"metric"`
	Orders map[Order]int `json:"orders"`
}

// NewReport makes the figures of the tables, of which results has every cell.
func NewReport(ctx context.Context, p *Program, tables []Table, seeds []uint64, results Results) (*Report, error) {
	report := &Report{Seeds: seeds}
	for i := range tables {
		t := &tables[i]
		tr := TableReport{Name: t.Name, Title: t.Title, Notes: t.Notes}
		stored := make([][]*Stored, len(t.Rows))
		for j := range t.Rows {
			for _, seed := range seeds {
				c, err := p.Prepare(Cell{Args: t.Rows[j].Args, Seed: seed})
				if err != nil {
					return nil, err
				}
				s, ok := results[c.Key]
				if !ok {
					return nil, fmt.Errorf("table %s: no result of %s", t.Name, c.String())
				}
				stored[j] = append(stored[j], s)
				if !slices.Contains(report.Programs, s.Program) {
					report.Programs = append(report.Programs, s.Program)
				}
			}
			row := newRow(&t.Rows[j], stored[j])
			if err := row.bound(ctx, p, seeds, stored[j]); err != nil {
				return nil, err
			}
			tr.Rows = append(tr.Rows, row)
		}
		compare(&tr, t.Rows, stored)
		tr.summarise()
		report.Tables = append(report.Tables, tr)
	}
	slices.Sort(report.Programs)
	return report, nil
}

func newRow(row *Row, stored []*Stored) RowReport {
	r := RowReport{Workload: row.Workload, Method: row.Method, Args: row.Args, Paper: row.Paper,
		Remark: row.Remark, Ours: make(map[string]stats.Figure)}
	for _, m := range metrics {
		if _, ok := row.Paper[m.Key]; ok || m.Always {
			r.Ours[m.Key] = stats.Over(m.values(stored))
		}
	}
	for _, s := range stored {
		r.Unrun += len(s.Result.Unrun)
	}
	return r
}

// bound holds the row's runtimes against the least possible ones.
func (r *RowReport) bound(ctx context.Context, p *Program, seeds []uint64, stored []*Stored) error {
	if p.Bound == nil || r.Unrun > 0 {
		return nil
	}
	var above []float64
	for i, s := range stored {
		c := Cell{Args: r.Args, Seed: seeds[i]}
		least, err := p.Bound(ctx, c.AllArgs())
		if err != nil {
			return fmt.Errorf("%s --bound: %w", c.String(), err)
		}
		if least <= 0 {
			return fmt.Errorf("%s --bound: %v s", c.String(), least)
		}
		above = append(above, 100*(float64(s.Result.Runtime)/least-1))
	}
	f := stats.Over(above)
	r.AboveBound = &f
	return nil
}

// values has the metric of each seed.
func (m *Metric) values(stored []*Stored) []float64 {
	x := make([]float64, len(stored))
	for i, s := range stored {
		x[i] = m.of(s.Result)
	}
	return x
}

// compare holds each row against the baseline of its workload.
func compare(t *TableReport, rows []Row, stored [][]*Stored) {
	for i := range rows {
		b := slices.IndexFunc(rows, func(r Row) bool { return r.Baseline && r.Workload == rows[i].Workload })
		if b < 0 || rows[i].Baseline {
			continue
		}
		r := &t.Rows[i]
		r.Against, r.Orders = rows[b].Method, make(map[string]Comparison)
		for _, m := range metrics {
			theirs, ok1 := rows[i].Paper[m.Key]
			base, ok2 := rows[b].Paper[m.Key]
			if !m.Ordered || !ok1 || !ok2 {
				continue
			}
			d := stats.Paired(m.values(stored[i]), m.values(stored[b]))
			r.Orders[m.Key] = Comparison{Ours: d, Paper: theirs - base, Order: orderOf(&d, theirs-base)}
		}
	}
}

// summarise counts the verdicts, metric by metric.
func (t *TableReport) summarise() {
	for _, m := range metrics {
		tally := Tally{Metric: m.Key, Orders: make(map[Order]int)}
		for i := range t.Rows {
			if c, ok := t.Rows[i].Orders[m.Key]; ok {
				tally.Orders[c.Order]++
			}
		}
		if len(tally.Orders) > 0 {
			t.Summary = append(t.Summary, tally)
		}
	}
}
