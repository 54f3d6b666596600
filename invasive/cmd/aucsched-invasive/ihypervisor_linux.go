// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/slurm"
)

const supervisorName = "ihypervisor-supervisor"

// supervisorCommand is what an iHypervisor starts for each job.
func supervisorCommand() *cobra.Command {
	return &cobra.Command{
		Use:    supervisorName + " DIRECTORY",
		Short:  "Run the job of a directory, and write down how it ended, for aucsched ihypervisor",
		Hidden: true,
		Args:   cli.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return launch.Supervise(args[0], nil) },
	}
}

func ihypervisorCommand() *cobra.Command {
	var f ihypervisorFlags
	c := &cobra.Command{
		Use:         "ihypervisor",
		Short:       "Own the cores of this host, negotiate with an iScheduler for jobs, and run them pinned to cores",
		Annotations: map[string]string{cli.Daemon: ""},
		Long: `ihypervisor is the invasive resource manager of Nagendra's protocol (invasive/docs/manager.md): it makes
offers to an iScheduler, judges what is mapped onto them, and runs the jobs as processes, each on
cores of its own. Malleable jobs grow and shrink, and urgent ones take cores from others at once.

It may be killed at any time: jobs run on, and the next ihypervisor with the same --state finds
them. SIGTERM or SIGINT ends it in order; jobs run on then too.

The partition is this host, or what --nodes, --sockets and --cores say. More cores than the host
has need --oversubscribe: then several cores of the partition are one of the host, and their jobs
share it. That is for trying things out; jobs are slower by as much.

With --agents its partition is many nodes, on each of which an aucsched agent runs jobs. They may be
killed at any time as well.

With --slurm it doesn't start the jobs itself but has Slurm do so: it releases those that Slurm holds in the
partition, and keeps their processes to their cores (invasive/docs/slurm.md).

Jobs run as this command's user, or as --user, which root has to say. A process can't be kept from
widening its own set of CPUs.`,
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			config, endpoint, err := f.config(c.Flags())
			if err != nil {
				return cli.BadInput(err)
			}
			config.Log = slog.Default()
			trace, err := openTrace(f.trace)
			if err != nil {
				return cli.BadInput(err)
			}
			defer trace.Close()
			config.Trace = trace.line
			if f.head.nodes > 0 {
				return f.head.run(c, config, endpoint)
			}
			if f.slurm != "" {
				return runForSlurm(c.Context(), f.slurm, config, endpoint, c.OutOrStdout())
			}
			return runIHypervisor(c.Context(), config, endpoint, c.OutOrStdout())
		},
	}
	f.add(c.Flags())
	return c
}

// runForSlurm is runIHypervisor with jobs that Slurm starts.
func runForSlurm(ctx context.Context, partition string, c *ihypervisor.Config, endpoint *link.Endpoint, out io.Writer) (err error) {
	site, err := (&slurm.Client{}).WaitSite(ctx, partition, func(err error) { c.Log.Warn("waits for Slurm", "why", err) })
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return cli.BadInput(fmt.Errorf("--slurm: %w", err))
	}
	if c.JobSocket != "" && c.JobSocket != site.Socket {
		return cli.BadInput(fmt.Errorf("--job-socket: %s: jobs are told %s, by auc_invasic_socket in slurm.conf", c.JobSocket, site.Socket))
	}
	c.JobSocket = site.Socket
	for _, w := range site.Warnings {
		c.Log.Warn("slurm.conf isn't made for this", "setting", w)
	}
	launcher, err := slurm.New(slurm.Config{Dir: c.JobsDir(), Partition: partition,
		Node: site.Node, Spool: site.Spool, Socket: site.Socket, Log: c.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, launcher.Close()) }()
	c.Launcher = launcher
	return runIHypervisor(ctx, c, endpoint, out)
}

// runIHypervisor runs until ctx is done.
func runIHypervisor(ctx context.Context, c *ihypervisor.Config, endpoint *link.Endpoint, out io.Writer) (err error) {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	c.Supervisor = []string{exe, supervisorName}
	c.Stats = &link.Stats{}
	if err := os.MkdirAll(filepath.Dir(c.State), 0o755); err != nil {
		return err
	}
	listener, err := endpoint.Listen(link.RealClock{}, c.Stats)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	c.Listener = listener
	h, err := ihypervisor.New(*c)
	if err != nil {
		return err
	}
	p := c.Topology.Partition
	fmt.Fprintf(out, "%v: partition %q of %d nodes of %d sockets of %d cores\n", endpoint, p.Name, p.Nodes, p.Sockets, p.CoresPerSocket)
	if c.Topology.Shared > 1 {
		fmt.Fprintf(out,
			"oversubscribed: up to %d cores of the partition are one core of this host, and their jobs share it\n",
			c.Topology.Shared)
	}
	err = h.Run(ctx)
	if text := c.Stats.String(); text != "" {
		fmt.Fprintln(out, text)
	}
	return err
}
