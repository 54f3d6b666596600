// SPDX-License-Identifier: BSD-3-Clause

// Package older is what programs know of the policies before AUCSCHED2, and of Slurm's backfill,
// whether or not they have them: the benchmarks module has them.
package older

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/ipmodel"
)

// The names of the policies.
const (
	Auction1 = "auction1" // AUCSCHED1: the program chooses the winners' layouts
	IPSched  = "ipsched"  // one integer program without bids
)

// Policies makes them, in a program that has them.
type Policies struct {
	// Layouts as core.AuctionOptions.Determiner makes an auction AUCSCHED1's.
	Layouts func(packing ipmodel.Solver) market.Determiner
	// IPSched makes ipsched, unless the options are not valid.
	IPSched func(Options) (core.Policy, error)
}

// Options are the settings of ipsched. DefaultOptions has the recommended ones.
type Options struct {
	// Objective is what the start of a job is worth (ipsched, table IV).
	Objective core.Objective
	// Window is MAX_JOB_COUNT of ipsched, section IV: how many jobs take part, the first of the
	// queue by priority. Jobs that can never run on this machine do not count, nor do those that
	// the model does not know.
	Window int
	// NodeLimits has the numbers of nodes hold that jobs ask for (constraint 5). Without, jobs are
	// taken as [WithoutNodeLimits] says, and a plan is to be verified against such requests
	// (section VI, experiments 7 and 8).
	NodeLimits bool
	// OnTimeout is what happens when the deadline strikes before the search is done.
	OnTimeout Timeout
	// Work bounds the search, in the units of ipmodel.Options. 0 leaves the end to the
	// deadline. With a bound the decisions do not depend on the machine's speed, as long as the
	// deadline does not strike.
	Work int64
	// Clock tells the time, for core.Limits.Deadline; nil means time.Now.
	Clock func() time.Time
}

// DefaultOptions are the recommended settings.
func DefaultOptions() Options {
	return Options{Window: 200, NodeLimits: true, Work: 10_000_000}
}

// Shared are the settings of the auctions that ipsched has too, in fields of the same names.
var Shared = []string{"objective", "window", "work"}

// Read sets these as they are given to the auctions, "name=value"; faults are theirs to report.
func (o *Options) Read(given []string) {
	for _, pair := range given {
		if name, _, _ := strings.Cut(pair, "="); slices.Contains(Shared, name) {
			_, _ = settings.Set(settings.All, o, pair)
		}
	}
}

// Validate reports the first setting that is out of range, as a [*core.OptionError].
func (o *Options) Validate() error {
	switch {
	case o.Objective != core.ByPriority && o.Objective != core.BySize:
		return &core.OptionError{Option: "objective", Value: o.Objective, Why: "ipsched knows priority and size"}
	case int(o.OnTimeout) >= len(timeoutNames):
		return &core.OptionError{Option: "on timeout", Value: o.OnTimeout, Why: "is unknown"}
	}
	for _, name := range Shared {
		if s := settings.Find(name); s.Get(o) < s.Low || s.Get(o) > s.Most() {
			return &core.OptionError{Option: name, Value: s.Get(o), Why: s.Must()}
		}
	}
	return nil
}

// Timeout says what ipsched does when the deadline strikes before its search is done.
type Timeout uint8

const (
	// Incumbent starts the best selection that is known.
	Incumbent Timeout = iota
	// Halve starts no job and halves the next window, as in ipsched, section IV. How a window
	// grows again the paper does not say: here it doubles, up to Window, with every search
	// that is done in time.
	Halve
)

var timeoutNames = [...]string{Incumbent: "incumbent", Halve: "halve"}

func (o Timeout) String() string {
	if int(o) < len(timeoutNames) {
		return timeoutNames[o]
	}
	return fmt.Sprintf("time-out rule %d", uint8(o))
}

// WithoutNodeLimits is a request as if its job had asked for no number of nodes. One for nodes with
// tasks on each becomes one for the cores of as few nodes as it allows.
func WithoutNodeLimits(r bids.Request) bids.Request {
	r.Cores = int(min(place.LeastCores(&r), bids.MaxCores))
	r.MinNodes, r.MaxNodes = 0, 0
	return r
}
