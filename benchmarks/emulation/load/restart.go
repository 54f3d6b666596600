// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// ways are how a slurmctld with a long queue is ended; another one goes on.
var ways = []string{"restart", "kill -9", "takeover"}

// Restart is how a slurmctld began with the saved state of another one.
type Restart struct {
	Rival Rival
	Way   string
	// Ended is how long the one before took to end; 0 if it was killed.
	Ended time.Duration
	// Answered is how long after that the next one answered sdiag, Cycle how long until the main
	// scheduler, or the auction behind it, had had a cycle, 0 if none was before the first start.
	Answered, Cycle time.Duration
	// Start is how long it was until a job had started.
	Start         time.Duration
	Before, After int // jobs that were pending or running
	Changes
	RSS int64 // bytes, of the new one after its first start
}

// restarts ends the slurmctld of a rival in each way.
func restarts(ctx context.Context, o *Options, c *slurmtest.Cluster, rival Rival) ([]Restart, error) {
	var rs []Restart
	for _, way := range ways {
		fmt.Fprintln(o.Log, "  "+way)
		r := Restart{Rival: rival, Way: way}
		if err := r.measure(ctx, c); err != nil {
			return nil, fmt.Errorf("%s: %w", way, err)
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// measure ends the slurmctld in control, and looks at the one that follows.
func (r *Restart) measure(ctx context.Context, c *slurmtest.Cluster) error {
	if r.Way == "takeover" {
		if err := c.StartBackup(ctx); err != nil {
			return err
		}
	}
	before, err := look(ctx, c)
	if err != nil {
		return err
	}
	signal := syscall.SIGKILL
	if r.Way == "restart" {
		signal = syscall.SIGTERM
	}
	begin := time.Now()
	if err := c.KillController(ctx, signal); err != nil {
		return err
	}
	if signal == syscall.SIGTERM {
		r.Ended, begin = time.Since(begin), time.Now()
	}
	pid := c.BackupPid
	if r.Way != "takeover" {
		pid = c.ControllerPid
		if err := c.StartController(ctx); err != nil {
			return err
		}
	}
	if err := r.watch(ctx, c, begin, pid); err != nil {
		return err
	}
	u, err := usageOf(pid())
	if err != nil {
		return err
	}
	r.RSS = u.RSS
	after, err := look(ctx, c)
	if err != nil {
		return err
	}
	r.Before, r.After, r.Changes = len(before.live), len(after.live), compare(before, after)
	return nil
}

// watch waits for what the new slurmctld does first.
func (r *Restart) watch(ctx context.Context, c *slurmtest.Cluster, begin time.Time, pid func() int) error {
	const limit = 3 * time.Minute
	for ; ; time.Sleep(50 * time.Millisecond) {
		if time.Since(begin) > limit {
			return fmt.Errorf("in %v: answered after %v, cycle after %v, start after %v", limit, r.Answered, r.Cycle, r.Start)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := c.Sdiag(ctx)
		if err != nil {
			continue // nobody is in control yet
		}
		now := time.Since(begin)
		if r.Answered == 0 {
			r.Answered = now
		}
		if r.Cycle == 0 && r.cycled(c, &d, pid()) {
			r.Cycle = now
		}
		if n, err := started(&d); err != nil {
			return err
		} else if n > 0 {
			r.Start = now
			return nil
		}
	}
}

// cycled says whether the slurmctld has had a cycle.
func (r *Restart) cycled(c *slurmtest.Cluster, d *slurmtest.Sdiag, pid int) bool {
	if !r.Rival.Auction {
		return d.Main.Count > 0
	}
	s, err := c.Status()
	return err == nil && s.Pid == pid && s.Cycles > 0
}
