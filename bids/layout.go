package bids

import "github.com/aucsched/aucsched/nodeset"

// layout is how a bid spreads its cores over its nodes (T_in of aucsched2).
type layout uint8

const (
	packUp   layout = iota // nodes filled from the first; the last has the rest
	packDown               // nodes filled from the last; the first has the rest
	level                  // as even as the nodes' free cores allow
)

// span is a run of nodes, both ends included.
type span struct{ first, last int }

// most is how many cores a node with that many free may give.
func (s *shape) most(free uint16) int { return min(int(free), s.hi) }

// need is the number of cores that a choice of y nodes has to give.
func (s *shape) need(y int) int {
	if s.cores == 0 {
		return y * s.lo
	}
	return s.cores
}

// fitUp finds the first run of nodes in a..b, as short as possible and as near to
// a as possible, that can hold the job. All nodes of a..b have s.lo free cores.
func (s *shape) fitUp(free []uint16, a, b int) (span, bool) {
	sum, first := 0, a
	for last := a; last <= b; last++ {
		sum += s.most(free[last])
		if last-first >= s.maxNodes {
			sum -= s.most(free[first])
			first++
		}
		if last-first+1 >= s.minNodes && sum >= s.cores {
			return span{first, last}, true
		}
	}
	return span{}, false
}

// fitDown is fitUp from the other end.
func (s *shape) fitDown(free []uint16, a, b int) (span, bool) {
	sum, last := 0, b
	for first := b; first >= a; first-- {
		sum += s.most(free[first])
		if last-first >= s.maxNodes {
			sum -= s.most(free[last])
			last--
		}
		if last-first+1 >= s.minNodes && sum >= s.cores {
			return span{first, last}, true
		}
	}
	return span{}, false
}

// spread appends the allocation of the job on all nodes of spans, which ascend
// and together can hold it. It returns the extended slice.
func (s *shape) spread(dst []nodeset.Segment, free []uint16, spans []span, l layout, gpus int) []nodeset.Segment {
	y, room := 0, 0
	for _, sp := range spans {
		for n := sp.first; n <= sp.last; n++ {
			y++
			room += s.most(free[n])
		}
	}
	start := len(dst)
	d := dealer{s: s, left: y, cores: s.need(y), spare: room - s.need(y)}
	if l == level && !s.perNode {
		d.setLevel(free, spans)
	}
	for _, sp := range spans {
		for n := sp.first; n <= sp.last; n++ {
			seg := nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(d.deal(s.most(free[n]), l)), GPUs: uint8(gpus)}
			if len(dst) == start {
				dst = append(dst, seg)
			} else {
				dst = nodeset.Append(dst, seg)
			}
		}
	}
	return dst
}

// dealer hands out a job's cores node by node in ascending order.
type dealer struct {
	s      *shape
	left   int // nodes not yet served
	cores  int // cores not yet given
	spare  int // cores of the remaining nodes that are not needed
	height int // layout level: what every node gives if it can
	extra  int // layout level: nodes that give one more
}

func (d *dealer) deal(most int, l layout) int {
	take := 0
	switch {
	case d.s.perNode:
		take = d.s.lo
	case l == packUp: // at least one core stays for each node to come
		take = min(most, d.cores-(d.left-1))
	case l == packDown:
		skip := min(most-1, d.spare)
		take = most - skip
		d.spare -= skip
	default:
		take = min(most, d.height)
		if most > d.height && d.extra > 0 {
			take++
			d.extra--
		}
	}
	d.left--
	d.cores -= take
	return take
}

// setLevel finds the greatest height h with sum of min(most, h) <= cores.
func (d *dealer) setLevel(free []uint16, spans []span) {
	sum := func(h int) int {
		t := 0
		for _, sp := range spans {
			for n := sp.first; n <= sp.last; n++ {
				t += min(d.s.most(free[n]), h)
			}
		}
		return t
	}
	lo, hi := 1, MaxCoresPerNode
	for lo < hi {
		if mid := (lo + hi + 1) / 2; sum(mid) <= d.cores {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	d.height, d.extra = lo, d.cores-sum(lo)
}
