// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// Times are durations of the same thing: how many were seen, and their mean and greatest.
type Times struct {
	N         int
	Mean, Max time.Duration
	sum       time.Duration
}

func (t *Times) add(d time.Duration) {
	t.N++
	t.sum += d
	t.Mean = t.sum / time.Duration(t.N)
	t.Max = max(t.Max, d)
}

// Auction are the cycles of the auction that were seen in a window: see
// docs/explanation/slurm.md for the figures.
type Auction struct {
	Cycle, Snapshot, Decide, Start, Lock Times
	Cycles                               int // that there were
	Started, StartsFailed                int64
	Queue, Window                        int64 // at the end
}

// look takes in the status file; before is what it had the last time. Of cycles between two looks
// the last one alone is seen.
func (a *Auction) look(before, s *slurmtest.Status) {
	a.Queue, a.Window = s.Queue, s.Window
	if s.Cycles == before.Cycles {
		return
	}
	a.Cycles += int(s.Cycles - before.Cycles)
	a.Started += s.Started - before.Started
	a.StartsFailed += s.StartsFailed - before.StartsFailed
	us := func(f slurmtest.Figure) time.Duration { return time.Duration(f.Last * float64(time.Microsecond)) }
	a.Cycle.add(us(s.Cycle))
	a.Snapshot.add(us(s.Snapshot))
	a.Decide.add(us(s.Decide))
	a.Lock.add(us(s.Lock))
	if s.Started > before.Started {
		a.Start.add(us(s.StartFigure))
	}
}

// glance is how often the status file is looked at; slurmctld writes it after a cycle,
// at most once a second.
const glance = 50 * time.Millisecond

// watch looks at the status file until ctx ends.
func watch(ctx context.Context, c *slurmtest.Cluster) (Auction, error) {
	var a Auction
	before, err := c.Status()
	if err != nil {
		return a, err
	}
	for {
		select {
		case <-ctx.Done():
			return a, nil
		case <-time.After(glance):
		}
		now, err := c.Status()
		if err != nil {
			return a, err
		}
		a.look(&before, &now)
		before = now
	}
}
