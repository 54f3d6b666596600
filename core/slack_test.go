package core

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The work ends so long before the deadline as cycles have lately gone on after that.
func TestSlackFollowsTheTail(t *testing.T) {
	begin := time.Unix(1000, 0)
	deadline := begin.Add(640 * time.Millisecond)
	var s slack
	cycle := func(tail time.Duration) time.Duration {
		due := s.takeOff(begin, deadline)
		s.learn(due.Add(tail))
		return deadline.Sub(due)
	}
	require.Equal(t, 10*time.Millisecond, cycle(20*time.Millisecond), "nothing is known")
	require.Equal(t, 25*time.Millisecond, cycle(0), "a quarter more than it took")
	for range 100 {
		cycle(time.Millisecond)
	}
	off := cycle(time.Millisecond)
	require.Less(t, off, 20*time.Millisecond, "it is forgotten")
	require.Greater(t, off, 14*time.Millisecond, "not at once")
	cycle(time.Hour)
	require.Equal(t, 640*time.Millisecond/3, cycle(0), "most of the time is for the work")
	s = slack{}
	require.Equal(t, deadline.Add(-10*time.Millisecond), s.takeOff(begin, deadline))
	s.learn(begin) // the work was done long before
	require.Zero(t, s.most)
	require.Zero(t, s.takeOff(begin, time.Time{}))
	s.learn(begin.Add(time.Hour))
	require.Zero(t, s.most, "no deadline, nothing to learn")
}
