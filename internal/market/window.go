// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"context"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Window is what a choice of winners is about: a window's bids, and AUCSCHED2's model of them. It
// is not modified.
type Window struct {
	Space    *Space
	Variants []Variant
	Book     *Book
	// Fixed is the model, by [Builder.Build]: the bids' worths, the jobs that are required, and the
	// layouts as they were bid.
	Fixed *ipmodel.Model
}

// Determiner chooses the winners among a window's bids. An auction's own is AUCSCHED2's: it solves
// the model, and a winner gets what it has bid. It is used by one goroutine at a time.
type Determiner interface {
	// Name is how the auction with it is called.
	Name() string
	// Determine fills r with the winning bids. o.Start is a choice to begin with.
	Determine(ctx context.Context, w *Window, o ipmodel.Options, r *ipmodel.Result) error
	// Allocation is what the i-th winner of the last answer gets. It stays the Determiner's.
	Allocation(i int) []nodeset.Segment
	// Window is that of the last call, nil before the first.
	Window() *Window
}
