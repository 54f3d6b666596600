// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
)

// IPSchedOptions are the settings of an IPSched. DefaultIPSchedOptions has the recommended ones.
type IPSchedOptions struct {
	// Objective is what the start of a job is worth (ipsched, table IV).
	Objective core.Objective
	// Window is MAX_JOB_COUNT of ipsched, section IV: how many jobs take part, the first of the queue by
	// priority. Jobs that can never run on this machine do not count, nor do those that the model does not know.
	Window int
	// NodeLimits has the numbers of nodes hold that jobs ask for (constraint 5). Without, jobs are taken as
	// [WithoutNodeLimits] says, and a plan is to be verified against such requests (section VI, experiments 7 and 8).
	NodeLimits bool
	// OnTimeout is what happens when the deadline strikes before the search is done.
	OnTimeout Timeout
	// Work bounds the search, in the units of ipmodel.Options. 0 leaves the end to the deadline. With a
	// bound the decisions do not depend on the machine's speed, as long as the deadline does not strike.
	Work int64
}

// DefaultIPSchedOptions are the recommended settings.
func DefaultIPSchedOptions() IPSchedOptions {
	return IPSchedOptions{Window: 200, NodeLimits: true, Work: 10_000_000}
}

// Validate reports the first setting that is out of range.
func (o *IPSchedOptions) Validate() error {
	switch {
	case o.Objective != core.ByPriority && o.Objective != core.BySize:
		return fmt.Errorf("%v: ipsched knows priority and size", o.Objective)
	case o.Window < 1 || o.Window > 1<<20:
		return fmt.Errorf("window %d: must be 1 to %d jobs", o.Window, 1<<20)
	case int(o.OnTimeout) >= len(timeoutNames):
		return fmt.Errorf("%v: is unknown", o.OnTimeout)
	case o.Work < 0:
		return fmt.Errorf("work %d: must not be negative", o.Work)
	}
	return nil
}

// Timeout says what an IPSched does when the deadline strikes before its search is done.
type Timeout uint8

const (
	// Incumbent starts the best selection that is known.
	Incumbent Timeout = iota
	// Halve starts no job and halves the next window, as in ipsched, section IV. How a window grows again the
	// paper does not say: here it doubles, up to Window, with every search that is done in time.
	Halve
)

var timeoutNames = [...]string{Incumbent: "incumbent", Halve: "halve"}

func (o Timeout) String() string {
	if int(o) < len(timeoutNames) {
		return timeoutNames[o]
	}
	return fmt.Sprintf("time-out rule %d", uint8(o))
}

// ParseTimeout is the Timeout of that name: incumbent or halve.
func ParseTimeout(name string) (Timeout, error) {
	for o, n := range timeoutNames {
		if n == name {
			return Timeout(o), nil
		}
	}
	return 0, fmt.Errorf("on-timeout %q: must be incumbent or halve", name)
}

// WithoutNodeLimits is a request as if its job had asked for no number of nodes. One for nodes with tasks on
// each becomes one for the cores of as few nodes as it allows.
func WithoutNodeLimits(r bids.Request) bids.Request {
	r.Cores = int(min(r.LeastCores(), bids.MaxCores))
	r.MinNodes, r.MaxNodes = 0, 0
	return r
}
