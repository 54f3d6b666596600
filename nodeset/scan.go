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
// Time is in N/64 where whole words of nodes are alike, and in the number of nodes
// of the sets where MinCores asks for more than one core.
func (t *Table) Scan(dst []Set, q Query) []Set {
	if q.GPUs >= len(t.level) {
		return dst
	}
	level := t.level[q.GPUs]
	open := false
	var cur Set
	for w, word := range level {
		word &= q.Eligible.Word(w)
		if q.MinCores > 1 && word != 0 {
			word = t.atLeast(w, word, uint16(min(q.MinCores, 1<<16-1)))
		}
		switch {
		case word == 0:
			if open {
				dst, open = append(dst, cur), false
			}
			continue
		case word == ^uint64(0):
			if !open {
				cur, open = Set{First: int32(w << 6)}, true
			}
			cur.Last = int32(w<<6 + 63)
			cur.Cores += int64(t.block[w])
			continue
		}
		for pos := 0; pos < 64; {
			if !open {
				rest := word >> pos
				if rest == 0 {
					break
				}
				pos += bits.TrailingZeros64(rest)
				cur, open = Set{First: int32(w<<6 + pos)}, true
			}
			ones := min(bits.TrailingZeros64(^(word >> pos)), 64-pos)
			for n := w<<6 + pos; n < w<<6+pos+ones; n++ {
				cur.Cores += int64(t.cores[n])
			}
			if pos += ones; ones > 0 {
				cur.Last = int32(w<<6 + pos - 1)
			}
			if pos < 64 {
				dst, open = append(dst, cur), false
			}
		}
	}
	if open {
		dst = append(dst, cur)
	}
	return dst
}

// atLeast keeps those bits of word, which stand for nodes of word w, whose nodes
// have k free cores.
func (t *Table) atLeast(w int, word uint64, k uint16) uint64 {
	kept := uint64(0)
	for rest := word; rest != 0; rest &= rest - 1 {
		b := bits.TrailingZeros64(rest)
		if t.cores[w<<6+b] >= k {
			kept |= 1 << b
		}
	}
	return kept
}
