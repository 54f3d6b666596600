// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
)

func TestMain(m *testing.M) { race.Draws(m) }

// dumbScan is the definition of aucsched1, section 4, word for word: node by
// node, on the table's public face only.
func dumbScan(t *Table, q Query) []Set {
	var out []Set
	open := false
	for n := range t.Len() {
		f := t.Free(n)
		in := t.Up(n) && f.Cores > 0 && int(f.Cores) >= q.MinCores && int(f.GPUs) >= q.GPUs && q.Eligible.Has(n)
		if in && !open {
			out = append(out, Set{First: int32(n)})
		}
		if open = in; in {
			out[len(out)-1].Last = int32(n)
			out[len(out)-1].Cores += int64(f.Cores)
		}
	}
	return out
}

// drawTable is a machine of runs of equal nodes, some of them longer than a word of a
// bitmap, with a few changes.
func drawTable(r *rapid.T) *Table {
	most := rapid.SampledFrom([]uint16{1, 9, 9, 128, 65535}).Draw(r, "most")
	var nodes []Capacity
	for n := rapid.IntRange(1, 300).Draw(r, "nodes"); len(nodes) < n; {
		c := Capacity{rapid.Uint16Range(0, most).Draw(r, "cores"), rapid.Uint8Range(0, 3).Draw(r, "gpus")}
		for k := rapid.IntRange(1, 150).Draw(r, "alike"); k > 0 && len(nodes) < n; k-- {
			nodes = append(nodes, c)
		}
	}
	t, err := New(nodes)
	if err != nil {
		r.Fatal(err)
	}
	for range rapid.IntRange(0, 4).Draw(r, "changes") {
		a := rapid.IntRange(0, len(nodes)-1).Draw(r, "from")
		b := rapid.IntRange(a, len(nodes)-1).Draw(r, "to")
		switch rapid.IntRange(0, 2).Draw(r, "change") {
		case 0: // take all of a range, to make long empty stretches
			for n := a; n <= b; n++ {
				if err := t.SetFree(n, Capacity{}); err != nil {
					r.Fatal(err)
				}
			}
		case 1:
			t.SetUp(a, false)
		case 2: // and long alike ones
			for n := a; n <= b; n++ {
				if err := t.SetFree(n, t.Total(n)); err != nil {
					r.Fatal(err)
				}
			}
		}
	}
	return t
}

func drawQuery(r *rapid.T, n int) Query {
	k := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(0, 130), rapid.IntRange(60_000, 70_000)).Draw(r, "k")
	q := Query{GPUs: rapid.IntRange(0, 4).Draw(r, "g"), MinCores: k}
	if rapid.Bool().Draw(r, "masked") {
		q.Eligible = NewMask(rapid.IntRange(1, n+64).Draw(r, "of"))
		for i := range min(n, 64*len(q.Eligible)) {
			if rapid.IntRange(0, 9).Draw(r, "in") > 0 {
				q.Eligible.Set(i)
			}
		}
	}
	return q
}

func TestScanEqualsDefinition(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tab := drawTable(r)
		q := drawQuery(r, tab.Len())
		want := dumbScan(tab, q)
		got := tab.Scan(nil, q)
		if len(want) == 0 {
			require.Empty(r, got)
			return
		}
		require.Equal(r, want, got)
	})
}

// Figure 1 of aucsched1 shows nodesets of a 12-node system; this is one of that
// size, with every level of GPUs.
func TestScanSmallMachine(t *testing.T) {
	tab, err := NewUniform(12, Capacity{8, 2})
	require.NoError(t, err)
	for n, c := range []Capacity{{8, 2}, {4, 2}, {0, 2}, {8, 1}, {8, 1}, {2, 0}, {0, 0}, {8, 2}, {8, 2}, {1, 0}, {6, 1}, {8, 2}} {
		require.NoError(t, tab.SetFree(n, c))
	}
	for g, want := range [][]Set{
		{{0, 1, 12}, {3, 5, 18}, {7, 11, 31}},
		{{0, 1, 12}, {3, 4, 16}, {7, 8, 16}, {10, 11, 14}},
		{{0, 1, 12}, {7, 8, 16}, {11, 11, 8}},
		nil,
	} {
		t.Run(fmt.Sprintf("g=%d", g), func(t *testing.T) {
			require.Equal(t, want, tab.Scan(nil, Query{GPUs: g}))
		})
	}
	require.Equal(t, []Set{{3, 4, 16}}, tab.Scan(nil, Query{GPUs: 1, MinCores: 7, Eligible: Mask{0b11000}}))
}

// state is everything that a reader of the table can see.
func state(t *Table) string {
	s := fmt.Sprint(t.SumFree())
	for n := range t.Len() {
		s += fmt.Sprint(t.Free(n), t.Up(n))
	}
	for g := range t.MaxGPUs() + 2 {
		s += fmt.Sprint(t.Usable(g), t.Scan(nil, Query{GPUs: g}), t.Scan(nil, Query{GPUs: g, MinCores: 3}))
	}
	return s
}

// rebuilt is a table that has come to what t says of its nodes by SetFree and SetUp.
func rebuilt(t *Table) *Table {
	var total []Capacity
	for n := range t.Len() {
		total = append(total, t.Total(n))
	}
	u, err := New(total)
	if err != nil {
		panic(err)
	}
	for n := range t.Len() {
		if err := u.SetFree(n, t.Free(n)); err != nil {
			panic(err)
		}
		u.SetUp(n, t.Up(n))
	}
	return u
}

func drawSegments(r *rapid.T, n int) []Segment {
	var segs []Segment
	for at := 0; at < n && len(segs) < 5; {
		first := rapid.IntRange(at, n-1).Draw(r, "first")
		last := min(n-1, first+rapid.IntRange(0, 20).Draw(r, "len"))
		segs = append(segs, Segment{First: int32(first), Last: int32(last),
			Cores: rapid.Uint16Range(0, 3).Draw(r, "c"), GPUs: rapid.Uint8Range(0, 1).Draw(r, "g")})
		at = last + 1
	}
	return segs
}

func TestReleaseAfterAllocateRestores(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tab := drawTable(r)
		before := state(tab)
		segs := drawSegments(r, tab.Len())
		fits := true
		for _, s := range segs {
			for n := s.First; n <= s.Last; n++ {
				f := tab.Free(int(n))
				fits = fits && tab.Up(int(n)) && f.Cores >= s.Cores && f.GPUs >= s.GPUs
			}
		}
		require.Equal(r, fits, tab.FitsWith(segs, nil))
		err := tab.Allocate(segs)
		require.Equal(r, fits, err == nil, "Allocate must take exactly what fits: %v", err)
		if err != nil {
			require.Equal(r, before, state(tab), "a refused allocation must change nothing")
			return
		}
		cores, _ := tab.SumFree()
		var left int64
		for n := range tab.Len() {
			left += int64(tab.Free(n).Cores)
			require.LessOrEqual(r, tab.Free(n).Cores, tab.Total(n).Cores)
		}
		require.Equal(r, left, cores)
		q := drawQuery(r, tab.Len())
		require.Equal(r, dumbScan(tab, q), append([]Set(nil), tab.Scan(nil, q)...))
		require.Equal(r, rebuilt(tab), tab)
		require.NoError(r, tab.Release(segs))
		require.Equal(r, rebuilt(tab), tab)
		require.Equal(r, before, state(tab))
	})
}

func TestIntersectIsTheLeastOfEachNode(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := drawTable(r)
		b := &Table{}
		b.CopyFrom(a)
		for n := range a.Len() {
			c := a.Total(n)
			c.Cores = rapid.Uint16Range(0, c.Cores).Draw(r, "cores")
			c.GPUs = rapid.Uint8Range(0, c.GPUs).Draw(r, "gpus")
			require.NoError(r, b.SetFree(n, c))
			b.SetUp(n, rapid.IntRange(0, 9).Draw(r, "up") > 0)
		}
		want := rebuilt(a)
		for n := range a.Len() {
			x, y := a.Free(n), b.Free(n)
			require.NoError(r, want.SetFree(n, Capacity{min(x.Cores, y.Cores), min(x.GPUs, y.GPUs)}))
			want.SetUp(n, a.Up(n) && b.Up(n))
		}
		before := state(b)
		a.SetLeast(0, a.Len()-1, a, b)
		require.Equal(r, want, a)
		require.Equal(r, before, state(b))
	})
}

func TestSetLeastIsTheLeastOfEachNode(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tabs := [3]*Table{drawTable(r), {}, {}}
		for i := range tabs {
			if i > 0 {
				tabs[i].CopyFrom(tabs[0])
			}
			for range rapid.IntRange(0, 20).Draw(r, "changes") {
				n := rapid.IntRange(0, tabs[0].Len()-1).Draw(r, "node")
				c := tabs[i].Total(n)
				require.NoError(r,
					tabs[i].SetFree(n, Capacity{rapid.Uint16Range(0, c.Cores).Draw(r, "cores"),
						rapid.Uint8Range(0, c.GPUs).Draw(r, "gpus")}))
				tabs[i].SetUp(n, rapid.Bool().Draw(r, "up"))
			}
		}
		tab, a, b := tabs[0], tabs[1], tabs[rapid.IntRange(0, 2).Draw(r, "b")]
		first := rapid.IntRange(0, tab.Len()-1).Draw(r, "first")
		last := rapid.IntRange(first, tab.Len()-1).Draw(r, "last")
		want := rebuilt(tab)
		for n := first; n <= last; n++ {
			x, y := a.Free(n), b.Free(n)
			require.NoError(r, want.SetFree(n, Capacity{min(x.Cores, y.Cores), min(x.GPUs, y.GPUs)}))
			want.SetUp(n, a.Up(n) && b.Up(n))
		}
		tab.SetLeast(first, last, a, b)
		require.Equal(r, want, tab)
	})
}

func TestAlikeGoesToTheFirstThatDiffers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tab := drawTable(r)
		first := rapid.IntRange(0, tab.Len()-1).Draw(r, "first")
		last := rapid.IntRange(first, tab.Len()-1).Draw(r, "last")
		want := first
		for want < last && tab.Free(want+1).Cores == tab.Free(first).Cores {
			want++
		}
		require.Equal(r, want, tab.Alike(first, last))
	})
}

func TestRefusals(t *testing.T) {
	tab, err := NewUniform(4, Capacity{8, 2})
	require.NoError(t, err)
	before := state(tab)
	for name, segs := range map[string][]Segment{
		"beyond the end":   {{First: 3, Last: 4, Cores: 1, GPUs: 0}},
		"before the start": {{First: -1, Last: 0, Cores: 1, GPUs: 0}},
		"inverted":         {{First: 2, Last: 1, Cores: 1, GPUs: 0}},
		"overlapping":      {{First: 0, Last: 1, Cores: 1, GPUs: 0}, {First: 1, Last: 2, Cores: 1, GPUs: 0}},
		"no core":          {{First: 0, Last: 1, Cores: 0, GPUs: 3}},
		"too many cores":   {{First: 0, Last: 1, Cores: 1, GPUs: 0}, {First: 2, Last: 2, Cores: 9, GPUs: 0}},
		"too many GPUs":    {{First: 0, Last: 1, Cores: 1, GPUs: 0}, {First: 2, Last: 2, Cores: 1, GPUs: 3}},
	} {
		require.Error(t, tab.Allocate(segs), name)
		require.Error(t, tab.Release(segs), name)
		require.Equal(t, before, state(tab), name)
	}
	require.Error(t, tab.Release([]Segment{{First: 0, Last: 0, Cores: 1, GPUs: 0}}), "nothing is held")
	require.Error(t, tab.SetFree(0, Capacity{9, 0}))
	require.Error(t, tab.SetFree(4, Capacity{1, 0}))
	_, err = New(nil)
	require.ErrorContains(t, err, "at least one node")
	_, err = NewUniform(MaxNodes+1, Capacity{1, 0})
	require.ErrorContains(t, err, "between 1 and")
}

func TestDownNodesGiveNothing(t *testing.T) {
	tab, err := NewUniform(3, Capacity{8, 2})
	require.NoError(t, err)
	segs := []Segment{{First: 1, Last: 1, Cores: 4, GPUs: 1}}
	require.NoError(t, tab.Allocate(segs))
	tab.SetUp(1, false)
	require.Equal(t, []Set{{0, 0, 8}, {2, 2, 8}}, tab.Scan(nil, Query{}))
	require.Error(t, tab.Allocate(segs))
	require.NoError(t, tab.Release(segs), "a job that ends on a drained node gives back")
	require.Len(t, tab.Scan(nil, Query{}), 2)
	tab.SetUp(1, true)
	require.Equal(t, []Set{{0, 2, 24}}, tab.Scan(nil, Query{GPUs: 2}))
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	tab, err := NewUniform(5000, Capacity{8, 2})
	require.NoError(t, err)
	for n := 0; n < 5000; n += 7 {
		require.NoError(t, tab.SetFree(n, Capacity{}))
	}
	segs := []Segment{{First: 1, Last: 3, Cores: 4, GPUs: 1}, {First: 8, Last: 12, Cores: 8, GPUs: 2}}
	copied := &Table{}
	copied.CopyFrom(tab)
	dst := tab.Scan(nil, Query{})
	require.Zero(t, testing.AllocsPerRun(50, func() {
		dst = tab.Scan(dst[:0], Query{GPUs: 1, MinCores: 4})
		if tab.Allocate(segs) != nil || tab.Release(segs) != nil {
			t.Fatal("allocate or release failed")
		}
		copied.CopyFrom(tab)
	}))
}

func TestSegmentSums(t *testing.T) {
	segs := Append(nil, Segment{First: 0, Last: 3, Cores: 4, GPUs: 1})
	segs = Append(segs, Segment{First: 4, Last: 5, Cores: 4, GPUs: 1})
	segs = Append(segs, Segment{First: 6, Last: 6, Cores: 2, GPUs: 0})
	segs = Append(segs, Segment{First: 9, Last: 9, Cores: 2, GPUs: 0})
	require.Equal(t, []Segment{{First: 0, Last: 5, Cores: 4, GPUs: 1},
		{First: 6, Last: 6, Cores: 2, GPUs: 0}, {First: 9, Last: 9, Cores: 2, GPUs: 0}}, segs)
	require.Equal(t, []int{8, 28, 6, 2}, []int{Nodes(segs), Cores(segs), GPUs(segs), Blocks(segs)})
}

func ExampleTable_Scan() {
	t, _ := NewUniform(144, Capacity{Cores: 8, GPUs: 2})
	_ = t.Allocate([]Segment{{First: 64, Last: 79, Cores: 8, GPUs: 2}}) // a running job
	for _, s := range t.Scan(nil, Query{GPUs: 2}) {
		fmt.Printf("nodes %d-%d, %d cores\n", s.First, s.Last, s.Cores)
	}
	// Output:
	// nodes 0-63, 512 cores
	// nodes 80-143, 512 cores
}

func TestNumbersThatAreNoNodes(t *testing.T) {
	tab, err := NewUniform(2, Capacity{8, 2})
	require.NoError(t, err)
	require.PanicsWithValue(t, "nodeset: node 2 is outside 0-1", func() { tab.SetUp(2, false) })
	require.Panics(t, func() { tab.Free(2) })
	require.Panics(t, func() { NewMask(64).Set(64) })
}
