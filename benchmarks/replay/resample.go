// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aucsched/aucsched/internal/workload"
)

// fewestBlocks is of how many blocks a trace must be for draws of them to say something.
const fewestBlocks = 5

// Resample makes another trace of as many blocks of so many seconds as w has, each drawn from those of
// w, all alike likely (a block bootstrap). Jobs keep their times within blocks. What is behind the
// last whole block is left out, and jobs wait for others of their block only. w stays as it is; its
// jobs are in the order of submission.
func Resample(w *workload.Workload, block int64, seed uint64) (*workload.Workload, error) {
	last := int64(0)
	if n := len(w.Jobs); n > 0 {
		last = w.Jobs[n-1].Submit + 1
	}
	blocks := last / block
	if blocks < fewestBlocks {
		return nil, fmt.Errorf("%s: %d whole blocks of %v: at least %d are needed; take more jobs, or blocks of at most %v",
			w.Name, blocks, time.Duration(block)*time.Second, fewestBlocks, time.Duration(last/fewestBlocks)*time.Second)
	}
	in := make([][]int, blocks)
	blockOf := make(map[string]int64, len(w.Jobs))
	basic := true // priorities are in the order of submission
	for i := range w.Jobs {
		j := &w.Jobs[i]
		basic = basic && (i == 0 || j.Priority <= w.Jobs[i-1].Priority)
		blockOf[j.ID] = j.Submit / block
		if b := j.Submit / block; b < blocks {
			in[b] = append(in[b], i)
		}
	}
	out := *w
	out.Jobs = nil
	rng := rand.New(rand.NewPCG(seed, 0x7265736d))
	for k := range blocks {
		b := rng.Int64N(blocks)
		for _, i := range in[b] {
			j := w.Jobs[i]
			shift := (k - b) * block
			j.Submit += shift
			if j.Leaves > 0 {
				j.Leaves += shift
			}
			if j.After != "" {
				if blockOf[j.After] == b {
					j.After = fmt.Sprintf("%s.%d", j.After, k+1)
				} else {
					j.After, j.Think = "", 0
				}
			}
			j.ID = fmt.Sprintf("%s.%d", j.ID, k+1)
			out.Jobs = append(out.Jobs, j)
		}
	}
	if len(out.Jobs) == 0 {
		return nil, fmt.Errorf("%s: the draw with seed %d has no job", w.Name, seed)
	}
	if basic {
		workload.AssignBasicPriorities(out.Jobs)
	}
	return &out, nil
}
