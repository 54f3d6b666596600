// SPDX-License-Identifier: BSD-3-Clause

// Package preemption measures what urgent jobs cost those whom they have stopped: a site of
// scavengers, which may be stopped and begin anew, and of urgent jobs, for which they are. A
// core.Cluster keeps the site, in simulated time.
package preemption

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// Site is a machine and what waits there.
type Site struct {
	// Name is that of the site.
	Name string
	// Nodes have Cores and GPUs each.
	Nodes       int
	Cores, GPUs int
	// Hours is for how long jobs come.
	Hours float64
	// Load is what scavengers ask for, as a share of all cores in that time.
	Load float64
	// Widest is of how many nodes a scavenger is at most; 0: of a part of a node.
	Widest int
	// Urgent is how many urgent jobs come, of up to Wide whole nodes each, or with PerGPU of one
	// GPU and few cores.
	Urgent, Wide int
	PerGPU       bool
}

// Sites are those of the page.
func Sites() []Site {
	return []Site{
		{Name: "parts of nodes", Nodes: 16, Cores: 32, Hours: 4, Load: 1.5, Urgent: 23, Wide: 2},
		{Name: "whole nodes", Nodes: 64, Cores: 32, Hours: 12, Load: 1.2, Widest: 8, Urgent: 60, Wide: 8},
		{Name: "wide urgent jobs", Nodes: 64, Cores: 32, Hours: 12, Load: 1.2, Widest: 2, Urgent: 12, Wide: 48},
		{Name: "GPUs", Nodes: 32, Cores: 64, GPUs: 4, Hours: 6, Load: 1.2, Urgent: 100, PerGPU: true},
	}
}

// Result is what a policy made of a site.
type Result struct {
	// UrgentMean, UrgentHigh and UrgentMost are the waits of urgent jobs in seconds: the mean, that
	// of the twentieth part that waits longest at least, and the longest.
	UrgentMean, UrgentHigh, UrgentMost float64
	// ScavengersMean is the mean of those of scavengers, from submission to the start of the run
	// that they end with.
	ScavengersMean float64
	// Stops are how often a job was stopped, Most how often the same one.
	Stops, Most int
	// Lost is what the runs that were stopped had had of the cores, as a share of what all runs had.
	Lost float64
	// Hours is until the last job has ended.
	Hours float64
}

// job is one of a site, and what became of it.
type job struct {
	spec    core.JobSpec
	urgent  bool
	come    time.Time
	runs    time.Duration
	cores   int
	started time.Time // of the run that is on
	ends    time.Time
	running bool
	stops   int
}

// Run has a policy schedule the jobs that a seed draws. Every plan is checked by core.Verify, as a
// Cluster does, and that nobody is stopped but scavengers, for urgent jobs.
func Run(ctx context.Context, site *Site, policy core.Policy, seed uint64) (*Result, error) {
	r := &run{site: site, jobs: site.draw(seed), by: map[string]*job{}, now: begin}
	var err error
	r.cluster, err = core.NewCluster(core.ClusterOptions{
		Policy: policy, Clock: func() time.Time { return r.now }, Seed: seed, StrictPreemption: true,
	})
	if err != nil {
		return nil, err
	}
	each := nodeset.Capacity{Cores: uint16(site.Cores), GPUs: uint8(site.GPUs)}
	for n := range site.Nodes {
		if err := r.cluster.SetNode(core.Node{Name: fmt.Sprintf("n%d", n+1), Capacity: each}); err != nil {
			return nil, err
		}
	}
	for _, j := range r.jobs {
		r.by[j.spec.ID] = j
	}
	for r.step() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.moment(ctx); err != nil {
			return nil, fmt.Errorf("%s after %v: %w", site.Name, r.now.Sub(begin), err)
		}
	}
	return r.result()
}

var begin = time.Unix(1_700_000_000, 0)

// run is a site under way.
type run struct {
	site        *Site
	cluster     *core.Cluster
	jobs        []*job // in the order in which they come
	by          map[string]*job
	come        int // how many have
	now         time.Time
	had, wasted float64 // core seconds
}

// step goes on to the next moment at which something happens. It reports false if nothing will.
func (r *run) step() bool {
	next, some := time.Time{}, false
	look := func(t time.Time) {
		if !some || t.Before(next) {
			next, some = t, true
		}
	}
	if r.come < len(r.jobs) {
		look(r.jobs[r.come].come)
	}
	for _, j := range r.jobs[:r.come] {
		if j.running {
			look(j.ends)
		}
	}
	if some {
		r.now = next
	}
	return some
}

// moment has jobs end and come, and the cluster decide until nobody is stopped any more.
func (r *run) moment(ctx context.Context) error {
	for _, j := range r.jobs[:r.come] {
		if j.running && !j.ends.After(r.now) {
			j.running = false
			r.had += float64(j.cores) * j.runs.Seconds()
			if err := r.cluster.Ended(j.spec.ID); err != nil {
				return err
			}
		}
	}
	for ; r.come < len(r.jobs) && !r.jobs[r.come].come.After(r.now); r.come++ {
		if err := r.cluster.Submit(r.jobs[r.come].spec); err != nil {
			return err
		}
	}
	for range most {
		if err := r.price(); err != nil {
			return err
		}
		cycle, err := r.cluster.Decide(ctx)
		if err != nil {
			return err
		}
		for _, s := range cycle.Starts {
			j := r.by[s.Job]
			j.running, j.started, j.ends = true, r.now, r.now.Add(j.runs)
		}
		if len(cycle.Preempted) == 0 {
			return nil
		}
		for i := range cycle.Preempted {
			if err := r.stop(&cycle.Preempted[i]); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("jobs are stopped in %d cycles of the same moment", most)
}

// most is how many cycles of a moment may stop jobs.
const most = 64

// price has the cluster know what is lost with each scavenger: the seconds of its cores.
func (r *run) price() error {
	for _, j := range r.jobs[:r.come] {
		if !j.running || j.urgent {
			continue
		}
		j.spec.Price = 1 + int64(float64(j.cores)*r.now.Sub(j.started).Seconds())
		if err := r.cluster.Update(j.spec); err != nil {
			return err
		}
	}
	return nil
}

// stop has a job wait again that was stopped.
func (r *run) stop(p *core.Preempted) error {
	j := r.by[p.Job]
	if j.urgent || !j.running {
		return fmt.Errorf("job %s is to be stopped: urgent %v, running %v", p.Job, j.urgent, j.running)
	}
	for _, id := range p.For {
		if !r.by[id].urgent {
			return fmt.Errorf("job %s is to be stopped for %s, which is not urgent", p.Job, id)
		}
	}
	lost := float64(j.cores) * r.now.Sub(j.started).Seconds()
	r.had, r.wasted = r.had+lost, r.wasted+lost
	j.running = false
	j.stops++
	return r.cluster.Requeue(j.spec.ID)
}

func (r *run) result() (*Result, error) {
	x := &Result{Hours: r.now.Sub(begin).Hours(), Lost: r.wasted / r.had}
	var urgent []float64
	scavengers := 0
	for _, j := range r.jobs {
		if j.started.IsZero() || j.running {
			return nil, fmt.Errorf("job %s has not run to its end", j.spec.ID)
		}
		wait := j.started.Sub(j.come).Seconds()
		x.Stops, x.Most = x.Stops+j.stops, max(x.Most, j.stops)
		if j.urgent {
			urgent = append(urgent, wait)
			continue
		}
		x.ScavengersMean += wait
		scavengers++
	}
	x.ScavengersMean /= float64(max(scavengers, 1))
	slices.Sort(urgent)
	for _, w := range urgent {
		x.UrgentMean += w / float64(len(urgent))
	}
	if n := len(urgent); n > 0 {
		x.UrgentHigh, x.UrgentMost = urgent[n-1-n/20], urgent[n-1]
	}
	return x, nil
}

// draw draws the jobs of a site, in the order in which they come.
func (s *Site) draw(seed uint64) (jobs []*job) {
	rng := rand.New(rand.NewPCG(seed, 11))
	span := s.Hours * 3600
	for work := s.Load * float64(s.Nodes*s.Cores) * span; work > 0; {
		j := s.scavenger(rng)
		j.come = begin.Add(time.Duration(rng.Float64() * span * float64(time.Second)).Truncate(time.Second))
		work -= float64(j.cores) * j.runs.Seconds()
		jobs = append(jobs, j)
	}
	for range s.Urgent {
		j := s.urgent(rng)
		j.come = begin.Add(time.Duration(rng.Float64() * span * float64(time.Second)).Truncate(time.Second))
		jobs = append(jobs, j)
	}
	slices.SortStableFunc(jobs, func(a, b *job) int { return a.come.Compare(b.come) })
	for i, j := range jobs {
		j.spec.ID = fmt.Sprintf("j%d", i+1)
	}
	return jobs
}

// seconds are exponential, from a minute to ten times the mean.
func seconds(rng *rand.Rand, mean float64) time.Duration {
	return time.Duration(min(max(-math.Log(1-rng.Float64())*mean, 60), 10*mean)) * time.Second
}

func (s *Site) scavenger(rng *rand.Rand) *job {
	j := &job{runs: seconds(rng, 3600)}
	j.spec.TimeLimit = time.Duration(float64(j.runs) * (1 + 2*rng.Float64()))
	j.spec.Priority, j.spec.Price = 1, 1
	if s.Widest > 0 {
		nodes := int(math.Pow(float64(s.Widest), rng.Float64()))
		j.cores = nodes * s.Cores
		j.spec.Request = bids.Request{Cores: j.cores, MinNodes: nodes, MaxNodes: nodes, TasksPerNode: s.Cores}
		return j
	}
	j.cores = 1 + rng.IntN(s.Cores/4)
	j.spec.Request = bids.Request{Cores: j.cores, MinNodes: 1, MaxNodes: 1}
	if s.GPUs > 0 {
		j.cores = s.Cores / s.GPUs
		j.spec.Request = bids.Request{Cores: j.cores, MinNodes: 1, MaxNodes: 1, MinGPUs: 1, MaxGPUs: 1}
	}
	return j
}

func (s *Site) urgent(rng *rand.Rand) *job {
	j := &job{urgent: true, runs: seconds(rng, 900)}
	j.spec.TimeLimit = time.Duration(float64(j.runs) * (1 + 2*rng.Float64()))
	j.spec.Priority, j.spec.Preempts, j.spec.Class = urgentPriority, 1, 1
	if s.PerGPU {
		j.cores = 1
		j.spec.Request = bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, MinGPUs: 1, MaxGPUs: 1}
		return j
	}
	nodes := 1 + rng.IntN(s.Wide)
	j.cores = nodes * s.Cores
	j.spec.Request = bids.Request{Cores: j.cores, MinNodes: nodes, MaxNodes: nodes, TasksPerNode: s.Cores}
	return j
}

// urgentPriority is above all prices together.
const urgentPriority = 1 << 40
