// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// NewConfig is the configuration that the papers' tests used: an interval of 3
// seconds (ipsched, section IV), jobs that end at their limit, all starts verified.
func NewConfig(nodes []nodeset.Capacity) Config {
	return Config{Nodes: nodes, Interval: 3, Verify: true, KillAtLimit: true}
}

// maxIdle is how many cycles in a row may start nothing while the machine is idle
// and no job is to come. Then the jobs that are left count as not run.
const maxIdle = 16

// maxPaced is maxIdle with the cycles that a [Paced] policy asks for.
const maxPaced = 1024

// maxRelease bounds Config.Release.
const maxRelease = 3600

// Run simulates the jobs under the policy until all have ended. Jobs are not changed and must not
// be during the run. They may be in any order; equal priorities are served in order of submission,
// then of position. Jobs that can never run are left out and listed in the result. It fails for an
// empty workload, bad input, a policy that fails or decides wrongly, or when ctx ends.
func Run(ctx context.Context, cfg Config, policy core.Policy, jobs []workload.Job) (*Result, error) {
	s, err := newSimulator(cfg, policy, jobs)
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("policy %s at second %d: %w", policy.Name(), s.now, err)
	}
	s.result.Policy = policy.Name()
	s.meter.Fill(&s.result, s.latency)
	if s.crews != nil {
		if s.result.Crews, err = s.crews.Result(); err != nil {
			return nil, fmt.Errorf("policy %s: %w", policy.Name(), err)
		}
	}
	if s.files != nil {
		s.result.Files = s.files.Use()
	}
	return &s.result, nil
}

func newSimulator(cfg Config, policy core.Policy, jobs []workload.Job) (*simulator, error) {
	switch {
	case len(jobs) == 0:
		return nil, errors.New("the workload has no jobs")
	case len(jobs) > math.MaxInt32:
		return nil, fmt.Errorf("%d jobs: at most %d are supported", len(jobs), math.MaxInt32)
	case cfg.Interval < 1 || cfg.Interval > maxTime:
		return nil, fmt.Errorf("interval: %d: must be between 1 and %d seconds", cfg.Interval, int64(maxTime))
	case cfg.Serial < LinearSpeedup || cfg.Serial > MaxSerial:
		return nil, fmt.Errorf("serial: %d: must be between %d and %d thousandths", cfg.Serial, LinearSpeedup, MaxSerial)
	case cfg.PriorityPeriod < 0 || cfg.PriorityPeriod > maxTime:
		return nil, fmt.Errorf("priority period: %d: must be between 0 and %d seconds", cfg.PriorityPeriod, int64(maxTime))
	case cfg.Release < 0 || cfg.Release > maxRelease:
		return nil, fmt.Errorf("release: %d: must be between 0 and %d seconds", cfg.Release, int64(maxRelease))
	}
	nodes, err := cfg.Table()
	if err != nil {
		return nil, err
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := &simulator{
		cfg: cfg, policy: policy, nodes: nodes,
		lowest: core.MaxPriority,
		jobs:   make([]job, len(jobs)), slot: make([]int32, len(jobs)), due: make([]int64, len(jobs)), total: len(jobs),
	}
	if s.meter, err = NewMeter(nodes, 0, 0); err != nil {
		return nil, err
	}
	if tree := cfg.Topology; tree != nil {
		if tree.Len() != nodes.Len() {
			return nil, fmt.Errorf("topology: it has %d nodes, the machine %d", tree.Len(), nodes.Len())
		}
		s.meter.leaves = &leafMeter{tree: tree}
	}
	if cfg.Files != nil {
		if s.files, err = cfg.Files(nodes.Len()); err != nil {
			return nil, err
		}
	}
	for i := range jobs {
		if err := s.admit(int32(i), &jobs[i]); err != nil {
			return nil, fmt.Errorf("job %s: %w", jobs[i].ID, err)
		}
	}
	if err := s.makeAfter(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.order, func(a, b int32) int { return cmp.Compare(s.jobs[a].Submit, s.jobs[b].Submit) })
	for _, i := range s.order {
		if s.jobs[i].Leaves > 0 {
			s.leavers = append(s.leavers, i)
		}
	}
	slices.SortStableFunc(s.leavers, func(a, b int32) int { return cmp.Compare(s.jobs[a].Leaves, s.jobs[b].Leaves) })
	if err := s.makeCrews(); err != nil {
		return nil, err
	}
	if cfg.Priorities != nil {
		s.rank()
	}
	if n := len(s.order); n > 0 {
		s.meter.loaded.first, s.meter.loaded.last = s.jobs[s.order[0]].Submit, s.jobs[s.order[n-1]].Submit
	}
	return s, nil
}

// Table is the machine with nothing running.
func (c *Config) Table() (*nodeset.Table, error) {
	t, err := nodeset.New(c.Nodes)
	if err != nil {
		return nil, err
	}
	for _, r := range c.Resources {
		add := t.AddResource
		if r.Shares {
			add = t.AddShares
		}
		if _, err := add(r.Name, r.Total); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// rank makes ready for priorities that change.
func (s *simulator) rank() {
	s.ranking = &ranking{s.cfg.Priorities, &s.pending, s.jobs, make([]int32, len(s.jobs)), s.cfg.PriorityPeriod, 0}
	for place, i := range s.order {
		s.ranking.place[i] = int32(place)
	}
	for _, waiting := range s.after {
		for _, i := range waiting {
			s.ranking.place[i] = int32(len(s.order)) + i
		}
	}
}

// submit has the policy see a job from now on: a copy that says since when it waits.
func (s *simulator) submit(i int32) (err error) {
	if len(s.spare) == 0 {
		s.spare = append(s.spare, new(core.Job))
	}
	last := len(s.spare) - 1
	j := s.spare[last]
	s.spare = s.spare[:last]
	*j = s.jobs[i].Job.Job
	j.Since = s.jobs[i].Submit
	s.lowest = min(s.lowest, j.Priority)
	if s.crews != nil && !s.companion(i) {
		s.crews.Lift(j)
	}
	if s.ranking != nil {
		if j.Priority, err = s.ranking.of(s.jobs[i].Job, s.now); err != nil {
			return err
		}
	}
	s.pending.push(j, i)
	s.meter.stranded.come(&j.Request)
	return nil
}

// admit takes a job in, unless it can never run.
func (s *simulator) admit(i int32, j *workload.Job) error {
	switch {
	case j.Submit < 0 || j.Submit > maxTime:
		return fmt.Errorf("submit: %d: must be between 0 and %d", j.Submit, int64(maxTime))
	case j.Duration < 0 || j.Duration > maxTime:
		return fmt.Errorf("duration: %d: must be between 0 and %d", j.Duration, int64(maxTime))
	case j.TimeLimit < 1 || j.TimeLimit > maxTime:
		return fmt.Errorf("time_limit_s: %d: must be between 1 and %d", j.TimeLimit, int64(maxTime))
	case j.Priority < 1 || j.Priority > core.MaxPriority:
		return fmt.Errorf("priority: %d: must be between 1 and %d", j.Priority, int64(core.MaxPriority))
	case j.Leaves != 0 && (j.Leaves < j.Submit || j.Leaves > maxTime):
		return fmt.Errorf("leaves: %d: must be between its submission, %d, and %d", j.Leaves, j.Submit, int64(maxTime))
	case j.Think < 0 || j.Think > maxTime:
		return fmt.Errorf("think: %d: must be between 0 and %d", j.Think, int64(maxTime))
	case j.After != "" && (j.Leaves != 0 || j.Span != (workload.Span{})):
		return fmt.Errorf("after: %s: a job that waits for another can neither be malleable nor leave", j.After)
	case j.Work < 0 || j.Work > maxTime:
		return fmt.Errorf("work: %d: must be between 0 and %d", j.Work, int64(maxTime))
	case j.Input.File != 0 && (j.Input.Bytes < 1 || j.Input.Bytes > maxTime):
		return fmt.Errorf("input: %d bytes: must be between 1 and %d", j.Input.Bytes, int64(maxTime))
	}
	if err := j.Validate(); err != nil {
		return err
	}
	if len(j.Components) > 0 {
		return fmt.Errorf("components: there are %d: the simulator has no jobs of several", len(j.Components))
	}
	s.jobs[i] = job{Job: j, nominal: s.capped(j.Duration, j.TimeLimit)}
	if err := s.admitCrew(i); err != nil {
		return err
	}
	j = s.jobs[i].Job
	if s.meter.FewestNodes(&j.Request) == 0 && !s.meter.anyAlternative(&j.Job) {
		err := place.CanEverRun(s.nodes, &j.Request)
		s.result.Unrun = append(s.result.Unrun, Unrun{j.ID, err.Error()})
		return nil
	}
	s.order = append(s.order, i)
	return nil
}

// capped is how long a job runs: at least a second, and no longer than its limit.
func (s *simulator) capped(duration, limit int64) int64 {
	if s.cfg.KillAtLimit {
		duration = min(duration, limit)
	}
	return max(duration, 1)
}

// runs is how long a job runs on segs, which meet r, and for how much of that
// it waits for its file.
func (s *simulator) runs(j *job, r *bids.Request, segs []nodeset.Segment) (runs, loading int64) {
	if s.files != nil {
		loading = s.files.Begin(j.Job, segs, s.now)
	}
	runs = s.capped(max(workload.Lasts(j.Duration, r, segs, s.cfg.Serial), 1)+loading, s.limit(j, r, segs))
	if j.Leaves > 0 {
		runs = max(min(runs, j.Leaves-s.now), 1)
	}
	return runs, min(loading, runs)
}

// limit is the time limit of a job on segs, which meet r.
func (s *simulator) limit(j *job, r *bids.Request, segs []nodeset.Segment) int64 {
	if !s.cfg.ShrinkLimits {
		return j.TimeLimit
	}
	return max(workload.Lasts(j.TimeLimit, r, segs, s.cfg.Serial), 1)
}

func (s *simulator) run(ctx context.Context) error {
	idle, paced := 0, 0
	for {
		at, ok := s.nextEvent()
		if _, comes := s.comeOrGo(); !comes {
			if idle == maxIdle || paced == maxPaced {
				s.giveUp()
			}
			if idle == maxIdle || paced == maxPaced || len(s.pending.jobs) == 0 {
				s.never()
				return nil
			}
			if paced++; !ok {
				at = s.wake()
				idle++
			}
		}
		s.meter.stranded.pass(s.cycleTime(at) - s.now)
		s.now = s.cycleTime(at)
		if err := s.advance(); err != nil {
			return err
		}
		if len(s.pending.jobs) == 0 {
			continue
		}
		started, err := s.cycle(ctx)
		if err != nil {
			return err
		}
		s.meter.stranded.look(s.nodes)
		if started > 0 {
			idle, paced = 0, 0
		}
	}
}

// Paced is a policy that may want to decide again though no job has come or gone. It is
// for one simulation.
type Paced interface {
	// Again is the second in which it wants to; 0: not before a job comes or goes.
	Again() int64
}

// nextEvent is when the next job comes or goes, or the policy wants to decide.
func (s *simulator) nextEvent() (at int64, ok bool) {
	if p, paced := s.policy.(Paced); paced && len(s.pending.jobs) > 0 {
		at = p.Again()
		ok = at > 0
	}
	if e, some := s.comeOrGo(); some && (!ok || e < at) {
		return e, true
	}
	return at, ok
}

// comeOrGo is when the next job does.
func (s *simulator) comeOrGo() (at int64, ok bool) {
	s.dropStale()
	if len(s.ends) > 0 {
		at, ok = s.ends.next().at, true
	}
	if s.next < len(s.order) {
		if t := s.jobs[s.order[s.next]].Submit; !ok || t < at {
			at, ok = t, true
		}
	}
	if s.left < len(s.leavers) {
		if t := s.jobs[s.leavers[s.left]].Leaves; !ok || t < at {
			at, ok = t, true
		}
	}
	if s.crews != nil {
		if t, asks := s.crews.Next(); asks && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// cycleTime is the first multiple of the interval at or after a time.
func (s *simulator) cycleTime(at int64) int64 {
	i := s.cfg.Interval
	return (at + i - 1) / i * i
}

// wake is when to ask again while nothing runs and no job is to come: when the
// policy expects to start one, or after an interval.
func (s *simulator) wake() int64 {
	at := s.now + s.cfg.Interval
	expected := int64(0)
	for i := range s.plan.Decisions {
		d := &s.plan.Decisions[i]
		if e := d.Expected; d.Kept && e > s.now && (expected == 0 || e < expected) {
			expected = e
		}
	}
	return max(at, expected)
}

// advance lets everything happen that happens by now.
func (s *simulator) advance() error {
	for s.dropStale(); len(s.ends) > 0 && s.ends.next().at <= s.now; s.dropStale() {
		if err := s.end(s.ends.pop()); err != nil {
			return err
		}
	}
	for s.next < len(s.order) && s.jobs[s.order[s.next]].Submit <= s.now {
		if err := s.submit(s.order[s.next]); err != nil {
			return err
		}
		s.next++
	}
	for s.left < len(s.leavers) && s.jobs[s.leavers[s.left]].Leaves <= s.now {
		s.leave(s.leavers[s.left])
		s.left++
	}
	if s.crews != nil {
		if err := s.crews.Ask(); err != nil {
			return err
		}
	}
	s.result.PendingMax = max(s.result.PendingMax, len(s.pending.jobs))
	return nil
}

// leave withdraws a job, if it has not begun.
func (s *simulator) leave(i int32) {
	at := slices.Index(s.pending.numbers, i)
	if at < 0 {
		return
	}
	s.withdraw(at)
	s.ended++
	s.release(i, s.now)
}

// withdraw takes the job at that place out of the queue.
func (s *simulator) withdraw(at int) {
	j := s.pending.jobs[at]
	s.meter.stranded.start(&j.Request)
	s.spare = append(s.spare, j)
	s.pending.remove(at)
}

// cycle asks the policy once and carries out what it says.
func (s *simulator) cycle(ctx context.Context) (started int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if s.ranking != nil {
		if err := s.ranking.update(s.now); err != nil {
			return 0, err
		}
	}
	s.markOver()
	if s.crews != nil {
		s.crews.Price(s.pending.jobs, s.held)
	}
	snap := core.Snapshot{Now: s.now, Nodes: s.nodes, Pending: s.pending.jobs, Running: s.held, Claims: s.plan.Claims, Pace: s.plan.Pace}
	if !s.cfg.Blind {
		snap.Topology = s.cfg.Topology
	}
	s.read(&snap)
	begin := s.cfg.Clock()
	limits := core.Limits{Seed: s.cfg.Seed ^ uint64(len(s.latency))*0x9e3779b97f4a7c15}
	if err := s.policy.Decide(ctx, &snap, limits, &s.plan); err != nil {
		return 0, err
	}
	s.latency = append(s.latency, max(s.cfg.Clock().Sub(begin), 0))
	if s.cfg.Verify && slices.ContainsFunc(s.plan.Decisions, func(d core.Decision) bool { return d.Start }) {
		if err := core.Verify(&snap, &s.plan); err != nil {
			return 0, err
		}
	}
	if started, err = s.carryOut(); err != nil {
		return 0, err
	}
	if s.cfg.OnCycle != nil {
		s.cfg.OnCycle(Progress{s.now, s.next, len(s.pending.jobs), len(s.running), s.ended, s.total})
	}
	return started, nil
}

// read has the files of those that run be read, and who waits prefer nodes that hold theirs.
func (s *simulator) read(snap *core.Snapshot) {
	if s.files == nil {
		return
	}
	var running, pending []*workload.Job
	for _, r := range s.running {
		running = append(running, s.jobs[r.number].Job)
	}
	for _, number := range s.pending.numbers {
		pending = append(pending, s.jobs[number].Job)
	}
	s.files.Cycle(snap, running, pending)
}

// markOver has the jobs that are over, and keep their nodes for some seconds, show when they ended.
func (s *simulator) markOver() {
	if s.cfg.Release == 0 {
		return
	}
	for _, e := range s.ends {
		if over := e.at - s.cfg.Release; over <= s.now {
			s.held[s.slot[e.number]].End = over
		}
	}
}

func (s *simulator) carryOut() (started int, err error) {
	last := -1
	waits, err := s.stopped()
	if err != nil {
		return 0, err
	}
	for i := range s.plan.Decisions {
		d := &s.plan.Decisions[i]
		if d.Job <= last || d.Job >= len(s.pending.jobs) {
			return 0, fmt.Errorf("decision %d: job index %d after %d of %d", i, d.Job, last, len(s.pending.jobs))
		}
		last = d.Job
		if d.Start = d.Start && !waits[d.Job]; d.Start {
			if err := s.start(d); err != nil {
				return 0, fmt.Errorf("job %s: %w", s.pending.jobs[d.Job].ID, err)
			}
			started++
		}
	}
	// From the back, so that the positions of those in front stay.
	for i := len(s.plan.Decisions) - 1; i >= 0; i-- {
		if d := &s.plan.Decisions[i]; d.Start {
			s.spare = append(s.spare, s.pending.jobs[d.Job])
			s.pending.remove(d.Job)
		}
	}
	return started, nil
}

func (s *simulator) start(d *core.Decision) error {
	i := s.pending.numbers[d.Job]
	j := &s.jobs[i]
	r, ok := j.Way(d.Alternative)
	if !ok {
		return fmt.Errorf("alternative %d: the job has %d", d.Alternative, len(j.Alternatives))
	}
	if err := s.nodes.Allocate(d.Segs, r.Uses...); err != nil {
		return err
	}
	runs, loading := s.runs(j, &r, d.Segs)
	if s.malleable(i) {
		until, err := s.crews.Start(i)
		if err != nil {
			return err
		}
		runs = until - s.now
	}
	if s.now > math.MaxInt64/4 {
		return errors.New("the simulated time leaves the range of 64 bits")
	}
	gpus := s.meter.gpuParts.gpus(r.Uses, d.Segs)
	if !s.malleable(i) {
		ran := Record{j.Job, j.Submit, s.now, s.now + runs, d.Class, d.Segs, gpus, d.Alternative, loading}
		s.meter.Add(&ran, &r, j.nominal)
	}
	s.meter.stranded.start(&j.Request)
	if s.files != nil {
		s.files.End(j.Job, j.nominal, s.now+runs-j.Submit)
	}
	n := len(s.running)
	s.slot[i] = int32(n)
	s.running = append(s.running, running{i, s.now, d.Class, d.Alternative, loading})
	if n < cap(s.held) { // an earlier job's segments may be used again
		s.held = s.held[:n+1]
	} else {
		s.held = append(s.held, core.Running{})
	}
	h := &s.held[n]
	h.ID, h.End, h.Segs, h.Uses, h.Eligible = j.ID, s.now+s.limit(j, &r, d.Segs), append(h.Segs[:0], d.Segs...), r.Uses, r.Eligible
	s.endAt(i, s.now+runs+s.cfg.Release)
	return nil
}

// dropStale forgets endings that were put off.
func (s *simulator) dropStale() {
	for len(s.ends) > 0 && s.due[s.ends.next().number] != s.ends.next().at {
		s.ends.pop()
	}
}

func (s *simulator) end(e ending) error {
	if s.malleable(e.number) {
		if over, err := s.crews.End(e.number, e.at); !over || err != nil {
			return err
		}
	}
	s.due[e.number] = 0
	n, last := s.slot[e.number], len(s.running)-1
	r, h := s.running[n], s.held[n]
	if err := s.nodes.Release(h.Segs, h.Uses...); err != nil {
		return err
	}
	if !s.companion(e.number) {
		s.ended++
		of := &s.jobs[e.number]
		j := of.Job
		if s.malleable(e.number) {
			j = of.came
		}
		gpus := s.meter.gpuParts.gpus(h.Uses, h.Segs)
		ran := Record{j, j.Submit, r.start, e.at - s.cfg.Release, r.class, h.Segs, gpus, r.alternative, r.loading}
		if s.crews != nil {
			s.crews.Count(e.number, &ran)
		}
		if s.malleable(e.number) {
			s.meter.add(&ran, &of.Request, extent{of.asks * int(h.Segs[0].Cores), of.nominal, of.nominal})
		}
		if s.cfg.OnEnd != nil {
			s.cfg.OnEnd(ran)
		}
	}
	s.release(e.number, e.at-s.cfg.Release)
	s.running[n] = s.running[last]
	s.held[n], s.held[last] = s.held[last], h
	s.slot[s.running[n].number] = n
	s.running, s.held = s.running[:last], s.held[:last]
	return nil
}

// giveUp lists the jobs that the policy leaves pending on the idle machine.
func (s *simulator) giveUp() {
	reasons := make(map[int]string, len(s.plan.Decisions))
	for i := range s.plan.Decisions {
		reasons[s.plan.Decisions[i].Job] = s.plan.Decisions[i].Reason
	}
	for i, j := range s.pending.jobs {
		why := reasons[i]
		if why == "" {
			why = "not started by the policy"
		}
		s.result.Unrun = append(s.result.Unrun, Unrun{j.ID, why + " (the machine is idle)"})
	}
}

// Now is the second that it is.
func (h Hand) Now() int64 { return h.s.now }

// Jobs is how many jobs the workload has, Priority that of one, and Number that of the i-th running job.
func (h Hand) Jobs() int                   { return h.s.total }
func (h Hand) Priority(number int32) int64 { return h.s.jobs[number].Priority }
func (h Hand) Number(i int) int32          { return h.s.running[i].number }

// Hire says what a companion is, and Submit submits it.
func (h Hand) Hire(number int32, j *workload.Job) {
	h.s.jobs[number] = job{Job: j, nominal: j.Duration}
}
func (h Hand) Submit(number int32, at int64) error {
	h.s.jobs[number].Submit = at
	return h.s.submit(number)
}

// Due is when a running job ends as far as is known, EndAt changes that, and Leave tells the policy too.
func (h Hand) Due(number int32) int64           { return h.s.due[number] }
func (h Hand) EndAt(number int32, at int64)     { h.s.endAt(number, at) }
func (h Hand) End(number int32, at int64) error { return h.s.end(ending{at, number}) }
func (h Hand) Leave(number int32, at int64) {
	h.s.held[h.s.slot[number]].End = at
	h.s.endAt(number, at)
}

// Withdraw takes back pending jobs.
func (h Hand) Withdraw(which func(number int32) bool) {
	for k := len(h.s.pending.numbers) - 1; k >= 0; k-- {
		if which(h.s.pending.numbers[k]) {
			h.s.withdraw(k)
		}
	}
}
