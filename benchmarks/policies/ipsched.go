// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/aucsched/aucsched/benchmarks/ipsched"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// IPSched is the policy "ipsched" of Soner and Özturan's first paper: one integer program for
// the whole window, in which a job can have any cores of any nodes. See package
// benchmarks/ipsched for the program.
//
// The paper's model has no contiguity: jobs that ask for consecutive nodes wait, and are told so.
// Tasks per node are bounds on what a node gives. Of a range of GPUs the least number counts, and
// of one of nodes with tasks on each the fewest nodes. A job's alternatives are not looked at.
// There are no reservations, so that a job can wait for ever.
//
// Under [older.Halve] the length of the window is kept from cycle to cycle, and depends on the
// clock.
type IPSched struct {
	entry   cycle.Entry
	opts    older.Options
	solver  *ipsched.Solver
	problem ipsched.Problem
	result  ipsched.Result

	width   int            // jobs of this window
	window  []int          // index in the decisions of each job of the window
	asked   []bids.Request // by job of the queue: the request as it counts
	answers place.Cache
	same    place.Masks // that equal requests have equal Specs
	masks   ipsched.Masks
	scratch nodeset.Table
	slack   cycle.Slack
	shift   int // worths are in units of 2^shift
}

// Faults of a call.
var (
	errNotNew = errors.New("the policy was not made by NewIPSched")
	errNoPlan = errors.New("there is no Snapshot, or no Plan to fill")
)

// NewIPSched returns the policy.
func NewIPSched(o older.Options) (*IPSched, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &IPSched{opts: o, solver: ipsched.New(), width: o.Window}, nil
}

// Name is "ipsched".
func (a *IPSched) Name() string { return "ipsched" }

// Problem is what the last cycle solved. It belongs to the IPSched and is valid
// until the next cycle.
func (a *IPSched) Problem() *ipsched.Problem { return &a.problem }

// Decide implements [core.Policy]. With the time over before the best choice is known, jobs that
// could start and do not are TimedOut.
func (a *IPSched) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	if a.solver == nil {
		return errNotNew
	}
	if s == nil || p == nil {
		return errNoPlan
	}
	return a.entry.Run(ctx, func() { empty(p) }, s.Validate, func() error { return a.decideIn(ctx, s, l, p) })
}

// empty takes all decisions out of a plan, and keeps their memory.
func empty(p *core.Plan) {
	p.Decisions, p.Preempted, p.Claims = p.Decisions[:0], p.Preempted[:0], nil
	p.Objective, p.Bound, p.Stats = 0, 0, core.Stats{}
}

// add adds a decision without segments, which has the memory of those that the plan once had there.
func add(p *core.Plan, d core.Decision) {
	n := len(p.Decisions)
	if n < cap(p.Decisions) {
		d.Segs = p.Decisions[:n+1][n].Segs[:0]
	}
	p.Decisions = append(p.Decisions, d)
}

func (a *IPSched) decideIn(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	begin := a.opts.Clock()
	l.Deadline = a.slack.TakeOff(begin, l.Deadline)
	a.openWindow(s, p)
	if len(a.window) == 0 || !anyFree(s.Nodes) {
		a.blockAll(p)
	} else if err := a.solve(ctx, s, l, p); err != nil {
		return err
	}
	for i := range p.Decisions {
		if p.Decisions[i].Why == core.TimedOut {
			p.Stats.TimedOut++
		}
	}
	end := a.opts.Clock()
	p.Stats.Elapsed = end.Sub(begin)
	a.slack.Learn(end)
	return nil
}

// Ended is as that of [core.Auction].
func (a *IPSched) Ended(at time.Time) { a.slack.Learn(at) }

// openWindow takes the first jobs of the queue that the model knows and that could run at all.
func (a *IPSched) openWindow(s *core.Snapshot, p *core.Plan) {
	a.window, a.problem.Jobs, a.asked = a.window[:0], a.problem.Jobs[:0], a.asked[:0]
	a.answers.Reset(s.Nodes)
	a.masks.Reset()
	a.same.Reset()
	for i, job := range s.Pending {
		a.asked = append(a.asked, a.asks(job))
		r := &a.asked[i]
		d := core.Decision{Job: i}
		spec, why := a.normal(r)
		if why != "" {
			verdict{core.Never, why}.on(&d)
		} else if spec.Parts != nil {
			composed.on(&d)
		} else if spec.Coreless() {
			coreless.on(&d)
		} else if spec.Uses != nil {
			further.on(&d)
		} else if spec.Charges != nil {
			counted.on(&d)
		} else if r.Contiguous && !onOneNode(r) {
			consecutive.on(&d)
		} else if s.Topology != nil && r.Switches+r.Within+r.Segment > 0 && !onOneNode(r) {
			switches.on(&d)
		} else if _, ok := a.masks.Number(r.Eligible); len(a.window) == a.width || !ok {
			break
		} else {
			a.window = append(a.window, len(p.Decisions))
			a.problem.Jobs = append(a.problem.Jobs, modelled(r, &spec))
		}
		add(p, d)
	}
}

// normal is the normal form of a request, and why the machine can never meet it, or "".
func (a *IPSched) normal(r *bids.Request) (place.Spec, string) {
	spec, err := place.SpecOf(r)
	if err != nil {
		return spec, err.Error()
	}
	if spec.Eligible != nil {
		spec.Eligible = a.same.Of(spec.Eligible)
	}
	return spec, a.answers.Never(&spec)
}

// verdict is why a job waits.
type verdict struct {
	why    core.Why
	reason string
}

// on records it in the job's decision.
func (v verdict) on(d *core.Decision) { d.Why, d.Reason = v.why, v.reason }

var (
	noNodes     = verdict{core.NoFit, "no nodes are free that suit it"}
	lost        = verdict{core.Lost, "other jobs are worth more together"}
	undecided   = verdict{core.TimedOut, "the time was over before it was decided on"}
	consecutive = verdict{core.Unmodelled, "it asks for consecutive nodes, which the model of ipsched does not know"}
	switches    = verdict{core.Unmodelled, "it demands something of switches, which the model of ipsched does not know"}
	further     = verdict{core.Unmodelled, "it uses further resources, which the model of ipsched does not know"}
	coreless    = verdict{core.Unmodelled, "it takes no core, which the model of ipsched does not know"}
	composed    = verdict{core.Unmodelled, "it has components, which the model of ipsched does not know"}
	counted     = verdict{core.Unmodelled, "it counts against quotas, which the model of ipsched does not know"}
	timedOut    = verdict{core.TimedOut,
		"the time was over before the window was solved: no job starts, and the next window has half as many"}
)

// blockAll decides on the window's jobs where nothing is free.
func (a *IPSched) blockAll(p *core.Plan) {
	for _, d := range a.window {
		noNodes.on(&p.Decisions[d])
	}
}

// anyFree reports whether any node has a core to give.
func anyFree(t *nodeset.Table) bool {
	return slices.ContainsFunc(t.Usable(0), func(w uint64) bool { return w != 0 })
}

// asks is what counts of a job's request.
func (a *IPSched) asks(job *core.Job) bids.Request {
	if a.opts.NodeLimits {
		return job.Request
	}
	return older.WithoutNodeLimits(job.Request)
}

// onOneNode reports whether the job can have no more than one node.
func onOneNode(r *bids.Request) bool { return r.MaxNodes == 1 || place.LeastCores(r) == 1 }

// modelled is a request in the model's terms, without a worth.
func modelled(r *bids.Request, spec *place.Spec) ipsched.Job {
	j := ipsched.Job{Cores: int(spec.LeastCores()), GPUs: r.MinGPUs, MinNodes: r.MinNodes, MaxNodes: r.MaxNodes, Eligible: r.Eligible}
	if t := r.TasksPerNode; t > 0 {
		j.MaxCores = t
		if spec.Exact() {
			j.MinCores = t
		}
	}
	return j
}

// weigh sets what the jobs are worth. Numbers stay exact as long as 2N times their sum is
// in the model's range; a window beyond that has all of them rounded down to a common
// power of two, a.shift.
func (a *IPSched) weigh(s *core.Snapshot, p *core.Plan) {
	var high, low, carry uint64
	for _, d := range a.window {
		h, l := a.product(s.Pending[p.Decisions[d].Job])
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	length := bits.Len64(low)
	if high > 0 {
		length = 64 + bits.Len64(high)
	}
	// One bit is to spare for worths that are rounded up to 1.
	a.shift = max(0, length+bits.Len64(uint64(a.problem.Unit()))-bits.Len64(ipmodel.MaxTotalValue)+2)
	for k, d := range a.window {
		h, l := a.product(s.Pending[p.Decisions[d].Job])
		a.problem.Jobs[k].Worth = max(int64(h<<(64-a.shift)|l>>a.shift), 1)
	}
}

// product is p_j, or p_j r_j, as high and low words.
func (a *IPSched) product(job *core.Job) (high, low uint64) {
	if a.opts.Objective == core.BySize {
		return bits.Mul64(uint64(max(job.Priority, 1)), uint64(place.LeastCores(&job.Request)))
	}
	return 0, uint64(max(job.Priority, 1))
}

func (a *IPSched) solve(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	a.problem.NoNodeLimits = !a.opts.NodeLimits
	a.problem.Free = a.problem.Free[:0]
	for n := range s.Nodes.Len() {
		free := s.Nodes.Free(n)
		if !s.Nodes.Up(n) {
			free = nodeset.Capacity{}
		}
		a.problem.Free = append(a.problem.Free, free)
	}
	a.weigh(s, p)
	o := ipmodel.Options{Deadline: l.Deadline, Now: a.opts.Clock, Work: a.opts.Work, Seed: l.Seed}
	if err := cmp.Or(a.solver.Solve(ctx, &a.problem, o, &a.result), ctx.Err()); err != nil {
		return err
	}
	p.Stats.Jobs, p.Stats.Status = len(a.window), a.result.Status.String()
	p.Stats.Work, p.Stats.Late = a.result.Work, a.result.Late
	late := a.result.Late && a.opts.OnTimeout == older.Halve
	if late {
		a.width = max(1, a.width/2)
	} else {
		a.width = min(a.opts.Window, 2*a.width)
	}
	if err := a.decide(s, p, late); err != nil {
		return err
	}
	unit := float64(a.problem.Unit())
	bound := math.Ldexp(float64(a.result.Bound)/unit, a.shift)
	if a.shift > 0 { // each worth has lost less than one
		bound = math.Ldexp(float64(a.result.Bound)/unit+float64(len(a.window)), a.shift)
	}
	p.Bound = max(bound, p.Objective)
	return nil
}

// decide turns the answer into decisions, and checks each of them by what the job asks for and all
// of them by allocating them on a copy of the machine. After a time-out none starts.
func (a *IPSched) decide(s *core.Snapshot, p *core.Plan, late bool) error {
	a.scratch.CopyFrom(s.Nodes)
	unit := float64(a.problem.Unit())
	for k, at := range a.window {
		d := &p.Decisions[at]
		segs := a.result.Segments(k)
		switch {
		case late:
			timedOut.on(d)
			continue
		case !a.result.Able(k):
			noNodes.on(d)
			continue
		case len(segs) == 0 && a.result.Late:
			undecided.on(d)
			continue
		case len(segs) == 0:
			lost.on(d)
			continue
		}
		job := *s.Pending[d.Job]
		job.Request = a.asked[d.Job]
		if err := place.CheckSegments(&a.asked[d.Job], segs, s.Nodes.Len()); err != nil {
			return fmt.Errorf("the solver's choice is not what job %s asks for: %w", job.ID, err)
		}
		if err := a.scratch.Allocate(segs); err != nil {
			return fmt.Errorf("the solver's choice is not feasible: job %s: %w", job.ID, err)
		}
		d.Start, d.Segs = true, append(d.Segs, segs...)
		p.Objective += a.weight(&job) * (1 - float64(nodeset.Nodes(segs))/unit)
	}
	return nil
}

// weight is p_j or p_j r_j.
func (a *IPSched) weight(job *core.Job) float64 {
	high, low := a.product(job)
	return math.Ldexp(float64(high), 64) + float64(low)
}
