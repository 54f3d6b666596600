// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// made is a window with what belongs to it.
type made struct {
	Window
	space market.Space
	book  market.Book
	model ipmodel.Model
}

// makeWindow makes the window of these asks.
func makeWindow(t require.TestingT, space market.Space, variants []market.Variant, o market.Options, required []bool) *made {
	m := &made{space: space}
	var g market.Generator
	g.Generate(&m.space, variants, o, &m.book)
	b := market.Builder{Merge: true}
	require.NoError(t, b.Build(&m.space, variants, &m.book, required, &m.model))
	m.Window = Window{Space: &m.space, Variants: variants, Book: &m.book, Fixed: &m.model}
	return m
}

func (m *made) direct(t require.TestingT) *Direct {
	d, err := NewDirect(&m.space, m.Variants, &m.book, &m.model)
	require.NoError(t, err)
	return d
}

// drawWindow draws a window of a few jobs of all types on a machine of which parts are busy,
// some with a reservation that part of the jobs run into.
func drawWindow(t *rapid.T, nodes, jobs, maxBids int) *made {
	n := rapid.IntRange(2, nodes).Draw(t, "nodes")
	cores, gpus := rapid.IntRange(1, 4).Draw(t, "cores"), rapid.IntRange(0, 2).Draw(t, "gpus")
	table := func(what string) *nodeset.Table {
		tab, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)})
		require.NoError(t, err)
		for i := 0; i < n; {
			free := nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}
			if rapid.IntRange(0, 2).Draw(t, what) == 0 {
				free.Cores = uint16(rapid.IntRange(0, cores).Draw(t, what+" cores"))
				free.GPUs = uint8(rapid.IntRange(0, gpus).Draw(t, what+" gpus"))
			}
			for k := rapid.IntRange(1, 3).Draw(t, "nodes alike"); k > 0 && i < n; k-- {
				require.NoError(t, tab.SetFree(i, free))
				i++
			}
		}
		return tab
	}
	space := market.Space{Now: table("now")}
	for range rapid.IntRange(0, 2).Draw(t, "reservations") {
		space.Left = append(space.Left, table("left"))
	}
	var variants []market.Variant
	for range rapid.IntRange(1, jobs).Draw(t, "jobs") {
		variants = append(variants, market.Variant{
			Spec: requests.Spec(drawRequest(t, n, cores, gpus)), Priority: rapid.Int64Range(1, 20).Draw(t, "priority"),
			Crosses: rapid.IntRange(0, len(space.Left)).Draw(t, "crosses"),
		})
		if k := len(variants) - 1; k > 0 && rapid.IntRange(0, 3).Draw(t, "further way") == 0 {
			variants[k].Rank, variants[k].Of = variants[k-1].Rank+1, 4 // at least as many
			variants[k].Priority, variants[k].Crosses = variants[k-1].Priority, variants[k-1].Crosses
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "quota") == 0 {
		space.Quotas.Unit = []int64{1}
		for range 1 + len(space.Left) {
			space.Quotas.Left = append(space.Quotas.Left, []int64{rapid.Int64Range(0, 12).Draw(t, "quota left")})
		}
		for k := range variants {
			variants[k].Spec.Charges = &nodeset.Uses{{PerNode: int64(k % 2), PerCore: 1}}
		}
	}
	var required []bool
	if rapid.IntRange(0, 3).Draw(t, "some required") == 0 {
		for j := 0; j < len(variants); j = market.NextJob(variants, j) {
			required = append(required, rapid.IntRange(0, 2).Draw(t, "required") == 0)
		}
	}
	o := market.Options{MaxBidsPerJob: maxBids, Drafts: rapid.IntRange(0, 1).Draw(t, "drafts")}
	return makeWindow(t, space, variants, o, required)
}

func drawRequest(t *rapid.T, nodes, cores, gpus int) *bids.Request {
	r := &bids.Request{Contiguous: rapid.Bool().Draw(t, "contiguous")}
	y := rapid.IntRange(1, nodes).Draw(t, "y")
	switch rapid.IntRange(0, 3).Draw(t, "type") {
	case 0:
		r.Cores = rapid.IntRange(1, y*cores).Draw(t, "cores")
		return r
	case 1:
		r.MinNodes, r.MaxNodes, r.Cores = y, y, rapid.IntRange(y, y*cores).Draw(t, "cores")
	case 2:
		r.MinNodes, r.TasksPerNode = y, rapid.IntRange(1, cores).Draw(t, "tasks")
	default: // a limit on tasks
		r.TasksPerNode, r.Cores = rapid.IntRange(1, cores).Draw(t, "tasks"), rapid.IntRange(1, y*cores).Draw(t, "cores")
	}
	r.MinGPUs = rapid.IntRange(0, gpus).Draw(t, "min gpus")
	r.MaxGPUs = rapid.IntRange(r.MinGPUs, gpus).Draw(t, "max gpus")
	r.MixedGPUs = rapid.IntRange(0, 2).Draw(t, "mixed") == 0
	return r
}

// judge checks an answer with the program written out, which shares nothing with the solver.
func (m *made) judge(t require.TestingT, d *Direct, r *Result) {
	var layouts [][]nodeset.Segment
	for i := range r.Chosen {
		layouts = append(layouts, r.Layout(i))
	}
	x, err := d.Values(r.Chosen, layouts)
	require.NoError(t, err)
	worth, err := d.Check(x)
	require.NoError(t, err)
	require.Equal(t, r.Value, worth)
	require.LessOrEqual(t, r.Value, r.Bound)
}

// The solver answers small windows as well as trying all values of all variables does, and
// with any limit on work it has a feasible answer and a bound that holds.
func TestAnswersAsEnumerationDoes(t *testing.T) {
	stronger, cuts, infeasible, further, mixed := 0, 0, 0, 0, 0
	property := func(t *rapid.T) {
		m := drawWindow(t, 4, 4, 3)
		d := m.direct(t)
		_, want, ok := d.Enumerate()
		s := New(native.New())
		var r Result
		require.NoError(t, s.Solve(context.Background(), &m.Window, ipmodel.Options{Seed: 1}, &r))
		if !ok {
			infeasible++
			require.Equal(t, ipmodel.Infeasible, r.Status)
			return
		}
		require.Equal(t, ipmodel.Optimal, r.Status)
		require.Equal(t, want, r.Value)
		m.judge(t, d, &r)
		require.GreaterOrEqual(t, r.Value, r.FixedWorth)
		if r.Value > r.FixedWorth {
			stronger++
		}
		cuts += max(0, r.Cuts-1-len(m.space.Left)) // without those of the whole machine
		for i, b := range r.Chosen {
			if m.Variants[m.book.Bids[b].Job].Rank > 0 {
				further++
			}
			if segs := r.Layout(i); slices.ContainsFunc(segs, func(s nodeset.Segment) bool { return s.GPUs != segs[0].GPUs }) {
				mixed++
			}
		}

		work := rapid.Int64Range(1, 2000).Draw(t, "work")
		require.NoError(t, s.Solve(context.Background(), &m.Window, ipmodel.Options{Seed: 1, Work: work}, &r))
		require.GreaterOrEqual(t, r.Bound, want)
		if r.Status == ipmodel.Optimal || r.Status == ipmodel.Feasible {
			require.LessOrEqual(t, r.Value, want)
			m.judge(t, d, &r)
		}
	}
	for range 20 { // what comes up is left to chance
		if rapid.Check(t, property); min(cuts, infeasible, further, mixed) > 0 {
			break
		}
	}
	require.Positive(t, cuts)
	require.Positive(t, infeasible)
	require.Positive(t, further, "alternatives win")
	require.Positive(t, mixed, "nodes give different numbers of GPUs")
	t.Logf("worth more than fixed layouts in %d windows", stronger)
}

// Winners keep the layouts of their own bids if these fit together, and else those do that can: J3
// has to lie beside J1 or J2, and one of these has its own.
func TestWinnersPreferTheirOwnLayouts(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	two := &bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, Contiguous: true}
	one := &bids.Request{MinNodes: 1, TasksPerNode: 3}
	variants := []market.Variant{{Spec: requests.Spec(two), Priority: 4},
		{Spec: requests.Spec(two), Priority: 4}, {Spec: requests.Spec(one), Priority: 3}}
	for jobs, own := range map[int]int{2: 2, 3: 2} {
		m := makeWindow(t, market.Space{Now: nodes}, variants[:jobs], market.Options{MaxBidsPerJob: 4}, nil)
		for i := range m.model.Value { // no preferences
			m.model.Value[i] = variants[m.book.Bids[i].Job].Priority
		}
		var r Result
		require.NoError(t, New(native.New()).Solve(context.Background(), &m.Window, ipmodel.Options{}, &r))
		m.judge(t, m.direct(t), &r)
		require.Len(t, r.Chosen, jobs)
		same := 0
		for i, b := range r.Chosen {
			if slices.Equal(r.Layout(i), m.book.Allocation(int(b))) {
				same++
			}
		}
		require.GreaterOrEqual(t, same, own, "%d jobs", jobs)
	}
}
