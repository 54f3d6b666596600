// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"time"

	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// AuctionOptions are the settings of an Auction. DefaultAuctionOptions has the
// recommended ones, PaperAuctionOptions those of the papers.
type AuctionOptions struct {
	// Objective is what the start of a job is worth.
	Objective Objective
	// Window is the number of jobs that take part, the first of the queue by priority
	// (MAX_JOB_COUNT of ipsched, section IV). Jobs that can never run on this machine do not count.
	Window int
	// Depth is how many jobs behind the window may take what the auction leaves
	// over, in queue order; 0 as in the papers. Slurm's bf_max_job_test is alike.
	Depth int
	// MaxBidsPerJob is MAXBIDSPERJOB of aucsched1, section 5.
	MaxBidsPerJob int
	// Drafts is how many of a job's bids may come from drafts of the whole window.
	Drafts int
	// Determiner makes what chooses the winners, with the auction's solver. Without it, that is
	// AUCSCHED2's choice: bids say what each of their nodes gives (aucsched2, section 2).
	Determiner func(ipmodel.Solver) Determiner
	// ContiguousOnly leaves out bids of class C.
	ContiguousOnly bool
	// Reservations is for how many blocked jobs, the first of the queue or as Patience says, the
	// earliest possible start is kept free of jobs that come after them. 0 is the
	// papers' auction, in which a wide job can wait for ever.
	Reservations int
	// Patience is how many seconds of waiting weigh as much as the size of a job that asks for all
	// cores of the machine, or all GPUs, when it is settled for which blocked jobs Reservations
	// keeps places: those with most P_j (cores asked for / all cores + GPUs asked for / all GPUs +
	// time since Job.Since / Patience). When the whole queue is in the window, a job whose limit
	// exceeds half of the time in which all that runs and waits could be done has P_j 2 more, lest
	// it runs alone in the end. Of equal priorities a job that comes more than four times Patience
	// later does not get a place before it; it may start before it. 0 is queue order.
	Patience int64
	// Compact keeps jobs together: bids have at most one block of consecutive nodes more than the
	// fewest on which the idle machine could meet the job, and left-overs and reserved places none.
	// Two blocks where one would do lie near each other: from a job's first node to its last there
	// are at most twice as many nodes as it has.
	Compact bool
	// KeepHoles has jobs of one node start where that makes the fewest GPUs useless, for as long as
	// they run, to the requests that are usual: those that wait, run and have lately come
	// (Snapshot.Recent). That alone makes no job wait that could start. But small jobs start round
	// those that need a whole node, which are left over at once in the end. So three blocked jobs
	// beyond Reservations have places kept, of those that ask for more than half of a node's GPUs,
	// unless it says 0. Without GPUs it does nothing.
	KeepHoles bool
	// Goal, if there is one, has the jobs planned over time: Reservations places are then for the
	// first blocked jobs of the timetable. Patience says in which order jobs are served by the plan
	// that the timetable is measured against.
	Goal Goal
	// Serial is how many thousandths of the time of a job with a range of GPUs more of them do not
	// shorten, 0 to 1000; 0 as in aucsched2, equation 5. With a Goal such jobs get a number by what
	// that costs all that wait (docs/worth.md, "Ranges of GPUs").
	Serial int
	// ShrinkLimits says that a job which gets such a number has its time limit shortened likewise,
	// since limits are for the fewest GPUs. Callers see to that.
	ShrinkLimits bool
	// Promise is after how many seconds of waiting a job is not passed over any more: with a Goal
	// those that have waited longer come first, in queue order. 0: never.
	Promise int64
	// Estimates has reservations made even when nothing is free, so that blocked
	// jobs are always told when they are expected to start. Without it a cycle on
	// a full machine costs next to nothing.
	Estimates bool
	// Work bounds one solve, in the units of ipmodel.Options; small models get less. 0 leaves the
	// end to the deadline. With a bound the decisions do not depend on the machine's speed.
	Work int64
	// Clock tells the time, for Limits.Deadline and Stats.Elapsed; nil means time.Now.
	Clock func() time.Time
	off   cycle.Parts // of this cycle
}

// DefaultAuctionOptions are the recommended settings.
func DefaultAuctionOptions() AuctionOptions {
	return AuctionOptions{Window: 200, Depth: 500, MaxBidsPerJob: 15, Drafts: 7, Reservations: 1, Work: 10_000_000}
}

// ThroughputAuctionOptions are for machines on which how much is done counts for more than the
// order of the queue: places are kept for large jobs first, that they do not pile up until the end,
// short ones go before long ones, and jobs stay together. With them, and without,
// benchmarks/results/backfill.md compares the auction with backfill.
func ThroughputAuctionOptions() AuctionOptions {
	o := DefaultAuctionOptions()
	o.Objective, o.Patience, o.Compact = ByRate, 4*60*60, true
	return o
}

// PaperAuctionOptions are the settings of aucsched1, section 6: windows of 200 jobs,
// 5 bids a job by the rules of sections 4 and 5 alone, and no reservation.
func PaperAuctionOptions() AuctionOptions {
	return AuctionOptions{Window: 200, MaxBidsPerJob: 5, Work: 10_000_000}
}

// validate reports the first setting that is out of range, as an [*OptionError].
func (o *AuctionOptions) validate() error {
	if int(o.Objective) >= len(objectiveNames) {
		return &OptionError{"objective", int(o.Objective), "is unknown"}
	}
	if o.Goal >= goalsEnd {
		return &OptionError{"goal", int(o.Goal), "is unknown"}
	}
	for _, x := range []struct {
		name             string
		value, low, high int64
		unit             string
	}{
		{"window", int64(o.Window), 1, 1 << 20, " jobs"},
		{"depth", int64(o.Depth), 0, 1 << 20, " jobs"},
		{"bids per job", int64(o.MaxBidsPerJob), 1, 1 << 12, ""},
		{"drafts", int64(o.Drafts), 0, int64(o.MaxBidsPerJob), ", the bids per job"},
		{"reservations", int64(o.Reservations), 0, 64, ""},
		{"patience", o.Patience, 0, NoTimeLimit, " seconds"},
		{"serial", int64(o.Serial), 0, maxSerial, " thousandths"},
		{"promise", o.Promise, 0, NoTimeLimit, " seconds"},
	} {
		if x.value < x.low || x.value > x.high {
			return &OptionError{x.name, x.value, fmt.Sprintf("must be %d to %d%s", x.low, x.high, x.unit)}
		}
	}
	if o.Work < 0 {
		return &OptionError{"work", o.Work, "must not be negative"}
	}
	return nil
}

// morePlaces is for how many blocked jobs more KeepHoles keeps places, of those that ask for more
// than half of a node's GPUs. Others find holes soon, and places for them hold up those behind
// (docs/decisions.md, "Holes").
const morePlaces = 3

// placesForLarge is for how many such jobs of a machine, beyond Reservations, places are kept.
func (o *AuctionOptions) placesForLarge(machine *nodeset.Table) int {
	if o.KeepHoles && o.Reservations > 0 && machine.MaxGPUs() > 0 {
		return morePlaces
	}
	return 0
}
