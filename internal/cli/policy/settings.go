// SPDX-License-Identifier: BSD-3-Clause

package policy

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/report"
	"github.com/aucsched/aucsched/internal/sim"
)

// Settings are those of one of the policies, with the values that the run used.
func (f *Flags) Settings(policy string, flags *pflag.FlagSet) []report.Setting {
	switch policy {
	case "backfill":
		o := sim.DefaultBackfill()
		if f.Slurmctld {
			o.Interval, o.Test = slurmInterval, f.BackfillTest
		}
		return []report.Setting{
			number("bf_interval", o.Interval, "seconds from one pass of backfill to the next at least; 0: one in every cycle"),
			{Name: "Time to look at a job", Value: o.Test.String(), Meaning: "what a pass takes; 0s: no time"},
			number("bf_max_job_test", int64(o.MaxJobTest), "jobs that backfill looks at in a cycle"),
			number("bf_resolution", o.Resolution, "seconds of a time slot of its reservations"),
			number("bf_window", o.Window/60, "minutes ahead that it reserves nodes"),
			number("bf_max_job_start", int64(o.MaxJobStart), "jobs that it may start in a cycle; 0: no limit"),
			number("bf_min_prio_reserve", o.MinPrioReserve, "jobs of lower priority get no reservation"),
		}
	case "plan":
		return []report.Setting{{Name: "Order", Value: "annealed",
			Meaning: "the first 60 jobs of the queue are in a plan that is searched anew in every cycle; the others are smallest first"}}
	case "ipsched":
		return []report.Setting{
			number("Window", int64(f.Auction.Window), "jobs of the queue that are decided together"),
			number("Work", f.Auction.Work, "bound of one solve; 0: the deadline is"),
			{Name: "Objective", Value: f.objective, Meaning: "what the start of a job is worth"},
			{Name: "Numbers of nodes count", Value: cli.YesNo(f.nodeLimits), Meaning: "constraint 5 of the paper"},
			{Name: "On time-out", Value: f.onTimeout, Meaning: "what is started when the search has not ended"},
		}
	case "auction1", "auction2":
		o, err := f.auction(flags)
		if err != nil {
			return nil // the policy could not have been made
		}
		return []report.Setting{
			number("Window", int64(o.Window), "jobs of the queue that are decided together"),
			number("Depth", int64(o.Depth), "jobs behind the window that may take what is left over"),
			number("Bids", int64(o.MaxBidsPerJob), "allocations that a job may bid for"),
			number("Drafts", int64(o.Drafts), "of these, from drafts of the whole window"),
			number("Reservations", int64(o.Reservations), "blocked jobs whose earliest start is kept free"),
			{Name: "SLURM bids", Value: flags.Lookup("slurm-bids").Value.String(),
				Meaning: "jobs bid for what Slurm's selection would give them too"},
			{Name: "Goal", Value: o.Goal.String(), Meaning: "what the order of places is planned for; none: it is not"},
			{Name: "Promise", Value: (time.Duration(o.Promise) * time.Second).String(),
				Meaning: "after so long a wait a job is not passed over any more; 0s: no promise"},
			{Name: "Patience", Value: (time.Duration(o.Patience) * time.Second).String(),
				Meaning: "waiting that counts as much as asking for all cores, when a place is " +
					"kept for a blocked job; 0s: in queue order"},
			{Name: "Compact", Value: cli.YesNo(o.Compact), Meaning: "jobs lie in one block of nodes or in two"},
			{Name: "Holes kept", Value: cli.YesNo(o.KeepHoles),
				Meaning: "jobs of one node start where that makes the fewest GPUs useless, and with GPUs " +
					"three more blocked jobs, of more than half of a node's GPUs, have their earliest start kept free"},
			{Name: "Contiguous bids only", Value: cli.YesNo(o.ContiguousOnly)},
			number("Work", o.Work, "bound of one solve, about one matrix entry a unit; 0: the deadline is"),
			{Name: "Objective", Value: o.Objective.String(), Meaning: "what the start of a job is worth"},
			{Name: "Solver", Value: f.solver},
		}
	}
	if order, ok := easyOrder(policy); ok {
		return f.easySettings(order)
	}
	return nil
}

func number(name string, value int64, meaning string) report.Setting {
	return report.Setting{Name: name, Value: fmt.Sprint(value), Meaning: meaning}
}
