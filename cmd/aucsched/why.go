// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/slurm/pending"
)

// mostWhy is how many of a user's jobs are explained that he has not named.
const mostWhy = 20

func whyCommand() *cobra.Command { return newWhyCommand(pending.Commands, time.Now, myName) }

func newWhyCommand(run pending.Run, now func() time.Time, me func() (string, error)) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "why [JOBID...]",
		Short: "Say why jobs of the running Slurm wait, and what would let them start",
		Long: `why says of pending jobs, by default yours, why they wait: Slurm's reason and what it means, and
what the auction says. It names the jobs that hold the missing resources and until when, and what
would let the job start. It runs squeue and scontrol as you, so it shows no more than Slurm shows
you. It changes nothing.

The exit status is 1 if Slurm shows you no such job.`,
		Example: "  aucsched why\n  aucsched why 4711 4712_3",
		RunE: func(c *cobra.Command, ids []string) error {
			a := &pending.Asker{Run: run, Now: now}
			for _, id := range ids {
				if !pending.IsJobID(id) {
					return cli.BadInput(fmt.Errorf("%.40q: no id of a job, such as 12, 12_3 or 12+1", id))
				}
			}
			all := len(ids)
			if len(ids) == 0 {
				name, err := me()
				if err != nil {
					return err
				}
				if ids, all, err = a.Pending(c.Context(), name, mostWhy); err != nil {
					return err
				}
				if len(ids) == 0 && !asJSON {
					fmt.Fprintln(c.OutOrStdout(), "no job of yours waits")
				}
			}
			err := printWhy(c.Context(), c.OutOrStdout(), a, ids, asJSON)
			if more := all - len(ids); more > 0 && !asJSON {
				fmt.Fprintf(c.OutOrStdout(), "\n%d more of your jobs wait: name those that you want to know of\n", more)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, an object a line and job")
	return c
}

func myName() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("who asks: %w", err)
	}
	return u.Username, nil
}

// printWhy answers for each job, also if it could not for one before.
func printWhy(ctx context.Context, out io.Writer, a *pending.Asker, ids []string, asJSON bool) error {
	var errs []error
	for i, id := range ids {
		x, err := a.Why(ctx, id)
		if errors.Is(err, pending.ErrNoSlurm) {
			return err
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if asJSON {
			err = json.NewEncoder(out).Encode(x)
		} else {
			if i > 0 {
				fmt.Fprintln(out)
			}
			err = x.Print(out, cli.Plain)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}
