package highs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aucsched/aucsched/ipmodel"
)

// ErrNotBuilt says that the program was built without HiGHS, that is, without the tag highs.
var ErrNotBuilt = errors.New("this program was built without HiGHS (build tag highs)")

// Options of a Solver.
type Options struct {
	// Command starts a process that runs [Worker] on its standard input and
	// output. Empty means this program with the argument solver-worker.
	Command []string
}

// Solver is an [ipmodel.Solver]. It holds no resources between calls.
type Solver struct{ command []string }

var _ ipmodel.Solver = (*Solver)(nil)

// New makes a Solver. Nothing is started yet.
func New(o Options) *Solver { return &Solver{command: o.Command} }

// Name is "highs".
func (s *Solver) Name() string { return "highs" }

// Solve is as [ipmodel.Solver] says. An iteration of the simplex method counts as
// one unit of work for each row, and Work is looked at between linear programs
// only. The answer is there by the deadline, give or take what the machine takes to
// kill a process; when nothing else is known by then and no group is required,
// it is the choice of nothing.
//
// An error means that the worker could not be started, or that it failed and no
// feasible choice is known, neither its own nor Options.Start: [ErrNotBuilt], or what went wrong.
func (s *Solver) Solve(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	*r = ipmodel.Result{Chosen: r.Chosen[:0]}
	if !Built {
		return ErrNotBuilt
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("highs: %w", err)
	}
	a := newAnswer(m)
	start := o.Start
	if start != nil && !a.offer(start) {
		start = nil
	}
	if a.easy() {
		a.fill(r)
		return nil
	}
	q := request{seed: o.Seed, work: o.Work, model: m, start: start}
	if !o.Deadline.IsZero() {
		now := time.Now
		if o.Now != nil {
			now = o.Now
		}
		left := o.Deadline.Sub(now())
		// Killing the worker and checking its last solution take time as well.
		q.limit = left - min(10*time.Millisecond, left/10)
	}
	if o.Deadline.IsZero() || q.limit > 0 {
		if err := s.run(ctx, q, a); err != nil {
			return fmt.Errorf("highs: %w", err)
		}
	}
	if !a.known && !a.infeasible {
		a.offer(nil)
	}
	a.fill(r)
	return nil
}

// run has a worker solve q and adds what it finds to a.
func (s *Solver) run(ctx context.Context, q request, a *answer) error {
	command := s.command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		command = []string{self, "solver-worker"}
	}
	var expired <-chan time.Time
	if q.limit > 0 {
		timer := time.NewTimer(q.limit)
		defer timer.Stop()
		expired = timer.C
	}
	p, err := startProcess(command, q)
	if err != nil {
		return err
	}
	defer p.stop()
	for {
		select {
		case f, open := <-p.frames:
			if !open {
				return p.failure(a)
			}
			if a.take(f) {
				return a.verdict(f, p)
			}
		case <-expired:
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
		a.offer(f.chosen)
	case kindBound:
		a.tighten(f.bound)
	case kindEnd:
		a.end = f.end
		return true
	}
	return false
}

// verdict is what the worker's last message makes of the answer.
func (a *answer) verdict(f frame, p *process) error {
	switch f.end.Verdict {
	case verdictStopped:
		return nil
	case verdictDone:
		a.lastUnits()
		return nil
	case verdictInfeasible:
		if a.known {
			a.bound = trivialBound(a.m)
		}
		a.infeasible = !a.known
		return nil
	}
	if a.known {
		return nil
	}
	return fmt.Errorf("the solver's process failed: %s", f.message)
}
