// SPDX-License-Identifier: BSD-3-Clause

package cycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The work ends so long before the deadline as cycles have lately gone on after that.
func TestSlackFollowsTheTail(t *testing.T) {
	begin := time.Unix(1000, 0)
	deadline := begin.Add(640 * time.Millisecond)
	var s Slack
	cycle := func(tail time.Duration) time.Duration {
		due := s.TakeOff(begin, deadline)
		s.Learn(due.Add(tail))
		return deadline.Sub(due)
	}
	require.Equal(t, 10*time.Millisecond, cycle(20*time.Millisecond), "nothing is known")
	require.Equal(t, 25*time.Millisecond, cycle(0), "a quarter more than it took")
	for range 1000 {
		cycle(time.Millisecond)
	}
	require.Greater(t, cycle(0), 20*time.Millisecond, "it is remembered")
	for range 9000 {
		cycle(time.Millisecond)
	}
	require.Less(t, cycle(0), 10*time.Millisecond+1, "not for ever")
	cycle(time.Hour)
	require.Equal(t, 25*time.Millisecond, cycle(0), "once counts as twice what was left")
	for range 10 {
		cycle(time.Hour)
	}
	require.Equal(t, 640*time.Millisecond/3, cycle(0), "most of the time is for the work")
	s = Slack{}
	require.Equal(t, deadline.Add(-10*time.Millisecond), s.TakeOff(begin, deadline))
	s.Learn(begin) // the work was done long before
	require.Zero(t, s.most)
	require.Zero(t, s.TakeOff(begin, time.Time{}))
	s.Learn(begin.Add(time.Hour))
	require.Zero(t, s.most, "no deadline, nothing to learn")
}

// While nothing is known a host's time slice is left, but not of a cycle that is short itself.
func TestSlackIsATimeSlice(t *testing.T) {
	begin := time.Unix(1000, 0)
	for _, c := range []struct{ span, off time.Duration }{
		{0, 0},
		{8 * time.Millisecond, time.Millisecond},
		{32 * time.Millisecond, 4 * time.Millisecond},
		{250 * time.Millisecond, 4 * time.Millisecond},
		{time.Second, time.Second / 64},
	} {
		var s Slack
		require.Equal(t, c.off, begin.Add(c.span).Sub(s.TakeOff(begin, begin.Add(c.span))), "%v", c.span)
	}
}
