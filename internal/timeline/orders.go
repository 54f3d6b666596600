// SPDX-License-Identifier: BSD-3-Clause

package timeline

// settle is what is added to a wait in seconds, so that jobs that have just come differ.
const settle = 300

// keys are orders that a search begins with, the job with the least value first. horizon is in how
// many seconds all of the jobs have ended, if they are served first come, first served.
var keys = [...]func(j *Job, horizon float64) float64{
	// shortest, smallest and largest, widest
	func(j *Job, _ float64) float64 { return float64(j.Length) },
	func(j *Job, _ float64) float64 { return float64(j.Length) * j.Width },
	func(j *Job, _ float64) float64 { return float64(-j.Length) * j.Width },
	func(j *Job, _ float64) float64 { return -j.Width },
	// greatest slowdown, also for its width
	func(j *Job, _ float64) float64 { return -float64(j.Waited+settle) / float64(max(j.Length, 1)) },
	func(j *Job, _ float64) float64 {
		return -float64(j.Waited+settle) / (float64(max(j.Length, 1)) * j.Width)
	},
	// large and old: what counts as much as asking for all of the machine
	func(j *Job, h float64) float64 { return claim(j, h/4) },
	func(j *Job, h float64) float64 { return claim(j, h/2) },
	func(j *Job, h float64) float64 { return claim(j, h) },
	func(j *Job, h float64) float64 { return claim(j, 2*h) },
	func(j *Job, h float64) float64 { return claim(j, 4*h) },
	// the same, those first that would run last and alone
	func(j *Job, h float64) float64 {
		if 2*float64(j.Length) > h {
			return claim(j, h) - 2
		}
		return claim(j, h)
	},
}

// claim is core.AuctionOptions.Patience.
func claim(j *Job, patience float64) float64 {
	return -(j.Size + float64(j.Waited)/max(patience, 1))
}

// keyed is a job's value in an order.
type keyed struct {
	key float64
	job int32
}
