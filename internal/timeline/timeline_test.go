// SPDX-License-Identifier: BSD-3-Clause

package timeline

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawn is a machine with jobs.
type drawn struct {
	nodes, kinds int
	search       Search
}

func draw(t *rapid.T) *drawn {
	d := &drawn{nodes: rapid.IntRange(1, 19).Draw(t, "nodes"), kinds: rapid.IntRange(1, 3).Draw(t, "kinds")}
	most := rapid.SampledFrom([]int{3, 12, Top}).Draw(t, "most")
	amount := func(most int) uint16 { return uint16(rapid.IntRange(0, most).Draw(t, "amount")) }
	d.search.Begin(1000, d.nodes, d.kinds)
	has := make([]uint16, d.nodes*d.kinds)
	now := int64(1000)
	for step := range rapid.IntRange(1, 6).Draw(t, "ends") {
		if step > 0 {
			now += int64(rapid.IntRange(1, 400).Draw(t, "later"))
			d.search.At(now)
		}
		for i := range has {
			has[i] = min(has[i]+amount(most), uint16(most))
			d.search.Free(i/d.kinds, i%d.kinds, has[i])
		}
	}
	for range rapid.IntRange(0, 9).Draw(t, "jobs") {
		j := Job{
			Nodes: rapid.IntRange(1, 4).Draw(t, "n"), Length: int64(rapid.IntRange(1, 900).Draw(t, "length")),
			Waited: int64(rapid.IntRange(0, 3000).Draw(t, "waited")), Contiguous: rapid.Bool().Draw(t, "contiguous"),
			Width: rapid.Float64Range(0.01, 1).Draw(t, "width"), Weight: rapid.Float64Range(0.1, 1).Draw(t, "weight"),
		}
		j.Size = j.Width
		for k := range d.kinds {
			j.Per[k] = amount(most / 2)
		}
		j.Per[0] = max(j.Per[0], 1)
		if rapid.Bool().Draw(t, "in all") {
			j.Most = j.Per[0] + amount(most/2)
			j.All = j.Nodes*int(j.Per[0]) + rapid.IntRange(1, 2*most).Draw(t, "more")
			for k := 1; k < d.kinds; k++ {
				j.Rate[k] = uint16(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "rate"))
			}
		}
		if rapid.Bool().Draw(t, "some nodes") {
			not := rapid.IntRange(0, d.nodes-1).Draw(t, "not")
			j.Mask = Lanes(nil, d.nodes, func(n int) bool { return n != not })
		}
		d.search.Jobs = append(d.search.Jobs, j)
	}
	for i := range d.search.Jobs {
		d.search.Jobs[i].count(d.kinds)
	}
	return d
}

// free is what a node has of a kind from step i up to second end, the dumb way.
func (d *drawn) free(t *table, i int, end int64, node, kind int) int {
	least := math.MaxInt
	for ; i < len(t.at) && t.at[i] < end; i++ {
		least = min(least, int(lane(t.row(i, kind), node)))
	}
	return least
}

// room reports whether a job can run from step i on, node by node.
func (d *drawn) room(t *table, i int, j *Job) bool {
	nodes, all := 0, 0
	for n := range d.nodes {
		ok := j.Mask == nil || j.Mask[n/perWord]>>(n%perWord*laneBits+laneBits-1)&1 == 1
		for k := range d.kinds {
			ok = ok && d.free(t, i, t.at[i]+j.Length, n, k) >= int(j.Per[k])
		}
		switch {
		case ok:
			nodes++
			all += min(d.free(t, i, t.at[i]+j.Length, n, 0), int(j.Most))
		case j.Contiguous:
			nodes, all = 0, 0
		}
		if nodes >= j.Nodes && all >= j.All && (j.Contiguous || n == d.nodes-1) {
			return true
		}
	}
	return false
}

// TestEarliest: a job gets the earliest place there is, all that it asks for, and nothing that
// others have.
func TestEarliest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		s := &d.search
		s.plan.copyFrom(&s.base)
		for i := range s.Jobs {
			j := &s.Jobs[i]
			var before table
			before.copyFrom(&s.plan)
			first := slices.IndexFunc(before.at, func(at int64) bool { return d.room(&before, slices.Index(before.at, at), j) })
			start := s.place(j, 0)
			if first < 0 {
				require.Equal(t, before.at[len(before.at)-1], start, "there is never room")
				require.Equal(t, before.at, s.plan.at)
				continue
			}
			if j.Rate != [MaxKinds]uint16{} {
				first = slices.Index(before.at, start) // what all nodes have need not do for that
			}
			require.Equal(t, before.at[first], start)
			if start < before.at[len(before.at)-1] || len(s.plan.at) > len(before.at) {
				d.checkPlace(t, &before, first, j)
			}
		}
	})
}

// checkPlace has what the job was given from step i on be what it asks for.
func (d *drawn) checkPlace(t *rapid.T, before *table, i int, j *Job) {
	s := &d.search
	nodes, all, last := 0, 0, -1
	for n := range d.nodes {
		gave := int(lane(s.placer.amount[0], n))
		if gave == 0 {
			continue
		}
		nodes, all = nodes+1, all+gave
		require.True(t, !j.Contiguous || last < 0 || last == n-1, "consecutive nodes")
		last = n
		for k := range d.kinds {
			amount := int(lane(s.placer.amount[k], n))
			require.GreaterOrEqual(t, amount, int(j.Per[k]))
			require.LessOrEqual(t, amount, max(d.free(before, i, before.at[i]+1, n, k), int(j.Per[k])))
			if j.Rate[k] == 0 {
				require.LessOrEqual(t, amount, d.free(before, i, before.at[i]+j.Length, n, k))
			}
		}
	}
	require.GreaterOrEqual(t, nodes, j.Nodes)
	if j.All > 0 {
		require.True(t, all >= j.All || j.Rate != [MaxKinds]uint16{}, "where other kinds run short it has less")
	} else {
		require.Equal(t, j.Nodes, nodes)
	}
	// the table has that much less while the job runs, and as much as before otherwise
	for x := range s.plan.at {
		at := s.plan.at[x]
		old := len(before.at) - 1
		for before.at[old] > at {
			old--
		}
		running := at >= before.at[i] && at < before.at[i]+j.Length
		for k := range d.kinds {
			sum := 0
			for n := range d.nodes {
				left := int(lane(s.plan.row(x, k), n))
				sum += left
				if running {
					require.Equal(t, max(int(lane(before.row(old, k), n))-int(lane(s.placer.amount[k], n)), 0), left)
				}
			}
			require.True(t, sum == s.plan.sumsAt(x)[k] || j.Rate[k] > 0, "what all nodes have")
			s.plan.sumsAt(x)[k] = sum
		}
	}
}

// fair is a goal as callers have it.
var fair = Options{
	Pace:    1,
	Weights: Values{Wait: 1, Squares: 1, AreaSquares: 1, Width: 1, End: 1},
	Caps:    Values{AreaSquares: 1, Width: 1, End: 1, Longest: 1}, Moves: 20,
}

// TestOrder: an order is one of all jobs, the fixed ones first; caps are kept, and it is worth no
// less than that of the jobs as they came.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		s := &d.search
		fixed := rapid.IntRange(0, len(s.Jobs)).Draw(t, "fixed")
		seed := rapid.Uint64().Draw(t, "seed")
		order := slices.Clone(s.Order(fixed, fair, seed, nil))
		require.Equal(t, order, s.Order(fixed, fair, seed, nil), "the same once more")
		sorted := slices.Clone(order)
		slices.Sort(sorted)
		for i := range sorted {
			require.Equal(t, int32(i), sorted[i])
			if i < fixed {
				require.Equal(t, int32(i), order[i])
			}
		}
		if len(order) < fixed+2 {
			return
		}
		v, ok := s.evaluate(order, math.Inf(1))
		require.True(t, ok)
		for k, c := range fair.Caps {
			if c > 0 && Term(k) != Longest {
				c += 5.0 / excess // five terms weigh 1 each
			}
			if c > 0 {
				require.LessOrEqual(t, v[k], c*max(s.first[k], 1)*(1+1e-12), "term %d", k)
			}
		}
		cost, _ := s.cost(&v)
		first, _ := s.cost(&s.first)
		require.LessOrEqual(t, cost, first)
		if slices.IsSorted(order) {
			return // as they came
		}
		for at, i := range order[fixed:] {
			for _, k := range order[fixed:][:at] {
				a, b := &s.Jobs[i], &s.Jobs[k]
				dominates := a.Weight > b.Weight && a.Nodes <= b.Nodes && a.Length <= b.Length && a.Contiguous == b.Contiguous &&
					a.Per == b.Per && a.All == 0 && b.All == 0 && len(a.Mask) == 0
				require.False(t, dominates, "job %d has its place before %d", k, i)
			}
		}
	})
}

// busy is a machine on which 40 jobs wait, in ever the same way.
func busy(s *Search) {
	s.Begin(0, 64, 2)
	for step := range 20 {
		if step > 0 {
			s.At(int64(step) * 300)
		}
		for n := range 64 {
			s.Free(n, 0, uint16(min(8, (n*7+step*5)%13)))
			s.Free(n, 1, uint16(min(2, (n*3+step)%4)))
		}
	}
	for i := range 40 {
		j := Job{Nodes: 1 + i*7%12, Length: int64(100 + i*997%3000), Waited: int64(4000 - 100*i), Width: float64(1+i*7%12) / 64, Weight: 1}
		j.Per[0], j.Per[1], j.Size = uint16(1+i%8), uint16(i%3/2), j.Width
		s.Jobs = append(s.Jobs, j)
	}
}

// TestSearchPays: annealing finds more than sorting, and sorting more than the queue's order.
func TestSearchPays(t *testing.T) {
	cost := func(moves int) float64 {
		var s Search
		busy(&s)
		o := Options{Weights: fair.Weights, Pace: 1, Moves: moves}
		s.Order(0, o, 1, nil)
		if moves < 0 {
			return 5 // each of five terms is what it is
		}
		return s.bestCost
	}
	require.Less(t, cost(0), 0.99*cost(-1))
	require.Less(t, cost(200), 0.99*cost(0))
}

// TestBounded: a search ends when it is told to, and when its work is done.
func TestBounded(t *testing.T) {
	var s Search
	busy(&s)
	o := fair
	o.Moves = 1000
	s.Order(0, o, 1, nil)
	whole := s.placer.work
	left := 100
	s.Order(0, o, 1, func() bool { left--; return left < 0 })
	require.Greater(t, s.Evaluated, 1)
	require.GreaterOrEqual(t, left, -2, "it ends as soon as it has to, in the midst of a plan")
	require.Less(t, s.placer.work, whole/2)
	came := s.Order(0, o, 1, func() bool { return true })
	require.Equal(t, 1, s.Evaluated)
	require.True(t, slices.IsSorted(came), "the order as they came")
	_, ok := s.Start(0)
	require.False(t, ok, "not even the first plan is made")
	s.Order(0, o, 1, nil)
	all := s.Evaluated
	require.Greater(t, all, 900)
	o.Work = s.placer.work / 4
	s.Order(0, o, 1, nil)
	require.Less(t, s.Evaluated, all/2)
	require.Less(t, s.placer.work, o.Work+o.Work/4)
}

func TestNoAllocation(t *testing.T) {
	var s Search
	run := func() {
		busy(&s)
		s.Order(3, fair, 7, nil)
	}
	run()
	require.Zero(t, testing.AllocsPerRun(5, run))
}

func TestLanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (lanes [perWord]uint16, word uint64) {
			for i := range lanes {
				lanes[i] = rapid.Uint16Range(0, Top).Draw(t, name)
				word |= uint64(lanes[i]) << (i * laneBits)
			}
			return lanes, word
		}
		x, a := draw("x")
		y, b := draw("y")
		all := 0
		for i := range x {
			word := []uint64{atLeast(a, b)}
			require.Equal(t, x[i] >= y[i], lane(word, i) == 1<<(laneBits-1))
			require.Equal(t, min(x[i], y[i]), lane([]uint64{least(a, b)}, i))
			require.Equal(t, x[0], lane([]uint64{spread(x[0])}, i))
			all += int(x[i])
		}
		require.Equal(t, all, sum(a))
	})
}

func BenchmarkOrder(b *testing.B) {
	var s Search
	for b.Loop() {
		busy(&s)
		s.Order(0, fair, 7, nil)
	}
}

// TestAlike: jobs that are alike get the order and the starts that they would get one by one.
func TestAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		s, moves := &d.search, rapid.IntRange(0, 60).Draw(t, "moves")
		for i := range s.Jobs {
			j := &s.Jobs[i]
			j.Nodes, j.All, j.Mask, j.Per, j.Rate, j.Contiguous = 1, 0, nil, s.Jobs[0].Per, s.Jobs[0].Rate, s.Jobs[0].Contiguous
		}
		o := fair
		o.Moves = moves
		o.Work = int64(rapid.SampledFrom([]int{0, 0, 2000}).Draw(t, "work"))
		order := slices.Clone(s.Order(rapid.IntRange(0, 2).Draw(t, "fixed"), o, 1, nil))
		starts := slices.Clone(s.starts)
		require.True(t, s.alike.on || o.Work > 0 || len(s.Jobs) == 0)
		s.alike.on = false
		s.find(1)
		require.Equal(t, s.best, order)
		require.Equal(t, s.starts, starts)
	})
}
