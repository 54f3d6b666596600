// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Amounts are numbers by the name of a further resource, in the caller's units.
type Amounts map[string]int64

// Uses is what an allocation takes of further resources on each of its nodes, or counts against
// quotas, by name; Row says nothing.
type Uses map[string]nodeset.Use

// maxResourceName is how long the name of a further resource may be, in bytes.
const maxResourceName = 64

// CheckResource returns an error for an invalid name of a further resource. A name is 1 to 64 printable
// characters of ASCII without spaces, and not that of a field of nodes.
func CheckResource(name string) error {
	odd := func(c rune) bool { return c <= ' ' || c > '~' }
	if name == "" || len(name) > maxResourceName || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("%.80q is not a name of 1 to %d printable characters without spaces", name, maxResourceName)
	}
	if slices.Contains([]string{"nodes", "cores", "gpus", "cores_per_node", "gpus_per_node", "contiguous", GPUShare, Exclusive}, name) {
		return fmt.Errorf("%q is no further resource: nodes have fields for these", name)
	}
	return nil
}

// AnyNumbers is uses with each resource by a number that is not its own, to see whether a request
// is valid that takes them, before the numbers are known.
func (u Uses) AnyNumbers() nodeset.Uses {
	next := -1
	uses, _ := u.Numbered(func(string) (int, bool) { next++; return next, true })
	return uses
}

// Numbered is uses with each row by its number, such that take nothing left out; nil if none is
// left. unknown is the first name that has no number.
func (u Uses) Numbered(number func(name string) (int, bool)) (uses nodeset.Uses, unknown string) {
	for _, name := range slices.Sorted(maps.Keys(u)) {
		row, ok := number(name)
		if !ok {
			return nil, cmp.Or(name, `""`)
		}
		x := u[name]
		x.Row = row
		if x != (nodeset.Use{Row: row}) {
			uses = append(uses, x)
		}
	}
	slices.SortFunc(uses, func(a, b nodeset.Use) int { return a.Row - b.Row })
	return uses, ""
}

// Named is uses with each row by its name.
func Named(uses nodeset.Uses, name func(row int) string) Uses {
	named := make(Uses, len(uses))
	for _, u := range uses {
		of := name(u.Row)
		u.Row = 0
		named[of] = u
	}
	return named
}

// GPUShare is what shares of single GPUs are called among the further resources of a machine. No
// other resource may have that name.
const GPUShare = "gpu_share"

// AskGPUShare has r ask for one node if it names no nodes but a share of a GPU. It reports what
// does not go with such a share; 0: no share. It is among r.Uses once resources have numbers: see
// With.
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
