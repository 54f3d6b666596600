package partition

import (
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A rig is an iHypervisor with a Manager, and an iScheduler and jobs that the test plays. It holds every
// event of the Manager against a ledger of its own.
type rig struct {
	h        *invasive.Hypervisor
	m        *Manager
	set      Settings
	attempts uint32
	now      time.Duration
	jobs     map[invasive.JobID]*running
	sent     []*invasive.Message // by the iHypervisor
	errs     []string
	acts     []string // what was done, in words
}

type running struct {
	job    *invasive.Job
	cores  map[uint32]bool
	asked  []uint32
	how    invasive.How
	done   bool
	launch int
}

func newRig(s Settings, attempts uint32) (*rig, error) {
	m, err := New(s)
	if err != nil {
		return nil, err
	}
	r := &rig{m: m, set: s, attempts: attempts, jobs: make(map[invasive.JobID]*running)}
	terms := invasive.Terms{Attempts: attempts, Reply: time.Second, Report: time.Second, Partition: s.Partition}
	var acts []invasive.Action
	r.h, acts = invasive.NewHypervisor(terms, nil, nil, nil)
	r.act(acts)
	r.step(invasive.Event{Kind: invasive.Start})
	r.step(invasive.Event{Kind: invasive.Connected})
	terms.MinVersion, terms.MaxVersion, terms.Partition = invasive.Version, invasive.Version, invasive.Partition{}
	r.hear(&invasive.Message{Kind: invasive.Initialise, Terms: &terms})
	return r, nil
}

func (r *rig) fail(format string, args ...any) { r.errs = append(r.errs, fmt.Sprintf(format, args...)) }

func (r *rig) hear(m *invasive.Message) {
	r.step(invasive.Event{Kind: invasive.EventKind(m.Kind), Msg: m})
}

// step does a step, and all that follows from it at once.
func (r *rig) step(ev invasive.Event) { r.act(r.h.Step(&ev, nil)) }

func (r *rig) act(acts []invasive.Action) {
	for i := range acts {
		a := &acts[i]
		switch a.Kind {
		case invasive.Send:
			r.sent = append(r.sent, a.Msg)
		case invasive.Launch, invasive.Grow:
			r.give(a)
		case invasive.Reclaim:
			j := r.jobs[a.ID]
			j.asked, j.how = a.Cores, a.How
			r.acts = append(r.acts, fmt.Sprintf("job %d is asked for %v, way %d", a.ID, a.Cores, a.How))
		case invasive.Violated:
			r.fail("out of turn: %v", a.Msg.Kind)
		}
		r.answer(r.m.Answer(r.h, a, r.now, nil))
	}
}

// answer steps through the Manager's events; each must be of use.
func (r *rig) answer(evs []invasive.Event) {
	for _, ev := range evs {
		acts := r.h.Step(&ev, nil)
		if len(acts) == 0 {
			r.fail("%v of job %d, cores %v, has no effect", ev.Kind, ev.ID, ev.Cores)
		}
		r.act(acts)
	}
}

// give checks that cores are free, and that the job can use them.
func (r *rig) give(a *invasive.Action) {
	j := r.jobs[a.ID]
	if j == nil {
		j = &running{job: a.Job, cores: make(map[uint32]bool)}
		r.jobs[a.ID] = j
	}
	verb := "gets"
	if a.Kind == invasive.Launch {
		j.launch++
		verb = "starts on"
	}
	r.acts = append(r.acts, fmt.Sprintf("job %d %s %v", a.ID, verb, a.Cores))
	for _, c := range a.Cores {
		for id, o := range r.jobs {
			if o.cores[c] {
				r.fail("core %d of job %d goes to job %d", c, id, a.ID)
			}
		}
		j.cores[c] = true
	}
	nodes := r.nodes(j)
	if n := uint32(len(j.cores)); n < j.job.MinCores || n > j.job.MaxCores || j.launch != 1 ||
		nodes < j.job.MinNodes || j.job.MaxNodes > 0 && nodes > j.job.MaxNodes {
		r.fail("job %d has %d cores on %d nodes after %d launches, and needs %d-%d on %d-%d",
			a.ID, n, nodes, j.launch, j.job.MinCores, j.job.MaxCores, j.job.MinNodes, j.job.MaxNodes)
	}
	if w, most := r.watts(), uint64(r.set.Power.Cap); most > 0 && w > most {
		r.fail("%d W with a cap of %d", w, most)
	}
}

func (r *rig) nodes(j *running) uint32 {
	seen := make(map[uint32]bool)
	for c := range j.cores {
		seen[c/(r.set.Partition.Sockets*r.set.Partition.CoresPerSocket)] = true
	}
	return uint32(len(seen))
}

func (r *rig) watts() (w uint64) {
	busy := make(map[uint32]bool)
	for _, j := range r.jobs {
		for c := range j.cores {
			w += uint64(r.set.Power.Core)
			busy[c/(r.set.Partition.Sockets*r.set.Partition.CoresPerSocket)] = true
		}
	}
	return w + uint64(len(busy))*uint64(r.set.Power.Node)
}

// obey has a job do what it was asked for.
func (r *rig) obey(id invasive.JobID) {
	j := r.jobs[id]
	cores := j.asked
	j.asked = nil
	if j.how == invasive.Kill {
		r.exit(id)
		return
	}
	for _, c := range cores {
		delete(j.cores, c)
	}
	if n := uint32(len(j.cores)); j.how == invasive.Shrink && (n < j.job.MinCores || r.nodes(j) < j.job.MinNodes) {
		r.fail("job %d shrinks to %d cores on %d nodes", id, n, r.nodes(j))
	}
	r.step(invasive.Event{Kind: invasive.Released, ID: id, Cores: cores})
}

func (r *rig) refuse(id invasive.JobID) {
	j := r.jobs[id]
	j.asked = nil
	r.m.Kept(r.h, id, j.how, r.now)
	r.step(invasive.Event{Kind: invasive.Kept, ID: id})
}

func (r *rig) exit(id invasive.JobID) {
	j := r.jobs[id]
	j.cores, j.asked, j.done = nil, nil, true
	r.step(invasive.Event{Kind: invasive.Exited, ID: id})
}

func (r *rig) tick() { r.answer(r.m.Tick(r.h, r.now, nil)) }

// reply has the iScheduler answer the last message, with a mapping or a rejection if it is an offer.
func (r *rig) reply(m *invasive.Message, accept bool, mapping []invasive.Mapping, pending uint32) {
	switch m.Kind {
	case invasive.ResponseInitialise:
		r.hear(&invasive.Message{Kind: invasive.NegotiationStart, Pending: pending})
	case invasive.ResourceOffer:
		r.hear(&invasive.Message{Kind: invasive.ResponseResourceOffer, Transaction: m.Transaction, Attempt: m.Attempt, Accept: accept, Map: mapping})
	case invasive.NegotiationEnd:
		r.hear(&invasive.Message{Kind: invasive.ResponseNegotiationEnd, Transaction: m.Transaction, Attempt: m.Attempt, Pending: pending})
	}
}

// next takes the next message that was sent, or nil.
func (r *rig) next() *invasive.Message {
	if len(r.sent) == 0 {
		return nil
	}
	m := r.sent[0]
	r.sent = slices.Delete(r.sent, 0, 1)
	return m
}
