// SPDX-License-Identifier: BSD-3-Clause

package policy

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
)

// Setting is a setting by name, its value, and in words what it does.
type Setting struct{ Name, Value, Meaning string }

// Settings are those of one of the policies, with the values that the run used.
func (f *Flags) Settings(policy string, flags *pflag.FlagSet) []Setting {
	switch policy {
	case "backfill":
		o := sim.DefaultBackfill()
		if f.Slurmctld {
			o.Interval, o.Test = slurmInterval, f.BackfillTest
		}
		return []Setting{
			number("bf_interval", o.Interval, "seconds from one pass of backfill to the next at least; 0: one in every cycle"),
			{Name: "Time to look at a job", Value: o.Test.String(), Meaning: "what a pass takes; 0s: no time"},
			number("bf_max_job_test", int64(o.MaxJobTest), "jobs that backfill looks at in a cycle"),
			number("bf_resolution", o.Resolution, "seconds of a time slot of its reservations"),
			number("bf_window", o.Window/60, "minutes ahead that it reserves nodes"),
			number("bf_max_job_start", int64(o.MaxJobStart), "jobs that it may start in a cycle; 0: no limit"),
			number("bf_min_prio_reserve", o.MinPrioReserve, "jobs of lower priority get no reservation"),
		}
	case "plan":
		return []Setting{{Name: "Order", Value: "annealed",
			Meaning: "the first 60 jobs of the queue are in a plan that is searched anew in every cycle; the others are smallest first"}}
	case "ipsched":
		o, _ := f.ipsched(flags) // or the policy could not have been made
		list := []Setting{
			{Name: "Numbers of nodes count", Value: cli.YesNo(f.nodeLimits), Meaning: "constraint 5 of the paper"},
			{Name: "On time-out", Value: f.onTimeout, Meaning: "what is started when the search has not ended"},
		}
		for _, name := range older.Shared {
			list = append(list, setting(settings.Find(name), &o))
		}
		return list
	case "auction1", "auction2":
		o, err := f.auction(flags)
		if err != nil {
			return nil // the policy could not have been made
		}
		list := []Setting{
			{Name: "SLURM bids", Value: flags.Lookup("slurm-bids").Value.String(),
				Meaning: "jobs bid for what Slurm's selection would give them too"},
			{Name: "Solver", Value: f.solver},
		}
		for i := range settings.All {
			s := &settings.All[i]
			list = append(list, setting(s, &o))
		}
		return list
	}
	if order, ok := easyOrder(policy); ok {
		return f.easySettings(order)
	}
	return nil
}

func number(name string, value int64, meaning string) Setting {
	return Setting{Name: name, Value: fmt.Sprint(value), Meaning: meaning}
}

func setting(s *settings.Setting, options any) Setting {
	return Setting{Name: s.Flag(), Value: s.Text(s.Get(options)), Meaning: s.Meaning}
}
