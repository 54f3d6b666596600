// SPDX-License-Identifier: BSD-3-Clause

package policy

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/highs"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// solvers are the values of --solver.
var solvers = []string{"native", "highs", "auto"}

// Solvers are the names of the solvers that there are.
func Solvers() []string { return slices.Clone(solvers) }

// NewSolver makes the solver of that name for a policy, where auto is the native
// one: it has a good answer in milliseconds and repeats it bit for bit.
func NewSolver(name string) (ipmodel.Solver, error) {
	switch name {
	case "native", "auto":
		return native.New(), nil
	case "highs":
		if !highs.Built {
			return nil, cli.BadInput(fmt.Errorf("--solver: highs is not built into this program: build it with make"))
		}
		return highs.New(highs.Options{}), nil
	}
	return nil, cli.Unknown("--solver", name, solvers)
}

// WorkerCommand is what a program that solves with HiGHS starts itself as.
func WorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "solver-worker",
		Short:  "Solve one model from standard input with HiGHS, for a parent process",
		Hidden: true,
		Args:   cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return highs.Worker(c.InOrStdin(), c.OutOrStdout())
		},
	}
}
