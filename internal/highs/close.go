// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/ipmodel"
)

// closeBudget bounds the search for the last units, in touched entries: some 10 ms.
const closeBudget = 1 << 21

// lastUnits searches in integers for a choice that is worth more than the known
// one, and proves it best if there is none. HiGHS, which is at its end here, can't
// tell worths apart that differ by less than its tolerances; this can, in
// windows small enough for the budget, and otherwise changes nothing.
func (a *answer) lastUnits() {
	if !a.known || a.bound <= a.worth {
		return
	}
	s := lastUnits{a: a, m: a.m, left: slices.Clone(a.m.Cap), budget: closeBudget}
	s.prepare()
	if s.from(0, 0); s.budget > 0 {
		a.bound = a.worth
	}
}

// lastUnits is a depth-first search over the groups.
type lastUnits struct {
	a      *answer
	m      *ipmodel.Model
	order  []int32 // the columns, those of a group by falling worth
	rest   []int64 // of each group: what it and those after it are worth at most
	left   []int64 // of each capacity
	chosen []int32
	budget int
}

func (s *lastUnits) prepare() {
	s.order = make([]int32, len(s.m.Value))
	for i := range s.order {
		s.order[i] = int32(i)
	}
	s.rest = make([]int64, s.m.Groups()+1)
	for g := s.m.Groups() - 1; g >= 0; g-- {
		group := s.order[s.m.GroupStart[g]:s.m.GroupStart[g+1]]
		slices.SortStableFunc(group, func(i, j int32) int { return cmp.Compare(s.m.Value[j], s.m.Value[i]) })
		s.rest[g] = s.rest[g+1]
		if len(group) > 0 {
			s.rest[g] += s.m.Value[group[0]]
		}
	}
}

// from completes the choice so far, which is worth so much, with the groups from g on.
func (s *lastUnits) from(g int, worth int64) {
	if s.budget--; s.budget <= 0 || worth+s.rest[g] <= s.a.worth {
		return
	}
	if g == s.m.Groups() {
		s.a.offer(s.chosen)
		return
	}
	for _, i := range s.order[s.m.GroupStart[g]:s.m.GroupStart[g+1]] {
		if s.take(i) {
			s.chosen = append(s.chosen, i)
			s.from(g+1, worth+s.m.Value[i])
			s.chosen = s.chosen[:len(s.chosen)-1]
			s.giveBack(i, s.m.ColStart[i+1])
		}
	}
	if !s.m.IsRequired(g) {
		s.from(g+1, worth)
	}
}

// take takes a column's coefficients off the capacities, or nothing where they don't fit.
func (s *lastUnits) take(i int32) bool {
	for k := s.m.ColStart[i]; k < s.m.ColStart[i+1]; k++ {
		s.budget--
		if s.left[s.m.Row[k]] -= int64(s.m.Coef[k]); s.left[s.m.Row[k]] < 0 {
			s.giveBack(i, k+1)
			return false
		}
	}
	return true
}

func (s *lastUnits) giveBack(i, end int32) {
	for k := s.m.ColStart[i]; k < end; k++ {
		s.left[s.m.Row[k]] += int64(s.m.Coef[k])
	}
}
