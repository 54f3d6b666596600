// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/nodeset"
)

// newJob is the job of a spec, which it keeps except for its On, in the place of old if that is not
// nil. All names have to be known.
func (c *Cluster) newJob(spec *JobSpec, old *clusterJob) (*clusterJob, error) {
	job := &Job{ID: spec.ID, Priority: spec.Priority, TimeLimit: seconds(spec.TimeLimit), Since: c.secondOf(spec.Since),
		Preempts: spec.Preempts, Reservation: spec.Reservation}
	own := Way{Request: spec.Request, Components: spec.Components}
	job.Request = own.request()
	for k := range spec.Alternatives {
		job.Alternatives = append(job.Alternatives, spec.Alternatives[k].request())
	}
	if f := spec.fault(job); f != nil {
		return nil, &Error{Of: "job", Name: spec.ID, Job: -1, Fault: f}
	}
	x := &clusterJob{id: spec.ID, spec: *spec, job: job, price: spec.Price, class: spec.Class}
	err := spec.eachWay(job, func(prefix string, _ int, w *Way, r *bids.Request) (err error) {
		on, err := c.machine.list(spec.ID, prefix+"eligible", w.On, old)
		if err != nil {
			return err
		}
		if x.on = append(x.on, on); on != nil {
			w.On = on.names
		}
		if w.GPUShare > 0 {
			if err := c.knowGPUShares(); err != nil {
				return jobFault(spec.ID, prefix+format.GPUShare, w.GPUShare, err.Error(), nil)
			}
		}
		if r.Uses, err = c.machine.numbered(spec.ID, prefix+"uses", w.Takes, w.GPUShare, w.Exclusive); err != nil {
			return err
		}
		r.Charges, err = c.quotas.numbered(spec.ID, prefix+"charges", w.Counts)
		return err
	})
	if err != nil {
		return nil, err
	}
	if x.prefer, err = c.machine.list(spec.ID, "prefer", spec.Prefer, old); err != nil {
		return nil, err
	}
	if x.on[0] != nil {
		x.spec.On = x.on[0].names
	}
	x.name()
	return x, nil
}

// fault is what is wrong with a spec by itself, or nil. job is what it asks for, with numbers for
// names that are not its own, and with what a share of a GPU says of nodes.
func (s *JobSpec) fault(job *Job) *bids.FieldError {
	if f := s.timeFault(); f != nil {
		return f
	}
	var fault *bids.FieldError
	_ = s.eachWay(job, func(prefix string, part int, w *Way, r *bids.Request) error {
		if fault = w.fault(part, r); fault != nil {
			fault.Field = prefix + fault.Field
			return fault
		}
		return nil
	})
	if fault != nil {
		return fault
	}
	if f := priceFault(s.Price, s.Class); f != nil {
		return f
	}
	if f := job.fault(MaxPriority); f != nil {
		return f
	}
	errors.As(job.Validate(), &fault)
	return fault
}

// timeFault is what is wrong with the time limit, or nil.
func (s *JobSpec) timeFault() *bids.FieldError {
	if s.TimeLimit > 0 && s.TimeLimit <= NoTimeLimit*time.Second {
		return nil
	}
	return &bids.FieldError{Field: "time_limit_s", Value: s.TimeLimit,
		Why: "must be more than 0; none: NoTimeLimit, in seconds"}
}

// fault is what is wrong with what a way names, or nil. A request that takes no core has something
// to take then, whose number is not known yet.
func (w *Way) fault(part int, r *bids.Request) *bids.FieldError {
	switch {
	case w.Request.Eligible != nil:
		return &bids.FieldError{Field: "eligible", Value: "a mask", Why: "nodes of a Cluster have no numbers: name them"}
	case w.Request.Components != nil:
		return &bids.FieldError{Field: "components", Value: len(w.Request.Components),
			Why: "give those of the JobSpec or Way, which name nodes"}
	case part > 0 && w.GPUShare != 0:
		return &bids.FieldError{Field: format.GPUShare, Value: w.GPUShare, Why: "jobs of several components have whole GPUs only"}
	}
	if f := takesFault("uses", &w.Request, w.Takes); f != nil {
		return f
	}
	if f := countsFault("charges", &w.Request, w.Counts); f != nil {
		return f
	}
	if f := format.AskGPUShare(r, w.GPUShare); f != nil {
		return f
	}
	if r.Cores == 0 && r.TasksPerNode == 0 {
		r.Uses = format.Uses(w.Takes).With(format.GPUShare, w.GPUShare).AnyNumbers()
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

// plainID admits what does nothing to a terminal.
func plainID(id string) error {
	if strings.ContainsFunc(id, unicode.IsControl) {
		return jobFault(id, "id", fmt.Sprintf("%.80q", id), "must be without control characters", nil)
	}
	return nil
}

// exclusive reports whether a job, or a part of it, is to be alone on nodes.
func (s *JobSpec) exclusive() bool {
	found := s.Exclusive
	for _, w := range slices.Concat(s.Components, s.Alternatives) {
		found = found || w.Exclusive || slices.ContainsFunc(w.Components, func(p Way) bool { return p.Exclusive })
	}
	return found
}

// knowExclusive has all jobs take a little of each of their nodes, so that one can take all.
func (c *Cluster) knowExclusive() error {
	m := &c.machine
	if _, known := m.resource(format.Exclusive); known {
		return nil
	}
	if err := c.addResources(map[string]int64{format.Exclusive: 0}); err != nil {
		return err
	}
	row, _ := m.resource(format.Exclusive)
	for n := range m.names {
		m.more[row].total[n] = nodeset.MaxAmount
	}
	for _, job := range c.running {
		job.uses = append(slices.Clone(job.uses), nodeset.Use{Row: row, PerNode: 1})
	}
	for i, old := range c.queue { // a cycle may be deciding on the old ones
		job, err := c.newJob(&old.spec, old)
		must(err)
		job.serial, job.told = old.serial, old.told
		c.queue[i], c.pending[i], c.jobs[job.id] = job, job.job, job
	}
	return nil
}

// numbered is what a job takes, and its share of a GPU, by number. field is that of an error.
func (m *machine) numbered(id, field string, takes map[string]nodeset.Use, share int64, alone bool) (nodeset.Uses, error) {
	all := format.Uses(takes).With(format.GPUShare, share)
	if _, known := m.resource(format.Exclusive); known {
		little := int64(1)
		if alone {
			little = nodeset.MaxAmount
		}
		all = all.With(format.Exclusive, little)
	}
	numbers, unknown := all.Numbered(m.resource)
	if unknown == "" {
		return numbers, nil
	}
	var names []string
	for _, x := range m.more {
		names = append(names, x.name)
	}
	return nil, jobFault(id, field, unknown, "there is no such resource"+input.Hint(unknown, names), ErrUnknown)
}

// mostTaken is the most of a resource that a job takes.
var mostTaken = nodeset.Use{PerNode: nodeset.MaxAmount, PerCore: nodeset.MaxAmount, PerGPU: nodeset.MaxAmount}

// notNamed are resources of which jobs take by fields of their own.
var notNamed = map[string]string{format.GPUShare: "a share of a GPU", format.Exclusive: "exclusive nodes"}

// takesFault is what is wrong with what a request takes, or nil.
func takesFault(field string, r *bids.Request, takes map[string]nodeset.Use) *bids.FieldError {
	if r.Uses != nil {
		return &bids.FieldError{Field: field, Value: "numbers", Why: "resources of a Cluster have no numbers: name them"}
	}
	for _, name := range slices.Sorted(maps.Keys(takes)) {
		t := takes[name]
		if what := notNamed[name]; what != "" {
			return &bids.FieldError{Field: field, Value: name, Why: "is no further resource: ask for " + what}
		}
		if f := useFault(field+"."+name, t, mostTaken); f != nil {
			return f
		}
		if t.PerCore > 0 && t.PerGPU > 0 && r.MaxGPUs > r.MinGPUs && r.Cores+r.TasksPerNode > 0 {
			return &bids.FieldError{Field: field + "." + name, Value: t.PerGPU,
				Why: "used by core and by GPU, and the number of GPUs is a range"}
		}
	}
	return nil
}

// list is the list of these names, which stay the caller's; nil for nil. All have to be there, except for
// those that old names already. field is that of an error.
func (m *machine) list(id, field string, names []string, old *clusterJob) (*nodeList, error) {
	if names == nil {
		return nil, nil
	}
	if len(names) > 0 { // callers that have the same list in the same memory are served faster
		if l := m.byFirst[&names[0]]; l != nil && slices.Equal(l.names, names) {
			return l, nil
		}
	}
	for _, name := range names {
		if _, ok := m.index[name]; !ok && !old.names(name) {
			return nil, jobFault(id, field, name, "there is no such node", ErrUnknown)
		}
	}
	key := strings.Join(names, ",")
	l := m.lists[key]
	if l == nil {
		l = &nodeList{names: slices.Clone(names), mask: m.mask(names)}
		m.lists[key] = l
		if len(names) > 0 {
			m.byFirst[&names[0]] = l
		}
	}
	return l, nil
}

// names reports whether a job, which may be nil, names a node.
func (c *clusterJob) names(node string) bool {
	return c != nil && slices.ContainsFunc(append(c.on, c.prefer), func(l *nodeList) bool {
		return l != nil && slices.Contains(l.names, node)
	})
}

// name has a job use masks of its lists as they are now. A cycle may read the old job meanwhile.
func (c *clusterJob) name() {
	if c.prefer == nil && !slices.ContainsFunc(c.on, func(l *nodeList) bool { return l != nil }) {
		return
	}
	job := *c.job
	job.Components, job.Alternatives = slices.Clone(job.Components), slices.Clone(job.Alternatives)
	for k := range job.Alternatives {
		job.Alternatives[k].Components = slices.Clone(job.Alternatives[k].Components)
	}
	next := 0
	_ = c.spec.eachWay(&job, func(_ string, _ int, _ *Way, r *bids.Request) error {
		if r.Eligible = nil; c.on[next] != nil {
			r.Eligible = c.on[next].mask
		}
		next++
		return nil
	})
	if job.Prefer = nil; c.prefer != nil && c.prefer.mask.Count() > 0 { // as a window says it
		job.Prefer = c.prefer.mask
	}
	c.job = &job
}

// eligible are the nodes that the job names first; nil: all.
func (c *clusterJob) eligible() nodeset.Mask {
	if len(c.on) == 0 || c.on[0] == nil {
		return nil
	}
	return c.on[0].mask
}

// nameQueue gives jobs of the queue masks of the nodes of now, if those have changed.
func (c *Cluster) nameQueue() {
	m := &c.machine
	if len(m.lists) > 2*len(c.jobs)+64 { // there are lists of jobs that are gone
		m.forgetLists(c.jobs)
	}
	if !m.unnamed {
		return
	}
	for _, l := range m.lists {
		l.mask = m.mask(l.names)
	}
	for i, job := range c.queue {
		job.name()
		c.pending[i] = job.job
	}
	m.unnamed = false
}

// mask are the nodes of these names that are there.
func (m *machine) mask(names []string) nodeset.Mask {
	mask := nodeset.NewMask(len(m.names))
	for _, name := range names {
		if n, ok := m.index[name]; ok {
			mask.Set(n)
		}
	}
	return mask
}

// forgetLists forgets the lists that none of the jobs has.
func (m *machine) forgetLists(jobs map[string]*clusterJob) {
	used := make(map[*nodeList]bool)
	for _, job := range jobs {
		for _, l := range append(job.on, job.prefer) {
			used[l] = true
		}
	}
	maps.DeleteFunc(m.lists, func(_ string, l *nodeList) bool { return !used[l] })
	maps.DeleteFunc(m.byFirst, func(_ *string, l *nodeList) bool { return !used[l] })
}
