// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"math"
	"math/bits"
	"slices"
)

// Room is what is free of a machine throughout some time.
type Room struct {
	w      *World
	cores  []int
	gpus   []int // that are free as a whole
	more   [][]int64
	bins   [][]int64 // by node and number of a shared GPU, from 1: the largest share that it can take
	quotas []int64
	full   string // what is taken beyond what there is; "" if nothing is
}

// at is what claims leave at one moment.
func (w *World) at(t int64, claims []Claim) *Room {
	r := &Room{w: w, quotas: slices.Clone(w.Quotas)}
	used := make([][]int64, len(w.Nodes))
	for n := range w.Nodes {
		r.cores, r.gpus = append(r.cores, w.Nodes[n].Cores), append(r.gpus, w.Nodes[n].GPUs)
		r.more = append(r.more, slices.Clone(w.Nodes[n].More))
		used[n] = make([]int64, 2*w.Nodes[n].GPUs+1)
	}
	for i := range claims {
		c := &claims[i]
		if t < c.From || t >= c.To {
			continue
		}
		for q := range r.quotas {
			r.quotas[q] -= counted(&c.Way, c.Pieces, q)
		}
		for _, p := range c.Pieces {
			part := &c.Way.Parts[p.Part]
			r.take(part, p)
			if p.Bin > 0 {
				used[p.Node][p.Bin] += part.Share
			}
		}
	}
	for n := range w.Nodes {
		for _, u := range used[n] {
			if u > 0 {
				r.gpus[n]--
			}
		}
		sizes := make([]int64, len(used[n]))
		for b := 1; b < len(sizes); b++ {
			if used[n][b] > 0 || r.gpus[n] > 0 {
				sizes[b] = w.Nodes[n].Share - used[n][b]
			}
		}
		r.bins = append(r.bins, sizes)
	}
	r.judge()
	return r
}

// take takes what one node gives, but for shares.
func (r *Room) take(part *Part, p Piece) {
	r.cores[p.Node] -= p.Cores
	r.gpus[p.Node] -= p.GPUs
	for i, u := range part.More {
		r.more[p.Node][i] -= u.Of(p.Cores, p.GPUs)
	}
}

// judge finds what is taken beyond what there is.
func (r *Room) judge() {
	for n := range r.cores {
		switch {
		case r.cores[n] < 0:
			r.full = "cores"
		case r.gpus[n] < 0:
			r.full = "GPUs"
		case len(r.more[n]) > 0 && slices.Min(r.more[n]) < 0:
			r.full = "a resource"
		case slices.Min(r.bins[n]) < 0:
			r.full = "a shared GPU"
		}
	}
}

// over says what claims take beyond what there is at a moment. What runs may count more against a
// quota than is allowed by now.
func (w *World) over(t int64, claims []Claim) string {
	r, runs := w.at(t, claims), w.at(t, w.Running)
	for q, left := range r.quotas {
		if left < min(0, runs.quotas[q]) {
			return "a quota"
		}
	}
	return r.full
}

// Room is what claims leave from one second to before another, at each moment between.
func (w *World) Room(from, to int64, claims []Claim) *Room {
	r := w.at(from, claims)
	for _, t := range moments(claims) {
		if t > from && t < to {
			r.least(w.at(t, claims))
		}
	}
	return r
}

// moments are those at which claims begin and end, ascending.
func moments(claims []Claim) (times []int64) {
	for _, c := range claims {
		times = append(times, c.From, c.To)
	}
	slices.Sort(times)
	return slices.Compact(times)
}

func (r *Room) least(o *Room) {
	for n := range r.cores {
		r.cores[n], r.gpus[n] = min(r.cores[n], o.cores[n]), min(r.gpus[n], o.gpus[n])
		for i := range r.more[n] {
			r.more[n][i] = min(r.more[n][i], o.more[n][i])
		}
		for b := range r.bins[n] {
			r.bins[n][b] = min(r.bins[n][b], o.bins[n][b])
		}
	}
	for q := range r.quotas {
		r.quotas[q] = min(r.quotas[q], o.quotas[q])
	}
	if r.full == "" {
		r.full = o.full
	}
}

// budget bounds an enumeration; where it is spent nothing is said.
type budget struct{ left int }

func (b *budget) spend() bool { b.left--; return b.left >= 0 }
func (b *budget) spent() bool { return b.left < 0 }

// places has all places for a way yielded, until yield reports false.
func (r *Room) places(way *Way, b *budget, yield func([]Piece) bool) bool {
	return r.placesFrom(way, 0, nil, false, b, yield)
}

// fits reports whether there is a place for one of a job's ways.
func (r *Room) fits(ways []Way, b *budget) bool {
	for k := range ways {
		if !r.placesFrom(&ways[k], 0, nil, true, b, func([]Piece) bool { return false }) {
			return true
		}
	}
	return false
}

// compact has ways be as preset packed takes them: in no more blocks of consecutive nodes than a way
// needs at least on the idle machine, and two of these not far apart. It keeps nobody from starting in more.
func (w *World) compact(ways []Way) []Way {
	if w.Preset != "packed" {
		return ways
	}
	idle := *w
	idle.Nodes, idle.Quotas = slices.Clone(w.Nodes), nil
	for n := range idle.Nodes {
		idle.Nodes[n].Up = true
	}
	ways = slices.Clone(ways)
	for k := range ways {
		if len(ways[k].Parts) > 1 {
			continue
		}
		part, b, least := ways[k].Parts[0], budget{5000}, len(w.Nodes)
		part.Counts = nil
		idle.at(w.Now, nil).places(&Way{Parts: []Part{part}}, &b, func(pieces []Piece) bool {
			least = min(least, blocks(nodesOf(pieces, -1)))
			return least > 1
		})
		if part = ways[k].Parts[0]; b.spent() {
			least = 1
		}
		part.Blocks = least
		ways[k].Parts = []Part{part}
	}
	return ways
}

// blocks is of how many blocks of consecutive nodes a set consists.
func blocks(nodes uint) int { return bits.OnesCount(nodes &^ (nodes << 1)) }

// near reports whether a part may be on nodes that lie so.
func (p *Part) near(nodes uint) bool {
	n, far := blocks(nodes), bits.Len(nodes)-bits.TrailingZeros(nodes) > 2*bits.OnesCount(nodes)
	return p.Blocks == 0 || n == 1 || n <= p.Blocks && !(n == 2 && far)
}

// placesFrom places part k and those after it. One place of the last part is enough where any will
// do. It reports false once yield has.
func (r *Room) placesFrom(way *Way, k int, pieces []Piece, any bool, b *budget, yield func([]Piece) bool) bool {
	if k == len(way.Parts) {
		for q, left := range r.quotas {
			if n := counted(way, pieces, q); n > 0 && n > left {
				return true
			}
		}
		return !r.w.Meets(way, pieces) || yield(pieces)
	}
	part := &way.Parts[k]
	for nodes := uint(1); nodes <= r.w.all(); nodes++ {
		if !b.spend() {
			return true
		}
		if !r.w.mayBe(part, nodes) || (part.Share > 0 && bits.OnesCount(nodes) > 1) {
			continue
		}
		for gpus := part.MinGPUs; gpus <= max(part.MinGPUs, part.MaxGPUs); gpus++ {
			g := gives{r: r, part: part, k: k, gpus: gpus, b: b}
			next := func(all []Piece) bool {
				return r.without(part, all[len(pieces):]).placesFrom(way, k+1, all, any, b, yield)
			}
			ok := true
			if any && k == len(way.Parts)-1 {
				if all := g.one(nodes, pieces); all != nil {
					ok = next(all)
				}
			} else {
				ok = g.on(nodes, 0, pieces, 0, next)
			}
			if !ok {
				return false
			}
			if part.Mixed {
				break // gives goes through all numbers
			}
		}
	}
	return true
}

// without is the room that a part leaves to others of its job.
func (r *Room) without(part *Part, pieces []Piece) *Room {
	less := &Room{w: r.w, cores: slices.Clone(r.cores), gpus: slices.Clone(r.gpus), bins: r.bins, quotas: r.quotas}
	for n := range r.more {
		less.more = append(less.more, slices.Clone(r.more[n]))
	}
	for _, p := range pieces {
		less.take(part, p)
	}
	return less
}

// gives enumerates what each of a set of nodes may give to a part.
type gives struct {
	r    *Room
	part *Part
	k    int
	gpus int
	b    *budget
}

// on goes through what nodes from n on may give, of which pieces have given cores.
func (g *gives) on(nodes uint, n int, pieces []Piece, cores int, yield func([]Piece) bool) bool {
	if nodes>>n == 0 {
		return g.part.Cores > 0 && cores != g.part.Cores || yield(slices.Clone(pieces))
	}
	if nodes>>n&1 == 0 {
		return g.on(nodes, n+1, pieces, cores, yield)
	}
	low, high := g.part.each()
	if g.part.Cores > 0 {
		rest := bits.OnesCount(nodes >> (n + 1))
		high = min(high, g.part.Cores-cores-rest*low)
		if rest == 0 {
			low = max(low, g.part.Cores-cores)
		}
	}
	most := g.gpus
	if g.part.Mixed {
		most = max(g.part.MinGPUs, g.part.MaxGPUs)
	}
	for c := low; c <= high; c++ {
		for gpus := g.gpus; gpus <= most; gpus++ {
			for _, bin := range g.binsOf(n) {
				if !g.b.spend() {
					return true
				}
				p := Piece{Part: g.k, Node: n, Cores: c, GPUs: gpus, Bin: bin}
				if g.r.gives(g.part, p) && !g.on(nodes, n+1, append(pieces, p), cores+c, yield) {
					return false
				}
			}
		}
	}
	return true
}

// one is something that nodes may give, with the fewest GPUs; nil if there is nothing. Of each node
// they can give any number of cores up to a most.
func (g *gives) one(nodes uint, pieces []Piece) []Piece {
	low, high := g.part.each()
	all, sum := slices.Clone(pieces), 0
	var room []int // by node: cores beyond the least
	for n := range g.r.cores {
		if nodes>>n&1 == 0 {
			continue
		}
		bins := g.binsOf(n)
		if len(bins) == 0 {
			return nil
		}
		p := Piece{Part: g.k, Node: n, Cores: low, GPUs: g.gpus, Bin: bins[0]}
		if !g.r.gives(g.part, p) {
			return nil
		}
		more := p
		for more.Cores < high && g.r.gives(g.part, Piece{g.k, n, more.Cores + 1, g.gpus, p.Bin}) {
			more.Cores++
		}
		all, room, sum = append(all, p), append(room, more.Cores-low), sum+low
	}
	for i, more := range room {
		if g.part.Cores > 0 {
			add := min(more, g.part.Cores-sum)
			if add < 0 {
				return nil
			}
			all[len(pieces)+i].Cores, sum = low+add, sum+add
		}
	}
	if g.part.Cores > 0 && sum != g.part.Cores {
		return nil
	}
	return all
}

// binsOf are the shared GPUs of a node that may have the part's share; 0 where it has none.
func (g *gives) binsOf(n int) (list []int) {
	if g.part.Share == 0 {
		return []int{0}
	}
	for b := 1; b < len(g.r.bins[n]); b++ {
		if g.r.bins[n][b] >= g.part.Share {
			list = append(list, b)
		}
	}
	return list
}

// gives reports whether a node has free what it is to give.
func (r *Room) gives(part *Part, p Piece) bool {
	if !r.w.Nodes[p.Node].Up || p.Cores > r.cores[p.Node] || p.GPUs > r.gpus[p.Node] {
		return false
	}
	for i, u := range part.More {
		if u.Of(p.Cores, p.GPUs) > r.more[p.Node][i] {
			return false
		}
	}
	return part.Share == 0 || r.bins[p.Node][p.Bin] >= part.Share
}

// kept is a job that has to have a place at a time.
type kept struct {
	job *Job
	at  int64
}

// joint has every choice of places for all of list yielded, as claims beside others, until yield
// reports false. It reports false then.
func (w *World) joint(claims []Claim, list []kept, b *budget, yield func([]Claim) bool) bool {
	if len(list) == 0 {
		return yield(claims)
	}
	k := list[0]
	room := w.Room(k.at, k.at+k.job.Limit, claims)
	if room.full != "" {
		return true
	}
	ways := w.waysAt(k.job, k.at)
	for i := range ways {
		way := &ways[i]
		ok := room.places(way, b, func(pieces []Piece) bool {
			c := Claim{ID: k.job.ID, From: k.at, To: k.at + k.job.Limit, Way: *way, Pieces: pieces}
			return w.joint(append(slices.Clip(claims), c), list[1:], b, yield)
		})
		if !ok {
			return false
		}
	}
	return true
}

// possible reports whether all of list can have places beside claims.
func (w *World) possible(claims []Claim, list []kept, b *budget) bool {
	return !w.joint(claims, list, b, func([]Claim) bool { return false })
}

// earliest is the first moment from a time on at which a job has room for all of its limit, and
// math.MaxInt64 if none is.
func (w *World) earliest(job *Job, from int64, claims []Claim, b *budget) int64 {
	times := append([]int64{from}, moments(claims)...)
	for _, r := range w.Reserved {
		times = append(times, r.From, r.To)
	}
	slices.Sort(times)
	for _, t := range times {
		if t >= from && t < from+Endless/2 && w.Room(t, t+job.Limit, claims).fits(w.waysAt(job, t), b) {
			return t
		}
	}
	return math.MaxInt64
}
