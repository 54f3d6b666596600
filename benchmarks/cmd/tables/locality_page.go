// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

// localityFigures are those of the page.
type localityFigures struct {
	Options     localityOptions
	Nodes       int
	Days, Tried []dayFigures
}

// Days are told apart by what waiting jobs ask for under the baseline, in the mean of the
// evaluated time, of all cores.
const (
	saturatedFrom = 0.5
	underusedTo   = 0.01
)

var dayKinds = []string{"under-used", "nearly saturated", "saturated"}

// kindOf is the place of a day in dayKinds.
func kindOf(f dayFigures) int {
	switch {
	case f.Queued < underusedTo:
		return 0
	case f.Queued < saturatedFrom:
		return 1
	}
	return 2
}

// ratios are what schedulers came to against a baseline, a day after another.
type ratios struct {
	kinds    []int
	stretch  map[string][]float64 // the baseline's mean stretch over the scheduler's
	transfer map[string][]float64 // the scheduler's seconds of loads over the baseline's
}

// localityRatios compares all figures with those of a baseline; the kinds of days
// are those under kind.
func localityRatios(all []dayFigures, kind, baseline string) ratios {
	r := ratios{stretch: map[string][]float64{}, transfer: map[string][]float64{}}
	base, of := map[string]dayFigures{}, map[string]int{}
	for _, f := range all {
		if f.Scheduler == baseline {
			base[f.Day] = f
		}
		if f.Scheduler == kind {
			of[f.Day] = kindOf(f)
			r.kinds = append(r.kinds, of[f.Day])
		}
	}
	for _, f := range all {
		b := base[f.Day]
		r.stretch[f.Scheduler] = append(r.stretch[f.Scheduler], b.Stretch/f.Stretch)
		r.transfer[f.Scheduler] = append(r.transfer[f.Scheduler], float64(max(1, f.Transfer))/float64(max(1, b.Transfer)))
	}
	return r
}

// of are the values of the days of one kind; -1: of all.
func (r *ratios) of(values []float64, kind int) []float64 {
	var out []float64
	for i, v := range values {
		if kind < 0 || r.kinds[i] == kind {
			out = append(out, v)
		}
	}
	return out
}

// table has a row for each scheduler.
func (r *ratios) table(names []string) *table {
	t := &table{textColumns: 1, header: []string{"", "least", "1/8", "1/4", "median",
		"3/4", "7/8", "most", "mean", "geometric mean", "days above 1"}}
	for k, name := range dayKinds {
		t.header = append(t.header, fmt.Sprintf("%s (%d)", name, len(r.of(r.stretch[names[0]], k))))
	}
	t.header = append(t.header, "loads")
	for _, name := range names {
		values := slices.Sorted(slices.Values(r.stretch[name]))
		cells := []string{name}
		for _, q := range []float64{0, 0.125, 0.25, 0.5, 0.75, 0.875, 1} {
			cells = append(cells, fmt.Sprintf("%.2f", quantile(values, q)))
		}
		above := 0
		for _, v := range values {
			if v > 1 {
				above++
			}
		}
		cells = append(cells, fmt.Sprintf("%.3f", stats.Over(values).Mean),
			fmt.Sprintf("%.3f", stats.Geometric(values)), fmt.Sprintf("%d%%", 100*above/len(values)))
		for k := range dayKinds {
			cell := "-"
			if x := r.of(r.stretch[name], k); len(x) > 0 {
				cell = fmt.Sprintf("%.3f", stats.Geometric(x))
			}
			cells = append(cells, cell)
		}
		t.add(append(cells, fmt.Sprintf("%.2f", stats.Geometric(r.transfer[name])))...)
	}
	return t
}

// duels say on how many days lead beats another scheduler.
func (r *ratios) duels(lead string, others []string) *table {
	t := &table{textColumns: 1, header: []string{"", "better", "equal", "worse", "sign test"}}
	for _, name := range others {
		d := stats.NewDuel(gains(r.stretch[lead], r.stretch[name]), make([]float64, len(r.kinds)))
		t.add(name, fmt.Sprint(d.Wins), fmt.Sprint(d.Ties), fmt.Sprint(d.Losses), fmt.Sprintf("%.3f", d.SignTest()))
	}
	return t
}

// gains are by how much a is above b, as a logarithm; what differs by less than half
// a per cent is equal.
func gains(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		if d := math.Log(a[i] / b[i]); math.Abs(d) >= 0.005 {
			out[i] = d
		}
	}
	return out
}

// quantile is the q-quantile, q in 0..1, of values in ascending order, of which there is at least
// one, between two of them by their distance.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	k := int(at)
	if k+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[k] + (at-float64(k))*(sorted[k+1]-sorted[k])
}
