// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/layout"
	"github.com/aucsched/aucsched/ipmodel"
)

// Layouts as core.AuctionOptions.Determiner makes the auction "auction1", which is AUCSCHED1: the
// program chooses how many cores each of a winner's nodes gives.
func Layouts(packing ipmodel.Solver) core.Determiner { return layout.NewDeterminer(packing) }
