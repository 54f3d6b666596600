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

// AuctionOptions are what an Auction goes by. Preset makes them; docs/reference/settings.md has a table of the
// presets, and of the settings that may be changed: Objective to Compact.
type AuctionOptions struct {
	// Objective is what the start of a job is worth.
	Objective Objective
	// Window is the number of jobs that take part, the first of the queue by priority
	// (MAX_JOB_COUNT of ipsched, section IV). Jobs that can never run on this machine do not count.
	Window int
	// Depth is how many different requests of jobs behind the window are tried in vain on what the
	// auction leaves over, in queue order, before the cycle ends; so many jobs are told why they
	// wait. 0: nothing is left to them, as in the papers. Slurm's bf_max_job_test is alike.
	Depth int
	// Reservations is for how many blocked jobs, the first of the queue or as Patience says, the
	// earliest possible start is kept free of jobs that come after them. 0 is the
	// papers' auction, in which a wide job can wait for ever.
	Reservations int
	// Patience, if not 0, has places kept for the blocked jobs with most P_j (cores asked for / all cores
	// + GPUs asked for / all GPUs + time since Job.Since / Patience seconds), not for the first of the
	// queue. When the whole queue is in the window, a job whose limit exceeds half of the time in which
	// all that runs and waits could be done has P_j 2 more, lest it runs alone in the end. Of equal
	// priorities a job that comes more than four times Patience later gets no place before.
	Patience int64
	// Promise is after how many seconds of waiting a job is not passed over any more: with a preset
	// that plans those that have waited longer come first, in queue order. 0: never.
	Promise int64
	// Compact gives bids at most one block of consecutive nodes more than the fewest on which the idle
	// machine could meet the job, left-overs and reserved places none. From the first node to the last
	// of two blocks there are at most twice as many nodes as the job has.
	Compact bool
	settings.Inner
	// Determiner makes what chooses the winners, with the auction's solver. Without it, that is
	// AUCSCHED2's choice: bids say what each of their nodes gives (aucsched2, section 2).
	Determiner func(ipmodel.Solver) market.Determiner
	// Serial is how many thousandths of the time of a job with a range of GPUs more of them do not
	// shorten, 0 to 1000; 0 as in aucsched2, equation 5. With a preset that plans such jobs get a
	// number by what that costs all that wait (docs/explanation/presets.md, "Ranges of GPUs").
	Serial int
	// ShrinkLimits says that a job which gets such a number has its time limit shortened likewise,
	// since limits are for the fewest GPUs. Callers see to that.
	ShrinkLimits bool
	// Estimates has reservations made even when nothing is free, so that blocked
	// jobs are always told when they are expected to start. Without it a cycle on
	// a full machine costs next to nothing.
	Estimates bool
	// Clock tells the time, for Limits.Deadline and Stats.Elapsed; nil means time.Now.
	Clock   func() time.Time
	off     cycle.Parts // of this cycle
	unknown string      // a preset that there is not
}

// Preset are the options of that name: default ("" too), none, short, throughput, packed or paper.
// Of another name they are refused by NewAuction.
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
	// ByRate maximises the sum of P_j S_j / T_j, S_j being the job's share of all cores plus
	// that of all GPUs and T_j its time limit in seconds: large jobs first, and of two as
	// large the shorter one.
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
const planWork = 40_000_000
