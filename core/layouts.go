package core

import (
	"context"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/layout"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// solveLayouts is solve where the program chooses the layouts.
func (a *Auction) solveLayouts(ctx context.Context, l Limits) error {
	a.laying = layout.Window{Space: &a.space, Asks: a.asks, Book: &a.book, Fixed: &a.model}
	o := ipmodel.Options{Deadline: l.Deadline, Now: l.Now, Seed: l.Seed, Work: a.work(), Start: a.bestStart()}
	if err := a.layouts.Solve(ctx, &a.laying, o, &a.laid); err != nil {
		return err
	}
	a.result, a.spent = a.laid.Result, a.laid.Work
	a.lateWithout(l)
	return nil
}

// lateWithout notes that the deadline struck before the optimum was known.
func (a *Auction) lateWithout(l Limits) {
	a.unproven = a.result.Status != ipmodel.Optimal && !l.Deadline.IsZero() && !l.Now().Before(l.Deadline)
	a.cut = a.cut || a.unproven
}

// won is the allocation of the i-th winner.
func (a *Auction) won(i int) []nodeset.Segment {
	if a.layouts != nil {
		return a.laid.Layout(i)
	}
	return a.book.Allocation(int(a.result.Chosen[i]))
}

// Program is the program of the last cycle as the papers write it: AUCSCHED1's with
// AuctionOptions.Layouts, nil without, for then it is Model.
func (a *Auction) Program() (*ipmodel.Program, error) {
	if a.layouts == nil || len(a.book.Bids) == 0 {
		return nil, nil
	}
	d, err := ipmodel.NewDirect(&a.space, a.asks, &a.book, &a.model)
	if err != nil {
		return nil, err
	}
	return &d.Program, nil
}

// startOfOffers is the choice of all offers, each if those before it leave room for it.
func (a *Auction) startOfOffers(dst []int32) (chosen []int32, worth int64) {
	a.rest.Reset(&a.space)
	for j := range a.asks {
		for b := a.book.JobStart[j]; b < a.book.JobStart[j+1]; b++ {
			if a.book.Bids[b].Class != bids.ClassS {
				continue
			}
			if a.rest.Take(a.book.Allocation(int(b)), a.asks[j].Crosses) == nil {
				dst, worth = append(dst, b), worth+a.asks[j].Priority
				break
			}
		}
	}
	return dst, worth
}
