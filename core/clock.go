// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"time"
)

// moment is one of the moments of a cycle by which a stage has to be done with what it does.
type moment int

const (
	eighth  moment = iota // of the time is over: the window is open
	quarter               // the bids are made
	third                 // the jobs are in order
	half                  // the reservations are made; the rest is the solver's
	late                  // nothing more is given out: somewhat later than the deadline
	moments
)

// clock tells the stages of a cycle when their time is over. Without a deadline and with a context
// that never ends it never is.
type clock struct {
	ctx   context.Context
	now   func() time.Time // nil without a deadline
	until [moments]time.Time
	cut   bool // the deadline has cut something short
	stops [moments]func() bool
}

// start begins a cycle, which is due at the deadline if that is not zero.
func (c *clock) start(ctx context.Context, now func() time.Time, due, begin time.Time, slack time.Duration) {
	c.ctx, c.now, c.cut = ctx, nil, false
	if due.IsZero() {
		return
	}
	c.now = now
	span := due.Sub(begin)
	c.until[eighth] = begin.Add(span / 8)
	c.until[quarter] = begin.Add(span / 4)
	c.until[third] = begin.Add(span / 3)
	c.until[half] = begin.Add(span / 2)
	c.until[late] = due.Add(slack / 2) // left-overs are worth some of the slack
}

// end lets go of the cycle's context.
func (c *clock) end() { c.ctx, c.now = nil, nil }

// past reports whether the moment is over, or ctx has ended.
func (c *clock) past(m moment) bool {
	over := c.now != nil && !c.now().Before(c.until[m])
	c.cut = c.cut || over
	return over || c.ctx.Err() != nil
}

// stop is past as a function, for those who ask often; nil if it never says yes.
func (c *clock) stop(m moment) func() bool {
	if c.now == nil && c.ctx.Done() == nil {
		return nil
	}
	if c.stops[m] == nil {
		c.stops[m] = func() bool { return c.past(m) }
	}
	return c.stops[m]
}
