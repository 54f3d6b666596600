// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// Built says whether HiGHS is built in (build tag highs).
const Built = built

// ErrNotBuilt says that the program was built without HiGHS, that is, without the tag
// highs. A program without it can still use a worker that has it: see Options.Command.
var ErrNotBuilt = errors.New("this program was built without HiGHS (build tag highs)")

// Options of a Solver.
type Options struct {
	// Command starts a process that runs [Worker] on its standard input and
	// output. Empty means this program with the argument solver-worker, which needs
	// HiGHS in this program.
	Command []string
	// Env is the worker's environment, of the form NAME=VALUE. It gets nothing of this process's
	// but LD_LIBRARY_PATH, unless Env has one, and works in the root directory.
	Env []string
	// Memory is how many bytes a worker may take for a solve, on Linux; 0: any number. One that
	// needs more ends, which is its Fault.
	Memory int64
}

// Solver is an [ipmodel.Solver]. Between calls it holds nothing but what is left of
// killed workers; see Wait.
type Solver struct {
	options Options
	fault   error // of the worker in the last Solve
	asked   bool  // whether there was one
	killed  sync.WaitGroup
}

var _ ipmodel.Solver = (*Solver)(nil)

// New makes a Solver. Nothing is started yet.
func New(o Options) *Solver { return &Solver{options: o} }

// Name is "highs".
func (s *Solver) Name() string { return "highs" }

// Solve is as [ipmodel.Solver] says. An iteration of the simplex method counts as
// one unit of work for each row, and Work is looked at between linear programs
// only. The answer is there by the deadline, give or take what the machine takes to
// kill a process; when nothing else is known by then and no group is required,
// it is the choice of nothing.
//
// The worker is asked for its last word some time before it is killed, so that one that has to be
// killed is at fault; see Fault.
//
// An error means that the worker could not be started, or that it failed and no
// feasible choice is known, neither its own nor Options.Start: [ErrNotBuilt], or what went wrong.
func (s *Solver) Solve(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	*r = ipmodel.Result{Chosen: r.Chosen[:0], Prices: r.Prices[:0]}
	s.fault, s.asked = nil, false
	if !Built && len(s.options.Command) == 0 {
		return ErrNotBuilt
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("highs: %w", err)
	}
	a := newAnswer(m)
	a.gap = o.Gap
	start := o.Start
	if start != nil && !a.offer(start) {
		start = nil
	}
	if a.easy() {
		a.fill(r)
		return nil
	}
	q := request{Seed: o.Seed, Work: o.Work, Model: m, Start: start}
	if !o.Deadline.IsZero() {
		now := time.Now
		if o.Now != nil {
			now = o.Now
		}
		left := o.Deadline.Sub(now())
		// Killing the worker and checking its last solution take time as well.
		a.patience = left - min(10*time.Millisecond, left/10)
		// Its own clock starts later, when it has got the model.
		q.Limit = a.patience - min(max(40*time.Millisecond, a.patience/5), 100*time.Millisecond, a.patience/2)
	}
	if o.Deadline.IsZero() || q.Limit > 0 {
		s.asked = true
		err := s.run(ctx, q, a)
		if s.fault = a.blamed; err != nil {
			s.fault = err
			return fmt.Errorf("highs: %w", err)
		}
	}
	if !a.known && !a.infeasible {
		a.offer(nil)
	}
	a.fill(r)
	return nil
}

// Fault is what was wrong with the worker in the last Solve, also where there was an
// answer all the same: it could not be started, died, had to be killed at the deadline, or
// said what is not true. Otherwise, and if no worker was needed, it is nil.
func (s *Solver) Fault() error { return s.fault }

// Asked reports whether the last Solve started a worker, or tried to. It does not where the model
// is easy, and where the deadline was over before.
func (s *Solver) Asked() bool { return s.asked }

// Wait returns when the workers of all calls of Solve so far are gone for good. Solve kills
// them, but leaves it to the kernel when.
func (s *Solver) Wait() { s.killed.Wait() }

var errHung = errors.New("the solver's process had to be killed at the deadline")

// run has a worker solve q and adds what it finds to a.
func (s *Solver) run(ctx context.Context, q request, a *answer) error {
	command := s.options.Command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		command = []string{self, "solver-worker"}
	} else if path, err := filepath.Abs(command[0]); err == nil && filepath.Base(command[0]) != command[0] {
		command = append([]string{path}, command[1:]...) // the worker is somewhere else
	}
	var expired <-chan time.Time
	if a.patience > 0 {
		timer := time.NewTimer(a.patience)
		defer timer.Stop()
		expired = timer.C
	}
	// The worker ends with the thread that has started it, on Linux: no other goroutine
	// may end that meanwhile.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := startProcess(command, s.options.environ(), q)
	if err != nil {
		return err
	}
	defer p.stop(&s.killed)
	for {
		select {
		case f, open := <-p.frames:
			if !open {
				return p.failure(ctx, expired, a)
			}
			if a.take(f) {
				return a.verdict(ctx, f, p)
			}
			if a.nearEnough() {
				return nil
			}
		case <-expired:
			a.blame(errHung)
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// take adds a worker's message, and reports whether it is the last one.
func (a *answer) take(f frame) (last bool) {
	switch f.kind {
	case kindSolution:
		if !a.offer(f.chosen) {
			a.blame(fmt.Errorf("%w: a choice that is not feasible", errNonsense))
		}
	case kindBound:
		a.tighten(f.bound)
	case kindEnd:
		a.end = f.end
		return true
	}
	return false
}

// verdict is what the worker's last message makes of the answer.
func (a *answer) verdict(ctx context.Context, f frame, p *process) error {
	switch f.end.Verdict {
	case verdictStopped:
		return nil
	case verdictDone:
		return a.lastUnits(ctx)
	case verdictInfeasible:
		if a.known {
			a.bound = trivialBound(a.m)
			a.blame(fmt.Errorf("%w: that there is no feasible choice", errNonsense))
		}
		a.infeasible = !a.known
		return nil
	}
	err := fmt.Errorf("the solver's process failed: %s", f.message)
	if a.known {
		a.blame(err)
		return nil
	}
	return err
}

// lastUnits has the native solver look for a choice that is worth more than what is known, and prove
// it best. HiGHS, which is at its end here, can't tell worths apart that differ by less than its
// tolerances; this can, in windows small enough for lastWork, and otherwise changes nothing.
func (a *answer) lastUnits(ctx context.Context) error {
	if !a.known || a.bound <= a.worth {
		return nil
	}
	var r ipmodel.Result
	err := native.New().Solve(ctx, a.m, ipmodel.Options{Start: a.chosen, Work: lastWork}, &r)
	if err == nil && a.offer(r.Chosen) {
		a.bound = min(a.bound, r.Bound)
	}
	return err
}

// lastWork bounds that, to some 10 ms.
const lastWork = 1 << 21

// environ is all that a worker gets of this process's environment: where libraries are, if they are
// somewhere else. Of what is there twice the last one counts.
func (o *Options) environ() (env []string) {
	if path, ok := os.LookupEnv("LD_LIBRARY_PATH"); ok {
		env = append(env, "LD_LIBRARY_PATH="+path)
	}
	env = append(env, o.Env...)
	if o.Memory > 0 {
		env = append(env, memoryVariable+"="+strconv.FormatInt(o.Memory, 10))
	}
	return env
}
