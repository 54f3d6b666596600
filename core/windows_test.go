// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// auction is a window with its bids.
type auction struct {
	space    market.Space
	variants []market.Variant
	book     market.Book
}

// randomAuction is a window of up to 12 jobs of all types with up to 8 bids each, on
// a machine of which runs of nodes are busy.
func randomAuction(seed uint64) *auction {
	rng := rand.New(rand.NewPCG(seed, 41))
	cores, gpus := 2+rng.IntN(11), rng.IntN(4)
	nodes, err := nodeset.NewUniform(6+rng.IntN(40), nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)})
	must(err)
	for n := rng.IntN(8); n < nodes.Len(); n += 1 + rng.IntN(8) { // busy runs
		free := nodeset.Capacity{Cores: uint16(rng.IntN(cores)), GPUs: uint8(rng.IntN(gpus + 1))}
		for k := rng.IntN(4); k >= 0 && n < nodes.Len(); k-- {
			must(nodes.SetFree(n, free))
			n++
		}
	}
	a := &auction{space: market.Space{Now: nodes}}
	kind := rng.IntN(3)
	for j := range 4 + rng.IntN(9) {
		r := randomRequest(rng, nodes.Len()/2, cores, gpus)
		priority := 4294901759 - int64(j) // Slurm's basic plug-in
		switch kind {
		case 1: // like its multifactor plug-in
			priority = 1000 + rng.Int64N(40_000)
		case 2:
			priority = 1 + rng.Int64N(3)
		}
		a.variants = append(a.variants, market.Variant{Spec: requests.Spec(r), Priority: priority})
	}
	var g market.Generator
	g.Generate(&a.space, a.variants, market.Options{MaxBidsPerJob: 8, Drafts: 3}, &a.book)
	return a
}

// randomRequest is a job of type 1, 2 or 3 on up to that many nodes.
func randomRequest(rng *rand.Rand, nodes, cores, gpus int) *bids.Request {
	r := &bids.Request{Contiguous: rng.IntN(3) == 0}
	y := 1 + rng.IntN(nodes)
	switch rng.IntN(3) {
	case 0:
		r.Cores = 1 + rng.IntN(y*cores)
	case 1:
		r.MinNodes, r.MaxNodes = y, y+rng.IntN(3)
		r.Cores = r.MaxNodes + rng.IntN(y*cores)
	default:
		r.MinNodes, r.TasksPerNode = y, 1+rng.IntN(cores)
	}
	if gpus > 0 && rng.IntN(2) == 0 {
		r.MinGPUs = rng.IntN(gpus + 1)
		r.MaxGPUs = r.MinGPUs + rng.IntN(gpus+1-r.MinGPUs)
	}
	return r
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (a *auction) model(merge bool) *ipmodel.Model {
	var m ipmodel.Model
	b := market.Builder{Merge: merge}
	must(b.Build(&a.space, a.variants, &a.book, nil, &m))
	must(m.Validate())
	return &m
}

// brute branches over the jobs: each has one of its bids or none. It gives up a
// branch only if all jobs to come, with their best bids, can't make up for it.
func brute(m *ipmodel.Model) (best int64) {
	slack := slices.Clone(m.Cap)
	rest := make([]int64, m.Groups()+1)
	for g := m.Groups() - 1; g >= 0; g-- {
		rest[g] = rest[g+1]
		if w := m.Value[m.GroupStart[g]:m.GroupStart[g+1]]; len(w) > 0 {
			rest[g] += slices.Max(w)
		}
	}
	var branch func(g int, worth int64)
	branch = func(g int, worth int64) {
		best = max(best, worth)
		if worth+rest[g] <= best {
			return
		}
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			fits := true
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				slack[m.Row[k]] -= int64(m.Coef[k])
				fits = fits && slack[m.Row[k]] >= 0
			}
			if fits {
				branch(g+1, worth+m.Value[i])
			}
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				slack[m.Row[k]] += int64(m.Coef[k])
			}
		}
		branch(g+1, worth)
	}
	branch(0, 0)
	return best
}

const randomWindows = 200

func TestNativeIsBruteForce(t *testing.T) {
	race.Slow(t)
	s := native.New()
	var r ipmodel.Result
	losers, proven := 0, 0
	for seed := range uint64(randomWindows) {
		a := randomAuction(seed)
		m := a.model(true)
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Seed: seed}, &r))
		want := brute(m)
		worth, err := m.Check(r.Chosen)
		require.NoError(t, err, "window %d", seed)
		require.Equal(t, []int64{want, want}, []int64{worth, r.Value}, "window %d", seed)
		require.GreaterOrEqual(t, r.Bound, want, "window %d", seed)
		if r.Status == ipmodel.Optimal {
			require.Equal(t, want, r.Bound, "window %d", seed)
			proven++
		}
		if len(r.Chosen) < len(a.variants) {
			losers++
		}
	}
	require.Greater(t, losers, randomWindows/2, "most windows are contested")
	require.Greater(t, proven, randomWindows*98/100, "few are too large for the enumeration")
}

func optimum(t require.TestingT, m *ipmodel.Model) int64 {
	var r ipmodel.Result
	require.NoError(t, native.New().Solve(context.Background(), m, ipmodel.Options{}, &r))
	require.Equal(t, ipmodel.Optimal, r.Status)
	return r.Value
}

// relabel gives node n of the machine, and of every bid, the number to[n].
func (a *auction) relabel(to []int) *auction {
	total := make([]nodeset.Capacity, len(to))
	for n, k := range to {
		total[k] = a.space.Now.Total(n)
	}
	nodes, err := nodeset.New(total)
	must(err)
	for n, k := range to {
		must(nodes.SetFree(k, a.space.Now.Free(n)))
	}
	b := &auction{space: market.Space{Now: nodes}, variants: a.variants}
	b.book.JobStart = slices.Clone(a.book.JobStart)
	for i, bid := range a.book.Bids {
		var single []nodeset.Segment
		for _, s := range a.book.Allocation(i) {
			for n := s.First; n <= s.Last; n++ {
				k := int32(to[n])
				single = append(single, nodeset.Segment{First: k, Last: k, Cores: s.Cores, GPUs: s.GPUs})
			}
		}
		slices.SortFunc(single, func(x, y nodeset.Segment) int { return int(x.First - y.First) })
		bid.First = int32(len(b.book.Segs))
		var segs []nodeset.Segment
		for _, s := range single {
			segs = nodeset.Append(segs, s)
		}
		b.book.Segs = append(b.book.Segs, segs...)
		bid.Last = int32(len(b.book.Segs))
		b.book.Bids = append(b.book.Bids, bid)
	}
	return b
}

func TestNamesOfNodesDoNotMatter(t *testing.T) {
	race.Slow(t)
	for seed := range uint64(30) {
		a := randomAuction(seed)
		rng := rand.New(rand.NewPCG(seed, 5))
		want := optimum(t, a.model(true))
		require.Equal(t, want, optimum(t, a.relabel(rng.Perm(a.space.Now.Len())).model(true)), "window %d", seed)
		back := make([]int, a.space.Now.Len())
		for n := range back {
			back[n] = len(back) - 1 - n
		}
		require.Equal(t, want, optimum(t, a.relabel(back).model(true)), "window %d, reversed", seed)
	}
}

func TestOrderOfJobsInTheModelDoesNotMatter(t *testing.T) {
	race.Slow(t)
	for seed := range uint64(30) {
		a := randomAuction(seed)
		rng := rand.New(rand.NewPCG(seed, 6))
		b := &auction{space: a.space, book: market.Book{JobStart: []int32{0}, Segs: a.book.Segs}}
		for to, from := range rng.Perm(len(a.variants)) {
			b.variants = append(b.variants, a.variants[from])
			for _, bid := range a.book.Of(from) {
				bid.Job = int32(to)
				b.book.Bids = append(b.book.Bids, bid)
			}
			b.book.JobStart = append(b.book.JobStart, int32(len(b.book.Bids)))
		}
		require.Equal(t, optimum(t, a.model(true)), optimum(t, b.model(true)), "window %d", seed)
	}
}

// More room never makes a window worth less.
func TestMoreRoomIsNoWorse(t *testing.T) {
	race.Slow(t)
	better := 0
	for seed := range uint64(30) {
		a := randomAuction(seed)
		before := optimum(t, a.model(true))
		total := []nodeset.Capacity{}
		for n := range a.space.Now.Len() {
			total = append(total, a.space.Now.Total(n))
		}
		more, err := nodeset.New(append(total, nodeset.Capacity{Cores: 8, GPUs: 3}))
		require.NoError(t, err)
		for n := range total {
			require.NoError(t, more.SetFree(n, a.space.Now.Free(n)))
		}
		idle := &auction{space: market.Space{Now: more}, variants: a.variants, book: a.book}
		require.Equal(t, before, optimum(t, idle.model(true)), "window %d: nobody bids for the new node", seed)
		for n := range total {
			require.NoError(t, more.SetFree(n, total[n]))
		}
		after := optimum(t, idle.model(true))
		require.GreaterOrEqual(t, after, before, "window %d", seed)
		if after > before {
			better++
		}
	}
	require.Greater(t, better, 5)
}

// Twice the priorities, the same winners, as long as the scale can give way.
func TestScaleOfPrioritiesDoesNotMatter(t *testing.T) {
	race.Slow(t)
	tried := 0
	for seed := range uint64(randomWindows / 2) {
		a := randomAuction(seed)
		var sum int64
		for j := range a.variants {
			sum += a.variants[j].Priority
		}
		if sum < 1<<30 {
			continue // the scale is at its upper limit
		}
		tried++
		m := a.model(true)
		for j := range a.variants {
			a.variants[j].Priority *= 2
		}
		double := a.model(true)
		require.Equal(t, m.Scale, 2*double.Scale)
		require.Equal(t, m.Value, double.Value)
		var r, d ipmodel.Result
		require.NoError(t, native.New().Solve(context.Background(), m, ipmodel.Options{Seed: seed}, &r))
		require.NoError(t, native.New().Solve(context.Background(), double, ipmodel.Options{Seed: seed}, &d))
		require.Equal(t, r.Chosen, d.Chosen)
		require.Equal(t, 2*m.Objective(r.Value), double.Objective(d.Value))
	}
	require.Greater(t, tried, 15)
}

// plan decides with the default options but for what change says.
func plan(t require.TestingT, s *core.Snapshot, change func(*core.AuctionOptions)) *core.Plan {
	o := core.Preset("none")
	if change != nil {
		change(&o)
	}
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), s, core.Limits{Seed: 1}, &p))
	require.NoError(t, core.Verify(s, &p))
	return &p
}

func started(p *core.Plan) (n int) {
	for _, d := range p.Decisions {
		if d.Start {
			n++
		}
	}
	return n
}

// A mirrored machine: contiguous jobs, each of which fits into holes of one size
// only, start in the same number.
func TestMirroredMachine(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 8))
		var free []uint16
		var jobs []*core.Job
		holes := 2 + rng.IntN(6)
		for k := range holes {
			width := 1 + rng.IntN(9)
			free = append(free, slices.Repeat([]uint16{8}, width)...)
			free = append(free, 0)
			if rng.IntN(3) > 0 {
				jobs = append(jobs, &core.Job{ID: fmt.Sprint(k), Priority: 1000 - int64(k), TimeLimit: 60,
					Request: bids.Request{MinNodes: width, TasksPerNode: 8, Contiguous: true}})
			}
		}
		rng.Shuffle(len(jobs), func(i, j int) { jobs[i].Request, jobs[j].Request = jobs[j].Request, jobs[i].Request })
		machine := func() *core.Snapshot {
			nodes, err := nodeset.NewUniform(len(free), nodeset.Capacity{Cores: 8})
			require.NoError(t, err)
			for n, c := range free {
				require.NoError(t, nodes.SetFree(n, nodeset.Capacity{Cores: c}))
			}
			return &core.Snapshot{Nodes: nodes, Pending: jobs}
		}
		a := plan(t, machine(), nil)
		require.Equal(t, len(jobs), started(a), "each has a hole of its own")
		slices.Reverse(free)
		b := plan(t, machine(), nil)
		require.Equal(t, len(jobs), started(b))
		require.Equal(t, a.Objective, b.Objective)
	}
}

// hidden is a window that some assignment serves to the last job: a machine, cut
// into as many pieces as there are jobs.
type hidden struct {
	snapshot *core.Snapshot
	places   [][]nodeset.Segment // of each job: one that fits together with the others'
}

type piece struct{ first, last, cores, gpus int }

func (p piece) area() int { return (p.last - p.first + 1) * p.cores }

// cut splits a piece in two: by nodes, or by the cores and GPUs of every node.
func (p piece) cut(rng *rand.Rand) (piece, piece) {
	a, b := p, p
	if p.last > p.first && (p.cores < 2 || rng.IntN(2) == 0) {
		a.last = p.first + rng.IntN(p.last-p.first)
		b.first = a.last + 1
		return a, b
	}
	a.cores = 1 + rng.IntN(p.cores-1)
	a.gpus = rng.IntN(p.gpus + 1)
	b.cores, b.gpus = p.cores-a.cores, p.gpus-a.gpus
	return a, b
}

func hide(seed uint64) *hidden {
	rng := rand.New(rand.NewPCG(seed, 77))
	n, cores, gpus := 20+rng.IntN(181), 4+rng.IntN(13), rng.IntN(5)
	nodes, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)})
	must(err)
	jobs := 3 + rng.IntN(6)
	pieces := []piece{{0, n - 1, cores, gpus}}
	for len(pieces) < jobs+rng.IntN(3) {
		k := rng.IntN(len(pieces))
		for _, p := range pieces { // rather a large one
			if rng.IntN(2) == 0 && p.area() > pieces[k].area() {
				k = slices.Index(pieces, p)
			}
		}
		if pieces[k].area() > 1 {
			a, b := pieces[k].cut(rng)
			pieces[k] = a
			pieces = append(pieces, b)
		}
	}
	h := &hidden{snapshot: &core.Snapshot{Nodes: nodes}}
	rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	for j := range jobs {
		mine := pieces[j : j+1]
		if j+jobs < len(pieces) { // one of the pieces that are left over goes with it
			mine = []piece{pieces[j], pieces[j+jobs]}
		}
		r, place := request(rng, mine)
		h.places = append(h.places, place)
		h.snapshot.Pending = append(h.snapshot.Pending, &core.Job{
			ID: fmt.Sprint("J", j), Request: r, Priority: 4294901759 - int64(j), TimeLimit: 600})
	}
	return h
}

// request is a job that the pieces serve, and how they do. The second piece is used
// if it is beside the first or the type of the job allows it.
func request(rng *rand.Rand, pieces []piece) (r bids.Request, place []nodeset.Segment) {
	p := pieces[0]
	segment := func(p piece, cores, gpus int) nodeset.Segment {
		return nodeset.Segment{First: int32(p.first), Last: int32(p.last), Cores: uint16(cores), GPUs: uint8(gpus)}
	}
	if len(pieces) > 1 && pieces[1].first > p.last { // type 1 or 2 on both
		q := pieces[1]
		g := min(p.gpus, q.gpus)
		r.Cores = p.area() + q.area()
		if rng.IntN(2) == 0 {
			g = 0
		} else {
			r.MinNodes = p.last - p.first + 1 + q.last - q.first + 1
			r.MaxNodes, r.MinGPUs = r.MinNodes, g
		}
		return r, nodeset.Append([]nodeset.Segment{segment(p, p.cores, g)}, segment(q, q.cores, g))
	}
	y := p.last - p.first + 1
	r.Contiguous = rng.IntN(2) == 0
	switch rng.IntN(5) {
	case 0:
		r.Cores = p.area()
		return r, []nodeset.Segment{segment(p, p.cores, 0)}
	case 1, 2:
		r.Cores, r.MinNodes, r.MaxNodes = p.area(), y, y
		if rng.IntN(3) == 0 { // a range of nodes
			r.MinNodes, r.MaxNodes = max(1, y-rng.IntN(3)), y+rng.IntN(3)
		}
	default:
		r.MinNodes, r.MaxNodes, r.TasksPerNode = y, y, p.cores
	}
	r.MinGPUs = p.gpus
	if p.gpus > 0 && rng.IntN(2) == 0 { // a range of GPUs
		r.MinGPUs = 1 + rng.IntN(p.gpus)
		r.MaxGPUs = p.gpus + rng.IntN(2)
	}
	return r, []nodeset.Segment{segment(p, p.cores, p.gpus)}
}

const hiddenWindows = 300

// Windows that can be served completely: how many of them are. A schedule in queue
// order, job by job, serves far fewer.
func TestHiddenFits(t *testing.T) {
	race.Slow(t)
	auction, oneDraft, paper, queue := 0, 0, 0, 0
	for seed := range uint64(hiddenWindows) {
		h := hide(seed)
		s := h.snapshot
		trial := new(nodeset.Table)
		trial.CopyFrom(s.Nodes)
		for j, job := range s.Pending {
			require.NoError(t, place.CheckSegments(&job.Request, h.places[j], s.Nodes.Len()), "window %d job %d %+v", seed, j, job)
			require.NoError(t, trial.Allocate(h.places[j]), "window %d", seed)
		}
		all := func(p *core.Plan) int {
			if started(p) == len(s.Pending) {
				return 1
			}
			return 0
		}
		auction += all(plan(t, s, nil))
		oneDraft += all(plan(t, s, func(o *core.AuctionOptions) { o.Drafts = 1 }))
		paper += all(plan(t, s, func(o *core.AuctionOptions) { *o = core.Preset("paper") }))
		b, err := sim.NewBackfill(sim.DefaultBackfill())
		require.NoError(t, err)
		var p core.Plan
		require.NoError(t, b.Decide(context.Background(), s, core.Limits{}, &p))
		queue += all(&p)
	}
	t.Logf("all jobs start in %d of %d windows; with one draft in %d, by the papers' bids in %d, by Slurm's backfill in %d",
		auction, hiddenWindows, oneDraft, paper, queue)
	require.Greater(t, auction, hiddenWindows*80/100, "drafts in several orders find most of them")
	require.Less(t, oneDraft, hiddenWindows*65/100, "one draft does not")
	require.Less(t, paper, hiddenWindows*50/100, "nor do the papers' bids")
	require.Less(t, queue, hiddenWindows*50/100, "nor does backfill")
}
