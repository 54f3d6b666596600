package bids

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Placer finds one good allocation of a job on a table. Unlike the auction it
// looks at one job alone; drafts, reservations and the earliest start of a job
// are made with it. The zero Placer is ready; it keeps scratch memory only.
type Placer struct {
	sets   []nodeset.Set
	spans  []span
	counts []int32
}

// Place appends to dst an allocation of r on t with gpus GPUs on each node and
// reports whether there is one: it fails only if none exists. Among several it
// prefers, in this order, the contiguous run in the tightest nodeset, the fewest
// nodesets, and single nodes with most free cores.
func (p *Placer) Place(dst []nodeset.Segment, t *nodeset.Table, r *Request, gpus int) ([]nodeset.Segment, bool) {
	s, err := r.shape()
	if err != nil {
		return dst, false
	}
	return p.place(dst, t, &s, r.Eligible, gpus, level)
}

func (p *Placer) place(dst []nodeset.Segment, t *nodeset.Table, s *shape, eligible nodeset.Mask, gpus int, l layout) ([]nodeset.Segment, bool) {
	if cores, _ := t.SumFree(); int64(s.cores) > cores {
		return dst, false
	}
	p.sets = t.Scan(p.sets[:0], nodeset.Query{GPUs: gpus, MinCores: s.lo, Eligible: eligible})
	free := t.FreeCores()
	if !s.nodesGiven && l == level {
		l = packUp // type 1 asks for as few nodes as possible
	}
	if sp, ok := p.tightest(s, free); ok {
		p.spans = append(p.spans[:0], sp)
		return s.spread(dst, free, p.spans, l, gpus), true
	}
	if s.contiguous {
		return dst, false
	}
	if p.fewestSets(s, free) || p.roomiestNodes(s, free) {
		return s.spread(dst, free, p.spans, l, gpus), true
	}
	return dst, false
}

// tightest finds a run in the nodeset that leaves fewest cores over.
func (p *Placer) tightest(s *shape, free []uint16) (span, bool) {
	var best span
	var left int64
	found := false
	for _, set := range p.sets {
		if set.Len() < s.minNodes || set.Cores < int64(s.cores) || (found && set.Cores >= left) {
			continue
		}
		if sp, ok := s.fitUp(free, int(set.First), int(set.Last)); ok {
			best, left, found = sp, set.Cores, true
		}
	}
	return best, found
}

// fewestSets fills p.spans with whole nodesets, those with most cores first, and
// a part of the last, until the job fits.
func (p *Placer) fewestSets(s *shape, free []uint16) bool {
	slices.SortFunc(p.sets, func(a, b nodeset.Set) int {
		return cmp.Or(cmp.Compare(b.Cores, a.Cores), cmp.Compare(a.First, b.First))
	})
	p.spans = p.spans[:0]
	y, sum := 0, 0
	for _, set := range p.sets {
		n := int(set.First)
		for ; n <= int(set.Last) && y < s.maxNodes && (y < s.minNodes || sum < s.cores); n++ {
			y++
			sum += s.most(free[n])
		}
		if n > int(set.First) {
			p.spans = append(p.spans, span{int(set.First), n - 1})
		}
	}
	sortSpans(p.spans)
	return y >= s.minNodes && sum >= s.cores
}

// roomiestNodes fills p.spans with as few nodes as hold the job, those with most
// free cores first. If that fails, no choice of nodes holds it.
func (p *Placer) roomiestNodes(s *shape, free []uint16) bool {
	top := 0
	for _, set := range p.sets {
		for n := set.First; n <= set.Last; n++ {
			top = max(top, s.most(free[n]))
		}
	}
	p.counts = append(p.counts[:0], make([]int32, top+1)...)
	for _, set := range p.sets {
		for n := set.First; n <= set.Last; n++ {
			p.counts[s.most(free[n])]++
		}
	}
	y, sum, floor, atFloor := 0, 0, top, 0
	for ; floor > 0; floor-- {
		for atFloor = 0; atFloor < int(p.counts[floor]) && y < s.maxNodes && (y < s.minNodes || sum < s.cores); atFloor++ {
			y++
			sum += floor
		}
		if y >= s.minNodes && sum >= s.cores || y == s.maxNodes {
			break
		}
	}
	if y < s.minNodes || sum < s.cores {
		return false
	}
	slices.SortFunc(p.sets, func(a, b nodeset.Set) int { return cmp.Compare(a.First, b.First) })
	p.spans = p.spans[:0]
	for _, set := range p.sets {
		for n := int(set.First); n <= int(set.Last); n++ {
			m := s.most(free[n])
			if m < floor || (m == floor && atFloor == 0) {
				continue
			}
			if m == floor {
				atFloor--
			}
			p.spans = append(p.spans, span{n, n})
		}
	}
	return true
}

func sortSpans(spans []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
}
