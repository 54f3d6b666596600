// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
)

// DeadlineFigures are the times of many cycles that were all due at the same time after
// their begin.
type DeadlineFigures struct {
	Nodes, Jobs, Cycles int
	Limit               time.Duration
	Missed              int // cycles that took longer than Limit
	P50, P99, P999, Max time.Duration
	Started             float64 // jobs a cycle, in the mean
}

// Deadlines runs cycles of an auction with options o on machines like that of a Window, each due
// limit after its begin, with as much of the solver's work as there is time for. There are eight
// windows in turn, so that the solver never sees the same one twice in a row. Every plan is
// verified, outside the time.
func Deadlines(ctx context.Context, o core.AuctionOptions, nodes, jobs, cycles int, limit time.Duration) (*DeadlineFigures, error) {
	var windows []*Window
	for seed := range uint64(8) {
		w, err := NewWindow(nodes, jobs, seed)
		if err != nil {
			return nil, err
		}
		windows = append(windows, w)
	}
	o.Window, o.Work = jobs, 0
	auction, err := core.NewAuction(o, nil)
	if err != nil {
		return nil, err
	}
	f := &DeadlineFigures{Nodes: nodes, Jobs: jobs, Cycles: cycles, Limit: limit}
	took := make([]time.Duration, 0, cycles)
	var p core.Plan
	for i := range cycles {
		s := &windows[i%len(windows)].Snapshot
		begin := time.Now()
		if err := auction.Decide(ctx, s, core.Limits{Deadline: begin.Add(limit), Seed: uint64(i)}, &p); err != nil {
			return nil, fmt.Errorf("cycle %d: %w", i, err)
		}
		took = append(took, time.Since(begin))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := core.Verify(s, &p); err != nil {
			return nil, fmt.Errorf("cycle %d: %w", i, err)
		}
		for _, d := range p.Decisions {
			if d.Start {
				f.Started += 1 / float64(cycles)
			}
		}
	}
	f.count(took)
	return f, nil
}

func (f *DeadlineFigures) count(took []time.Duration) {
	slices.Sort(took)
	at := func(share float64) time.Duration { return took[min(len(took)-1, int(share*float64(len(took))))] }
	f.P50, f.P99, f.P999, f.Max = at(0.5), at(0.99), at(0.999), took[len(took)-1]
	late, _ := slices.BinarySearch(took, f.Limit+1)
	f.Missed = len(took) - late
}

// Load keeps every core busy with a process of its own until stop is called.
func Load() (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var all []*exec.Cmd
	stop = func() {
		cancel()
		for _, c := range all {
			_ = c.Wait() // killed
		}
	}
	for range runtime.NumCPU() {
		c := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			stop()
			return nil, err
		}
		all = append(all, c)
	}
	return stop, nil
}
