// SPDX-License-Identifier: BSD-3-Clause

// Command aucsched-lab has the commands of aucsched that measure it: see aucsched-lab --help.
package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/simulate"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/decide"
)

func main() { cli.Main(run) }

// run is the whole command; it returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	return cli.Execute(ctx, newRoot(), args, in, out, errs)
}

func newRoot() *cobra.Command {
	plan, explain := decide.Plan(simulate.Make, writeModel), decide.Explain(simulate.Make)
	// They are aucsched's, but for what it hands on.
	plan.Hidden, explain.Hidden = true, true
	root := cli.NewRoot("Run the papers' experiments",
		`aucsched-lab simulates, and runs the papers' experiments in the simulator and on a real Slurm. aucsched
hands these commands on to it.`, reproduceCommand(), emulateCommand(), solveCommand(), demoCommand(), plan, explain,
		simulateCommand(), simulateInvasiveCommand(), workerCommand())
	root.Annotations = map[string]string{cli.NoPage: ""}
	return root
}

func simulateCommand() *cobra.Command {
	return simulate.Command(simulate.More{Locality: runLocality, Pods: runPods, Exact: exactPods, Least: leastRuntime, Bounds: printBounds})
}
