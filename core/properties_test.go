// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

func TestMain(m *testing.M) { race.Draws(m) }

// checkUntil checks a property until enough says that what it is about has come up, for that
// is left to chance; after checkRounds it fails.
func checkUntil(t *testing.T, enough func() bool, prop func(*rapid.T)) {
	for range checkRounds {
		if rapid.Check(t, prop); enough() {
			return
		}
	}
	require.Fail(t, "what the property is about has not come up")
}

const checkRounds = 20

// drawSnapshot draws a machine with running jobs and a queue. Its size shrinks; the
// rest comes from a seed.
func drawSnapshot(t *rapid.T) *Snapshot {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 23))
	size := rapid.SampledFrom([]int{60, 60, 60, 60, 60, 12, 3}).Draw(t, "size")
	upTo := func(most int) int { return rng.IntN(min(most, size) + 1) }
	cores, gpus := 1+rng.IntN(12), rng.IntN(4)
	total := make([]nodeset.Capacity, 1+upTo(50))
	odd := rng.IntN(2) == 0
	for i := range total {
		total[i] = nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}
		if odd && rng.IntN(4) == 0 {
			total[i] = nodeset.Capacity{Cores: uint16(1 + rng.IntN(cores)), GPUs: uint8(rng.IntN(gpus + 1))}
		}
	}
	nodes, err := nodeset.New(total)
	require.NoError(t, err)
	s := &Snapshot{Now: rng.Int64N(1000), Nodes: nodes}
	for i := range upTo(12) {
		r := randomRequest(rng, len(total), cores, gpus)
		segs, ok := requests.Place(nodes, r, r.MinGPUs)
		if !ok {
			continue
		}
		require.NoError(t, nodes.Allocate(segs))
		s.Running = append(s.Running, Running{ID: fmt.Sprint("R", i), End: s.Now - 20 + rng.Int64N(500), Segs: segs})
	}
	for range max(0, upTo(4)-2) {
		nodes.SetUp(rng.IntN(len(total)), false)
	}
	kind := rng.IntN(3)
	for i := range upTo(24) {
		r := randomRequest(rng, len(total)+1, cores, gpus)
		if i > 0 && rng.IntN(4) == 0 { // like one before
			*r = s.Pending[rng.IntN(i)].Request
		}
		job := &Job{ID: fmt.Sprint("J", i), Request: *r, Priority: 4294901759 - int64(i), TimeLimit: 1 + 50*rng.Int64N(12)}
		if kind == 1 {
			job.Priority = 1 + rng.Int64N(50_000)
		} else if kind == 2 {
			job.Priority = 1 + rng.Int64N(3)
		}
		s.Pending = append(s.Pending, job)
	}
	sortQueue(s.Pending)
	for _, job := range s.Pending {
		job.Since = s.Now - rng.Int64N(7200)
	}
	return s
}

func randomRequest(rng *rand.Rand, nodes, cores, gpus int) *bids.Request {
	r := &bids.Request{Contiguous: rng.IntN(3) == 0}
	y := 1 + rng.IntN(nodes)
	if rng.IntN(2) == 0 {
		y = 1 + rng.IntN(min(y, 4))
	}
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
		if r.MinGPUs > 0 && rng.IntN(3) == 0 { // no core
			r.Cores, r.TasksPerNode = 0, 0
		}
	}
	if rng.IntN(6) == 0 {
		r.Eligible = nodeset.NewMask(nodes)
		for n := range nodes {
			if rng.IntN(3) > 0 {
				r.Eligible.Set(n)
			}
		}
	}
	return r
}

func drawAuction(t *rapid.T) *Auction {
	o := Preset("none")
	o.Reservations = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "reservations")
	o.Drafts = rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "drafts")
	o.Window = rapid.SampledFrom([]int{1, 4, 200}).Draw(t, "window")
	o.Depth = rapid.SampledFrom([]int{0, 3, 500}).Draw(t, "depth")
	o.Patience = rapid.SampledFrom([]int64{0, 0, 3600}).Draw(t, "patience")
	o.Goal = rapid.SampledFrom([]settings.Goal{settings.NoGoal, settings.Fair, settings.Short, settings.Most}).Draw(t, "goal")
	o.Promise = rapid.SampledFrom([]int64{0, 500}).Draw(t, "promise")
	o.Serial = rapid.SampledFrom([]int{0, 0, 300, 1000}).Draw(t, "serial")
	o.Compact = rapid.Bool().Draw(t, "compact")
	o.Work = rapid.SampledFrom([]int64{10_000, trialWork, trialWork, o.Work}).Draw(t, "work")
	most := 1 // of so many draws; they take long under the race detector
	if race.Enabled {
		most = 9
	}
	if rapid.IntRange(0, most).Draw(t, "layouts") == 1 {
		o.Determiner = layouts
	}
	o.Estimates = rapid.Bool().Draw(t, "estimates")
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	return a
}

// named gives ids to jobs that have none.
func named(jobs []*Job) {
	for i, job := range jobs {
		if job.ID == "" {
			job.ID = fmt.Sprint("job", i)
		}
	}
}

func decideOn(t require.TestingT, a *Auction, s *Snapshot) *Plan {
	named(s.Pending)
	var p Plan
	require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 5}, &p))
	return &p
}

const never = "can never run: "

func TestPlansHoldTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		before := new(nodeset.Table)
		before.CopyFrom(s.Nodes)
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p), "never over-allocates")
		require.Equal(t, before, s.Nodes, "the snapshot is not changed")
		require.LessOrEqual(t, p.Objective, p.Bound)

		looked, priorities, lowest := 0, int64(0), int64(1<<62)
		require.True(t, slices.IsSortedFunc(p.Decisions, func(a, b Decision) int { return a.Job - b.Job }), "in the queue's order")
		for _, d := range p.Decisions {
			require.Equal(t, d.Start, d.Reason == "", "a reason if and only if it waits: %q", d.Reason)
			require.Equal(t, d.Start, len(d.Segs) > 0)
			require.Equal(t, d.Start, d.Class != 0)
			if d.Start {
				priorities += s.Pending[d.Job].Priority
				require.False(t, d.Kept)
			}
			if err := place.CanEverRun(s.Nodes, &s.Pending[d.Job].Request); err != nil {
				require.Equal(t, err.Error(), d.Reason)
				require.True(t, strings.HasPrefix(d.Reason, never))
				continue
			}
			if d.Why == Unmodelled { // it has no seat
				continue
			}
			looked++
			if d.Why != NoFit { // these may not have bid
				lowest = min(lowest, s.Pending[d.Job].Priority)
			}
		}
		if looked < a.opts.Window {
			require.Len(t, p.Decisions, len(s.Pending), "the window has room, so the whole queue is in it")
		}
		if priorities > 0 { // equation 9: preferences add less than the lowest priority
			require.Greater(t, p.Objective, float64(priorities))
			if a.opts.Depth > 0 && looked > a.opts.Window {
				return // jobs behind the window have no say in alpha
			}
			require.LessOrEqual(t, p.Objective, float64(priorities+lowest), "less, but for the rounding to a float64")
		}
	})
}

func TestAUsedAuctionDecidesAsAFreshOne(t *testing.T) {
	used := map[string]*Auction{} // by options
	var p Plan
	rapid.Check(t, func(t *rapid.T) {
		s, fresh := drawSnapshot(t), drawAuction(t)
		options := fmt.Sprintf("%+v", fresh.opts)
		if used[options] == nil {
			used[options], _ = NewAuction(fresh.opts, nil)
		}
		require.NoError(t, used[options].Decide(context.Background(), s, Limits{Seed: 5}, &p))
		want := decideOn(t, fresh, s)
		require.Equal(t, len(want.Decisions), len(p.Decisions))
		for i := range want.Decisions {
			require.Equal(t, fmt.Sprint(want.Decisions[i]), fmt.Sprint(p.Decisions[i]))
		}
		a, b := want.Stats, p.Stats
		a.Elapsed, b.Elapsed = 0, 0
		require.Equal(t, a, b)
		require.Equal(t, []float64{want.Objective, want.Bound}, []float64{p.Objective, p.Bound})
	})
}

// future is a dumb twin of claims: what is free at a second, if everything
// holds its nodes to its limit.
type future struct {
	s    *Snapshot
	more []claim // holds from now to its end, on top of what runs
}

func (l *future) at(t require.TestingT, when int64) *nodeset.Table {
	tab := new(nodeset.Table)
	tab.CopyFrom(l.s.Nodes)
	for _, r := range l.s.Running {
		if max(r.End, l.s.Now+1) <= when {
			require.NoError(t, tab.Release(r.Segs, r.Uses...))
		}
	}
	for _, h := range l.more {
		if h.End > when {
			require.NoError(t, tab.Allocate(h.Segs, h.Uses...))
		}
	}
	return tab
}

// earliest tries now and every second at which something ends; 0 if none will do.
func (l *future) earliest(t require.TestingT, job *Job) int64 {
	var times []int64
	for _, r := range l.s.Running {
		times = append(times, max(r.End, l.s.Now+1))
	}
	for _, h := range l.more {
		times = append(times, h.End)
	}
	slices.Sort(times)
	for _, when := range times {
		if _, ok := requests.Place(l.at(t, when), &job.Request, job.MinGPUs); ok {
			return when
		}
	}
	return 0
}

// The first job that can't start gets the earliest start that the limits of running
// jobs and of jobs ahead of it allow; whatever else is started leaves it that.
func TestFirstBlockedJobIsNotDelayed(t *testing.T) {
	blocked, ahead, waited := 0, 0, 0
	checkUntil(t, func() bool { return blocked > 10 && ahead > 0 && waited > 10 }, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		if a.opts.Reservations == 0 {
			a.opts.Reservations = 1
		}
		a.opts.Estimates, a.opts.Compact = true, false
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p))
		// What is kept, and what was kept until its job started after all: those behind it were held up by that.
		kept := func(j int32) int {
			return slices.IndexFunc(a.reservations.claims.reserved, func(c claim) bool { return c.Job == int(j) })
		}
		at := slices.IndexFunc(a.reservations.order, func(j int32) bool { return kept(j) >= 0 })
		if a.opts.Patience == 0 && a.opts.Goal == settings.NoGoal {
			require.True(t, slices.IsSorted(a.reservations.order), "queue order")
		}
		if at < 0 {
			for _, d := range p.Decisions {
				require.False(t, d.Kept)
			}
			return
		}
		blocked++
		l := future{s: s}
		first, before := a.reservations.order[at], a.reservations.order[:at]
		for _, j := range before { // jobs that have to start, where the walk put them
			if a.reservations.musts[j] {
				ahead++
				l.more = append(l.more, claim{End: s.Now + s.Pending[a.window.index[j]].TimeLimit, Held: place.Held{Segs: a.window.variants[j].Fixed}})
			}
		}
		job, start := a.window.jobs[first], a.reservations.claims.reserved[kept(first)].Start
		require.Equal(t, l.earliest(t, job), start, "job %s", job.ID)
		for _, j := range before {
			if a.reservations.musts[j] {
				require.True(t, p.Decisions[a.window.index[j]].Start, "job %d ahead of it has to start", j)
			}
		}
		d := p.Decisions[a.window.index[first]]
		if d.Start {
			return // the auction found it a place after all
		}
		waited++
		require.Equal(t, start, d.Expected)
		require.Equal(t, reasonReserved, d.Reason)
		l.more = nil
		for _, e := range p.Decisions {
			if e.Start {
				l.more = append(l.more, claim{End: s.Now + s.Pending[e.Job].TimeLimit, Held: place.Held{Segs: e.Segs}})
			}
		}
		_, ok := requests.Place(l.at(t, d.Expected), &job.Request, job.MinGPUs)
		require.True(t, ok, "job %s can't start at %d", job.ID, d.Expected)
	})
}

// All places that are reserved are there when their time comes.
func TestReservationsAreKept(t *testing.T) {
	several := 0
	checkUntil(t, func() bool { return several > 3 }, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		a.opts.Reservations, a.opts.Estimates = 3, true
		p := decideOn(t, a, s)
		if len(a.reservations.claims.reserved) > 1 {
			several++
		}
		l := future{s: s}
		startsNow := map[int]bool{}
		for _, d := range p.Decisions {
			if d.Start {
				startsNow[d.Job] = true
				l.more = append(l.more, claim{End: s.Now + s.Pending[d.Job].TimeLimit, Held: place.Held{Segs: d.Segs}})
			}
		}
		for _, r := range a.reservations.claims.reserved {
			job := a.window.index[r.Job]
			if startsNow[job] {
				continue
			}
			require.Equal(t, r.Start, p.Decisions[job].Expected)
			require.Greater(t, r.Start, s.Now)
			require.NoError(t, place.CheckSegments(&s.Pending[job].Request, r.Segs, s.Nodes.Len()))
			tab := l.at(t, r.Start)
			for _, o := range a.reservations.claims.reserved {
				if o.Start <= r.Start && r.Start < o.End && !startsNow[a.window.index[o.Job]] {
					require.NoError(t, tab.Allocate(o.Segs), "at second %d", r.Start)
				}
			}
		}
	})
}

// Nobody waits who has room on what the others left and keeps off what is reserved.
func TestNothingIsLeftLying(t *testing.T) {
	waiting := 0
	checkUntil(t, func() bool { return waiting > 15 }, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		a.opts.Drafts = 7
		p := decideOn(t, a, s)
		for _, d := range p.Decisions {
			job := s.Pending[d.Job]
			if d.Start || d.Kept || strings.HasPrefix(d.Reason, never) || d.Why == Unmodelled || !a.window.anyFree(s) ||
				a.opts.Goal != settings.NoGoal && job.hasRange() { // it may wait for more GPUs
				continue
			}
			waiting++
			together := 0
			if a.opts.Compact {
				idle, ok := requests.Place(place.Idle(s.Nodes), &job.Request, job.MinGPUs)
				require.True(t, ok)
				together = nodeset.Blocks(idle)
			}
			spec := requests.Spec(&job.Request)
			spec.Blocks = int32(together)
			left := new(place.Limited).Of(a.awards.left.rest.View(a.reservations.crosses(s, job)), &spec)
			_, ok := new(place.Placer).Place(nil, left, &spec, job.MinGPUs)
			require.False(t, ok, "job %s has room: %s", job.ID, d.Reason)
		}
	})
}

func TestJobsThatCanNeverRunBlockNobody(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	jobs := queue(100, bids.Request{Cores: 17}, bids.Request{MinNodes: 5, TasksPerNode: 1},
		bids.Request{Cores: 16, MinGPUs: 1}, bids.Request{Cores: 16})
	for _, k := range []int{0, 1, 3} {
		o := Preset("none")
		o.Window, o.Reservations = 1, k
		p := decide(t, o, &Snapshot{Nodes: nodes, Pending: jobs})
		require.Len(t, p.Decisions, 4, "they take no place in the window")
		for _, d := range p.Decisions[:3] {
			require.True(t, strings.HasPrefix(d.Reason, never), d.Reason)
			require.False(t, d.Kept)
		}
		require.True(t, p.Decisions[3].Start)
	}
}

func TestNothingToDecide(t *testing.T) {
	nodes, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 2})
	require.NoError(t, err)
	for _, k := range []int{0, 1, 3} {
		o := Preset("none")
		o.Reservations = k
		p := decide(t, o, &Snapshot{Nodes: nodes})
		require.Empty(t, p.Decisions)
		require.Zero(t, p.Objective)

		full := new(nodeset.Table)
		full.CopyFrom(nodes)
		segs := []nodeset.Segment{{First: 0, Last: 2, Cores: 2}}
		require.NoError(t, full.Allocate(segs))
		s := &Snapshot{Now: 10, Nodes: full, Running: []Running{{ID: "R", End: 70, Segs: segs}},
			Pending: queue(5, bids.Request{Cores: 1}, bids.Request{Cores: 6})}
		for _, o.Estimates = range []bool{false, true} {
			p = decide(t, o, s)
			require.Zero(t, started(p))
			require.Zero(t, p.Objective)
			for i, d := range p.Decisions {
				require.NotEmpty(t, d.Reason)
				if o.Estimates && i < k {
					require.EqualValues(t, []int64{70, 75}[i], d.Expected)
				} else {
					require.False(t, d.Kept)
				}
			}
		}
	}
}

// manyEquals is a window in which most jobs ask for one of two things.
func manyEquals(seed uint64) *Snapshot {
	rng := rand.New(rand.NewPCG(seed, 31))
	cores, gpus := 2+rng.IntN(6), rng.IntN(3)
	nodes, err := nodeset.NewUniform(4+rng.IntN(16), nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)})
	must(err)
	for n := range nodes.Len() {
		if rng.IntN(3) == 0 {
			must(nodes.SetFree(n, nodeset.Capacity{Cores: uint16(rng.IntN(cores + 1))}))
		}
	}
	s := &Snapshot{Nodes: nodes}
	var kinds []*bids.Request
	for range 2 + rng.IntN(2) {
		r := randomRequest(rng, nodes.Len(), cores, gpus)
		r.Eligible = nil
		kinds = append(kinds, r)
	}
	for i := range 40 {
		s.Pending = append(s.Pending, &Job{ID: fmt.Sprint("J", i), Request: *kinds[rng.IntN(len(kinds))],
			Priority: 1_000_000 - int64(i), TimeLimit: 60})
	}
	return s
}

// Whenever the deadline strikes, the plan holds.
func TestDeadlineStrikesAtAnyMoment(t *testing.T) {
	most := 0
	for k := range 32 {
		calls := k * k // in which the clock stands before the deadline
		s := manyEquals(3)
		o := Preset("none")
		if k%2 == 1 {
			o.Determiner = layouts
		}
		begin, asked := time.Unix(1000, 0), 0
		o.Clock = func() time.Time {
			asked++
			return begin.Add(time.Duration(asked) * time.Millisecond)
		}
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Deadline: begin.Add(time.Duration(calls) * time.Millisecond)}, &p))
		require.NoError(t, Verify(s, &p))
		require.LessOrEqual(t, p.Objective, p.Bound)
		for _, d := range p.Decisions {
			require.Equal(t, d.Start, d.Reason == "")
		}
		most = max(most, started(&p))
	}
	require.Positive(t, most)
}
