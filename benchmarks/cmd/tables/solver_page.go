// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/peers"
)

// page is benchmarks/results/solver.md; plot is the name of the picture beside it.
func (f *solverFigures) page(plot string) string {
	var p page
	p.heading(1, "The solvers side by side")
	p.say("Written by `make bench FRESH=%d INSTANCES=DIR`; change the command, not this page. FRESH is how many windows are made.", f.Fresh)
	p.say("Measured on: %s. Each solver gets the same file and is given %v; the native solver is called anew for each of its deadlines. Its two hands take a processor each where there are two; the others have one thread. Every choice is added up again in integers from the model. Best is the most that anything here is worth, or a solution that came with the file. Percentages are of that; `-` is no choice at all. The machine had other work.", f.Machine, peerLimit)
	for _, m := range f.Missing {
		p.say("Left out: %s.", m)
	}
	p.say("![What the native solver's choice and bound are worth over time](%s)", plot)
	f.writeSummary(&p)
	f.writeWorths(&p)
	f.writeGaps(&p)
	if len(f.Small) > 0 {
		f.writeSmall(&p)
	}
	return p.String()
}

func percent(part, of float64) string {
	if part < 0 || math.IsInf(part, 0) {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*part/of)
}

func (f *solverFigures) writeWorths(p *page) {
	p.heading(2, "What the choice is worth, in % of the best")
	t := table{textColumns: 1, header: []string{"window"}}
	for _, l := range nativeLimits {
		t.header = append(t.header, "native "+l.String())
	}
	for _, n := range f.Peers {
		t.header = append(t.header, fmt.Sprint(n, " ", peerLimit))
	}
	for _, r := range f.Rows {
		row := []string{r.Window.Name}
		for _, a := range slices.Concat(r.Native, r.Peers) {
			row = append(row, percent(float64(a.Worth), float64(r.Best)))
		}
		t.add(row...)
	}
	p.table(&t)
}

func (f *solverFigures) writeGaps(p *page) {
	p.heading(2, "How far the bound is above the best, in %")
	p.say("`*`: the solver claims to have proven its choice.")
	t := table{textColumns: 1, header: []string{"window"}}
	shown := []int{at100ms, at1s, len(nativeLimits) - 1}
	for _, i := range shown {
		t.header = append(t.header, "native "+nativeLimits[i].String())
	}
	for _, n := range f.Peers {
		t.header = append(t.header, fmt.Sprint(n, " ", peerLimit))
	}
	for _, r := range f.Rows {
		row := []string{r.Window.Name}
		var answers []peers.Answer
		for _, i := range shown {
			answers = append(answers, r.Native[i])
		}
		for _, a := range append(answers, r.Peers...) {
			cell := percent(a.Gap(r.Best), 1)
			if a.Optimal {
				cell = "*" + cell
			}
			row = append(row, cell)
		}
		t.add(row...)
	}
	p.table(&t)
}

// writeSummary says how the native solver stands against the others.
func (f *solverFigures) writeSummary(p *page) {
	s := f.summary()
	p.heading(2, "In short")
	p.list(
		fmt.Sprintf("At 100 ms the native choice is worth at least as much as the best of the others at %v on %d of %d windows; where it falls short, by at most %.2f%%.", peerLimit, s.AsGood, s.Of, 100*s.WorstShort),
		fmt.Sprintf("At 1 s it is within 0.5%% of the best on %d of %d; at worst %.2f%% below.", s.Near, s.Of, 100*s.WorstAt1s),
		fmt.Sprintf("Its bound at 1 s is at least as tight as the best of the others' at %v on %d of %d.", peerLimit, s.Tight, s.Of),
		fmt.Sprintf("Its proven gap at 1 s, the median: %s.", strings.Join(s.gaps(), ", ")),
	)
}

type solverSummary struct {
	Of, AsGood, Near, Tight int
	WorstShort, WorstAt1s   float64
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
			s.WorstShort = max(s.WorstShort, short)
		}
		below := 1 - float64(r.Native[at1s].Worth)/float64(r.Best)
		if below <= 0.005 {
			s.Near++
		}
		s.WorstAt1s = max(s.WorstAt1s, below)
		if r.Native[at1s].Bound <= bound*(1+same) {
			s.Tight++
		}
		s.Gaps[r.Busy] = append(s.Gaps[r.Busy], r.Native[at1s].Gap(r.Native[at1s].Worth))
	}
	return s
}

func (s *solverSummary) gaps() []string {
	var out []string
	for _, busy := range []string{"90% busy", "half-busy", "empty"} {
		if g := s.Gaps[busy]; len(g) > 0 {
			slices.SortFunc(g, cmp.Compare[float64])
			out = append(out, fmt.Sprintf("%.2f%% on %d %s machines", 100*g[len(g)/2], len(g), busy))
		}
	}
	return out
}

func (f *solverFigures) writeSmall(p *page) {
	p.heading(2, "Small windows to the optimum")
	p.say("128 nodes, 50 jobs, 15 bids, 90%% busy; at most %v. Both are asked for a proven gap of %g, which is about what HiGHS can tell from none; the native solver once more for the last unit of worth. `*`: proven so far. The time of HiGHS includes starting its process.", endLimit, smallGap)
	t := table{textColumns: 1, header: []string{"window", "native, last unit", "native", "highs", "highs : native"}}
	product, worst := 0.0, math.Inf(1)
	for _, r := range f.Small {
		ratio := r.Highs.Elapsed.Seconds() / r.Native.Elapsed.Seconds()
		product += math.Log(ratio)
		worst = min(worst, ratio)
		t.add(r.Name, starred(r.Exact, 0), starred(r.Native, smallGap), starred(r.Highs, smallGap), digits(ratio))
	}
	p.table(&t)
	p.say("HiGHS takes %s times as long, the geometric mean; at least %s times.", digits(math.Exp(product/float64(len(f.Small)))), digits(worst))
}

// starred is how long an answer took, with a star if its proven gap is small enough.
func starred(a peers.Answer, gap float64) string {
	if a.Optimal || a.Gap(a.Worth) <= gap {
		return "*" + duration(float64(a.Elapsed))
	}
	return duration(float64(a.Elapsed))
}
