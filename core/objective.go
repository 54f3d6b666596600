// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math"
	"math/bits"
)

// weightBits keeps the weights of a window in the Builder's range.
const weightBits = 59

// weigh sets what the jobs of the window are worth. Products of priorities and cores are integers,
// and exact if their sum has at most weightBits bits. Beyond that all are rounded down to a common
// power of two, w.shift.
func (w *window) weigh() {
	w.shift = 0
	if w.opts.Objective == ByPriority {
		return
	}
	var high, low, carry uint64
	for _, job := range w.jobs {
		h, l := w.product(job)
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	length := bits.Len64(low)
	if high > 0 {
		length = 64 + bits.Len64(high)
	}
	w.shift = max(0, length-weightBits)
	for k := range w.variants {
		h, l := w.product(w.jobs[w.variants[k].Job])
		// Go shifts by 64 and more to 0, which is what is meant.
		w.variants[k].Priority = max(int64(h<<(64-w.shift)|l>>w.shift), 1)
	}
}

// product is P_j R_j, or P_j S_j / T_j in units of 2^-rateBits, as high and low words.
func (w *window) product(job *Job) (high, low uint64) {
	by := uint64(sizeOf(job))
	if w.opts.Objective == ByRate {
		by = w.machine.rate(job)
	}
	return bits.Mul64(uint64(max(job.Priority, 1)), by)
}

// weight is what a start of the job is worth to the objective, before its bid's preference.
func (w *window) weight(job *Job) float64 {
	worth := float64(max(job.Priority, 1))
	switch w.opts.Objective {
	case BySize:
		worth *= float64(sizeOf(job))
	case ByRate:
		worth *= math.Ldexp(float64(w.machine.rate(job)), -rateBits)
	}
	return worth
}
