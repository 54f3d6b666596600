// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"cmp"
	"slices"
)

// A Hypervisor is the iHypervisor's side of the protocol, and the ledger of its partition's cores:
// no core has two owners, and a job is launched once.
type Hypervisor struct {
	wish  Terms
	table *table[Hypervisor]
	wrap  uint32
	most  int // jobs that it keeps

	line
	agreed               Terms
	transaction, attempt uint32 // attempt is 0 before the first offer of a transaction
	offer                *Offer
	mapping              []Mapping // to judge
	finishing            bool
	jobs                 []held  // ascending by ID
	owner                []JobID // of each core; 0: free
	urgent               []*Job  // asked for
	words                int     // bytes of the words of all jobs
}

type held struct {
	job    *Job
	parts  []Part // as mapped
	state  JobState
	cores  []uint32 // that it owns, ascending
	taking []uint32 // those of them that it was asked to let go of
	exit   int32
}

// A Seen is what is found of a job when the iHypervisor starts again. A job that isn't among them
// was never launched: the launcher has to leave a mark that survives, at the moment of the launch.
type Seen struct {
	ID     JobID
	Exited bool
	Exit   int32
}

// NewHypervisor returns a Hypervisor that is Off, and appends to out what is to be done about the
// jobs of its journal. Wish has the partition; its versions are set here.
func NewHypervisor(wish Terms, saved []Saved, seen []Seen, out []Action) (*Hypervisor, []Action) {
	return newHypervisor(hypervisorTable, wish, saved, seen, out)
}

func newHypervisor(t *table[Hypervisor], wish Terms, saved []Saved, seen []Seen, out []Action) (*Hypervisor, []Action) {
	wish.MinVersion, wish.MaxVersion = Version, Version
	h := &Hypervisor{wish: wish, table: t, wrap: 1 << 30, most: MaxJobs, owner: make([]JobID, wish.Partition.Cores())}
	h.out = out
	for _, s := range saved {
		h.jobs = append(h.jobs, held{job: s.Job, parts: s.Parts, state: s.State, cores: s.Cores, exit: s.Exit})
		h.own(s.Cores, s.Job.ID)
		h.words += s.Job.size()
	}
	found := make(map[JobID]Seen, len(seen))
	for _, s := range seen {
		found[s.ID] = s
	}
	for i := range h.jobs {
		h.recover(&h.jobs[i], found)
	}
	h.askPlace()
	out, h.out = h.out, nil
	return h, out
}

// recover brings a job of the journal in line with what was found.
func (h *Hypervisor) recover(j *held, found map[JobID]Seen) {
	if j.state != Running {
		return
	}
	seen, launched := found[j.job.ID]
	switch {
	case !launched: // it was saved, and then came the crash
		h.emit(Action{Kind: Launch, Job: j.job, ID: j.job.ID, Cores: j.cores})
	case seen.Exited:
		h.end(j, seen.Exit)
	case len(j.cores) == 0:
		j.state = Suspended
	}
}

// maxWords is how many bytes of words the Hypervisor keeps before it takes no more jobs; what it
// has agreed to take by then comes on top.
const maxWords = 64 << 20

// room is how many more jobs it can keep.
func (h *Hypervisor) room() int {
	if h.words >= maxWords {
		return 0
	}
	return max(0, h.most-len(h.jobs)-len(h.urgent))
}

// Phase returns where the Hypervisor is.
func (h *Hypervisor) Phase() Phase { return h.phase }

// Owners returns the owner of each core, 0 for a free one. It belongs to the Hypervisor,
// and changes with it.
func (h *Hypervisor) Owners() []JobID { return h.owner }

// A Held is a job that the Hypervisor keeps.
type Held struct {
	Job   *Job
	State JobState
	// Parts are the nodes that the mapping gave it, none for an urgent job.
	Parts []Part
	// Cores are those that it owns, Taking those of them that it was asked for; they
	// belong to the Hypervisor.
	Cores, Taking []uint32
}

// Jobs appends all jobs that the Hypervisor keeps, ascending by ID.
func (h *Hypervisor) Jobs(to []Held) []Held {
	for _, j := range h.jobs {
		to = append(to, Held{j.job, j.state, j.parts, j.cores, j.taking})
	}
	return to
}

// Step tells the Hypervisor of an event, and appends what it wants done. Messages have been
// checked before, see Message.Check and Kind.SentBy.
func (h *Hypervisor) Step(ev *Event, out []Action) []Action {
	h.out = out
	before := h.debt()
	h.table.step(h, &h.line, ev)
	h.watch(before, ev.Msg != nil)
	out, h.out = h.out, nil
	return out
}

// debt is not zero if the other side owes a message.
func (h *Hypervisor) debt() Phase {
	switch h.phase {
	case Accepting, Ready, Offered, Ending, Finalising:
		return h.phase
	}
	return 0
}

// watch keeps the timer: there is one only while an answer is owed.
func (h *Hypervisor) watch(before Phase, heard bool) {
	now := h.debt()
	switch {
	case now != 0 && (before == 0 || heard && now != before):
		reply := h.wish.Reply
		if h.phase != Accepting {
			reply = h.agreed.Reply
		}
		h.setTimer(reply)
	case now == 0 && h.armed:
		h.stopTimer()
	}
}

// find returns the job, or nil.
func (h *Hypervisor) find(id JobID) *held {
	i, ok := slices.BinarySearchFunc(h.jobs, id, heldByID)
	if !ok {
		return nil
	}
	return &h.jobs[i]
}

func heldByID(j held, id JobID) int { return cmp.Compare(j.job.ID, id) }

// status appends a line for each job.
func (h *Hypervisor) status() []JobStatus {
	known := make([]JobStatus, 0, len(h.jobs))
	for _, j := range h.jobs {
		known = append(known, JobStatus{j.job.ID, j.state, uint32(len(j.cores)), j.exit})
	}
	return known
}

// Clone returns a copy that shares nothing that changes.
func (h *Hypervisor) Clone() *Hypervisor {
	c := *h
	c.jobs, c.owner, c.urgent = slices.Clone(h.jobs), slices.Clone(h.owner), slices.Clone(h.urgent)
	return &c
}
