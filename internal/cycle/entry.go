// SPDX-License-Identifier: BSD-3-Clause

// Package cycle has what the cycles of all policies need: one goroutine at a time decides
// ([Entry]), work ends before the deadline ([Slack]), and a measurement turns parts off ([Parts]).
package cycle

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrBusy is what the second goroutine gets.
var ErrBusy = errors.New("the policy is deciding in another goroutine")

// Entry is the way into one policy. The zero Entry is free.
type Entry struct{ busy atomic.Bool }

// Run empties the plan, checks the snapshot and decides, unless ctx ends meanwhile. After an error
// the plan is empty again. With ErrBusy nothing is called.
func (e *Entry) Run(ctx context.Context, empty func(), check, decide func() error) (err error) {
	if !e.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	defer e.busy.Store(false)
	empty()
	if err = ctx.Err(); err == nil {
		err = check()
	}
	if err == nil {
		err = decide()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		empty()
	}
	return err
}

// Slack is the part of a cycle's time for what comes after its deadline was noticed: the decisions,
// and a host that gave the processor to somebody else. It follows the longest that this has taken
// lately, and a busy host is answered by ending earlier. It matters where a deadline cuts a cycle.
//
// With a rival on each core, an end is on time 99 times of 100 within a time slice of the host, and
// takes two or three now and then. So the longest is remembered for thousands of cycles. An end
// that took far longer, as when the host slept, counts as twice what was left.
type Slack struct {
	most time.Duration // the longest of late, slowly forgotten
	off  time.Duration // what was left to this cycle's end
	due  time.Time     // when this cycle's work was to end; zero without a deadline
}

const (
	margin    = 4    // a quarter more than the longest
	forget    = 8192 // cycles in which about two thirds of it are forgotten
	leastPart = 64   // of the whole time, when nothing is known
	mostPart  = 3    // of the whole time, whatever is known
	// A host's time slice is left at least, or an eighth of the whole time if that is less.
	slice  = 4 * time.Millisecond
	eighth = 8
)

// TakeOff is the moment before the deadline when the cycle's work has to end.
func (s *Slack) TakeOff(begin, deadline time.Time) time.Time {
	s.due = time.Time{}
	if deadline.IsZero() {
		return deadline
	}
	span := deadline.Sub(begin)
	known := max(span/leastPart, min(span/eighth, slice))
	s.off = min(max(s.most+s.most/margin, known), span/mostPart)
	s.most -= s.most / forget
	s.due = deadline.Add(-s.off)
	return s.due
}

// Learn is told when the cycle has ended, or something else that has to be done by its deadline.
func (s *Slack) Learn(end time.Time) {
	if !s.due.IsZero() {
		s.most = max(min(end.Sub(s.due), 2*s.off), s.most)
	}
}

// Left is what was left to this cycle's end.
func (s *Slack) Left() time.Duration { return s.off }

// Parts are those of the auction and of its solver that can be turned off one at a time, to measure
// what each is worth: true of what is off. The choice travels in the context of a call: it is
// neither a setting of users nor a state of the program.
type Parts struct {
	// In ipmodel/native, each with its file.
	Annealing   bool // anneal.go: the search for choices
	Prices      bool // prices.go: the volume algorithm's steps
	Enumeration bool // enumerate.go: the proofs of small windows
	Rank        bool // rank.go: the order by prices
	Promotion   bool // rank.go: what becomes of that order
	Near        bool // anneal.go: moves near the last exchange
	Repair      bool // eject.go: another column for the groups that went out
	Fill        bool // eject.go: rows filled in a repair
	Dominated   bool // dominated.go

	// In core, of which other parts are settings.
	Leftovers bool
	Ranges    bool // numbers in place of ranges of GPUs
	Sorted    bool // the timetable's sorted orders, and the moves
	Moves     bool // the moves alone
	Planned   bool // three quarters of its jobs
}

type key struct{}

// Without returns a context in which a policy and its solver do without the parts in off.
func Without(ctx context.Context, off Parts) context.Context {
	return context.WithValue(ctx, key{}, off)
}

// Off are the parts to do without.
func Off(ctx context.Context) Parts {
	off, _ := ctx.Value(key{}).(Parts)
	return off
}
