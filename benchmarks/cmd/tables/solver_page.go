// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/peers"
)

// page is benchmarks/results/solver.md.
func (f *solverFigures) page() (string, error) {
	sum := f.summary()
	return render("solver", map[string]any{
		"Fresh": f.Fresh, "Machine": f.Machine, "Limit": peerLimit, "Missing": f.Missing,
		"Sum": sum, "Gaps": sum.gaps(),
		"Worths": f.worths(), "Bounds": f.bounds(),
	})
}

func percent(part, of float64) string {
	if part < 0 || math.IsInf(part, 0) {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*part/of)
}

// answers is a table of what the native solver at some of its deadlines and its peers answer.
func (f *solverFigures) answers(deadlines []int, cell func(*solverRow, peers.Answer) string) *table {
	t := &table{textColumns: 1, header: []string{"window"}}
	for _, i := range deadlines {
		t.header = append(t.header, "native "+nativeLimits[i].String())
	}
	for _, n := range f.Peers {
		t.header = append(t.header, fmt.Sprint(n, " ", peerLimit))
	}
	for i := range f.Rows {
		r := &f.Rows[i]
		row := []string{r.Window.Name}
		for _, i := range deadlines {
			row = append(row, cell(r, r.Native[i]))
		}
		for _, a := range r.Peers {
			row = append(row, cell(r, a))
		}
		t.add(row...)
	}
	return t
}

// worths are what the choices are worth, of the best.
func (f *solverFigures) worths() *table {
	var all []int
	for i := range nativeLimits {
		all = append(all, i)
	}
	return f.answers(all, func(r *solverRow, a peers.Answer) string {
		return percent(float64(a.Worth), float64(r.Best))
	})
}

// bounds are how far the bounds are above the best.
func (f *solverFigures) bounds() *table {
	shown := []int{at100ms, at1s, len(nativeLimits) - 1}
	return f.answers(shown, func(r *solverRow, a peers.Answer) string {
		cell := percent(a.Gap(r.Best), 1)
		if a.Optimal {
			return "*" + cell
		}
		return cell
	})
}

type solverSummary struct {
	Of, AsGood, Near, Tight int
	WorstShort, WorstAt1s   float64              // in per cent
	Gaps                    map[string][]float64 // by how busy the machine is
}

// same lets pass what 20 bits of cost in the files can make of equal answers.
const same = 1e-6

func (f *solverFigures) summary() solverSummary {
	s := solverSummary{Of: len(f.Rows), Gaps: map[string][]float64{}}
	for _, r := range f.Rows {
		worth, bound := int64(-1), math.Inf(1)
		for _, a := range r.Peers {
			worth, bound = max(worth, a.Worth), min(bound, a.Bound)
		}
		if short := 1 - float64(r.Native[at100ms].Worth)/float64(worth); worth <= 0 || short <= same {
			s.AsGood++
		} else {
			s.WorstShort = max(s.WorstShort, 100*short)
		}
		below := 1 - float64(r.Native[at1s].Worth)/float64(r.Best)
		if below <= 0.005 {
			s.Near++
		}
		s.WorstAt1s = max(s.WorstAt1s, 100*below)
		if r.Native[at1s].Bound <= bound*(1+same) {
			s.Tight++
		}
		s.Gaps[r.Busy] = append(s.Gaps[r.Busy], r.Native[at1s].Gap(r.Native[at1s].Worth))
	}
	return s
}

// busyGap is the median of the proven gaps of machines that are as busy, in per cent.
type busyGap struct {
	Busy    string
	Windows int
	Median  float64
}

func (s *solverSummary) gaps() (out []busyGap) {
	for _, busy := range []string{"90% busy", "half-busy", "empty"} {
		if g := s.Gaps[busy]; len(g) > 0 {
			slices.SortFunc(g, cmp.Compare[float64])
			out = append(out, busyGap{busy, len(g), 100 * g[len(g)/2]})
		}
	}
	return out
}
