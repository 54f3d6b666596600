// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/nodeset"
)

// newClusterJob is the job of a spec, without masks. It shares no memory with the spec.
func newClusterJob(spec *JobSpec) (*clusterJob, error) {
	if err := checkID(spec.ID); err != nil {
		return nil, err
	}
	if f := spec.timeFault(); f != nil {
		return nil, &JobError{Job: -1, ID: spec.ID, Fault: f}
	}
	for prefix, w := range spec.ways() {
		if f := cmp.Or(takesFault(prefix+"uses", &w.Request, w.Takes), countsFault(prefix+"charges", &w.Request, w.Counts)); f != nil {
			return nil, &JobError{Job: -1, ID: spec.ID, Fault: f}
		}
	}
	if f := priceFault(spec.Price, spec.Class); f != nil {
		return nil, &JobError{Job: -1, ID: spec.ID, Fault: f}
	}
	if f := spec.askGPUShares(); f != nil {
		return nil, &JobError{Job: -1, ID: spec.ID, Fault: f}
	}
	job := &Job{ID: spec.ID, Request: openEnds(spec.Request),
		Priority: spec.Priority, TimeLimit: seconds(spec.TimeLimit), Preempts: spec.Preempts}
	c := &clusterJob{id: spec.ID, job: job, price: spec.Price, class: spec.Class,
		on: [][]string{slices.Clone(spec.On)}, prefer: slices.Clone(spec.Prefer)}
	for _, w := range spec.Alternatives {
		job.Alternatives = append(job.Alternatives, openEnds(w.Request))
		c.on = append(c.on, slices.Clone(w.On))
	}
	if err := c.addComponents(spec); err != nil {
		return nil, err
	}
	if f := job.fault(MaxPriority); f != nil {
		return nil, &JobError{Job: -1, ID: spec.ID, Fault: f}
	}
	spec.anyNumbers(job)
	var fault *bids.FieldError
	if err := job.Validate(); errors.As(err, &fault) {
		return nil, &JobError{Job: -1, ID: spec.ID, Fault: fault}
	}
	return c, c.checkNames()
}

// ways are the job as it is liked best, its alternatives and its components, and with what the names
// of their fields begin.
func (s *JobSpec) ways() iter.Seq2[string, Way] {
	return func(yield func(string, Way) bool) {
		if !yield("", Way{Request: s.Request, Takes: s.Takes, GPUShare: s.GPUShare, Counts: s.Counts}) {
			return
		}
		for k := range s.Alternatives {
			if !yield(fmt.Sprintf("alternatives[%d].", k), s.Alternatives[k]) {
				return
			}
		}
		for k := range s.Components {
			if !yield(fmt.Sprintf("components[%d].", k), s.Components[k]) {
				return
			}
		}
	}
}

// number gives a new job the numbers of the resources and quotas that it names.
func (c *Cluster) number(job *clusterJob, spec *JobSpec) (err error) {
	requests := []*bids.Request{&job.job.Request}
	for k := range job.job.Alternatives {
		requests = append(requests, &job.job.Alternatives[k])
	}
	for k := range job.job.Components {
		requests = append(requests, &job.job.Components[k])
	}
	for prefix, w := range spec.ways() {
		r := requests[0]
		requests = requests[1:]
		if r.Uses, err = c.machine.numbered(job.id, prefix+"uses", w.Takes, w.GPUShare); err != nil {
			return err
		}
		if r.Charges, err = c.quotas.numbered(job.id, prefix+"charges", w.Counts); err != nil {
			return err
		}
	}
	return nil
}

// anyNumbers has the parts of a job that take no core use what the spec names, of which the numbers
// are not known yet: they may ask for nothing else.
func (s *JobSpec) anyNumbers(job *Job) {
	for k := range job.Parts() {
		takes := s.Takes
		if k > 0 {
			takes = s.Components[k-1].Takes
		}
		if r := job.Part(k); r.Cores == 0 && r.TasksPerNode == 0 {
			uses := format.Uses(takes)
			if k == 0 {
				uses = uses.WithGPUShare(s.GPUShare)
			}
			r.Uses = uses.AnyNumbers()
		}
	}
}

// timeFault is what is wrong with the time limit, or nil.
func (s *JobSpec) timeFault() *bids.FieldError {
	if s.TimeLimit > 0 && s.TimeLimit <= NoTimeLimit*time.Second {
		return nil
	}
	return &bids.FieldError{Field: "time_limit_s", Value: s.TimeLimit,
		Why: "must be more than 0; NoTimeLimit * time.Second stands for none"}
}

// checkNames reports a mask, or a list of nodes that has none.
func (c *clusterJob) checkNames() error {
	for k, on := range c.on {
		r, field := &c.job.Request, "eligible"
		if part := k - 1 - len(c.job.Alternatives); part >= 0 {
			r, field = &c.job.Components[part], fmt.Sprintf("components[%d].eligible", part)
		} else if k > 0 {
			r, field = &c.job.Alternatives[k-1], fmt.Sprintf("alternatives[%d].eligible", k-1)
		}
		if r.Eligible != nil {
			return jobFault(c.id, field, "a mask", "nodes of a Cluster have no numbers: name them", nil)
		}
		if on != nil && len(on) == 0 {
			return jobFault(c.id, field, "no node", "give nodes, or nil for all", nil)
		}
	}
	return nil
}

// checkID admits what a window file can hold.
func checkID(id string) error {
	if id == "" || !utf8.ValidString(id) {
		return jobFault(id, "id", id, "must be UTF-8, and not empty", nil)
	}
	return nil
}

// openEnds is a valid request whose ranges have both ends, as in a window file, and which asks for
// the same.
func openEnds(r bids.Request) bids.Request {
	switch {
	case r.MinNodes == 0 || r.MaxNodes != 0:
	case r.Cores == 0: // for the fewest
		r.MaxNodes = r.MinNodes
	default: // a node gives a core at least
		r.MaxNodes = max(r.MinNodes, min(r.Cores, nodeset.MaxNodes))
	}
	if r.MaxGPUs == 0 {
		r.MaxGPUs = r.MinGPUs
	}
	return r
}
