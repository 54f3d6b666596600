package core

import "time"

// slack is the part of a cycle's time that is left to what comes after its deadline was
// noticed: the decisions themselves, and a host that gave the processor to somebody else at that
// moment. It follows the longest that this has taken lately, so that a busy host is answered by
// ending earlier, not by ending late. It matters only where a deadline cuts a cycle
// short, and then the clock decides anyway.
type slack struct {
	most time.Duration // the longest of late, slowly forgotten
	due  time.Time     // when this cycle's work was to end; zero without a deadline
}

const (
	slackMargin = 4   // a quarter more than the longest
	slackForget = 256 // cycles in which about two thirds of it are forgotten
	slackLeast  = 64  // of the whole time, when nothing is known
	slackMost   = 3   // of the whole time, whatever is known
)

// takeOff is the moment before the deadline when the cycle's work has to end.
func (s *slack) takeOff(begin, deadline time.Time) time.Time {
	s.due = time.Time{}
	if deadline.IsZero() {
		return deadline
	}
	span := deadline.Sub(begin)
	off := max(s.most+s.most/slackMargin, span/slackLeast)
	s.due = deadline.Add(-min(off, span/slackMost))
	return s.due
}

// learn is told when the cycle has ended.
func (s *slack) learn(end time.Time) {
	if s.due.IsZero() {
		return
	}
	s.most = max(end.Sub(s.due), s.most-s.most/slackForget)
}
