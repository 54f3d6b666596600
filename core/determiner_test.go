// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
)

// another chooses as AUCSCHED2 does, and is another Determiner to an auction.
type another struct{ packing }

func (*another) Name() string { return "another" }

// layouts makes an auction with another Determiner than AUCSCHED2's.
func layouts(solver ipmodel.Solver) market.Determiner { return &another{packing{solver: solver}} }
