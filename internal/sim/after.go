// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"fmt"
	"slices"
)

// makeAfter takes jobs out of the order of submission that wait for the end of another. A job whose
// predecessor can never run comes as if it had none.
func (s *simulator) makeAfter() error {
	number := make(map[string]int32)
	for _, i := range s.order {
		if s.jobs[i].After != "" {
			number[s.jobs[i].After] = -1
		}
	}
	if len(number) == 0 {
		return nil
	}
	known := make(map[string]bool)
	for i := range s.total {
		if _, named := number[s.jobs[i].ID]; named {
			known[s.jobs[i].ID] = true
		}
	}
	for _, i := range s.order {
		if _, named := number[s.jobs[i].ID]; named {
			number[s.jobs[i].ID] = i
		}
	}
	s.after = after{}
	var order, waiting []int32
	for _, i := range s.order {
		j := &s.jobs[i]
		switch before := number[j.After]; {
		case j.After == "" || before < 0 && known[j.After]:
			order = append(order, i)
		case before < 0:
			return fmt.Errorf("job %s: after: %s: no such job", j.ID, j.After)
		default:
			s.after[before] = append(s.after[before], i)
			waiting = append(waiting, i)
		}
	}
	s.order = order
	return s.checkAfter(waiting, number)
}

// checkAfter refuses jobs that wait for themselves, by whatever way.
func (s *simulator) checkAfter(waiting []int32, number map[string]int32) error {
	comes := make(map[int32]bool, len(s.order)+len(waiting)) // some time
	for _, i := range s.order {
		comes[i] = true
	}
	for _, first := range waiting {
		var path []int32
		for i := first; !comes[i]; i = number[s.jobs[i].After] {
			if path = append(path, i); len(path) > len(waiting) {
				return fmt.Errorf("job %s: after: %s: it would come after itself", s.jobs[first].ID, s.jobs[first].After)
			}
		}
		for _, i := range path {
			comes[i] = true
		}
	}
	return nil
}

// release has those jobs come that wait for the end of one, at their own time at the earliest. Their
// priority is no higher than that of any that has come, as for jobs that are submitted then.
func (s *simulator) release(before int32, end int64) {
	for _, i := range s.after[before] {
		j := *s.jobs[i].Job // the caller's stays as it is
		j.Submit = max(j.Submit, end+j.Think)
		j.Priority = min(j.Priority, s.lowest)
		s.jobs[i].Job = &j
		at, _ := slices.BinarySearchFunc(s.order[s.next:], j.Submit+1, func(k int32, t int64) int {
			return cmp.Compare(s.jobs[k].Submit, t)
		})
		s.order = slices.Insert(s.order, s.next+at, i)
		s.meter.loaded.last = max(s.meter.loaded.last, j.Submit)
	}
	delete(s.after, before)
}

// never lists the jobs that wait for one that never ran.
func (s *simulator) never() {
	var all []int32
	for _, waiting := range s.after {
		all = append(all, waiting...)
	}
	slices.Sort(all)
	for _, i := range all {
		s.result.Unrun = append(s.result.Unrun, Unrun{s.jobs[i].ID, "the job before it did not run"})
	}
}
