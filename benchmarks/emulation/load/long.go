// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"fmt"
)

// LongRun is what was measured of a rival with a long queue.
type LongRun struct {
	*Figures
	Restarts []Restart
}

// RunLong measures the rivals one after the other, in the window and in restarts. Queues and
// figures are kept as [Run] has them.
func RunLong(ctx context.Context, o *Options, size Size, rivals []Rival) ([]LongRun, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	states, err := Prepare(ctx, o, size.Nodes, []int{size.Jobs})
	if err != nil {
		return nil, err
	}
	var out []LongRun
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
func (o *Options) long(ctx context.Context, s Size, k int, r Rival, state string) (l LongRun, err error) {
	if l.Figures, err = o.figures(ctx, s, k, r, state); err != nil {
		return l, err
	}
	rs, err := kept(o.file("restarts", s, k),
		func(rs *[]Restart) bool { return len(*rs) == len(ways) && (*rs)[0].Rival == r },
		func() (*[]Restart, error) {
			rs, err := MeasureRestarts(ctx, o, s, r, state)
			return &rs, err
		})
	if err != nil {
		return l, err
	}
	l.Restarts = *rs
	return l, nil
}
