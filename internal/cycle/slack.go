// SPDX-License-Identifier: BSD-3-Clause

package cycle

import "time"

// Slack is the part of a cycle's time that is left to what comes after its deadline was
// noticed: the decisions themselves, and a host that gave the processor to somebody else at that
// moment. It follows the longest that this has taken lately, so that a busy host is answered by
// ending earlier, not by ending late. It matters only where a deadline cuts a cycle
// short, and then the clock decides anyway.
//
// With a rival on each core, an end is on time 99 times of 100 within one of the host's time
// slices, and takes two or three of them now and then. So the longest has to be remembered
// for thousands of cycles if not one of a thousand shall be late; and an end that took far
// longer than was left to it, as when the host slept, says little about the next and counts
// as twice what was left.
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
