// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/sim"
)

// worthFigure is what the page needs of a run: times in seconds, use as a share.
type worthFigure struct {
	Jobs                                                        int
	Runtime                                                     int64
	CPUs, GPUs                                                  float64
	Mean, P95, Longest, AreaWeighted, Widest10, BoundedSlowdown float64
}

// worthResult is what a run came to, of which the page's figures are there: the one that is done,
// or that of run, which is then kept.
func worthResult(done *kept[worthFigure], part string, run func() (*sim.Result, error)) (out sim.Result, err error) {
	f, ok := done.get(part)
	if !ok {
		r, err := run()
		if err != nil {
			return out, fmt.Errorf("%s: %w", part, err)
		}
		f = worthFigure{r.Jobs, r.Runtime, r.CPUUtilizationLoaded, r.GPUUtilizationLoaded, r.WaitMean, r.Waits.P95, r.Waits.Max,
			r.AreaWeighted, r.Widest10, r.BoundedSlowdown}
		if err := done.put(part, f); err != nil {
			return out, err
		}
	}
	out.Jobs, out.Runtime, out.CPUUtilizationLoaded, out.GPUUtilizationLoaded = f.Jobs, f.Runtime, f.CPUs, f.GPUs
	out.WaitMean, out.BoundedSlowdown = f.Mean, f.BoundedSlowdown
	out.Waits.P95, out.Waits.Max, out.AreaWeighted, out.Widest10 = f.P95, f.Longest, f.AreaWeighted, f.Widest10
	return out, nil
}
