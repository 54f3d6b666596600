// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawCluster draws a few nodes that are not all alike.
func drawCluster(t *rapid.T) []Node {
	n := rapid.IntRange(1, 9).Draw(t, "nodes")
	bandwidth := rapid.SampledFrom([]float64{0.1, 0.25, 1}).Draw(t, "bandwidth")
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: i, Memory: 128, Bandwidth: bandwidth, Cores: 4}
	}
	if rapid.Bool().Draw(t, "mixed") {
		for i := range nodes {
			nodes[i].Cores = rapid.IntRange(4, 6).Draw(t, "cores")
			nodes[i].Memory = rapid.SampledFrom([]float64{128, 256}).Draw(t, "memory")
			nodes[i].Bandwidth = rapid.SampledFrom([]float64{0.1, 0.2}).Draw(t, "link")
		}
	}
	return nodes
}

// drawJobs draws jobs of all classes that share few files, many of them submitted together.
func drawJobs(t *rapid.T, nodes int) []Job {
	count := rapid.IntRange(1, 60).Draw(t, "jobs")
	files := rapid.IntRange(1, 6).Draw(t, "files")
	start := rapid.SampledFrom([]int64{0, 1000, 20_000_000}).Draw(t, "t0")
	sizes := make([]float64, files+1)
	for i := 1; i <= files; i++ {
		sizes[i] = float64(rapid.IntRange(0, 40).Draw(t, "size")) * 0.8
	}
	jobs := make([]Job, count)
	at := start
	for i := range jobs {
		wall := int64(rapid.IntRange(1, 400).Draw(t, "wall"))
		j := Job{
			ID: int64(i + 1), Submit: at, WallTime: wall, Duration: int64(rapid.IntRange(1, 450).Draw(t, "duration")),
			Cores: rapid.IntRange(1, 4).Draw(t, "cores"), File: int64(rapid.IntRange(0, files).Draw(t, "file")),
		}
		j.FileSize = sizes[j.File]
		switch {
		case i < count/5:
			j.Class, j.Started, j.StartNode = Running, start-int64(rapid.IntRange(0, 50).Draw(t, "ago")),
				rapid.IntRange(1, 2*nodes).Draw(t, "node")
		case i < count/3:
			j.Class = WarmUp
		default:
			j.Class = Evaluated
		}
		if i >= count/5 && rapid.Bool().Draw(t, "later") {
			at += int64(rapid.IntRange(0, 200).Draw(t, "gap"))
			j.Submit = at
		}
		jobs[i] = j
	}
	jobs[count-1].Class = Evaluated
	return jobs
}

// started is a Start with its own copy of the cores.
func started(into *[]Start) func(Start) {
	return func(s Start) {
		s.Cores = slices.Clone(s.Cores)
		*into = append(*into, s)
	}
}

// drawOptions draws one of the twenty schedulers.
func drawOptions(t *rapid.T) Options {
	return Options{Policy: rapid.SampledFrom(Policies()).Draw(t, "policy"),
		Mode: rapid.SampledFrom([]Mode{Paper, Reference}).Draw(t, "mode")}
}

// drawKeep draws a rule whose weights are far apart for nodes that are free now and for others, and
// change with the queue.
func drawKeep(t *rapid.T) Keep {
	shares := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.002, 0.02, 0.2, 1}), 3, 3).Draw(t, "shares")
	return func(d Demand) (now, later float64) {
		if d.Behind > d.Cores/2 {
			return shares[0], shares[1]
		}
		return shares[2], shares[1]
	}
}

// The search that looks at few nodes decides as the plain scan of all nodes does, which in the
// paper mode also plans the whole queue at each event.
func TestSearchIsPlainScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawCluster(t)
		jobs := drawJobs(t, len(nodes))
		o := drawOptions(t)
		if strings.HasPrefix(o.Policy, "lead") {
			o.Keep = drawKeep(t)
		}
		requireAsPlain(t, nodes, jobs, o)
	})
}

// requireAsPlain has a simulation take the decisions of one that looks at all nodes for each job.
func requireAsPlain(t require.TestingT, nodes []Node, jobs []Job, o Options, args ...any) {
	var fast, plain []Start
	o.OnStart = started(&fast)
	got, err := Simulate(context.Background(), nodes, jobs, o)
	o.plain, o.OnStart = true, started(&plain)
	want, plainErr := Simulate(context.Background(), nodes, jobs, o)
	require.Equal(t, plainErr, err, args...)
	require.Equal(t, plain, fast, args...)
	require.Equal(t, want, got, args...)
}

// In single precision the score of a late second can be below it: 20000001 counts as 20000000. A
// bound that forgot this chose other nodes than the plain scan.
func TestSearchOfLateSeconds(t *testing.T) {
	nodes := make([]Node, 9)
	for i := range nodes {
		nodes[i] = Node{ID: i, Memory: 128, Bandwidth: 0.1, Cores: 4}
	}
	jobs := make([]Job, 27)
	for i := range jobs {
		jobs[i] = Job{ID: int64(i + 1), Submit: 20_000_000, WallTime: 1, Duration: 1, Cores: 1, Class: Evaluated}
		switch {
		case i < 5:
			jobs[i].Class, jobs[i].Started, jobs[i].StartNode = Running, 20_000_000, 1
		case i < 9:
			jobs[i].Class = WarmUp
		case i == 21 || i == 22:
			jobs[i].Cores = 2
		}
	}
	var fast, plain []Start
	o := Options{Policy: "eft", Mode: Reference, OnStart: started(&fast)}
	_, err := Simulate(context.Background(), nodes, jobs, o)
	require.NoError(t, err)
	o.plain, o.OnStart = true, started(&plain)
	_, err = Simulate(context.Background(), nodes, jobs, o)
	require.NoError(t, err)
	require.Equal(t, plain, fast)
}

// No core runs two jobs at once, no job starts before its submission, and each runs as
// long as section 3 says.
func TestScheduleIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawCluster(t)
		jobs := drawJobs(t, len(nodes))
		o := drawOptions(t)
		var starts []Start
		o.OnStart = started(&starts)
		_, err := Simulate(context.Background(), nodes, jobs, o)
		if o.Mode == Reference && err != nil {
			return // the programme's stale reservations; it ends as well
		}
		require.NoError(t, err)
		require.NoError(t, verify(nodes, jobs, starts))
	})
}

// verify is a dumb judge of a schedule, which knows nothing of planning.
func verify(nodes []Node, jobs []Job, starts []Start) error {
	begin := int64(-1)
	for _, j := range jobs {
		if begin < 0 && j.Class == WarmUp {
			begin = j.Submit
		}
	}
	seen := map[int]bool{}
	evaluated := 0
	for i, s := range starts {
		j := jobs[s.Job]
		if seen[s.Job] {
			return fmt.Errorf("job %d starts twice", j.ID)
		}
		seen[s.Job] = true
		if j.Class == Evaluated {
			evaluated++
		}
		if s.At < j.Submit && j.Class != Running {
			return fmt.Errorf("job %d starts at %d, before its submission", j.ID, s.At)
		}
		if j.Class != Running && s.End-s.At != min(j.WallTime, j.Duration+s.Transfer+s.LoadWait) {
			return fmt.Errorf("job %d runs for %d s", j.ID, s.End-s.At)
		}
		if len(s.Cores) != j.Cores {
			return fmt.Errorf("job %d has %d cores", j.ID, len(s.Cores))
		}
		for k, id := range s.Cores {
			if int(id) >= nodes[s.Node].Cores || slices.Contains(s.Cores[:k], id) {
				return fmt.Errorf("job %d has cores %v", j.ID, s.Cores)
			}
		}
		for _, o := range starts[:i] {
			if o.Node == s.Node && o.At < s.End && s.At < o.End && slices.ContainsFunc(s.Cores,
				func(c uint16) bool { return slices.Contains(o.Cores, c) }) {
				return fmt.Errorf("jobs %d and %d share a core of node %d", jobs[o.Job].ID, j.ID, s.Node)
			}
		}
	}
	for _, j := range jobs {
		if j.Class == Evaluated {
			evaluated--
		}
	}
	if evaluated != 0 {
		return fmt.Errorf("%d evaluated jobs did not start", -evaluated)
	}
	return nil
}

// Conservative backfilling never delays a reservation: in each pass, each place that a job is given
// is free of what runs and of what jobs before it in the queue were given.
func TestBackfillingKeepsReservations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawCluster(t)
		jobs := drawJobs(t, len(nodes))
		r, err := newRun(nodes, jobs,
			Options{Policy: policy{rule(rapid.IntRange(0, 4).Draw(t, "rule")), true}.String(),
				Mode: Paper})
		require.NoError(t, err)
		type held struct {
			node     int32
			core     uint16
			from, to int64
		}
		var running, reserved []held
		pass := int64(-1)
		take := func(into *[]held, node int32, ids []uint16, from, to int64) {
			for _, id := range ids {
				for _, h := range append(running, reserved...) {
					require.False(t, h.node == node && h.core == id && h.from < to && from < h.to, "core %d of node %d: %v", id, node, h)
				}
				*into = append(*into, held{node, id, from, to})
			}
		}
		r.onPlan = func(j *job) {
			if pass != r.gaps.pass {
				pass, reserved = r.gaps.pass, nil
				running = nil
				for i := range r.jobs {
					if o := r.jobs[i]; o != nil && o.started && o.end > r.now {
						take(&running, o.node, o.ids, o.start, o.start+o.wall)
					}
				}
			}
			require.GreaterOrEqual(t, j.start, r.now)
			take(&reserved, j.node, j.ids, j.start, j.start+j.wall)
		}
		require.NoError(t, r.run(context.Background()))
	})
}

// Where jobs run for all of their wall time, those that come later change nothing for earlier ones.
func TestLaterJobsDelayNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawCluster(t)
		jobs := drawJobs(t, len(nodes))
		for i := range jobs {
			jobs[i].Duration = jobs[i].WallTime
			jobs[i].Class = max(jobs[i].Class, Evaluated)
		}
		o := Options{Policy: policy{fcfs, rapid.Bool().Draw(t, "backfill")}.String(), Mode: Paper}
		some := jobs[:rapid.IntRange(1, len(jobs)).Draw(t, "some")]
		at := map[int]int64{}
		o.OnStart = func(s Start) { at[s.Job] = s.At }
		_, err := Simulate(context.Background(), nodes, some, o)
		require.NoError(t, err)
		o.OnStart = func(s Start) {
			if s.Job < len(some) {
				require.Equal(t, at[s.Job], s.At, "job %d", jobs[s.Job].ID)
			}
		}
		_, err = Simulate(context.Background(), nodes, jobs, o)
		require.NoError(t, err)
	})
}
