// SPDX-License-Identifier: BSD-3-Clause

package place

import "github.com/aucsched/aucsched/nodeset"

// Layout is how an allocation spreads its cores over its nodes (T_in of aucsched2).
type Layout uint8

// The layouts.
const (
	PackUp   Layout = iota // nodes filled from the first; the last has the rest
	PackDown               // nodes filled from the last; the first has the rest
	Level                  // as even as the nodes' free cores allow
)

// Span is a run of nodes, both ends included.
type Span struct{ First, Last int }

// FitUp finds the first run of nodes in a..b, as short as possible and as near to a as possible,
// that can hold the job. All nodes of a..b have the fewest cores that one may give.
func (s *Spec) FitUp(t *nodeset.Table, a, b int) (Span, bool) {
	var y tally
	last := y.take(s, t, a, b) - 1
	free := t.FreeCores()
	for first := a; ; first++ { // the most nodes are too few cores: the next as many
		if y.enough(s) {
			return Span{first, last}, true
		}
		if last++; last > b {
			return Span{}, false
		}
		y.cores += s.most(free[last]) - s.most(free[first])
	}
}

// FitDown is FitUp from the other end.
func (s *Spec) FitDown(free []uint16, a, b int) (Span, bool) {
	sum, last := 0, b
	for first := b; first >= a; first-- {
		sum += s.most(free[first])
		if last-first >= s.Nodes.Max {
			sum -= s.most(free[last])
			last--
		}
		if last-first+1 >= s.Nodes.Min && sum >= s.Cores.Total {
			return Span{first, last}, true
		}
	}
	return Span{}, false
}

// together reports whether spans, which ascend, are no more blocks than the job may have, and no
// farther apart.
func (s *Spec) together(spans []Span) bool {
	if s.Blocks == 0 {
		return true
	}
	blocks := 1
	for i := 1; i < len(spans); i++ {
		if spans[i].First != spans[i-1].Last+1 {
			blocks++
		}
	}
	return blocks <= int(s.Blocks) && (blocks == 1 || !s.near() || s.within(spans))
}

// near reports whether the job may have two blocks, where one would do on the idle machine.
func (s *Spec) near() bool { return s.Blocks == 2 }

// within reports whether spans, which ascend, are near enough to one another.
func (s *Spec) within(spans []Span) bool {
	nodes := 0
	for _, sp := range spans {
		nodes += sp.Last - sp.First + 1
	}
	return extent(spans) <= MaxReach*nodes
}

func extent(spans []Span) int { return spans[len(spans)-1].Last - spans[0].First + 1 }

// piece is a run of nodes that may each give the job as much.
type piece struct{ first, last, most int }

func (p piece) nodes() int { return p.last - p.first + 1 }

// pieces cuts spans into pieces, which it appends to dst.
func (s *Spec) pieces(dst []piece, t *nodeset.Table, spans []Span) []piece {
	free := t.FreeCores()
	for _, sp := range spans {
		for n := sp.First; n <= sp.Last; {
			p := piece{n, t.Alike(n, sp.Last), s.most(free[n])}
			dst = append(dst, p)
			n = p.last + 1
		}
	}
	return dst
}

// spread appends the allocation of the job on all nodes of pieces, which ascend
// and together can hold it. It returns the extended slice.
func (s *Spec) spread(dst []nodeset.Segment, pieces []piece, l Layout, gpus int) []nodeset.Segment {
	y, room := 0, 0
	for _, p := range pieces {
		y += p.nodes()
		room += p.nodes() * p.most
	}
	d := dealer{
		cores: s.Cores.On(y), over: s.Cores.On(y) - y, spare: room - s.Cores.On(y),
		dst: dst, own: len(dst), gpus: uint8(gpus),
	}
	switch {
	case s.Exact():
		d.perNode(pieces, s.Cores.PerNode.Min)
	case l == PackUp:
		d.packUp(pieces)
	case l == PackDown:
		d.packDown(pieces)
	default:
		d.level(pieces)
	}
	return d.dst
}

// dealer hands out a job's cores piece by piece in ascending order.
type dealer struct {
	cores int // that the job needs
	over  int // of them, beyond one for each node
	spare int // that the nodes have beyond them
	gpus  uint8
	dst   []nodeset.Segment
	own   int // where the job's segments begin in dst
}

// give appends that many cores on each of the next count nodes from first on, and
// returns the node behind them.
func (d *dealer) give(first, count, cores int) int {
	if count <= 0 {
		return first
	}
	seg := nodeset.Segment{First: int32(first), Last: int32(first + count - 1), Cores: uint16(cores), GPUs: d.gpus}
	d.dst = appendTo(d.dst, d.own, seg)
	return first + count
}

func (d *dealer) perNode(pieces []piece, cores int) {
	for _, p := range pieces {
		d.give(p.first, p.nodes(), cores)
	}
}

// PackUp fills nodes from the first; at least one core stays for each node to come.
func (d *dealer) packUp(pieces []piece) {
	for _, p := range pieces {
		full := p.nodes()
		if p.most > 1 {
			full = min(full, d.over/(p.most-1))
		}
		n := d.give(p.first, full, p.most)
		d.over -= full * (p.most - 1)
		if n <= p.last {
			n = d.give(n, 1, 1+d.over)
			d.over = 0
		}
		d.give(n, p.last-n+1, 1)
	}
}

// PackDown leaves as much as it can on nodes from the first on, except for one core.
func (d *dealer) packDown(pieces []piece) {
	for _, p := range pieces {
		one := p.nodes()
		if p.most > 1 {
			one = min(one, d.spare/(p.most-1))
		}
		n := d.give(p.first, one, 1)
		d.spare -= one * (p.most - 1)
		if n <= p.last {
			n = d.give(n, 1, p.most-d.spare)
			d.spare = 0
		}
		d.give(n, p.last-n+1, p.most)
	}
}

// level gives every node the greatest height h with sum of min(most, h) <= cores, or all it has.
// What is then left goes to the first nodes that have more.
func (d *dealer) level(pieces []piece) {
	sum := func(h int) (t int) {
		for _, p := range pieces {
			t += p.nodes() * min(p.most, h)
		}
		return t
	}
	h, top := 1, 1
	for _, p := range pieces {
		top = max(top, p.most)
	}
	for h < top {
		if mid := (h + top + 1) / 2; sum(mid) <= d.cores {
			h = mid
		} else {
			top = mid - 1
		}
	}
	extra := d.cores - sum(h)
	for _, p := range pieces {
		n := p.first
		if p.most > h {
			more := min(p.nodes(), extra)
			n = d.give(n, more, h+1)
			extra -= more
		}
		d.give(n, p.last-n+1, min(p.most, h))
	}
}

// tally counts the nodes that a job is given, and the cores that they may give.
type tally struct{ nodes, cores int }

// enough reports whether they hold the job.
func (y *tally) enough(s *Spec) bool { return y.nodes >= s.Nodes.Min && y.cores >= s.Cores.Total }

// take adds nodes of first..last, from the first on, until they are enough or
// s.Nodes.Max, and returns the one behind them.
func (y *tally) take(s *Spec, t *nodeset.Table, first, last int) int {
	free := t.FreeCores()
	n := first
	for n <= last && y.nodes < s.Nodes.Max && !y.enough(s) {
		most := s.most(free[n])
		lacking := max(s.Nodes.Min-y.nodes, (s.Cores.Total-y.cores+most-1)/most)
		k := min(t.Alike(n, last)-n+1, s.Nodes.Max-y.nodes, lacking)
		y.nodes += k
		y.cores += k * most
		n += k
	}
	return n
}

// MaxReach bounds how far apart the two blocks of a job lie that is to stay together (Spec.Blocks).
// From end to end there are at most so many times as many nodes as it has.
const MaxReach = 2

// takeDown is take from the last node on; it returns the node before those that it took.
func (y *tally) takeDown(s *Spec, t *nodeset.Table, first, last int) int {
	free := t.FreeCores()
	n := last
	for n >= first && y.nodes < s.Nodes.Max && !y.enough(s) {
		y.nodes++
		y.cores += s.most(free[n])
		n--
	}
	return n
}
