// SPDX-License-Identifier: BSD-3-Clause

package decide

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/window"
)

// decision is one window decided once: what plan and explain have in common.
type decision struct {
	policy  policy.Flags
	explain explainFlags
	asJSON  bool
	seed    uint64
	limit   time.Duration

	window *window.Window
	by     core.Policy
}

func newDecision(p *older.Policies, trials int, explaining time.Duration) decision {
	return decision{
		policy:  policy.Flags{Estimates: true, Older: p},
		explain: explainFlags{trials: trials, time: explaining},
	}
}

// register adds the flags; those of explanations begin with prefix.
func (d *decision) register(flags *pflag.FlagSet, json, deadline, prefix string) {
	d.policy.Register(flags)
	d.explain.register(flags, prefix)
	flags.BoolVar(&d.asJSON, "json", false, json)
	flags.Uint64Var(&d.seed, "seed", 0, "seed of the random choices")
	flags.DurationVar(&d.limit, "deadline", 0, deadline)
}

func (d *decision) check(flags *pflag.FlagSet) error {
	if err := d.policy.Check(flags, policy.Names()); err != nil {
		return err
	}
	return d.explain.check(d.limit)
}

// read reads the window and makes the policy.
func (d *decision) read(c *cobra.Command, path string) (err error) {
	if d.window, err = readWindow(c.InOrStdin(), path); err != nil {
		return err
	}
	for _, job := range d.window.Snapshot.Pending {
		d.policy.Settle(d.policy.Policy, &job.Request)
	}
	d.by, err = d.policy.Make(c.Flags())
	return err
}

// decide decides, and asks the verifier.
func (d *decision) decide(ctx context.Context) (*core.Explainer, error) {
	limits := core.Limits{Deadline: cli.Deadline(d.limit), Seed: d.seed}
	e, err := core.NewExplainer(ctx, d.by, &d.window.Snapshot, limits)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // the plan is only as good as the time was long
		return nil, err
	}
	if err := core.Verify(&d.window.Snapshot, e.Plan()); err != nil {
		return nil, fmt.Errorf("the plan is not valid, please report this: %w", err)
	}
	return e, nil
}
