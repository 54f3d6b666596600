// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"fmt"
	"maps"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// GPUShare is what shares of single GPUs are called among the further resources of a machine. No
// other resource may have that name.
const GPUShare = "gpu_share"

// AskGPUShare has r ask for one node if it says nothing of nodes and for a share of a GPU, and
// reports what does not go with such a share; 0 is for none, which goes with all. The share itself
// is among r.Uses once resources have numbers: see With.
func AskGPUShare(r *bids.Request, share int64) *bids.FieldError {
	why := ""
	switch {
	case share == 0:
		return nil
	case share < 0 || share > nodeset.MaxAmount:
		why = fmt.Sprintf("must be 0 to %d", int64(nodeset.MaxAmount))
	case r.MinNodes > 1 || r.MaxNodes > 1:
		why = "a share of a GPU is on one node: ask for no other number of nodes"
	case r.MinGPUs > 0 || r.MaxGPUs > 0:
		why = "a job with a share of a GPU asks for no GPUs beside"
	case len(r.Components) > 0:
		why = "jobs of several components have whole GPUs only"
	}
	if why != "" {
		return &bids.FieldError{Field: GPUShare, Value: share, Why: why}
	}
	r.MinNodes, r.MaxNodes = 1, 1
	return nil
}

// Exclusive is the name of a resource of which jobs that are alone on their nodes take all.
const Exclusive = "exclusive"

// With are u and one more, of so much on each node, if that is not 0; u stays as it is.
func (u Uses) With(name string, amount int64) Uses {
	if amount == 0 {
		return u
	}
	all := make(Uses, len(u)+1)
	maps.Copy(all, u)
	all[name] = nodeset.Use{PerNode: amount}
	return all
}
