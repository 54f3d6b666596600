// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/window"
)

// explainFlags bound the search for changes.
type explainFlags struct {
	trials int
	time   time.Duration
}

func (x *explainFlags) register(flags *pflag.FlagSet, prefix string) {
	flags.IntVar(&x.trials, prefix+"trials", x.trials, "most decisions on changed windows, a job; 0: suggest nothing")
	flags.DurationVar(&x.time, prefix+"time", x.time, "wall-clock time for all of these; 0: no limit, so that runs repeat each other bit for bit")
}

// check refuses limits that are negative, of this and of a single decision.
func (x *explainFlags) check(limit time.Duration) error {
	switch {
	case limit < 0:
		return cli.BadInput(fmt.Errorf("--deadline: %v is negative", limit))
	case x.trials < 0:
		return cli.BadInput(fmt.Errorf("trials: %d is negative", x.trials))
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

func explainCommand() *cobra.Command {
	f := cli.PolicyFlags{Estimates: true}
	x := explainFlags{trials: core.DefaultExplainOptions().Trials, time: 30 * time.Second}
	var asJSON bool
	var seed uint64
	var limit time.Duration
	c := &cobra.Command{
		Use:   "explain [WINDOW.json] JOB",
		Short: "Say why a job starts or waits, who is in its way, and what change would start it now",
		Long: `explain decides a window as plan does and says of one job why it starts or waits:
what is short, which jobs hold it, win it or have it reserved, and when the job
expects room. It then looks for small changes of the job's request with which it
would have started now. Every change it names has been tried: the window was
decided with it and the job did start. Without WINDOW.json, or with -, the window is read
from standard input.`,
		Example: "  aucsched explain examples/blocked.json wide",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.ExactArgs(2)(c, args)
			}
			if _, err := os.Stat(args[0]); err == nil {
				return cli.BadInput(fmt.Errorf("explain %s: which job?", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := x.check(limit); err != nil {
				return err
			}
			if len(args) == 1 {
				args = []string{"-", args[0]}
			}
			w, err := readWindow(c.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			for _, job := range w.Snapshot.Pending {
				f.Settle(f.Policy, &job.Request)
			}
			job, err := findJob(w, args[0], args[1])
			if err != nil {
				return err
			}
			policy, err := f.Make(c.Flags())
			if err != nil {
				return err
			}
			e, err := core.NewExplainer(c.Context(), policy, &w.Snapshot, core.Limits{Deadline: cli.Deadline(limit), Seed: seed})
			if err != nil {
				return err
			}
			if err := core.Verify(&w.Snapshot, e.Plan()); err != nil {
				return fmt.Errorf("the plan is not valid, please report this: %w", err)
			}
			o, err := window.NewOutcome(policy.Name(), w, e.Plan())
			if err != nil {
				return err
			}
			if err := x.explain(c.Context(), e, w, o.Decisions[job:job+1], job); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(o.Decisions[job])
			}
			return printExplanation(c.OutOrStdout(), &o.Decisions[job])
		},
	}
	f.Register(c.Flags())
	x.register(c.Flags(), "")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: the job's decision as plan has it, with an explanation")
	c.Flags().Uint64Var(&seed, "seed", 0, "seed of the random choices")
	c.Flags().DurationVar(&limit, "deadline", 0, "wall-clock time for each decision; 0: none")
	return c
}

// findJob is the index in the queue of the job of that id.
func findJob(w *window.Window, path, id string) (int, error) {
	if path == "-" {
		path = "standard input"
	}
	job := slices.IndexFunc(w.Snapshot.Pending, func(j *core.Job) bool { return j.ID == id })
	if job >= 0 {
		return job, nil
	}
	if slices.ContainsFunc(w.Snapshot.Running, func(r core.Running) bool { return r.ID == id }) {
		return 0, cli.BadInput(fmt.Errorf("%s: job %.60q runs already", path, id))
	}
	return 0, cli.BadInput(fmt.Errorf("%s: there is no job %.60q", path, id))
}
