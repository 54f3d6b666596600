// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/pods"
	"github.com/aucsched/aucsched/benchmarks/simulate"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// podResult is what simulate prints of a run.
type podResult struct {
	Policy  string  `json:"policy"`
	Batch   int     `json:"batch"`
	Inflate float64 `json:"inflate"`
	Seed    uint64  `json:"seed"`
	Pods    int     `json:"pods"`   // that came
	Failed  int     `json:"failed"` // that were dropped
	// Allocation is the GPU allocation in % of all GPUs, by how many % of them were asked for.
	Allocation map[string]float64 `json:"gpu_allocation_at"`
}

// runPods places the workload's pods under each of the policies, and verifies every placement.
func runPods(c *cobra.Command, f *simulate.Flags) error {
	cluster, list, err := podInput(f)
	if err != nil {
		return cli.BadInput(err)
	}
	if f.DryRun {
		d := f.Checked(len(list), f.Workload)
		d.Nodes, d.GPUs = len(cluster.Nodes), cluster.Thousandths()/1000
		return d.Print(c.OutOrStdout(), f.JSON)
	}
	var results []podResult
	for name := range strings.SplitSeq(f.Policy.Policy, ",") {
		o := pods.Options{Policy: name, Batch: f.Pods.Batch, Seed: f.Replay.Seed}
		o.Inflate = f.Pods.Inflate
		r, err := pods.Run(cluster, list, o)
		if err != nil {
			return cli.BadInput(err)
		}
		if err := pods.Verify(cluster, list, o.Batch, r); err != nil {
			return fmt.Errorf("policy %s: %w", name, err)
		}
		at := map[string]float64{fmt.Sprintf("%.4g", 100*o.Inflate): r.At(100 * o.Inflate)}
		if o.Inflate >= 1 {
			at["100"] = r.At(100)
		}
		results = append(results,
			podResult{name, o.Batch, o.Inflate, o.Seed, len(r.Order), r.Failed, at})
	}
	return printPods(c.OutOrStdout(), results, f.JSON)
}

// exactPods has pods ask for what their list says.
func exactPods(m *traces.Machine, w *workload.Workload) ([]nodeset.Capacity, []sim.Resource, error) {
	x, err := pods.Exact(m, w)
	if err != nil {
		return nil, nil, err
	}
	return x.Nodes, x.Resources(), nil
}

// podInput reads the cluster and the pods.
func podInput(f *simulate.Flags) (*pods.Cluster, []pods.Pod, error) {
	n, err := os.Open(f.Cluster)
	if err != nil {
		return nil, nil, fmt.Errorf("--cluster: %w", err)
	}
	defer n.Close()
	c, err := pods.ReadNodes(n, f.Cluster)
	if err != nil {
		return nil, nil, fmt.Errorf("--cluster: %w", err)
	}
	p, err := os.Open(f.Workload)
	if err != nil {
		return nil, nil, fmt.Errorf("--workload: %w", err)
	}
	defer p.Close()
	list, err := pods.ReadPods(p, f.Workload, c)
	if err != nil {
		return nil, nil, fmt.Errorf("--workload: %w", err)
	}
	return c, list, nil
}

// printPods prints a line for each result, or as JSON an object a line.
func printPods(out io.Writer, results []podResult, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		for i := range results {
			if err := e.Encode(&results[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "policy\tasked for\tGPUs given out\tpods\tfailed")
	for i := range results {
		r := &results[i]
		asked := fmt.Sprintf("%.4g", 100*r.Inflate)
		fmt.Fprintf(t, "%s\t%s %%\t%.2f %%\t%d\t%d\n",
			r.Policy, asked, r.Allocation[asked], r.Pods, r.Failed)
	}
	return t.Flush()
}
