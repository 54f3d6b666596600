// SPDX-License-Identifier: BSD-3-Clause

package shadow

import "github.com/aucsched/aucsched/internal/engine"

// Measure is a look at the machine of a cycle; out is its outcome, or nil without one. No node is up
// if there are no cores in it.
func Measure(in *engine.Input, out *engine.Output) Sample {
	s := Sample{Time: in.Now, Running: int64(len(in.Running))}
	cores, gpus := make([]int64, len(in.Nodes)), make([]int64, len(in.Nodes)) // of what starts
	stranded := func() (count int64) {
		for i, n := range in.Nodes {
			if n.Up != 0 && cores[i] >= int64(n.FreeCores) {
				count += max(int64(n.FreeGPUs)-gpus[i], 0)
			}
		}
		return count
	}
	for _, n := range in.Nodes {
		if n.Up != 0 {
			s.Cores += int64(n.Cores)
			s.CoresUsed += int64(n.Cores) - int64(n.FreeCores)
			s.GPUs += int64(n.GPUs)
			s.GPUsUsed += int64(n.GPUs) - int64(n.FreeGPUs)
		}
	}
	s.Stranded = stranded()
	for i := 0; out != nil && i < len(out.Decisions); i++ {
		d := &out.Decisions[i]
		if d.Why != engine.Starts || d.Victims > 0 { // what makes room first takes nothing that is free
			continue
		}
		for _, seg := range out.Segments[d.FirstSegment:][:d.Segments] {
			for n := seg.First; n <= seg.Last; n++ {
				cores[n] += int64(seg.Cores)
				gpus[n] += int64(seg.GPUs)
				s.WouldCores += int64(seg.Cores)
				s.WouldGPUs += int64(seg.GPUs)
			}
		}
	}
	s.WouldStranded = stranded()
	return s
}
