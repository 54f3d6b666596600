// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/portfolio"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/highs"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// newSolver makes the solver of that name for a policy, where auto is the native
// one: it has a good answer in milliseconds and repeats it bit for bit.
func newSolver(name string) (ipmodel.Solver, error) {
	switch name {
	case "native", "auto":
		return native.New(), nil
	case "highs":
		if !highs.Built {
			return nil, BadInput(fmt.Errorf("--solver: highs is not built into this program: build it with make"))
		}
		return highs.New(highs.Options{}), nil
	}
	return nil, BadInput(fmt.Errorf("--solver: %q is unknown; known are native, highs, auto", name))
}

// NewFileSolver makes the solver of that name for single models, where auto runs native and
// HiGHS side by side if HiGHS is built in.
func NewFileSolver(name string) (ipmodel.Solver, error) {
	if name == "auto" && highs.Built {
		return portfolio.New(native.New(), highs.New(highs.Options{})), nil
	}
	return newSolver(name)
}

// Deadline turns a time limit into the moment when an answer is due; 0 is none.
func Deadline(limit time.Duration) time.Time {
	if limit <= 0 {
		return time.Time{}
	}
	return time.Now().Add(limit)
}

// solverWorker is what a program that solves with HiGHS starts itself as.
func solverWorker() *cobra.Command {
	return &cobra.Command{
		Use:    "solver-worker",
		Short:  "Solve one model from standard input with HiGHS, for a parent process",
		Hidden: true,
		Args:   ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return highs.Worker(c.InOrStdin(), c.OutOrStdout())
		},
	}
}
