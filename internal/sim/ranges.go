// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"math/bits"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// LinearSpeedup and the other values of [Config.Serial] are thousandths.
const (
	LinearSpeedup = 0
	MaxSerial     = 1000 // further GPUs shorten nothing
)

// lasts is how long a job works on segs that would with the fewest GPUs of r for d, where serial
// thousandths of it are not shortened by more: Amdahl's law; with 0 of them aucsched2, equation 5.
// One whose nodes give different numbers of GPUs is taken to balance its work: its GPUs count in
// all.
func lasts(d int64, r *bids.Request, segs []nodeset.Segment, serial int) int64 {
	k, low := int64(segs[0].GPUs), int64(r.MinGPUs)
	if r.MixedGPUs {
		k, low = int64(nodeset.GPUs(segs)), low*int64(nodeset.Nodes(segs))
	}
	if low == 0 || k <= low {
		return d
	}
	// d x (serial + (1000 - serial) x low / k) / 1000, rounded up
	hi, lo := bits.Mul64(uint64(d), uint64(int64(serial)*k+int64(MaxSerial-serial)*low))
	by := uint64(MaxSerial * k)
	lo, carry := bits.Add64(lo, by-1, 0)
	q, _ := bits.Div64(hi+carry, lo, by)
	return int64(q)
}

// GreatestGPUs is the number for FixGPUs of which no job has more.
const GreatestGPUs = bids.MaxGPUsPerNode

// FixGPUs has jobs ask for a number of GPUs in place of a range, in their first request: the one of
// the range that is next to gpus, so that 0 means the least; where the idle machine cannot meet
// that, the next smaller one that it can. Whoever asks for that number says how long the job takes
// with it: run time and limit are such that serial thousandths of them are not shortened. Its
// [workload.Job.Work] stays.
func FixGPUs(machine *nodeset.Table, jobs []workload.Job, gpus, serial int) {
	for i := range jobs {
		j := &jobs[i]
		asked := j.Request
		if asked.MaxGPUs <= asked.MinGPUs {
			continue
		}
		k := max(asked.MinGPUs, min(gpus, asked.MaxGPUs))
		for ; ; k-- {
			j.MinGPUs, j.MaxGPUs = k, k
			if k == asked.MinGPUs || place.CanEverRun(machine, &j.Request) == nil {
				break
			}
		}
		one := []nodeset.Segment{{Cores: 1, GPUs: uint8(k)}} // all nodes give as many
		j.Work = min(j.Duration, j.TimeLimit)
		j.Duration, j.TimeLimit = lasts(j.Duration, &asked, one, serial), lasts(j.TimeLimit, &asked, one, serial)
	}
}

// nominal is for how many seconds the cores of a job count as work that would run for so many.
func nominal(j *workload.Job, runs int64) int64 {
	if j.Work > 0 {
		return j.Work
	}
	return runs
}
