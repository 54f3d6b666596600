// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/invasive/ischeduler"
)

const (
	demoCores  = 12
	demoShare  = 4 // of each of the three malleable jobs
	demoUrgent = 6 // of the urgent one
	// How long a step may take, and a job to let go of cores. Both take less than a second on an
	// idle machine; on a busy one a job's threads wait for their turn.
	demoTime = time.Minute
)

func demoCommand() *cobra.Command {
	d := invasiveDemo{pause: 700 * time.Millisecond}
	c := &cobra.Command{
		Use:   "invasive",
		Short: "Run an iHypervisor, an iScheduler and jobs that give cores to an urgent one, and watch the cores",
		Long: `invasive starts aucsched ihypervisor and aucsched ischeduler in a temporary directory, and submits three
malleable jobs and then an urgent one. Each change of the ledger is a line: a digit is a core, and whose job's it is.
The CPUs that the kernel lets the jobs' processes run on are compared with the ledger. It ends by itself, and leaves nothing.`,
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			d.out = c.OutOrStdout()
			return d.run(c.Context())
		},
	}
	c.Flags().StringVar(&d.job, "job", "",
		"the malleable job's programme, of invasive/examples/malleable (default: malleable beside this command)")
	c.Flags().DurationVar(&d.pause, "pause", d.pause, "how long each state is left to be looked at")
	return c
}

// An invasiveDemo is one run of "aucsched demo invasive".
type invasiveDemo struct {
	out   io.Writer
	job   string
	pause time.Duration

	exe, dir string
	began    time.Time
	client   ischeduler.Client
	lines    <-chan string // of the iHypervisor's trace
	ledger   ledger
	cpus     [][]int // of each core
	states   int     // of the ledger
	seen     int     // of those, how many the kernel has confirmed
}

func (d *invasiveDemo) run(ctx context.Context) (err error) {
	if d.exe, err = os.Executable(); err != nil {
		return err
	}
	if d.job == "" {
		d.job = filepath.Join(filepath.Dir(d.exe), "malleable")
	}
	if d.job, err = filepath.Abs(d.job); err != nil {
		return err
	}
	if _, err := os.Stat(d.job); err != nil {
		return cli.BadInput(fmt.Errorf("--job: %w: go build -o bin/malleable ./invasive/examples/malleable", err))
	}
	if d.dir, err = os.MkdirTemp("", "aucsched-invasive-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.dir)) }()
	d.began, d.ledger = time.Now(), newLedger(demoCores)
	p := &programmes{dir: d.dir, exe: d.exe}
	defer func() { err = errors.Join(err, p.end()) }()
	if err := d.startBoth(ctx, p); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{d.fill, d.urgent, d.back, d.finish} {
		if err := step(ctx); err != nil {
			return err
		}
		select {
		case <-time.After(d.pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (d *invasiveDemo) startBoth(ctx context.Context, p *programmes) (err error) {
	if d.cpus, err = coresOf(demoCores); err != nil {
		return err
	}
	if shared := (demoCores + len(hostCPUs(d.cpus)) - 1) / len(hostCPUs(d.cpus)); shared > 1 {
		d.say("oversubscribed: the %d cores of the partition are %d CPUs of this host, up to %d cores on each, whose jobs share it",
			demoCores, len(hostCPUs(d.cpus)), shared)
	}
	if d.lines, err = p.hypervisor(demoCores, demoTime); err != nil {
		return err
	}
	if err = p.scheduler(); err != nil {
		return err
	}
	d.client = ischeduler.Client{Dir: p.schedulerDir()}
	return d.until(ctx, "the two programmes to meet", func() bool {
		st, err := d.client.Status(ctx)
		return err == nil && st.Connected
	})
}

// fill has three malleable jobs fill the partition.
func (d *invasiveDemo) fill(ctx context.Context) error {
	for range 3 {
		spec := ischeduler.Spec{Kind: "malleable", MinCores: 1, MaxCores: demoShare,
			Dir: d.dir, Args: []string{d.job, "--seconds", "600", "--until", d.file("stop")}}
		id, err := d.client.Submit(ctx, &spec)
		if err != nil {
			return err
		}
		d.event("malleable job %d is submitted: 1 to %d cores", id, demoShare)
	}
	return d.confirmed(ctx, "the jobs to fill the partition", map[int]int{1: demoShare, 2: demoShare, 3: demoShare})
}

// urgent has an urgent job take cores of all.
func (d *invasiveDemo) urgent(ctx context.Context) error {
	script := fmt.Sprintf("until [ -e '%s' ]; do sleep 0.05; done", d.file("urgent"))
	spec := ischeduler.Spec{Urgent: true, MinCores: demoUrgent, Dir: d.dir,
		Env: []string{"PATH=" + os.Getenv("PATH")}, Args: []string{"sh", "-c", script}}
	asked := time.Now()
	id, err := d.client.Submit(ctx, &spec)
	if err != nil {
		return err
	}
	d.event("urgent job %d is submitted: %d cores, and none is free", id, demoUrgent)
	if err := d.until(ctx, "the urgent job to run", func() bool { return len(jobProcesses(d.dir, int(id))) > 0 }); err != nil {
		return err
	}
	took := time.Since(asked)
	if err := d.confirmed(ctx, "the urgent job to have its cores", map[int]int{int(id): demoUrgent}); err != nil {
		return err
	}
	others := 0
	for job := 1; job <= 3; job++ {
		others += len(d.ledger.of(job))
		if len(d.ledger.of(job)) == 0 {
			return fmt.Errorf("job %d was left without a core", job)
		}
	}
	d.say("the urgent job ran %.0f ms after its submission, on cores of running jobs, which go on with %d",
		float64(took.Microseconds())/1000, others)
	return nil
}

// back ends the urgent job, and waits until the others have all cores again.
func (d *invasiveDemo) back(ctx context.Context) error {
	if err := os.WriteFile(d.file("urgent"), nil, 0o600); err != nil {
		return err
	}
	return d.confirmed(ctx, "the jobs to get their cores back", map[int]int{1: demoShare, 2: demoShare, 3: demoShare, 4: 0})
}

func (d *invasiveDemo) finish(ctx context.Context) error {
	if err := os.WriteFile(d.file("stop"), nil, 0o600); err != nil {
		return err
	}
	var list []ischeduler.Info
	err := d.until(ctx, "all jobs to end", func() bool {
		list, _ = d.client.List(ctx)
		return len(list) == 4 && !slices.ContainsFunc(list, func(j ischeduler.Info) bool { return j.State != "done" })
	})
	if err != nil {
		return err
	}
	for _, j := range list {
		if j.Exit != 0 {
			return fmt.Errorf("job %d ended with %d", j.ID, j.Exit)
		}
	}
	d.say("all 4 jobs have ended with 0; the ledger had %d states, and the kernel confirmed %d while they lasted", d.states, d.seen)
	return nil
}

func (d *invasiveDemo) file(name string) string { return filepath.Join(d.dir, name) }

func (d *invasiveDemo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

// event prints a line with the time and the cores.
func (d *invasiveDemo) event(format string, args ...any) {
	d.say("%6.2f s  [%s]  "+format, append([]any{time.Since(d.began).Seconds(), d.ledger.bar()}, args...)...)
}

// until shows what happens until something holds.
func (d *invasiveDemo) until(ctx context.Context, what string, holds func() bool) error {
	late := time.After(demoTime)
	fresh := false // the ledger's state isn't confirmed yet
	for {
		if fresh && d.differs() == "" {
			d.seen, fresh = d.seen+1, false
		}
		if len(d.lines) == 0 && holds() {
			return nil
		}
		select {
		case line, ok := <-d.lines:
			if !ok {
				return errors.New("the iHypervisor has ended")
			}
			before := d.ledger.bar()
			if text := d.ledger.take(line); text != "" {
				d.event("%s", text)
			}
			if d.ledger.bar() != before {
				d.states, fresh = d.states+1, true
			}
			continue
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("waited for %s for %v; the ledger: %s; the kernel: %s", what, demoTime, d.ledger.bar(), d.differs())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// confirmed waits until jobs have so many cores, and the kernel says the same as the ledger of
// all, and prints that.
func (d *invasiveDemo) confirmed(ctx context.Context, what string, want map[int]int) error {
	err := d.until(ctx, what, func() bool {
		for job, cores := range want {
			if len(d.ledger.of(job)) != cores {
				return false
			}
		}
		return d.differs() == ""
	})
	if err != nil {
		return err
	}
	for _, job := range d.ledger.jobs() {
		d.say("          kernel: job %d, process %d: Cpus_allowed_list %s, as the ledger says",
			job, jobProcesses(d.dir, job)[0], listOf(d.cpus, d.ledger.of(job)))
	}
	return nil
}

// differs compares every thread of every job with the ledger. It is "" if all are
// where they should be.
func (d *invasiveDemo) differs() string {
	for _, job := range d.ledger.jobs() {
		want := listOf(d.cpus, d.ledger.of(job))
		pids := jobProcesses(d.dir, job)
		if len(pids) == 0 {
			return "job " + strconv.Itoa(job) + " has no process"
		}
		for _, pid := range pids {
			for _, got := range allowedOf(pid) {
				if got != want {
					return fmt.Sprintf("process %d of job %d may run on %s, the ledger says %s", pid, job, got, want)
				}
			}
		}
	}
	return ""
}
