// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// Options are for tests and embedders.
type Options struct {
	// Now is the clock that deadlines are held against; nil means time.Now. Only differences
	// of it count.
	Now func() time.Time
	// Older makes auction1 and ipsched; nil where these settings are refused.
	Older *older.Policies
}

// Engine runs cycles. It must not be used by two goroutines at once.
type Engine struct {
	settings Settings
	now      func() time.Time
	older    *older.Policies
	policy   core.Policy
	snapshot snapshot
	files    files
	plan     core.Plan
}

// New opens an Engine with the settings of a text, see [ParseSettings].
func New(settings string, o Options) (*Engine, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &Engine{now: o.Now, older: o.Older}
	return e, e.Configure(settings)
}

// Configure replaces all settings. On an error the old ones stay. What is known of
// files stays either way.
func (e *Engine) Configure(settings string) error {
	s, err := ParseSettings(settings)
	if err != nil {
		return err
	}
	if s.Policy != Auction2 && e.older == nil {
		return &SettingError{"policy", s.Policy.String(), "is in libaucsched-older.so, not in this library"}
	}
	policy, err := e.newPolicy(&s)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	e.settings, e.policy = s, policy
	e.files.open(s.FileAge)
	return nil
}

// newPolicy is the policy of the settings; ipsched brings a solver of its own.
func (e *Engine) newPolicy(s *Settings) (core.Policy, error) {
	if s.Policy == IPSched {
		o := s.IPSched
		o.Clock = e.now
		return e.older.IPSched(o)
	}
	o := s.Auction
	o.Clock = e.now
	if s.Policy == Auction1 {
		o.Determiner = e.older.Layouts
	}
	return core.NewAuction(o, native.New())
}

// Settings are those in force.
func (e *Engine) Settings() Settings { return e.settings }

// Cycle decides on in. After an error, out has no decision, and the Engine can be used again: an
// [*InputError] is of the input as a whole, a [*PanicError] of this module. A fault of a single
// job, alternative, read or running job is no error: see Output.Faults.
func (e *Engine) Cycle(in *Input, out *Output) error {
	begin := e.now()
	err := guard(func() error { return e.cycle(in, out, begin) })
	out.Elapsed = e.now().Sub(begin)
	if err == nil {
		return nil
	}
	out.clear()
	if _, ok := err.(*PanicError); ok {
		e.forget()
	}
	return err
}

func (e *Engine) cycle(in *Input, out *Output, begin time.Time) error {
	out.clear()
	if in.Deadline < 0 || in.Deadline > settings.MaxDeadline {
		return whole("deadline", in.Deadline, "must be 0 to %v", settings.MaxDeadline)
	}
	const mb = 1 << 20
	if most, takes := e.settings.Memory, in.memory(&e.settings.Auction); most > 0 && takes > float64(most)*mb {
		return whole("memory_mb", most, "arrays of these lengths may take %.0f MB", takes/mb)
	}
	if err := e.snapshot.load(in); err != nil {
		return err
	}
	if err := e.files.load(in, &e.snapshot); err != nil {
		return err
	}
	if e.settings.freesNodes() {
		e.snapshot.dropNodeLimits()
	}
	deadline := begin.Add(e.settings.Deadline)
	if in.Deadline > 0 {
		deadline = begin.Add(in.Deadline)
	}
	limits := core.Limits{Deadline: deadline, Seed: in.Seed}
	e.snapshot.Pace = e.plan.Pace
	if err := e.policy.Decide(context.Background(), &e.snapshot.Snapshot, limits, &e.plan); err != nil {
		return err
	}
	if err := core.Verify(&e.snapshot.Snapshot, &e.plan); err != nil {
		return fmt.Errorf("the plan is not valid: %w", err)
	}
	if err := out.fill(in, &e.snapshot, &e.plan, e.settings.Policy, &e.files); err != nil {
		return err
	}
	e.ended()
	return nil
}

// ender is a policy that wants to know when what comes after its decisions was done too: see
// core.Auction.Ended.
type ender interface{ Ended(at time.Time) }

// ended tells the policy, if it wants to know.
func (e *Engine) ended() {
	if p, ok := e.policy.(ender); ok {
		p.Ended(e.now())
	}
}

// forget drops what a panic may have left half done.
func (e *Engine) forget() {
	e.snapshot, e.plan = snapshot{}, core.Plan{}
	e.files.forget(e.settings.FileAge)
	if policy, err := e.newPolicy(&e.settings); err == nil {
		e.policy = policy
	}
}

func (o *Output) clear() {
	*o = Output{Decisions: o.Decisions[:0], Segments: o.Segments[:0], Victims: o.Victims[:0], FirstFault: -1}
}

// fill makes the flat decisions of a plan for the snapshot of in.
func (o *Output) fill(in *Input, s *snapshot, p *core.Plan, by PolicyName, f *files) error {
	for i := range in.Jobs {
		d := Decision{Why: NotLookedAt}
		if s.faulty[i] {
			d.Why = Faulty
			o.LeftOut++
		}
		o.Decisions = append(o.Decisions, d)
	}
	for i := range p.Decisions {
		from := &p.Decisions[i]
		job := int(s.index[from.Job])
		d := &o.Decisions[job]
		if !from.Start {
			var ok bool
			if d.Why, ok = codeOf(from.Why); !ok {
				return fmt.Errorf("job %d waits for a reason without a code: %s", job, from.Reason)
			}
			if from.Why == core.OverQuota {
				d.Quota = uint32(from.Quota)
			}
			if from.Kept {
				d.Expected = before(in.Now, from.Expected)
			}
			continue
		}
		o.Starts++
		*d = Decision{
			Why: Starts, BidClass: by.class(from.Class), GPUs: from.Segs[0].GPUs, Alternative: uint8(from.Alternative),
			FirstSegment: uint32(len(o.Segments)), Segments: uint32(len(from.Segs)),
			Holders: f.holders(job, from.Segs),
		}
		for _, s := range from.Segs {
			o.Segments = append(o.Segments, Segment{First: uint32(s.First), Last: uint32(s.Last), Cores: s.Cores, GPUs: s.GPUs, Bin: s.Bin})
		}
	}
	o.addVictims(s, p)
	f.fill(o)
	o.Objective, o.Bound = p.Objective, p.Bound
	o.Window, o.Bids = p.Stats.Jobs, p.Stats.Bids
	o.Late, o.TimedOut = p.Stats.Late, p.Stats.TimedOut
	o.Faults, o.FirstFault, o.Fault = s.faults.count, s.faults.job, s.faults.first
	// Where nothing could bid there was no choice to make.
	o.Optimal = p.Stats.Status == ipmodel.Optimal.String() || p.Stats.Status == ""
	return nil
}

// addVictims says of each start of plan p which running jobs have to end first.
func (o *Output) addVictims(s *snapshot, p *core.Plan) {
	o.Preempted = len(p.Preempted)
	for i := range p.Preempted {
		for _, job := range p.Preempted[i].For {
			o.Decisions[s.index[job]].Victims++
		}
	}
	sum := uint32(0)
	for i := range o.Decisions {
		if d := &o.Decisions[i]; d.Victims > 0 {
			d.FirstVictim, sum, d.Victims = sum, sum+d.Victims, 0
		}
	}
	o.Victims = slices.Grow(o.Victims, int(sum))[:sum]
	for i := range p.Preempted {
		for _, job := range p.Preempted[i].For {
			d := &o.Decisions[s.index[job]]
			o.Victims[d.FirstVictim+d.Victims] = uint32(p.Preempted[i].Running)
			d.Victims++
		}
	}
}

// FileChanges is another number whenever a node has come to hold a file, or holds one no more.
func (e *Engine) FileChanges() uint64 { return e.files.state.Changes() }

// AppendFiles adds to dst what is known of the files that nodes hold, for [Engine.LoadFiles].
func (e *Engine) AppendFiles(dst []byte) []byte { return e.files.state.Append(dst) }

// LoadFiles replaces what is known of the files that nodes hold by what an engine of this or an
// earlier process has saved. On an error, which is a [*FilesError], no node holds any.
func (e *Engine) LoadFiles(saved []byte) error {
	if err := e.files.state.Load(saved); err != nil {
		return &FilesError{err}
	}
	return nil
}
