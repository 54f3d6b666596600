// SPDX-License-Identifier: BSD-3-Clause

// Package portfolio runs several solvers on one model at the same time and takes the
// best of their answers.
package portfolio

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/ipmodel"
)

// Solver is an [ipmodel.Solver] made of others. The first of them that settles the model, or comes
// within [ipmodel.Options].Gap, ends the rest. The outcome depends on their speed, so that equal
// seeds need not give equal answers.
type Solver struct{ members []ipmodel.Solver }

// New returns a portfolio of at least one solver. They must not be used otherwise
// while the portfolio solves.
func New(members ...ipmodel.Solver) *Solver { return &Solver{members} }

// Name joins the members' names.
func (s *Solver) Name() string {
	var names []string
	for _, m := range s.members {
		names = append(names, m.Name())
	}
	return strings.Join(names, "+")
}

// Solve implements [ipmodel.Solver]: the choice that is worth most and the least
// bound of all members. It fails only if all members do.
func (s *Solver) Solve(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]ipmodel.Result, len(s.members))
	failed := make([]error, len(s.members))
	var group errgroup.Group
	for i, member := range s.members {
		group.Go(func() error {
			if err := solve(ctx, member, m, o, &results[i]); err != nil {
				failed[i] = fmt.Errorf("%s: %w", member.Name(), err)
				return nil
			}
			if settled(&results[i], o.Gap) {
				cancel()
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	answered := false
	for i := range results {
		if failed[i] == nil {
			merge(r, &results[i], !answered)
			answered = true
		}
	}
	if !answered {
		return errors.Join(failed...)
	}
	return nil
}

// solve is member.Solve with a panic as an error: it must not end the whole program.
func solve(ctx context.Context, member ipmodel.Solver, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return member.Solve(ctx, m, o, r)
}

func settled(r *ipmodel.Result, gap float64) bool {
	return r.Status == ipmodel.Optimal || r.Status == ipmodel.Infeasible ||
		r.Status == ipmodel.Feasible && ipmodel.WithinGap(r.Value, r.Bound, gap)
}

// merge puts the better of r and other into r; first says that r has nothing yet.
func merge(r, other *ipmodel.Result, first bool) {
	switch {
	case first:
		chosen := append(r.Chosen[:0], other.Chosen...)
		prices := append(r.Prices[:0], other.Prices...)
		*r = *other
		r.Chosen, r.Prices = chosen, prices
		return
	case other.Status == ipmodel.Infeasible:
		r.Chosen = r.Chosen[:0]
		r.Status, r.Value, r.Bound = other.Status, 0, 0
	case r.Status == ipmodel.Infeasible || other.Status == ipmodel.Unknown:
	case r.Status == ipmodel.Unknown || other.Value > r.Value:
		r.Chosen = append(r.Chosen[:0], other.Chosen...)
		r.Status, r.Value = other.Status, other.Value
	}
	if len(r.Prices) == 0 {
		r.Prices = append(r.Prices, other.Prices...)
	}
	r.Work += other.Work
	r.Nodes += other.Nodes
	if r.Status == ipmodel.Infeasible {
		return
	}
	r.Bound = min(r.Bound, other.Bound)
	if r.Status == ipmodel.Feasible && r.Value >= r.Bound {
		r.Status = ipmodel.Optimal
	}
}
