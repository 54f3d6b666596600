// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"iter"
	"slices"
)

// Limits and units.
const (
	Whole    = 1000 // a whole GPU, in the unit of shares
	MaxGPUs  = 8    // of a node
	MaxKinds = 64   // models of GPU in a cluster
)

// State is what a node has free. Each GPU is a bin of its own.
type State struct {
	CPU    int32          // thousandths of a core, from 0
	Memory int32          // MiB, from 0
	GPUs   [MaxGPUs]int16 // idle thousandths of each GPU, 0 to Whole; 0 from Count on
	Count  uint8          // GPUs of the node, 0 to MaxGPUs
	Kind   uint8          // their model, below MaxKinds
}

// Request is what a pod asks of one node.
type Request struct {
	CPU    int32  // thousandths of a core, from 0
	Memory int32  // MiB, from 0
	GPUs   uint8  // how many, 0 to MaxGPUs
	Share  int16  // thousandths of each, 1 to Whole; below Whole only of one; 0 if GPUs is 0
	Kinds  uint64 // models that will do: bit k stands for kind k
}

// Taken are the GPUs that a request was given: bit i stands for GPU i.
type Taken uint8

// Shared says whether r asks for less than a whole GPU.
func (r *Request) Shared() bool { return r.GPUs == 1 && r.Share < Whole }

// Thousandths is what r takes of all GPUs together.
func (r *Request) Thousandths() int { return int(r.GPUs) * int(r.Share) }

// On says whether r can use GPUs of a kind; a request without GPUs can use any node.
func (r *Request) On(kind uint8) bool { return r.GPUs == 0 || r.Kinds>>kind&1 == 1 }

// Idle is the sum of the node's idle thousandths.
func (s *State) Idle() int {
	n := 0
	for _, g := range s.GPUs {
		n += int(g)
	}
	return n
}

// Fits says whether r can start on the node.
func (s *State) Fits(r *Request) bool {
	if s.CPU < r.CPU || s.Memory < r.Memory || !r.On(s.Kind) {
		return false
	}
	n := 0
	for _, g := range s.GPUs[:s.Count] {
		if g >= r.Share {
			n++
		}
	}
	return n >= int(r.GPUs)
}

// Fullest is the GPU with the least idle that a share fits in; -1 if there is none.
func (s *State) Fullest(share int16) int {
	best := -1
	for i, g := range s.GPUs[:s.Count] {
		if g >= share && (best < 0 || g < s.GPUs[best]) {
			best = i
		}
	}
	return best
}

// Take starts r, which must fit. A share goes to the given GPU; whole GPUs are the first that
// are idle, and gpu has no meaning.
func (s *State) Take(r *Request, gpu int) Taken {
	s.CPU -= r.CPU
	s.Memory -= r.Memory
	if r.Shared() {
		s.GPUs[gpu] -= r.Share
		return 1 << gpu
	}
	var t Taken
	for i, left := 0, r.GPUs; left > 0; i++ {
		if s.GPUs[i] == Whole {
			s.GPUs[i] = 0
			t |= 1 << i
			left--
		}
	}
	return t
}

// Ways are the GPUs that r could go to: of those as full as each other the first. A request for
// no share has one way, -1. r must fit.
func (s *State) Ways(r *Request) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !r.Shared() {
			yield(-1)
			return
		}
		for i, g := range s.GPUs[:s.Count] {
			if g >= r.Share && !slices.Contains(s.GPUs[:i], g) && !yield(i) {
				return
			}
		}
	}
}
