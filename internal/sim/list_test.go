// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/slurm/selection"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func list(t require.TestingT, behind Order, change func(*BackfillOptions)) *List {
	o := DefaultList()
	o.Behind = behind
	if change != nil {
		change(&o.Backfill)
	}
	l, err := NewList(o)
	require.NoError(t, err)
	return l
}

func TestListOptions(t *testing.T) {
	var names []string
	for _, o := range Orders() {
		names = append(names, list(t, o, nil).Name())
	}
	require.Equal(t, []string{"easy", "easy-sjf", "easy-saf", "easy-f1", "easy-wfp3"}, names)
	for _, change := range []func(*ListOptions){
		func(o *ListOptions) { o.Behind = orders },
		func(o *ListOptions) { o.Backfill.Test = 1 }, func(o *ListOptions) { o.Backfill.Resolution = 0 },
	} {
		o := DefaultList()
		change(&o)
		_, err := NewList(o)
		require.Error(t, err)
	}
}

func TestOrdersOnPaper(t *testing.T) {
	j := jobOf(1, bids.Request{Cores: 8}, 0, 0, 1000).Job
	j.Since = 100
	for o, want := range map[Order]float64{QueueOrder: 0, ShortestFirst: 1000, SmallestFirst: 8000,
		F1: 3*8 + 870*2, WFP3: -8 * 0.125} {
		require.InDelta(t, want, o.key(&j, 600), 1e-9, o.String())
	}
	j.Since = 0
	require.InDelta(t, 3*8, F1.key(&j, 600), 1e-9, "the first second is 1, of which the logarithm is 0")
	j.Request = bids.Request{MinNodes: 3, TasksPerNode: 2}
	require.Equal(t, 6000.0, SmallestFirst.key(&j, 0), "cores that a job has at least")
}

// Eight nodes of one core. J1 holds four of them up to 600. J2 waits for six of them, so that two
// are left for those that run longer. Behind it come jobs of all kinds.
func TestListBackfills(t *testing.T) {
	jobs := []workload.Job{
		jobOf(1, bids.Request{Cores: 4}, 0, 600, 600),
		jobOf(2, bids.Request{Cores: 6}, 0, 100, 100),
		jobOf(3, bids.Request{Cores: 4}, 0, 900, 900), // would take of J2's
		jobOf(4, bids.Request{Cores: 3}, 0, 500, 500),
		jobOf(5, bids.Request{Cores: 1}, 0, 400, 400),
		jobOf(6, bids.Request{Cores: 4}, 0, 300, 300),
		jobOf(7, bids.Request{Cores: 2}, 0, 550, 550),
	}
	first := func(o Order) (ids []string) {
		got, _ := records(t, list(t, o, nil), nodesOf([3]int{8, 1, 0}), jobs)
		require.Equal(t, int64(600), got["J2"].Start, o)
		for id, r := range got {
			if r.Start == 0 && id != "J1" {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		return ids
	}
	require.Equal(t, []string{"J4", "J5"}, first(QueueOrder))
	require.Equal(t, []string{"J6"}, first(ShortestFirst))
	require.Equal(t, []string{"J5", "J7"}, first(SmallestFirst))
}

// twinStarts is what a list starts, told plainly: node by node, end by end. It shares the selection
// of nodes, and nothing else.
func twinStarts(t require.TestingT, s *core.Snapshot, behind Order, res int64) (starts map[int]bool) {
	starts = map[int]bool{}
	now := new(nodeset.Table)
	now.CopyFrom(s.Nodes)
	var sel selection.Selector
	find := func(tab *nodeset.Table, j *core.Job, avail nodeset.Mask) []nodeset.Segment {
		segs, ok, err := sel.Select(tab, &j.Request, avail, nil)
		require.NoError(t, err)
		if !ok {
			return nil
		}
		return segs
	}
	running := slices.Clone(s.Running)
	try := func(i int, avail nodeset.Mask) bool {
		j := s.Pending[i]
		segs := find(now, j, avail)
		if segs == nil {
			return false
		}
		require.NoError(t, now.Allocate(segs, j.Uses...))
		running = append(running, core.Running{ID: j.ID, End: s.Now + j.TimeLimit, Segs: segs, Uses: j.Uses})
		starts[i] = true
		return true
	}
	waits := make([]int, len(s.Pending))
	for i := range waits {
		waits[i] = i
	}
	sorted := func(o Order, of []int) {
		slices.SortStableFunc(of, func(a, b int) int {
			return cmp.Or(cmp.Compare(o.key(s.Pending[a], s.Now), o.key(s.Pending[b], s.Now)), cmp.Compare(a, b))
		})
	}
	idle := new(nodeset.Table)
	idle.CopyFrom(s.Nodes)
	for _, r := range s.Running {
		require.NoError(t, idle.Release(r.Segs, r.Uses...))
	}
	at := 0
	for at < len(waits) && (try(waits[at], nil) || find(idle, s.Pending[waits[at]], nil) == nil) {
		at++
	}
	if at == len(waits) {
		return starts
	}
	kept, from := reserveOne(t, s, now, running, func(tab *nodeset.Table) []nodeset.Segment {
		return find(tab, s.Pending[waits[at]], nil)
	})
	rest := waits[at+1:]
	sorted(behind, rest)
	for _, i := range rest {
		avail := nodeset.NewMask(s.Nodes.Len())
		for n := range s.Nodes.Len() {
			if !kept[n] || s.Now+s.Pending[i].TimeLimit < from/res*res {
				avail.Set(n)
			}
		}
		try(i, avail)
	}
	return starts
}

// reserveOne are the nodes of the earliest place for a job, if there is one, and from when on.
func reserveOne(t require.TestingT, s *core.Snapshot, now *nodeset.Table, running []core.Running,
	find func(*nodeset.Table) []nodeset.Segment) (kept map[int]bool, from int64) {
	kept = map[int]bool{}
	over := func(r *core.Running) int64 { // when it is expected to end, late ones after KillWait
		if r.End > s.Now {
			return r.End
		}
		return max(r.End+30, s.Now+1)
	}
	ends := map[int64]bool{}
	for i := range running {
		ends[running[i].End] = true
	}
	for _, end := range slices.Sorted(func(yield func(int64) bool) {
		for e := range ends {
			if !yield(e) {
				return
			}
		}
	}) {
		tab := new(nodeset.Table)
		tab.CopyFrom(now)
		for i := range running {
			if r := &running[i]; r.End <= end {
				require.NoError(t, tab.Release(r.Segs, r.Uses...))
				from = over(r)
			}
		}
		for i := range running {
			if running[i].End == end {
				from = over(&running[i])
			}
		}
		if segs := find(tab); segs != nil {
			for _, g := range segs {
				for n := g.First; n <= g.Last; n++ {
					kept[int(n)] = true
				}
			}
			return kept, from
		}
	}
	return kept, 0
}

// On random machines, with GPUs, memory and what runs over its limit, a list starts what its twin
// does, in whatever order behind the head.
func TestListIsItsTwin(t *testing.T) {
	passed := 0 // jobs that started before one that comes before them
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		for _, j := range s.Pending {
			j.Since = rapid.Int64Range(0, s.Now).Draw(t, "since")
		}
		behind := rapid.SampledFrom(Orders()).Draw(t, "behind")
		res := rapid.SampledFrom([]int64{1, 60}).Draw(t, "bf_resolution")
		estimates := rapid.Bool().Draw(t, "estimates")
		l := list(t, behind, func(o *BackfillOptions) { o.Resolution, o.Estimates = res, estimates })
		want := twinStarts(t, s, behind, res)
		before := new(nodeset.Table)
		before.CopyFrom(s.Nodes)
		var p core.Plan
		require.NoError(t, l.Decide(context.Background(), s, core.Limits{}, &p))
		require.Equal(t, before, s.Nodes, "the snapshot is restored")
		got, last := map[int]bool{}, -1
		for _, d := range p.Decisions {
			require.Greater(t, d.Job, last)
			last = d.Job
			if d.Start {
				got[d.Job] = true
				if d.Job > 0 && !got[d.Job-1] {
					passed++
				}
			}
		}
		require.Equal(t, want, got)
	})
	require.Positive(t, passed)
}

// told notes when each job is first told that a place is kept for it, and from when on.
type told struct {
	*List
	first map[string]int64
}

func (p told) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, plan *core.Plan) error {
	err := p.List.Decide(ctx, s, l, plan)
	for _, d := range plan.Decisions {
		if d.Kept {
			if id := s.Pending[d.Job].ID; p.first[id] == 0 {
				p.first[id] = d.Expected
			}
		}
	}
	return err
}

// EASY's guarantee: with run times up to the limits nobody who was ever the head starts later than
// it was first told, whatever comes afterwards. It holds where Slurm's greedy selection finds a
// place if there is one: for cores, with or without GPUs, on any number of nodes.
func TestHeadNeverStartsLater(t *testing.T) {
	heads, early := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		for i := range jobs {
			j := &jobs[i]
			j.Request = bids.Request{Cores: rapid.IntRange(1, 3*len(nodes)).Draw(t, "cores"), MinGPUs: min(j.MinGPUs, 1)}
			j.Priority = int64(1000 - i)
			if rapid.Bool().Draw(t, "exact") {
				j.Duration = j.TimeLimit
			}
		}
		slices.SortStableFunc(jobs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
		for i := range jobs {
			jobs[i].Priority = int64(1000 - i) // so that nobody gets in front of a head
		}
		p := told{list(t, rapid.SampledFrom(Orders()).Draw(t, "behind"), func(o *BackfillOptions) {
			o.Estimates = true
			o.Resolution = rapid.SampledFrom([]int64{1, 60}).Draw(t, "bf_resolution")
		}), map[string]int64{}}
		cfg := NewConfig(nodes)
		cfg.Interval = rapid.SampledFrom([]int64{1, 3}).Draw(t, "interval")
		got, _ := recordsWith(t, cfg, p, jobs)
		for id, expected := range p.first {
			heads++
			require.Contains(t, got, id)
			// Jobs start at multiples of the interval.
			latest := (expected + cfg.Interval - 1) / cfg.Interval * cfg.Interval
			require.LessOrEqual(t, got[id].Start, latest, "%s, told %d", id, expected)
			if got[id].Start < expected {
				early++
			}
		}
	})
	require.Positive(t, heads*early)
}

// pooled is EASY on so many cores without places, second by second. A job that is not done before
// the head is to start counts as in its way.
func pooled(cores int, jobs []workload.Job, behind Order) map[string]int64 {
	starts, waits, submitted := map[string]int64{}, []*workload.Job{}, 0
	type run struct {
		cores      int
		end, limit int64
	}
	var running []run
	for now := int64(0); submitted < len(jobs) || len(waits) > 0; now++ {
		free := cores
		running = slices.DeleteFunc(running, func(r run) bool { return r.end <= now })
		for _, r := range running {
			free -= r.cores
		}
		for submitted < len(jobs) && jobs[submitted].Submit <= now {
			waits = append(waits, &jobs[submitted])
			submitted++
		}
		start := func(j *workload.Job) {
			free -= j.Cores
			starts[j.ID] = now
			running = append(running, run{j.Cores, now + max(1, min(j.Duration, j.TimeLimit)), now + j.TimeLimit})
		}
		for len(waits) > 0 && waits[0].Cores <= free {
			start(waits[0])
			waits = waits[1:]
		}
		if len(waits) == 0 {
			continue
		}
		slices.SortFunc(running, func(a, b run) int { return cmp.Compare(a.limit, b.limit) })
		shadow, extra := now, free-waits[0].Cores
		for _, r := range running {
			if extra >= 0 && r.limit > shadow {
				break
			}
			shadow, extra = r.limit, extra+r.cores
		}
		rest := slices.Clone(waits[1:])
		slices.SortStableFunc(rest, func(a, b *workload.Job) int {
			x, y := a.Job, b.Job
			x.Since, y.Since = a.Submit, b.Submit
			return cmp.Compare(behind.key(&x, now), behind.key(&y, now))
		})
		for _, j := range rest {
			long := now+j.TimeLimit >= shadow
			if j.Cores > free || (long && j.Cores > extra) {
				continue
			}
			if start(j); long {
				extra -= j.Cores
			}
			waits = slices.DeleteFunc(waits, func(w *workload.Job) bool { return w == j })
		}
	}
	return starts
}

// Where it does not matter on which nodes the head's place is, since it has one core or all, a list
// is EASY on pooled cores, over whole simulations.
func TestListIsPooledEASY(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(2, 9).Draw(t, "cores")
		var jobs []workload.Job
		submit := int64(0)
		for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
			limit := rapid.Int64Range(1, 60).Draw(t, "limit")
			size := 1
			if rapid.IntRange(0, 4).Draw(t, "all") == 0 {
				size = cores
			}
			submit += rapid.Int64Range(0, 9).Draw(t, "gap")
			jobs = append(jobs, jobOf(i, bids.Request{Cores: size}, submit, rapid.Int64Range(1, limit).Draw(t, "duration"), limit))
		}
		behind := rapid.SampledFrom(Orders()).Draw(t, "behind")
		cfg := NewConfig(nodesOf([3]int{cores, 1, 0}))
		cfg.Interval = 1
		got, _ := recordsWith(t, cfg, list(t, behind, func(o *BackfillOptions) { o.Resolution = 1 }), jobs)
		for id, start := range pooled(cores, jobs, behind) {
			require.Equal(t, start, got[id].Start, "%s %s", behind, id)
		}
	})
}

// A cycle of a list allocates nothing once its memory is there.
func TestListAllocatesNothing(t *testing.T) {
	tab := mustTable(t, nodesOf([3]int{8, 4, 0}))
	s := &core.Snapshot{Now: 100, Nodes: tab}
	held := []nodeset.Segment{{First: 0, Last: 5, Cores: 4}}
	require.NoError(t, tab.Allocate(held))
	s.Running = []core.Running{{ID: "R", End: 500, Segs: held}}
	for i := range 30 {
		j := jobOf(i, bids.Request{Cores: 3 + i%11*3}, 0, 0, int64(50+i*37%900)).Job
		s.Pending = append(s.Pending, &j)
	}
	l := list(t, WFP3, nil)
	var p core.Plan
	decide := func() { require.NoError(t, l.Decide(context.Background(), s, core.Limits{}, &p)) }
	decide()
	require.True(t, slices.ContainsFunc(p.Decisions, func(d core.Decision) bool { return d.Start }))
	plain := backfill(t, nil)
	var q core.Plan
	before := testing.AllocsPerRun(20, func() { _ = plain.Decide(context.Background(), s, core.Limits{}, &q) })
	require.LessOrEqual(t, testing.AllocsPerRun(20, decide), before, "no more than backfill")
}

// What a plan without it would not be valid is refused, by name.
func TestListUnknown(t *testing.T) {
	l, err := NewList(DefaultList())
	require.NoError(t, err)
	table, err := nodeset.New([]nodeset.Capacity{{Cores: 4}})
	require.NoError(t, err)
	job := core.Job{ID: "J1", Request: bids.Request{Cores: 1}, Priority: 1, TimeLimit: 10}
	job.Charges = nodeset.Uses{{Row: 0, PerJob: 1}}
	s, p := &core.Snapshot{Nodes: table, Pending: []*core.Job{&job}, Quotas: []core.Quota{{Name: "q"}}}, new(core.Plan)
	require.NoError(t, l.Decide(context.Background(), s, core.Limits{}, p))
	require.Len(t, p.Decisions, 1)
	require.False(t, p.Decisions[0].Start)
	require.Contains(t, p.Decisions[0].Reason, "charges against quotas")
	s.Claims = []core.Claim{{Reservation: "r", Until: 5}}
	require.ErrorContains(t, l.Decide(context.Background(), s, core.Limits{}, p), "reservations")
}
