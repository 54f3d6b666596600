// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/slurm/selection"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// scripted is a policy made of one function.
type scripted func(s *core.Snapshot, p *core.Plan) error

func (f scripted) Name() string { return "scripted" }

func (f scripted) Decide(_ context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) error {
	p.Decisions = p.Decisions[:0]
	return f(s, p)
}

// startOn starts the first pending job on segs.
func startOn(segs ...nodeset.Segment) scripted {
	return func(_ *core.Snapshot, p *core.Plan) error {
		p.Decisions = append(p.Decisions, core.Decision{Job: 0, Start: true, Segs: segs})
		return nil
	}
}

func TestMetricsOnPaper(t *testing.T) {
	// Machine: 4 nodes of 4 cores and 2 GPUs. J1 has 6 cores on nodes 0 and 3
	// with one GPU each for 100 s from 0; J2 has 4 cores on node 1 for 50 s. J2
	// comes at second 10 and starts at the next multiple of 3.
	where := map[string][]nodeset.Segment{
		"J1": {{First: 0, Last: 0, Cores: 3, GPUs: 1}, {First: 3, Last: 3, Cores: 3, GPUs: 1}},
		"J2": {{First: 1, Last: 1, Cores: 4}},
	}
	p := scripted(func(s *core.Snapshot, p *core.Plan) error {
		for i, j := range s.Pending {
			p.Decisions = append(p.Decisions, core.Decision{Job: i, Start: true, Segs: where[j.ID]})
		}
		return nil
	})
	got, res := records(t, p, nodesOf([3]int{4, 4, 2}), []workload.Job{
		jobOf(1, bids.Request{Cores: 6, MinGPUs: 1}, 0, 100, 100), jobOf(2, bids.Request{Cores: 4}, 10, 50, 60),
	})
	require.Equal(t, int64(12), got["J2"].Start)
	require.Equal(t, int64(62), got["J2"].End)
	res.CycleMsP50, res.CycleMsP99, res.CycleMsMax = 0, 0, 0
	require.Equal(t, &Result{
		Policy: "scripted", Jobs: 2, Runtime: 100, TheoreticalRuntime: (600.0 + 200) / 16, CPUUtilization: 50.0 / 100,
		GPUUtilization: 200.0 / (100 * 8), CPUUtilizationLoaded: 6 * 10.0 / (10 * 16), GPUUtilizationLoaded: 2 * 10.0 / (10 * 8),
		WaitMean: 1, WaitStd: 1,
		// J1 has 6 of 16 cores for 100 s, J2 4 for 50 s.
		Waits:        Waits{Median: 1, P95: 2, Max: 2, AreaWeighted: 2 * 200.0 / 800, BoundedSlowdown: (1 + 52.0/50) / 2},
		SlowdownMean: (1 + 52.0/50) / 2, SlowdownStd: (52.0/50 - 1) / 2,
		FragmentationMean: 1.5, FragmentationStd: 0.5, SpreadMean: (2.0 + 1) / 2, SpreadStd: 0.5,
		PackingFactorMean: 1, PackingFactorStd: 0, Cycles: 2, PendingMax: 1, GPUQueue: &GPUQueue{}, StrandedGPUHours: new(float64),
	}, rounded(res))
}

// rounded takes off what binary fractions leave behind.
func rounded(r *Result) *Result {
	out := *r
	for _, f := range []*float64{&out.SlowdownMean, &out.SlowdownStd, &out.BoundedSlowdown} {
		*f = math.Round(*f*1e9) / 1e9
	}
	return &out
}

func TestPackingFactor(t *testing.T) {
	_, res := records(t, startOn(nodeset.Segment{First: 0, Last: 2, Cores: 2}), nodesOf([3]int{4, 4, 0}),
		[]workload.Job{jobOf(1, bids.Request{Cores: 6}, 0, 10, 10)})
	require.Equal(t, 1.5, res.PackingFactorMean, "three nodes where two would do")
}

func TestDurations(t *testing.T) {
	nodes := nodesOf([3]int{1, 4, 3})
	on := func(gpus uint8) core.Policy { return startOn(nodeset.Segment{Cores: 1, GPUs: gpus}) }
	for _, c := range []struct {
		name                  string
		gpus                  uint8
		duration, limit, want int64
		kill                  bool
		nominal               int64
	}{
		{"fewest GPUs", 2, 100, 200, 100, true, 100},
		{"one more GPU, rounded up", 3, 100, 200, 67, true, 100},
		{"killed at its limit", 2, 300, 200, 200, true, 200},
		{"more GPUs keep it within the limit", 3, 300, 200, 200, true, 200},
		{"goes on beyond its limit", 2, 300, 200, 300, false, 300},
		{"at least a second", 2, 0, 200, 1, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := NewConfig(nodes)
			cfg.KillAtLimit = c.kill
			j := jobOf(1, bids.Request{Cores: 1, MinGPUs: 2, MaxGPUs: 3}, 0, c.duration, c.limit)
			res, err := Run(context.Background(), cfg, on(c.gpus), []workload.Job{j})
			require.NoError(t, err)
			require.Equal(t, c.want, res.Runtime)
			require.Equal(t, float64(c.nominal)/4, res.TheoreticalRuntime)
			require.InDelta(t, float64(c.gpus)/3, res.GPUUtilization, 1e-12)
		})
	}
}

func TestRefereeStopsTheRun(t *testing.T) {
	nodes := nodesOf([3]int{4, 4, 2})
	only := nodeset.NewMask(4)
	only.Set(0)
	seg := func(first, last int32, cores uint16, gpus uint8) nodeset.Segment {
		return nodeset.Segment{First: first, Last: last, Cores: cores, GPUs: gpus}
	}
	for _, c := range []struct {
		name string
		req  bids.Request
		segs []nodeset.Segment
		want string
	}{
		{"more than a node has", bids.Request{Cores: 5}, []nodeset.Segment{seg(0, 0, 5, 0)}, "node 0: 5 cores and 0 GPUs taken, 4 and 2 free"},
		{"more GPUs than a node has", bids.Request{Cores: 1, MinGPUs: 1, MaxGPUs: 3}, []nodeset.Segment{seg(0, 0, 1, 3)}, "node 0: 1 cores and 3 GPUs taken, 4 and 2 free"},
		{"too few cores", bids.Request{Cores: 5}, []nodeset.Segment{seg(0, 0, 4, 0)}, "4 cores instead of 5"},
		{"GPUs not asked for", bids.Request{Cores: 1}, []nodeset.Segment{seg(0, 0, 1, 1)}, "1 GPUs a node instead of 0 to 0"},
		{"different GPUs", bids.Request{Cores: 2, MinGPUs: 1, MaxGPUs: 2},
			[]nodeset.Segment{seg(0, 0, 1, 1), seg(1, 1, 1, 2)}, "node 1 gives 2 GPUs, others 1"},
		{"too few nodes", bids.Request{Cores: 4, MinNodes: 2}, []nodeset.Segment{seg(0, 0, 4, 0)}, "1 nodes instead of 2 to 0"},
		{"too many nodes", bids.Request{Cores: 2, MaxNodes: 1}, []nodeset.Segment{seg(0, 1, 1, 0)}, "2 nodes instead of 0 to 1"},
		{"wrong cores a node", bids.Request{MinNodes: 2, TasksPerNode: 2},
			[]nodeset.Segment{seg(0, 0, 3, 0), seg(1, 1, 1, 0)}, "node 0 gives 3 cores, more than 2 tasks per node"},
		{"one node too many", bids.Request{MinNodes: 1, TasksPerNode: 2}, []nodeset.Segment{seg(0, 1, 2, 0)}, "2 nodes instead of 1 to 0"},
		{"a gap", bids.Request{Cores: 2, Contiguous: true}, []nodeset.Segment{seg(0, 0, 1, 0), seg(2, 2, 1, 0)},
			"nodes 0 and 2 are not contiguous"},
		{"not eligible", bids.Request{Cores: 1, Eligible: only}, []nodeset.Segment{seg(1, 1, 1, 0)}, "node 1 is not eligible"},
		{"outside the machine", bids.Request{Cores: 1}, []nodeset.Segment{seg(4, 4, 1, 0)}, "nodes 4-4 are out of order or outside 0-3"},
		{"nothing", bids.Request{Cores: 1}, nil, "no node at all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A job before it makes sure that CanEverRun does not get in the way.
			if place.CanEverRun(mustTable(t, nodes), &c.req) != nil {
				return
			}
			_, err := Run(context.Background(), NewConfig(nodes), startOn(c.segs...), []workload.Job{jobOf(7, c.req, 0, 1, 1)})
			require.ErrorContains(t, err, "policy scripted at second 0: the plan is not valid: ")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func mustTable(t require.TestingT, nodes []nodeset.Capacity) *nodeset.Table {
	tab, err := nodeset.New(nodes)
	require.NoError(t, err)
	return tab
}

func TestRunRejects(t *testing.T) {
	good := jobOf(1, bids.Request{Cores: 1}, 0, 1, 1)
	with := func(change func(*workload.Job)) []workload.Job {
		j := good
		change(&j)
		return []workload.Job{good, j}
	}
	nodes := nodesOf([3]int{1, 4, 0})
	for _, c := range []struct {
		want string
		cfg  Config
		jobs []workload.Job
	}{
		{"the workload has no jobs", NewConfig(nodes), nil},
		{"at least one node", NewConfig(nil), []workload.Job{good}},
		{"the machine has no cores", NewConfig(nodesOf([3]int{2, 0, 0})), []workload.Job{good}},
		{"interval: 0", Config{Nodes: nodes}, []workload.Job{good}},
		{"job J1: submit: -1", NewConfig(nodes), with(func(j *workload.Job) { j.Submit = -1 })},
		{"job J1: duration: -5", NewConfig(nodes), with(func(j *workload.Job) { j.Duration = -5 })},
		{"job J1: time_limit_s: 0", NewConfig(nodes), with(func(j *workload.Job) { j.TimeLimit = 0 })},
		{"job J1: priority: 0", NewConfig(nodes), with(func(j *workload.Job) { j.Priority = 0 })},
		{"job J1: cores: -2", NewConfig(nodes), with(func(j *workload.Job) { j.Cores = -2 })},
	} {
		_, err := Run(context.Background(), c.cfg, startOn(), c.jobs)
		require.ErrorContains(t, err, c.want)
	}
	fails := scripted(func(*core.Snapshot, *core.Plan) error { return errors.New("no idea") })
	_, err := Run(context.Background(), NewConfig(nodes), fails, []workload.Job{good})
	require.EqualError(t, err, "policy scripted at second 0: no idea")
	twice := scripted(func(_ *core.Snapshot, p *core.Plan) error {
		p.Decisions = append(p.Decisions, core.Decision{Job: 0}, core.Decision{Job: 0})
		return nil
	})
	_, err = Run(context.Background(), NewConfig(nodes), twice, []workload.Job{good})
	require.ErrorContains(t, err, "job index 0 after 0 of 1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Run(ctx, NewConfig(nodes), startOn(), []workload.Job{good})
	require.ErrorIs(t, err, context.Canceled)
}

func TestJobsThatCannotRun(t *testing.T) {
	nodes := nodesOf([3]int{2, 4, 0})
	jobs := []workload.Job{
		jobOf(1, bids.Request{Cores: 9}, 0, 10, 10),
		jobOf(2, bids.Request{Cores: 8}, 0, 10, 10),
		jobOf(3, bids.Request{Cores: 1, MinGPUs: 1}, 5, 10, 10),
	}
	_, res := records(t, backfill(t, nil), nodes, jobs)
	require.Equal(t, 1, res.Jobs)
	require.Equal(t, []Unrun{
		{"J1", "can never run: needs 9 cores, its nodes have at most 8"},
		{"J3", "can never run: needs 1 or more GPUs on a node, most has 0"},
	}, res.Unrun)

	calls := 0
	lazy := scripted(func(_ *core.Snapshot, p *core.Plan) error {
		calls++
		p.Decisions = append(p.Decisions, core.Decision{Job: 0, Reason: "not today"})
		return nil
	})
	_, res = records(t, lazy, nodes, jobs[1:2])
	require.Equal(t, []Unrun{{"J2", "not today (the machine is idle)"}}, res.Unrun)
	require.Equal(t, 1+maxIdle, calls, "it is asked again, but not for ever")
	require.Zero(t, res.Runtime)
}

// A policy that starts nothing yet but expects to is asked when the time has come.
func TestIdleMachineWaitsForExpected(t *testing.T) {
	var asked []int64
	p := scripted(func(s *core.Snapshot, p *core.Plan) error {
		asked = append(asked, s.Now)
		d := core.Decision{Job: 0, Kept: true, Expected: 1000}
		if s.Now >= 1000 {
			d = core.Decision{Job: 0, Start: true, Segs: []nodeset.Segment{{Cores: 1}}}
		}
		p.Decisions = append(p.Decisions, d)
		return nil
	})
	got, _ := records(t, p, nodesOf([3]int{1, 1, 0}), []workload.Job{jobOf(1, bids.Request{Cores: 1}, 0, 5, 5)})
	require.Equal(t, []int64{0, 1002}, asked)
	require.Equal(t, int64(1002), got["J1"].Start)
}

// The policy is asked at multiples of the interval, and only after a change.
func TestCycles(t *testing.T) {
	var asked []int64
	p := scripted(func(s *core.Snapshot, p *core.Plan) error {
		asked = append(asked, s.Now)
		if free, _ := s.Nodes.SumFree(); free > 0 {
			p.Decisions = append(p.Decisions, core.Decision{Job: 0, Start: true, Segs: []nodeset.Segment{{Cores: 1}}})
		}
		return nil
	})
	one := bids.Request{Cores: 1}
	var last Progress
	cfg := NewConfig(nodesOf([3]int{1, 1, 0}))
	cfg.Interval = 10
	cfg.OnCycle = func(p Progress) { last = p }
	_, err := Run(context.Background(), cfg, p, []workload.Job{
		jobOf(1, one, 4, 33, 99), jobOf(2, one, 11, 5, 5), jobOf(3, one, 12, 5, 5), jobOf(4, one, 200, 5, 5)})
	require.NoError(t, err)
	// 4 -> 10; 11, 12 -> 20; J1 ends at 43 -> 50; J2 ends at 55 -> 60; 200.
	require.Equal(t, []int64{10, 20, 50, 60, 200}, asked)
	require.Equal(t, Progress{Now: 200, Submitted: 4, Running: 1, End: 3, Total: 4}, last)
}

func TestResultJSON(t *testing.T) {
	text, err := json.Marshal(&Result{Policy: "backfill", Unrun: []Unrun{{"7", "why"}}})
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(text, &got))
	for _, name := range []string{"policy", "jobs", "runtime_s", "theoretical_runtime_s", "cpu_utilization", "gpu_utilization",
		"wait_mean_s", "wait_std_s", "slowdown_mean", "slowdown_std", "fragmentation_mean", "fragmentation_std",
		"spread_mean", "spread_std", "packing_factor_mean", "cycles", "cycle_ms_p50", "cycle_ms_p99", "cycle_ms_max"} {
		require.Contains(t, got, name)
	}
}

// drawWorkload is a random machine and workload.
func drawWorkload(t *rapid.T) ([]nodeset.Capacity, []workload.Job) {
	var nodes []nodeset.Capacity
	for range rapid.IntRange(1, 8).Draw(t, "nodes") {
		nodes = append(nodes, nodeset.Capacity{Cores: uint16(rapid.SampledFrom([]int{2, 4, 4}).Draw(t, "cores")),
			GPUs: uint8(rapid.SampledFrom([]int{0, 2, 2}).Draw(t, "gpus"))})
	}
	var jobs []workload.Job
	for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
		limit := rapid.Int64Range(1, 900).Draw(t, "limit")
		j := jobOf(i, drawRequest(t, len(nodes)), rapid.Int64Range(0, 600).Draw(t, "submit"),
			rapid.Int64Range(0, limit+20).Draw(t, "duration"), limit)
		j.Priority = rapid.SampledFrom([]int64{j.Priority, 7, 8}).Draw(t, "priority")
		jobs = append(jobs, j)
	}
	return nodes, jobs
}

// Under the eyes of the referee every job runs, once, after its submission, or is
// listed; a second run is the same.
func TestBackfillRunsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		opt := smallOptions(t)
		run := func() (*Result, map[string]Record) {
			b, err := NewBackfill(opt)
			require.NoError(t, err)
			got, res := records(t, b, nodes, jobs)
			res.CycleMsP50, res.CycleMsP99, res.CycleMsMax = 0, 0, 0
			return res, got
		}
		res, got := run()
		again, gotAgain := run()
		require.Equal(t, res, again)
		require.Equal(t, got, gotAgain)
		require.Len(t, jobs, len(got)+len(res.Unrun))
		var sel selection.Selector
		for _, u := range res.Unrun {
			i := slices.IndexFunc(jobs, func(j workload.Job) bool { return j.ID == u.ID })
			_, ok, err := sel.Select(mustTable(t, nodes), &jobs[i].Request, nil, nil)
			require.NoError(t, err)
			require.False(t, ok, "%s does not run though Slurm finds it a place: %s", u.ID, u.Reason)
		}
		for _, r := range got {
			require.GreaterOrEqual(t, r.Start, r.Submit)
			require.Equal(t, max(1, min(r.Job.Duration, r.Job.TimeLimit)), r.End-r.Start)
		}
		checkLoad(t, nodes, got)
	})
}

// checkLoad adds up, second by second of a start, what all jobs hold.
func checkLoad(t *rapid.T, nodes []nodeset.Capacity, got map[string]Record) {
	for _, at := range got {
		load := make([]int, len(nodes))
		for _, r := range got {
			if r.Start <= at.Start && at.Start < r.End {
				for _, s := range r.Segs {
					for n := s.First; n <= s.Last; n++ {
						load[n] += int(s.Cores)
					}
				}
			}
		}
		for n, l := range load {
			require.LessOrEqual(t, l, int(nodes[n].Cores), "node %d at %d", n, at.Start)
		}
	}
}

// Jobs that differ in name only may come in any order of the file.
func TestOrderOfEqualJobsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		for i := range jobs {
			jobs[i].Priority = int64(1000 - i)
		}
		var twins []workload.Job
		for i, j := range jobs {
			twins = append(twins, j, j)
			twins[len(twins)-1].ID = fmt.Sprint("K", i)
		}
		shuffled := rapid.Permutation(twins).Draw(t, "order")
		slices.SortStableFunc(shuffled, func(a, b workload.Job) int { return int(a.Submit/200 - b.Submit/200) })
		measure := func(jobs []workload.Job) Result {
			_, res := records(t, backfill(t, nil), nodes, jobs)
			res.CycleMsP50, res.CycleMsP99, res.CycleMsMax, res.Unrun = 0, 0, 0, nil
			return *res
		}
		require.Equal(t, measure(twins), measure(shuffled))
	})
}

func TestQueueIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var twin []*core.Job
		number := map[*core.Job]int32{}
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(twin) > 0 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				at := rapid.IntRange(0, len(twin)-1).Draw(t, "at")
				q.remove(at)
				twin = slices.Delete(twin, at, at+1)
				continue
			}
			j := &core.Job{Priority: rapid.Int64Range(1, 6).Draw(t, "priority")}
			number[j] = int32(i)
			q.push(j, int32(i))
			twin = append(twin, j)
			slices.SortStableFunc(twin, func(a, b *core.Job) int { return int(b.Priority - a.Priority) })
		}
		require.Len(t, q.jobs, len(twin))
		for i, j := range q.jobs {
			require.Same(t, twin[i], j)
			require.Equal(t, number[j], q.numbers[i])
		}
	})
}

func TestMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 80).Draw(t, "nanoseconds")
		var m moments
		mean := 0.0
		for _, v := range ns {
			m.add(float64(v))
			mean += float64(v) / float64(len(ns))
		}
		variance := 0.0
		for _, v := range ns {
			variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(ns))
		}
		require.InEpsilon(t, mean+1, m.mean+1, 1e-9)
		require.InEpsilon(t, math.Sqrt(variance)+1, m.std()+1, 1e-6)
	})
}

func TestQuantile(t *testing.T) {
	require.Zero(t, quantile(nil, 0.5))
	for q, want := range map[float64]time.Duration{0: 1, 0.25: 1, 0.5: 2, 0.51: 3, 0.99: 4, 1: 4} {
		require.Equal(t, want, quantile([]time.Duration{1, 2, 3, 4}, q))
	}
}

func TestTally(t *testing.T) {
	var y tally
	for range 4 {
		y.add(1<<50, 1<<30)
	}
	require.Equal(t, math.Ldexp(1, 82), y.float())
}

func ExampleRun() {
	policy, _ := NewBackfill(DefaultBackfill())
	jobs := []workload.Job{
		{Job: core.Job{ID: "wide", Request: bids.Request{Cores: 8}, Priority: 2, TimeLimit: 60}, Duration: 60},
		{Job: core.Job{ID: "narrow", Request: bids.Request{Cores: 2}, Priority: 1, TimeLimit: 60}, Duration: 30},
	}
	machine := []nodeset.Capacity{{Cores: 4}, {Cores: 4}}
	res, err := Run(context.Background(), NewConfig(machine), policy, jobs)
	fmt.Println(res.Jobs, res.Runtime, res.WaitMean, err)
	// Output: 2 90 30 <nil>
}

// A job that leaves while it waits has kept the others waiting until then; one that runs ends.
func TestJobsLeave(t *testing.T) {
	leaves := func(j workload.Job, at int64) workload.Job {
		j.Leaves = at
		return j
	}
	jobs := []workload.Job{
		jobOf(1, bids.Request{Cores: 3}, 0, 100, 100),
		leaves(jobOf(2, bids.Request{Cores: 4}, 10, 50, 50), 40),
		jobOf(3, bids.Request{Cores: 1}, 11, 200, 200),
		leaves(jobOf(4, bids.Request{Cores: 1}, 300, 100, 100), 350),
	}
	starts, ends := startsOf(t, backfill(t, nil), nil, jobs...)
	require.Equal(t, map[string]int64{"J1": 0, "J3": 40, "J4": 300}, starts)
	require.Equal(t, int64(350), ends["J4"])

	for _, bad := range []int64{-1, 9, maxTime + 1} {
		jobs[1].Leaves = bad
		_, err := Run(context.Background(), NewConfig(nodesOf([3]int{4, 1, 0})), backfill(t, nil), jobs)
		require.ErrorContains(t, err, "leaves")
	}
}

// eager is a policy that wants to decide again after each second, and starts nothing.
type eager struct{ now int64 }

func (*eager) Name() string { return "eager" }

func (e *eager) Decide(_ context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) error {
	e.now, p.Decisions = s.Now, p.Decisions[:0]
	return nil
}

func (e *eager) Again() int64 { return e.now + 1 }

// A policy that paces itself is not asked for ever either.
func TestPacedPolicyEnds(t *testing.T) {
	res, err := Run(context.Background(), NewConfig(nodesOf([3]int{1, 4, 0})), new(eager), []workload.Job{jobOf(1, bids.Request{Cores: 1}, 0, 1, 1)})
	require.NoError(t, err)
	require.Len(t, res.Unrun, 1)
}
