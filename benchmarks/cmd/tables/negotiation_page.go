// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/invasive"
)

// negotiationPhases are the paper's, and their messages.
var negotiationPhases = []struct {
	name  string
	kinds []invasive.Kind
}{
	{"initialisation", []invasive.Kind{invasive.Initialise, invasive.ResponseInitialise,
		invasive.NegotiationStart, invasive.ResponseNegotiationStart}},
	{"negotiation", []invasive.Kind{invasive.RequestResourceOffer, invasive.ResourceOffer,
		invasive.ResponseResourceOffer, invasive.NegotiationEnd, invasive.ResponseNegotiationEnd}},
	{"urgent jobs", []invasive.Kind{invasive.UrgentJob, invasive.ResponseUrgentJob}},
	{"status reports", []invasive.Kind{invasive.StatusReport}},
	{"finalisation", []invasive.Kind{invasive.Finalise, invasive.ResponseFinalise}},
}

// page is benchmarks/results/negotiation.md.
func (f *negotiationFigures) page() (string, error) {
	return render("negotiation", map[string]any{
		"Machine": f.machine, "Files": f.files, "Times": f.times(), "Rates": f.rates(), "Phases": f.phases(), "Kinds": f.kinds(),
	})
}

// each is a row's figure divided by its transactions.
func (r *negotiationRow) each(name string) float64 { return r.of[name] / r.of["transactions"] }

// plain is a number with three digits at least, and commas.
func plain(x float64) string {
	if x < 99.95 {
		return digits(x)
	}
	return count(int(x + 0.5))
}

// table is one that begins with the sizes.
func (f *negotiationFigures) table(cells func(*negotiationRow) []string, columns ...string) *table {
	t := &table{header: append([]string{"nodes", "jobs"}, columns...)}
	for i := range f.rows {
		r := &f.rows[i]
		t.add(append([]string{count(r.nodes), count(r.jobs)}, cells(r)...)...)
	}
	return t
}

func (f *negotiationFigures) times() *table {
	return f.table(func(r *negotiationRow) (cells []string) {
		cells = []string{count(r.runs), plainCount(r.of["transactions"])}
		for _, span := range []string{"transaction", "answer", "question"} {
			cells = append(cells, plain(r.of[span+"-p50-ms"]), plain(r.of[span+"-p99-ms"]))
		}
		return cells
	}, "runs", "transactions", "p50", "p99", "answer p50", "p99", "with waits p50", "p99")
}

func (f *negotiationFigures) rates() *table {
	return f.table(func(r *negotiationRow) []string {
		return []string{plain(r.of["jobs/s"]), plain(r.of["transactions/s"]),
			plainCount(r.of["urgent-jobs"]), plain(r.of["urgent-p50-ms"]), plain(r.of["urgent-p99-ms"]),
			plain(r.of["heap-MB"]), fmt.Sprintf("%.2f", r.others)}
	}, "jobs/s", "transactions/s", "urgent jobs", "p50", "p99", "heap, MB", "others")
}

func (f *negotiationFigures) phases() *table {
	columns := []string{"rejected"}
	for _, p := range negotiationPhases {
		columns = append(columns, p.name, "bytes")
	}
	return f.table(func(r *negotiationRow) []string {
		cells := []string{plain(r.each("rejected-offers") + r.each("rejected-mappings"))}
		for _, p := range negotiationPhases {
			var messages, bytes float64
			for _, k := range p.kinds {
				messages, bytes = messages+r.each(k.String()), bytes+r.each(k.String()+"-B")
			}
			cells = append(cells, plain(messages), plain(bytes))
		}
		return cells
	}, columns...)
}

// kinds is the table of all kinds, of those rows that have the most jobs.
func (f *negotiationFigures) kinds() *table {
	t := &table{textColumns: 2, header: []string{"phase", "message"}}
	var rows []*negotiationRow
	for i := range f.rows {
		if r := &f.rows[i]; r.jobs == f.rows[len(f.rows)-1].jobs {
			rows = append(rows, r)
			t.header = append(t.header, count(r.nodes)+" nodes", "bytes")
		}
	}
	for _, p := range negotiationPhases {
		for _, k := range p.kinds {
			cells := []string{p.name, k.String()}
			for _, r := range rows {
				cells = append(cells, plain(r.each(k.String())), plain(r.each(k.String()+"-B")))
			}
			t.add(cells...)
		}
	}
	return t
}

func plainCount(x float64) string { return count(int(x)) }
