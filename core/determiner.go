// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Determiner chooses the winners among a window's bids. That of an [Auction] without
// AuctionOptions.Determiner is AUCSCHED2's: it solves the model, and a winner gets what it has bid.
// It is used by one goroutine at a time.
type Determiner interface {
	// Name is how the auction with it is called.
	Name() string
	// Determine fills r with the winning bids. o.Start is a choice to begin with.
	Determine(ctx context.Context, w *market.Window, o ipmodel.Options, r *ipmodel.Result) error
	// Allocation is what the i-th winner of the last answer gets. It stays the Determiner's.
	Allocation(i int) []nodeset.Segment
}

// packing is the Determiner of AUCSCHED2.
type packing struct {
	solver ipmodel.Solver
	window *market.Window // of the last call
	chosen []int32
}

func (p *packing) Name() string { return "auction2" }

func (p *packing) Determine(ctx context.Context, w *market.Window, o ipmodel.Options, r *ipmodel.Result) error {
	if err := p.solver.Solve(ctx, w.Fixed, o, r); err != nil {
		return fmt.Errorf("solver %s: %w", p.solver.Name(), err)
	}
	p.window, p.chosen = w, r.Chosen
	return nil
}

func (p *packing) Allocation(i int) []nodeset.Segment {
	return p.window.Book.Allocation(int(p.chosen[i]))
}

// Model is the model of the last cycle, valid until the next; without bids it is empty.
func (a *Auction) Model() *ipmodel.Model { return &a.model.Model }

// Determiner is what chooses the winners.
func (a *Auction) Determiner() Determiner { return a.winners.by }
