// SPDX-License-Identifier: BSD-3-Clause

package bound

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
)

// demand is what the jobs need, in the order of submission.
type demand []need

// need is the least that a job needs of everything. Its submission counts from the
// first one.
type need struct {
	submit  int64
	seconds int64 // with the most GPUs
	cores   int64 // of all its nodes
	// gpus x gpuSeconds is its GPU time.
	gpus, gpuSeconds int64
	// At any moment it has pieces of a class on at least so many nodes. A piece with
	// k GPUs does rate(k) seconds of progress in a second, of which all need so many.
	class    class
	pieces   int64
	progress int64
}

// class is what a piece may be: cores and GPUs of a node in ranges, ends included.
type class struct{ least, most, low, high int }

// rate is the progress of a piece with so many GPUs. Where they are a range, it is in
// proportion to them.
func (c class) rate(gpus int) int64 {
	if c.low < c.high {
		return int64(gpus)
	}
	return 1
}

// fixed tells classes whose pieces all have as many cores.
func (c class) fixed() bool { return c.least == c.most }

func newDemand(m *machine, jobs []workload.Job) (demand, error) {
	d := make(demand, len(jobs))
	first := int64(workload.MaxSeconds)
	for i := range jobs {
		if err := d[i].set(m, &jobs[i]); err != nil {
			return nil, fmt.Errorf("job %s: %w", jobs[i].ID, err)
		}
		first = min(first, jobs[i].Submit)
	}
	for i := range d {
		d[i].submit -= first
	}
	slices.SortStableFunc(d, func(a, b need) int { return cmp.Compare(a.submit, b.submit) })
	return d, nil
}

func (n *need) set(m *machine, j *workload.Job) error {
	for _, f := range []struct {
		name  string
		v     int64
		least int64
	}{{"submit", j.Submit, 0}, {"duration", j.Duration, 0}, {"time_limit_s", j.TimeLimit, 1}} {
		if f.v < f.least || f.v > workload.MaxSeconds {
			return fmt.Errorf("%s: %d: must be in %d..%d", f.name, f.v, f.least, int64(workload.MaxSeconds))
		}
	}
	spec, err := place.SpecOf(&j.Request)
	if err != nil {
		return err
	}
	if spec.Coreless() {
		return errors.New("takes no core, and the bound counts cores")
	}
	least, most := spec.Cores.PerNode.Min, spec.Cores.PerNode.Max
	low, high := j.MinGPUs, max(j.MinGPUs, j.MaxGPUs)
	if low == 0 {
		high = 0 // more GPUs than none do not shorten the job
	}
	room := m.mostCores(low)
	if room < least {
		return fmt.Errorf("needs %d cores and %d GPUs on a node, which no node has", least, low)
	}
	n.submit = j.Submit
	n.times(j, low, high)
	if least == most { // type 3
		n.class, n.pieces = class{least, least, low, high}, int64(max(j.MinNodes, 1))
		if j.Cores > 0 {
			n.pieces = int64(j.Cores / least)
		}
		n.cores = n.pieces * int64(least)
	} else if err := n.divide(&j.Request, min(most, room), low, high); err != nil {
		return err
	}
	n.gpus = n.pieces
	if low == high {
		n.gpus *= int64(low)
	}
	return nil
}

// times settles for how long the job needs what, over the numbers of GPUs that it may
// have on a node.
func (n *need) times(j *workload.Job, low, high int) {
	for k := low; k <= high; k++ {
		d := j.Duration
		if k > low { // rounded up, as in package sim
			d = (d*int64(low) + int64(k) - 1) / int64(k)
		}
		d = max(min(d, j.TimeLimit), 1)
		p := d * class{low: low, high: high}.rate(k)
		if k == low {
			n.seconds, n.progress = d, p
		}
		n.seconds, n.progress = min(n.seconds, d), min(n.progress, p)
	}
	n.gpuSeconds = n.progress
}

// divide settles the pieces of a job of type 1 or 2, which may divide its cores among
// nodes as it likes: at most so many on each.
func (n *need) divide(r *bids.Request, most, low, high int) error {
	n.cores = int64(r.Cores)
	pieces := max(r.MinNodes, (r.Cores+most-1)/most, 1)
	if r.MaxNodes > 0 && pieces > r.MaxNodes {
		return errors.New("needs more nodes than it may have")
	}
	least := 1
	switch {
	case r.MaxNodes == 1:
		least, most = r.Cores, r.Cores
	case r.MaxNodes > 1: // the other nodes have so many cores at most
		least = max(least, r.Cores-(r.MaxNodes-1)*most)
	}
	n.class, n.pieces = class{least, most, low, high}, int64(pieces)
	if low == 0 && least == 1 { // then pieces of a core each will do
		n.class, n.pieces = single, n.cores
	}
	return nil
}

// single is the class of a core by itself, in which every other one can be taken apart.
var single = class{1, 1, 0, 0}
