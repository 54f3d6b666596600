// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/invasive/ischeduler"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/queue"
	"github.com/aucsched/aucsched/invasive/slurm"
)

// ischedulerFlags are the settings of ischeduler.
type ischedulerFlags struct {
	dir      string
	connect  string
	peer     string
	tls      link.TLS
	limit    int
	attempts uint32
	reply    time.Duration
	report   time.Duration
	seed     uint64
	opts     queue.Options
	trace    string
	slurm    string
	every    time.Duration
}

func ischedulerCommand() *cobra.Command {
	terms := ischeduler.DefaultTerms()
	f := &ischedulerFlags{limit: 10_000, attempts: terms.Attempts, reply: terms.Reply,
		report: terms.Report, seed: 1, opts: queue.DefaultOptions()}
	c := &cobra.Command{
		Use:         "ischeduler --connect unix:PATH|tcp:HOST:PORT",
		Short:       "Run an iScheduler: take invasive jobs, and negotiate with an iHypervisor where they run",
		Annotations: map[string]string{cli.Daemon: ""},
		Long: `ischeduler keeps a queue of jobs that can use a range of cores, and maps them by the auction onto
what an iHypervisor offers (invasive/docs/manager.md). It runs until it is interrupted, then ends in order; jobs that the
iHypervisor has accepted go on.

Jobs are kept in --dir, where nobody else may enter, and survive a crash. There it also takes requests, by
the commands submit, list, cancel and status.

With --slurm the jobs are those that Slurm holds in a partition, under Slurm's own numbers; they are submitted by sbatch and cancelled by
scancel (invasive/docs/slurm.md). The iHypervisor has to be one with --slurm too.

On a Unix socket the kernel tells whose iHypervisor answers: it has to be this user's, or that of --peer. Over TCP both
sides show certificates (--tls-ca, --tls-cert, --tls-key).`,
		Example: `  aucsched ischeduler --connect unix:/run/aucsched/ihypervisor &
  aucsched ischeduler submit --min 1 --max 4 --kind malleable -- solve input
  aucsched ischeduler list`,
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context()) },
	}
	c.PersistentFlags().StringVar(&f.dir, "dir", "",
		"the iScheduler's directory; none: aucsched/ischeduler in $XDG_STATE_HOME, or in ~/.local/state")
	flags := c.Flags()
	flags.StringVar(&f.connect, "connect", "", "where the iHypervisor is: unix:PATH or tcp:HOST:PORT")
	flags.StringVar(&f.peer, "peer", "", "Unix sockets: the user ID whose iHypervisor may answer; none: this user's")
	flags.StringVar(&f.tls.CA, "tls-ca", "", "TCP: PEM file of those who sign iHypervisors' certificates")
	flags.StringVar(&f.tls.Cert, "tls-cert", "", "TCP: PEM file of our certificate")
	flags.StringVar(&f.tls.Key, "tls-key", "", "TCP: PEM file of its key")
	flags.IntVar(&f.limit, "limit", f.limit, "the most jobs that it keeps")
	flags.Uint32Var(&f.attempts, "attempts", f.attempts,
		"offers after which both sides must accept; the lower wish of the two sides counts")
	flags.DurationVar(&f.reply, "reply", f.reply, "how long an answer may take; the longer wish counts")
	flags.DurationVar(&f.report, "report", f.report, "time between two status reports; the longer wish counts")
	flags.StringVar(&f.trace, "trace", "", traceUsage)
	flags.StringVar(&f.slurm, "slurm", "", "take the jobs of this partition of Slurm; its commands must be in PATH")
	flags.DurationVar(&f.every, "slurm-every", 2*time.Second, "how often Slurm is asked for them (squeue)")
	f.registerMapper(flags)
	c.AddCommand(submitCommand(f), listCommand(f), cancelCommand(f), ischedulerStatusCommand(f))
	return c
}

func (f *ischedulerFlags) registerMapper(flags *pflag.FlagSet) {
	o := &f.opts
	flags.IntVar(&o.Auction.Window, "window", o.Auction.Window, "waiting jobs that the auction looks at together")
	flags.IntVar(&o.Auction.Depth, "depth", o.Auction.Depth, "waiting jobs behind these that may take what is left")
	flags.Uint32Var(&o.Fill, "fill", o.Fill, "percent of an offer that must be used if the first job isn't served")
	flags.DurationVar(&o.Patience, "patience", o.Patience, "how long the first job waits before no offer without it is good")
	flags.DurationVar(&o.Soon, "soon", o.Soon,
		"how late cores may come and be mapped like free ones; raised to the iHypervisor's "+
			"--shrink-time if that is longer")
	flags.Float64Var(&o.Metrics.PerHour, "per-hour", o.Metrics.PerHour,
		"points of a job for each hour that it has waited; a start is worth 100, and a job's priority comes on top")
	flags.Float64Var(&o.Metrics.Deadline, "deadline-points", o.Metrics.Deadline, "points of a job that must start now to keep its deadline")
	flags.Uint64Var(&f.seed, "seed", f.seed, "seed of the auction")
}

// home is the directory.
func (f *ischedulerFlags) home() (string, error) {
	if f.dir != "" {
		return filepath.Abs(f.dir)
	}
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "aucsched", "ischeduler"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("--dir is not given, and %w", err)
	}
	return filepath.Join(home, ".local", "state", "aucsched", "ischeduler"), nil
}

func (f *ischedulerFlags) endpoint() (link.Endpoint, error) {
	if f.connect == "" {
		return link.Endpoint{}, errors.New("--connect is needed")
	}
	e, err := link.ParseEndpoint(f.connect)
	if err != nil {
		return e, fmt.Errorf("--connect: %w", err)
	}
	e.Users = []uint32{uint32(os.Geteuid())}
	if f.peer != "" {
		uid, err := strconv.ParseUint(f.peer, 10, 32)
		if err != nil {
			return e, fmt.Errorf("--peer: %q: must be a user ID", f.peer)
		}
		e.Users = []uint32{uint32(uid)}
	}
	if e.Network == "tcp" {
		if f.tls.CA == "" || f.tls.Cert == "" || f.tls.Key == "" {
			return e, errors.New("--connect tcp: --tls-ca, --tls-cert and --tls-key are needed")
		}
		e.TLS = &f.tls
	}
	return e, nil
}

func (f *ischedulerFlags) run(ctx context.Context) error {
	e, err := f.endpoint()
	if err != nil {
		return cli.BadInput(err)
	}
	dir, err := f.home()
	if err != nil {
		return cli.BadInput(err)
	}
	trace, err := openTrace(f.trace)
	if err != nil {
		return cli.BadInput(err)
	}
	defer trace.Close()
	elsewhere := ""
	if f.slurm != "" {
		if f.every < 100*time.Millisecond || f.every > time.Hour {
			return cli.BadInput(fmt.Errorf("--slurm-every: %v: must be 100ms to 1h", f.every))
		}
		elsewhere = fmt.Sprintf("jobs are Slurm's: submit them by sbatch --partition=%s, cancel them by scancel", f.slurm)
	}
	terms := ischeduler.DefaultTerms()
	terms.Attempts, terms.Reply, terms.Report = f.attempts, f.reply, f.report
	f.opts.Seed = f.seed
	s, err := ischeduler.Open(ischeduler.Config{Dir: dir, Dial: e.Dial, Terms: terms, Limit: f.limit, Elsewhere: elsewhere, Queue: f.opts,
		Random: rand.New(rand.NewPCG(f.seed, uint64(os.Getpid()))), Log: slog.Default(), Trace: trace.line})
	if err != nil {
		return cli.BadInput(err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		defer stop() // without the socket it is of no use
		served <- s.Serve(ctx)
	}()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if f.slurm != "" {
			client := &slurm.Client{}
			s.FollowSlurm(ctx, func(ctx context.Context) ([]slurm.Held, map[uint64]error,
				error) {
				return client.Held(ctx, f.slurm)
			}, f.every)
		}
	}()
	err = s.Run(ctx)
	stop()
	<-followed
	return errors.Join(err, <-served, s.Close())
}

// client is one of the iScheduler of the directory.
func (f *ischedulerFlags) client() (ischeduler.Client, error) {
	dir, err := f.home()
	return ischeduler.Client{Dir: dir}, cli.BadInput(err)
}

func submitCommand(f *ischedulerFlags) *cobra.Command {
	var spec ischeduler.Spec
	var limit, deadline time.Duration
	c := &cobra.Command{
		Use:   "submit FILE.json | submit [flags] -- COMMAND [ARGUMENT...]",
		Short: "Submit jobs to the iScheduler, and print their numbers",
		Long: `submit takes the jobs of a file ("-": standard input), which is one object or a list:

  {"args": ["solve", "input"], "kind": "malleable", "min_cores": 1, "max_cores": 4,
   "min_nodes": 0, "max_nodes": 0, "urgent": false, "priority": 0, "limit_s": 3600, "deadline_s": 0,
   "env": ["OMP_PROC_BIND=true"], "dir": "/home/me"}

All but args may be left out. Or it takes one command, which runs in this directory with this environment.`,
		Args: cli.MinimumArgs(1),

		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			// a file, or a command and whatever it takes
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(c *cobra.Command, args []string) error {
			specs := []ischeduler.Spec{spec}
			if c.ArgsLenAtDash() < 0 && len(args) == 1 {
				var err error
				if specs, err = readSpecs(c.InOrStdin(), args[0]); err != nil {
					return cli.BadInput(err)
				}
			} else if c.ArgsLenAtDash() != 0 {
				return cli.BadInput(errors.New("submit: one file, or -- and a command"))
			} else {
				specs[0].Args, specs[0].Env = args, os.Environ()
				specs[0].Limit, specs[0].Deadline = uint32(limit/time.Second), uint32(deadline/time.Second)
				var err error
				if specs[0].Dir, err = os.Getwd(); err != nil {
					return err
				}
			}
			return f.submit(c, specs)
		},
	}
	flags := c.Flags()
	flags.Uint32Var(&spec.MinCores, "min", 1, "the fewest cores that it can use")
	flags.Uint32Var(&spec.MaxCores, "max", 0, "the most; 0: the fewest")
	flags.Uint32Var(&spec.MinNodes, "min-nodes", 0, "the fewest nodes that they may lie on; 0: any")
	flags.Uint32Var(&spec.MaxNodes, "max-nodes", 0, "the most; 0: any")
	flags.StringVar(&spec.Kind, "kind", "", "rigid, moldable, evolving or malleable; none: rigid, or moldable if --max is more than --min")
	flags.BoolVar(&spec.Urgent, "urgent", false, "don't wait for a negotiation")
	flags.Uint32Var(&spec.Priority, "priority", 0, "points; a start is worth 100")
	flags.DurationVar(&limit, "limit", 0, "the longest that it may run; 0: no limit")
	flags.DurationVar(&deadline, "deadline", 0, "by when, from now on, it should have ended; 0: none")
	cli.CompleteFlag(c, "kind", "rigid", "moldable", "evolving", "malleable")
	return c
}

func readSpecs(in io.Reader, name string) ([]ischeduler.Spec, error) {
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text := bufio.NewReader(in)
	if err := input.SkipMark(text); err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	return ischeduler.ReadSpecs(text, name)
}

// submit prints a line for each job that was taken.
func (f *ischedulerFlags) submit(c *cobra.Command, specs []ischeduler.Spec) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	for i := range specs {
		id, err := client.Submit(c.Context(), &specs[i])
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(specs[i].Args, " "), err)
		}
		fmt.Fprintln(c.OutOrStdout(), id)
	}
	return nil
}

func listCommand(f *ischedulerFlags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the iScheduler's jobs, and those that ended lately", Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := f.client()
			if err != nil {
				return err
			}
			list, err := client.List(c.Context())
			if err != nil {
				return err
			}
			return printInfos(c.OutOrStdout(), list, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, an object a job")
	return c
}

func printInfos(out io.Writer, list []ischeduler.Info, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		for i := range list {
			if err := e.Encode(&list[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tstate\texit\tkind\tcores\thas\tpriority\tsubmitted\tcommand")
	for i := range list {
		j := &list[i]
		cores := fmt.Sprint(j.MinCores)
		if j.MaxCores > j.MinCores {
			cores += fmt.Sprintf("-%d", j.MaxCores)
		}
		kind := j.Kind
		if j.Urgent {
			kind += ", urgent"
		}
		fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%s\t%d\t%d\t%s\t%q\n", j.ID, j.State, j.Exit, kind, cores, j.Cores, j.Priority,
			j.Since.Format(time.RFC3339), j.Args)
	}
	return t.Flush()
}

func cancelCommand(f *ischedulerFlags) *cobra.Command {
	return &cobra.Command{
		Use: "cancel JOB", Short: "Take back a job that waits", Args: cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || id == 0 {
				return cli.BadInput(fmt.Errorf("%q: must be a job's number", args[0]))
			}
			client, err := f.client()
			if err != nil {
				return err
			}
			return client.Cancel(c.Context(), id)
		},
	}
}

func ischedulerStatusCommand(f *ischedulerFlags) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Print as JSON whether the iScheduler is connected, and how full its queue is", Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := f.client()
			if err != nil {
				return err
			}
			st, err := client.Status(c.Context())
			if err != nil {
				return err
			}
			return json.NewEncoder(c.OutOrStdout()).Encode(&st)
		},
	}
}
