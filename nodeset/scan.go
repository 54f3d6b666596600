package nodeset

import "math/bits"

// Set is a nodeset (n_i, n_j, c, g) of aucsched1, section 4: a maximal run of
// neighbouring nodes First..Last, both included, that all satisfy a Query.
// Cores is the total of their free cores; g is the query's.
type Set struct {
	First, Last int32
	Cores       int64
}

// Len is the number of nodes of the set.
func (s Set) Len() int { return int(s.Last-s.First) + 1 }

// Query says which nodes count in a scan.
type Query struct {
	GPUs     int  // free GPUs that each node must have at least (g)
	MinCores int  // free cores that each node must have at least (job type 3); 0 and 1 mean one
	Eligible Mask // nodes that may be used; nil means all
}

// Scan appends to dst the maximal nodesets that satisfy q, in node order, and
// returns the extended slice. It allocates only if dst has to grow.
//
// Time is in N/64 and in the number of nodesets, whatever q asks for.
func (t *Table) Scan(dst []Set, q Query) []Set {
	k := uint(max(q.MinCores, 1))
	if q.GPUs >= len(t.level) || bits.Len(k) > t.width {
		return dst
	}
	level := t.level[q.GPUs]
	if q.Eligible != nil {
		level = level[:min(len(level), len(q.Eligible))]
	}
	var cur Set
	open := uint64(0) // all ones while cur goes on
	for w, word := range level {
		if q.Eligible != nil {
			word &= q.Eligible[w]
		}
		if k > 1 && word != 0 {
			word &= t.planes(w).atLeast(k)
		}
		if word == open { // nothing begins or ends here
			cur.Cores += int64(uint64(t.block[w]) & open)
			continue
		}
		dst, cur, open = t.scanWord(dst, cur, open, w, word)
	}
	if open != 0 {
		cur.Last = int32(min(len(level)<<6, t.Len()) - 1)
		dst = append(dst, cur)
	}
	return dst
}

// scanWord finds where nodesets begin and end among the nodes of word w that are in
// word.
func (t *Table) scanWord(dst []Set, cur Set, open uint64, w int, word uint64) ([]Set, Set, uint64) {
	p, base := t.planes(w), int32(w<<6)
	edges := word ^ (word<<1 | open&1) // bit n: n is in and n-1 is not, or the other way round
	part := word                       // of word, from the last edge on
	for ; edges != 0; edges &= edges - 1 {
		at := bits.TrailingZeros64(edges)
		after := word >> at << at
		if open = ^open; open != 0 {
			cur = Set{First: base + int32(at)}
		} else {
			cur.Last = base + int32(at) - 1
			cur.Cores += p.sum(part &^ after)
			dst = append(dst, cur)
		}
		part = after
	}
	if open != 0 {
		cur.Cores += p.sum(part)
	}
	return dst, cur, open
}
