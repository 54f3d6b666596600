// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// lookAtCores asks now and then how many cores jobs hold, until ctx ends.
func (f *Figures) lookAtCores(ctx context.Context, c *slurmtest.Cluster) error {
	const every = 5 * time.Second
	sum := 0.0
	for {
		busy, err := busyCores(ctx, c)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		sum += busy
		f.Looks++
		f.Busy = sum / float64(f.Looks)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// busyCores is the share of the cores that jobs hold.
func busyCores(ctx context.Context, c *slurmtest.Cluster) (float64, error) {
	out, err := c.Run(ctx, "sinfo", "--noheader", "--format=%C")
	if err != nil {
		return 0, err
	}
	return parseCores(out)
}

// parseCores is the share of the first of "allocated/idle/other/all".
func parseCores(text string) (float64, error) {
	var n [4]int
	if _, err := fmt.Sscanf(text, "%d/%d/%d/%d", &n[0], &n[1], &n[2], &n[3]); err != nil || n[3] < 1 {
		return 0, fmt.Errorf("sinfo: %.60q is no A/I/O/T", text)
	}
	return float64(n[0]) / float64(n[3]), nil
}

// diagnose asks Slurm for its figures since the window began.
func (f *Figures) diagnose(ctx context.Context, c *slurmtest.Cluster) error {
	d, err := c.Sdiag(ctx)
	if err != nil {
		return err
	}
	f.Main, f.Backfill = d.Main, d.Backfill
	if f.Started, err = started(&d); err != nil {
		return err
	}
	n, err := registrations(&d)
	if err != nil {
		return err
	}
	f.Registrations = n
	// sdiag counts these once a minute.
	states, err := c.Squeue(ctx, "%T")
	f.Pending, f.Running = strings.Count(states, "PENDING\n"), strings.Count(states, "RUNNING\n")
	return err
}

// started is how many jobs have started by sdiag, in whatever section of it that is.
func started(d *slurmtest.Sdiag) (int, error) {
	const name = "Jobs started"
	for field, value := range d.Fields {
		if strings.HasSuffix(field, ": "+name) {
			return strconv.Atoi(value)
		}
	}
	return 0, fmt.Errorf("sdiag says nothing of %q", name)
}

// registrations is how often nodes have told slurmctld of themselves.
func registrations(d *slurmtest.Sdiag) (int, error) {
	for field, value := range d.Fields {
		if strings.Contains(field, ": MESSAGE_NODE_REGISTRATION_STATUS ") {
			var n int
			// "count:17   ave_time:3", cut at the first colon
			_, err := fmt.Sscanf(value, "%d ", &n)
			return n, err
		}
	}
	return 0, nil
}

// registered waits until slurmctld has heard from all nodes, and for the time being hears no more
// from them: its state has them as idle from the beginning on.
func registered(ctx context.Context, c *slurmtest.Cluster, nodes int) error {
	const still, limit = 2 * time.Second, 3 * time.Minute
	begin, last := time.Now(), -1
	for since := begin; last < nodes || time.Since(since) < still; {
		d, err := c.Sdiag(ctx)
		if err != nil {
			return err
		}
		n, err := registrations(&d)
		if err != nil {
			return err
		}
		if n != last {
			last, since = n, time.Now()
		}
		if time.Since(begin) > limit {
			return fmt.Errorf("%d registrations of %d nodes in %v", n, nodes, limit)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
	return nil
}

// checkEnds makes sure that jobs have ended by themselves, or at their limits, and that some have.
// It counts those at their limits: they began late, or their ends came late.
func checkEnds(c *slurmtest.Cluster) (timedOut int, err error) {
	ended, err := c.Ended()
	if err != nil {
		return 0, err
	}
	return countTimedOut(ended)
}

func countTimedOut(ended []slurmtest.Ended) (n int, err error) {
	for i := range ended {
		switch e := &ended[i]; e.State {
		case "COMPLETED":
		case "TIMEOUT":
			n++
		default:
			return 0, fmt.Errorf("job %d has ended %s", e.ID, e.State)
		}
	}
	if len(ended) == 0 {
		return 0, errors.New("no job has ended")
	}
	return n, nil
}
