// SPDX-License-Identifier: BSD-3-Clause

// Package crews has malleable jobs of simulations take nodes and give them back: see
// [sim.Crews], and invasive/docs/crew.md.
package crews

import (
	"container/heap"
	"errors"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/crewbooks"
	"github.com/aucsched/aucsched/internal/workload"
)

// Options say how malleable jobs take nodes and give them back. As invasive/docs/crew.md has it, a
// malleable job is a lead, a job of its fewest nodes, and companions, which it asks for while it
// runs: jobs of one node each, of a lower tier than all jobs of the workload.
type Options struct {
	// Reconfigure is for how many seconds a job does nothing after a change of its nodes, 0 to
	// 3600. A node that it gives back is free after as many.
	Reconfigure int64
	// Limit is the time limit of a companion, in seconds: more than Reconfigure.
	Limit int64
	// Books makes what checks malleable jobs: they need one. Package crewbooks says what it is told.
	Books func(pause int64, serial int, single, cut bool) Books
}

// Books is told what malleable jobs do, by the numbers of their leads and companions, at which
// second, and refuses what can't be.
type Books interface {
	Start(lead, number int32, job *workload.Job, at int64) error
	Leave(lead, number int32, at int64) error
	Free(lead, number int32, at int64) error
	End(lead int32, at int64) error
	Finish(jobs int, held int64) error
}

// Default has changes take a second, what the slowest of examples/heat's took, rounded, and
// companions of an hour.
func Default() Options {
	return Options{Reconfigure: 1, Limit: 3600, Books: func(pause int64, serial int, single, cut bool) Books {
		return crewbooks.New(pause, serial, single, cut)
	}}
}

// Validate reports the first setting that is out of its range.
func (o *Options) Validate() error {
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
	return 1000 * float64(nodes) / float64(serial*nodes+sim.MaxSerial-serial)
}

// crew is a malleable job. It is said of the moment when it is looked at.
type crew struct {
	job   *workload.Job // as it came
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

// crews are the malleable jobs of a simulation.
type crews struct {
	opt              Options
	cfg              *sim.Config
	hand             sim.Hand
	leads            []*crew // until Begin
	byJob            []*crew // by number of job
	lift             int     // by how many bits priorities are raised, for there must be some below
	asks             asks
	books            Books
	use              sim.CrewUse
	malleable, rigid times
}

// For is what sim.Config.Crews asks for.
func (o Options) For(cfg *sim.Config) sim.Crews { return &crews{opt: o, cfg: cfg} }

// ask is when a companion is submitted.
type ask struct {
	at     int64
	number int32
}

// asks is a heap of them, the earliest first, then by number.
type asks []ask

func (h asks) Len() int { return len(h) }
func (h asks) Less(a, b int) bool {
	return h[a].at < h[b].at || h[a].at == h[b].at && h[a].number < h[b].number
}
func (h asks) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *asks) Push(x any)   { *h = append(*h, x.(ask)) }
func (h *asks) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// Next implements [sim.Crews].
func (cs *crews) Next() (at int64, ok bool) {
	for len(cs.asks) > 0 && cs.byJob[cs.asks[0].number].over {
		heap.Pop(&cs.asks)
	}
	if len(cs.asks) == 0 {
		return 0, false
	}
	return cs.asks[0].at, true
}

// beginSeconds is what a run needs to begin, and worthPart which part of the least start's worth
// all prices are together: internal/engine/price.go.
const (
	beginSeconds = 60
	worthPart    = 8
)

// times adds up sim.JobTimes.
type times struct{ wait, turnaround, jobs float64 }

func (t *times) add(ran *sim.Record) {
	t.jobs++
	t.wait += (float64(ran.Start-ran.Submit) - t.wait) / t.jobs
	t.turnaround += (float64(ran.End-ran.Submit) - t.turnaround) / t.jobs
}

func (t *times) result() sim.JobTimes { return sim.JobTimes{Wait: t.wait, Turnaround: t.turnaround} }

// Count implements [sim.Crews].
func (cs *crews) Count(number int32, ran *sim.Record) {
	c := cs.byJob[number]
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

// Result implements [sim.Crews].
func (cs *crews) Result() (*sim.CrewUse, error) {
	if err := cs.books.Finish(cs.use.Jobs, cs.use.Held); err != nil {
		return nil, err
	}
	cs.use.Malleable, cs.use.Rigid = cs.malleable.result(), cs.rigid.result()
	return &cs.use, nil
}
