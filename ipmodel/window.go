// SPDX-License-Identifier: BSD-3-Clause

package ipmodel

import "github.com/aucsched/aucsched/bids"

// Window is what a choice of winners is about: a window's bids, and AUCSCHED2's model of them. It
// is not modified.
type Window struct {
	Space    *bids.Space
	Variants []bids.Variant
	Book     *bids.Book
	// Fixed is the model, by [Builder.Build]: the bids' worths, the jobs that are required, and the
	// layouts as they were bid.
	Fixed *Model
}
