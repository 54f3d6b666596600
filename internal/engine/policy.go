// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
)

// PolicyName says how an [Engine] decides.
type PolicyName uint8

// The policies.
const (
	Auction2 PolicyName = iota // AUCSCHED2
	Auction1                   // AUCSCHED1: the program chooses the winners' layouts
	IPSched                    // one integer program without bids
)

var policyNames = [...]string{Auction2: "auction2", Auction1: older.Auction1, IPSched: older.IPSched}

func (p PolicyName) String() string { return policyNames[p] }

// dropNodeLimits makes of the jobs' requests what counts of them without limits on nodes, for
// the policy and for who judges its plan.
func (s *snapshot) dropNodeLimits() {
	for _, job := range s.Pending {
		job.Request = older.WithoutNodeLimits(job.Request)
	}
}

// whyCodes are core's reasons as codes of the library.
var whyCodes = [...]uint8{
	core.NoFit: WaitsFit, core.Lost: WaitsLost, core.Reserved: WaitsReserved, core.Never: WaitsNever,
	core.Unmodelled: NotLookedAt, core.TimedOut: TimedOut, core.OverQuota: WaitsQuota,
}

// codeOf is the code of the reason for which a job waits; false if it has none.
func codeOf(why core.Why) (code uint8, ok bool) {
	if why == 0 || int(why) >= len(whyCodes) {
		return 0, false
	}
	return whyCodes[why], true
}

// class is the class of a start's bid; ipsched has no bids.
func (p PolicyName) class(c bids.Class) byte {
	if p == IPSched {
		return 'I'
	}
	return byte(c)
}
