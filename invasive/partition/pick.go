package partition

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/invasive"
)

// An ask is what a job needs: want cores, or at least need, on minNodes to maxNodes nodes, if possible on those that were agreed on.
type ask struct {
	want, need         int32
	minNodes, maxNodes int32
	agreed             []invasive.Part
}

// pick chooses cores of classes up to most for an ask, ascending, or none. Few nodes are better than many, a node that is filled better than
// one that is broken, and a free core better than one of a later class. The slice is new.
func (v *view) pick(a *ask, most class) []uint32 {
	clear(v.share)
	if !v.shareAgreed(a, most) && !v.shareAny(a, most) {
		return nil
	}
	var cores []uint32
	for n, k := range v.share {
		if k > 0 {
			cores = v.takeOf(cores, n, k, most)
		}
	}
	return cores
}

// shareAgreed shares the cores out as the mapping says, if they are all to be had.
func (v *view) shareAgreed(a *ask, most class) bool {
	var sum int32
	for _, p := range a.agreed {
		if uint64(p.Node) >= uint64(len(v.share)) {
			clear(v.share)
			return false
		}
		v.share[p.Node] += int32(p.Cores)
		sum += int32(p.Cores)
		if v.share[p.Node] > v.available(int(p.Node), most) {
			clear(v.share)
			return false
		}
	}
	if sum == 0 || sum < a.need || sum > a.want {
		clear(v.share)
		return false
	}
	return true
}

// shareAny takes the nodes with most to be had, and as the last one that which fits best.
func (v *view) shareAny(a *ask, most class) bool {
	v.order = v.order[:0]
	for n := range v.share {
		if v.available(n, most) > 0 {
			v.order = append(v.order, int32(n))
		}
	}
	slices.SortFunc(v.order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(v.available(int(y), most), v.available(int(x), most)),
			cmp.Compare(v.count[y][free], v.count[x][free]), cmp.Compare(x, y))
	})
	nodes, limit := int32(0), int32(len(v.order))
	if a.maxNodes > 0 {
		limit = min(limit, a.maxNodes)
	}
	left := a.want
	for i := 0; i < len(v.order) && nodes < limit && left > 0; i++ {
		after := max(0, a.minNodes-nodes-1) // nodes that need a core each
		k := left - after
		at := i
		if after == 0 {
			at = v.bestFit(i, k, most)
		}
		n := v.order[at]
		v.order[i], v.order[at] = v.order[at], v.order[i]
		got := min(k, v.available(int(n), most))
		if got <= 0 {
			break
		}
		v.share[n] = got
		left -= got
		nodes++
	}
	return a.want-left >= a.need && nodes >= a.minNodes
}

// bestFit is the index, from i on, of the node of the order that has k cores and the fewest more, or i if none has.
func (v *view) bestFit(i int, k int32, most class) int {
	tail := v.order[i:]
	enough, _ := slices.BinarySearchFunc(tail, k, func(n int32, k int32) int {
		if v.available(int(n), most) >= k {
			return -1
		}
		return 1
	})
	at := max(0, enough-1)
	for at > 0 && v.available(int(tail[at-1]), most) == v.available(int(tail[at]), most) {
		at--
	}
	return i + at
}

// takeOf appends k cores of a node, cheap classes first, of as few sockets as possible.
func (v *view) takeOf(cores []uint32, node int, k int32, most class) []uint32 {
	from := len(cores)
	for c := free; c <= most && k > 0; c++ {
		for want := min(k, v.count[node][c]); want > 0; {
			first := v.socket(node, want, c, cores[from:])
			before := want
			for i := first; i < first+v.perSocket && want > 0; i++ {
				if v.class[i] == c && !slices.Contains(cores[from:], uint32(i)) {
					cores = append(cores, uint32(i))
					want--
					k--
				}
			}
			if before == want {
				break // can't be: count says that there are some
			}
		}
	}
	slices.Sort(cores[from:])
	return cores
}

// socket is the first core of the socket that fits k cores of a class best, or of that with most.
func (v *view) socket(node int, k int32, c class, taken []uint32) int {
	best, bestHas := node*v.perNode, int32(0)
	for first := node * v.perNode; first < (node+1)*v.perNode; first += v.perSocket {
		has := int32(0)
		for i := first; i < first+v.perSocket; i++ {
			if v.class[i] == c && !slices.Contains(taken, uint32(i)) {
				has++
			}
		}
		fits, bestFits := has >= k, bestHas >= k
		if fits && (!bestFits || has < bestHas) || !fits && !bestFits && has > bestHas {
			best, bestHas = first, has
		}
	}
	return best
}
