// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// breakAll makes the faults of the plan, one after the other.
func (r *runner) breakAll(ctx context.Context) {
	for _, f := range r.plan.Faults {
		if !r.until(ctx, f.At) {
			return
		}
		r.options.Say("%s", f)
		if err := r.break_(ctx, f); err != nil && ctx.Err() == nil {
			r.options.Say("%s: %v", f, err)
			r.note(func(o *Outcome) { o.Faults = append(o.Faults, fmt.Sprintf("%s: %v", f, err)) })
		}
	}
}

// String is a fault in words.
func (f Fault) String() string {
	s := fmt.Sprintf("%v %s", f.At, f.Kind)
	if f.Kind == Drain {
		s += " " + slurmtest.NodeName(f.Node)
	}
	if f.Kind == BadDisk {
		s += fmt.Sprintf(" (%v)", f.Op)
	}
	if f.Down > 0 {
		s += fmt.Sprintf(", for %v", f.Down)
	}
	if f.Gap != 0 {
		s += fmt.Sprintf(" (%v)", f.Gap)
	}
	return s
}

func (r *runner) break_(ctx context.Context, f Fault) error {
	c := r.cluster
	switch f.Kind {
	case DoubleKill:
		if err := r.kill(ctx, f.Down); err != nil {
			return err
		}
		wait(ctx, f.Gap)
		return r.kill(ctx, f.Down)
	case Kill:
		return r.kill(ctx, f.Down)
	case Reconfigure:
		return c.Reconfigure(ctx)
	case HUP:
		return c.HUP(ctx)
	case Drain:
		node := slurmtest.NodeName(f.Node)
		r.draining.Store(true)
		defer r.draining.Store(false)
		if err := c.DrainNode(ctx, node); err != nil {
			return err
		}
		wait(ctx, f.Down)
		return c.ResumeNode(ctx, node)
	case Failover, Takeover:
		return r.failOver(ctx, f)
	case SlowDisk, FullDisk, BadDisk, Clock:
		return r.disturb(ctx, f)
	}
	return fmt.Errorf("no such fault: %q", f.Kind)
}

// failOver has a backup controller take over, and the primary one come back. Whatever ctx says,
// that one is left running, and alone.
func (r *runner) failOver(ctx context.Context, f Fault) error {
	c, always := r.cluster, context.WithoutCancel(ctx)
	if err := c.StartBackup(ctx); err != nil {
		return err
	}
	wait(ctx, 2*time.Second) // it has to hear of the primary's heart
	at := time.Now()
	var errs []error
	if f.Kind == Failover {
		errs = append(errs, c.KillController(always, syscall.SIGKILL))
		r.note(func(o *Outcome) { o.Kills = append(o.Kills, at) })
	} else {
		_, err := c.Scontrol(ctx, "takeover")
		errs = append(errs, err)
	}
	errs = append(errs, c.WaitControl(always, time.Minute))
	wait(ctx, f.Down)
	if c.ControllerPid() > 0 { // one that has given up control
		errs = append(errs, c.KillController(always, syscall.SIGTERM))
	}
	errs = append(errs, c.StartController(always), c.WaitControl(always, time.Minute))
	wait(ctx, time.Second)
	return errors.Join(append(errs, c.KillBackup(always, syscall.SIGTERM))...)
}

// disturb makes slurmctld's files or the daemons' clock fail for a while.
func (r *runner) disturb(ctx context.Context, f Fault) error {
	faults := r.cluster.Faults()
	var errs []error
	switch f.Kind {
	case SlowDisk:
		for _, op := range []slurmtest.FileOp{slurmtest.OpFsync, slurmtest.OpLink, slurmtest.OpUnlink, slurmtest.OpRename} {
			errs = append(errs, faults.Set(op, slurmtest.Fault{Delay: f.Gap}))
		}
	case FullDisk:
		errs = append(errs, faults.FullDisk())
	case BadDisk:
		errs = append(errs, faults.Set(f.Op, slurmtest.Fault{Error: syscall.EIO}))
	case Clock:
		errs = append(errs, faults.ShiftClock(f.Gap))
	}
	wait(ctx, f.Down)
	errs = append(errs, faults.Clear())
	return errors.Join(append(errs, r.restart(ctx))...)
}

// restart starts a slurmctld that has ended by itself, as systemd would: one that can't read
// a job's script does.
func (r *runner) restart(ctx context.Context) error {
	if r.cluster.ControllerPid() > 0 {
		return nil
	}
	r.options.Say("slurmctld had ended by itself, and is started again")
	r.note(func(o *Outcome) { o.Kills = append(o.Kills, time.Now()) })
	return r.cluster.StartController(context.WithoutCancel(ctx))
}

// kill kills slurmctld and starts it again later. Whatever ctx says, one is left running.
func (r *runner) kill(ctx context.Context, down time.Duration) error {
	at := time.Now()
	if err := r.cluster.KillController(ctx, syscall.SIGKILL); err != nil {
		return err
	}
	r.note(func(o *Outcome) { o.Kills = append(o.Kills, at) })
	wait(ctx, down)
	return r.cluster.StartController(context.WithoutCancel(ctx))
}
