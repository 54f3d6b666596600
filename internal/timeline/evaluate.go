// SPDX-License-Identifier: BSD-3-Clause

package timeline

// patience is after how many jobs it is seen whether a plan is too costly by now.
const patience = 4

// evaluate plans the jobs in an order, and returns what that is worth. It reports false when it
// gives up, since the plan costs more than most, or there is no time left.
func (s *Search) evaluate(order []int32, most float64) (v Values, ok bool) {
	s.Evaluated++
	s.plan.copyFrom(&s.base)
	s.placer.work += int64(len(s.plan.lanes))
	s.tried = resize(s.tried, len(s.Jobs))
	now := s.plan.at[0]
	for n, i := range order {
		j := &s.Jobs[i]
		s.tried[i] = s.place(j)
		v.add(j, s.tried[i]-now)
		if n%patience == patience-1 {
			if cost, _ := s.cost(&v); cost > most || s.stop != nil && s.stop() {
				return v, false
			}
		}
	}
	return v, true
}

// place plans a job, and returns when it starts. One for which there is never room starts when all
// has ended.
func (s *Search) place(j *Job) int64 {
	t := &s.plan
	i, ok := s.earliest(j)
	start := t.at[i]
	if ok {
		s.placer.choose(t, i, j)
		e := t.step(i, start+j.Length)
		t.take(i, e, &s.placer.amount, &s.placer.sums, s.placer.first, s.placer.last)
		s.placer.work += int64((e - i) * max(s.placer.last-s.placer.first+1, 0) * t.kinds)
	}
	return start
}

// earliest is the first step from which there is room for a job, or else the last, and false. Steps
// at which all nodes together have too little are passed over.
func (s *Search) earliest(j *Job) (step int, ok bool) {
	t := &s.plan
	first := 0
	for i := 0; ; i++ {
		if i == len(t.at) || t.at[i] >= t.at[first]+j.Length {
			last, ok := s.placer.fits(t, first, i, j)
			if ok {
				return first, true
			}
			if first = last + 1; first == len(t.at) {
				return last, false
			}
			i--
			continue
		}
		if lacks(t.sumsAt(i), &j.sums) {
			if first = i + 1; first == len(t.at) {
				return i, false
			}
		}
	}
}

func lacks(has []int, needs *[MaxKinds]int) bool {
	for k, x := range has {
		if x < needs[k] {
			return true
		}
	}
	return false
}
