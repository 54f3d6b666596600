// SPDX-License-Identifier: BSD-3-Clause

package day

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/benchmarks/emulation"
	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
)

// mostHours bounds the time in which jobs come, and once more that in which they end.
const mostHours = 7 * 24

// epoch is when every day begins, in virtual time: 2026-01-01 00:00 UTC.
const epoch = 1767225600

// Options say which day.
type Options struct {
	// Dir is the cluster's directory, missing and short: see slurmtest. It is removed in the end.
	Dir string
	// Out is where slurm.conf and jobs.txt, what sacct prints, are left.
	Out string
	// Tools is the directory of vclock.so and vslurmd.
	Tools string
	// Seed draws the jobs, which come in so many Hours, Load being what part of the machine they
	// would fill.
	Seed        uint64
	Hours, Load float64
	Priority    Priority
	// Rate is the clock's while nothing computes, and Busy while one of the daemons does, which is
	// that much slower than in the world: a pass over this small machine takes milliseconds.
	Rate, Busy float64
	// Log, if set, hears what happens.
	Log func(format string, a ...any)
}

// Validate reports what is wrong with the options, save for directories.
func (o *Options) Validate() error {
	switch {
	case !(o.Hours > 0 && o.Hours <= mostHours):
		return fmt.Errorf("%g hours: must be more than 0 and at most %d", o.Hours, mostHours)
	case !(o.Load > 0 && o.Load <= 10):
		return fmt.Errorf("load %g: must be more than 0 and at most 10", o.Load)
	case !slices.Contains(Priorities(), string(o.Priority)):
		return fmt.Errorf("priority %q: must be one of %s", o.Priority, strings.Join(Priorities(), ", "))
	case !(o.Rate >= 1 && o.Rate <= emulation.MostRate):
		return fmt.Errorf("rate %g: must be from 1 to %d", o.Rate, emulation.MostRate)
	case !(o.Busy >= 1 && o.Busy <= o.Rate):
		return fmt.Errorf("busy rate %g: must be from 1 to %g, the rate", o.Busy, o.Rate)
	}
	return nil
}

// Run runs the day. What it leaves in Out is as of a site: the times are those of 2026-01-01.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if err := emulation.Absolute(&o.Dir, &o.Tools); err != nil {
		return err
	}
	page := filepath.Join(o.Dir, "clock")
	var clock *vclock.Clock
	cfg := site(o.Priority)
	cfg.DaemonEnv = append(vclock.Env(filepath.Join(o.Tools, "vclock.so"), page), "TZ=UTC")
	cfg.NodeDaemon = []string{filepath.Join(o.Tools, "vslurmd")}
	cfg.NoAuth, cfg.Urgent, cfg.Ephemeral = true, true, true
	cfg.ExtraLines = append(cfg.ExtraLines,
		fmt.Sprintf("MessageTimeout=%d", min(max(100, int(60*o.Rate)), 65535)),
		fmt.Sprintf("TCPTimeout=%d", min(max(60, int(30*o.Rate)), 65535)),
		"SlurmctldTimeout=3600", "InactiveLimit=0", "UnkillableStepTimeout=60000", "BatchStartTimeout=600")
	cfg.Prepare = func() (err error) {
		clock, err = vclock.Create(page, time.Unix(epoch, 0), o.Rate)
		return err
	}
	cluster, err := slurmtest.Start(ctx, o.Dir, cfg)
	if clock != nil {
		defer clock.Close()
	}
	if err != nil {
		return err
	}
	d := &day{Options: &o, clock: clock, cluster: cluster, governor: emulation.NewGovernor(clock, o.Busy, o.Rate)}
	return errors.Join(d.run(ctx), cluster.Stop())
}

type day struct {
	*Options
	clock    *vclock.Clock
	cluster  *slurmtest.Cluster
	governor *emulation.Governor
	origin   time.Time
	ids      map[int]uint32
}

func (d *day) run(ctx context.Context) error {
	governed, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		cancel(d.governor.Run(governed, d.cluster.DaemonPids))
	}()
	err := d.live(governed)
	cancel(nil)
	<-done
	if err != nil {
		return err
	}
	return d.keep(ctx)
}

// live has everything happen, and waits until the last job has ended.
func (d *day) live(ctx context.Context) error {
	d.origin, d.ids = d.clock.Now().Truncate(time.Second).Add(2*time.Second), map[int]uint32{}
	all := d.events()
	began := time.Now()
	for n, e := range all {
		if err := d.until(ctx, d.origin.Add(time.Duration(e.at*float64(time.Second)))); err != nil {
			return err
		}
		if err := d.do(ctx, &e); err != nil {
			return err
		}
		if n%50 == 0 {
			fast, slow := d.governor.Spent()
			d.Log("%d of %d, %v of the day in %v (%v, %v)", n, len(all), d.clock.Now().Sub(d.origin), time.Since(began), fast, slow)
		}
	}
	for {
		out, err := d.squeue(ctx)
		if err != nil {
			return err
		}
		left := strings.Count(out, "\n")
		d.Log("%d jobs left, %v of the day in %v", left, d.clock.Now().Sub(d.origin), time.Since(began))
		if left == 0 {
			return nil
		}
		if d.clock.Now().Sub(d.origin).Hours() > d.Hours+mostHours {
			return fmt.Errorf("%d jobs are left %d hours after the last has come", left, mostHours)
		}
		if err := d.until(ctx, d.clock.Now().Add(15*time.Minute)); err != nil {
			return err
		}
	}
}

func (d *day) squeue(ctx context.Context) (string, error) {
	defer d.governor.Hold()()
	return d.cluster.Squeue(ctx, "%i %T")
}

// until waits for a virtual time.
func (d *day) until(ctx context.Context, due time.Time) error {
	for {
		left := due.Sub(d.clock.Now())
		if left <= 0 || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		pause := time.Duration(float64(left) / d.Rate)
		sleep := unix.NsecToTimespec(int64(min(max(pause, time.Millisecond/2), 50*time.Millisecond)))
		_ = unix.Nanosleep(&sleep, nil) // shorter after a signal
	}
}

// do does an event.
func (d *day) do(ctx context.Context, e *event) error {
	defer d.governor.Hold()()
	if s := e.submit; s != nil {
		script := fmt.Sprintf("#!/bin/sh\n# aucsched-emulation: %d\n", s.seconds)
		id, err := d.cluster.Sbatch(ctx, append([]string{"--output=none"}, s.args...), script)
		d.ids[e.which] = id
		return err
	}
	id := fmt.Sprint(d.ids[e.which])
	var err error
	if e.what == "cancel" {
		err = d.cluster.Scancel(ctx, id)
	} else {
		_, err = d.cluster.Scontrol(ctx, "requeue", id)
	}
	if err != nil { // it is over, or waits
		d.Log("%s %s: %s", e.what, id, strings.TrimSpace(slurmtest.Stderr(err)))
	}
	return nil
}

// keep leaves what a site would have.
func (d *day) keep(ctx context.Context) error {
	if err := os.MkdirAll(d.Out, 0o755); err != nil {
		return err
	}
	text, err := d.cluster.Run(ctx, "env", "TZ=UTC", "sacct", "--allusers", "--allocations", "--duplicates", "--parsable2",
		"--starttime=2026-01-01", "--endtime=2026-01-31", "--format="+workload.PastFormat)
	if err != nil {
		return err
	}
	conf, err := os.ReadFile(filepath.Join(d.cluster.Dir, "slurm.conf"))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(d.Out, "jobs.txt"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(d.Out, "slurm.conf"), conf, 0o644))
}
