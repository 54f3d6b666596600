// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// Make makes the policies that the product leaves to the laboratory: see [policy.Flags].Others.
func Make(f *policy.Flags, flags *pflag.FlagSet) (core.Policy, error) {
	switch f.Policy {
	case "backfill":
		return sim.NewBackfill(replay.Backfill(f))
	case "plan":
		return policies.NewPlanned(f.Estimates, replay.EASY(f, sim.QueueOrder).Backfill.Interval)
	case older.IPSched:
		o, err := replay.IPSched(f, flags)
		if err != nil {
			return nil, cli.BadInput(fmt.Errorf("--%w", err))
		}
		a, err := policies.NewIPSched(o)
		return a, cli.BadInput(err)
	}
	if order, ok := replay.EASYOrder(f.Policy); ok {
		return sim.NewList(replay.EASY(f, order))
	}
	var solver ipmodel.Solver = native.New()
	if f.Solver == "highs" {
		var err error
		if solver, err = policies.NewHiGHS(); err != nil {
			return nil, err
		}
	}
	if f.Policy == older.Auction1 {
		return f.NewAuction(flags, solver, policies.Layouts)
	}
	return f.NewAuction(flags, solver, nil)
}
