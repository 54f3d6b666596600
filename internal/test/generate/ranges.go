// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

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
		j.Duration, j.TimeLimit = workload.Lasts(j.Duration, &asked, one, serial), workload.Lasts(j.TimeLimit, &asked, one, serial)
	}
}
