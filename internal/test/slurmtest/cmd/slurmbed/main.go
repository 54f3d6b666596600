// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

// Slurmbed starts a private Slurm cluster, runs a command in it, and ends it:
//
//	slurmbed --nodes 64 --plugins build/slurm/22.05.8 -- sh -c 'sbatch -n4 --wrap "sleep 1"; squeue'
//
// SLURM_CONF is set for the command; without one it is a shell. The exit status is
// the command's, or 1.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

func main() {
	err := command().Execute()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(max(exit.ExitCode(), 1))
	case err != nil:
		fmt.Fprintln(os.Stderr, "slurmbed:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var nodes, cores, gpus int
	var dir, plugins, parameters string
	var cfg slurmtest.Config
	cmd := &cobra.Command{
		Use: "slurmbed [flags] [-- COMMAND...]", Short: "Run a command in a private Slurm cluster",
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(_ *cobra.Command, args []string) error {
			cfg.Groups = slurmtest.Uniform(nodes, cores, gpus)
			cfg.SchedulerParameters = parameters
			if plugins != "" {
				dir, err := filepath.Abs(plugins)
				if err != nil {
					return err
				}
				cfg = cfg.WithAuction(dir, "")
			}
			return run(cfg, dir, args)
		},
	}
	f := cmd.Flags()
	f.IntVar(&nodes, "nodes", 64, "number of nodes")
	f.IntVar(&cores, "cores", 8, "cores of a node")
	f.IntVar(&gpus, "gpus", 2, "GPUs of a node")
	f.StringVar(&plugins, "plugins", "", "directory of aucsched's plug-ins; stock Slurm without it")
	f.StringVar(&parameters, "parameters", "", "SchedulerParameters")
	f.StringVar(&dir, "dir", "", "directory of the cluster, which is kept; a temporary one without it")
	f.StringVar(&cfg.LogLevel, "log", "info", "slurmctld's log level")
	f.StringSliceVar(&cfg.Wrapper, "wrapper", nil, "command to put before slurmctld: valgrind,--leak-check=full")
	f.StringSliceVar(&cfg.Env, "env", nil, "NAME=value for slurmctld")
	f.BoolVar(&cfg.Daemonize, "daemonize", false, "let slurmctld go into the background by itself")
	return cmd
}

func run(cfg slurmtest.Config, dir string, args []string) (err error) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if dir == "" {
		if dir, err = os.MkdirTemp("", "slurmbed"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	c, err := slurmtest.Start(ctx, dir, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "slurmbed: the cluster is up in", dir)
		args = []string{"sh", "-i"}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+dir+"/slurm.conf")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
