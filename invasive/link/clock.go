// SPDX-License-Identifier: BSD-3-Clause

package link

import "time"

// A Clock tells the time and wakes. Its functions are called from any goroutine.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once, in a goroutine of its own, unless stop is called before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// RealClock is the computer's.
type RealClock struct{}

// Now returns the time.
func (RealClock) Now() time.Time { return time.Now() }

// AfterFunc is time.AfterFunc.
func (RealClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
