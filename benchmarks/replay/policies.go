// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
)

// Settled are a workload's jobs as the policy of that name takes them: the same, or copies.
func Settled(f *policy.Flags, name string, jobs []workload.Job) []workload.Job {
	if name != older.IPSched {
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		f.Settle(name, &jobs[i].Request)
	}
	return jobs
}

// PolicySettings are those of one of the policies, with the values that the run used.
func PolicySettings(f *policy.Flags, name string, flags *pflag.FlagSet) []report.Setting {
	switch name {
	case "backfill":
		o := Backfill(f)
		return []report.Setting{
			number("bf_interval", o.Interval, intervalMeaning),
			{Name: "Time to look at a job", Value: o.Test.String(), Meaning: "what a pass takes; 0s: no time"},
			number("bf_max_job_test", int64(o.MaxJobTest), testMeaning),
			number("bf_resolution", o.Resolution, "seconds of a time slot of its reservations"),
			number("bf_window", o.Window/60, "minutes ahead that it reserves nodes"),
			number("bf_max_job_start", int64(o.MaxJobStart), "jobs that it may start in a cycle; 0: no limit"),
			number("bf_min_prio_reserve", o.MinPrioReserve, "jobs of lower priority get no reservation"),
		}
	case "plan":
		return []report.Setting{{Name: "Order", Value: "annealed",
			Meaning: "the first 60 jobs of the queue are in a plan that is searched anew in every cycle; the others are smallest first"}}
	case older.IPSched:
		o, _ := IPSched(f, flags) // or the policy could not have been made
		list := []report.Setting{
			{Name: "Numbers of nodes count", Value: cli.YesNo(o.NodeLimits), Meaning: "constraint 5 of the paper"},
			{Name: "On time-out", Value: flags.Lookup("on-timeout").Value.String(),
				Meaning: "what is started when the search has not ended"},
		}
		for _, name := range older.Shared {
			list = append(list, setting(settings.Find(name), &o))
		}
		return list
	case older.Auction1, "auction2":
		o, err := f.Auction(flags)
		if err != nil {
			return nil // the policy could not have been made
		}
		list := []report.Setting{
			{Name: "SLURM bids", Value: flags.Lookup("slurm-bids").Value.String(),
				Meaning: "jobs bid for what Slurm's selection would give them too"},
			{Name: "Solver", Value: flags.Lookup("solver").Value.String()},
		}
		for i := range settings.All {
			s := &settings.All[i]
			list = append(list, setting(s, &o))
		}
		return list
	}
	behind, ok := EASYOrder(name)
	if !ok {
		return nil
	}
	o := EASY(f, behind).Backfill
	return []report.Setting{
		{Name: "Order behind the head", Value: behind.String(), Meaning: orderMeanings[behind]},
		number("bf_interval", o.Interval, intervalMeaning),
		number("bf_max_job_test", int64(o.MaxJobTest), testMeaning),
		number("bf_resolution", o.Resolution, "seconds of a time slot of the reservation"),
	}
}

const (
	intervalMeaning = "seconds from one pass of backfill to the next at least; 0: one in every cycle"
	testMeaning     = "jobs that backfill looks at in a cycle"
)

// orderMeanings say what the orders put first.
var orderMeanings = map[sim.Order]string{
	sim.QueueOrder:    "the queue's",
	sim.ShortestFirst: "least time limit r first",
	sim.SmallestFirst: "least r x cores n first",
	sim.F1:            "least log10(r) n + 870 log10(second of submission) first",
	sim.WFP3:          "greatest (wait / r)^3 n first",
}

func number(name string, value int64, meaning string) report.Setting {
	return report.Setting{Name: name, Value: fmt.Sprint(value), Meaning: meaning}
}

func setting(s *settings.Setting, options any) report.Setting {
	value := s.Get(options)
	text := fmt.Sprint(value)
	switch {
	case s.Values != nil && 0 <= value && value < int64(len(s.Values)):
		text = s.Values[value]
	case s.Seconds:
		text = (time.Duration(value) * time.Second).String()
	}
	return report.Setting{Name: s.Flag(), Value: text, Meaning: s.Meaning}
}
