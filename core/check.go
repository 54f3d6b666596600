// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// ErrBusy is what Decide returns when another goroutine is in it. The other call goes on
// undisturbed. The Plan of the call is not changed, as both calls may have the same: do not read
// it.
var ErrBusy = cycle.ErrBusy

// Faults of a call.
var (
	errNotNew  = errors.New("the auction was not made by NewAuction")
	errNoPlan  = errors.New("there is no Snapshot, or no Plan to fill")
	errNoNodes = errors.New("the snapshot has no machine: Nodes is nil")
)

// Validate returns the first fault for which Decide rejects the snapshot, such as a quota out of
// range. It is an [*Error] if a job is nil, its priority or time limit is out of range, or an id is
// there twice. So it is if the queue is not sorted by priority. Requests are not checked: a job
// that the machine can never run waits, with Never as its Why.
func (s *Snapshot) Validate() error { return new(checker).check(s) }

// checker checks snapshots. It keeps its memory.
type checker struct {
	ids  map[string]struct{}
	idle nodeset.Table
	held []held // by node
}

// held is what is not free of a node, less what the running jobs hold that were looked at.
type held struct{ cores, gpus int }

func (c *checker) check(s *Snapshot) error {
	switch {
	case s.Nodes == nil:
		return errNoNodes
	case s.sound:
		return nil
	}
	if s.Tiers != nil && len(s.Tiers) != s.Nodes.Len() {
		return fmt.Errorf("tiers: there are %d, for %d nodes", len(s.Tiers), s.Nodes.Len())
	}
	if !s.Pace.valid() {
		return fmt.Errorf("pace: %g s were run, of %g s: must be 0 to %d", s.Pace.Ran, s.Pace.Limits, int64(NoTimeLimit))
	}
	if err := s.quotaFault(); err != nil {
		return err
	}
	if s.Topology != nil && s.Topology.Len() != s.Nodes.Len() {
		return fmt.Errorf("topology: it has %d nodes, the machine %d", s.Topology.Len(), s.Nodes.Len())
	}
	if err := s.runningFault(); err != nil {
		return err
	}
	for i := range s.Claims {
		if c := &s.Claims[i]; c.Reservation != "" && nodeset.CheckSegments(c.Segs, s.Nodes.Len()) != nil {
			return fmt.Errorf("reservation %s: its nodes are not those of the machine, in order", c.Reservation)
		}
	}
	last, before, ascending := int64(MaxPriority), "", true
	for i, job := range s.Pending {
		if job == nil {
			return &Error{Of: "job", Job: i, Fault: &bids.FieldError{Field: "job", Why: "must not be nil"}}
		}
		if f := job.fault(last); f != nil {
			return &Error{Of: "job", Name: job.ID, Job: i, Fault: f}
		}
		last = job.Priority
		id := job.ID // numbers without leading zeros are in their order
		ascending = ascending && (i == 0 || len(before) < len(id) || len(before) == len(id) && before < id)
		before = id
	}
	if ascending { // nothing can be there twice
		return nil
	}
	return c.checkIDs(s.Pending)
}

// runningFault is what is wrong with the numbers of a running job.
func (s *Snapshot) runningFault() error {
	for i := range s.Running {
		r := &s.Running[i]
		if r.Price == 0 && r.Class == 0 && r.Charges == nil { // most of them
			continue
		}
		if f := priceFault(r.Price, r.Class); f != nil {
			return fmt.Errorf("running job %s: %w", r.ID, f)
		}
		if err := r.Charges.CheckRows("quota", len(s.Quotas), place.MostCharged); err != nil {
			return fmt.Errorf("running job %s: charges: %w", r.ID, err)
		}
	}
	return nil
}

// holdings reports a running job that holds what the machine has free, or has not.
func (c *checker) holdings(s *Snapshot) error {
	if c.allHeld(s) {
		return nil // known sooner than what is wrong
	}
	c.idle.CopyFrom(s.Nodes)
	for i := range s.Running {
		r := &s.Running[i]
		if err := c.idle.Release(r.Segs, r.Uses...); err != nil {
			return fmt.Errorf("running job %s: %w", r.ID, err)
		}
	}
	return nil
}

// allHeld reports whether all that running jobs hold is not free, if that is cores and GPUs alone.
func (c *checker) allHeld(s *Snapshot) bool {
	c.held = c.held[:0]
	for n := range s.Nodes.Len() {
		all, free := s.Nodes.Total(n), s.Nodes.Free(n)
		c.held = append(c.held, held{int(all.Cores) - int(free.Cores), int(all.GPUs) - int(free.GPUs)})
	}
	for i := range s.Running {
		r, next := &s.Running[i], int32(0)
		if len(r.Uses) > 0 {
			return false
		}
		for _, seg := range r.Segs {
			if seg.First < next || seg.Last < seg.First || int(seg.Last) >= len(c.held) {
				return false
			}
			for n := seg.First; n <= seg.Last; n++ {
				h := &c.held[n]
				if h.cores, h.gpus = h.cores-int(seg.Cores), h.gpus-int(seg.GPUs); h.cores < 0 || h.gpus < 0 {
					return false
				}
			}
			next = seg.Last + 1
		}
	}
	return true
}

// priceFault is what is wrong with a Running.Price and Class, or nil.
func priceFault(price int64, class int) *bids.FieldError {
	return cmp.Or(outOf("price", price, MaxPriority), outOf("class", int64(class), MaxClass))
}

// fault is what is wrong with the numbers of a job of the queue that comes after one of
// priority last, or nil.
func (j *Job) fault(last int64) *bids.FieldError {
	switch {
	case j.Priority < 1 || j.Priority > MaxPriority:
		return &bids.FieldError{Field: "priority", Value: j.Priority,
			Why: fmt.Sprintf("must be 1 to %d, and has no default", int64(MaxPriority))}
	case j.Priority > last:
		return &bids.FieldError{Field: "priority", Value: j.Priority, Why: fmt.Sprintf("is above %d, that of the job before it", last)}
	}
	return j.limitFault()
}

// checkIDs reports the first id that is there twice.
func (c *checker) checkIDs(jobs []*Job) error {
	if c.ids == nil {
		c.ids = make(map[string]struct{}, len(jobs))
	}
	defer clear(c.ids) // the ids are the caller's
	for i, job := range jobs {
		if c.ids[job.ID] = struct{}{}; len(c.ids) == i {
			f := &bids.FieldError{Field: "id", Value: job.ID, Why: "there are two jobs of this id"}
			return &Error{"job", job.ID, i, f, ErrDuplicate}
		}
	}
	return nil
}

// maxTimeLimit keeps sums of times in range.
const maxTimeLimit = 1 << 50

// limitFault is what is wrong with the job's time limit, or nil.
func (j *Job) limitFault() *bids.FieldError {
	nanoseconds := j.TimeLimit > NoTimeLimit && j.TimeLimit%1e9 == 0 // of a time.Duration
	if j.TimeLimit < 1 || j.TimeLimit > maxTimeLimit || nanoseconds {
		return &bids.FieldError{Field: "time_limit_s", Value: j.TimeLimit,
			Why: fmt.Sprintf("must be 1 to %d seconds, not a time.Duration; NoTimeLimit stands for none", int64(maxTimeLimit))}
	}
	return nil
}
