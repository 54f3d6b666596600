// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
)

// specOf is the normal form of a request, the zero Spec of one that is not valid.
func specOf(r *bids.Request) place.Spec {
	spec, err := place.SpecOf(r)
	if err != nil {
		return place.Spec{}
	}
	return spec
}

// drawRequest is requests.DrawAny, which tests in this package cannot import.
func drawRequest(t *rapid.T, n int) bids.Request {
	r := bids.Request{Contiguous: rapid.Bool().Draw(t, "contiguous"), Eligible: draw.Mask(t, n, "eligible")}
	r.MinGPUs = max(0, rapid.IntRange(-3, 2).Draw(t, "gpus"))
	r.MaxGPUs = r.MinGPUs + rapid.IntRange(0, 1).Draw(t, "range")
	if rapid.Bool().Draw(t, "nodes given") {
		r.MinNodes = rapid.IntRange(1, min(n, 8)+1).Draw(t, "min nodes")
		if rapid.Bool().Draw(t, "max nodes given") {
			r.MaxNodes = r.MinNodes + max(0, rapid.IntRange(-2, 3).Draw(t, "more nodes"))
		}
	}
	kind := rapid.IntRange(0, 3).Draw(t, "type")
	if kind == 0 || kind == 3 {
		r.TasksPerNode = rapid.IntRange(1, 6).Draw(t, "tasks per node")
	}
	if kind != 0 {
		r.Cores = max(r.MinNodes, rapid.IntRange(1, 40).Draw(t, "cores"))
	}
	return r
}
