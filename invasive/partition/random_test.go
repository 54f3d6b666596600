package partition

import (
	"slices"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever the iScheduler maps, jobs do and users want, no core has two owners, no job has less than it needs or more than it
// can use, the power cap holds, and each event of the Manager is of use (rig checks all that at every step). In the
// end all jobs come to theirs.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := DefaultSettings(invasive.Partition{Nodes: uint32(rapid.IntRange(1, 4).Draw(t, "nodes")),
			Sockets: uint32(rapid.IntRange(1, 2).Draw(t, "sockets")), CoresPerSocket: uint32(rapid.IntRange(1, 4).Draw(t, "cores"))})
		set.MaxSuspended, set.Kill = uint32(rapid.IntRange(0, 2).Draw(t, "suspended")), rapid.Bool().Draw(t, "kill")
		set.Patience = time.Duration(rapid.IntRange(0, 20).Draw(t, "patience")) * time.Second
		if rapid.Bool().Draw(t, "capped") {
			set.Power = Power{Node: 10, Core: 3, Cap: uint32(rapid.IntRange(13, 80).Draw(t, "cap"))}
		}
		r, err := newRig(set, uint32(rapid.IntRange(1, 4).Draw(t, "attempts")))
		require.NoError(t, err)
		w := &world{rig: r, t: t}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.any()
			require.Empty(t, r.errs)
		}
		w.finish()
		require.Empty(t, r.errs)
	})
}

// A world plays all but the iHypervisor.
type world struct {
	*rig
	t    *rapid.T
	last invasive.JobID
}

func (w *world) pick(name string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, name) }

func (w *world) any() {
	w.now += time.Duration(w.pick("seconds", 8)) * time.Second
	var asked, runs []invasive.JobID
	for id, j := range w.jobs {
		if !j.done {
			runs = append(runs, id)
		}
		if j.asked != nil {
			asked = append(asked, id)
		}
	}
	slices.Sort(asked)
	slices.Sort(runs)
	switch do := w.pick("do", 8); {
	case do <= 2:
		if m := w.next(); m != nil {
			w.talk(m)
		}
	case do == 3:
		w.tick()
	case do == 4 && len(asked) > 0:
		w.obey(asked[w.pick("obeys", len(asked))])
	case do == 5 && len(asked) > 0:
		w.refuse(asked[w.pick("refuses", len(asked))])
	case do == 6 && len(runs) > 0:
		w.exit(runs[w.pick("exits", len(runs))])
	case do == 7:
		j := w.job(uint32(len(w.h.Owners())), w.set.Partition.Nodes)
		j.Urgent = true
		w.hear(&invasive.Message{Kind: invasive.UrgentJob, Job: j})
	}
}

func (w *world) job(cores, nodes uint32) *invasive.Job {
	w.last++
	j := &invasive.Job{ID: w.last, Flex: invasive.Flex(w.pick("flex", 4)), Priority: uint32(w.pick("priority", 3)), Limit: uint32(w.pick("limit", 50))}
	j.MinCores = uint32(1 + w.pick("min", int(cores)))
	j.MaxCores = j.MinCores
	if j.Flex != invasive.Rigid {
		j.MaxCores += uint32(w.pick("more", int(cores)))
	}
	if w.pick("on nodes", 3) == 0 {
		j.MinNodes = uint32(1 + w.pick("min nodes", int(min(nodes, j.MinCores))))
		j.MaxNodes = j.MinNodes + uint32(w.pick("more nodes", 2))
	}
	return j
}

// talk answers a message; an offer is mapped one core at a time.
func (w *world) talk(m *invasive.Message) {
	if m.Kind != invasive.ResourceOffer {
		w.reply(m, false, nil, 1)
		return
	}
	var mapping []invasive.Mapping
	parts := slices.Clone(m.Offer.Parts)
	for len(mapping) < 3 && len(parts) > 0 {
		n := 1 + w.pick("parts", len(parts))
		e := invasive.Mapping{}
		var cores, nodes uint32
		for _, p := range parts[:n] {
			p.Delay = 0
			p.Cores = uint32(1 + w.pick("of part", int(p.Cores)))
			cores += p.Cores
			e.Parts = append(e.Parts, p)
			nodes++
		}
		parts = parts[n:]
		e.Job = w.job(cores, nodes)
		e.Job.MinNodes, e.Job.MaxNodes = 0, 0
		e.Job.MinCores = min(e.Job.MinCores, cores)
		e.Job.MaxCores = max(e.Job.MaxCores, cores)
		if e.Job.Flex == invasive.Rigid {
			e.Job.MinCores = cores
			e.Job.MaxCores = cores
		}
		mapping = append(mapping, e)
	}
	accept := w.pick("accepts", 3) > 0 || m.Attempt >= w.attempts
	if !accept {
		mapping = nil
	}
	w.reply(m, accept, mapping, 1)
}

// finish has all jobs do what they are told, and end, until none is left.
func (w *world) finish() {
	for range 1000 {
		w.now += w.set.Patience + time.Second
		for len(w.sent) > 0 {
			if m := w.next(); m.Kind == invasive.ResourceOffer {
				w.reply(m, true, nil, 0)
			} else {
				w.reply(m, false, nil, 0)
			}
		}
		left := false
		for _, j := range w.h.Jobs(nil) {
			if j.State == invasive.Done {
				continue
			}
			left = true
			switch r := w.jobs[j.Job.ID]; {
			case r == nil:
			case r.asked != nil:
				w.obey(j.Job.ID)
			case j.State == invasive.Running:
				w.exit(j.Job.ID)
			}
		}
		if !left {
			return
		}
		w.tick()
	}
	w.fail("jobs are left: %v", w.h.Jobs(nil))
}
