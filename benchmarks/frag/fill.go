// SPDX-License-Identifier: BSD-3-Clause

package frag

import (
	"math"
	"math/rand/v2"
	"slices"
)

// FillOptions are those of [NewFill].
type FillOptions struct {
	Sequences int    // how many futures are averaged, from 1
	Length    int    // requests of each, from 1
	Seed      uint64 // draws them
}

// Fill knows what comes to a node: sequences of requests, drawn once. It remembers states, so
// it is not for several goroutines at once.
type Fill struct {
	kinds [MaxKinds]kindFill
	draws [][]Request
	known map[fillKey]float32
}

// kindFill are the sequences without what nodes of a kind can't take.
type kindFill struct {
	made      bool
	sequences [][]step
	least     step // the least cores and share that a request with GPUs asks for
}

// step is a request as Fill sees it. Its share is of all its GPUs together, at most Whole of one.
type step struct {
	cpu  int32
	gpus int16
	part int16
}

// fillKey is a state as Fill tells it from others: cores in units of coarse, GPUs in order.
type fillKey struct {
	cpu  int32
	gpus [MaxGPUs]int16
	kind uint8
}

// coarse is the unit in which a state's thousandths of cores are remembered, rounded down.
const coarse = 500

// mostKnown states are remembered, some 60 MB of them; then all are forgotten.
const mostKnown = 1 << 20

// NewFill draws the sequences from the requests, which are as frequent as they stand there.
func NewFill(requests []Request, o FillOptions) *Fill {
	f := &Fill{known: map[fillKey]float32{}}
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	for range o.Sequences {
		s := make([]Request, o.Length)
		for i := range s {
			s[i] = requests[rng.IntN(len(requests))]
		}
		f.draws = append(f.draws, s)
	}
	return f
}

// After is the idle thousandths that are left over, on average, when the requests of a sequence
// have come to the node one by one. Each starts if cores and GPUs suffice, shares on the fullest
// GPU that they fit in. Memory is not looked at.
func (f *Fill) After(s *State) float64 {
	k := fillKey{cpu: s.CPU / coarse, gpus: s.GPUs, kind: s.Kind}
	slices.Sort(k.gpus[:])
	if v, ok := f.known[k]; ok {
		return float64(v)
	}
	kf := f.of(s.Kind)
	start := binsOf(k.gpus)
	start.cpu = k.cpu * coarse
	left := 0
	for _, seq := range kf.sequences {
		b := start
		left += b.run(seq, &kf.least)
	}
	v := float32(left) / float32(len(kf.sequences))
	if len(f.known) == mostKnown {
		clear(f.known)
	}
	f.known[k] = v
	return float64(v)
}

// Start is the cheapest way to start r on a node of state s that loses before as it is. It returns
// the GPU for a share, -1 for other requests, and what is lost by the start: a negative cost says
// that r mends what others have left. r must fit.
func (f *Fill) Start(s *State, r *Request, before float64) (gpu int, cost float64) {
	gpu, cost = -1, math.Inf(1)
	for g := range s.Ways(r) {
		after := *s
		after.Take(r, g)
		if c := f.After(&after) - before; c < cost {
			gpu, cost = g, c
		}
	}
	return gpu, cost
}

func (f *Fill) of(kind uint8) *kindFill {
	k := &f.kinds[kind]
	if k.made {
		return k
	}
	*k = kindFill{made: true, least: step{cpu: math.MaxInt32, part: Whole}}
	for _, draws := range f.draws {
		seq := make([]step, 0, len(draws))
		for i := range draws {
			r := &draws[i]
			if !r.On(kind) {
				continue
			}
			st := step{r.CPU, int16(r.GPUs), r.Share}
			seq = append(seq, st)
			if st.gpus > 0 {
				k.least.cpu = min(k.least.cpu, st.cpu)
				k.least.part = min(k.least.part, st.part)
			}
		}
		k.sequences = append(k.sequences, seq)
	}
	return k
}

// bins are a node's GPUs while it fills.
type bins struct {
	cpu     int32
	whole   int16
	partial [MaxGPUs]int16
	n       int // of partial
	left    int // thousandths
}

func binsOf(gpus [MaxGPUs]int16) (b bins) {
	for _, g := range gpus {
		b.left += int(g)
		switch g {
		case 0:
		case Whole:
			b.whole++
		default:
			b.partial[b.n] = g
			b.n++
		}
	}
	return b
}

// run lets a sequence come, and returns what is left over.
func (b *bins) run(seq []step, least *step) int {
	for i := range seq {
		s := &seq[i]
		if s.cpu > b.cpu {
			continue
		}
		switch {
		case s.gpus == 0:
			b.cpu -= s.cpu
		case s.part < Whole:
			if !b.share(s.part) {
				continue
			}
			b.cpu -= s.cpu
		case s.gpus > b.whole:
			continue
		default:
			b.whole -= s.gpus
			b.left -= int(s.gpus) * Whole
			b.cpu -= s.cpu
		}
		if b.left == 0 || b.cpu < least.cpu || b.whole == 0 && b.largest() < least.part {
			break
		}
	}
	return b.left
}

func (b *bins) largest() (most int16) {
	for _, g := range b.partial[:b.n] {
		most = max(most, g)
	}
	return most
}

// share puts a share on the fullest GPU that it fits in.
func (b *bins) share(part int16) bool {
	best := -1
	for i, g := range b.partial[:b.n] {
		if g >= part && (best < 0 || g < b.partial[best]) {
			best = i
		}
	}
	if best < 0 {
		if b.whole == 0 {
			return false
		}
		b.whole--
		best = b.n
		b.partial[best] = Whole
		b.n++
	}
	b.partial[best] -= part
	b.left -= int(part)
	return true
}
