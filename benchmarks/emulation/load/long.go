// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// LongRun is what was measured of a rival with a long queue.
type LongRun struct {
	*Figures
	Restarts []Restart
}

// RunLong measures the rivals one after the other, in the window and in restarts. Queues and
// figures are kept as [Run] has them.
func RunLong(ctx context.Context, o *Options, size Size, rivals []Rival) ([]*LongRun, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	states, err := Prepare(ctx, o, size.Nodes, []int{size.Jobs})
	if err != nil {
		return nil, err
	}
	var out []*LongRun
	for k, r := range rivals {
		run, err := o.long(ctx, size, k, r, states[0])
		if err != nil {
			return nil, fmt.Errorf("%d nodes, %d jobs, %s: %w", size.Nodes, size.Jobs, r.Name, err)
		}
		out = append(out, run)
	}
	return out, nil
}

// long measures rival k, or takes what is kept of it.
func (o *Options) long(ctx context.Context, s Size, k int, r Rival, state string) (*LongRun, error) {
	return kept(o.file("long", s, k),
		func(l *LongRun) bool {
			return l.Figures != nil && l.Size == s && l.Rival == r && len(l.Restarts) == len(ways)
		},
		func() (*LongRun, error) { return MeasureLong(ctx, o, s, r, state) })
}

// MeasureLong measures a rival with a prepared queue. A backup controller is configured, and does
// not run until it is to take over.
func MeasureLong(ctx context.Context, o *Options, s Size, r Rival, state string) (*LongRun, error) {
	cfg := o.config(s.Nodes, &r)
	cfg.Backup = true
	l := &LongRun{}
	err := o.bed(ctx, s, r, state, cfg, func(c *slurmtest.Cluster) (err error) {
		if l.Figures, err = o.measure(ctx, c, s, r); err != nil {
			return err
		}
		if l.Auction != nil && l.Auction.Started == 0 {
			return errors.New("the auction has started nothing")
		}
		l.Restarts, err = restarts(ctx, o, c, r)
		return err
	})
	return l, err
}
