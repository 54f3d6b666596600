// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/ipmodel"
)

// AuctionOptions are what an Auction goes by. Preset makes them; docs/slurm.md has a table of the
// presets, and of the settings that may be changed: Objective to Compact.
type AuctionOptions struct {
	// Objective is what the start of a job is worth.
	Objective Objective
	// Window is the number of jobs that take part, the first of the queue by priority
	// (MAX_JOB_COUNT of ipsched, section IV). Jobs that can never run on this machine do not count,
	// nor do those that ask for what others before them do, of which no more can start.
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
	// number by what that costs all that wait (docs/worth.md, "Ranges of GPUs").
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
