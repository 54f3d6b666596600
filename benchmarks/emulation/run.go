// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
)

// epoch is when every run begins, in virtual time: 2026-01-01 00:00 UTC.
const epoch = 1767225600

// Progress is how far a run has come.
type Progress struct {
	Virtual                time.Duration // since the workload's start
	Submitted, Done, Total int           // jobs
}

// Run brings up a cluster, runs the workload on it, ends it, and says what became of the
// jobs. Jobs that this machine can never run are left out: see Unrun of the metrics.
// Nothing of the cluster is left running, whatever happens.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := o.absolute(); err != nil {
		return nil, err
	}
	r := &run{o: &o}
	var err error
	if r.todo, r.unrun, err = admit(o.Machine, o.Jobs); err != nil {
		return nil, err
	}
	page := filepath.Join(o.Dir, "clock")
	cfg := o.cluster(page)
	cfg.Prepare = func() (err error) {
		r.clock, err = vclock.Create(page, time.Unix(epoch, 0), o.Rate)
		return err
	}
	begin := time.Now()
	r.cluster, err = slurmtest.Start(ctx, o.Dir, cfg)
	if r.clock != nil {
		defer r.clock.Close()
	}
	if err != nil {
		return nil, err
	}
	r.governor = NewGovernor(r.clock, o.Busy, o.Rate)
	if err := errors.Join(r.watched(ctx), r.cluster.Stop()); err != nil {
		return nil, err
	}
	result, err := r.measure()
	if result != nil {
		result.WallSeconds = time.Since(begin).Seconds()
	}
	return result, err
}

// run is a workload on a cluster.
type run struct {
	o        *Options
	todo     []int       // the jobs that can run
	unrun    []sim.Unrun // and the others
	clock    *vclock.Clock
	cluster  *slurmtest.Cluster
	governor *Governor
	origin   time.Time // the workload's second 0, in virtual time
	late     []float64 // seconds, of each submission
	counted  lineCounter
	had      map[uint32]*slurmtest.Job // by Slurm's number
	ended    []slurmtest.Ended
	slurm    Slurm
}

// watched does the run and looks at what it has cost. It ends as soon as one of the daemons
// does: who waits for it would wait long.
func (r *run) watched(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		const glance = 50 * time.Millisecond
		for ctx.Err() == nil {
			if err := r.cluster.Failure(); err != nil {
				cancel(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(glance):
			}
		}
	}()
	err := r.run(ctx)
	if err == nil {
		err = r.look(ctx)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	cancel(nil)
	<-watched
	return err
}

// run submits all jobs on time and waits until all have ended.
func (r *run) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	governed := make(chan struct{})
	go func() {
		defer close(governed)
		if err := r.governor.Run(ctx, r.cluster.DaemonPids); err != nil {
			cancel(err)
		}
	}()
	r.counted.path = filepath.Join(r.cluster.Dir, "state", "jobcomp")
	r.origin = r.clock.Now().Truncate(time.Second).Add(2 * time.Second)
	err := r.feed(ctx)
	if err == nil {
		err = r.drain(ctx)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	cancel(nil)
	<-governed
	return err
}

// feed submits every job when it is due.
func (r *run) feed(ctx context.Context) error {
	defer urgently(slurmtest.UrgencyNodes)() // or daemons would keep sbatch from running
	for n, i := range r.todo {
		j := &r.o.Jobs[i]
		due := r.origin.Add(time.Duration(j.Submit) * time.Second)
		if err := r.until(ctx, due, n); err != nil {
			return err
		}
		release := r.governor.Hold()
		_, err := r.cluster.Sbatch(ctx, sbatchArgs(i, j, r.o.Ranges), r.script(j))
		release()
		if err != nil {
			return fmt.Errorf("job %s: %w", j.ID, err)
		}
		r.late = append(r.late, r.clock.Now().Sub(due).Seconds())
	}
	return nil
}

// until waits for a virtual time. It sleeps in the kernel: Go's timers are not urgent, and ten
// milliseconds are seconds of the clock's.
func (r *run) until(ctx context.Context, due time.Time, submitted int) error {
	const glance = 50 * time.Millisecond
	shown := time.Now()
	for {
		left := due.Sub(r.clock.Now())
		if left <= 0 || ctx.Err() != nil {
			return ctx.Err()
		}
		pause := time.Duration(float64(left) / r.o.Rate)
		sleep := unix.NsecToTimespec(int64(min(max(pause, look/2), glance)))
		_ = unix.Nanosleep(&sleep, nil) // shorter after a signal
		if time.Since(shown) > glance {
			shown = time.Now()
			if _, err := r.progress(submitted); err != nil {
				return err
			}
		}
	}
}

// drain waits until all jobs have ended.
func (r *run) drain(ctx context.Context) error {
	const glance = 20 * time.Millisecond
	done, since := -1, time.Now()
	for {
		n, err := r.progress(len(r.todo))
		if err != nil || n >= len(r.todo) {
			return err
		}
		if n > done {
			done, since = n, time.Now()
		}
		if time.Since(since) > r.o.Stall {
			return fmt.Errorf("no job has ended for %v: %d of %d have", r.o.Stall, n, len(r.todo))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(glance):
		}
	}
}

// progress is how many jobs have ended.
func (r *run) progress(submitted int) (int, error) {
	n, err := r.counted.count()
	if err != nil {
		return n, err
	}
	if r.o.Progress != nil {
		r.o.Progress(Progress{r.clock.Now().Sub(r.origin), submitted, n, len(r.todo)})
	}
	return n, nil
}

// script is the job's script: with stock slurmds it is run.
func (r *run) script(j *workload.Job) string {
	if r.o.Full {
		return fmt.Sprintf("#!/bin/sh\nLD_PRELOAD=%s %s=%s exec sleep %d\n", r.o.library(),
			vclock.FileVariable, filepath.Join(r.o.Dir, "clock"), j.Duration)
	}
	return script(j)
}
