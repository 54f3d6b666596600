// SPDX-License-Identifier: BSD-3-Clause

// Package crewbooks is a second referee of malleable jobs in the simulator: see [Referee].
package crewbooks

import (
	"fmt"
	"math"

	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
)

// Referee keeps books of its own of malleable jobs: which jobs hold nodes for one, and what it has
// done by the times at which that changed. It shares nothing with the simulator, and is what
// crews.Options.Books of the benchmarks makes.
type Referee struct {
	pause  int64   // after a change
	serial float64 // share of the work
	single bool
	cut    bool // at time limits
	open   map[int32]*crewBook
	owner  map[int32]int32 // of each companion that holds a node, its lead
	done   int
	held   int64 // node seconds
}

// New is the referee of a simulation whose jobs do nothing for so many seconds after a change, and of
// whose work so many thousandths are not parallel; single says that nodes have one core, and cut that
// jobs end at their limits.
func New(pause int64, serial int, single, cut bool) *Referee {
	return &Referee{pause: pause, serial: float64(serial) / 1000, single: single, cut: cut,
		open: make(map[int32]*crewBook), owner: make(map[int32]int32)}
}

type crewBook struct {
	job     *workload.Job
	holds   map[int32]int64 // companions, since when
	working map[int32]bool
	changes []crewChange
}

// crewChange is on how many nodes a job works from then on.
type crewChange struct {
	at    int64
	nodes int
}

// Start books that a job holds nodes: the lead of a malleable job or a companion of it.
func (f *Referee) Start(lead, number int32, job *workload.Job, at int64) error {
	b := f.open[lead]
	if lead == number {
		if b != nil {
			return fmt.Errorf("job %s is started twice", job.ID)
		}
		f.open[lead] = &crewBook{job, make(map[int32]int64), make(map[int32]bool), []crewChange{{at, job.Span.Least}}}
		return nil
	}
	if b == nil {
		return fmt.Errorf("a companion of job %s starts, which does not run", job.ID)
	}
	if _, twice := f.owner[number]; twice {
		return fmt.Errorf("companion %d of job %s is started twice", number, job.ID)
	}
	f.owner[number] = lead
	b.holds[number], b.working[number] = at, true
	return b.change(at)
}

// change books on how many nodes a job works now.
func (b *crewBook) change(at int64) error {
	nodes := b.job.Span.Least + len(b.working)
	if nodes > b.job.Span.Most {
		return fmt.Errorf("job %s works on %d nodes, and can on %d-%d", b.job.ID, nodes, b.job.Span.Least, b.job.Span.Most)
	}
	if last := b.changes[len(b.changes)-1].at; at < last {
		return fmt.Errorf("job %s changes at second %d, after one at %d", b.job.ID, at, last)
	}
	b.changes = append(b.changes, crewChange{at, nodes})
	return nil
}

// Leave books that a companion does no more.
func (f *Referee) Leave(lead, number int32, at int64) error {
	b := f.open[lead]
	if b == nil || !b.working[number] {
		return fmt.Errorf("companion %d leaves, and does not work", number)
	}
	delete(b.working, number)
	return b.change(at)
}

// Free books that a companion's node is given back.
func (f *Referee) Free(lead, number int32, at int64) error {
	b := f.open[lead]
	if owner, holds := f.owner[number]; b == nil || !holds || owner != lead {
		return fmt.Errorf("companion %d ends, and job %d does not have it", number, lead)
	}
	f.held += at - b.holds[number]
	delete(f.owner, number)
	delete(b.holds, number)
	delete(b.working, number)
	return nil
}

// End books the end of a malleable job, whose companions hold nothing any more, and checks that its
// work was done then, and not a second before.
func (f *Referee) End(lead int32, at int64) error {
	b := f.open[lead]
	if b == nil {
		return fmt.Errorf("job %d ends, and does not run", lead)
	}
	if len(b.holds) > 0 {
		return fmt.Errorf("job %s ends, and %d companions go on", b.job.ID, len(b.holds))
	}
	delete(f.open, lead)
	f.done++
	f.held += (at - b.changes[0].at) * int64(b.job.Span.Least)
	work := f.work(b.job)
	if did := f.did(b, at); did < work*(1-1e-9)-1e-4 {
		return fmt.Errorf("job %s has done %g of its work of %g by its end", b.job.ID, did, work)
	}
	if did := f.did(b, at-1); did > work*(1+1e-9)+1e-4 && at > b.changes[0].at+1 {
		return fmt.Errorf("job %s had done %g of its work of %g a second before its end", b.job.ID, did, work)
	}
	return nil
}

// work is what a job does in its duration on the nodes that it asks for, in seconds of one node.
func (f *Referee) work(j *workload.Job) float64 {
	seconds := j.Duration
	if f.cut {
		seconds = min(seconds, j.TimeLimit)
	}
	return float64(max(seconds, 1)) * f.rate(generate.Places(j, f.single))
}

func (f *Referee) rate(nodes int) float64 { return 1 / (f.serial + (1-f.serial)/float64(nodes)) }

// did is what a job has done by then.
func (f *Referee) did(b *crewBook, by int64) (sum float64) {
	for i, c := range b.changes {
		from, until := c.at, by
		if i > 0 {
			from += f.pause
		}
		if i+1 < len(b.changes) {
			until = min(until, b.changes[i+1].at)
		}
		sum += math.Max(0, float64(until-from)) * f.rate(c.nodes)
	}
	return sum
}

// Finish checks that all who began have ended, and the sums.
func (f *Referee) Finish(jobs int, held int64) error {
	switch {
	case len(f.open) > 0 || len(f.owner) > 0:
		return fmt.Errorf("%d malleable jobs and %d companions have not ended", len(f.open), len(f.owner))
	case f.done != jobs || f.held != held:
		return fmt.Errorf("%d malleable jobs held nodes for %d node seconds, and not %d jobs for %d", f.done, f.held, jobs, held)
	}
	return nil
}
