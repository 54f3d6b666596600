// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/internal/cli"
)

// Settings are those of a simulation that do not depend on the policy.
func (f *Flags) Settings() []report.Setting {
	cfg, limit := &f.Config, "none"
	if f.CycleLimit > 0 {
		limit = f.CycleLimit.String()
	}
	priorities := "basic"
	if cfg.Priorities != nil {
		priorities = "multifactor"
	}
	settings := []report.Setting{
		{Name: "Seed", Value: fmt.Sprint(f.Seed), Meaning: "of the generated workload and of the policy's random choices"},
		{Name: "Interval", Value: fmt.Sprintf("%d s", cfg.Interval),
			Meaning: "the policy decides at multiples of it, if jobs have come or ended (the " +
				"plug-in's auc_interval)"},
		{Name: "Priorities", Value: priorities,
			Meaning: "basic: in the order of submission, or the trace's; multifactor: by age and " +
				"size (PriorityType)"},
		{Name: "Time for a cycle", Value: limit, Meaning: "without a limit the same schedule comes out again"},
		{Name: "Jobs end at their limit", Value: cli.YesNo(cfg.KillAtLimit), Meaning: "as with OverTimeLimit=0"},
		{Name: "Rate", Value: fmt.Sprint(f.Rate), Meaning: "jobs come so many times as fast as the workload says"},
		{Name: "Limits", Value: fmt.Sprintf("%g x duration", f.LimitFactor),
			Meaning: "Alibaba's and Philly's traces, which have none; other limits are the workload's"},
		{Name: "Limits lifted", Value: cli.YesNo(f.extend),
			Meaning: "traces: a job that outlived its limit gets a longer one, instead of ending there"},
		{Name: "Nodes from the trace", Value: cli.YesNo(f.nodespec), Meaning: "SWF: nodes and cores on each from a field N:ppn=K"},
	}
	for _, r := range cfg.Resources {
		settings = append(settings, report.Setting{Name: "Counts besides", Value: r.Name,
			Meaning: "what nodes have of it, and jobs ask for, beside cores and GPUs"})
	}
	if files := &f.Files; files.Bandwidth > 0 {
		settings = append(settings,
			report.Setting{Name: "Bandwidth", Value: fmt.Sprintf("%d bytes/s", files.Bandwidth),
				Meaning: "at which a node loads a job's input file, unless it has it"},
			report.Setting{Name: "File memory", Value: fmt.Sprintf("%d bytes", files.Memory),
				Meaning: "of input files that a node keeps, those read last (auc_file_memory)"},
			report.Setting{Name: "Locality", Value: cli.YesNo(files.Prefer),
				Meaning: "auctions prefer nodes that hold a job's file (auc_locality)"})
	}
	return settings
}
