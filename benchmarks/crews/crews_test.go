// SPDX-License-Identifier: BSD-3-Clause

package crews

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// watched is a policy whose cycles are looked at.
type watched struct {
	core.Policy
	look func(s *core.Snapshot, p *core.Plan)
}

func (w watched) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	err := w.Policy.Decide(ctx, s, l, p)
	w.look(s, p)
	return err
}

// both are a policy that preempts as Slurm does, and one that does by prices.
func both(t require.TestingT) []core.Policy {
	b, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	return []core.Policy{b, a}
}

// malleable is a job that can run on least to most nodes of one core.
func malleable(id, cores int, submit, duration, limit int64, least, most int) workload.Job {
	j := jobOf(id, bids.Request{Cores: cores}, submit, duration, limit)
	j.Span = workload.Span{Least: least, Most: most}
	return j
}

// setting is a configuration of nodes of one core, and how malleable jobs are there.
type setting struct {
	sim.Config
	own Options
}

func crewConfig(nodes int) setting {
	cfg := setting{sim.NewConfig(singles(nodes)), Default()}
	cfg.Interval = 5
	return cfg
}

func (s *setting) run(t require.TestingT, p core.Policy, jobs []workload.Job) (*sim.Result, error) {
	s.Crews = s.own.For
	return sim.Run(context.Background(), s.Config, p, jobs)
}

// singles are nodes of one core.
func singles(n int) []nodeset.Capacity { return slices.Repeat([]nodeset.Capacity{{Cores: 1}}, n) }

// jobOf is a job as id, of equal priority with others in order of submission.
func jobOf(id int, r bids.Request, submit, duration, limit int64) workload.Job {
	return workload.Job{Job: core.Job{ID: fmt.Sprintf("J%d", id), Request: r, Priority: int64(1000 - id), TimeLimit: limit},
		Submit: submit, Duration: duration}
}

// Worked by hand. Job 1 asks for 2 nodes for 100 s, so that its work is 200 node seconds, and can
// run on 1 to 4. It starts at 0 on one node and asks for 3 companions in second 1, which start at
// 5: 5 are done, and nothing is until 6. Job 2 comes at 12 and preempts two of the companions at
// 15: 5 + 9 x 4 = 41 are done. Their nodes are free at 16, so job 2 starts at 20 and ends at 40.
// Their places, asked for again at 26, are filled at 40: from 16 on 24 x 2 = 48 were done, 89 in
// all. The last 111 take 28 s of 4 nodes from 41 on.
func TestCrewOnPaper(t *testing.T) {
	for _, p := range both(t) {
		cfg := crewConfig(4)
		got := map[string]sim.Record{}
		cfg.OnEnd = func(r sim.Record) { got[r.Job.ID] = r }
		jobs := []workload.Job{malleable(1, 2, 0, 100, 100, 1, 4), jobOf(2, bids.Request{Cores: 2}, 12, 20, 20)}
		r, err := cfg.run(t, p, jobs)
		require.NoError(t, err, p.Name())
		require.Len(t, got, 2)
		require.Equal(t, [4]int64{0, 69, 20, 40}, [4]int64{got["J1"].Start, got["J1"].End, got["J2"].Start, got["J2"].End}, p.Name())
		require.Equal(t, &sim.CrewUse{
			Jobs: 1, Companions: 5, Preempted: 2, Changes: 3,
			Held: 69 + 64 + 2*11 + 2*29, Lost: 4 + 4 + 4,
			Malleable: sim.JobTimes{Wait: 0, Turnaround: 69}, Rigid: sim.JobTimes{Wait: 8, Turnaround: 28},
		}, r.Crews, p.Name())
		require.InDelta(t, (0.69+(8+20)/20.0)/2, r.SlowdownMean, 1e-12, "relative to the rigid job")
		require.InDelta(t, (2*100+2*20)/(4.0*69), r.CPUUtilization, 1e-12)
	}
}

// A companion that comes to its limit leaves before, and is asked for again 10
// s after it has ended.
func TestCompanionsComeToTheirLimit(t *testing.T) {
	cfg := crewConfig(2)
	cfg.own.Limit = 30
	var starts []int64
	p := watched{both(t)[0], func(s *core.Snapshot, p *core.Plan) {
		for i := range p.Decisions {
			if d := &p.Decisions[i]; d.Start && strings.Contains(s.Pending[d.Job].ID, "/") {
				starts = append(starts, s.Now)
			}
		}
	}}
	r, err := cfg.run(t, p, []workload.Job{malleable(1, 1, 0, 100, 100, 1, 2)})
	require.NoError(t, err)
	require.Equal(t, []int64{5, 45}, starts, "5 + 30 + 10")
	require.Equal(t, 3, r.Crews.Changes, "it leaves at 34")
	// 5 alone, 28 s with a second node from 6 on, 10 alone from 35 on: 71. The rest from 46 on.
	require.Equal(t, int64(46+(100-71+1)/2), r.Runtime)
	require.Equal(t, 2, r.Crews.Companions)
}

// crewTwin says when malleable jobs end from the decisions of a policy alone, second by second.
type crewTwin struct {
	cfg    *setting
	jobs   map[string]*workload.Job
	began  map[string]int64         // leads
	change map[string]map[int64]int // of each lead, by how many nodes
	since  map[string]int64         // companions that work
}

func (w *crewTwin) look(s *core.Snapshot, p *core.Plan) {
	waits := map[int]bool{}
	for _, x := range p.Preempted {
		id := s.Running[x.Running].ID
		if at, works := w.since[id]; works && at+w.cfg.own.Limit-w.cfg.own.Reconfigure > s.Now {
			w.change[leadOf(id)][s.Now]--
			delete(w.since, id)
		}
		for _, j := range x.For {
			waits[j] = true
		}
	}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if !d.Start || waits[d.Job] {
			continue
		}
		id := s.Pending[d.Job].ID
		if lead := leadOf(id); lead != id {
			w.leave(id)
			w.change[lead][s.Now]++
			w.since[id] = s.Now
		} else {
			w.began[id], w.change[id] = s.Now, map[int64]int{}
		}
	}
}

// leave books that a companion left at its limit, if it did.
func (w *crewTwin) leave(id string) {
	if at, works := w.since[id]; works {
		w.change[leadOf(id)][at+w.cfg.own.Limit-w.cfg.own.Reconfigure]--
		delete(w.since, id)
	}
}

func leadOf(id string) string {
	lead, _, _ := strings.Cut(id, "/")
	return lead
}

func (w *crewTwin) end(id string) int64 {
	j := w.jobs[id]
	f := float64(w.cfg.Serial) / 1000
	rate := func(n int) float64 { return 1 / (f + (1-f)/float64(n)) }
	left := float64(max(1, min(j.Duration, j.TimeLimit))) * rate(j.Cores)
	nodes, still := j.Span.Least, int64(0)
	for at := w.began[id]; ; at++ {
		if by, changes := w.change[id][at]; changes {
			nodes += by
			still = at + w.cfg.own.Reconfigure
		}
		if at >= still {
			left -= rate(nodes)
		}
		if left < 1e-6 {
			return at + 1
		}
	}
}

// Whatever comes, the simulator's referees find nothing wrong, every plan stands before the
// verifier, and malleable jobs end when a simple count says.
func TestCrewsAgainstATwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 8).Draw(t, "nodes")
		cfg := crewConfig(nodes)
		cfg.Interval = rapid.SampledFrom([]int64{1, 3, 5}).Draw(t, "interval")
		cfg.Serial = rapid.SampledFrom([]int{0, 0, 10, 300}).Draw(t, "serial")
		cfg.own.Reconfigure = rapid.Int64Range(0, 12).Draw(t, "reconfigure")
		cfg.own.Limit = cfg.own.Reconfigure + rapid.Int64Range(1, 100).Draw(t, "limit")
		var jobs []workload.Job
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			cores := rapid.IntRange(1, nodes).Draw(t, "cores")
			duration := rapid.Int64Range(1, 200).Draw(t, "duration")
			j := jobOf(i+1, bids.Request{Cores: cores}, rapid.Int64Range(0, 300).Draw(t, "submit"), duration,
				duration*rapid.Int64Range(1, 3).Draw(t, "limit"))
			if rapid.Bool().Draw(t, "malleable") {
				j.Span = workload.Span{Least: rapid.IntRange(1, cores).Draw(t, "least"), Most: rapid.IntRange(cores, nodes).Draw(t, "most")}
			}
			jobs = append(jobs, j)
		}
		for _, p := range both(t) {
			twin := &crewTwin{&cfg, map[string]*workload.Job{}, map[string]int64{}, map[string]map[int64]int{}, map[string]int64{}}
			for i := range jobs {
				twin.jobs[jobs[i].ID] = &jobs[i]
			}
			ended := 0
			cfg.OnEnd = func(r sim.Record) {
				ended++
				id := r.Job.ID
				if r.Job.Span == (workload.Span{}) {
					return
				}
				for companion := range twin.since {
					if leadOf(companion) == id {
						twin.leave(companion)
					}
				}
				require.Equal(t, twin.end(id), r.End, "job %s under %s", id, p.Name())
			}
			_, err := cfg.run(t, watched{p, func(s *core.Snapshot, plan *core.Plan) {
				require.NoError(t, core.Verify(s, plan), p.Name())
				twin.look(s, plan)
			}}, jobs)
			require.NoError(t, err, p.Name())
			require.Equal(t, len(jobs), ended, p.Name())
		}
	})
}

// Jobs of which none is malleable run as ever, bit for bit; so do rigid jobs before the first
// malleable one comes.
func TestRigidJobsAreAsEver(t *testing.T) {
	nodes := singles(32)
	w, err := generate.Lublin(generate.LublinOptions{Nodes: nodes, Load: 0.9, Jobs: 150, Seed: 7})
	require.NoError(t, err)
	run := func(p core.Policy, jobs []workload.Job) (string, []string) {
		cfg := crewConfig(32)
		cfg.Interval = 3
		var ends []string
		cfg.OnEnd = func(r sim.Record) { ends = append(ends, fmt.Sprint(r.Job.ID, r.Start, r.End, r.Segs)) }
		r, err := cfg.run(t, p, jobs)
		require.NoError(t, err)
		r.CycleMsP50, r.CycleMsP99, r.CycleMsMax = 0, 0, 0
		text, err := json.Marshal(r)
		require.NoError(t, err)
		return string(text), ends
	}
	for k := range both(t) {
		want, ends := run(both(t)[k], w.Jobs)
		m := generate.DefaultMalleability()
		none := append([]workload.Job(nil), w.Jobs...)
		made, err := m.Apply(nodes, none)
		require.NoError(t, err)
		require.Zero(t, made)
		got, again := run(both(t)[k], none)
		require.Equal(t, want, got)
		require.Equal(t, ends, again)
		late := append(none, malleable(999, 8, 1<<30, 100, 100, 2, 16))
		got, again = run(both(t)[k], late)
		require.Equal(t, ends, again[:len(ends)])
		require.Contains(t, got, `"malleable":{"jobs":1,`)
	}
}

// The same input gives the same schedule, and backfill's shortcuts change none.
func TestCrewsRepeat(t *testing.T) {
	nodes := singles(32)
	w, err := generate.Lublin(generate.LublinOptions{Nodes: nodes, Load: 1, Jobs: 100, Seed: 3})
	require.NoError(t, err)
	m := generate.DefaultMalleability()
	m.Share = 0.5
	_, err = m.Apply(nodes, w.Jobs)
	require.NoError(t, err)
	o := sim.DefaultBackfill()
	o.Plain = true
	plain, err := sim.NewBackfill(o)
	require.NoError(t, err)
	ends := func(p core.Policy) (out []string) {
		cfg := crewConfig(32)
		cfg.Interval = 3
		cfg.OnEnd = func(r sim.Record) { out = append(out, fmt.Sprint(r.Job.ID, r.Start, r.End, r.Segs)) }
		r, err := cfg.run(t, p, w.Jobs)
		require.NoError(t, err)
		require.Positive(t, r.Crews.Preempted, "else nothing is tried")
		return out
	}
	first, second := both(t), both(t)
	require.Equal(t, ends(first[0]), ends(second[0]))
	require.Equal(t, ends(first[1]), ends(second[1]))
	require.Equal(t, ends(both(t)[0]), ends(plain))
}

// What is wrong with malleable jobs is said.
func TestCrewsAreChecked(t *testing.T) {
	for _, x := range []struct {
		job    workload.Job
		change func(*setting)
		want   string
	}{
		{malleable(1, 2, 0, 10, 10, 3, 4), func(*setting) {}, "job J1: span: 3-4 nodes: must be around the 2 like nodes"},
		{malleable(1, 2, 0, 10, 10, 0, 4), func(*setting) {}, "span: 0-4"},
		{malleable(1, 2, 0, 10, 10, 1, 1), func(*setting) {}, "span: 1-1"},
		{malleable(1, 2, 0, 10, 10, 1, 4), func(c *setting) { c.own.Books = nil }, "nobody checks them"},
		{malleable(1, 2, 0, 10, 10, 1, 4), func(c *setting) { c.own.Limit = 1 }, "companions' limit: 1: must be between 2"},
		{malleable(1, 2, 0, 10, 10, 1, 4), func(c *setting) { c.own.Reconfigure = -1 }, "reconfiguration: -1"},
		{malleable(1, 2, 0, 10, 10, 1, 4), func(c *setting) { c.Release = 2 }, "nodes that are free later"},
		{malleable(1, 2, 0, 10, 10, 1, 4), func(c *setting) { c.Priorities = aging{} }, "priorities that change"},
		{malleable(1, 2, 0, 10, 10, 1, maxCompanions+2), func(*setting) {}, "more than 16777216 companions"},
	} {
		cfg := crewConfig(4)
		x.change(&cfg)
		_, err := cfg.run(t, both(t)[0], []workload.Job{x.job})
		require.ErrorContains(t, err, x.want)
	}
	// whom a plan stops has to have a price
	bad := scripted(func(s *core.Snapshot, p *core.Plan) error {
		p.Preempted = nil
		if len(s.Running) == 0 {
			p.Decisions = append(p.Decisions, core.Decision{Start: true, Segs: []nodeset.Segment{{Cores: 1}}})
			return nil
		}
		p.Preempted = []core.Preemption{{Running: 0, For: []int{0}}}
		return nil
	})
	cfg := crewConfig(4)
	_, err := cfg.run(t, bad, []workload.Job{malleable(1, 2, 0, 100, 100, 1, 4), malleable(2, 2, 0, 100, 100, 1, 4)})
	require.ErrorContains(t, err, "has no price")
}

// Amdahl's law: with a part that is serial fewer nodes do more each.
func TestCrewSpeed(t *testing.T) {
	require.Equal(t, 8.0, Speed(8, sim.LinearSpeedup))
	require.Equal(t, 1.0, Speed(8, sim.MaxSerial))
	require.InDelta(t, 1/(0.1+0.9/8), Speed(8, 100), 1e-12)
	require.False(t, math.IsInf(Speed(1<<20, 1), 0))
}

// aging ranks jobs anew.
type aging struct{}

func (aging) Priority(j *workload.Job, now int64) int64 { return 1 + max(now-j.Submit, 0) }

// scripted is a policy that does as a function says.
type scripted func(s *core.Snapshot, p *core.Plan) error

func (f scripted) Name() string { return "scripted" }

func (f scripted) Decide(_ context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) error {
	p.Decisions = p.Decisions[:0]
	return f(s, p)
}
