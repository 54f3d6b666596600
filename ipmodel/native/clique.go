// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"cmp"
	"slices"
)

// cliquer makes clique cuts: of columns that exclude each other pairwise, because they
// belong to one group or overfill a row together, at most one is chosen. Unlike
// the rows themselves, a clique can mix several groups and rows: two bids of one job and
// one of another job that is in the way of both.
type cliquer struct {
	support []int32 // columns of the solution, by falling value
	value   []float64
	next    []uint64 // by support column: those that exclude it, a bit each
	member  []int32
	cand    []uint64
	covered []bool // by support column: is in a clique already
	order   []int32
}

const (
	maxSupport = 512
	cliqueOver = 0.02 // least violation
	maxStretch = 400  // columns that a clique is stretched by
)

// exclude reports whether columns i and j can't both be chosen.
func (l *lp) exclude(i, j int32) bool {
	p := l.p
	if p.group[i] == p.group[j] {
		return true
	}
	a, b := l.p.run[i], l.p.run[j]
	for a < l.p.run[i+1] && b < l.p.run[j+1] {
		if from, to := max(l.p.runFirst[a], l.p.runFirst[b]), min(l.p.runEnd[a], l.p.runEnd[b]); from < to {
			sum := int64(l.p.runCoef[a]) + int64(l.p.runCoef[b])
			for _, c := range p.cap[from:to] {
				if sum > c {
					return true
				}
			}
			l.work += int64(to - from)
		}
		if l.p.runEnd[a] < l.p.runEnd[b] {
			a++
		} else {
			b++
		}
		l.work++
	}
	return false
}

// separateCliques adds violated clique cuts to the list of o.
func (l *lp) separateCliques(q *cliquer, o *gomory) {
	q.support = append(append(q.support[:0], l.key...), l.bas...)
	q.support = slices.DeleteFunc(q.support, func(v int32) bool {
		return int(v) >= l.n || !fractional(l.at(v))
	})
	slices.SortFunc(q.support, func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.at(b), l.at(a)), cmp.Compare(a, b))
	})
	n := min(len(q.support), maxSupport)
	q.support = q.support[:n]
	words := (n + 63) / 64
	q.next = resize(q.next, n*words)
	q.value = q.value[:0]
	for a, i := range q.support {
		q.value = append(q.value, l.at(i))
		for b := range a {
			if l.exclude(i, q.support[b]) {
				q.next[a*words+b/64] |= 1 << (b % 64)
				q.next[b*words+a/64] |= 1 << (a % 64)
			}
		}
	}
	q.covered = resize(q.covered, n)
	for a := range n {
		if !q.covered[a] {
			l.growClique(q, o, a, words)
		}
	}
}

// growClique makes a clique of support column a and, greedily, others by falling value.
func (l *lp) growClique(q *cliquer, o *gomory, a, words int) {
	q.cand = append(q.cand[:0], q.next[a*words:(a+1)*words]...)
	q.member = append(q.member[:0], q.support[a])
	sum := q.value[a]
	for b := range q.support {
		if q.cand[b/64]&(1<<(b%64)) == 0 {
			continue
		}
		q.member = append(q.member, q.support[b])
		sum += q.value[b]
		for w := range q.cand {
			q.cand[w] &= q.next[b*words+w]
		}
	}
	if sum < 1+cliqueOver {
		return
	}
	for b, i := range q.support {
		if slices.Contains(q.member, i) {
			q.covered[b] = true
		}
	}
	l.stretch(q)
	o.cut = resize(o.cut, l.n)
	for _, i := range q.member {
		o.cut[i] = cutUnit
	}
	l.offer(o, cutUnit)
}

// stretch adds other columns that all members exclude, those of the least reduced cost
// first.
func (l *lp) stretch(q *cliquer) {
	q.order = q.order[:0]
	for i := range int32(l.n) {
		if !l.ban[i] && l.where[i] == nonbasic && l.exclude(i, q.member[0]) {
			q.order = append(q.order, i)
		}
	}
	slices.SortFunc(q.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.d[b], l.d[a]), cmp.Compare(a, b))
	})
	for _, i := range q.order[:min(len(q.order), maxStretch)] {
		if !slices.ContainsFunc(q.member, func(j int32) bool { return !l.exclude(i, j) }) {
			q.member = append(q.member, i)
		}
	}
}
