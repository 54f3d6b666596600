// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/internal/workload"
)

// LinearSpeedup and the other values of [Config.Serial] are thousandths.
const (
	LinearSpeedup = 0
	MaxSerial     = 1000 // further GPUs shorten nothing
)

// CrewOptions say how malleable jobs take nodes and give them back. As invasive/docs/crew.md has it, a
// malleable job is a lead, a job of its fewest nodes, and companions, which it asks for while it
// runs: jobs of one node each, of a lower tier than all jobs of the workload.
type CrewOptions struct {
	// Reconfigure is for how many seconds a job does nothing after a change of its nodes, 0 to
	// 3600. A node that it gives back is free after as many.
	Reconfigure int64
	// Limit is the time limit of a companion, in seconds: more than Reconfigure.
	Limit int64
	// Books makes what checks malleable jobs: they need one. Package crewbooks says what it is told.
	Books func(pause int64, serial int, single, cut bool) CrewBooks
}

// CrewBooks is told what malleable jobs do, by the numbers of their leads and companions, at which
// second, and refuses what can't be.
type CrewBooks interface {
	Start(lead, number int32, job *workload.Job, at int64) error
	Leave(lead, number int32, at int64) error
	Free(lead, number int32, at int64) error
	End(lead int32, at int64) error
	Finish(jobs int, held int64) error
}

// DefaultCrews has changes take a second, what the slowest of examples/heat's took, rounded, and
// companions of an hour.
func DefaultCrews() CrewOptions { return CrewOptions{Reconfigure: 1, Limit: 3600} }

// Validate reports the first setting that is out of its range.
func (o *CrewOptions) Validate() error {
	switch {
	case o.Books == nil:
		return errors.New("nobody checks them: there are no books")
	case o.Reconfigure < 0 || o.Reconfigure > 3600:
		return fmt.Errorf("reconfiguration: %d: must be between 0 and 3600 seconds", o.Reconfigure)
	case o.Limit <= o.Reconfigure || o.Limit > maxTime:
		return fmt.Errorf("companions' limit: %d: must be between %d and %d seconds", o.Limit, o.Reconfigure+1, int64(maxTime))
	}
	return nil
}

// Speed is how much of its work a job does in a second on so many nodes, one node doing 1: Amdahl's
// law with so many thousandths that are not parallel.
func Speed(nodes, serial int) float64 {
	return 1000 * float64(nodes) / float64(serial*nodes+MaxSerial-serial)
}

// crew is a malleable job. It is said of the moment when it is looked at.
type crew struct {
	job   *workload.Job // as it came
	alone int64         // for how many seconds it would run as it came
	asks  int           // nodes that it asks for there
	lead  int32         // number of the job that is its lead
	first int32         // and of the first of its companions

	nodes     int     // that work
	left      float64 // of its work
	from      int64   // it has done nothing since the last change until then
	changed   int64   // when that was
	worked    int64   // node seconds in which it did something
	held      int64   // and in which companions that are over held nodes
	changes   int
	preempted int
	starts    int // of companions
	over      bool
	members   []companion
}

// companion is one place beyond a crew's fewest nodes.
type companion struct {
	running, leaving bool
	since            int64
	pause            int64 // before it is asked for again
}

// advance has the work done that is done by then.
func (c *crew) advance(at int64, serial int) {
	if at > c.from {
		c.left -= float64(float64(at-c.from) * Speed(c.nodes, serial))
		c.worked += (at - c.from) * int64(c.nodes)
		c.from = at
	}
}

// end is when the work is done, if nothing changes.
func (c *crew) end(serial int) int64 {
	seconds := math.Ceil(c.left/Speed(c.nodes, serial) - 1e-9)
	return c.from + int64(max(seconds, 1))
}

// crews are the malleable jobs of a simulation; nil: there are none.
type crews struct {
	opt              CrewOptions
	serial           int
	byJob            []*crew // by number of job
	lift             int     // by how many bits priorities are raised, for there must be some below
	asks             endHeap // when companions are submitted
	books            CrewBooks
	use              CrewUse
	malleable, rigid times
}

func (cs *crews) of(number int32) *crew {
	if cs == nil {
		return nil
	}
	return cs.byJob[number]
}

// nextAsk is when the next companion is submitted.
func (cs *crews) nextAsk() (at int64, ok bool) {
	if cs == nil {
		return 0, false
	}
	for len(cs.asks) > 0 && cs.byJob[cs.asks[0].number].over {
		cs.asks.pop()
	}
	if len(cs.asks) == 0 {
		return 0, false
	}
	return cs.asks[0].at, true
}

// beginSeconds is what a run needs to begin, and worthPart which part of the least start's worth
// all prices are together: slurmplugin/shape.c.
const (
	beginSeconds = 60
	worthPart    = 8
)

// times adds up JobTimes.
type times struct{ wait, turnaround moments }

func (t *times) add(ran *Record) {
	t.wait.add(float64(ran.Start - ran.Submit))
	t.turnaround.add(float64(ran.End - ran.Submit))
}

func (t *times) result() JobTimes { return JobTimes{t.wait.mean, t.turnaround.mean} }

// add counts a job that has ended; c is nil if it was rigid.
func (cs *crews) add(c *crew, ran *Record) {
	if cs == nil {
		return
	}
	if c == nil {
		cs.rigid.add(ran)
		return
	}
	cs.malleable.add(ran)
	u := &cs.use
	u.Jobs++
	u.Companions += c.starts
	u.Preempted += c.preempted
	u.Changes += c.changes
	held := c.held + (ran.End-ran.Start)*int64(c.job.Span.Least)
	u.Held += held
	u.Lost += held - c.worked
}

// result is that of a simulation that is over; nil if all jobs were rigid.
func (cs *crews) result() (*CrewUse, error) {
	if cs == nil {
		return nil, nil
	}
	if err := cs.books.Finish(cs.use.Jobs, cs.use.Held); err != nil {
		return nil, err
	}
	cs.use.Malleable, cs.use.Rigid = cs.malleable.result(), cs.rigid.result()
	return &cs.use, nil
}
