// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/lines"
)

func crewCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "crew",
		Short: "In a job of Slurm: take more nodes while it runs, and give them back when they are wanted",
		Long: `crew is for batch jobs that can use more nodes than they need (invasive/docs/crew.md). Each node more is a companion: a job
of one node of the same user's, which Slurm starts when there is room, and may preempt.`,
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(bagCommand(), crewRunCommand(), onCommand(), memberCommand(), watchCommand())
	return c
}

// crewFlags are those of a job with companions.
type crewFlags struct {
	more   int
	listen string
	state  string
	sbatch []string
}

func (f *crewFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.IntVar(&f.more, "more", 0, "most nodes to have beside the job's own")
	flags.StringVar(&f.listen, "listen", "", "HOST:PORT where companions find this job (default this host, any port)")
	flags.StringVar(&f.state, "state", "", "file that says which nodes this job has, and what runs there")
	flags.StringArrayVar(&f.sbatch, "sbatch", nil, "an option of sbatch for companions, such as --partition=NAME; may be repeated")
}

// bagFlags are those of crew bag.
type bagFlags struct {
	crewFlags
	slots  int
	record string
}

func bagCommand() *cobra.Command {
	var f bagFlags
	c := &cobra.Command{
		Use:   "bag FILE",
		Short: "Run the lines of a file as tasks, on the job's nodes and on those that come",
		Long: `bag runs each line of FILE by /bin/sh, --slots at a time on a node, on the nodes of the batch job that it is called in and
on those of its companions. A task whose node is taken away runs again. How each has ended is a line of --record, TASK STATUS;
what is there already is not run, so a job that is requeued goes on where it was. A task finds its number in
AUCSCHED_CREW_TASK. The exit status is 1 if a task has failed.`,
		Args: cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	flags := c.Flags()
	f.add(c)
	flags.IntVar(&f.slots, "slots", 0, "tasks at a time on a node; 0: as many as the job has CPUs on its first")
	flags.StringVar(&f.record, "record", "", "file with how tasks have ended (default FILE.done)")
	return c
}

func (f *bagFlags) run(c *cobra.Command, file string) error {
	tasks, err := readTasks(file)
	if err != nil {
		return cli.BadInput(err)
	}
	o, err := f.options()
	if err == nil && f.slots == 0 {
		f.slots, err = number("SLURM_CPUS_ON_NODE", 1)
	}
	if err == nil && f.slots < 1 {
		err = fmt.Errorf("--slots %d: must be 1 or more", f.slots)
	}
	if err != nil {
		return cli.BadInput(err)
	}
	if f.record == "" {
		f.record = file + ".done"
	}
	record, done, err := crew.OpenRecord(f.record, tasks)
	if err != nil {
		return err
	}
	defer record.Close()
	o.Log = slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	failed, err := crew.RunBag(ctx, o, tasks, f.slots, record, done)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d tasks have failed: %s has which", failed, len(tasks), f.record)
	}
	return err
}

// mostCompanions is how many a job may have.
const mostCompanions = 10_000

func (f *crewFlags) options() (o crew.Options, err error) {
	if f.more < 0 || f.more > mostCompanions {
		return o, fmt.Errorf("--more %d: must be 0 to %d", f.more, mostCompanions)
	}
	for _, a := range f.sbatch {
		if !strings.HasPrefix(a, "-") {
			return o, fmt.Errorf("--sbatch %q: must be an option of sbatch", a)
		}
	}
	if o.Job = os.Getenv("SLURM_JOB_ID"); o.Job == "" {
		return o, errors.New("SLURM_JOB_ID is not set: crew is for batch jobs")
	}
	if o.Nodes, err = number("SLURM_JOB_NUM_NODES", 1); err != nil {
		return o, err
	}
	if o.Address = f.listen; o.Address == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, err
		}
		o.Address = net.JoinHostPort(host, "0")
	}
	path, err := os.Executable()
	if err != nil {
		return o, err
	}
	if account := os.Getenv("SLURM_JOB_ACCOUNT"); account != "" {
		o.Args = append(o.Args, "--account="+account)
	}
	o.State = f.state
	o.More, o.Args = f.more, append(o.Args, f.sbatch...)
	step := "srun --overlap --cpu-bind=none --ntasks-per-node=1"
	own := fmt.Sprint(step, " --whole --kill-on-bad-exit=0 --nodes=", o.Nodes, " --ntasks=", o.Nodes)
	o.Own = append(strings.Fields(own), path, "crew", "member")
	o.Companion = companionScript(step, path)
	return o, nil
}

// companionScript has a member for the script, as srun takes seconds to end, and a step beside it,
// as Slurm's signals reach steps only. A step that is signalled before it listens is ended by that,
// and comes again; one that can't begin is tried ever later.
func companionScript(step, path string) string {
	self := "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	return fmt.Sprintf(`#!/bin/sh
pause=1
while kill -0 $$; do
	%s --nodes=1 --ntasks=1 %s crew watch $$ && break
	sleep $pause
	[ $pause -ge 60 ] || pause=$((2 * pause))
done </dev/null >/dev/null 2>&1 &
exec %[2]s crew member --companion
`, step, self)
}

// number is that of a variable that Slurm sets.
func number(name string, least int) (int, error) {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil || n < least {
		return 0, fmt.Errorf("%s=%q: must be a number of %d or more", name, os.Getenv(name), least)
	}
	return n, nil
}

// maxTasks bounds a bag: how all have ended is kept in memory.
const maxTasks = 10_000_000

// readTasks reads the lines of a file, but for empty ones and comments.
func readTasks(path string) (tasks []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<17) // a message has room for it, whatever JSON makes of it
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.ContainsRune(line, 0) || !utf8.ValidString(line):
			return nil, fmt.Errorf("%s: line %d: %.40q has a NUL byte, or is not UTF-8", path, n, line)
		case len(tasks) == maxTasks:
			return nil, fmt.Errorf("%s: line %d: more than %d tasks", path, n, maxTasks)
		default:
			tasks = append(tasks, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(tasks) == 0 {
		return nil, fmt.Errorf("%s: no tasks", path)
	}
	return tasks, nil
}

func memberCommand() *cobra.Command {
	var companion bool
	c := &cobra.Command{
		Use:    "member",
		Short:  "Be there on a node, for crew",
		Hidden: true,
		Args:   cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			m := crew.Member{Node: os.Getenv("SLURMD_NODENAME"), Job: os.Getenv("SLURM_JOB_ID")}
			var err error
			if m.Invitation, err = lines.Parse(os.Getenv(crew.Variable)); err != nil {
				return fmt.Errorf("%s: %w", crew.Variable, err)
			}
			place := "SLURM_NODEID"
			if companion {
				place = "SLURM_ARRAY_TASK_ID"
			}
			if m.Place, err = number(place, 0); err != nil {
				return err
			}
			if err := os.Unsetenv(crew.Variable); err != nil { // it is none of the tasks' business
				return err
			}
			wanted := make(chan os.Signal, 1)
			signal.Notify(wanted, syscall.SIGTERM)
			return m.Serve(context.WithoutCancel(c.Context()), wanted) // SIGTERM is a wish
		},
	}
	c.Flags().BoolVar(&companion, "companion", false, "the place is the number in the job array")
	return c
}

// askPreempted asks until slurmctld answers.
func askPreempted(ctx context.Context, job string) bool {
	for {
		if yes, err := crew.Preempted(ctx, job); err == nil || ctx.Err() != nil {
			return yes
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(5 * time.Second):
		}
	}
}

// watchCommand is the step of a companion: signals of Slurm's that others want the node, or that
// its time is nearly over, go to steps. One that came before this step listened is asked for.
func watchCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "watch PID",
		Short:  "Hand a signal of Slurm's on to the member, for crew",
		Hidden: true,
		Args:   cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			pid, err := strconv.Atoi(args[0])
			if err != nil || pid < 2 {
				return fmt.Errorf("PID %q: must be that of a process", args[0])
			}
			term := make(chan os.Signal, 1)
			signal.Notify(term, syscall.SIGTERM)
			ctx, stop := context.WithCancel(context.WithoutCancel(c.Context()))
			defer stop()
			go func() {
				if askPreempted(ctx, os.Getenv("SLURM_ARRAY_JOB_ID")+"_"+os.Getenv("SLURM_ARRAY_TASK_ID")) {
					_ = syscall.Kill(pid, syscall.SIGTERM)
				}
			}()
			for syscall.Kill(pid, 0) == nil {
				select {
				case <-term:
					_ = syscall.Kill(pid, syscall.SIGTERM)
				case <-time.After(200 * time.Millisecond):
				}
			}
			return nil
		},
	}
}
