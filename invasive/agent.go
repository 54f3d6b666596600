// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"cmp"
	"slices"
	"time"
)

// Version is the only version of the protocol so far.
const Version = 1

// MaxUrgent is how many urgent jobs may wait for an answer at a time.
const MaxUrgent = 16

// reportsMissed is how many status reports may fail to come before the iHypervisor counts as gone.
const reportsMissed = 3

// An Agent is the iScheduler's side of the protocol: iRM_AGENT of figure 7. It holds the jobs that
// the iHypervisor hasn't finished.
type Agent struct {
	wish  Terms
	table *table[Agent]
	wrap  uint32 // transactions count from 1 to wrap, and again

	line
	agreed               Terms
	transaction, attempt uint32
	offer                *Offer
	accepted             bool // the last answer to an offer
	told                 bool // the iHypervisor was told at the start that jobs wait
	finishing            bool
	jobs                 []entry // ascending by ID
	acks                 []JobID
}

type entry struct {
	job     *Job
	at      place
	refused bool // as an urgent job
}

// place is where the Agent believes a job to be.
type place uint8

const (
	queued place = iota
	mapped       // in a mapping without an answer
	asked        // in an URGENT_JOB without an answer
	placed       // at the iHypervisor
)

// line is what both machines know of their connection.
type line struct {
	phase Phase
	armed bool
	out   []Action
}

func (l *line) emit(a Action)            { l.out = append(l.out, a) }
func (l *line) send(m *Message)          { l.emit(Action{Kind: Send, Msg: m}) }
func (l *line) setTimer(d time.Duration) { l.armed = true; l.emit(Action{Kind: SetTimer, After: d}) }
func (l *line) stopTimer()               { l.armed = false; l.emit(Action{Kind: StopTimer}) }

// NewAgent returns an Agent that is Off. The jobs are those of its journal. Wish is what it
// proposes to the iHypervisor; its versions are set here.
func NewAgent(wish Terms, saved []Saved) *Agent {
	wish.MinVersion, wish.MaxVersion = Version, Version
	a := &Agent{wish: wish, agreed: wish, table: agentTable, wrap: 1 << 30}
	for _, s := range saved {
		a.jobs = append(a.jobs, entry{job: s.Job})
	}
	return a
}

// Phase returns where the Agent is.
func (a *Agent) Phase() Phase { return a.phase }

// Queue appends the jobs that a mapping may name now, in order of their IDs.
func (a *Agent) Queue(to []*Job) []*Job {
	for i := range a.jobs {
		if a.jobs[i].waits() {
			to = append(to, a.jobs[i].job)
		}
	}
	return to
}

// Jobs returns how many jobs the Agent holds.
func (a *Agent) Jobs() int { return len(a.jobs) }

// waits: an urgent job waits for a negotiation only if it was refused.
func (e *entry) waits() bool { return e.at == queued && (!e.job.Urgent || e.refused) }

// Step tells the Agent of an event, and appends what it wants done. Messages have been checked
// before, see Message.Check and Kind.SentBy.
func (a *Agent) Step(ev *Event, out []Action) []Action {
	a.out = out
	before := a.debt()
	a.table.step(a, &a.line, ev)
	a.watch(before, ev.Msg != nil)
	out, a.out = a.out, nil
	return out
}

// debt is not zero if the other side owes an answer, and changes with what it owes.
func (a *Agent) debt() (d int) {
	switch a.phase {
	case Initialising, Starting, Answered, Ending, Finalising:
		d = int(a.phase) << 8
	}
	return d + a.count(asked)
}

// watch keeps the timer: for an answer if one is owed, otherwise for the next status
// report. What the Agent sends never sets it anew while an answer is owed, so that a silent
// peer costs one timer.
func (a *Agent) watch(before int, heard bool) {
	now := a.debt()
	switch a.phase {
	case Off, Connecting, Refused:
		if a.armed {
			a.stopTimer()
		}
		return
	}
	switch {
	case now != 0 && (before == 0 || !a.armed || heard && now != before):
		a.setTimer(a.agreed.Reply)
	case now == 0 && (before != 0 || !a.armed || heard):
		a.setTimer(reportsMissed * a.agreed.Report)
	}
}

func (a *Agent) count(at place) (n int) {
	for i := range a.jobs {
		if a.jobs[i].at == at {
			n++
		}
	}
	return n
}

func (a *Agent) waiting() (n uint32) {
	if a.finishing {
		return 0
	}
	for i := range a.jobs {
		if a.jobs[i].waits() {
			n++
		}
	}
	return n
}

// find returns the job's entry, or nil.
func (a *Agent) find(id JobID) *entry {
	if i, ok := slices.BinarySearchFunc(a.jobs, id, byID); ok {
		return &a.jobs[i]
	}
	return nil
}

func byID(e entry, id JobID) int { return cmp.Compare(e.job.ID, id) }

// Clone returns a copy that shares nothing that changes.
func (a *Agent) Clone() *Agent {
	c := *a
	c.jobs, c.acks = slices.Clone(a.jobs), slices.Clone(a.acks)
	return &c
}
