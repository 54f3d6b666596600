// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

func TestMain(m *testing.M) { race.Draws(m) }

// drawSpace draws a machine and what up to three reservations leave on it.
func drawSpace(t *rapid.T) *Space {
	s := &Space{Now: draw.Table(t)}
	for range rapid.IntRange(0, 3).Draw(t, "reservations") {
		left := new(nodeset.Table)
		left.CopyFrom(s.Now)
		for range rapid.IntRange(0, 12).Draw(t, "differences") {
			n := rapid.IntRange(0, left.Len()-1).Draw(t, "different node")
			c := left.Total(n)
			c.Cores = uint16(rapid.IntRange(0, int(c.Cores)).Draw(t, "cores left"))
			c.GPUs = uint8(rapid.IntRange(0, int(c.GPUs)).Draw(t, "gpus left"))
			require.NoError(t, left.SetFree(n, c))
		}
		s.Left = append(s.Left, left)
	}
	return s
}

func drawVariants(t *rapid.T, s *Space) []Variant {
	variants, _ := drawWindow(t, s)
	return variants
}

// drawWindow draws variants, and says of which requests they are.
func drawWindow(t *rapid.T, s *Space) (variants []Variant, of []*bids.Request) {
	variants = make([]Variant, rapid.IntRange(0, 8).Draw(t, "jobs"))
	for j := range variants {
		r := requests.DrawWithCores(t, s.Now.Len())
		r.MixedGPUs = rapid.IntRange(0, 2).Draw(t, "mixed") == 0
		variants[j] = Variant{Spec: requests.Spec(&r), Priority: rapid.Int64Range(1, 1000).Draw(t, "priority"),
			Crosses: rapid.IntRange(0, len(s.Left)).Draw(t, "crosses")}
		of = append(of, &r)
	}
	joinSome(t, variants)
	return variants, of
}

// joinSome makes some variants further ways to meet the job of the one before.
func joinSome(t *rapid.T, variants []Variant) {
	for j := 1; j < len(variants); j++ {
		if rapid.IntRange(0, 3).Draw(t, "further way") == 0 {
			variants[j].Rank = variants[j-1].Rank + 1
			variants[j].Priority, variants[j].Crosses = variants[j-1].Priority, variants[j-1].Crosses
		}
	}
	for j := 0; j < len(variants); j = NextJob(variants, j) {
		for k := j; k < NextJob(variants, j); k++ {
			variants[k].Of = NextJob(variants, j) - j
		}
	}
}

// jobsOf is the job of each ask, counted anew.
func jobsOf(variants []Variant) (job []int) {
	at := -1
	for _, a := range variants {
		if a.Rank == 0 {
			at++
		}
		job = append(job, at)
	}
	return job
}

func drawOptions(t *rapid.T) Options {
	o := Options{MaxBidsPerJob: rapid.IntRange(1, 16).Draw(t, "bids per job")}
	o.Drafts = rapid.IntRange(0, o.MaxBidsPerJob).Draw(t, "drafts")
	o.ContiguousOnly = rapid.IntRange(0, 3).Draw(t, "contiguous only") == 0
	return o
}

// keepSome has some jobs keep places that fit together, the last job's first.
func keepSome(t *rapid.T, s *Space, variants []Variant) {
	var p place.Placer
	var rest place.Residual
	rest.Reset(s.Now, s.Left)
	kept := map[int]bool{}
	for j := len(variants) - 1; j >= 0; j-- {
		a, job := &variants[j], jobsOf(variants)[j]
		if kept[job] {
			continue
		}
		if rapid.IntRange(0, 2).Draw(t, "keep") > 0 {
			continue
		}
		if segs, ok := p.Place(nil, rest.View(a.Crosses), &a.Spec, a.Spec.GPUs.PerNode.Min); ok {
			require.NoError(t, rest.Take(&place.Spec{}, segs, a.Crosses))
			a.Fixed, kept[job] = segs, true
		}
	}
}

// viewTwin is what a job may take of node n, from the definition of Crosses.
func viewTwin(s *Space, crosses, n int) (c nodeset.Capacity, up bool) {
	c, up = s.Now.Free(n), s.Now.Up(n)
	for _, left := range s.Left[:crosses] {
		f := left.Free(n)
		c.Cores, c.GPUs, up = min(c.Cores, f.Cores), min(c.GPUs, f.GPUs), up && left.Up(n)
	}
	return c, up
}

// meets checks an allocation against the words of Request's comments.
func meets(t require.TestingT, r *bids.Request, segs []nodeset.Segment) {
	nodes, cores, gpus := draw.PerNode(segs)
	require.NotEmpty(t, nodes)
	require.True(t, slices.IsSorted(nodes))
	sum, most, least := 0, 0, 1<<30
	for _, n := range nodes {
		require.True(t, r.Eligible.Has(n), "node %d is not eligible", n)
		if !r.MixedGPUs {
			require.Equal(t, gpus[nodes[0]], gpus[n], "the same GPUs on all nodes")
		}
		require.GreaterOrEqual(t, gpus[n], r.MinGPUs)
		require.LessOrEqual(t, gpus[n], max(r.MinGPUs, r.MaxGPUs))
		sum, most, least = sum+cores[n], max(most, cores[n]), min(least, cores[n])
	}
	require.GreaterOrEqual(t, least, 1, "a core on each node")
	require.GreaterOrEqual(t, len(nodes), r.MinNodes)
	if r.MaxNodes > 0 {
		require.LessOrEqual(t, len(nodes), r.MaxNodes)
	}
	if r.Cores > 0 {
		require.Equal(t, r.Cores, sum)
	}
	if r.TasksPerNode > 0 {
		require.LessOrEqual(t, most, r.TasksPerNode)
	}
	if r.Cores == 0 {
		require.Equal(t, []int{r.TasksPerNode, r.TasksPerNode}, []int{least, most})
	}
	if r.Contiguous {
		require.Equal(t, len(nodes)-1, nodes[len(nodes)-1]-nodes[0])
	}
}

func TestEveryBidIsFeasibleAndMeetsTheRequest(t *testing.T) {
	var g Generator
	var b Book
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants, asked := drawWindow(t, s)
		o := drawOptions(t)
		keepSome(t, s, variants)
		g.Generate(s, variants, o, &b)
		require.Equal(t, len(variants), b.Jobs())
		kept := 0
		for j := range variants {
			if !variants[j].Spec.Valid() {
				require.Empty(t, b.Of(j), "a request that is not valid bids nothing")
			}
			require.LessOrEqual(t, len(b.Of(j)), o.MaxBidsPerJob)
			if len(variants[j].Fixed) > 0 {
				require.Equal(t, variants[j].Fixed, b.Allocation(int(b.JobStart[j])), "what is kept is bid first")
				kept++
				require.Contains(t, b.Kept, b.JobStart[j])
			}
			for i := int(b.JobStart[j]); i < int(b.JobStart[j+1]); i++ {
				segs := b.Allocation(i)
				require.NoError(t, nodeset.CheckSegments(segs, s.Now.Len()))
				require.EqualValues(t, j, b.Bids[i].Job)
				_, _, each := draw.PerNode(segs)
				require.EqualValues(t, slices.Min(slices.Collect(maps.Values(each))), b.Bids[i].GPUs)
				meets(t, asked[j], segs)
				nodes, cores, gpus := draw.PerNode(segs)
				for _, n := range nodes {
					c, up := viewTwin(s, variants[j].Crosses, n)
					require.True(t, up, "node %d is down", n)
					require.LessOrEqual(t, cores[n], int(c.Cores))
					require.LessOrEqual(t, gpus[n], int(c.GPUs))
				}
				for k := int(b.JobStart[j]); k < i; k++ {
					require.NotEqual(t, b.Allocation(k), segs, "a job bids the same twice")
				}
			}
		}
		require.Len(t, b.Kept, kept)
	})
}

// Whoever can be placed at all has a bid; a bid for each number of GPUs that can be
// had, as far as MaxBidsPerJob goes.
func TestNoOneWhoFitsIsWithoutABid(t *testing.T) {
	var g Generator
	var p place.Placer
	var b Book
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants, o := drawVariants(t, s), drawOptions(t)
		o.Drafts, o.ContiguousOnly = 0, false
		var rest place.Residual
		rest.Reset(s.Now, s.Left)
		g.Generate(s, variants, o, &b)
		for j := range variants {
			a := &variants[j]
			if !a.Spec.Valid() {
				continue
			}
			fits := 0
			gpus := a.Spec.GPUs.PerNode
			for k := gpus.Min; k <= gpus.Max; k++ {
				if _, ok := p.Place(nil, rest.View(a.Crosses), &a.Spec, k); !ok {
					continue
				}
				fits++
				if o.MaxBidsPerJob > gpus.Max-gpus.Min && !a.Spec.MixedGPUs {
					has := slices.ContainsFunc(b.Of(j), func(b Bid) bool { return int(b.GPUs) == k })
					require.True(t, has, "job %d has no bid with %d GPUs", j, k)
				}
			}
			require.Equal(t, fits > 0, len(b.Of(j)) > 0, "job %d", j)
		}
	})
}

// classTwin is the class by the words of aucsched1, section 4: usable nodes are those
// that could serve the job.
func classTwin(s *Space, a *Variant, lo int, segs []nodeset.Segment) bids.Class {
	nodes, _, gpus := draw.PerNode(segs)
	least := slices.Min(slices.Collect(maps.Values(gpus)))
	usable := func(n int) bool {
		if n < 0 || n >= s.Now.Len() {
			return false
		}
		c, up := viewTwin(s, a.Crosses, n)
		return up && a.Spec.Mask().Has(n) && int(c.Cores) >= lo && int(c.GPUs) >= least
	}
	first, last := nodes[0], nodes[len(nodes)-1]
	switch {
	case last-first+1 != len(nodes):
		return ClassC
	case !usable(first-1) || !usable(last+1):
		return ClassA
	}
	return ClassB
}

func TestClassesAreThoseOfThePaper(t *testing.T) {
	var g Generator
	var b Book
	seen := map[bids.Class]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants, o := drawVariants(t, s), drawOptions(t)
		g.Generate(s, variants, o, &b)
		for i, bid := range b.Bids {
			a := &variants[bid.Job]
			require.Equal(t, classTwin(s, a, a.Spec.Cores.PerNode.Min, b.Allocation(i)).String(), bid.Class.String())
			require.False(t, bid.Class == ClassC && (a.Spec.Contiguous || o.ContiguousOnly), "class C for a job that has to be contiguous")
			seen[bid.Class]++
		}
	})
	require.Len(t, seen, 3, "bids of all three classes")
}

// Equation 12 with the constants of table 3, as printed.
func TestPreferenceIsEquation12(t *testing.T) {
	for _, c := range []struct {
		nodesGiven bool
		class      bids.Class
		k1, k2, k3 float64
	}{
		{false, ClassA, 0, 0.25, 0}, {false, ClassB, 0.25, 0.25, 0}, {false, ClassC, 0.5, 0.25, 0.25},
		{true, ClassA, 0, 0, 0}, {true, ClassB, 0.5, 0, 0}, {true, ClassC, 0.5, 0, 0.5},
		{false, ClassS, 0, 0, 0}, {true, ClassS, 0, 0, 0},
	} {
		for _, n := range []struct{ bidNodes, nodes, bidSets, sets int }{{1, 1, 1, 1}, {128, 144, 2, 2}, {7, 1408, 5, 90}} {
			want := 1 - c.k1 - c.k2*float64(n.bidNodes)/float64(n.nodes+1) - c.k3*float64(n.bidSets)/float64(n.sets+1)
			require.InDelta(t, want, preference(c.nodesGiven, c.class, n.bidNodes, n.nodes, n.bidSets, n.sets), 1e-15, "%+v", c)
		}
	}
}

// The ranges of equation 11. For types 2 and 3, table 3 gives every bid of class B
// exactly 1/2 and every one of class A exactly 1, the ends of the open intervals, so
// these belong to them here.
func TestPreferencesAreInTheRangesOfEquation11(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, nodeset.MaxNodes).Draw(t, "nodes")
		bidNodes := rapid.IntRange(1, nodes).Draw(t, "nodes of the bid")
		sets := rapid.IntRange(1, nodes).Draw(t, "sets")
		bidSets := rapid.IntRange(2, sets+1).Draw(t, "sets of the bid")
		for _, given := range []bool{false, true} {
			a := preference(given, ClassA, bidNodes, nodes, 1, sets)
			b := preference(given, ClassB, bidNodes, nodes, 1, sets)
			c := preference(given, ClassC, bidNodes, nodes, min(bidSets, sets), sets)
			require.True(t, 0.75 < a && a <= 1, "A: %v", a)
			require.True(t, 0.5 <= b && b < 0.75, "B: %v", b)
			require.True(t, 0 < c && c < 0.5, "C: %v", c)
		}
	})
}

func TestMoreGPUsAreAlwaysPreferred(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(0, 8).Draw(t, "low")
		high := rapid.IntRange(low, 16).Draw(t, "high")
		f := rapid.Float64Range(1e-6, 1).Draw(t, "f")
		g := rapid.Float64Range(1e-6, 1).Draw(t, "g")
		k := rapid.IntRange(low, high).Draw(t, "gpus")
		with := func(gpus int) []nodeset.Segment { return []nodeset.Segment{{Last: 2, Cores: 1, GPUs: uint8(gpus)}} }
		x := raiseForGPUs(f, with(k), low, high)
		require.True(t, 0 < x && x <= 1, "%v", x)
		if low == high {
			require.Equal(t, f, x, "without a range f stays")
		}
		if y := raiseForGPUs(g, with(k), low, high); f > g {
			require.GreaterOrEqual(t, x, y, "as many GPUs: equation 12 decides")
		}
		if k < high {
			require.Greater(t, raiseForGPUs(g, with(k+1), low, high), x-1e-15)
			require.Greater(t, raiseForGPUs(min(f, 0.75), with(k+1), low, high), raiseForGPUs(1, with(k), low, high))
		}
	})
}

// The preference in the book is the one of the bid's own facts.
func TestBidsHaveTheirPreference(t *testing.T) {
	var g Generator
	var b Book
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants, asked := drawWindow(t, s)
		o := drawOptions(t)
		g.Generate(s, variants, o, &b)
		var rest place.Residual
		rest.Reset(s.Now, s.Left)
		for i, bid := range b.Bids {
			a := &variants[bid.Job]
			r, sh := asked[bid.Job], &a.Spec
			segs := b.Allocation(i)
			sets := rest.View(a.Crosses).Scan(nil, nodeset.Query{GPUs: int(bid.GPUs),
				MinCores: sh.Cores.PerNode.Min, Eligible: a.Spec.Mask()})
			from := 0 // of sets that give a node
			nodes, _, each := draw.PerNode(segs)
			for _, set := range sets {
				if slices.ContainsFunc(nodes, func(n int) bool { return int(set.First) <= n && n <= int(set.Last) }) {
					from++
				}
			}
			typed := r.MinNodes > 0 || r.MaxNodes > 0 || r.TasksPerNode > 0 && sh.Exact()
			blocks := from
			if bid.Class == ClassC {
				blocks = nodeset.Blocks(segs) // parts of one set count by themselves
				require.GreaterOrEqual(t, blocks, from)
			}
			f0 := preference(typed, bid.Class, len(nodes), s.Now.Len(), blocks, len(sets))
			mean := 0.0
			for _, n := range each {
				mean += float64(n) / float64(len(nodes))
			}
			f := (f0 + mean - float64(r.MinGPUs)) / float64(max(r.MinGPUs, r.MaxGPUs)-r.MinGPUs+1)
			of := max(a.Of, 1)
			lowered := func(f float64) float64 { return (f + float64(of-1-a.Rank)) / float64(of) }
			got := g.Describe(&variants[bid.Job], segs)
			require.InDelta(t, lowered(f), got.Preference, 1e-12)
			require.Equal(t, Bid{Class: bid.Class, GPUs: bid.GPUs, Preference: got.Preference}, got)
			require.True(t, 0 < bid.Preference && bid.Preference <= 1)
			counts := []int{}
			for k := range b.Of(int(bid.Job)) {
				counts = append(counts, nodeset.Nodes(b.Allocation(int(b.JobStart[bid.Job])+k)))
			}
			slices.Sort(counts)
			if counts = slices.Compact(counts); sh.Nodes.Min == sh.Nodes.Max || !sh.NodesGiven || len(counts) == 1 {
				require.InDelta(t, lowered(f), bid.Preference, 1e-12)
				continue
			}
			steps := sh.GPUs.PerNode.Max - sh.GPUs.PerNode.Min + 1 // fewer nodes come first
			worse := slices.Index(counts, len(nodes))
			require.InDelta(t, lowered((lowerByPlace(f0, worse, len(counts))+mean-float64(r.MinGPUs))/float64(steps)), bid.Preference, 1e-12)
		}
	})
}

// Bids for the same nodes have the same number, others do not, and the numbers
// have no gaps.
func TestNodeSetsAreNumbered(t *testing.T) {
	var g Generator
	var b Book
	shared := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants, o := drawVariants(t, s), drawOptions(t)
		g.Generate(s, variants, o, &b)
		checkClasses(t, &b)
		shared += len(b.Bids) - b.NodeSets
	})
	require.Positive(t, shared, "some bids share their nodes")
}

// Many bids make the index of node sets grow and collide.
func TestNodeSetsOfManyBids(t *testing.T) {
	s := &Space{Now: draw.HalfBusy(t, 4000)}
	var g Generator
	var b Book
	g.Generate(s, tsubameVariants(400, 4000), Options{MaxBidsPerJob: 40}, &b)
	require.Greater(t, len(b.Bids), 2000)
	checkClasses(t, &b)
}

func TestGPURangesBidForEveryCount(t *testing.T) {
	tab, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 12, GPUs: 3})
	require.NoError(t, err)
	for _, most := range []int{3, 5, 15} {
		for _, drafts := range []int{0, 2} {
			var g Generator
			var b Book
			g.Generate(&Space{Now: tab},
				[]Variant{{Spec: requests.Spec(&bids.Request{Cores: 48, MinNodes: 8, MaxNodes: 8, MinGPUs: 1, MaxGPUs: 3}),
					Priority: 5}},
				Options{MaxBidsPerJob: most, Drafts: min(drafts, most-3)}, &b)
			count := map[uint8]int{}
			best := map[uint8]float64{}
			for _, bid := range b.Bids {
				count[bid.GPUs]++
				best[bid.GPUs] = max(best[bid.GPUs], bid.Preference)
			}
			require.Len(t, count, 3, "bids with 1, 2 and 3 GPUs, at most %d", most)
			require.True(t, best[1] < best[2] && best[2] < best[3])
		}
	}
}

// A job with a range of nodes takes as many as a hole asks for.
func TestNodeRangesFitDifferentHoles(t *testing.T) {
	tab := draw.CoresFree(t, 8, 8, 0, 4, 4, 4, 4, 0, 6, 6, 6)
	var g Generator
	var b Book
	g.Generate(&Space{Now: tab},
		[]Variant{{Spec: requests.Spec(&bids.Request{Cores: 16, MinNodes: 2, MaxNodes: 4, Contiguous: true}), Priority: 1}},
		Options{MaxBidsPerJob: 15}, &b)
	counts := map[int]bool{}
	for i := range b.Bids {
		counts[nodeset.Nodes(b.Allocation(i))] = true
	}
	require.Equal(t, map[int]bool{2: true, 3: true, 4: true}, counts)
}

// copyOf is a book that shares nothing.
func copyOf(b *Book) *Book {
	c := &Book{NodeSets: b.NodeSets}
	c.Bids = append(c.Bids, b.Bids...)
	c.JobStart = append(c.JobStart, b.JobStart...)
	c.Segs = append(c.Segs, b.Segs...)
	c.Kept = append(c.Kept, b.Kept...)
	return c
}

func TestAUsedGeneratorBidsAsAFreshOne(t *testing.T) {
	var used Generator
	var book Book
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants, o := drawVariants(t, s), drawOptions(t)
		keepSome(t, s, variants)
		before := *s
		now := new(nodeset.Table)
		now.CopyFrom(s.Now)
		used.Generate(s, variants, o, &book)
		var fresh Generator
		var b Book
		fresh.Generate(s, variants, o, &b)
		require.Equal(t, copyOf(&b), copyOf(&book))
		require.Equal(t, now, before.Now, "the space is not changed")
	})
}

func TestGenerateAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	for _, n := range []int{128, 1024} {
		s := &Space{Now: draw.HalfBusy(t, n)}
		left := new(nodeset.Table)
		left.CopyFrom(s.Now)
		for i := range n / 4 {
			require.NoError(t, left.SetFree(i, nodeset.Capacity{}))
		}
		s.Left = []*nodeset.Table{left}
		variants := tsubameVariants(50, n)
		for j := range variants {
			variants[j].Crosses = j % 2
		}
		var g Generator
		var b Book
		o := Options{MaxBidsPerJob: 15, Drafts: 7}
		run := func() { g.Generate(s, variants, o, &b) }
		for range 20 { // drafts exchange their memory: each has to see its largest window
			run()
		}
		require.NotEmpty(t, b.Bids)
		require.Zero(t, testing.AllocsPerRun(10, run), "%d nodes", n)
	}
}

// checkClasses checks that bids of exactly the same nodes count as one class.
func checkClasses(t require.TestingT, b *Book) {
	classes := map[string]bool{}
	for i := range b.Bids {
		nodes, _, _ := draw.PerNode(b.Allocation(i))
		classes[fmt.Sprint(nodes)] = true
	}
	require.Len(t, classes, b.NodeSets)
}
