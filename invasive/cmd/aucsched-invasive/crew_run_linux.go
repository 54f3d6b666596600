// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/invasive/crew"
)

func crewRunCommand() *cobra.Command {
	var f crewFlags
	c := &cobra.Command{
		Use:   "run -- PROGRAM [ARGUMENT ...]",
		Short: "Run a program that is told of nodes that come and go",
		Long: `run runs PROGRAM on the first node of the batch job that it is called in. PROGRAM hears of places, the job's own nodes
and those of its companions, as an invasive job hears of cores, by the socket in AUCSCHED_INVASIVE; the file that
AUCSCHED_CREW_NODES names has a line PLACE NODE for each. It starts commands there by aucsched crew on. The exit status is
PROGRAM's.`,
		Args: cli.MinimumArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := f.options()
			if err != nil {
				return cli.BadInput(err)
			}
			o.Log = slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, os.Interrupt)
			defer stop()
			status, err := crew.RunProgram(ctx, o, args)
			if err == nil && status != 0 {
				return cli.Ended(status)
			}
			return err
		},
	}
	f.add(c)
	return c
}

func onCommand() *cobra.Command {
	var dir string
	var env []string
	c := &cobra.Command{
		Use:   "on PLACE -- COMMAND [ARGUMENT ...]",
		Short: "From a program of crew run: run a command on a place, and wait for its end",
		Long: `on runs COMMAND on a place, in the directory that it is called in. Its output is in that of the place's job, and the exit
status is its own, or 255 if the place is gone. COMMAND is ended when on is.`,
		Args: cli.MinimumArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			path := os.Getenv(crew.OnVariable)
			if path == "" {
				return cli.BadInput(errors.New(crew.OnVariable + " is not set: crew on is for programs of crew run"))
			}
			place, err := strconv.Atoi(args[0])
			if err != nil {
				return cli.BadInput(fmt.Errorf("PLACE %q: must be a number", args[0]))
			}
			if dir == "" {
				if dir, err = os.Getwd(); err != nil {
					return err
				}
			}
			if args = args[1:]; args[0] == "--" && len(args) > 1 {
				args = args[1:]
			}
			on := crew.On
			if os.Getenv(crew.KeptVariable) != "" {
				on = crew.OnKept
			}
			status, err := on(path, place, crew.Command{Argv: args, Env: env, Dir: dir})
			if err == nil && status != 0 {
				return cli.Ended(status)
			}
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "where it begins (default this directory)")
	c.Flags().StringArrayVar(&env, "env", nil, "NAME=VALUE for its environment; may be repeated")
	c.Flags().SetInterspersed(false)
	return c
}
