// SPDX-License-Identifier: BSD-3-Clause

package decide

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
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

func newDecision(others policy.Others, trials int, explaining time.Duration) decision {
	return decision{
		policy:  policy.Flags{Estimates: true, Others: others},
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

// explainFlags bound the search for changes.
type explainFlags struct {
	trials int
	time   time.Duration
}

func (x *explainFlags) register(flags *pflag.FlagSet, prefix string) {
	flags.IntVar(&x.trials, prefix+"trials", x.trials, "most decisions on changed windows, a job; 0: suggest nothing")
	flags.DurationVar(&x.time, prefix+"time", x.time,
		"wall-clock time for all of these; 0: no limit, so that runs repeat each other bit for bit")
}

// unused warns of limits that were given where nothing is explained.
func (x *explainFlags) unused(flags *pflag.FlagSet, prefix string) {
	for _, name := range []string{"trials", "time"} {
		if flags.Changed(prefix + name) {
			slog.Warn(fmt.Sprintf("--%s%s does nothing without --explain", prefix, name))
		}
	}
}

// check refuses limits that are negative, of this and of a single decision.
func (x *explainFlags) check(limit time.Duration) error {
	switch {
	case limit < 0:
		return cli.BadInput(fmt.Errorf("--deadline: %v is negative", limit))
	case x.trials < 0:
		return cli.BadInput(fmt.Errorf("--explain-trials: %d is negative", x.trials))
	case x.time < 0:
		return cli.BadInput(fmt.Errorf("time for trials: %v is negative", x.time))
	}
	return nil
}

// explain adds explanations to decisions, which begin with job first of the queue.
func (x *explainFlags) explain(ctx context.Context, e *core.Explainer, w *window.Window, decisions []window.Decision, first int) error {
	o := core.ExplainOptions{Trials: x.trials, Deadline: cli.Deadline(x.time)}
	for i := range decisions {
		ex, err := e.Explain(ctx, first+i, o)
		if err != nil {
			return err
		}
		if decisions[i].Explanation, err = window.NewExplanation(w, ex); err != nil {
			return err
		}
	}
	return nil
}

func readWindow(in io.Reader, path string) (*window.Window, error) {
	if path == "-" {
		w, err := window.Read(in, "standard input")
		return w, cli.BadInput(err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, cli.BadInput(err)
	}
	defer file.Close()
	w, err := window.Read(file, path)
	return w, cli.BadInput(err)
}
