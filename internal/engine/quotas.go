// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"strconv"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// loadQuotas takes what is left of quotas, and makes room for all charges of an input in one piece,
// as jobs keep parts of it.
func (s *snapshot) loadQuotas(in *Input) error {
	if len(in.Quotas) > MaxQuotas {
		return whole("quotas", len(in.Quotas), "there must be at most %d", MaxQuotas)
	}
	q := &s.quotas
	for len(q.names) < len(in.Quotas) {
		q.names = append(q.names, strconv.Itoa(len(q.names)))
	}
	s.Quotas = s.Quotas[:0]
	for i, left := range in.Quotas {
		if left > bids.MaxRate {
			return whole("quotas", left, "element %d must be at most %d", i, int64(bids.MaxRate))
		}
		s.Quotas = append(s.Quotas, core.Quota{Name: q.names[i], Left: int64(left)})
	}
	most := MaxJobs * maxCharges
	for _, a := range [...]struct {
		name    string
		charges []Charge
	}{{"running_charges", in.RunningCharges}, {"job_charges", in.JobCharges}, {"alternative_charges", in.AlternativeCharges}} {
		if len(a.charges) > most {
			return whole(a.name, len(a.charges), "there must be at most %d", most)
		}
	}
	q.charges = q.charges[:0]
	if n := len(in.RunningCharges) + len(in.JobCharges) + len(in.AlternativeCharges); cap(q.charges) < n {
		q.charges = make(nodeset.Uses, 0, n)
	}
	return nil
}

// maxCharges is how many charges an array may have for each of as many jobs as there may be.
const maxCharges = 64

// chargeFault is what is wrong with charge i of array; its array is "" if nothing is.
func chargeFault(in *Input, array string, charges []Charge, i, elements int) flaw {
	c := &charges[i]
	switch {
	case uint64(c.Of) >= uint64(elements):
		return flawed(array, i, "of", c.Of, "there are %d", uint64(elements))
	case i > 0 && c.Of < charges[i-1].Of:
		return flawed(array, i, "of", c.Of, "must be at least %d, that of the one before it", uint64(charges[i-1].Of))
	case uint64(c.Quota) >= uint64(len(in.Quotas)):
		return flawed(array, i, "quota", c.Quota, "there are %d", uint64(len(in.Quotas)))
	case i > 0 && c.Of == charges[i-1].Of && c.Quota <= charges[i-1].Quota:
		return flawed(array, i, "quota", c.Quota, "must be above %d, that of the one before it", uint64(charges[i-1].Quota))
	}
	for _, x := range [...]struct {
		field string
		rate  uint64
	}{{"per_job", c.PerJob}, {"per_node", c.PerNode}, {"per_core", c.PerCore}, {"per_gpu", c.PerGPU}} {
		if x.rate > bids.MaxRate {
			return flawed(array, i, x.field, x.rate, "must be at most %d", bids.MaxRate)
		}
	}
	return flaw{}
}

// eachCharges visits the charges of one element of array after the other, in memory of s. A fault
// is told with the element that it is about, -1 if that is not there.
func (s *snapshot) eachCharges(in *Input, array string, charges []Charge, elements int,
	bad func(f flaw, of int), good func(of int, charges nodeset.Uses)) {
	own := &s.quotas.charges
	for i := 0; i < len(charges); {
		of, from := charges[i].Of, len(*own)
		var fault flaw
		for ; i < len(charges) && charges[i].Of == of; i++ {
			c := &charges[i]
			if fault.array == "" {
				fault = chargeFault(in, array, charges, i, elements)
			}
			*own = append(*own, nodeset.Use{Row: int(c.Quota), PerJob: int64(c.PerJob),
				PerNode: int64(c.PerNode), PerCore: int64(c.PerCore), PerGPU: int64(c.PerGPU)})
		}
		switch {
		case fault.array == "":
			good(int(of), (*own)[from:len(*own):len(*own)])
		case uint64(of) >= uint64(elements):
			bad(fault, -1)
		default:
			bad(fault, int(of))
		}
	}
}

// loadRunningCharges says what comes back of quotas when running jobs end. Of one with a fault
// nothing does.
func (s *snapshot) loadRunningCharges(in *Input) {
	s.eachCharges(in, "running_charges", in.RunningCharges, len(in.Running),
		func(f flaw, _ int) { s.faults.add(f, -1) },
		func(of int, charges nodeset.Uses) { s.Running[of].Charges = charges })
}

// loadJobCharges says what jobs count against quotas.
func (s *snapshot) loadJobCharges(in *Input) {
	s.eachCharges(in, "job_charges", in.JobCharges, len(in.Jobs), s.leaveOutUser,
		func(of int, charges nodeset.Uses) {
			if !s.faulty[of] {
				s.jobs[of].Charges = charges
			}
		})
}

// loadAlternativeCharges says what alternatives count.
func (s *snapshot) loadAlternativeCharges(in *Input) {
	s.eachCharges(in, "alternative_charges", in.AlternativeCharges, len(in.Alternatives),
		func(f flaw, of int) { s.leaveOutUser(f, s.jobOfAlternative(in, of)) },
		func(of int, charges nodeset.Uses) {
			if at := s.otherAt[of]; at >= 0 {
				s.others[at].Charges = charges
			}
		})
}
