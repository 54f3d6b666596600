package core

import (
	"context"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/ipmodel"
)

// solve finds the winners.
func (a *Auction) solve(ctx context.Context, l Limits) error {
	if a.layouts != nil {
		return a.solveLayouts(ctx, l)
	}
	o := ipmodel.Options{Deadline: l.Deadline, Now: l.Now, Seed: l.Seed, Work: a.work(), Start: a.bestStart()}
	if err := a.solver.Solve(ctx, &a.model, o, &a.result); err != nil {
		return fmt.Errorf("solver %s: %w", a.solver.Name(), err)
	}
	a.spent = a.result.Work
	a.lateWithout(l)
	return nil
}

// requiredNow are the required jobs of the model.
func (a *Auction) requiredNow() []bool {
	if len(a.model.Required) == 0 {
		return nil
	}
	return a.requiredJobs()
}

// boundAll is an upper bound on the worth of any allocations of the window's jobs, in the
// objective's unit.
func (a *Auction) boundAll() float64 {
	unit := 1 / math.Ldexp(a.model.Scale, a.shift) // to which worths are rounded
	bound := a.flat.Solve(&a.space, a.asks, a.requiredNow(), a.build.Alpha()+unit)
	return math.Ldexp(bound*(1+rounding), a.shift)
}

// rounding is more than what the floating-point sums of boundAll can be off by.
const rounding = 1e-9
