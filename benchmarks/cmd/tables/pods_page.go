// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/pods"
	"github.com/aucsched/aucsched/benchmarks/stats"
)

// podPage is benchmarks/results/pods.md.
func podPage(rows []podRow, seeds seedRange, machine string) (string, error) {
	return render("pods", map[string]any{
		"Machine": machine, "Seeds": seeds, "Summary": podSummary(rows), "Reproduced": podReproduced(rows),
		"Lists": podFigures(rows, false), "Made": podFigures(rows, true),
	})
}

// of is a case's row of a policy.
func podOf(rows []podRow, list, policy string, batch int) *podRow {
	i := slices.IndexFunc(rows, func(r podRow) bool {
		return r.List == list && r.Policy == policy && r.Batch == batch
	})
	if i < 0 {
		return nil
	}
	return &rows[i]
}

// podSummary has a line for each list: by how much the auction is above FGD.
func podSummary(rows []podRow) *table {
	t := table{textColumns: 1, header: []string{"list", "FGD", "FGD at 100%", "auction2", "at 100%", "failed"}}
	var last string
	for i := range rows {
		list := rows[i].List
		best := podOf(rows, list, podBest, 1)
		if list == last || best == nil {
			continue
		}
		last = list
		at := [2]float64{stats.Over(best.At100).Mean, stats.Over(best.AtEnd).Mean}
		if best.Published != nil {
			at = *best.Published
		}
		r := podOf(rows, list, pods.Auction, podBatch)
		t.add(list, fmt.Sprintf("%.2f", at[1]), fmt.Sprintf("%.2f", at[0]),
			signed(stats.Over(r.AtEnd).Mean-at[1], 2), signed(stats.Over(r.At100).Mean-at[0], 2),
			signed(stats.Over(r.Failed).Mean-stats.Over(best.Failed).Mean, 0))
	}
	return &t
}

// podReproduced has by how much the paper's policies, as they are here, miss what it publishes.
func podReproduced(rows []podRow) *table {
	t := table{textColumns: 1, header: []string{"policy", "lists", "least", "mean", "most"}}
	for _, policy := range pods.Policies() {
		var off []float64
		for i := range rows {
			if r := &rows[i]; r.Policy == policy && r.Published != nil {
				off = append(off, stats.Over(r.AtEnd).Mean-r.Published[1])
			}
		}
		if len(off) > 0 {
			t.add(policy, fmt.Sprint(len(off)), signed(slices.Min(off), 2), signed(stats.Over(off).Mean, 2),
				signed(slices.Max(off), 2))
		}
	}
	return &t
}

// podFigures has all figures of the paper's lists, or of those made here.
func podFigures(rows []podRow, made bool) *table {
	t := table{textColumns: 2, header: []string{"list", "policy", "W", "GPU %", "at 100%",
		"published", "at 100%", "failed", "µs"}}
	for i := range rows {
		r := &rows[i]
		if r.Made != made {
			continue
		}
		published := []string{"", ""}
		if r.Published != nil {
			for k, x := range []float64{r.Published[1], r.Published[0]} {
				published[k] = fmt.Sprintf("%.2f", x)
			}
		}
		t.add(r.List, r.Policy, fmt.Sprint(r.Batch), interval(r.AtEnd, 2), interval(r.At100, 2),
			published[0], published[1], interval(r.Failed, 0), fmt.Sprintf("%.0f", stats.Median(r.Time)))
	}
	return &t
}

// interval is the mean of x and half the width of its 95% interval.
func interval(x []float64, decimals int) string {
	f := stats.Over(x)
	if len(x) < 2 {
		return fmt.Sprintf("%.*f", decimals, f.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, f.Mean, decimals, f.Half())
}
