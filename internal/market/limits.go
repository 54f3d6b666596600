// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// maxLimits bounds the memory of limits, and the time to ask them.
const maxLimits = 32

// limits remember what was left when a job found no place, as long as nothing is given
// back: a job that needs more than that of the same nodes, or of fewer, need not look.
type limits []limit

// limit is what the nodesets of a scan had. That of a request that takes no core has more cores
// than there are, and so bars fewer others than it could.
type limit struct {
	scanKey
	nodes, longest int   // of all, of the longest
	cores, largest int64 // of all, of the one with most
}

// bar reports whether a job of shape s has no place in the nodesets of a scan. If it
// says no, there need not be one.
func (l limits) bar(s *place.Spec, k scanKey) bool {
	for i := range l {
		if l[i].covers(k) && l[i].tooLittle(s) {
			return true
		}
	}
	return false
}

// covers reports whether nodes that k finds are all among those of x.
func (x *limit) covers(k scanKey) bool {
	return x.crosses <= k.crosses && x.gpus <= k.gpus && x.lo <= k.lo && x.uses == k.uses &&
		(x.eligible == nil || x.eligible == k.eligible)
}

func (x *limit) tooLittle(s *place.Spec) bool {
	cores := int64(s.Cores.Total)
	return x.nodes < s.Nodes.Min || x.cores < cores ||
		s.Contiguous && (x.longest < s.Nodes.Min || x.largest < cores)
}

// learn remembers the nodesets that a scan found.
func (l *limits) learn(k scanKey, sets []nodeset.Set) {
	x := limit{scanKey: k}
	for _, set := range sets {
		x.nodes += set.Len()
		x.cores += set.Cores
		x.longest = max(x.longest, set.Len())
		x.largest = max(x.largest, set.Cores)
	}
	for i := range *l {
		if (*l)[i].scanKey == k {
			(*l)[i] = x
			return
		}
	}
	if len(*l) < maxLimits {
		*l = append(*l, x)
	}
}
