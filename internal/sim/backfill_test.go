// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/slurm/selection"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func backfill(t require.TestingT, change func(*BackfillOptions)) *Backfill {
	o := DefaultBackfill()
	if change != nil {
		change(&o)
	}
	b, err := NewBackfill(o)
	require.NoError(t, err)
	return b
}

func estimates(o *BackfillOptions) { o.Estimates = true }

// jobOf is a job on whole seconds; priority falls with its number.
func jobOf(number int, r bids.Request, submit, duration, limit int64) workload.Job {
	return workload.Job{
		Job:    core.Job{ID: fmt.Sprintf("J%d", number), Request: r, Priority: 1000 - int64(number), TimeLimit: limit},
		Submit: submit, Duration: duration,
	}
}

// records runs the jobs and returns what became of each, by ID.
func records(t require.TestingT, p core.Policy, nodes []nodeset.Capacity, jobs []workload.Job) (map[string]Record, *Result) {
	return recordsWith(t, NewConfig(nodes), p, jobs)
}

func recordsWith(t require.TestingT, cfg Config, p core.Policy, jobs []workload.Job) (map[string]Record, *Result) {
	out := map[string]Record{}
	cfg.OnEnd = func(r Record) {
		r.Segs = append([]nodeset.Segment(nil), r.Segs...)
		out[r.Job.ID] = r
	}
	res, err := Run(context.Background(), cfg, p, jobs)
	require.NoError(t, err)
	return out, res
}

// The example of ipsched, table I: J1 takes whole nodes, so J3 has no GPUs left.
func TestTableOneOfIpsched(t *testing.T) {
	gpu := bids.Request{Cores: 2048, MinNodes: 512, MaxNodes: 512, MinGPUs: 2}
	got, res := records(t, backfill(t, nil), nodesOf([3]int{1024, 8, 2}), []workload.Job{
		jobOf(1, bids.Request{Cores: 4096}, 0, 1000, 1000), jobOf(2, gpu, 0, 1000, 1000), jobOf(3, gpu, 0, 1000, 1000),
	})
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 511, Cores: 8}}, got["J1"].Segs)
	// Slurm fills a node up as long as one core stays for each node to come:
	// 219 nodes of 8 cores, one of 4 and 292 of one add up to 2048.
	require.Equal(t, int64(0), got["J2"].Start)
	require.Equal(t, []nodeset.Segment{
		{First: 512, Last: 730, Cores: 8, GPUs: 2}, {First: 731, Last: 731, Cores: 4, GPUs: 2}, {First: 732, Last: 1023, Cores: 1, GPUs: 2},
	}, got["J2"].Segs)
	require.Equal(t, int64(1002), got["J3"].Start, "J3 waits for the first multiple of 3 s after second 1000")
	require.Equal(t, int64(2002), res.Runtime)
}

func TestBackfillKeepsReservations(t *testing.T) {
	// Four nodes of two cores. J1 holds three nodes up to 120; J2 needs all four
	// and is reserved them from 120 on. J3 is short enough for the hole until
	// then, J4 is not; J5 fits beside J3 on its node.
	got, _ := records(t, backfill(t, nil), nodesOf([3]int{4, 2, 0}), []workload.Job{
		jobOf(1, bids.Request{Cores: 6}, 0, 120, 120),
		jobOf(2, bids.Request{Cores: 8}, 0, 60, 60),
		jobOf(3, bids.Request{Cores: 1}, 0, 60, 60),
		jobOf(4, bids.Request{Cores: 1}, 0, 300, 300),
		jobOf(5, bids.Request{Cores: 1}, 0, 60, 119),
	})
	for id, start := range map[string]int64{"J1": 0, "J2": 120, "J3": 0, "J4": 180, "J5": 0} {
		require.Equal(t, start, got[id].Start, id)
	}
	require.Equal(t, []nodeset.Segment{{First: 3, Last: 3, Cores: 1}}, got["J3"].Segs)
}

func TestDecisionsSayWhy(t *testing.T) {
	tab, err := nodeset.New(nodesOf([3]int{4, 2, 0}))
	require.NoError(t, err)
	held := []nodeset.Segment{{First: 0, Last: 2, Cores: 2}}
	require.NoError(t, tab.Allocate(held))
	pending := func(reqs ...bids.Request) (out []*core.Job) {
		for i, r := range reqs {
			j := jobOf(i+1, r, 0, 0, 600)
			out = append(out, &j.Job)
		}
		return out
	}
	s := core.Snapshot{
		Now: 30, Nodes: tab, Running: []core.Running{{ID: "R", End: 150, Segs: held}},
		Pending: pending(bids.Request{Cores: 9}, bids.Request{Cores: 8}, bids.Request{Cores: 2},
			bids.Request{Cores: 3, MaxNodes: 1}, bids.Request{Cores: 1}),
	}
	var p core.Plan
	require.NoError(t, backfill(t, estimates).Decide(context.Background(), &s, core.Limits{}, &p))
	// J1 never can; J2 has everything from 150 on, slots 120-720; J3 and J5 would
	// run into that and come after it.
	require.Equal(t, []core.Decision{
		{Job: 0, Reason: "can never run: needs 9 cores, its nodes have at most 8"},
		{Job: 1, Kept: true, Expected: 150, Reason: ReasonResources},
		{Job: 2, Kept: true, Expected: 720, Reason: ReasonPriority},
		{Job: 3, Reason: "can never run: needs 3 cores on a node, largest has 2"},
		{Job: 4, Kept: true, Expected: 720, Reason: ReasonPriority},
	}, withoutEmpty(p.Decisions))
}

// expected is when the jobs are expected to start on a machine of two-core nodes,
// on which the running ones each hold one node until the seconds of ends.
func expected(t *testing.T, ends []int64, limit int64, change func(*BackfillOptions), reqs ...bids.Request) (out []int64) {
	tab := mustTable(t, nodesOf([3]int{len(ends), 2, 0}))
	s := core.Snapshot{Nodes: tab}
	for n, end := range ends {
		segs := []nodeset.Segment{{First: int32(n), Last: int32(n), Cores: 2}}
		require.NoError(t, tab.Allocate(segs))
		s.Running = append(s.Running, core.Running{ID: fmt.Sprint(n), End: end, Segs: segs})
	}
	for i, r := range reqs {
		j := jobOf(i, r, 0, 0, limit)
		s.Pending = append(s.Pending, &j.Job)
	}
	var p core.Plan
	require.NoError(t, backfill(t, change).Decide(context.Background(), &s, core.Limits{}, &p))
	for _, d := range p.Decisions {
		require.False(t, d.Start)
		out = append(out, d.Expected)
	}
	return out
}

// With an interval a job that only backfill can start waits for the next pass, though nothing comes
// or goes meanwhile; what the main scheduler starts does not.
func TestBackfillInterval(t *testing.T) {
	nodes := nodesOf([3]int{4, 1, 0})
	jobs := []workload.Job{
		// backfill's first pass, which has nothing to do
		jobOf(1, bids.Request{Cores: 3}, 0, 100, 100),
		jobOf(2, bids.Request{Cores: 4}, 6, 100, 100), // blocked
		jobOf(3, bids.Request{Cores: 1}, 12, 20, 20),  // fits beside the first
		jobOf(4, bids.Request{Cores: 1}, 120, 10, 10),
	}
	with, _ := records(t, backfill(t, func(o *BackfillOptions) { o.Interval = 30 }), nodes, jobs)
	require.Equal(t, []int64{0, 102, 30, 204}, []int64{with["J1"].Start, with["J2"].Start, with["J3"].Start, with["J4"].Start})
	without, _ := records(t, backfill(t, nil), nodes, jobs)
	require.Equal(t, []int64{0, 102, 12, 204}, []int64{without["J1"].Start, without["J2"].Start, without["J3"].Start, without["J4"].Start})
}

func TestExpectedStarts(t *testing.T) {
	nodes := func(n int) bids.Request { return bids.Request{Cores: 2 * n} }
	// The first job has node 1 from 120 to 180. The second finds node 0 at 1000
	// only, but node 1 again when that reservation ends.
	require.Equal(t, []int64{120, 180}, expected(t, []int64{1000, 120}, 60, estimates, nodes(1), nodes(1)))
	// Ends are looked at in groups: those up to 30 s after the first multiple of
	// 30 after the first end, then up to 60 s after it, 120 s, and so on.
	ends := []int64{10, 50, 70, 85, 100, 140}
	for n, want := range map[int]int64{1: 50, 2: 50, 3: 85, 4: 85, 5: 140, 6: 140} {
		require.Equal(t, []int64{want}, expected(t, ends, 60, estimates, nodes(n)), "%d nodes", n)
	}
	// A job over its limit is expected to be killed 30 s after it, or at once.
	require.Equal(t, []int64{20}, expected(t, []int64{-10}, 60, estimates, nodes(1)))
	require.Equal(t, []int64{1}, expected(t, []int64{-40}, 60, estimates, nodes(1)))
	// Beyond the window no start is given.
	short := func(o *BackfillOptions) { o.Estimates, o.Window = true, 600 }
	require.Equal(t, []int64{600}, expected(t, []int64{600}, 60, short, nodes(1)))
	require.Equal(t, []int64{0}, expected(t, []int64{601}, 60, short, nodes(1)))
	// The table of slots is full after the first reservation.
	tiny := func(o *BackfillOptions) { o.Estimates, o.NodeSpaceSize = true, 2 }
	require.Equal(t, []int64{120}, expected(t, []int64{1000, 120}, 60, tiny, nodes(1), nodes(1)))
}

func TestNodeSpaceMergesSlots(t *testing.T) {
	mask := nodeset.Mask{1}
	var s nodeSpace
	s.reset(0, 60, 600, nodeset.Mask{3})
	s.add(60, 120, 60, mask)
	s.add(120, 180, 60, mask)
	var got [][2]int64
	for i := 0; ; {
		got = append(got, [2]int64{s.slots[i].begin, s.slots[i].end})
		if i = s.slots[i].next; i == 0 {
			break
		}
	}
	require.Equal(t, [][2]int64{{0, 60}, {60, 180}, {180, 600}}, got)
	require.Equal(t, 4, s.records, "Slurm counts merged slots as well")
}

// withoutEmpty makes empty segments nil.
func withoutEmpty(ds []core.Decision) []core.Decision {
	out := append([]core.Decision(nil), ds...)
	for i := range out {
		if len(out[i].Segs) == 0 {
			out[i].Segs = nil
		}
	}
	return out
}

func TestBackfillOptions(t *testing.T) {
	nodes := nodesOf([3]int{2, 1, 0})
	jobs := []workload.Job{
		jobOf(1, bids.Request{Cores: 1}, 0, 7200, 7200), jobOf(2, bids.Request{Cores: 2}, 0, 60, 60),
		jobOf(3, bids.Request{Cores: 1}, 0, 9000, 9000), jobOf(4, bids.Request{Cores: 1}, 0, 60, 60),
	}
	for _, c := range []struct {
		name   string
		change func(*BackfillOptions)
		j3, j4 int64 // starts
	}{
		{"defaults", nil, 7260, 0},
		{"J2 starts beyond the window: no reservation", func(o *BackfillOptions) { o.Window = 3600 }, 0, 7200},
		{"J2 is not worth a reservation", func(o *BackfillOptions) { o.MinPrioReserve = 999 }, 0, 7200},
		{"J4 is not looked at", func(o *BackfillOptions) { o.MaxJobTest = 2 }, 7260, 7260},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := records(t, backfill(t, c.change), nodes, jobs)
			require.Equal(t, []int64{c.j3, c.j4}, []int64{got["J3"].Start, got["J4"].Start})
		})
	}
	_, err := NewBackfill(BackfillOptions{MaxJobTest: 1, Resolution: 0, Window: 60})
	require.EqualError(t, err, "bf_resolution: 0: must be between 1 and 3600")
}

func TestBackfillStopsAtLimits(t *testing.T) {
	// One node is held to 600; J2 wants both. Five one-core jobs of a minute
	// could go before it.
	jobs := []workload.Job{jobOf(1, bids.Request{Cores: 8}, 0, 600, 600), jobOf(2, bids.Request{Cores: 16}, 0, 60, 60)}
	for i := 3; i < 8; i++ {
		jobs = append(jobs, jobOf(i, bids.Request{Cores: 1}, 0, 60, 60))
	}
	first := func(change func(*BackfillOptions)) (n int) {
		got, _ := records(t, backfill(t, change), nodesOf([3]int{2, 8, 0}), jobs)
		for _, r := range got {
			if r.Start == 0 {
				n++
			}
		}
		return n
	}
	require.Equal(t, 6, first(nil))
	require.Equal(t, 3, first(func(o *BackfillOptions) { o.MaxJobStart = 2 }))
}

// drawState is a random machine with running jobs and a queue.
func drawState(t *rapid.T) *core.Snapshot {
	var nodes []nodeset.Capacity
	for range rapid.IntRange(1, 10).Draw(t, "nodes") {
		nodes = append(nodes,
			nodeset.Capacity{Cores: uint16(rapid.SampledFrom([]int{2, 4, 4, 4, 8}).Draw(t, "cores")),
				GPUs: uint8(rapid.SampledFrom([]int{0, 2, 2}).Draw(t, "gpus"))})
	}
	tab, err := nodeset.New(nodes)
	require.NoError(t, err)
	s := &core.Snapshot{Now: rapid.Int64Range(0, 500).Draw(t, "now"), Nodes: tab}
	uses := drawMemory(t, tab)
	var sel selection.Selector
	for i := range rapid.IntRange(0, 6).Draw(t, "running") {
		r := drawRequest(t, len(nodes))
		r.Uses = uses()
		segs, ok, err := sel.Select(tab, &r, nil, nil)
		require.NoError(t, err)
		if ok {
			require.NoError(t, tab.Allocate(segs, r.Uses...))
			s.Running = append(s.Running, core.Running{ID: fmt.Sprint("R", i),
				End: s.Now + rapid.Int64Range(-50, 900).Draw(t, "end"), Segs: segs, Uses: r.Uses})
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "a node is down") == 0 {
		tab.SetUp(rapid.IntRange(0, len(nodes)-1).Draw(t, "down"), false)
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "pending") {
		j := jobOf(i, drawRequest(t, len(nodes)), 0, 0, rapid.Int64Range(1, 900).Draw(t, "limit"))
		j.Uses = uses()
		if rapid.IntRange(0, 3).Draw(t, "partition") == 0 {
			j.Eligible = nodeset.NewMask(len(nodes))
			j.Eligible[0] = rapid.Uint64Range(1, 1<<len(nodes)-1).Draw(t, "its nodes")
		}
		s.Pending = append(s.Pending, &j.Job)
		for rapid.IntRange(0, 3).Draw(t, "again") == 0 { // equal requests
			k := j
			k.ID = fmt.Sprintf("%s-%d", j.ID, len(s.Pending))
			s.Pending = append(s.Pending, &k.Job)
		}
	}
	return s
}

// drawMemory gives a machine memory now and then, and returns what jobs take of it: some of them
// the same.
func drawMemory(t *rapid.T, tab *nodeset.Table) func() nodeset.Uses {
	if rapid.Bool().Draw(t, "no memory") {
		return func() nodeset.Uses { return nil }
	}
	total := make([]int64, tab.Len())
	for n := range total {
		total[n] = rapid.Int64Range(5, 20).Draw(t, "memory")
	}
	_, err := tab.AddResource("memory", total)
	require.NoError(t, err)
	kinds := []nodeset.Uses{nil, {{PerNode: 6}}, {{PerCore: 3}}, {{PerNode: 11, PerCore: 1}}, {{PerGPU: 5}}}
	return func() nodeset.Uses { return rapid.SampledFrom(kinds).Draw(t, "uses") }
}

func drawRequest(t *rapid.T, nodes int) bids.Request {
	r := bids.Request{MinGPUs: rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "gpus per node"),
		Contiguous: rapid.IntRange(0, 4).Draw(t, "contiguous") == 0}
	r.MaxGPUs = r.MinGPUs + rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "more gpus")
	if rapid.IntRange(0, 5).Draw(t, "eligible given") == 0 {
		r.Eligible = nodeset.NewMask(nodes)
		for n := range nodes {
			if rapid.IntRange(0, 3).Draw(t, "eligible") > 0 {
				r.Eligible.Set(n)
			}
		}
	}
	switch rapid.IntRange(1, 4).Draw(t, "type") {
	case 1, 4:
		r.Cores = rapid.IntRange(1, 3*nodes).Draw(t, "n")
	case 2:
		r.MinNodes = rapid.IntRange(1, nodes).Draw(t, "N")
		r.MaxNodes = r.MinNodes + rapid.IntRange(0, 2).Draw(t, "more")
		r.Cores = r.MinNodes * rapid.IntRange(1, 4).Draw(t, "each")
	case 3:
		r.MinNodes = rapid.IntRange(1, nodes).Draw(t, "N")
		r.TasksPerNode = rapid.IntRange(1, 4).Draw(t, "tasks")
	}
	return r
}

// smallOptions makes the limits bite now and then.
func smallOptions(t *rapid.T) BackfillOptions {
	o := DefaultBackfill()
	o.MaxJobTest = rapid.SampledFrom([]int{500, 500, 5, 2}).Draw(t, "bf_max_job_test")
	o.Window = rapid.SampledFrom([]int64{86400, 86400, 600}).Draw(t, "bf_window")
	o.Resolution = rapid.SampledFrom([]int64{60, 60, 1, 300}).Draw(t, "bf_resolution")
	o.MinPrioReserve = rapid.SampledFrom([]int64{0, 0, 995}).Draw(t, "bf_min_prio_reserve")
	o.Interval = rapid.SampledFrom([]int64{0, 0, 30}).Draw(t, "bf_interval")
	o.Test = rapid.SampledFrom([]time.Duration{0, 0, 700 * time.Millisecond}).Draw(t, "time to look at a job")
	return o
}

// Shortcuts change no decision: with estimates none at all, without them no start.
func TestShortcutsChangeNothing(t *testing.T) {
	var kept [3]*Backfill
	rapid.Check(t, func(t *rapid.T) {
		s, o := drawState(t), smallOptions(t)
		decide := func(i int, estimates, plain bool) []core.Decision {
			o := o
			o.Estimates, o.Plain = estimates, plain
			b, err := NewBackfill(o)
			require.NoError(t, err)
			if kept[i] != nil { // what a policy remembers changes nothing either
				memory := kept[i].machine
				b.machine = memory
			}
			kept[i] = b
			before := new(nodeset.Table)
			before.CopyFrom(s.Nodes)
			var p core.Plan
			require.NoError(t, b.Decide(context.Background(), s, core.Limits{}, &p))
			require.Equal(t, before, s.Nodes, "the snapshot is restored")
			return withoutEmpty(p.Decisions)
		}
		plain := decide(0, true, true)
		require.Equal(t, plain, decide(1, true, false))
		starts := func(ds []core.Decision) (out []core.Decision) {
			for _, d := range ds {
				if d.Start {
					out = append(out, d)
				}
			}
			return out
		}
		require.Equal(t, starts(plain), starts(decide(2, false, false)))
	})
}

// The job that waits first is not delayed by what backfill starts: at its expected
// start, when all that should have ended has ended, it has a place.
func TestFirstReservationHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		var p core.Plan
		require.NoError(t, backfill(t, estimates).Decide(context.Background(), s, core.Limits{}, &p))
		first := -1
		for i, d := range p.Decisions {
			if d.Start {
				j := s.Pending[d.Job]
				require.NoError(t, s.Nodes.Allocate(d.Segs, d.Uses...))
				s.Running = append(s.Running, core.Running{ID: j.ID, End: s.Now + j.TimeLimit, Segs: d.Segs, Uses: d.Uses})
			} else if d.Reason == ReasonResources && first < 0 {
				first = i
			}
		}
		if first < 0 || !p.Decisions[first].Kept {
			return
		}
		d := p.Decisions[first]
		r := s.Pending[d.Job].Request
		if r.Contiguous || r.MaxNodes > 0 || r.TasksPerNode > 0 || r.MinGPUs > 0 {
			return // Slurm's greedy choice might fail on more nodes than it had
		}
		require.Greater(t, d.Expected, s.Now)
		for _, run := range s.Running {
			if run.End <= d.Expected {
				require.NoError(t, s.Nodes.Release(run.Segs, run.Uses...))
			}
		}
		var sel selection.Selector
		_, ok, err := sel.Select(s.Nodes, &r, nil, nil)
		require.NoError(t, err)
		require.True(t, ok)
	})
}

// seconds is a nodeSpace as a matrix: what is free in each second.
type seconds [][]bool

func TestNodeSpaceIsAMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const nodes, length, res = 5, 40, 4
		up := nodeset.NewMask(nodes)
		for n := range nodes {
			up.Set(n)
		}
		var space nodeSpace
		space.reset(0, res, length, up)
		twin := make(seconds, length)
		for i := range twin {
			twin[i] = []bool{true, true, true, true, true}
		}
		for range rapid.IntRange(0, 6).Draw(t, "reservations") {
			from := rapid.Int64Range(0, length/res-1).Draw(t, "from") * res
			to := from + rapid.Int64Range(0, 6).Draw(t, "slots")*res
			mask := nodeset.NewMask(nodes)
			mask[0] = uint64(rapid.IntRange(1, 31).Draw(t, "nodes"))
			space.add(from, to, res, mask)
			for i := from; i < min(max(to, from+res), length); i++ {
				for n := range nodes {
					twin[i][n] = twin[i][n] && !mask.Has(n)
				}
			}
		}
		from := rapid.Int64Range(0, length-1).Draw(t, "job from")
		to := from + rapid.Int64Range(1, 20).Draw(t, "job for")
		var avail nodeset.Mask
		later := space.free(from, to, up, &avail)
		for n := range nodes {
			free := true
			for i := from; i <= to && i < length; i++ {
				free = free && twin[i][n]
			}
			require.Equal(t, free, avail.Has(n), "node %d", n)
			one := nodeset.NewMask(nodes)
			one.Set(n)
			taken := false
			for i := from; i < to && i < length; i++ {
				taken = taken || !twin[i][n]
			}
			require.Equal(t, taken, space.overlaps(from, to, one), "node %d", n)
		}
		if later != 0 {
			require.Greater(t, later, from)
			return
		}
		for i := from; i < to && i+1 < length; i++ { // then no node becomes free meanwhile
			for n := range nodes {
				require.False(t, !twin[i][n] && twin[i+1][n], "node %d at %d", n, i+1)
			}
		}
	})
}

func TestOverlapAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mask, want := nodeset.NewMask(200), false
		mask.Set(rapid.IntRange(0, 199).Draw(t, "node"))
		first := rapid.Int32Range(0, 199).Draw(t, "first")
		last := rapid.Int32Range(first, 199).Draw(t, "last")
		for n := first; n <= last; n++ {
			want = want || mask.Has(int(n))
		}
		require.Equal(t, want, overlapAny([]nodeset.Segment{{First: first, Last: last}}, mask))
	})
}

func BenchmarkDecide(b *testing.B) {
	const nodes = 1024
	tab, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(b, err)
	s := &core.Snapshot{Now: 1000, Nodes: tab}
	for n := int32(0); n < nodes; n += 8 {
		segs := []nodeset.Segment{{First: n, Last: n + 6, Cores: 8}}
		require.NoError(b, tab.Allocate(segs))
		s.Running = append(s.Running, core.Running{ID: fmt.Sprint(n), End: 1100 + int64(n), Segs: segs})
	}
	for i := range 500 {
		j := jobOf(i, bids.Request{Cores: 8 * (200 + i)}, 0, 0, 600)
		s.Pending = append(s.Pending, &j.Job)
	}
	run := func(name string, last bids.Request, change func(*BackfillOptions)) {
		b.Run(name, func(b *testing.B) {
			s.Pending[len(s.Pending)-1].Request = last
			p, plan := backfill(b, change), core.Plan{}
			for b.Loop() {
				require.NoError(b, p.Decide(context.Background(), s, core.Limits{}, &plan))
			}
		})
	}
	run("nothing can start", bids.Request{Cores: 8 * nodes}, nil)
	run("the last can start", bids.Request{Cores: 8}, nil)
	run("estimates", bids.Request{Cores: 8 * nodes}, estimates)
}
