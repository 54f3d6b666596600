// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/ipmodel"
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

// newPolicy is the policy of the settings; ipsched brings a solver of its own.
func (e *Engine) newPolicy(s *Settings, v ipmodel.Solver) (core.Policy, error) {
	if s.Policy == IPSched {
		o := s.IPSched
		o.Clock = e.now
		return e.older.IPSched(o)
	}
	o := s.Auction
	o.Clock = e.now
	if s.Policy == Auction1 {
		o.Determiner = e.older.Layouts
	}
	return core.NewAuction(o, v)
}

// ender is a policy that wants to know when what comes after its decisions was done too: see
// core.Auction.Ended.
type ender interface{ Ended(at time.Time) }

// ended tells the policy, if it wants to know.
func (e *Engine) ended() {
	if p, ok := e.policy.(ender); ok {
		p.Ended(e.now())
	}
}

// freesNodes reports whether jobs are taken to have asked for no number of nodes.
func (s *Settings) freesNodes() bool { return s.Policy == IPSched && !s.IPSched.NodeLimits }

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
