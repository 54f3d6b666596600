// SPDX-License-Identifier: BSD-3-Clause

package sim

import "time"

// retry is when to decide again on jobs for which a cycle had no time.
type retry struct {
	at   int64 // second; 0: not before a job comes or goes
	vain int   // cycles in a row that had no time for some, and started none
	idle int   // those of them on an idle machine
}

const (
	// longestCycle is what a cycle gets at most, unless the configuration gives more.
	longestCycle = time.Hour
	// maxVain is after how many cycles in vain a policy is not asked again: the last
	// ones had longestCycle.
	maxVain = 50
	// maxWait is by how many doublings of the interval the next of them is put off.
	maxWait = 10
)

// learn takes note of a cycle at second now, on a machine that was idle or not. Those of a busy
// machine say nothing about how long one on an idle one needs.
func (r *retry) learn(interval, now int64, timedOut bool, started int, idle bool) {
	if !timedOut {
		*r = retry{}
		return
	}
	if started > 0 {
		r.vain, r.idle = 0, 0
	} else if r.vain++; idle {
		r.idle++
	}
	vain := r.vain
	if idle {
		vain = r.idle
	}
	if r.at = 0; vain <= maxVain {
		r.at = now + interval<<min(vain, maxWait)
	}
}

// limit is how long the next cycle may take: on an idle machine, where waiting
// doesn't help, ever longer.
func (r *retry) limit(usual time.Duration, idle bool) time.Duration {
	if idle {
		for range r.idle {
			if usual < longestCycle/2 {
				usual *= 2
			}
		}
	}
	return usual
}
