// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/internal/highs"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// How a solve's time is shared out.
const (
	nativeShare = 0.4  // Auto: native's part, before the worker
	workerShare = 0.75 // HiGHS: the worker's part; native has the rest if it fails
	// leastForWorker is the time below which a process is not worth its start.
	leastForWorker = 10 * time.Millisecond
)

// How often a worker may fail, and for how long it is then left alone.
const (
	failuresInARow = 3
	workerPause    = time.Minute
)

// workerMemory bounds what a worker may take for a solve. It is some hundred times what a window's
// model and its tree need.
const workerMemory = 2 << 30

// solver is native, a worker process, or both. A worker can do no harm: its choices are
// checked, it is killed in time, and when it fails the native answer stands.
type solver struct {
	mode   SolverMode
	native ipmodel.Solver
	worker workerSolver // nil for Native

	spare    ipmodel.Result // the second answer of a solve
	inARow   int            // failures of the worker since it last did well
	resume   time.Time      // the worker is left alone until then
	failures int            // of the worker in this cycle
	fault    error          // the last of these
	now      func() time.Time
}

// workerSolver is what a solver needs of a highs.Solver.
type workerSolver interface {
	ipmodel.Solver
	Fault() error
	Asked() bool
	Wait()
}

func newSolver(s *Settings, now func() time.Time) *solver {
	v := &solver{mode: s.Solver, native: native.New(), now: now}
	if s.Solver != Native {
		v.worker = highs.New(highs.Options{Command: []string{s.Worker, "solver-worker"}, Memory: workerMemory})
	}
	return v
}

// Name implements [ipmodel.Solver].
func (s *solver) Name() string { return s.mode.String() }

// begin starts a cycle's count of failures.
func (s *solver) begin() { s.failures, s.fault = 0, nil }

// close returns when no process of the solver is left.
func (s *solver) close() {
	if s.worker != nil {
		s.worker.Wait()
	}
}

// Solve implements [ipmodel.Solver]. Without a deadline only native is used.
func (s *solver) Solve(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	switch {
	case !s.workerReady(&o):
		return s.native.Solve(ctx, m, o, r)
	case s.mode == HiGHS:
		return s.workerFirst(ctx, m, o, r)
	}
	return s.nativeFirst(ctx, m, o, r)
}

// workerReady reports whether the worker may be used in this solve.
func (s *solver) workerReady(o *ipmodel.Options) bool {
	if s.worker == nil || o.Deadline.IsZero() {
		return false
	}
	now := s.now()
	return !now.Before(s.resume) && o.Deadline.Sub(now) >= leastForWorker
}

// part is o with a deadline after that share of the time that is left.
func (s *solver) part(o ipmodel.Options, share float64) ipmodel.Options {
	now := s.now()
	o.Deadline = now.Add(time.Duration(share * float64(o.Deadline.Sub(now))))
	return o
}

// nativeFirst has the worker improve on what native could not prove.
func (s *solver) nativeFirst(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	if err := s.native.Solve(ctx, m, s.part(o, nativeShare), r); err != nil {
		return err
	}
	if r.Status != ipmodel.Feasible || o.Deadline.Sub(s.now()) < leastForWorker {
		return nil
	}
	o.Start, o.Work = r.Chosen, 0 // the time is there, it may be used
	s.askWorker(ctx, m, o, &s.spare)
	join(r, &s.spare)
	return nil
}

// workerFirst has native stand in for a worker that fails.
func (s *solver) workerFirst(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	if o.Start == nil {
		o.Start = []int32{}
	}
	well := s.askWorker(ctx, m, s.part(o, workerShare), r)
	if well && r.Status != ipmodel.Unknown {
		return nil
	}
	if len(r.Chosen) > 0 {
		o.Start = append([]int32(nil), r.Chosen...)
	}
	return s.native.Solve(ctx, m, o, r)
}

// askWorker has the worker fill r, and reports whether it did well: not if the time was over before
// it could be asked, which is no failure of its own. After a failure a choice that it has found
// counts all the same, since that is checked, but nothing else that it said.
func (s *solver) askWorker(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) bool {
	err := guard(func() error { return s.worker.Solve(ctx, m, o, r) })
	if err == nil {
		err = s.worker.Fault()
	} else {
		*r = ipmodel.Result{Chosen: r.Chosen[:0]}
	}
	if err == nil && len(r.Chosen) > 0 {
		err = checkWorth(m, r)
	}
	if err == nil {
		if s.worker.Asked() {
			s.inARow = 0
		}
		return s.worker.Asked() || r.Status == ipmodel.Optimal
	}
	s.failures++
	s.fault = err
	if s.inARow++; s.inARow >= failuresInARow {
		s.resume = s.now().Add(workerPause)
	}
	r.Bound = ipmodel.MaxTotalValue
	if r.Status == ipmodel.Optimal {
		r.Status = ipmodel.Feasible
	}
	if r.Status != ipmodel.Feasible || checkWorth(m, r) != nil {
		*r = ipmodel.Result{Chosen: r.Chosen[:0]}
	}
	return false
}

// checkWorth is the referee of a worker's answer.
func checkWorth(m *ipmodel.Model, r *ipmodel.Result) error {
	worth, err := m.Check(r.Chosen)
	switch {
	case err != nil:
		return fmt.Errorf("the worker's choice is not feasible: %w", err)
	case worth != r.Value || r.Bound < r.Value:
		return fmt.Errorf("the worker's choice is worth %d, not %d with a bound of %d", worth, r.Value, r.Bound)
	}
	return nil
}

// join puts the better of two answers into r, and the lower of their bounds. Neither
// may claim that there is no feasible choice.
func join(r, other *ipmodel.Result) {
	if other.Status != ipmodel.Optimal && other.Status != ipmodel.Feasible {
		return
	}
	if other.Value > r.Value {
		r.Chosen, r.Value = append(r.Chosen[:0], other.Chosen...), other.Value
	}
	r.Work += other.Work
	r.Nodes += other.Nodes
	if r.Bound = min(r.Bound, other.Bound); r.Bound <= r.Value {
		r.Bound, r.Status = r.Value, ipmodel.Optimal
	}
}
