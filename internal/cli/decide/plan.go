// SPDX-License-Identifier: BSD-3-Clause

// Package decide is the commands plan and explain, which decide one window.
package decide

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/window"
)

// planFlags are the flags of plan.
type planFlags struct {
	decision
	mps      string
	write    func(path string, by core.Policy) error
	explains bool
}

// Plan is the command plan. others makes the policies before AUCSCHED2, and write writes the model
// of the last cycle for --mps. Both are nil in a program that hands these on.
func Plan(others policy.Others, write func(path string, by core.Policy) error) *cobra.Command {
	f := planFlags{decision: newDecision(others, 50, time.Minute), write: write}
	c := &cobra.Command{
		Use:   "plan WINDOW.json",
		Short: "Decide one window: which jobs start now, and on which nodes, cores and GPUs",
		Long: `plan reads a machine and a queue, decides once, checks the decisions with the independent verifier
and prints them. docs/reference/window.md has the format; - is standard input.

auction1 and auction2 start a job by its own request or by one of its "alternatives", and may give
different numbers of GPUs on each node if "gpus_uniform" is false. backfill and ipsched use a job's
own request only, and give each node the fewest GPUs of a range.`,
		Example: "  aucsched plan examples/table1.json --json",
		Args:    cli.ExactArgs(1),

		ValidArgsFunction: cli.CompleteFile("json"),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.register(c.Flags(), "print JSON", "wall-clock time for the decision; 0: none", "explain-")
	c.Flags().StringVar(&f.mps, "mps", "",
		"auctions, ipsched: also write the model to this file, in MPS; auction1: as aucsched1 prints it")
	c.Flags().BoolVar(&f.explains, "explain", false,
		"explain every decision, as the command explain does; this takes time")
	cli.Group(c, append(cli.PolicySubjects(),
		cli.Subject{Title: "Explanations", Flags: []string{"explain", "explain-trials", "explain-time"}},
		cli.Subject{Title: "Output", Flags: []string{"json", "mps"}})...)
	f.policy.Complete(c)
	_ = c.MarkFlagFilename("mps", "mps") // there is such a flag
	cli.Elsewhere(c, cli.Laboratory, "mps")
	policy.HandOn(c)
	return c
}

func (f *planFlags) run(c *cobra.Command, path string) error {
	if err := f.check(c.Flags()); err != nil {
		return err
	}
	if !f.explains {
		f.explain.unused(c.Flags(), "explain-")
	}
	if err := f.read(c, path); err != nil {
		return err
	}
	e, err := f.decide(c.Context())
	if err != nil {
		return err
	}
	if f.mps != "" { // before a trial makes another model
		if err := f.write(f.mps, f.by); err != nil {
			return fmt.Errorf("--mps: %w", err)
		}
	}
	o, err := window.NewOutcome(f.by.Name(), f.window, e.Plan())
	if err != nil {
		return err
	}
	if f.explains {
		if err := f.explain.explain(c.Context(), e, f.window, o.Decisions, 0); err != nil {
			return err
		}
	}
	if f.asJSON {
		return json.NewEncoder(c.OutOrStdout()).Encode(o)
	}
	return printOutcome(c.OutOrStdout(), o)
}

func printOutcome(out io.Writer, o *window.Outcome) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tSTART\tCORES/NODE\tGPUS/NODE\tNODES OR REASON")
	for _, d := range o.Decisions {
		d.Job = cli.Cell(d.Job)
		switch {
		case d.Start:
			fmt.Fprintf(t, "%s\tnow\t%s\t%s\t%s\n", d.Job, coresOf(&d), gpusOf(&d), d.Nodes+ofComponents(&d)+ofAlternative(d.Alternative))
		case d.ExpectedStart != nil:
			fmt.Fprintf(t, "%s\tin %d s\t\t\t%s\n", d.Job, *d.ExpectedStart, d.Reason)
		default:
			fmt.Fprintf(t, "%s\t-\t\t\t%s\n", d.Job, d.Reason)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range o.Preempted {
		fmt.Fprintf(out, "first stop %s, for %s\n", cli.Plain(x.Job), cli.Plain(strings.Join(x.For, ", ")))
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

// coresOf are the cores that a job gets on each of its nodes, N or MIN-MAX, and those of its
// components.
func coresOf(d *window.Decision) string {
	text := rangeOf(least(d.CoresPerNode), d.CoresPerNode)
	for _, c := range d.Components {
		text += " : " + rangeOf(least(c.CoresPerNode), c.CoresPerNode)
	}
	return text
}

func least(cores []int) int {
	if len(cores) == 0 {
		return 0
	}
	return slices.Min(cores)
}

// gpusOf are the GPUs that a job gets on each of its nodes, N or MIN-MAX, or its share of one, and
// those of its components.
func gpusOf(d *window.Decision) string {
	if d.GPUShare > 0 {
		return fmt.Sprintf("%d of GPU %d", d.GPUShare, d.SharedGPU)
	}
	text := rangeOf(d.GPUsPerNode, d.GPUsOfNodes)
	for _, c := range d.Components {
		text += " : " + rangeOf(c.GPUsPerNode, c.GPUsOfNodes)
	}
	return text
}

// ofComponents are the nodes of a job's components, behind those of its own request.
func ofComponents(d *window.Decision) (text string) {
	for _, c := range d.Components {
		text += " : " + c.Nodes
	}
	return text
}
