// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"
	"strings"

	"github.com/aucsched/aucsched/nodeset"
)

// nameQueue gives jobs of the queue masks of the nodes of now, if those have changed.
func (m *machine) nameQueue(queue []*clusterJob) {
	if !m.unnamed && len(m.masks) <= 2*len(queue)+64 {
		return
	}
	clear(m.masks) // names of jobs that are gone, too
	for _, job := range queue {
		m.name(job)
	}
	m.unnamed = false
}

// name gives a job masks of the nodes that it names. A cycle may read the old ones meanwhile.
func (m *machine) name(c *clusterJob) {
	if !c.namesNodes() {
		return
	}
	job := *c.job
	job.Alternatives = slices.Clone(job.Alternatives)
	job.Eligible, job.Prefer = m.mask(c.on[0]), m.mask(c.prefer)
	if job.Prefer.Count() == 0 { // as a window says it
		job.Prefer = nil
	}
	for k := range job.Alternatives {
		job.Alternatives[k].Eligible = m.mask(c.on[1+k])
	}
	job.Components = slices.Clone(job.Components)
	for k := range job.Components {
		job.Components[k].Eligible = m.mask(c.on[1+len(job.Alternatives)+k])
	}
	c.job = &job
}

func (c *clusterJob) namesNodes() bool {
	return c.prefer != nil || slices.ContainsFunc(c.on, func(on []string) bool { return on != nil })
}

// mask are the nodes of these names that are there. Equal lists have one mask, by which policies
// see that jobs are alike. No name is a mask of none, nil is nil.
func (m *machine) mask(names []string) nodeset.Mask {
	if names == nil {
		return nil
	}
	key := strings.Join(names, ",")
	if known, ok := m.masks[key]; ok {
		return known
	}
	mask := nodeset.NewMask(len(m.names))
	for _, name := range names {
		if n, ok := m.index[name]; ok {
			mask.Set(n)
		}
	}
	m.masks[key] = mask
	return mask
}
