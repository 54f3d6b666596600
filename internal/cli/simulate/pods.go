// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/pods"
)

// podFlags are the settings of the policies that place pods.
type podFlags struct {
	inflate float64
	batch   int
}

func (f *podFlags) register(flags *pflag.FlagSet) {
	flags.Float64Var(&f.inflate, "inflate", 1.3,
		"pods: draw pods again until they ask for so many times the cluster's GPUs")
	flags.IntVar(&f.batch, "batch", 1, "pods: how many are decided together")
}

// podOnly are the flags that other policies go without, podTakes those that these take.
var (
	podOnly  = []string{"inflate", "batch"}
	podTakes = slices.Concat(podOnly,
		[]string{"policy", "cluster", "workload", "json", "dry-run", "seed", "verbose"})
)

// isPods tells whether the policies place pods on shared GPUs; they go with no others.
func (f *simulateFlags) isPods(flags *pflag.FlagSet) (bool, error) {
	names, known := strings.Split(f.policy.Policy, ","), pods.Policies()
	if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(known, name) }) {
		for _, name := range podOnly {
			if flags.Changed(name) {
				err := fmt.Errorf("--%s: goes with the policies %s only",
					name, strings.Join(known, ", "))
				return false, cli.BadInput(err)
			}
		}
		return false, nil
	}
	for i, name := range names {
		if !slices.Contains(known, name) {
			err := fmt.Errorf("--policy: %q does not go with %s in one run",
				name, strings.Join(known, ", "))
			return true, cli.BadInput(err)
		}
		if slices.Contains(names[:i], name) {
			return true, cli.BadInput(fmt.Errorf("--policy: %q is given twice", name))
		}
	}
	var err error
	flags.Visit(func(flag *pflag.Flag) {
		if err == nil && !slices.Contains(podTakes, flag.Name) {
			err = fmt.Errorf("--%s: does not go with policy %s", flag.Name, f.policy.Policy)
		}
	})
	return true, cli.BadInput(err)
}

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
func (f *simulateFlags) runPods(c *cobra.Command) error {
	cluster, list, err := f.podInput()
	if err != nil {
		return cli.BadInput(err)
	}
	if f.dryRun {
		d := f.checked(len(list), f.load)
		d.Nodes, d.GPUs = len(cluster.Nodes), cluster.Thousandths()/1000
		return d.print(c.OutOrStdout(), f.asJSON)
	}
	var results []podResult
	for name := range strings.SplitSeq(f.policy.Policy, ",") {
		o := pods.Options{Policy: name, Batch: f.pods.batch, Seed: f.replay.Seed}
		o.Inflate = f.pods.inflate
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
	return printPods(c.OutOrStdout(), results, f.asJSON)
}

// podInput reads the cluster and the pods.
func (f *simulateFlags) podInput() (*pods.Cluster, []pods.Pod, error) {
	n, err := os.Open(f.cluster)
	if err != nil {
		return nil, nil, fmt.Errorf("--cluster: %w", err)
	}
	defer n.Close()
	c, err := pods.ReadNodes(n, f.cluster)
	if err != nil {
		return nil, nil, fmt.Errorf("--cluster: %w", err)
	}
	p, err := os.Open(f.load)
	if err != nil {
		return nil, nil, fmt.Errorf("--workload: %w", err)
	}
	defer p.Close()
	list, err := pods.ReadPods(p, f.load, c)
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
