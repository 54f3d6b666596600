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
		behind, cores int
		now           weights
	}{
		{0, 1000, finishSoon},
		{6, 1000, weights{1 + 499*0.2, 0.2}},
		{15, 1000, weights{250.5, 0.5}},
		{30, 1000, keepFiles},
		{5000, 1000, keepFiles},
	} {
		now, later := lead(Demand{Behind: c.behind, Cores: c.cores, Queued: c.behind + 1})
		require.Equal(t, keepFiles, between(later), "nodes that are busy are ranked as by LEA")
		require.InDelta(t, c.now.load, between(now).load, 1e-9, "%d behind", c.behind)
		require.InDelta(t, c.now.evict, between(now).evict, 1e-9, "%d behind", c.behind)
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
			of, from   Rule
			now, later float64
		}{{EFT, LEA, 0, 0}, {LEA, EFT, 1, 1}, {LEO, LEO, 0, 1}}).Draw(t, "end")
		var want, got []Start
		o.Policy.Rule, o.OnStart = end.of, started(&want)
		_, wantErr := Simulate(context.Background(), nodes, jobs, o)
		o.Policy.Rule, o.OnStart = end.from, started(&got)
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
		o.Policy.Rule, o.Mode = LEAD, Paper
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
			return lead(d)
		}
		require.NoError(t, r.run(context.Background()))
	})
}

// Job 2 shares job 1's file, for which it waits only if job 3 can have the other node meanwhile.
func TestLeadByHand(t *testing.T) {
	nodes := []Node{{ID: 0, Memory: 128, Bandwidth: 0.1, Cores: 1}, {ID: 1, Memory: 128, Bandwidth: 0.1, Cores: 1}}
	job := func(id, submit, file int64) Job {
		return Job{ID: id, Submit: submit, Duration: 100, WallTime: 200, Cores: 1, File: file, FileSize: 1, Class: Evaluated}
	}
	where := func(rule Rule, jobs ...Job) (out [][2]int64) {
		_, err := Simulate(context.Background(), nodes, jobs, Options{Policy: Policy{Rule: rule}, OnStart: func(s Start) { out = append(out, [2]int64{jobs[s.Job].ID, int64(s.Node)}) }})
		require.NoError(t, err)
		return out
	}
	alone, followed := []Job{job(1, 0, 1), job(2, 50, 1)}, []Job{job(1, 0, 1), job(2, 50, 1), job(3, 50, 2)}
	require.Equal(t, [][2]int64{{1, 0}, {2, 1}}, where(LEAD, alone...))
	require.Equal(t, [][2]int64{{1, 0}, {3, 1}, {2, 0}}, where(LEAD, followed...))
	require.Equal(t, [][2]int64{{1, 0}, {2, 0}}, where(LEA, alone...))
	require.Equal(t, [][2]int64{{1, 0}, {2, 1}, {3, 0}}, where(LEO, followed...))
}
