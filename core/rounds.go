package core

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/ipmodel"
)

// solve finds the winners: among the bids that the jobs made by themselves, and then in rounds
// among ever more that they choose at the prices of the round before (column generation).
// A round starts from the winners of the last one, so that it never loses. All but the last are
// cut short: it is the last that has all the bids.
func (a *Auction) solve(ctx context.Context, l Limits) error {
	a.spent = 0
	if a.layouts != nil {
		return a.solveLayouts(ctx, l)
	}
	start := a.bestStart()
	for left := a.opts.PricedRounds; ; left-- {
		if err := a.solveOnce(ctx, l, start, 3*left+1); err != nil {
			return err
		}
		if left == 0 || !a.worthAnotherRound(l) {
			break
		}
		var err error
		if start, err = a.bidAtPrices(l); err != nil {
			return err
		}
	}
	a.lateWithout(l)
	return nil
}

// solveOnce solves the model with one part in shares of the work and time that are left.
func (a *Auction) solveOnce(ctx context.Context, l Limits, start []int32, shares int) error {
	o := ipmodel.Options{Deadline: l.Deadline, Now: l.Now, Seed: l.Seed, Start: start}
	if work := a.work(); work > 0 {
		o.Work = max(1, (work-a.spent)/int64(shares))
	}
	if !l.Deadline.IsZero() && shares > 1 {
		now := l.Now()
		o.Deadline = now.Add(l.Deadline.Sub(now) / time.Duration(shares))
	}
	if err := a.solver.Solve(ctx, &a.model, o, &a.result); err != nil {
		return fmt.Errorf("solver %s: %w", a.solver.Name(), err)
	}
	a.spent += a.result.Work
	return nil
}

// worthAnotherRound reports whether there are winners, prices and time to go on from.
func (a *Auction) worthAnotherRound(l Limits) bool {
	known := a.result.Status == ipmodel.Optimal || a.result.Status == ipmodel.Feasible
	return known && len(a.result.Prices) == len(a.model.Cap) && (l.Deadline.IsZero() || l.Now().Before(l.Deadline))
}

// bidAtPrices adds the bids of a round to the model and returns the winners so far in it.
func (a *Auction) bidAtPrices(l Limits) ([]int32, error) {
	a.build.NodePrices(&a.space, a.result.Prices, &a.prices)
	o := bids.PricedOptions{MaxBidsPerJob: a.opts.MaxBidsPerJob + a.opts.MaxPricedBids}
	if !l.Deadline.IsZero() {
		o.Stop = func() bool { return !l.Now().Before(l.Deadline) }
	}
	moved := a.gen.GeneratePriced(&a.prices, o)
	a.start = a.start[:0]
	for _, b := range a.result.Chosen {
		a.start = append(a.start, moved[b])
	}
	if err := a.build.Build(&a.space, a.asks, &a.book, a.requiredNow(), &a.model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	a.rescale()
	return a.start, nil
}

// requiredNow are the required jobs of the model as it was first built.
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
