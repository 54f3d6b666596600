// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// referee checks every start against its own books. It is slow and simple on
// purpose, and uses neither nodeset.Table nor anything of package bids but the
// request's own fields.
type referee struct {
	nodes  []nodeset.Capacity
	cores  []int // held on each node
	gpus   []int
	more   []Resource
	taken  [][]int64 // of each of more, on each node
	shared []books   // by node
}

func newReferee(nodes []nodeset.Capacity, more ...Resource) *referee {
	f := &referee{nodes: nodes, cores: make([]int, len(nodes)), gpus: make([]int, len(nodes)), more: more}
	f.shared = make([]books, len(nodes))
	for range more {
		f.taken = append(f.taken, make([]int64, len(nodes)))
	}
	return f
}

// asked is the request of a job that its start has to meet: an alternative is for the nodes of
// the first.
func asked(j *core.Job, alternative int) (bids.Request, error) {
	if alternative < 0 || alternative > len(j.Alternatives) {
		return bids.Request{}, fmt.Errorf("alternative %d: the job has %d", alternative, len(j.Alternatives))
	}
	r := j.Request
	if alternative > 0 {
		r = j.Alternatives[alternative-1]
		r.Eligible = j.Request.Eligible
	}
	return r, nil
}

// start books a start, or says what is wrong with it.
func (f *referee) start(r *bids.Request, segs []nodeset.Segment) error {
	if err := f.form(segs); err != nil {
		return err
	}
	if err := meets(r, segs); err != nil {
		return err
	}
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			f.cores[n] += int(s.Cores)
			f.gpus[n] += int(s.GPUs)
			if c := f.nodes[n]; f.cores[n] > int(c.Cores) || f.gpus[n]+len(f.shared[n]) > int(c.GPUs) {
				return fmt.Errorf("node %d is over-allocated: %d of %d cores, %d of %d GPUs",
					n, f.cores[n], c.Cores, f.gpus[n]+len(f.shared[n]), c.GPUs)
			}
		}
	}
	if err := f.noShare(r.Uses, segs); err != nil {
		return err
	}
	return f.take(r.Uses, segs, 1)
}

// take books what an allocation uses of further resources, sign being 1, or what it gives back, -1.
func (f *referee) take(uses nodeset.Uses, segs []nodeset.Segment, sign int64) error {
	for _, u := range uses {
		if u.Row < 0 || u.Row >= len(f.more) {
			return fmt.Errorf("resource %d of %d", u.Row, len(f.more))
		}
		r, taken := f.more[u.Row], f.taken[u.Row]
		if r.Shares {
			if err := f.takeShare(u, segs, sign); err != nil {
				return err
			}
			continue
		}
		for _, s := range segs {
			for n := s.First; n <= s.Last; n++ {
				taken[n] += sign * (u.PerNode + u.PerCore*int64(s.Cores) + u.PerGPU*int64(s.GPUs))
				if taken[n] > r.Total[n] {
					return fmt.Errorf("node %d is over-allocated: %d of %d %s", n, taken[n], r.Total[n], r.Name)
				}
			}
		}
	}
	return nil
}

// end books an end.
func (f *referee) end(segs []nodeset.Segment, uses nodeset.Uses) {
	_ = f.take(uses, segs, -1) // what was taken can be given back
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			f.cores[n] -= int(s.Cores)
			f.gpus[n] -= int(s.GPUs)
		}
	}
}

func (f *referee) form(segs []nodeset.Segment) error {
	if len(segs) == 0 {
		return fmt.Errorf("no nodes")
	}
	before := int32(-1)
	for _, s := range segs {
		if s.First <= before || s.Last < s.First || int(s.Last) >= len(f.nodes) {
			return fmt.Errorf("bad segment: nodes %d-%d after node %d", s.First, s.Last, before)
		}
		before = s.Last
	}
	return nil
}

// meets reports where an allocation differs from what was asked for.
func meets(r *bids.Request, segs []nodeset.Segment) error {
	nodes, cores := 0, 0
	least, most := int(segs[0].Cores), int(segs[0].Cores)
	for i, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			nodes++
			cores += int(s.Cores)
			if !r.Eligible.Has(int(n)) {
				return fmt.Errorf("node %d is not eligible", n)
			}
		}
		least, most = min(least, int(s.Cores)), max(most, int(s.Cores))
		if s.GPUs != segs[0].GPUs && !r.MixedGPUs {
			return fmt.Errorf("%d and %d GPUs on different nodes", segs[0].GPUs, s.GPUs)
		}
		if g := int(s.GPUs); g < r.MinGPUs || g > max(r.MinGPUs, r.MaxGPUs) {
			return fmt.Errorf("%d GPUs a node, asked for %d-%d", g, r.MinGPUs, max(r.MinGPUs, r.MaxGPUs))
		}
		if r.Contiguous && i > 0 && s.First != segs[i-1].Last+1 {
			return fmt.Errorf("nodes %d and %d are not consecutive", segs[i-1].Last, s.First)
		}
	}
	if none := r.Cores == 0 && r.TasksPerNode == 0; least == 0 && !none || most > 0 && none {
		return fmt.Errorf("%d-%d cores a node, asked for none: %t", least, most, none)
	}
	lowest, highest := max(r.MinNodes, 1), r.MaxNodes
	if r.MaxNodes == 0 {
		highest = len(segs) + nodes // no limit
		if r.Cores == 0 {
			highest = lowest // type 3 without a range
		}
	}
	if nodes < lowest || nodes > highest {
		return fmt.Errorf("%d nodes, asked for %d-%d", nodes, r.MinNodes, r.MaxNodes)
	}
	if r.Cores > 0 && cores != r.Cores {
		return fmt.Errorf("%d cores, asked for %d", cores, r.Cores)
	}
	if t := r.TasksPerNode; t > 0 {
		exact := r.Cores == 0
		if r.Cores%t == 0 {
			n := r.Cores / t
			exact = exact || (n >= lowest && (r.MaxNodes == 0 || n <= r.MaxNodes))
		}
		if most > t || (exact && least < t) {
			return fmt.Errorf("%d-%d cores a node, asked for %d", least, most, t)
		}
	}
	return nil
}
