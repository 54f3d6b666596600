// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/internal/layout"
	"github.com/aucsched/aucsched/ipmodel"
)

// layouts makes an auction AUCSCHED1's.
func layouts(packing ipmodel.Solver) Determiner { return layout.NewDeterminer(packing) }
