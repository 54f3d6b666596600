// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aucsched/aucsched/internal/slurmtest"
)

// Ways are how a slurmctld with a long queue is ended; another one goes on.
var ways = []string{"restart", "kill -9", "takeover"}

// Restart is how a slurmctld began with the saved state of another one.
type Restart struct {
	Rival Rival
	Way   string
	// Ended is how long the one before took to end; 0 if it was killed.
	Ended time.Duration
	// Answered, Cycle and Start are how long after that the next one answered sinfo, had a cycle of
	// its main scheduler or of the auction behind it, and had started a job.
	Answered, Cycle, Start time.Duration
	// Before and After are how many jobs were pending or running. Lost are those that were there
	// before and are neither there afterwards nor known to have ended; Doubled those that are
	// there twice, or have ended and are pending or running, or have ended twice.
	Before, After, Lost, Doubled int
	RSS                          int64 // bytes, of the new one after its first start
}

// MeasureRestarts ends the slurmctld of a rival in each way, with a prepared queue.
func MeasureRestarts(ctx context.Context, o *Options, size Size, rival Rival, state string) (rs []Restart, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "%d nodes, %d jobs: %s: restarts\n", size.Nodes, size.Jobs, rival.Name)
	dir := filepath.Join(o.Dir, "run")
	if err := copyState(state, filepath.Join(dir, "state")); err != nil {
		return nil, err
	}
	cfg := o.config(size.Nodes, &rival)
	cfg.Backup = true
	c, err := slurmtest.Start(ctx, dir, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop(), os.RemoveAll(dir)) }()
	if err := registered(ctx, c, size.Nodes); err != nil {
		return nil, err
	}
	if _, err := c.Scontrol(ctx, "update", "PartitionName="+partition, "State=UP"); err != nil {
		return nil, err
	}
	if err := (&Figures{}).fill(ctx, o, c); err != nil {
		return nil, err
	}
	for _, way := range ways {
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
	before, err := census(ctx, c)
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
	after, err := census(ctx, c)
	if err != nil {
		return err
	}
	r.Before, r.After = len(before.live), len(after.live)
	r.Lost, r.Doubled = compare(before, after)
	return nil
}

// watch waits for what the new slurmctld does first.
func (r *Restart) watch(ctx context.Context, c *slurmtest.Cluster, begin time.Time, pid func() int) error {
	const limit = 5 * time.Minute
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

// jobs are those of a slurmctld: in what state each id is, and how often each has ended.
type jobs struct {
	live  map[uint32]int // pending or running, how many of them
	other map[uint32]bool
	ended map[uint32]int // before live was looked at
	late  map[uint32]int // and afterwards
}

// census looks at all jobs.
func census(ctx context.Context, c *slurmtest.Cluster) (*jobs, error) {
	j := &jobs{live: map[uint32]int{}, other: map[uint32]bool{}}
	var err error
	if j.ended, err = ends(c); err != nil {
		return nil, err
	}
	out, err := c.Squeue(ctx, "%A %T", "--states=all")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		id, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("squeue: %q: %w", line, err)
		}
		if state == "PENDING" || state == "RUNNING" {
			j.live[uint32(n)]++
		} else {
			j.other[uint32(n)] = true
		}
	}
	j.late, err = ends(c)
	return j, err
}

// ends counts how often each job has ended.
func ends(c *slurmtest.Cluster) (map[uint32]int, error) {
	all, err := c.Ended()
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	n := map[uint32]int{}
	for i := range all {
		n[all[i].ID]++
	}
	return n, err
}

// compare counts the jobs that were lost and those that are twice.
func compare(before, after *jobs) (lost, doubled int) {
	for id := range before.live {
		if after.live[id] == 0 && !after.other[id] && after.late[id] == 0 {
			lost++
		}
	}
	twice := map[uint32]bool{}
	for id, n := range after.live {
		if n > 1 || after.ended[id] > 0 {
			twice[id] = true
		}
	}
	for id, n := range after.late {
		if n > 1 && before.late[id] < 2 {
			twice[id] = true
		}
	}
	return lost, len(twice)
}
