// SPDX-License-Identifier: BSD-3-Clause

package peers

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/aucsched/aucsched/benchmarks/mpsread"
	"github.com/aucsched/aucsched/ipmodel"
)

// Answer is what a solver makes of a window in the time it is given.
type Answer struct {
	// Worth is that of the choice, checked; -1 without one.
	Worth int64
	// Bound is what the solver says no choice is worth more than, +Inf if it says nothing.
	Bound float64
	// Optimal says that the solver claims to have proven its choice.
	Optimal bool
	// Elapsed is the time from the file to the answer.
	Elapsed time.Duration
}

// Gap is by how much the bound may be above a worth, as a part of that worth.
func (a Answer) Gap(worth int64) float64 {
	if worth <= 0 {
		return math.Inf(1)
	}
	return a.Bound/float64(worth) - 1
}

// Peer is a solver.
type Peer interface {
	Name() string
	// Solve answers within about limit, or says why there is no answer.
	Solve(ctx context.Context, w *Window, limit time.Duration) (Answer, error)
}

// ErrMissing says that a solver is not installed, and how it can be.
type ErrMissing struct{ What string }

func (e *ErrMissing) Error() string { return e.What }

// Library is a solver of this module.
type Library struct {
	Solver ipmodel.Solver
	// Gap ends a solve early, see [ipmodel.Options].
	Gap float64
}

// Name implements [Peer].
func (l Library) Name() string { return l.Solver.Name() }

// Solve implements [Peer]. Reading the file does not count.
func (l Library) Solve(ctx context.Context, w *Window, limit time.Duration) (Answer, error) {
	f, err := os.Open(w.Path)
	if err != nil {
		return Answer{}, err
	}
	defer f.Close()
	p, err := mpsread.Read(f, w.Path)
	if err != nil {
		return Answer{}, err
	}
	var r ipmodel.Result
	begin := time.Now()
	if err := l.Solver.Solve(ctx, p.Model, ipmodel.Options{Deadline: begin.Add(limit), Gap: l.Gap}, &r); err != nil {
		return Answer{}, fmt.Errorf("%s: %w", l.Name(), err)
	}
	a := Answer{Worth: -1, Bound: math.Inf(1), Elapsed: time.Since(begin), Optimal: r.Status == ipmodel.Optimal}
	if r.Status == ipmodel.Optimal || r.Status == ipmodel.Feasible {
		if a.Worth, err = w.Check(p.Names(r.Chosen)); err != nil {
			return Answer{}, fmt.Errorf("%s: %w", l.Name(), err)
		}
		a.Bound = w.worth(p.Bound(r.Bound))
	}
	return a, a.contradicts(w, l.Name())
}

// contradicts is the error that a bound lies below the solver's own choice. Some of
// what floating-point solvers round is let pass.
func (a *Answer) contradicts(w *Window, name string) error {
	if a.Worth >= 0 && a.Bound < float64(a.Worth)*(1-1e-6) {
		return fmt.Errorf("%s: %s: the bound %.0f is below the worth %d of its own choice", name, w.Name, a.Bound, a.Worth)
	}
	a.Bound = math.Max(a.Bound, float64(a.Worth))
	return nil
}
