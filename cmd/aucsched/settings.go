package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/report"
	"github.com/aucsched/aucsched/internal/sim"
)

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// settings are those of a simulation that do not depend on the policy.
func (f *replayFlags) settings() []report.Setting {
	cfg, limit := &f.cfg, "none"
	if cfg.CycleLimit > 0 {
		limit = cfg.CycleLimit.String()
	}
	priorities := "basic"
	if cfg.Priorities != nil {
		priorities = "multifactor"
	}
	settings := []report.Setting{
		{Name: "Seed", Value: fmt.Sprint(f.seed), Meaning: "of the generated workload and of the policy's random choices"},
		{Name: "Interval", Value: fmt.Sprintf("%d s", cfg.Interval), Meaning: "the policy decides at multiples of it, if jobs have come or ended (the plug-in's auc_interval)"},
		{Name: "Priorities", Value: priorities, Meaning: "basic: in the order of submission, or the trace's; multifactor: by age and size (PriorityType)"},
		{Name: "Time for a cycle", Value: limit, Meaning: "without a limit the same schedule comes out again"},
		{Name: "Jobs end at their limit", Value: yes(cfg.KillAtLimit), Meaning: "as with OverTimeLimit=0"},
		{Name: "Rate", Value: fmt.Sprint(f.rate), Meaning: "jobs come so many times as fast as the workload says"},
		{Name: "Limits", Value: fmt.Sprintf("%g x duration", f.limitFactor), Meaning: "Alibaba's and Philly's traces, which have none; other limits are the workload's"},
		{Name: "Limits lifted", Value: yes(f.extend), Meaning: "traces: a job that outlived its limit gets a longer one, instead of ending there"},
		{Name: "Nodes from the trace", Value: yes(f.nodespec), Meaning: "SWF: nodes and cores on each from a field N:ppn=K"},
	}
	if files := &cfg.Files; files.Bandwidth > 0 {
		settings = append(settings,
			report.Setting{Name: "Bandwidth", Value: fmt.Sprintf("%d bytes/s", files.Bandwidth), Meaning: "at which a node loads a job's input file, unless it has it"},
			report.Setting{Name: "File memory", Value: fmt.Sprintf("%d bytes", files.Memory), Meaning: "of input files that a node keeps, those read last (auc_file_memory)"},
			report.Setting{Name: "Locality", Value: yes(files.Prefer), Meaning: "auctions prefer nodes that hold a job's file (auc_locality)"})
	}
	return settings
}

// settings are those of one of the policies, with the values that the run used.
func (f *policyFlags) settings(policy string, flags *pflag.FlagSet) []report.Setting {
	number := func(name string, value int64, meaning string) report.Setting {
		return report.Setting{Name: name, Value: fmt.Sprint(value), Meaning: meaning}
	}
	switch policy {
	case "backfill":
		o := sim.DefaultBackfill()
		if f.slurmctld {
			o.Interval, o.Test = slurmInterval, f.backfillTest
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
	case "ipsched":
		return []report.Setting{
			number("Window", int64(f.opts.Window), "jobs of the queue that are decided together"),
			number("Work", f.opts.Work, "bound of one solve; 0: the deadline is"),
			{Name: "Objective", Value: f.objective, Meaning: "what the start of a job is worth"},
			{Name: "Numbers of nodes count", Value: yes(f.nodeLimits), Meaning: "constraint 5 of the paper"},
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
			{Name: "SLURM bids", Value: flags.Lookup("slurm-bids").Value.String(), Meaning: "jobs bid for what Slurm's selection would give them too"},
			{Name: "Patience", Value: (time.Duration(o.Patience) * time.Second).String(), Meaning: "waiting that counts as much as asking for all cores, when a place is kept for a blocked job; 0s: in queue order"},
			{Name: "Compact", Value: yes(o.Compact), Meaning: "jobs lie in one block of nodes or in two"},
			{Name: "Contiguous bids only", Value: yes(o.ContiguousOnly)},
			number("Work", o.Work, "bound of one solve, about one matrix entry a unit; 0: the deadline is"),
			{Name: "Objective", Value: o.Objective.String(), Meaning: "what the start of a job is worth"},
			{Name: "Solver", Value: f.solver},
		}
	}
	return nil
}
