// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import "math/bits"

// Set is a nodeset (n_i, n_j, c, g) of aucsched1, section 4: a maximal run of
// neighbouring nodes First..Last, both included, that all satisfy a Query.
// Cores is the total of their free cores; g is the query's.
type Set struct {
	First, Last int32
	Cores       int64
}

// Len returns the number of nodes of the set.
func (s Set) Len() int { return int(s.Last-s.First) + 1 }

// Query says which nodes satisfy a scan.
type Query struct {
	GPUs     int  // free GPUs that each node must have at least (g)
	MinCores int  // free cores that each node must have at least (job type 3); 0 and 1 mean one
	Eligible Mask // nodes that may be used; nil means all
}

// stretch is how many words of nodes a scan compares with its query at a time.
const stretch = 64

// Scan appends to dst the maximal nodesets that satisfy q, in node order, and
// returns the extended slice. It allocates only if dst has to grow.
//
// Its time grows with N/64 and the number of nodesets.
func (t *Table) Scan(dst []Set, q Query) []Set {
	k := uint(max(q.MinCores, 1))
	if q.GPUs >= len(t.level) || bits.Len(k) > t.plane.width {
		return dst
	}
	level := t.level[q.GPUs]
	if q.Eligible != nil {
		level = level[:min(len(level), len(q.Eligible))]
	}
	var cur Set
	open := uint64(0) // all ones while cur goes on
	for from := 0; from < len(level); from += stretch {
		words := level[from:min(from+stretch, len(level))]
		if k > 1 || q.Eligible != nil {
			var buf [stretch]uint64
			words = t.limit(buf[:len(words)], words, from, k, q.Eligible)
		}
		for i, word := range words {
			w := from + i
			if word == open { // nothing begins or ends here
				cur.Cores += int64(uint64(t.block[w]) & open)
				continue
			}
			if open != 0 {
				end := bits.TrailingZeros64(^word)
				before := uint64(1)<<end - 1
				cur.Last = int32(w<<6 + end - 1)
				cur.Cores += t.plane.sum(w, before)
				dst = append(dst, cur)
				word &^= before
				open = 0
			}
			for word != 0 {
				first := bits.TrailingZeros64(word)
				// without the first run, unless it ends with the word
				rest := word & (word + word&-word)
				run := word &^ rest
				last := 63 - bits.LeadingZeros64(run)
				cur = Set{First: int32(w<<6 + first), Last: int32(w<<6 + last)}
				for _, c := range t.cores[cur.First : cur.Last+1] {
					cur.Cores += int64(c)
				}
				if last == 63 {
					open = ^uint64(0)
					break
				}
				dst = append(dst, cur)
				word = rest
			}
		}
	}
	if open != 0 {
		cur.Last = int32(min(len(level)<<6, t.Len()) - 1)
		dst = append(dst, cur)
	}
	return dst
}

// limit sets dst, and returns it, to those of the nodes of words that are eligible and have k free
// cores; from is the first of the words.
func (t *Table) limit(dst, words []uint64, from int, k uint, eligible Mask) []uint64 {
	if k > 1 {
		t.plane.keepAtLeast(dst, words, from, k)
		words = dst
	}
	if eligible != nil {
		and(dst, words, eligible[from:])
	}
	return dst
}
