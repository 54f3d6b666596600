// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"math/bits"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Lasts is how long a job works on segs that would with the fewest GPUs of r for d. serial
// thousandths of it stay as long, by Amdahl's law. Without any it is aucsched2, equation 5. If
// nodes give different numbers of GPUs, the job is taken to balance its work over all.
func Lasts(d int64, r *bids.Request, segs []nodeset.Segment, serial int) int64 {
	k, low := int64(segs[0].GPUs), int64(r.MinGPUs)
	if r.MixedGPUs {
		k, low = int64(nodeset.GPUs(segs)), low*int64(nodeset.Nodes(segs))
	}
	if low == 0 || k <= low {
		return d
	}
	// d x (serial + (1000 - serial) x low / k) / 1000, rounded up
	hi, lo := bits.Mul64(uint64(d), uint64(int64(serial)*k+int64(1000-serial)*low))
	by := uint64(1000 * k)
	lo, carry := bits.Add64(lo, by-1, 0)
	q, _ := bits.Div64(hi+carry, lo, by)
	return int64(q)
}
