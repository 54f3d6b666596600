// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Placed is what one component of a job gets: see [Start].
type Placed struct {
	Nodes []Share
	Takes map[string]nodeset.Use
}

// addComponents adds the components of a spec to its job.
func (c *clusterJob) addComponents(spec *JobSpec) error {
	for _, r := range slices.Concat([]Way{{Request: spec.Request}}, spec.Alternatives, spec.Components) {
		if r.Components != nil {
			return jobFault(c.id, "components", len(r.Components), "give those of the JobSpec, which name nodes", nil)
		}
	}
	for _, w := range spec.Components {
		c.job.Components = append(c.job.Components, openEnds(w.Request))
		c.on = append(c.on, slices.Clone(w.On))
	}
	return nil
}

// ofJob is the job that a running component is of, or the job itself.
func (c *clusterJob) ofJob() *clusterJob {
	if c.leader != nil {
		return c.leader
	}
	return c
}

// component is a running component of job, the k-th behind its own request.
func (c *clusterJob) component(k int, held []nodeset.Segment, uses nodeset.Uses) *clusterJob {
	return &clusterJob{id: fmt.Sprintf("%s+%d", c.id, k), run: true, held: held, uses: uses, end: c.end, leader: c}
}

// stillHolds is the decision's allocation by part on the nodes of now, in memory of its own, if the
// request is still met by it.
func (c *Cluster) stillHolds(w *scratch, job *clusterJob, d *Decision) (held [][]nodeset.Segment, err error) {
	m := &c.machine
	if c.jobs[job.id] != job {
		return nil, unknownJob(job.id)
	}
	var all []nodeset.Segment
	for k := range d.Parts() {
		part, _ := d.Part(k)
		part = slices.Clone(part)
		if w.numbering != m.numbering {
			if part, err = m.renumbered(w.names, part); err != nil {
				return nil, err
			}
		}
		for i := range part {
			part[i].Part = uint8(k)
		}
		held, all = append(held, part), append(all, part...)
	}
	way, _ := job.job.Way(d.Alternative)
	// Nodes may lie elsewhere than they did.
	if err := CheckAllocation(&way, all, len(m.names)); err != nil {
		return nil, jobFault(job.id, "nodes", shares(m.names, all), "they no longer suit it", nil)
	}
	return held, nil
}

// takeParts takes what a job starts on, part by part. If a node lacks any of it, nothing is taken.
func (m *machine) takeParts(held [][]nodeset.Segment, d *Decision) error {
	for k, part := range held {
		_, uses := d.Part(k)
		err := m.lack(part)
		if err == nil {
			err = m.lackMore(part, uses)
		}
		if err != nil {
			for i, part := range held[:k] {
				_, uses := d.Part(i)
				must(m.table.ReleaseWith(part, uses))
			}
			return err
		}
		must(m.table.AllocateWith(part, uses))
	}
	return nil
}

// startComponents counts the components of a job that starts as running, and says where.
func (c *Cluster) startComponents(job *clusterJob, d *Decision, held [][]nodeset.Segment) (placed []Placed) {
	for k := 1; k < len(held); k++ {
		_, uses := d.Part(k)
		c.runBeside(job, job.component(k, held[k], uses))
		takes, _ := c.machine.takes(uses)
		placed = append(placed, Placed{shares(c.machine.names, held[k]), takes})
	}
	return placed
}

func (c *Cluster) runBeside(job, component *clusterJob) {
	job.beside = append(job.beside, component)
	c.running = append(c.running, component)
}

// giveBack gives back what a running job and its components hold.
func (c *Cluster) giveBack(job *clusterJob) {
	for _, x := range append([]*clusterJob{job}, job.beside...) {
		c.machine.release(x)
	}
	c.forget(job)
}

// forget has a job and its components run no more.
func (c *Cluster) forget(job *clusterJob) {
	c.running = slices.DeleteFunc(c.running, func(x *clusterJob) bool { return x.ofJob() == job })
}

// adoptComponents adopts the components of a job that is among the running ones. If it fails, the
// job is not any more.
func (c *Cluster) adoptComponents(job *clusterJob, placed []Placed) error {
	for k, p := range placed {
		field := fmt.Sprintf("components[%d].uses", k)
		uses, held, err := nodeset.Uses(nil), []nodeset.Segment(nil), error(nil)
		if f := takesFault(field, &bids.Request{}, p.Takes); f != nil {
			err = &JobError{Job: -1, ID: job.id, Fault: f}
		}
		if err == nil {
			uses, err = c.machine.numbered(job.id, field, p.Takes, 0)
		}
		if err == nil {
			held, err = c.hold(p.Nodes, uses, 0)
		}
		if err != nil {
			c.forget(job)
			c.machine.stale = true
			return err
		}
		c.runBeside(job, job.component(k+1, held, uses))
	}
	return nil
}

// amountsOfParts is what a job that starts counts by the charges of its parts, as charges of the
// job alone.
func amountsOfParts(way *bids.Request, held [][]nodeset.Segment) (sums nodeset.Uses) {
	for k, part := range held {
		for _, a := range amounts(way.Part(k).Charges, place.SizeOf(part)) {
			i := slices.IndexFunc(sums, func(c nodeset.Use) bool { return c.Row >= a.Row })
			switch {
			case i < 0:
				sums = append(sums, a)
			case sums[i].Row == a.Row:
				sums[i].PerJob = min(sums[i].PerJob+a.PerJob, bids.MaxRate)
			default:
				sums = slices.Insert(sums, i, a)
			}
		}
	}
	return sums
}
