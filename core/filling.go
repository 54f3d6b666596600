// SPDX-License-Identifier: BSD-3-Clause

package core

import "time"

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

// takeOff is when the solver has to end. Twice the usual time is left, so that one that
// was too short grows.
func (f *filling) takeOff(begin, due time.Time) time.Time {
	span := due.Sub(begin)
	return due.Add(-min(max(2*f.usual, span/fillingLeast), span/fillingMost))
}

// learn is told how long it has taken this time.
func (f *filling) learn(took time.Duration) {
	f.usual += (took - f.usual) / fillingSmooth
}
