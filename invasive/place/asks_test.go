// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/invasive"
)

// Whoever cores are asked for has them once others have let go of them, in whatever order they do,
// unless somebody before him in the order can have them now; and they don't go to and fro: with
// nothing else happening all comes to rest.
func TestAsksAreUsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			comesToRest(t, drawBoard(t))
		}
	})
}

func comesToRest(t *rapid.T, w *world) {
	for round := 0; ; round++ {
		require.Less(t, round, 50, "cores go to and fro")
		w.promise()
		asked := slices.DeleteFunc(w.h.Jobs(nil), func(j invasive.Held) bool { return j.Taking == nil })
		if len(asked) == 0 {
			break
		}
		j := rapid.SampledFrom(asked).Draw(t, "lets go")
		w.h.Step(&invasive.Event{Kind: invasive.Released, ID: j.Job.ID, Cores: j.Taking}, nil)
	}
	for _, j := range w.h.Jobs(nil) {
		require.True(t, !w.promised[j.Job.ID] || j.State == invasive.Running,
			"cores were asked for job %d, and it has none: %+v", j.Job.ID, *j.Job)
	}
}

// drawBoard is a partition on which jobs run and wait.
func drawBoard(t *rapid.T) *world {
	n := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(t, name) }
	p := part(uint32(n("nodes", 1, 3)), uint32(n("sockets", 1, 2)), uint32(n("cores", 1, 4)))
	terms := invasive.Terms{Attempts: 1, Reply: time.Second, Report: time.Second, Partition: p}
	policy := &Policy{Means: []invasive.How{invasive.Shrink, invasive.Suspend}[:n("means", 0, 2)]}
	if n("capped", 0, 2) > 0 {
		policy.CoreWatts, policy.SocketWatts = 10, float64(n("socket watts", 0, 30))
		policy.CapWatts = float64(n("cap", 10, 40*int(p.Cores())))
	}
	free := rapid.Permutation(slices.Collect(coresOf(&p))).Draw(t, "cores")
	var saved []invasive.Saved
	var seen []invasive.Seen
	for i := range n("jobs", 2, 8) {
		s := invasive.Saved{State: invasive.Accepted}
		s.Job, s.Parts = drawJob(t, invasive.JobID(i+1), &p)
		if j := s.Job; n("runs", 0, 2) > 0 && int(j.MinCores) <= len(free) {
			j.MinNodes = 0 // whatever it lies on
			k := n("has", int(j.MinCores), min(len(free), int(j.MaxCores)))
			s.State, s.Cores = invasive.Running, slices.Sorted(slices.Values(free[:k]))
			free = free[k:]
			if n("suspended", 0, 9) == 0 {
				s.Cores = nil
			}
			seen = append(seen, invasive.Seen{ID: j.ID})
		}
		saved = append(saved, s)
	}
	h, _ := invasive.NewHypervisor(terms, saved, seen, nil)
	w := &world{t: t, h: h, policy: policy, shape: p, promised: map[invasive.JobID]bool{}, calm: !rapid.Bool().Draw(t, "grow")}
	w.nodes()
	w.lost = false
	return w
}

func coresOf(p *invasive.Partition) func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for c := range uint32(p.Cores()) {
			if !yield(c) {
				return
			}
		}
	}
}
