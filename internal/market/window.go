// SPDX-License-Identifier: BSD-3-Clause

package market

import "github.com/aucsched/aucsched/ipmodel"

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
