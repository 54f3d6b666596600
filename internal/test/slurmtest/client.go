// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CommandError is a command of Slurm that failed.
type CommandError struct {
	Args   []string
	Stdout string
	Stderr string // what it said
	Err    error
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("%s: %v: %s", strings.Join(e.Args, " "), e.Err, strings.TrimSpace(e.Stderr))
}

func (e *CommandError) Unwrap() error { return e.Err }

// commandTimeout bounds commands that answer at once unless something hangs.
const commandTimeout = time.Minute

// run runs a stock command with the cluster's configuration and returns its
// standard output. A limit of 0 is commandTimeout; a failure is a [CommandError].
func (c *Cluster) run(ctx context.Context, limit time.Duration, stdin string, argv ...string) (string, error) {
	return c.runAs(ctx, limit, nil, stdin, argv...)
}

// runAs is run as another user; nil: as this one.
func (c *Cluster) runAs(ctx context.Context, limit time.Duration, as *account, stdin string, argv ...string) (string, error) {
	if limit == 0 {
		limit = commandTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = c.path("work"), c.environ()
	cmd.Stdin = strings.NewReader(stdin)
	cmd.WaitDelay = 10 * time.Second // on a crowded machine its last words may come that late
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// It ends with this process too. Not by start: it is to be as urgent as the thread that
	// calls, which lives on as long as nobody leaves a goroutine that is locked to it.
	cmd.SysProcAttr = new(syscall.SysProcAttr)
	endWithThread(cmd.SysProcAttr)
	asUser(cmd.SysProcAttr, as)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w after %v", ctx.Err(), limit)
		}
		return out.String(), &CommandError{Args: argv, Stdout: out.String(), Stderr: errs.String(), Err: err}
	}
	return out.String(), nil
}

// Run runs any command with the cluster's configuration and returns its standard
// output; it is ended with ctx.
func (c *Cluster) Run(ctx context.Context, argv ...string) (string, error) {
	return c.run(ctx, 10*time.Minute, "", argv...)
}

// RunAs is [Cluster.Run] as another user, with a standard input.
func (c *Cluster) RunAs(ctx context.Context, user, stdin string, argv ...string) (string, error) {
	as, err := accountOf(user)
	if err != nil {
		return "", err
	}
	return c.runAs(ctx, 10*time.Minute, as, stdin, argv...)
}

// Script is a batch script that notes its start for the [Watcher] and then runs body.
func (c *Cluster) Script(body string) string {
	return "#!/bin/sh\n" +
		`[ "${SLURM_PROCID:-0}" = 0 ] && echo "$SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $(date +%s)" >> ` + c.startsFile() + "\n" +
		body + "\n"
}

func (c *Cluster) startsFile() string { return c.path("work", "starts") }

// Sbatch submits a script and returns the job's id.
func (c *Cluster) Sbatch(ctx context.Context, args []string, script string) (uint32, error) {
	argv := append([]string{"sbatch", "--parsable"}, args...)
	out, err := c.run(ctx, 0, script, argv...)
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseUint(strings.TrimSpace(out), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s: printed %q, no job id", strings.Join(argv, " "), out)
	}
	return uint32(id), nil
}

// Srun runs srun to its end and returns its standard output.
func (c *Cluster) Srun(ctx context.Context, args ...string) (string, error) {
	return c.Run(ctx, append([]string{"srun"}, args...)...)
}

// Salloc runs salloc to its end and returns its standard output.
func (c *Cluster) Salloc(ctx context.Context, args ...string) (string, error) {
	return c.Run(ctx, append([]string{"salloc"}, args...)...)
}

// Scontrol runs scontrol and returns its standard output.
func (c *Cluster) Scontrol(ctx context.Context, args ...string) (string, error) {
	return c.run(ctx, 0, "", append([]string{"scontrol"}, args...)...)
}

// Scancel cancels jobs: ids, or options such as --user.
func (c *Cluster) Scancel(ctx context.Context, args ...string) error {
	_, err := c.run(ctx, 0, "", append([]string{"scancel"}, args...)...)
	return err
}

// Squeue is squeue's output in a format ("%i %T"), without a heading; each task of
// an array has a line.
func (c *Cluster) Squeue(ctx context.Context, format string, args ...string) (string, error) {
	return c.run(ctx, 0, "", append([]string{"squeue", "-h", "-a", "-r", "-o", format}, args...)...)
}

// Sinfo is sinfo's output in a format ("%N %T"), without a heading, a line a node
// and partition.
func (c *Cluster) Sinfo(ctx context.Context, format string) (string, error) {
	return c.run(ctx, 0, "", "sinfo", "-h", "-a", "-N", "-o", format)
}

// Jobs are all jobs that slurmctld knows of, in detail.
func (c *Cluster) Jobs(ctx context.Context) ([]Job, error) {
	out, err := c.Scontrol(ctx, "show", "job", "-d")
	if err != nil {
		return nil, err
	}
	return ParseJobs(out)
}

// ShowJob is one job in detail; of an array the job with exactly this id.
func (c *Cluster) ShowJob(ctx context.Context, id uint32) (Job, error) {
	out, err := c.Scontrol(ctx, "show", "job", "-d", fmt.Sprint(id))
	if err != nil {
		return Job{}, err
	}
	jobs, err := ParseJobs(out)
	if err != nil {
		return Job{}, err
	}
	for _, j := range jobs {
		if j.ID == id {
			return j, nil
		}
	}
	return Job{}, fmt.Errorf("scontrol show job %d: not in its output", id)
}

// ShowNode is what "scontrol show node" says of a node, by key.
func (c *Cluster) ShowNode(ctx context.Context, name string) (map[string]string, error) {
	out, err := c.Scontrol(ctx, "show", "node", "-d", name)
	if err != nil {
		return nil, err
	}
	return parseFields(out), nil
}

// Sdiag is what sdiag says.
func (c *Cluster) Sdiag(ctx context.Context) (Sdiag, error) {
	out, err := c.run(ctx, 0, "", "sdiag")
	if err != nil {
		return Sdiag{}, err
	}
	return ParseSdiag(out)
}

// WaitFor waits until the job is in one of the states ("RUNNING", "COMPLETED") and
// returns it. It gives up when the time is over, or when the job has ended in
// another state.
func (c *Cluster) WaitFor(ctx context.Context, id uint32, limit time.Duration, states ...string) (Job, error) {
	var job Job
	err := c.poll(ctx, limit, fmt.Sprintf("job %d to be %s", id, strings.Join(states, " or ")), func() (bool, error) {
		var err error
		if job, err = c.ShowJob(ctx, id); err != nil {
			return false, nil // slurmctld may be down for a moment
		}
		if job.In(states...) {
			return true, nil
		}
		if job.Ended() {
			return false, fmt.Errorf("job %d ended %s (reason %s)", id, job.State, job.Reason)
		}
		return false, nil
	})
	if err != nil {
		return job, fmt.Errorf("%w; it is %s (reason %s)", err, job.State, job.Reason)
	}
	return job, nil
}

// WaitEmpty waits until no job is pending, running or completing.
func (c *Cluster) WaitEmpty(ctx context.Context, limit time.Duration) error {
	var out string
	err := c.poll(ctx, limit, "the queue to be empty", func() (bool, error) {
		var err error
		out, err = c.Squeue(ctx, "%i %T %r %v")
		return err == nil && strings.TrimSpace(out) == "", nil
	})
	if err != nil {
		return fmt.Errorf("%w; left:\n%.2000s", err, out)
	}
	return nil
}

// Ended are the jobs that slurmctld has written to its completion log.
func (c *Cluster) Ended() ([]Ended, error) {
	text, err := readBounded(c.path("state", "jobcomp"))
	if err != nil {
		return nil, err
	}
	return ParseJobComp(text)
}

// Stderr is what a failed command said, or "".
func Stderr(err error) string {
	var e *CommandError
	if errors.As(err, &e) {
		return e.Stderr
	}
	return ""
}
