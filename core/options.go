// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/timeline"
	"github.com/aucsched/aucsched/ipmodel"
)

// AuctionOptions are the settings of an Auction. Make them with [Preset]. Of a preset, Objective to
// Compact may be changed: docs/reference/settings.md has a table.
type AuctionOptions struct {
	// Objective is what the start of a job is worth.
	Objective Objective
	// Window is the number of jobs that take part, the first of the queue by priority
	// (MAX_JOB_COUNT of ipsched, section IV). Jobs that can never run on this machine do not count.
	Window int
	// Depth bounds the backfill of jobs behind the window, in queue order, with what the auction
	// leaves over. It ends after so many jobs with different requests have found no place. 0: no
	// backfill, as in the papers. It is like Slurm's bf_max_job_test.
	Depth int
	// Reservations is how many blocked jobs get a reservation at their earliest start: the first of
	// the queue, or those that Patience chooses. 0 is the papers' auction, in which a wide job can
	// wait for ever.
	Reservations int
	// Patience > 0, in seconds, reserves for blocked jobs not in queue order, but by P_j (cores +
	// GPUs + wait). Cores and GPUs are shares of the machine; the wait is the time since Job.Since,
	// divided by Patience. If the whole queue is in the window, jobs whose limit exceeds half of
	// the remaining makespan come first (2 P_j more). Of equal priorities a job that came more than
	// four times Patience later gets no reservation before.
	Patience int64
	// Promise is the wait in seconds after which a job is not passed over any more: with a preset
	// that plans, such jobs come first, in queue order. 0: never.
	Promise int64
	// Compact keeps jobs in few blocks of consecutive nodes. Bids have at most one block more than
	// the job needs on the idle machine; backfilled jobs and reservations have none more. Two
	// blocks span at most twice as many nodes as the job has.
	Compact bool
	settings.Inner
	// Determiner returns the winner determination for a solver; nil means AUCSCHED2's (section 2).
	Determiner func(ipmodel.Solver) market.Determiner
	// Serial is the serial part of the run time of a job with a range of GPUs, in thousandths, 0 to
	// 1000: more GPUs do not shorten it. 0 is equation 5 of aucsched2. With a preset that plans,
	// such jobs get the number that costs all waiting jobs least (docs/explanation/presets.md,
	// "Ranges of GPUs").
	Serial int
	// ShrinkLimits says that the caller shortens the time limit of a job that gets more than the
	// fewest GPUs, as limits are for the fewest.
	ShrinkLimits bool
	// Estimates makes reservations even if nothing is free, so that blocked jobs always have an
	// expected start. Without it a cycle on a full machine costs next to nothing.
	Estimates bool
	// Clock tells the time, for Limits.Deadline and Stats.Elapsed; nil means time.Now.
	Clock   func() time.Time
	off     cycle.Parts // of this cycle
	unknown string      // a preset that there is not
}

// Preset returns the options of that name: default (also ""), none, short, throughput, packed or
// paper. NewAuction rejects those of any other name.
func Preset(name string) (o AuctionOptions) {
	if !settings.Fill(&o, name) {
		o.unknown = name
	}
	return o
}

// validate reports the first setting that is out of range, as an [*OptionError].
func (o *AuctionOptions) validate() error {
	if o.unknown != "" {
		return &OptionError{"preset", o.unknown, "must be one of " + strings.Join(settings.Names(), ", ")}
	}
	for i := range settings.All {
		s := &settings.All[i]
		if v := s.Get(o); v < s.Low || v > s.Most() {
			return &OptionError{s.Name, v, s.Must()}
		}
	}
	if o.Serial < 0 || o.Serial > maxSerial {
		return &OptionError{"serial", o.Serial, fmt.Sprintf("must be 0 to %d thousandths", maxSerial)}
	}
	return nil
}

// maxSerial is AuctionOptions.Serial of jobs that further GPUs do not make shorter.
const maxSerial = 1000

// Objective says what the start of a job is worth to an Auction. The queue is in
// order of priority under either.
type Objective uint8

const (
	// ByPriority maximises the sum of P_j over the jobs that start (the first
	// objective of ipsched, section IV).
	ByPriority Objective = iota
	// BySize maximises the sum of P_j R_j, R_j being the cores that the job asks for
	// (ipsched's second objective), so that large jobs are not given away for small ones. Of
	// a job with alternatives R_j is what its first request asks for, whichever is met. Of a job
	// that takes no core it is 1.
	BySize
	// ByRate maximises the sum of P_j S_j / T_j. S_j is the job's share of all cores plus that of
	// all GPUs, T_j its time limit in seconds. Large jobs come first, and of equally large ones the
	// shorter.
	ByRate
)

// goal is what a settings.Goal means.
type goal struct {
	jobs   int // of the window that are planned
	search timeline.Options
	// wide is of what share of the machine, of the resource of which that is most, blocked jobs
	// have places kept; narrower ones only once they have waited for AuctionOptions.Patience.
	wide float64
}

var goals = [...]goal{
	settings.NoGoal: {},
	settings.Fair: {jobs: 60, search: timeline.Options{
		Weights: timeline.Values{timeline.Wait: 1, timeline.Squares: 1, timeline.AreaSquares: 1, timeline.Width: 1, timeline.End: 1},
		Caps:    timeline.Values{timeline.AreaSquares: 1, timeline.Width: 1, timeline.End: 1, timeline.Longest: 1},
		Moves:   30, Work: planWork,
	}},
	settings.Short: {jobs: 500, search: timeline.Options{
		Weights: timeline.Values{timeline.Wait: 1, timeline.Slowdown: 1},
		Caps:    timeline.Values{timeline.Area: 1, timeline.Width: 1, timeline.End: 1, timeline.Longest: 1},
		Work:    planWork,
	}},
	settings.Most: {jobs: 500, wide: 0.25, search: timeline.Options{
		Weights: timeline.Values{timeline.Wait: 1, timeline.Squares: 0.5, timeline.Area: 1, timeline.Width: 0.5, timeline.End: 2},
		Caps:    timeline.Values{timeline.Area: 1, timeline.Width: 1, timeline.End: 1, timeline.Longest: 1},
		Work:    planWork,
	}},
}

// planWork bounds a cycle's search, in words of the timeline.
const planWork = 36_000_000
