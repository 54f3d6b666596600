package core

import "time"

// slack is the part of a cycle's time that is left to what comes after its deadline was
// noticed: the decisions themselves, and a host that gave the processor to somebody else at that
// moment. It follows the longest that this has taken lately, so that a busy host is answered by
// ending earlier, not by ending late. It matters only where a deadline cuts a cycle
// short, and then the clock decides anyway.
//
// With a rival on each core, an end is on time 99 times of 100 within one of the host's time slices,
// and takes two or three of them now and then. So the longest has to be remembered for thousands of
// cycles if not one of a thousand shall be late; and an end that took far longer than was left to it,
// as when the host slept, says little about the next and counts as twice what was left.
type slack struct {
	most time.Duration // the longest of late, slowly forgotten
	off  time.Duration // what was left to this cycle's end
	due  time.Time     // when this cycle's work was to end; zero without a deadline
}

const (
	slackMargin = 4    // a quarter more than the longest
	slackForget = 8192 // cycles in which about two thirds of it are forgotten
	slackLeast  = 64   // of the whole time, when nothing is known
	slackMost   = 3    // of the whole time, whatever is known
	// A host's time slice is left at least, or an eighth of the whole time if that is less.
	slackSlice  = 4 * time.Millisecond
	slackEighth = 8
)

// takeOff is the moment before the deadline when the cycle's work has to end.
func (s *slack) takeOff(begin, deadline time.Time) time.Time {
	s.due = time.Time{}
	if deadline.IsZero() {
		return deadline
	}
	span := deadline.Sub(begin)
	least := max(span/slackLeast, min(span/slackEighth, slackSlice))
	s.off = min(max(s.most+s.most/slackMargin, least), span/slackMost)
	s.most -= s.most / slackForget
	s.due = deadline.Add(-s.off)
	return s.due
}

// learn is told when the cycle has ended, or something else that has to be done by its deadline.
func (s *slack) learn(end time.Time) {
	if !s.due.IsZero() {
		s.most = max(min(end.Sub(s.due), 2*s.off), s.most)
	}
}

// Ended tells a when its caller was done with what has to be done by the deadline as well, such
// as checking the plan that Decide has made, so that later cycles leave time for that. Callers
// who have nothing to do need not call it.
func (a *Auction) Ended(at time.Time) { a.slack.learn(at) }

// filling is how long it takes to give out what the winners leave over. The solver has to leave
// time for that as well: a window of which all jobs start can keep it busy to the end over
// preferences, while many more jobs wait behind it.
type filling struct {
	usual time.Duration // smoothed
}

const (
	fillingLeast  = 64 // of the whole time, when nothing is known
	fillingMost   = 4  // of the whole time, whatever is known
	fillingSmooth = 4  // cycles
)

// takeOff is when the solver has to end. Twice the usual time is left, so that one that was too short
// grows.
func (f *filling) takeOff(begin, due time.Time) time.Time {
	span := due.Sub(begin)
	return due.Add(-min(max(2*f.usual, span/fillingLeast), span/fillingMost))
}

// learn is told how long it has taken this time.
func (f *filling) learn(took time.Duration) {
	f.usual += (took - f.usual) / fillingSmooth
}
