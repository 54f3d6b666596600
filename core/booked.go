// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// maxBooked is how many reservations there are at most.
const maxBooked = 63

// booked are the reservations of a snapshot, as what they leave of the nodes that a request may
// use. No other reservation has the node while the job runs. A job of a reservation gets nodes of
// it while it is open.
type booked struct {
	claims []Claim        // those that are not over
	nodes  []nodeset.Mask // of each
	off    uint64         // of these, by number: as if they were not there
	all    int            // nodes of the machine
	masks  place.Pool[bookedKey, nodeset.Mask]
	keys   map[*nodeset.Mask]bookedKey
}

// bookedKey is what is left of a mask.
type bookedKey struct {
	mask *nodeset.Mask // nil: all nodes
	own  int           // one more than the number of the job's reservation; 0: it is of none
	not  uint64        // those whose nodes it may not use, by number; closed: none at all
}

const closed = ^uint64(0)

func (b *booked) reset(s *Snapshot) {
	b.claims, b.all, b.off = b.claims[:0], s.Nodes.Len(), 0
	for _, c := range s.Claims {
		if c.Reservation != "" && c.Until > s.Now {
			b.claims = append(b.claims, c)
		}
	}
	if len(b.claims) == 0 {
		return
	}
	if b.keys == nil {
		b.keys = make(map[*nodeset.Mask]bookedKey)
	}
	b.masks.Reset()
	clear(b.keys)
	b.nodes = b.nodes[:0]
	for i := range b.claims {
		b.nodes = append(b.nodes, maskUnder(b.claims[i].Segs, b.all))
	}
}

// of is what a job of that reservation may use of a mask at all; ok says that there is such a one.
func (b *booked) of(mask *nodeset.Mask, name string) (of *nodeset.Mask, ok bool) {
	if name == "" {
		return mask, true
	}
	own := 1 + slices.IndexFunc(b.claims, func(c Claim) bool { return c.Reservation == name })
	if own == 0 {
		return mask, false
	}
	return b.left(bookedKey{mask: mask, own: own}), true
}

// key is what a mask is left of.
func (b *booked) key(mask *nodeset.Mask) bookedKey {
	if k, ok := b.keys[mask]; ok && len(b.claims) > 0 {
		return k
	}
	return bookedKey{mask: mask}
}

// at is what is left of a mask, which may be left of another, to a start in second t for so long.
func (b *booked) at(mask *nodeset.Mask, t, limit int64) *nodeset.Mask {
	if len(b.claims) == 0 {
		return mask
	}
	k := b.key(mask)
	k.not = 0
	for i := range b.claims {
		c, own := &b.claims[i], k.own == i+1
		switch {
		case b.off>>i&1 == 1:
		case own && (t < c.From || t >= c.Until):
			k.not = closed
			return b.left(k)
		case !own && c.From < t+limit && t < c.Until:
			k.not |= 1 << i
		}
	}
	return b.left(k)
}

// left is the mask of a key.
func (b *booked) left(k bookedKey) *nodeset.Mask {
	if k.own == 0 && k.not == 0 {
		return k.mask
	}
	m, isNew := b.masks.Of(k)
	if !isNew {
		return m
	}
	*m = append((*m)[:0], b.nodes[0]...)
	for w := range *m {
		word := uint64(0)
		if k.not != closed {
			word = (&place.Spec{Eligible: k.mask}).Mask().Word(w)
			for i := range b.nodes {
				switch {
				case k.own == i+1:
					word &= b.nodes[i].Word(w)
				case k.not>>i&1 == 1:
					word &^= b.nodes[i].Word(w)
				}
			}
		}
		(*m)[w] = word
	}
	if tail := b.all & 63; tail > 0 {
		(*m)[len(*m)-1] &= 1<<tail - 1
	}
	b.keys[m] = k
	return m
}

// narrow has a request use what is left to a start in second t for so long. Its parts it puts into parts.
func (b *booked) narrow(spec *place.Spec, parts *place.Parts, t, limit int64) {
	switch {
	case len(b.claims) == 0:
	case spec.Parts == nil:
		spec.Eligible = b.at(spec.Eligible, t, limit)
	default:
		specs := append(parts.Specs[:0], spec.Parts.Specs...)
		for k := range specs {
			specs[k].Eligible = b.at(specs[k].Eligible, t, limit)
		}
		*parts = *spec.Parts
		parts.Specs, spec.Parts = specs, parts
	}
}

// next is the first second after t at which a reservation begins or is over, if that is before at or ok is
// false.
func (b *booked) next(t, at int64, ok bool) (int64, bool) {
	for i := range b.claims {
		for _, moment := range [...]int64{b.claims[i].From, b.claims[i].Until} {
			if moment > t && (!ok || moment < at) {
				at, ok = moment, true
			}
		}
	}
	return at, ok
}

// barred says which reservation an allocation for a job that starts now is not within, or runs into. It
// knows of nothing but the claims.
func barred(claims []Claim, now int64, job *Job, segs []nodeset.Segment) error {
	open := job.Reservation == ""
	for i := range claims {
		switch c := &claims[i]; {
		case c.Reservation == "" || now >= c.Until:
		case c.Reservation == job.Reservation:
			if open = true; now < c.From || inBoth(segs, c.Segs) < nodeset.Nodes(segs) {
				return fmt.Errorf("it is not within reservation %s", c.Reservation)
			}
		case c.From < now+job.TimeLimit && inBoth(segs, c.Segs) > 0:
			return fmt.Errorf("it runs into reservation %s", c.Reservation)
		}
	}
	if !open {
		return fmt.Errorf("there is no reservation %s", job.Reservation)
	}
	return nil
}

// inBoth is how many nodes of a are in b, with one that is there for two parts twice. b has each once.
func inBoth(a, b []nodeset.Segment) (n int) {
	for _, x := range a {
		for _, y := range b {
			n += max(0, int(min(x.Last, y.Last)-max(x.First, y.First))+1)
		}
	}
	return n
}

// maskUnder has the nodes of an allocation.
func maskUnder(segs []nodeset.Segment, nodes int) nodeset.Mask {
	m := nodeset.NewMask(nodes)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			m.Set(int(n))
		}
	}
	return m
}
