// SPDX-License-Identifier: BSD-3-Clause

// Package shares measures what becomes of fair shares: a site whose users ask for more than they
// are owed, each in another measure, under priorities that fall as they use it.
package shares

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// The site: so many users, on a machine of whole nodes, for so many days. What the first day brings
// does not count.
const (
	Users, Nodes, Cores = 20, 64, 32
	Days                = 4
	day                 = 24 * 3600
	// HalfLife is Slurm's PriorityDecayHalfLife, and Period its PriorityCalcPeriod, in seconds.
	HalfLife, Period = day, 300
	// weights of fair share, and of a week's age
	fairWeight, ageWeight = 100_000, 10_000
)

// Result is what a policy made of the site.
type Result struct {
	// Off is by what share of the machine's use users had more than they were owed, all together.
	Off float64
	// Least is the least that a user had of what he was owed, 1 if all of it.
	Least float64
	// Use is that of the cores.
	Use float64
	// Wait is the mean of waits in seconds, of jobs that came before the last day.
	Wait float64
	// Passed is the share of jobs whose place one of lower priority took: it started, on no fewer
	// nodes than the job asked for and for no shorter a time, in a cycle that left the job waiting.
	Passed float64
}

// site is one under way: priorities, and the policy that is looked at.
type site struct {
	core.Policy
	owed, used [Users]float64 // the latter decayed, in core seconds
	had        [Users]float64 // from the first day to the last
	user       map[string]int
	last       int64
	running    map[int]int // cores by user since
	passed     map[string]bool
}

// Run has a policy schedule what a seed draws.
func Run(ctx context.Context, policy core.Policy, seed uint64) (*Result, error) {
	s := &site{Policy: policy, user: map[string]int{}, running: map[int]int{}, passed: map[string]bool{}}
	jobs := s.draw(seed)
	nodes := make([]nodeset.Capacity, Nodes)
	for n := range nodes {
		nodes[n] = nodeset.Capacity{Cores: Cores}
	}
	cfg := sim.NewConfig(nodes)
	cfg.Interval, cfg.Priorities, cfg.PriorityPeriod, cfg.Seed = 30, s, Period, seed
	waits, waited := 0.0, 0
	cfg.OnEnd = func(r sim.Record) {
		if r.Submit >= day && r.Submit < (Days-1)*day {
			waits, waited = waits+float64(r.Start-r.Submit), waited+1
		}
	}
	if _, err := sim.Run(ctx, cfg, s, jobs); err != nil {
		return nil, err
	}
	all, r := 0.0, &Result{Least: math.Inf(1)}
	for _, x := range s.had {
		all += x
	}
	for u, x := range s.had {
		r.Off += max(x/all-s.owed[u], 0)
		r.Least = min(r.Least, x/all/s.owed[u])
	}
	r.Use, r.Wait = all/(Nodes*Cores*(Days-1)*day), waits/float64(max(waited, 1))
	r.Passed = float64(len(s.passed)) / float64(len(jobs))
	return r, nil
}

// Decide implements [core.Policy]: it counts what runs, and looks at whom the plan passes over.
func (s *site) Decide(ctx context.Context, x *core.Snapshot, l core.Limits, p *core.Plan) error {
	s.use(x.Now)
	clear(s.running)
	for i := range x.Running {
		s.run(x.Running[i].ID, x.Running[i].Segs)
	}
	if err := s.Policy.Decide(ctx, x, l, p); err != nil {
		return err
	}
	starts := map[int]bool{}
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Start {
			starts[d.Job] = true
			s.run(x.Pending[d.Job].ID, d.Segs)
		}
	}
	for i, j := range x.Pending {
		for k := range starts {
			b := x.Pending[k]
			if !starts[i] && b.Priority < j.Priority && b.MinNodes >= j.MinNodes && b.TimeLimit >= j.TimeLimit {
				s.passed[j.ID] = true
			}
		}
	}
	return nil
}

func (s *site) run(id string, segs []nodeset.Segment) { s.running[s.user[id]] += nodeset.Cores(segs) }

// use counts what has run since the last time.
func (s *site) use(now int64) {
	decay := math.Exp2(-float64(now-s.last) / HalfLife)
	counts := max(min(now, Days*day)-max(s.last, day), 0)
	for u := range s.used {
		s.used[u] = s.used[u]*decay + float64(s.running[u])*float64(now-s.last)
		s.had[u] += float64(s.running[u]) * float64(counts)
	}
	s.last = now
}

// Priority implements [sim.Priorities]: 2^(-usage/shares), as in priority/multifactor without
// fair tree, and age.
func (s *site) Priority(j *workload.Job, now int64) int64 {
	all, u := 1.0, s.user[j.ID]
	for _, x := range s.used {
		all += x
	}
	fair := math.Exp2(-s.used[u] / all / s.owed[u])
	age := min(float64(now-j.Submit)/replay.DefaultMaxAge, 1)
	return 1 + int64(float64(fairWeight*fair)+float64(ageWeight*age))
}

// draw draws what users are owed, and their jobs: of each 1 to 4 times what he is owed.
func (s *site) draw(seed uint64) (jobs []workload.Job) {
	rng, sum := rand.New(rand.NewPCG(seed, 20)), 0.0
	for u := range s.owed {
		s.owed[u] = math.Pow(16, rng.Float64())
		sum += s.owed[u]
	}
	for u := range s.owed {
		s.owed[u] /= sum
		work := s.owed[u] * Nodes * Days * day * math.Pow(4, rng.Float64())
		for work > 0 {
			nodes := int(math.Pow(32, rng.Float64()))
			length := int64(min(max(-math.Log(1-rng.Float64())*3600, 60), 24*3600))
			j := workload.Job{Submit: int64(rng.Float64() * Days * day), Duration: length}
			j.Priority = 1 // until it is ranked
			j.TimeLimit = int64(float64(length) * (1 + 2*rng.Float64()))
			j.Request = bids.Request{Cores: nodes * Cores, MinNodes: nodes, MaxNodes: nodes, TasksPerNode: Cores}
			j.User, j.ID = fmt.Sprintf("u%d", u+1), fmt.Sprintf("u%d-%d", u+1, len(jobs)+1)
			s.user[j.ID] = u
			jobs = append(jobs, j)
			work -= float64(nodes) * float64(length)
		}
	}
	slices.SortStableFunc(jobs, func(a, b workload.Job) int { return int(a.Submit - b.Submit) })
	return jobs
}
