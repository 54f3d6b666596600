// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/examples"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/window"
)

// demo is one run of "aucsched demo".
type demo struct {
	ctx      context.Context
	out      io.Writer
	picture  picture
	variants []string
	seeds    int
}

func demoCommand() *cobra.Command {
	parts := []string{"a", "b", "c"}
	d := demo{variants: []string{"1.NC"}, seeds: 3}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show what deciding together is worth: two windows as pictures, a workload as a table",
		Long: `demo shows

  a  table I of ipsched.txt: three jobs that one at a time do not fit together
  b  figure 3 of aucsched1.txt: four jobs that fill a machine to the last core
  c  a workload of aucsched2.txt: Slurm's backfill against the auction, without and
     with GPU ranges, beside the paper's figures

demo invasive shows an invasive resource manager, of aucsched-invasive.`,
		Example: "  aucsched demo --part a,b",
		Args:    cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			d.ctx, d.out = c.Context(), c.OutOrStdout()
			d.picture = picture{out: d.out, width: 72, colours: cli.IsTerminal(d.out)}
			show := map[string]func() error{"a": d.tableI, "b": d.figure3, "c": d.tsubame}
			for _, part := range parts {
				f, ok := show[part]
				if !ok {
					return cli.BadInput(fmt.Errorf("--part: %q is not a, b or c", part))
				}
				if err := f(); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringSliceVar(&parts, "part", parts, "what to show")
	c.Flags().StringSliceVar(&d.variants, "variants", d.variants, "workloads of part c")
	c.Flags().IntVar(&d.seeds, "seeds", d.seeds, "part c: how many generated workloads to average over")
	replay.CompleteList(c, "part", parts...)
	replay.CompleteList(c, "variants", "1.NC", "1.HC", "1.FC", "2.NC", "2.HC", "2.FC")
	return c
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

func (d *demo) tableI() error {
	d.say("(a) Three jobs on 1024 nodes of 8 cores and 2 GPUs (ipsched, table I)")
	return d.compare("table1.json")
}

func (d *demo) figure3() error {
	d.say("(b) Four jobs on 144 nodes, of which n65-n80 are busy (aucsched1, figure 3)")
	return d.compare("figure3.json")
}

// compare decides an example one job at a time and all together.
func (d *demo) compare(file string) error {
	for _, one := range []bool{true, false} {
		w, err := openExample(file)
		if err != nil {
			return err
		}
		policy, title, err := demoPolicy(one)
		if err != nil {
			return err
		}
		var p core.Plan
		if err := policy.Decide(d.ctx, &w.Snapshot, core.Limits{Seed: 1}, &p); err != nil {
			return err
		}
		if err := core.Verify(&w.Snapshot, &p); err != nil {
			return err
		}
		if one {
			d.listJobs(w)
		}
		o, err := window.NewOutcome(policy.Name(), w, &p)
		if err != nil {
			return err
		}
		d.say("\n    %s: %d of %d start", title, o.Started, len(o.Decisions))
		if err := d.picture.draw(w, &p); err != nil {
			return err
		}
		for i := range o.Decisions {
			d.say("        %c %s", jobMark(i), describe(w, &p.Decisions[i], &o.Decisions[i]))
		}
	}
	d.say("")
	return nil
}

func openExample(file string) (*window.Window, error) {
	f, err := examples.Files.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return window.Read(f, file)
}

func demoPolicy(oneByOne bool) (core.Policy, string, error) {
	if oneByOne {
		o := sim.DefaultBackfill()
		o.Estimates = true
		p, err := sim.NewBackfill(o)
		return p, "one at a time, as Slurm's backfill does", err
	}
	o := core.Preset("")
	o.Estimates = true
	p, err := core.NewAuction(o, nil)
	return p, "decided together by the auction", err
}

func (d *demo) listJobs(w *window.Window) {
	for _, j := range w.Snapshot.Pending {
		var asks []string
		if j.Cores > 0 {
			asks = append(asks, cli.Count(j.Cores, "core"))
		}
		if j.MinNodes > 0 {
			asks = append(asks, cli.Count(j.MinNodes, "node"))
		}
		if j.TasksPerNode > 0 {
			asks = append(asks, cli.Count(j.TasksPerNode, "core")+" on each")
		}
		if j.MinGPUs > 0 {
			asks = append(asks, cli.Count(j.MinGPUs, "GPU")+" on each")
		}
		d.say("    %s asks for %s", j.ID, strings.Join(asks, ", "))
	}
}

// describe says in a line what a job gets, nodes by the number of cores that they
// give, or why it waits. k and o are the same decision.
func describe(w *window.Window, k *core.Decision, o *window.Decision) string {
	switch {
	case !k.Start && o.ExpectedStart != nil:
		return fmt.Sprintf("%s waits %d s", o.Job, *o.ExpectedStart)
	case !k.Start:
		return fmt.Sprintf("%s waits: %s", o.Job, o.Reason)
	}
	var counts []int
	names := make(map[int][]string)
	for _, s := range k.Segs {
		c := int(s.Cores)
		if names[c] == nil {
			counts = append(counts, c)
		}
		names[c] = append(names[c], w.Names[s.First:s.Last+1]...)
	}
	var parts []string
	for _, c := range counts {
		list, err := hostlist.Compress(names[c])
		if err != nil {
			return fmt.Sprintf("%s on %s", o.Job, o.Nodes)
		}
		parts = append(parts, fmt.Sprintf("%s on %s", cli.Count(c, "core"), list))
	}
	gpus := ""
	if o.GPUsPerNode > 0 {
		gpus = ", " + cli.Count(o.GPUsPerNode, "GPU") + " on each"
	}
	return fmt.Sprintf("%s starts: %s%s", o.Job, strings.Join(parts, ", "), gpus)
}
