// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLeadWeights(t *testing.T) {
	for _, c := range []struct {
		behind, idle int // of 1000 cores
		now          weights
	}{
		{0, 0, finishSoon},
		{6, 0, weights{1 + 499*0.2, 0.2}},
		{15, 50, weights{250.5, 0.5}},
		{30, 100, keepFiles},
		{5000, 0, keepFiles},
		{5000, 200, weights{250.5, 0.5}},
		{15, 200, weights{1 + 499*0.25, 0.25}},
		{5000, 300, finishSoon},
		{5000, 1000, finishSoon},
	} {
		now, later := keepByLoad(Demand{Behind: c.behind, Cores: 1000, IdleCores: c.idle, Queued: c.behind + 1})
		require.Equal(t, keepFiles, between(later), "nodes that are busy are ranked as by LEA")
		require.InDelta(t, c.now.load, between(now).load, 1e-9, "%d behind, %d idle", c.behind, c.idle)
		require.InDelta(t, c.now.evict, between(now).evict, 1e-9, "%d behind, %d idle", c.behind, c.idle)
	}
	require.Equal(t, finishSoon, between(-1))
	require.Equal(t, finishSoon, between(math.NaN()))
}

// At its ends a rule is EFT, LEO or LEA, start for start.
func TestKeepAtItsEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawCluster(t)
		jobs := drawJobs(t, len(nodes))
		o := drawOptions(t)
		end := rapid.SampledFrom([]struct {
			of, from   string
			now, later float64
		}{{"eft", "lea", 0, 0}, {"lea", "eft", 1, 1}, {"leo", "leo", 0, 1}}).Draw(t, "end")
		twin := rapid.SampledFrom([]string{"", backfillSuffix}).Draw(t, "twin")
		var want, got []Start
		o.Policy, o.OnStart = end.of+twin, started(&want)
		_, wantErr := Simulate(context.Background(), nodes, jobs, o)
		o.Policy, o.OnStart = end.from+twin, started(&got)
		o.Keep = func(Demand) (float64, float64) { return end.now, end.later }
		_, err := Simulate(context.Background(), nodes, jobs, o)
		require.Equal(t, wantErr, err)
		require.Equal(t, want, got)
	})
}

// What a rule is told is what a dumb count of queue and cores comes to.
func TestDemand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawCluster(t)
		jobs := drawJobs(t, len(nodes))
		o := drawOptions(t)
		o.Policy, o.Mode = rapid.SampledFrom([]string{"lead", "lead-bf"}).Draw(t, "lead"), Paper
		r, err := newRun(nodes, jobs, o)
		require.NoError(t, err)
		r.keep = func(d Demand) (float64, float64) {
			want := Demand{Job: d.Job, Nodes: len(nodes), BusyNodes: d.BusyNodes, Load: d.Load}
			here := false
			for _, i := range r.queue.jobs {
				if j := r.jobs[i]; j != nil && !j.started {
					want.Queued += j.Cores
					if here {
						want.Behind += j.Cores
					}
					here = here || j.Job == d.Job
				}
			}
			for n := range nodes {
				want.Cores += nodes[n].Cores
				want.IdleCores += nodes[n].Cores
			}
			for i := range r.jobs {
				if j := r.jobs[i]; j != nil && j.started && j.end > r.now {
					want.IdleCores -= j.Cores
				}
			}
			for _, i := range r.starting {
				want.IdleCores -= r.jobs[i].Cores // they start now
			}
			require.Equal(t, want, d)
			return keepByLoad(d)
		}
		require.NoError(t, r.run(context.Background()))
	})
}

// Job 2 shares job 1's file, for which it waits only if job 3 can have the last
// free node meanwhile.
func TestLeadByHand(t *testing.T) {
	nodes := make([]Node, 10)
	for i := range nodes {
		nodes[i] = Node{ID: i, Memory: 128, Bandwidth: 0.1, Cores: 1}
	}
	job := func(id, submit, file int64) Job {
		return Job{ID: id, Submit: submit, Duration: 100, WallTime: 200, Cores: 1, File: file, FileSize: 1, Class: Evaluated}
	}
	one, two, three := job(1, 0, 1), job(2, 50, 1), job(3, 50, 2)
	// where is on which nodes jobs 1 to 3 start, in the order of their starts, others taking that
	// many nodes for long.
	where := func(policy string, others int, jobs ...Job) (out [][2]int64) {
		var all []Job
		for i := range others {
			other := job(int64(10+i), 0, int64(10+i))
			other.Duration, other.WallTime = 10000, 10000
			all = append(all, other)
		}
		all = append(all, jobs...)
		_, err := Simulate(context.Background(), nodes, all, Options{Policy: policy, OnStart: func(s Start) {
			if id := all[s.Job].ID; id < 10 {
				out = append(out, [2]int64{id, int64(s.Node)})
			}
		}})
		require.NoError(t, err)
		return out
	}
	require.Equal(t, [][2]int64{{1, 8}, {2, 9}}, where("lead", 8, one, two), "nobody is behind")
	require.Equal(t, [][2]int64{{1, 8}, {3, 9}, {2, 8}}, where("lead", 8, one, two, three))
	require.Equal(t, [][2]int64{{1, 6}, {2, 7}, {3, 8}}, where("lead", 6, one, two, three), "there is a node for job 3 as well")
	require.Equal(t, [][2]int64{{1, 8}, {2, 8}}, where("lea", 8, one, two))
	require.Equal(t, [][2]int64{{1, 6}, {3, 7}, {2, 6}}, where("lea", 6, one, two, three))
	require.Equal(t, [][2]int64{{1, 8}, {2, 9}, {3, 8}}, where("leo", 8, one, two, three))
}
