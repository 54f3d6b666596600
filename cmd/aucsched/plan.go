// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/ipsched"
	"github.com/aucsched/aucsched/internal/policies"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/ipmodel"
)

func planCommand() *cobra.Command {
	f := cli.PolicyFlags{Estimates: true}
	var asJSON bool
	var seed uint64
	var limit time.Duration
	var mps string
	var explain bool
	x := explainFlags{trials: 50, time: time.Minute}
	c := &cobra.Command{
		Use:   "plan WINDOW.json",
		Short: "Decide one window: which jobs start now, and on which nodes, cores and GPUs",
		Long: `plan reads a machine and a queue (see package window for the format; - is standard
input), decides once, checks the decisions with the independent verifier and prints
them.

auction1 and auction2 start a job by its own request or by one of its "alternatives", and
give nodes different numbers of GPUs where "gpus_uniform" is false. backfill and ipsched look at
a job's own request only, and give each node the fewest GPUs of a range.`,
		Example: "  aucsched plan examples/table1.json --json",
		Args:    cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := x.check(limit); err != nil {
				return err
			}
			w, err := readWindow(c.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			policy, err := f.Make(c.Flags())
			if err != nil {
				return err
			}
			for _, job := range w.Snapshot.Pending {
				f.Settle(f.Policy, &job.Request)
			}
			out, err := createIf(mps)
			if err != nil {
				return cli.BadInput(fmt.Errorf("--mps: %w", err))
			}
			defer out.Close()
			e, err := core.NewExplainer(c.Context(), policy, &w.Snapshot, core.Limits{Deadline: cli.Deadline(limit), Seed: seed})
			if err != nil {
				return err
			}
			if err := core.Verify(&w.Snapshot, e.Plan()); err != nil {
				return fmt.Errorf("the plan is not valid, please report this: %w", err)
			}
			if err := writeModel(policy, out); err != nil { // before a trial makes another
				return err
			}
			o, err := window.NewOutcome(policy.Name(), w, e.Plan())
			if err != nil {
				return err
			}
			if explain {
				if err := x.explain(c.Context(), e, w, o.Decisions, 0); err != nil {
					return err
				}
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(o)
			}
			return printOutcome(c.OutOrStdout(), o)
		},
	}
	f.Register(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().Uint64Var(&seed, "seed", 0, "seed of the random choices")
	c.Flags().DurationVar(&limit, "deadline", 0, "wall-clock time for the decision; 0: none")
	c.Flags().StringVar(&mps, "mps", "", "auctions, ipsched: also write the model to this file, in MPS; auction1: as aucsched1 prints it")
	c.Flags().BoolVar(&explain, "explain", false, "explain every decision, as the command explain does; this takes time")
	x.register(c.Flags(), "explain-")
	return c
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

// writeModel writes the model of the policy's last cycle, if out is not nil.
func writeModel(policy core.Policy, out *os.File) error {
	if out == nil {
		return nil
	}
	var err error
	switch a := policy.(type) {
	case *core.Auction:
		err = a.WriteMPS(out, "window")
	case *policies.IPSched:
		err = writeDirect(out, a.Problem())
	default:
		return cli.BadInput(fmt.Errorf("--mps: policy %s has no model", policy.Name()))
	}
	if err != nil {
		return fmt.Errorf("--mps: %w", err)
	}
	return out.Close()
}

// writeDirect writes a window as the program that the paper has.
func writeDirect(out io.Writer, p *ipsched.Problem) error {
	m, err := ipsched.Direct(p)
	if err != nil {
		return err
	}
	return ipmodel.WriteProgramMPS(out, m, "window")
}

func printOutcome(out io.Writer, o *window.Outcome) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tSTART\tCLASS\tGPUS\tNODES OR REASON")
	for _, d := range o.Decisions {
		switch {
		case d.Start:
			fmt.Fprintf(t, "%s\tnow\t%s\t%s\t%s\n", d.Job, d.BidClass, gpusOf(&d), d.Nodes+ofAlternative(d.Alternative))
		case d.ExpectedStart != nil:
			fmt.Fprintf(t, "%s\tin %d s\t\t\t%s\n", d.Job, *d.ExpectedStart, d.Reason)
		default:
			fmt.Fprintf(t, "%s\t-\t\t\t%s\n", d.Job, d.Reason)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of %d jobs start; %s in %.1f ms\n", o.Started, len(o.Decisions), o.Policy, o.CycleMS)
	for i := range o.Decisions {
		if o.Decisions[i].Explanation == nil {
			continue
		}
		fmt.Fprintln(out)
		if err := printExplanation(out, &o.Decisions[i]); err != nil {
			return err
		}
	}
	return nil
}

// gpusOf are the GPUs a node that a job gets: N, or MIN-MAX.
func gpusOf(d *window.Decision) string {
	if len(d.GPUsOfNodes) > 0 {
		return fmt.Sprintf("%d-%d", d.GPUsPerNode, slices.Max(d.GPUsOfNodes))
	}
	return fmt.Sprint(d.GPUsPerNode)
}

// ofAlternative says which of a job's alternatives is met.
func ofAlternative(k int) string {
	if k == 0 {
		return ""
	}
	return fmt.Sprintf(" (alternative %d)", k)
}
