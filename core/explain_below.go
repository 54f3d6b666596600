// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
)

// shortageBelow is what the job lacks: s, unless that is nothing, or nodes below such switches as
// it demands.
func (e *inquiry) shortageBelow(s *Shortage) *Shortage {
	if s != nil {
		return s
	}
	e.normal.read(e.job)
	spec := &e.normal.specs[0]
	if !spec.Demands() {
		return nil
	}
	t := e.limited.Of(e.s.Nodes, spec)
	rooms := make([]int, t.Len())
	s = &Shortage{Resource: "switches", Need: int64(spec.Nodes.Min),
		CoresPerNode: spec.Cores.PerNode.Min, GPUsPerNode: spec.GPUs.PerNode.Min}
	for n := range rooms {
		if t.Up(n) && spec.Mask().Has(n) {
			rooms[n] = spec.Room(t.Free(n))
			s.Eligible++
			if int(t.Free(n).GPUs) >= spec.GPUs.PerNode.Min {
				s.WithGPUs++
			}
			if rooms[n] > 0 {
				s.WithCores++
			}
		}
	}
	have, cores := place.MostBelow(spec, rooms)
	if s.Have, s.Cores = int64(have), cores; s.Have >= s.Need { // these lack cores
		s.Need, s.Have = int64(fewestOf(rooms, spec)), int64(have)
	}
	if spec.Coreless() { // a room is one of its nodes
		s.Cores = 0
	}
	return s
}

// fewestOf is how many of the roomiest nodes hold the job.
func fewestOf(rooms []int, spec *place.Spec) int {
	slices.SortFunc(rooms, func(a, b int) int { return cmp.Compare(b, a) })
	sum := 0
	for n, c := range rooms {
		if sum += c; n+1 >= spec.Nodes.Min && sum >= spec.Cores.Total {
			return n + 1
		}
	}
	return spec.Nodes.Min
}
