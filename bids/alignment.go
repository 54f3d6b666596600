package bids

import (
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// alignment is a run of nodes on which a job could start, with what it is worth there
// net of prices.
type alignment struct {
	net    float64
	first  int32
	nodes  int32
	gpus   uint8
	packed bool // nodes filled from the first, instead of evenly
}

// maxCounts bounds the numbers of nodes that are tried for one job.
const maxCounts = 8

// appraiser finds the alignments of one job that are worth most net of prices.
type appraiser struct {
	ask    *Ask
	s      *shape
	free   []uint16
	tariff *tariff
	full   *scan         // the nodesets of the space, which tell classes A and B apart
	sets   []nodeset.Set // where to look
	nodes  int           // of the machine
	prio   float64
	alpha  float64
	gpus   int
	most   int         // alignments that are kept
	best   []alignment // the best first
	near   alignment   // the best of those that overlap the last one
	open   bool        // near is set
	counts []int
}

// worth is P + alpha F of an alignment on m nodes.
func (a *appraiser) worth(c Class, m int) float64 {
	f := Preference(a.s.nodesGiven, c, m, a.nodes, 1, len(a.full.sets))
	f = a.ask.lowerByRank(RaiseForGPUs(f, a.gpus, a.s.minGPUs, a.s.maxGPUs))
	return a.prio + float64(a.alpha*f)
}

// class is A if the run of nodes is at an end of a nodeset of the space, else B.
func (a *appraiser) class(first, m int) Class {
	segs := [1]nodeset.Segment{{First: int32(first), Last: int32(first + m - 1)}}
	c, _ := a.full.classify(segs[:])
	return c
}

// appraise looks at all alignments of the job in a.sets: for each number of nodes that is
// tried every run of nodes that can give the job's cores evenly, and from each node
// on the run that holds the job if its nodes are filled one by one.
func (a *appraiser) appraise() {
	a.counts = a.s.nodeCounts(a.counts[:0], a.roomiest())
	for _, m := range a.counts {
		a.even(m)
	}
	if !a.s.perNode {
		a.packed()
	}
}

// roomiest is the most cores that any node could give.
func (a *appraiser) roomiest() int {
	top := 0
	for _, set := range a.sets {
		for n := set.First; n <= set.Last; n++ {
			if c := a.s.most(a.free[n]); c > top {
				if top = c; top == a.s.hi {
					return top
				}
			}
		}
	}
	return top
}

// nodeCounts appends the numbers of nodes to try if nodes give up to top cores: the
// fewest, and where there is a choice those of other numbers of cores a node, at most
// maxCounts in all.
func (s *shape) nodeCounts(dst []int, top int) []int {
	if s.perNode {
		return append(dst, s.minNodes)
	}
	from := len(dst)
	step := max(1, (top+maxCounts-1)/maxCounts)
	for c := top; c >= 1; c -= step {
		m := max((s.cores+c-1)/c, s.minNodes)
		if m > s.maxNodes {
			break
		}
		if len(dst) == from || dst[len(dst)-1] != m {
			dst = append(dst, m)
		}
	}
	return dst
}

// even offers the runs of m nodes that can give the job's cores evenly.
func (a *appraiser) even(m int) {
	need := a.s.need(m)
	base, extra := need/m, need%m
	c := base
	if extra > 0 {
		c++
	}
	inside, aligned := a.worth(ClassB, m), a.worth(ClassA, m)
	for _, set := range a.sets {
		if set.Len() < m || set.Cores < int64(need) {
			continue
		}
		first := int(set.First) // of the run of nodes with c cores
		for n := first; n <= int(set.Last); n++ {
			if int(a.free[n]) < c {
				first = n + 1
				continue
			}
			at := n - m + 1
			if at < first {
				continue
			}
			w := inside
			if (at == first || n == int(set.Last) || int(a.free[n+1]) < c) && a.class(at, m) == ClassA {
				w = aligned
			}
			a.offer(alignment{net: w - a.tariff.run(at, m, base, extra, a.gpus), first: int32(at), nodes: int32(m), gpus: uint8(a.gpus)})
		}
	}
	a.flush()
}

// packed offers, from each node on, the shortest run that holds the job, with all nodes but
// the last giving what they can.
func (a *appraiser) packed() {
	s := a.s
	for _, set := range a.sets {
		if set.Len() < s.minNodes || set.Cores < int64(s.cores) {
			continue
		}
		last, sum, cost := int(set.First)-1, 0, 0.0
		for first := int(set.First); first <= int(set.Last); first++ {
			for sum < s.cores && last < int(set.Last) {
				last++
				sum += s.most(a.free[last])
				cost += a.tariff.node(last, s.most(a.free[last]), a.gpus)
			}
			if sum < s.cores {
				break
			}
			if m := last - first + 1; m >= s.minNodes && m <= s.maxNodes {
				over := a.tariff.node(last, sum-s.cores, 0)
				a.offer(alignment{net: a.worth(a.class(first, m), m) - (cost - over), first: int32(first), nodes: int32(m), gpus: uint8(a.gpus), packed: true})
			}
			sum -= s.most(a.free[first])
			cost -= a.tariff.node(first, s.most(a.free[first]), a.gpus)
		}
	}
	a.flush()
}

// offer looks at one alignment. Of overlapping ones of a kind, offered one after the other,
// only the best is kept.
func (a *appraiser) offer(x alignment) {
	if a.open && x.first < a.near.first+a.near.nodes && x.first >= a.near.first {
		if x.net > a.near.net {
			a.near = x
		}
		return
	}
	a.flush()
	a.near, a.open = x, true
}

// flush enters the last alignment into the list of the best.
func (a *appraiser) flush() {
	if !a.open {
		return
	}
	a.open = false
	if len(a.best) == a.most {
		if a.near.net <= a.best[a.most-1].net {
			return
		}
		a.best = a.best[:a.most-1]
	}
	i, _ := slices.BinarySearchFunc(a.best, a.near.net, func(x alignment, net float64) int {
		if x.net >= net { // earlier ones come first among equals
			return -1
		}
		return 1
	})
	a.best = slices.Insert(a.best, i, a.near)
}
