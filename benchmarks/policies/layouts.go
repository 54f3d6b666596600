// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"errors"

	"github.com/aucsched/aucsched/benchmarks/highs"
	"github.com/aucsched/aucsched/benchmarks/layout"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/ipmodel"
)

// Older are the policies before AUCSCHED2.
func Older() *older.Policies {
	return &older.Policies{Layouts: Layouts, IPSched: func(o older.Options) (core.Policy, error) { return NewIPSched(o) }}
}

// NewHiGHS makes the solver of that name, or says that the program was built without it.
func NewHiGHS() (ipmodel.Solver, error) {
	if !highs.Built {
		return nil, cli.BadInput(errors.New("--solver: highs is not built into this program: build it with make"))
	}
	return highs.New(highs.Options{}), nil
}

// Layouts as core.AuctionOptions.Determiner makes the auction "auction1", which is AUCSCHED1: the
// program chooses how many cores each of a winner's nodes gives.
func Layouts(packing ipmodel.Solver) market.Determiner { return layout.NewDeterminer(packing) }
