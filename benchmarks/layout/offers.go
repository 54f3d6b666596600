// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
)

// offers are the bids of all offers, each if those before it leave room for it: a choice to begin with.
func offers(w *Window) (chosen []int32) {
	var rest place.Residual
	rest.Reset(w.Space.Now, w.Space.Left)
	rest.Limit(&w.Space.Quotas)
	for j := range w.Variants {
		v := &w.Variants[j]
		for b := w.Book.JobStart[j]; b < w.Book.JobStart[j+1]; b++ {
			if w.Book.Bids[b].Class == market.ClassS && rest.Take(&v.Spec, w.Book.Allocation(int(b)), v.Crosses) == nil {
				chosen = append(chosen, b)
				break
			}
		}
	}
	return chosen
}
