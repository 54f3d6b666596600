// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
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

// counted is an element of an array that says what elements of another take of rows.
type counted interface {
	Use | Charge
	row() row
}

// row is how much an element takes of a further resource, or counts against a quota.
type row struct {
	of, row  uint32
	reserved uint16
	amounts  [4]uint64 // as amountNames
}

var amountNames = [4]string{"per_job", "per_node", "per_core", "per_gpu"}

func (u Use) row() row {
	return row{u.Of, uint32(u.Resource), u.Reserved, [4]uint64{0, uint64(u.PerNode), uint64(u.PerCore), uint64(u.PerGPU)}}
}

func (c Charge) row() row {
	return row{c.Of, c.Quota, 0, [4]uint64{c.PerJob, c.PerNode, c.PerCore, c.PerGPU}}
}

// rowKind is what rows have in common: the name of their number, how many there are, and the most of
// each amount.
type rowKind struct {
	field string
	count int
	most  uint64
}

func resourcesOf(in *Input) rowKind { return rowKind{"resource", in.Resources, nodeset.MaxAmount} }

func quotasOf(in *Input) rowKind { return rowKind{"quota", len(in.Quotas), bids.MaxRate} }

// fault is what is wrong with x, element i of array, behind last; its array is "" if nothing is.
func (k *rowKind) fault(array string, i int, x, last *row, elements int) flaw {
	switch {
	case uint64(x.of) >= uint64(elements):
		return flawed(array, i, "of", x.of, "there are %d", uint64(elements))
	case i > 0 && x.of < last.of:
		return flawed(array, i, "of", x.of, "must be at least %d, that of the one before it", uint64(last.of))
	case uint64(x.row) >= uint64(k.count):
		return flawed(array, i, k.field, x.row, "there are %d", uint64(k.count))
	case i > 0 && x.of == last.of && x.row <= last.row:
		return flawed(array, i, k.field, x.row, "must be above %d, that of the one before it", uint64(last.row))
	case x.reserved != 0:
		return flawed(array, i, "reserved", x.reserved, "must be 0")
	}
	for n, amount := range x.amounts {
		if amount > k.most {
			return flawed(array, i, amountNames[n], amount, "must be at most %d", k.most)
		}
	}
	return flaw{}
}

// eachRows visits what one element after the other takes, as array has it, in memory of s. A fault is
// told with the element that it is about, -1 if that is not there.
func eachRows[T counted](s *snapshot, k rowKind, array string, list []T, elements int,
	bad func(f flaw, of int), good func(of int, uses nodeset.Uses)) {
	var last row
	for i := 0; i < len(list); {
		x, from, fault := list[i].row(), len(s.uses), flaw{}
		of := x.of
		for x.of == of {
			if fault.array == "" {
				fault = k.fault(array, i, &x, &last, elements)
			}
			s.uses = append(s.uses, nodeset.Use{Row: int(x.row), PerJob: int64(x.amounts[0]),
				PerNode: int64(x.amounts[1]), PerCore: int64(x.amounts[2]), PerGPU: int64(x.amounts[3])})
			last = x
			if i++; i == len(list) {
				break
			}
			x = list[i].row()
		}
		switch {
		case fault.array == "":
			good(int(of), s.uses[from:len(s.uses):len(s.uses)])
		case uint64(of) >= uint64(elements):
			bad(fault, -1)
		default:
			bad(fault, int(of))
		}
	}
}

// maxRows is how many uses or charges an array may have for each of as many jobs as there may be.
const maxRows = 64

// resetUses makes room for all uses and charges of an input in one piece, as jobs keep parts of it.
func (s *snapshot) resetUses(in *Input) error {
	all := 0
	for _, a := range [...]struct {
		name  string
		count int
	}{
		{"running_uses", len(in.RunningUses)}, {"job_uses", len(in.JobUses)}, {"alternative_uses", len(in.AlternativeUses)},
		{"running_charges", len(in.RunningCharges)}, {"job_charges", len(in.JobCharges)},
		{"alternative_charges", len(in.AlternativeCharges)},
	} {
		if a.count > MaxJobs*maxRows {
			return whole(a.name, a.count, "there must be at most %d", MaxJobs*maxRows)
		}
		all += a.count
	}
	if s.uses = s.uses[:0]; cap(s.uses) < all {
		s.uses = make(nodeset.Uses, 0, all)
	}
	return nil
}

// loadQuotas takes what is left of quotas.
func (s *snapshot) loadQuotas(in *Input) error {
	if len(in.Quotas) > MaxQuotas {
		return whole("quotas", len(in.Quotas), "there must be at most %d", MaxQuotas)
	}
	s.growIDs(len(in.Quotas))
	s.Quotas = s.Quotas[:0]
	for i, left := range in.Quotas {
		if left > bids.MaxRate {
			return whole("quotas", left, "element %d must be at most %d", i, int64(bids.MaxRate))
		}
		s.Quotas = append(s.Quotas, core.Quota{Name: s.ids[i], Left: int64(left)})
	}
	return nil
}

// loadRunningUses says what running jobs hold of further resources. What a job can't hold, for
// what is free and what others hold, it gives back never: it then holds nothing that comes free.
func (s *snapshot) loadRunningUses(in *Input) {
	s.more.held = append(s.more.held[:0], make([]int64, len(in.Amounts))...)
	eachRows(s, resourcesOf(in), "running_uses", in.RunningUses, len(in.Running),
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

// leaveOutUser has job of, if it is there, not take part for a fault of its uses.
func (s *snapshot) leaveOutUser(f flaw, of int) {
	if of < 0 {
		s.faults.add(f, -1)
	} else if !s.faulty[of] {
		s.leaveOut(f, of)
	}
}

// loadRunningCharges says what comes back of quotas when running jobs end. Of one with a fault
// nothing does.
func (s *snapshot) loadRunningCharges(in *Input) {
	eachRows(s, quotasOf(in), "running_charges", in.RunningCharges, len(in.Running),
		func(f flaw, _ int) { s.faults.add(f, -1) },
		func(of int, charges nodeset.Uses) { s.Running[of].Charges = charges })
}

// loadJobUses says what jobs use of further resources, and count against quotas.
func (s *snapshot) loadJobUses(in *Input) {
	eachRows(s, resourcesOf(in), "job_uses", in.JobUses, len(in.Jobs), s.leaveOutUser,
		func(of int, uses nodeset.Uses) { s.jobs[of].Uses = uses })
	eachRows(s, quotasOf(in), "job_charges", in.JobCharges, len(in.Jobs), s.leaveOutUser,
		func(of int, charges nodeset.Uses) { s.jobs[of].Charges = charges })
}

// loadAlternativeUses says so of alternatives.
func (s *snapshot) loadAlternativeUses(in *Input) {
	bad := func(f flaw, of int) { s.leaveOutUser(f, s.jobOfAlternative(in, of)) }
	eachRows(s, resourcesOf(in), "alternative_uses", in.AlternativeUses, len(in.Alternatives), bad,
		func(of int, uses nodeset.Uses) {
			if at := s.otherAt[of]; at >= 0 {
				s.others[at].Uses = uses
			}
		})
	eachRows(s, quotasOf(in), "alternative_charges", in.AlternativeCharges, len(in.Alternatives), bad,
		func(of int, charges nodeset.Uses) {
			if at := s.otherAt[of]; at >= 0 {
				s.others[at].Charges = charges
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
