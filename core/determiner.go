// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"io"

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
	Determine(ctx context.Context, w *ipmodel.Window, o ipmodel.Options, r *ipmodel.Result) error
	// Allocation is what the i-th winner of the last answer gets. It stays the Determiner's.
	Allocation(i int) []nodeset.Segment
	// WriteMPS writes the program of the last Determine.
	WriteMPS(out io.Writer, name string) error
}

// packing is the Determiner of AUCSCHED2.
type packing struct {
	solver ipmodel.Solver
	window *ipmodel.Window // of the last call
	chosen []int32
}

func (p *packing) Name() string { return "auction2" }

func (p *packing) Determine(ctx context.Context, w *ipmodel.Window, o ipmodel.Options, r *ipmodel.Result) error {
	if err := p.solver.Solve(ctx, w.Fixed, o, r); err != nil {
		return fmt.Errorf("solver %s: %w", p.solver.Name(), err)
	}
	p.window, p.chosen = w, r.Chosen
	return nil
}

func (p *packing) Allocation(i int) []nodeset.Segment {
	return p.window.Book.Allocation(int(p.chosen[i]))
}

func (p *packing) WriteMPS(out io.Writer, name string) error {
	return ipmodel.WriteMPS(out, p.window.Fixed, name)
}

// WriteMPS writes the program of the last cycle in free MPS: that of the papers for the auction's
// Determiner.
func (a *Auction) WriteMPS(out io.Writer, name string) error {
	if len(a.bidding.book.Bids) == 0 { // nobody has asked the Determiner
		return ipmodel.WriteMPS(out, &a.model.Model, name)
	}
	return a.winners.by.WriteMPS(out, name)
}
