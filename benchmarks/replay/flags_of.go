// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/sim"
)

// Of a slurmctld, in seconds: the default of bf_interval, and after how long the nodes of a job
// that has ended take the next. The first job to use them was started 1.4 to 2.0 s after the end,
// in the median, on the emulated machines of benchmarks/results/emulation.md.
const (
	slurmInterval = 30
	SlurmRelease  = 2
)

// Backfill are the options of backfill.
func Backfill(f *policy.Flags) sim.BackfillOptions {
	o := sim.DefaultBackfill()
	o.Estimates = f.Estimates
	if f.Slurmctld {
		o.Interval, o.Test = slurmInterval, f.BackfillTest
	}
	return o
}

// IPSched are the options of ipsched.
func IPSched(f *policy.Flags, flags *pflag.FlagSet) (o older.Options, err error) {
	o = older.DefaultOptions()
	o.NodeLimits = f.NodeLimits
	if _, err := f.Auction(flags); err != nil {
		return o, err
	}
	o.Read(policy.Given(flags))
	for _, o.OnTimeout = range [...]older.Timeout{older.Incumbent, older.Halve} {
		if o.OnTimeout.String() == f.OnTimeout {
			return o, nil
		}
	}
	return o, cli.Did(fmt.Errorf("on-timeout %q: must be incumbent or halve", f.OnTimeout), f.OnTimeout, []string{"incumbent", "halve"})
}

// EASYOrder is the order behind the head of a policy of that name, if there is one.
func EASYOrder(name string) (sim.Order, bool) {
	if name == "easy" {
		return sim.QueueOrder, true
	}
	for _, o := range sim.Orders() {
		if rest, ok := strings.CutPrefix(name, "easy-"); ok && rest == o.String() && o != sim.QueueOrder {
			return o, true
		}
	}
	return 0, false
}

// EASY are the options of such a policy.
func EASY(f *policy.Flags, behind sim.Order) sim.ListOptions {
	o := sim.DefaultList()
	o.Behind, o.Backfill.Estimates = behind, f.Estimates
	if f.Slurmctld {
		o.Backfill.Interval = slurmInterval
	}
	return o
}
