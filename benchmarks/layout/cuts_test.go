// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"context"
	"math"
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

// A bid that finds no layout leaves a cut that the winners with it violate and that the winners
// without it keep to; with all cuts so far, these winners are a choice of the packing model.
// Whatever comes and goes, what is undone leaves no trace.
func TestCutsTellWhy(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawWindow(t, 8, 8, 4)
		var p problem
		require.NoError(t, p.load(&m.Window))
		var f flow
		f.reset(&p)
		var w weights
		var r relaxed
		weight := func(c *cut) (sum int64) {
			for _, b := range f.bid {
				if b >= 0 {
					sum += int64(c.weight[b])
				}
			}
			return sum
		}
		for b := range p.items {
			j := p.items[b].job
			if f.bid[j] >= 0 && rapid.Bool().Draw(t, "leaves") {
				f.remove(j)
			}
			if f.bid[j] >= 0 || !f.roomFor(int32(b)) {
				continue
			}
			before := append([]int64(nil), f.used[0]...)
			if f.insert(int32(b)) {
				continue
			}
			refused++
			require.Equal(t, before, f.used[0])
			w.minimal(&f)
			c := r.cuts.next()
			require.True(t, w.cut(&p, c))
			require.LessOrEqual(t, weight(c), c.capacity)
			require.Greater(t, weight(c)+int64(c.weight[b]), c.capacity)
			r.cuts.keep()
		}
		r.build(&p)
		r.model.Required = nil
		var winners []int32
		for _, b := range f.bid {
			if b >= 0 {
				winners = append(winners, b)
			}
		}
		_, err := r.model.Check(winners)
		require.NoError(t, err)
		f.undo(0)
		for k := range p.tables() {
			require.Equal(t, make([]int64, len(p.cells)), f.used[k])
			require.Equal(t, make([]int64, len(p.cells)), f.gpus[k])
		}
		for _, at := range f.at[:len(p.cells)] {
			require.Empty(t, at)
		}
	})
	require.Positive(t, refused)
}

// The bound at any prices is above the optimum, and the steps lower it.
func TestPricesBoundTheProgram(t *testing.T) {
	lowered := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawWindow(t, 4, 4, 3)
		_, optimum, ok := m.direct(t).Enumerate()
		if !ok {
			return
		}
		var p problem
		require.NoError(t, p.load(&m.Window))
		var x prices
		var w weights
		var r relaxed
		r.build(&p)
		x.begin(&p, &r, nil)
		unit := float64(m.model.Scale)
		for k := range p.tables() {
			for i := range p.cells {
				x.core[k][i] = unit * rapid.Float64Range(0, 10).Draw(t, "core")
				x.gpu[k][i] = unit * rapid.Float64Range(0, 10).Draw(t, "gpu")
			}
		}
		first, ok := x.bound(&p, &w)
		require.True(t, ok)
		require.GreaterOrEqual(t, first, optimum)
		x.descend(&p, float64(optimum), 50, func() bool { return false })
		last, ok := x.bound(&p, &w)
		require.True(t, ok)
		require.GreaterOrEqual(t, last, optimum)
		require.InDelta(t, x.value, float64(last), 1e3, "rounding apart, the same bound")
		if last < first {
			lowered++
		}
		x.core[0][0] = math.MaxInt64
		_, ok = x.bound(&p, &w)
		require.False(t, ok, "beyond 64 bits")
	})
	require.Positive(t, lowered)
}

// Three jobs share a cell of three nodes. Each has as many cores on one node as on another, or
// one more, and nobody more than there is.
func TestDealInTurns(t *testing.T) {
	nodes, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 5})
	require.NoError(t, err)
	var variants []market.Variant
	for _, cores := range []int{4, 7, 4} {
		variants = append(variants, market.Variant{Spec: requests.Spec(&bids.Request{Cores: cores, MinNodes: 3, MaxNodes: 3}), Priority: 1})
	}
	m := makeWindow(t, market.Space{Now: nodes}, variants, market.Options{MaxBidsPerJob: 1}, nil)
	var p problem
	require.NoError(t, p.load(&m.Window))
	require.Len(t, p.cells, 1)
	var f flow
	f.reset(&p)
	for b := range p.items {
		require.True(t, f.insert(int32(b)))
	}
	begin := f.deal(nil)
	var got [][]nodeset.Segment
	for j := range int32(3) {
		got = append(got, f.layout(nil, j, begin[j]))
	}
	seg := func(first, last int32, cores uint16) nodeset.Segment {
		return nodeset.Segment{First: first, Last: last, Cores: cores}
	}
	require.Equal(t, [][]nodeset.Segment{
		{seg(0, 0, 2), seg(1, 2, 1)},
		{seg(0, 0, 2), seg(1, 1, 3), seg(2, 2, 2)},
		{seg(0, 1, 1), seg(2, 2, 2)},
	}, got)
	d := m.direct(t)
	x, err := d.Values([]int32{0, 1, 2}, got)
	require.NoError(t, err)
	_, err = d.Check(x)
	require.NoError(t, err)
}

// Two jobs that a reservation binds have three cores of each node there; the one between them,
// which it does not bind, may not come between them when nodes are dealt.
func TestDealKeepsReservations(t *testing.T) {
	table := func(cores uint16) *nodeset.Table {
		nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 5})
		require.NoError(t, err)
		for n := range 2 {
			require.NoError(t, nodes.SetFree(n, nodeset.Capacity{Cores: cores}))
		}
		return nodes
	}
	r := &bids.Request{Cores: 3, MinNodes: 2, MaxNodes: 2}
	variants := []market.Variant{{Spec: requests.Spec(r), Priority: 1, Crosses: 1},
		{Spec: requests.Spec(r), Priority: 1}, {Spec: requests.Spec(r), Priority: 1, Crosses: 1}}
	m := makeWindow(t, market.Space{Now: table(5), Left: []*nodeset.Table{table(3)}}, variants, market.Options{MaxBidsPerJob: 1}, nil)
	var result Result
	require.NoError(t, New(native.New()).Solve(context.Background(), &m.Window, ipmodel.Options{}, &result))
	require.Len(t, result.Chosen, 3)
	m.judge(t, m.direct(t), &result)
}
