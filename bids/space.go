package bids

import "github.com/aucsched/aucsched/nodeset"

// Space is what the jobs of a window may take.
type Space struct {
	// Now is the machine as it is free now.
	Now *nodeset.Table
	// Left[k] is what reservation k leaves, at the moment when it begins, to jobs
	// that start now and run into it. Reservations are in the order in which
	// they begin.
	Left []*nodeset.Table
}

// Ask is one job's part in a window.
type Ask struct {
	*Request
	// Priority is P_j, at least 1.
	Priority int64
	// Crosses is how many of the space's reservations the job would run into if
	// it started now: the first Crosses of Space.Left bind it.
	Crosses int
}

// rest is a Space from which the jobs of a draft have taken what they got.
type rest struct {
	now   nodeset.Table
	left  []nodeset.Table
	views []nodeset.Table // views[k]: least of now and left[:k], k >= 1
}

func (r *rest) reset(s *Space) {
	r.now.CopyFrom(s.Now)
	for len(r.left) < len(s.Left) {
		r.left = append(r.left, nodeset.Table{})
	}
	for len(r.views) < len(s.Left)+1 {
		r.views = append(r.views, nodeset.Table{})
	}
	r.left, r.views = r.left[:len(s.Left)], r.views[:len(s.Left)+1]
	for k, t := range s.Left {
		r.left[k].CopyFrom(t)
		r.views[k+1].CopyFrom(r.view(k))
		for n := range t.Len() {
			r.narrow(k+1, n)
		}
	}
}

// view is what a job that runs into the first k reservations may take.
func (r *rest) view(k int) *nodeset.Table {
	if k == 0 {
		return &r.now
	}
	return &r.views[k]
}

// narrow sets node n of views[k] to the least of views[k-1] and left[k-1].
func (r *rest) narrow(k, n int) {
	a, b := r.view(k-1).Free(n), r.left[k-1].Free(n)
	c := nodeset.Capacity{Cores: min(a.Cores, b.Cores), GPUs: min(a.GPUs, b.GPUs)}
	if err := r.views[k].SetFree(n, c); err != nil {
		panic(err) // the least of two valid capacities is valid
	}
}

// take allocates for a job that crosses k reservations.
func (r *rest) take(segs []nodeset.Segment, k int) {
	must(r.now.Allocate(segs))
	for i := range k {
		must(r.left[i].Allocate(segs))
	}
	for i := range r.left {
		for _, s := range segs {
			for n := s.First; n <= s.Last; n++ {
				r.narrow(i+1, int(n))
			}
		}
	}
}

func must(err error) {
	if err != nil {
		panic("bids: a draft over-allocates: " + err.Error())
	}
}
