// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// prologTime is the longest that a task waits for an iHypervisor.
const prologTime = 3 * time.Second

func taskPrologCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "task-prolog",
		Short: "As Slurm's TaskProlog: begin a task of an invasive job on the job's cores",
		Long: `task-prolog is for TaskProlog of slurm.conf (invasive/docs/slurm.md). It returns when all of the job that it is started
for is on the job's cores, and sets AUCSCHED_INVASIVE_CORES, their number, for a job that isn't connected yet. It does nothing for a job
that has no iHypervisor, and waits no longer than 3 s. It never fails: a task without it begins as well.`,
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			path := os.Getenv(malleable.Variable)
			if path == "" {
				return nil
			}
			ctx, stop := context.WithTimeout(c.Context(), prologTime)
			defer stop()
			if change, err := malleable.Look(ctx, path); err == nil {
				fmt.Fprintf(c.OutOrStdout(), "export AUCSCHED_INVASIVE_CORES=%d\n", len(change.Cores))
			}
			return nil
		},
	}
}
