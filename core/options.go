package core

import (
	"fmt"

	"github.com/aucsched/aucsched/ipmodel"
)

// AuctionOptions are the settings of an Auction. DefaultAuctionOptions has the
// recommended ones, PaperAuctionOptions those of the papers.
type AuctionOptions struct {
	// Objective is what the start of a job is worth.
	Objective Objective
	// Window is the number of jobs that take part, the first of the queue by
	// priority (MAX_JOB_COUNT of ipsched, section IV). Jobs that can never run on
	// this machine do not count.
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
	// time since Job.Since / Patience). When the whole queue is in the window, a job whose limit exceeds
	// half of the time in which all that runs and waits could be done has P_j 2 more, lest it
	// runs alone in the end. Of equal priorities no job is passed over by one that comes more than four
	// times Patience later. 0 is queue order.
	Patience int64
	// Compact keeps jobs together: bids have at most one block of consecutive nodes more than the
	// fewest on which the idle machine could meet the job, and left-overs and reserved places none. Two blocks where one would do lie near each
	// other: from a job's first node to its last there are at most bids.MaxReach times as many nodes as
	// it has.
	Compact bool
	// Estimates has reservations made even when nothing is free, so that blocked
	// jobs are always told when they are expected to start. Without it a cycle on
	// a full machine costs next to nothing.
	Estimates bool
	// Work bounds one solve, in the units of ipmodel.Options; small models get less.
	// 0 leaves the end to the deadline. With a bound the decisions do not depend on the machine's
	// speed.
	Work int64
}

// DefaultAuctionOptions are the recommended settings.
func DefaultAuctionOptions() AuctionOptions {
	return AuctionOptions{Window: 200, Depth: 500, MaxBidsPerJob: 15, Drafts: 7, Reservations: 1, Work: 10_000_000}
}

// ThroughputAuctionOptions are for machines on which how much is done counts for more than the
// order of the queue: places are kept for large jobs first, that they do not pile up until the end,
// short ones go before long ones, and jobs stay together. With them, and without, benchmarks/results/backfill.md
// compares the auction with backfill.
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

// Validate reports the first setting that is out of range.
func (o *AuctionOptions) Validate() error {
	switch {
	case int(o.Objective) >= len(objectiveNames):
		return fmt.Errorf("%v: is unknown", o.Objective)
	case o.Window < 1 || o.Window > 1<<20:
		return fmt.Errorf("window %d: must be 1 to %d jobs", o.Window, 1<<20)
	case o.Depth < 0 || o.Depth > 1<<20:
		return fmt.Errorf("depth %d: must be 0 to %d jobs", o.Depth, 1<<20)
	case o.MaxBidsPerJob < 1 || o.MaxBidsPerJob > 1<<12:
		return fmt.Errorf("bids per job %d: must be 1 to %d", o.MaxBidsPerJob, 1<<12)
	case o.Drafts < 0 || o.Drafts > o.MaxBidsPerJob:
		return fmt.Errorf("drafts %d: must be 0 to the %d bids per job", o.Drafts, o.MaxBidsPerJob)
	case o.Reservations < 0 || o.Reservations > 64:
		return fmt.Errorf("reservations %d: must be 0 to 64", o.Reservations)
	case o.Patience < 0 || o.Patience > NoTimeLimit:
		return fmt.Errorf("patience %d: must be 0 to %d seconds", o.Patience, int64(NoTimeLimit))
	case o.Work < 0:
		return fmt.Errorf("work %d: must not be negative", o.Work)
	}
	return nil
}
