// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// amountsFault is what is wrong with the amounts of further resources, or nil.
func amountsFault(in *Input) error {
	if in.Resources < 0 || in.Resources > MaxResources {
		return whole("resources", in.Resources, "there must be at most %d", MaxResources)
	}
	if len(in.Amounts) != in.Resources*len(in.Nodes) {
		return whole("amounts", len(in.Amounts), "for %d resources of %d nodes", in.Resources, len(in.Nodes))
	}
	for i, a := range in.Amounts {
		if a.Total > nodeset.MaxAmount {
			return &InputError{"amounts", i, "total", a.Total, fmt.Sprintf("must be at most %d", nodeset.MaxAmount)}
		}
		if a.Free > a.Total {
			return &InputError{"amounts", i, "free", a.Free, fmt.Sprintf("must be at most total, %d", a.Total)}
		}
	}
	return nil
}

// sameTotals reports whether the machine has these resources in all.
func (r *resources) sameTotals(amounts []Amount) bool {
	return slices.EqualFunc(r.total, amounts, func(a, b Amount) bool { return a.Total == b.Total })
}

// addResources gives the machine its further resources. Their names are their numbers.
func (s *snapshot) addResources(in *Input) error {
	s.more.total = append(s.more.total[:0], in.Amounts...)
	total := make([]int64, len(in.Nodes))
	for k := range in.Resources {
		for n := range total {
			total[n] = int64(in.Amounts[k*len(total)+n].Total)
		}
		if _, err := s.Nodes.AddResource(fmt.Sprint("resource ", k), total); err != nil {
			return fmt.Errorf("amounts: %w", err)
		}
	}
	return nil
}

// setAmounts sets what is free of further resources.
func (s *snapshot) setAmounts(in *Input) error {
	for i, a := range in.Amounts {
		if err := s.Nodes.SetFreeOf(i/len(in.Nodes), i%len(in.Nodes), int64(a.Free)); err != nil {
			return fmt.Errorf("amounts: %w", err)
		}
	}
	return nil
}

// useFault is what is wrong with use i of array, which has to be of element least or a later one,
// and of a resource after last if it is of least; its array is "" if nothing is.
func useFault(in *Input, array string, uses []Use, i, elements int) flaw {
	u := &uses[i]
	switch {
	case uint64(u.Of) >= uint64(elements):
		return flawed(array, i, "of", u.Of, "there are %d", uint64(elements))
	case i > 0 && u.Of < uses[i-1].Of:
		return flawed(array, i, "of", u.Of, "must be at least %d, that of the one before it", uint64(uses[i-1].Of))
	case int(u.Resource) >= in.Resources:
		return flawed(array, i, "resource", u.Resource, "there are %d", uint64(in.Resources))
	case i > 0 && u.Of == uses[i-1].Of && u.Resource <= uses[i-1].Resource:
		return flawed(array, i, "resource", u.Resource, "must be above %d, that of the one before it", uint64(uses[i-1].Resource))
	case u.Reserved != 0:
		return flawed(array, i, "reserved", u.Reserved, "must be 0")
	case u.PerNode > nodeset.MaxAmount:
		return flawed(array, i, "per_node", u.PerNode, "must be at most %d", nodeset.MaxAmount)
	case u.PerCore > nodeset.MaxAmount:
		return flawed(array, i, "per_core", u.PerCore, "must be at most %d", nodeset.MaxAmount)
	case u.PerGPU > nodeset.MaxAmount:
		return flawed(array, i, "per_gpu", u.PerGPU, "must be at most %d", nodeset.MaxAmount)
	}
	return flaw{}
}

// eachUses visits the uses of one element of array after the other, in memory of s. A fault is told
// with the element that it is about, -1 if that is not there.
func (s *snapshot) eachUses(in *Input, array string, uses []Use, elements int,
	bad func(f flaw, of int), good func(of int, uses nodeset.Uses)) {
	for i := 0; i < len(uses); {
		of, from := uses[i].Of, len(s.more.uses)
		var fault flaw
		for ; i < len(uses) && uses[i].Of == of; i++ {
			u := &uses[i]
			if fault.array == "" {
				fault = useFault(in, array, uses, i, elements)
			}
			s.more.uses = append(s.more.uses, nodeset.Use{Row: int(u.Resource),
				PerNode: int64(u.PerNode), PerCore: int64(u.PerCore), PerGPU: int64(u.PerGPU)})
		}
		switch {
		case fault.array == "":
			good(int(of), s.more.uses[from:len(s.more.uses):len(s.more.uses)])
		case uint64(of) >= uint64(elements):
			bad(fault, -1)
		default:
			bad(fault, int(of))
		}
	}
}

// resetUses makes room for all uses of an input in one piece, as jobs keep parts of it.
func (s *snapshot) resetUses(in *Input) error {
	for _, a := range [...]struct {
		name string
		uses []Use
	}{{"running_uses", in.RunningUses}, {"job_uses", in.JobUses}, {"alternative_uses", in.AlternativeUses}} {
		if len(a.uses) > MaxJobs*MaxResources {
			return whole(a.name, len(a.uses), "there must be at most %d", MaxJobs*MaxResources)
		}
	}
	s.more.uses = s.more.uses[:0]
	if n := len(in.RunningUses) + len(in.JobUses) + len(in.AlternativeUses); cap(s.more.uses) < n {
		s.more.uses = make([]nodeset.Use, 0, n)
	}
	return nil
}

// loadRunningUses says what running jobs hold of further resources. What a job can't hold, for
// what is free and what others hold, it gives back never: it then holds nothing that comes free.
func (s *snapshot) loadRunningUses(in *Input) {
	s.more.held = append(s.more.held[:0], make([]int64, len(in.Amounts))...)
	s.eachUses(in, "running_uses", in.RunningUses, len(in.Running),
		func(f flaw, of int) { s.stays(f, of) },
		func(of int, uses nodeset.Uses) {
			r := &s.Running[of]
			if u, n, ok := s.tooMuchHeld(in, r.Segs, uses); ok {
				s.stays(flawed("running_uses", of, "resource", uint32(u.Row),
					"node %d: what is free and what jobs hold are more than its %d", uint64(n),
					uint64(in.Amounts[u.Row*len(in.Nodes)+n].Total)), of)
				return
			}
			r.Uses = uses
		})
}

// stays has running job of, if it is there, hold what it has for ever.
func (s *snapshot) stays(f flaw, of int) {
	s.faults.add(f, -1)
	if of >= 0 {
		s.Running[of] = core.Running{ID: s.ids[of], End: s.Running[of].End}
	}
}

// tooMuchHeld adds what a running job holds, unless some node would have more than it has in all.
func (s *snapshot) tooMuchHeld(in *Input, segs []nodeset.Segment, uses nodeset.Uses) (u nodeset.Use, node int, ok bool) {
	for _, add := range [...]bool{false, true} {
		for _, u := range uses {
			for _, seg := range segs {
				for n := int(seg.First); n <= int(seg.Last); n++ {
					at := u.Row*len(in.Nodes) + n
					amount := u.Of(seg.Cores, seg.GPUs)
					if add {
						s.more.held[at] += amount
					} else if a := &in.Amounts[at]; amount+s.more.held[at]+int64(a.Free) > int64(a.Total) {
						return u, n, true
					}
				}
			}
		}
	}
	return nodeset.Use{}, 0, false
}

// loadJobUses says what jobs use of further resources.
func (s *snapshot) loadJobUses(in *Input) {
	s.eachUses(in, "job_uses", in.JobUses, len(in.Jobs), s.leaveOutUser,
		func(of int, uses nodeset.Uses) {
			if !s.faulty[of] {
				s.jobs[of].Uses = uses
			}
		})
}

// leaveOutUser has job of, if it is there, not take part for a fault of its uses.
func (s *snapshot) leaveOutUser(f flaw, of int) {
	if of < 0 {
		s.faults.add(f, -1)
	} else if !s.faulty[of] {
		s.leaveOut(f, of)
	}
}

// loadAlternativeUses says what alternatives use of further resources. at says of each alternative
// of the input where its request is.
func (s *snapshot) loadAlternativeUses(in *Input) {
	s.eachUses(in, "alternative_uses", in.AlternativeUses, len(in.Alternatives),
		func(f flaw, of int) { s.leaveOutUser(f, s.jobOfAlternative(in, of)) },
		func(of int, uses nodeset.Uses) {
			if at := s.otherAt[of]; at >= 0 {
				s.others[at].Uses = uses
			}
		})
}

// jobOfAlternative is the job of alternative i of the input, -1 if there is none, as where i is below 0.
func (s *snapshot) jobOfAlternative(in *Input, i int) int {
	if i >= 0 && uint64(in.Alternatives[i].Job) < uint64(len(in.Jobs)) {
		return int(in.Alternatives[i].Job)
	}
	return -1
}
