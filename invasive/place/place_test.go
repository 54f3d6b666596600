// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/invasive"
)

func part(nodes, sockets, cores uint32) invasive.Partition {
	return invasive.Partition{Name: "p", Nodes: nodes, Sockets: sockets, CoresPerSocket: cores}
}

// view makes a View of jobs that own cores.
func view(p invasive.Partition, jobs ...invasive.Held) *View {
	v := &View{Partition: p, Owners: make([]invasive.JobID, p.Cores()), Jobs: jobs}
	for i := range v.Jobs {
		v.Jobs[i].Job.ID = invasive.JobID(i + 1)
		for _, c := range v.Jobs[i].Cores {
			v.Owners[c] = invasive.JobID(i + 1)
		}
	}
	return v
}

func runs(flex invasive.Flex, least, most uint32, cores ...uint32) invasive.Held {
	return invasive.Held{Job: &invasive.Job{Flex: flex, MinCores: least, MaxCores: most}, State: invasive.Running, Cores: cores}
}

func waits(flex invasive.Flex, least, most uint32, parts ...invasive.Part) invasive.Held {
	return invasive.Held{Job: &invasive.Job{Flex: flex, MinCores: least, MaxCores: most}, State: invasive.Accepted, Parts: parts}
}

func urgent(h invasive.Held) invasive.Held { h.Job.Urgent = true; return h }

func on(node, cores uint32) invasive.Part { return invasive.Part{Node: node, Cores: cores} }

func TestSeat(t *testing.T) {
	const M, R = invasive.Malleable, invasive.Rigid
	all := []invasive.How{invasive.Shrink, invasive.Suspend, invasive.Kill}
	suspended := invasive.Held{Job: &invasive.Job{MinCores: 2, MaxCores: 2}, State: invasive.Suspended, Parts: []invasive.Part{on(0, 2)}}
	asleep := invasive.Held{Job: &invasive.Job{Flex: M, MinCores: 1, MaxCores: 2},
		State: invasive.Suspended, Parts: []invasive.Part{on(0, 2)}}
	shrinks := func(v *View) { v.Jobs[0].Taking, v.Grow = []uint32{3}, true }
	for _, c := range []struct {
		name   string
		part   invasive.Partition
		jobs   []invasive.Held
		policy Policy
		change func(*View)
		want   string
	}{
		{"the socket that it fills best", part(1, 3, 4), []invasive.Held{runs(R, 1, 1, 0),
			runs(R, 2, 2, 4, 5), waits(R, 2, 2, on(0, 2))}, Policy{}, nil, "place 3 [6 7]"},
		{"as few sockets as may be", part(1, 3, 4), []invasive.Held{runs(R, 1, 1, 0), waits(R, 6, 6, on(0, 6))},
			Policy{}, nil, "place 2 [4 5 6 7 8 9]"},
		{"its nodes", part(2, 1, 4), []invasive.Held{waits(R, 3, 3, on(1, 2), on(0, 1))}, Policy{}, nil, "place 1 [0 4 5]"},
		{"other nodes, if its own are taken", part(2, 1, 4),
			[]invasive.Held{runs(R, 2, 2, 0, 1), waits(R, 3, 3, on(0, 3))}, Policy{}, nil, "place 2 [4 5 6]"},
		{"others shrink elsewhere, if its own nodes have nobody who can", part(2, 1, 2),
			[]invasive.Held{runs(R, 2, 2, 0, 1), runs(M, 1, 2, 2, 3), waits(R, 1, 1, on(0, 1))},
			Policy{}, nil, "take 2 [3] shrink"},
		{"not enough yet, and kept", part(1, 1, 4), []invasive.Held{runs(R, 2, 2, 0, 1),
			waits(R, 3, 3, on(0, 3)), waits(R, 1, 1, on(0, 1))}, Policy{}, nil, ""},
		{"a malleable one starts with less", part(1, 1, 4),
			[]invasive.Held{runs(R, 2, 2, 0, 1), waits(M, 1, 4, on(0, 4))}, Policy{}, nil, "place 2 [2 3]"},
		{"by priority", part(1, 1, 2), []invasive.Held{waits(R, 2, 2, on(0, 2)), waits(R, 2, 2, on(0, 2))},
			Policy{}, func(v *View) { v.Jobs[1].Job.Priority = 5 }, "place 2 [0 1]"},
		{"a suspended one first", part(1, 1, 2), []invasive.Held{waits(R, 2, 2, on(0, 2)), suspended}, Policy{}, nil, "give 2 [0 1]"},

		{"a suspended malleable one on less", part(1, 1, 2), []invasive.Held{runs(R, 1, 1, 0), asleep}, Policy{}, nil, "give 2 [1]"},
		{"but not if it refused to shrink", part(1, 1, 2), []invasive.Held{runs(R, 1, 1, 0), asleep},
			Policy{}, func(v *View) { v.Stubborn = map[invasive.JobID]invasive.How{2: invasive.Shrink} }, ""},

		{"urgent: free cores", part(1, 2, 2), []invasive.Held{runs(R, 2, 2, 0, 1), urgent(waits(M, 1, 4))},
			Policy{Means: all}, nil, "place 2 [2 3]"},
		{"urgent: shrinks, the younger first, as little as needed", part(1, 2, 4),
			[]invasive.Held{runs(M, 1, 4, 0, 1, 2, 3), runs(M, 1, 4, 4, 5, 6, 7), urgent(waits(R, 2, 2))},
			Policy{Means: all}, nil, "take 2 [6 7] shrink"},
		{"urgent: shrinks rather than suspends", part(1, 1, 4),
			[]invasive.Held{runs(M, 1, 4, 0, 1), runs(R, 2, 2, 2, 3), urgent(waits(R, 1, 1))},
			Policy{Means: all}, nil, "take 1 [1] shrink"},
		{"urgent: suspends what is needed, and shrinks no one for nothing", part(1, 1, 4),
			[]invasive.Held{runs(M, 1, 4, 0, 1), runs(R, 2, 2, 2, 3), urgent(waits(R, 2, 2))},
			Policy{Means: all}, nil, "take 2 [2 3] suspend"},
		{"urgent: the least important", part(1, 1, 2), []invasive.Held{runs(R, 1, 1, 0),
			runs(R, 1, 1, 1), urgent(waits(R, 1, 1))}, Policy{Means: all},
			func(v *View) { v.Jobs[1].Job.Priority = 9 }, "take 1 [0] suspend"},
		{"urgent: kills what can't be suspended", part(1, 1, 1),
			[]invasive.Held{runs(R, 1, 1, 0), urgent(waits(R, 1, 1))}, Policy{Means: all},
			func(v *View) { v.Stubborn = map[invasive.JobID]invasive.How{1: invasive.Suspend} }, "take 1 [0] kill"},
		{"urgent: not by means that aren't wanted", part(1, 1, 1),
			[]invasive.Held{runs(R, 1, 1, 0), urgent(waits(R, 1, 1))}, Policy{Means: all[:1]}, nil, ""},
		{"urgent: never another urgent one", part(1, 1, 1),
			[]invasive.Held{urgent(runs(R, 1, 1, 0)), urgent(waits(R, 1, 1))}, Policy{Means: all}, nil, ""},
		{"urgent: waits for what was asked for", part(1, 1, 2),
			[]invasive.Held{runs(M, 1, 2, 0, 1), urgent(waits(R, 1, 1))}, Policy{Means: all},
			func(v *View) { v.Jobs[0].Taking = []uint32{1} }, ""},
		{"not urgent: only shrinks", part(1, 1, 4), []invasive.Held{runs(M, 1, 4, 0, 1),
			runs(R, 2, 2, 2, 3), waits(R, 1, 1, on(0, 1)), waits(R, 2, 2, on(0, 2))},
			Policy{Means: all}, nil, "take 1 [1] shrink"},
		{"not who refused", part(1, 1, 2), []invasive.Held{runs(M, 1, 2, 0, 1), waits(R, 1, 1, on(0, 1))},
			Policy{}, func(v *View) { v.Stubborn = map[invasive.JobID]invasive.How{1: invasive.Shrink} }, ""},
		{"only on the nodes that are needed", part(2, 1, 2),
			[]invasive.Held{runs(M, 1, 4, 0, 1, 2, 3), waits(R, 1, 1, on(0, 1))}, Policy{}, nil, "take 1 [1] shrink"},
		{"a socket with little is left first", part(1, 2, 4),
			[]invasive.Held{runs(M, 1, 8, 0, 1, 2, 4), runs(R, 4, 4, 3, 5, 6, 7), waits(R, 1, 1, on(0, 1))},
			Policy{}, nil, "take 1 [4] shrink"},

		{"wishes: more, near its own", part(1, 2, 4), []invasive.Held{runs(invasive.Evolving, 1, 4, 4, 5)},
			Policy{}, func(v *View) { v.Wishes = map[invasive.JobID]uint32{1: 9} }, "give 1 [6 7]"},
		{"wishes: less", part(1, 1, 4), []invasive.Held{runs(invasive.Evolving, 1, 4, 0, 1, 2)},
			Policy{}, func(v *View) { v.Wishes = map[invasive.JobID]uint32{1: 1} }, "take 1 [1 2] shrink"},
		{"wishes: who waits goes first", part(1, 1, 3),
			[]invasive.Held{runs(invasive.Evolving, 1, 3, 0), waits(R, 2, 2, on(0, 2))},
			Policy{}, func(v *View) { v.Wishes = map[invasive.JobID]uint32{1: 3} }, "place 2 [1 2]"},
		{"grows: all get a share", part(1, 1, 8), []invasive.Held{runs(M, 1, 8, 0),
			runs(M, 1, 8, 1, 2), runs(R, 1, 1, 3)}, Policy{}, func(v *View) { v.Grow = true },
			"give 1 [4 5]; give 2 [6 7]"},
		{"grows: not by little", part(1, 1, 16),
			[]invasive.Held{runs(M, 1, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), runs(R, 3, 3, 12, 13, 14)},
			Policy{}, func(v *View) { v.Grow = true }, ""},
		{"grows: unless it is the last core", part(1, 1, 16),
			[]invasive.Held{runs(M, 1, 13, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), runs(R, 3, 3, 12, 13, 14)},
			Policy{}, func(v *View) { v.Grow = true }, "give 1 [15]"},

		{"power: no more than the cap", part(1, 1, 4), []invasive.Held{runs(R, 1, 1, 0), waits(R, 2, 2, on(0, 2))},
			Policy{CapWatts: 29, CoreWatts: 10}, nil, ""},
		{"power: but alone", part(1, 1, 4), []invasive.Held{waits(R, 4, 4, on(0, 4))},
			Policy{CapWatts: 29, CoreWatts: 10}, nil, "place 1 [0 1 2 3]"},
		{"power: a socket that sleeps costs more", part(1, 2, 2),
			[]invasive.Held{runs(R, 1, 1, 0), waits(R, 1, 1, on(0, 1)), waits(R, 1, 1, on(0, 1))},
			Policy{CapWatts: 100, CoreWatts: 10, SocketWatts: 40}, nil, "place 2 [1]"},
		{"power: none for growth that is kept for who waits", part(1, 2, 4),
			[]invasive.Held{runs(M, 1, 4, 0, 1, 2, 3), runs(M, 1, 4, 4), waits(R, 2, 2, on(0, 2))},
			Policy{CapWatts: 60, CoreWatts: 10}, shrinks, ""},
		{"power: none for others that is kept for who waits", part(1, 2, 4),
			[]invasive.Held{runs(M, 1, 4, 0, 1, 2, 3), runs(R, 1, 1, 4), waits(R, 2, 2, on(0, 2)),
				waits(R, 1, 1, on(0, 1))}, Policy{CapWatts: 60, CoreWatts: 10}, shrinks, ""},
		{"at once elsewhere, if its own are to come", part(1, 2, 4),
			[]invasive.Held{runs(M, 1, 4, 0, 1, 2, 3), waits(R, 3, 3, on(0, 3))},
			Policy{}, func(v *View) { v.Jobs[0].Taking = []uint32{1, 2, 3} }, "place 2 [4 5 6]"},

		{"away: not on a node that does not answer", part(2, 1, 2), []invasive.Held{waits(R, 2, 2, on(0, 2))},
			Policy{}, func(v *View) { v.Away = []bool{true, true, false, false} }, "place 1 [2 3]"},
		{"away: nobody shrinks there for another", part(2, 1, 2),
			[]invasive.Held{runs(M, 1, 4, 0, 1, 2, 3), urgent(waits(R, 1, 1))},
			Policy{Means: all}, func(v *View) { v.Away = []bool{false, false, true, true} }, "take 1 [1] shrink"},
		{"away: no growth onto it", part(2, 1, 2), []invasive.Held{runs(M, 1, 4, 0)},
			Policy{}, func(v *View) { v.Away, v.Grow = []bool{false, false, true, true}, true }, "give 1 [1]"},
		{"lost: jobs leave it, or end", part(2, 1, 3),
			[]invasive.Held{runs(M, 1, 4, 0, 3), runs(M, 2, 2, 1, 4), runs(R, 2, 2, 2, 5)},
			Policy{}, func(v *View) { v.Away = []bool{false, false, false, true, true, true}; v.Lost = v.Away },
			"take 1 [3] shrink; take 2 [1 4] kill; take 3 [2 5] kill"},
		{"lost: who has its home there ends", part(2, 1, 1), []invasive.Held{runs(M, 1, 2, 0, 1)}, Policy{}, func(v *View) {
			v.Away, v.Homes = []bool{false, true}, map[invasive.JobID]uint32{1: 1}
			v.Lost = v.Away
		}, "take 1 [0 1] kill"},
		{"home: stays on it, though it has least there", part(2, 1, 2),
			[]invasive.Held{runs(M, 1, 3, 0, 2, 3), urgent(waits(R, 2, 2))},
			Policy{Means: all}, func(v *View) { v.Homes = map[invasive.JobID]uint32{1: 0} }, "take 1 [3] shrink"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view(c.part, c.jobs...)
			if c.change != nil {
				c.change(v)
			}
			require.Equal(t, c.want, words(Seat(v, &c.policy)))
		})
	}
}

func words(events []invasive.Event) (s string) {
	for i, ev := range events {
		if i > 0 {
			s += "; "
		}
		s += fmt.Sprint(ev.Kind, " ", ev.ID, " ", ev.Cores)
		if ev.Kind == invasive.Take {
			s += " " + map[invasive.How]string{invasive.Shrink: "shrink", invasive.Suspend: "suspend", invasive.Kill: "kill"}[ev.How]
		}
	}
	return s
}

func TestOffer(t *testing.T) {
	const M, R = invasive.Malleable, invasive.Rigid
	limits := func(v *View) { v.Left = map[invasive.JobID]uint32{1: 20} }
	for _, c := range []struct {
		name   string
		part   invasive.Partition
		jobs   []invasive.Held
		policy Policy
		style  Style
		change func(*View)
		want   []invasive.Part
	}{
		{"what is free", part(2, 1, 4), []invasive.Held{runs(R, 1, 1, 0)}, Policy{}, Plain, nil, []invasive.Part{on(0, 3), on(1, 4)}},
		{"without what others wait for", part(1, 1, 4), []invasive.Held{runs(R, 2, 2, 0, 1),
			waits(R, 3, 3, on(0, 3))}, Policy{}, Plain, nil, nil},
		{"blocks", part(1, 2, 4), []invasive.Held{runs(R, 1, 1, 0)}, Policy{}, Blocks, nil, []invasive.Part{on(0, 4)}},
		{"no more than the cap", part(2, 1, 4), nil, Policy{CapWatts: 50, CoreWatts: 10}, Plain, nil, []invasive.Part{on(0, 4), on(1, 1)}},
		{"no more than the cap leaves to who waits", part(1, 2, 4),
			[]invasive.Held{runs(M, 1, 4, 0, 1, 2, 3), runs(R, 1, 1, 4), waits(R, 2, 2, on(0, 2))},
			Policy{CapWatts: 60, CoreWatts: 10}, Plain,
			func(v *View) { v.Jobs[0].Taking = []uint32{3} }, nil},
		{"ahead: ends, and shrinks", part(1, 1, 6), []invasive.Held{runs(R, 2, 2, 0, 1), runs(M, 1, 3, 2, 3, 4)},
			Policy{Horizon: 60, ShrinkTime: 5}, Ahead, limits,
			[]invasive.Part{on(0, 1), {Cores: 2, Delay: 5}, {Cores: 2, Delay: 20}}},
		{"ahead: shrinks before it ends", part(1, 1, 4), []invasive.Held{runs(M, 1, 4, 0, 1, 2)},
			Policy{Horizon: 60, ShrinkTime: 5}, Ahead, limits,
			[]invasive.Part{on(0, 1), {Cores: 2, Delay: 5}, {Cores: 1, Delay: 20}}},
		{"ahead if nothing is free, without claims", part(1, 1, 4),
			[]invasive.Held{runs(R, 4, 4, 0, 1, 2, 3), waits(R, 3, 3, on(0, 3))}, Policy{Horizon: 60}, Plain, limits,
			[]invasive.Part{{Cores: 1, Delay: 20}}},
		{"too far ahead", part(1, 1, 1), []invasive.Held{runs(R, 1, 1, 0)}, Policy{Horizon: 10}, Ahead, limits, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view(c.part, c.jobs...)
			if c.change != nil {
				c.change(v)
			}
			require.Equal(t, c.want, Offer(v, &c.policy, c.style).Parts)
		})
	}
}

func TestJudge(t *testing.T) {
	job := func(id invasive.JobID, cores uint32) *invasive.Job {
		return &invasive.Job{ID: id, MinCores: cores, MaxCores: cores}
	}
	mapped := func(id invasive.JobID, parts ...invasive.Part) invasive.Mapping {
		m := invasive.Mapping{Job: job(id, 0), Parts: parts}
		for _, p := range parts {
			m.Job.MinCores += p.Cores
			m.Job.MaxCores += p.Cores
		}
		return m
	}
	twoHalves := part(2, 2, 4)
	for _, c := range []struct {
		name    string
		jobs    []invasive.Held
		policy  Policy
		pending uint32
		mapping []invasive.Mapping
		want    Reason
		text    string
	}{
		{"nothing at all", nil, Policy{MinUse: 1}, 5, nil, Taken, ""},
		{"all is well", nil, Policy{MinUse: 0.5, Compact: true}, 9,
			[]invasive.Mapping{mapped(8, on(0, 8)), mapped(9, on(1, 2))}, Taken, ""},
		{"uses little", nil, Policy{MinUse: 0.5}, 9, []invasive.Mapping{mapped(8, on(0, 2))},
			Unused, "uses 2 of 16 cores, and 8 more jobs wait"},
		{"uses little, but all that there is", nil, Policy{MinUse: 0.5}, 1, []invasive.Mapping{mapped(8, on(0, 2))}, Taken, ""},
		{"torn", []invasive.Held{runs(invasive.Rigid, 2, 2, 0, 4)}, Policy{Compact: true},
			1, []invasive.Mapping{mapped(8, on(0, 4))}, Torn, "job 8 would lie on several sockets"},
		{"torn, allowed", []invasive.Held{runs(invasive.Rigid, 2, 2, 0, 4)}, Policy{},
			1, []invasive.Mapping{mapped(8, on(0, 4))}, Taken, ""},
		{"torn, but there is no other place", []invasive.Held{runs(invasive.Rigid, 2, 2, 0, 4)},
			Policy{Compact: true}, 2, []invasive.Mapping{mapped(8, on(0, 4)), mapped(9, on(1, 8))}, Taken, ""},
		{"power", []invasive.Held{runs(invasive.Rigid, 1, 1, 0)}, Policy{CapWatts: 40, CoreWatts: 10},
			1, []invasive.Mapping{mapped(8, on(0, 2)), mapped(9, on(1, 2))}, Power,
			"job 9 goes beyond the cap of 40 W"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view(twoHalves, c.jobs...)
			v.Pending = c.pending
			reason, text := Judge(v, &c.policy, Offer(v, &Policy{}, Plain), c.mapping)
			require.Equal(t, c.want, reason)
			require.Contains(t, text, c.text)
			require.Equal(t, c.want == Taken, text == "")
		})
	}
}

func TestUrgent(t *testing.T) {
	v := view(part(1, 1, 4), runs(invasive.Rigid, 2, 2, 0, 1), runs(invasive.Malleable, 1, 2, 2, 3))
	for cores, means := range map[uint32][]invasive.How{1: {invasive.Shrink}, 4: {invasive.Shrink, invasive.Suspend}} {
		ok, text := Urgent(v, &Policy{Means: means}, &invasive.Job{ID: 9, MinCores: cores, MaxCores: cores, Urgent: true})
		require.True(t, ok, text)
		ok, text = Urgent(v, &Policy{Means: means}, &invasive.Job{ID: 9, MinCores: cores + 3, MaxCores: cores + 3, Urgent: true})
		require.False(t, ok)
		require.Contains(t, text, fmt.Sprintf("needs %d cores", cores+3))
	}
	// What is kept for one that isn't urgent is there for it.
	v = view(part(1, 1, 4), runs(invasive.Rigid, 2, 2, 0, 1), waits(invasive.Rigid, 3, 3, on(0, 3)))
	ok, text := Urgent(v, &Policy{}, &invasive.Job{ID: 9, MinCores: 2, MaxCores: 2, Urgent: true})
	require.True(t, ok, text)
}

// Whatever jobs do, every event keeps to the machine's ledger, and all jobs come to their end.
func TestAllJobsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := invasive.Terms{Attempts: 1, Reply: time.Second, Report: time.Second, Partition: part(
			rapid.Uint32Range(1, 3).Draw(t, "nodes"), rapid.Uint32Range(1, 2).Draw(t, "sockets"), rapid.Uint32Range(1, 3).Draw(t, "cores"))}
		policy := &Policy{Means: []invasive.How{invasive.Shrink, invasive.Suspend, invasive.Kill}[:rapid.IntRange(0, 3).Draw(t, "means")]}
		if rapid.Bool().Draw(t, "capped") {
			policy.CapWatts, policy.CoreWatts, policy.SocketWatts = 50, 10, 7
		}
		var saved []invasive.Saved
		for i := range rapid.IntRange(1, 6).Draw(t, "jobs") {
			saved = append(saved, invasive.Saved{Job: nil, State: invasive.Accepted})
			saved[i].Job, saved[i].Parts = drawJob(t, invasive.JobID(i+1), &terms.Partition)
		}
		h, _ := invasive.NewHypervisor(terms, saved, nil, nil)
		w := &world{t: t, h: h, policy: policy, shape: terms.Partition,
			stubborn: map[invasive.JobID]invasive.How{}, wishes: map[invasive.JobID]uint32{}, homes: map[invasive.JobID]uint32{}}
		for range 40 {
			if rapid.IntRange(0, 4).Draw(t, "nodes come and go") == 0 {
				w.nodes()
			}
			w.step()
			w.happens()
		}
		w.away, w.lost = nil, false
		w.calm = true // from now on jobs end, one after the other
		for range 100 {
			w.step()
			w.happens()
		}
		for _, j := range h.Jobs(nil) {
			require.Equal(t, invasive.Done, j.State, "job %d: %+v, %v", j.Job.ID, *j.Job, j)
		}
	})
}

func drawJob(t *rapid.T, id invasive.JobID, p *invasive.Partition) (*invasive.Job, []invasive.Part) {
	perNode := p.Sockets * p.CoresPerSocket
	j := &invasive.Job{ID: id, Flex: invasive.Flex(rapid.IntRange(0, 3).Draw(t, "flex")),
		Priority: rapid.Uint32Range(0, 2).Draw(t, "priority")}
	var parts []invasive.Part
	for node := range rapid.Uint32Range(1, p.Nodes).Draw(t, "on") {
		parts = append(parts, on(node, rapid.Uint32Range(1, perNode).Draw(t, "cores")))
		j.MaxCores += parts[node].Cores
	}
	j.MinCores = j.MaxCores
	j.MinNodes = uint32(len(parts))
	if j.Flex != invasive.Rigid {
		j.MinCores = rapid.Uint32Range(uint32(len(parts)), j.MaxCores).Draw(t, "least")
	}
	if rapid.IntRange(0, 3).Draw(t, "urgent") == 0 {
		j.Urgent, parts = true, nil
	}
	return j, parts
}

// world is jobs that do as they like.
type world struct {
	t        *rapid.T
	h        *invasive.Hypervisor
	policy   *Policy
	stubborn map[invasive.JobID]invasive.How
	wishes   map[invasive.JobID]uint32
	shape    invasive.Partition
	calm     bool
	promised map[invasive.JobID]bool // see promise
	away     []bool                  // of each core
	lost     bool                    // what is away won't come back
	homes    map[invasive.JobID]uint32
}

// nodes has some be away, and others come back.
func (w *world) nodes() {
	per := w.shape.Sockets * w.shape.CoresPerSocket
	w.away = make([]bool, w.shape.Cores())
	for node := range w.shape.Nodes {
		away := rapid.IntRange(0, 3).Draw(w.t, "away") == 0
		for c := node * per; away && c < (node+1)*per; c++ {
			w.away[c] = true
		}
	}
	w.lost = rapid.Bool().Draw(w.t, "lost")
}

// check has what is decided keep off nodes that are away, and jobs on their homes.
func (w *world) check(v *View, ev *invasive.Event) {
	per := w.shape.Sockets * w.shape.CoresPerSocket
	if ev.Kind != invasive.Take {
		for _, c := range ev.Cores {
			require.False(w.t, v.Away != nil && v.Away[c], "%s is away", words([]invasive.Event{*ev}))
		}
		if ev.Kind == invasive.Place && w.homes != nil {
			w.homes[ev.ID] = ev.Cores[0] / per
		}
		return
	}
	home, has := v.Homes[ev.ID]
	if !has || ev.How != invasive.Shrink {
		return
	}
	for _, h := range v.Jobs {
		if h.Job.ID == ev.ID {
			stays := slices.ContainsFunc(without(h.Cores, ev.Cores), func(c uint32) bool { return c/per == home })
			was := slices.ContainsFunc(h.Cores, func(c uint32) bool { return c/per == home })
			require.True(w.t, stays || !was, "%s leaves its home %d", words([]invasive.Event{*ev}), home)
		}
	}
}

func (w *world) view() *View {
	v := &View{Partition: w.shape, Owners: w.h.Owners(), Jobs: w.h.Jobs(nil), Stubborn: w.stubborn, Wishes: w.wishes,
		Grow: !w.calm, Away: w.away, Homes: w.homes}
	if w.lost {
		v.Lost = w.away
	}
	return v
}

func (w *world) step() {
	v := w.view()
	for _, ev := range Seat(v, w.policy) {
		w.check(v, &ev)
		require.NotEmpty(w.t, w.h.Step(&ev, nil), "the ledger doesn't allow %s", words([]invasive.Event{ev}))
	}
}

// promise is a step, and notes for whom cores are asked. One before them in the order who can be
// served only now goes first.
func (w *world) promise() {
	served := newPlan(w.view(), w.policy).ids
	for _, j := range w.h.Jobs(nil) {
		if j.State == invasive.Running {
			// it has them; for an urgent one it may have to give them up again
			delete(w.promised, j.Job.ID)
		}
	}
	late := false
	for _, n := range waiting(w.view(), w.policy) {
		id := n.held.Job.ID
		late = late || served[id] && !w.promised[id]
		w.promised[id] = served[id] || w.promised[id] && !late
	}
	w.step()
}

// happens lets a job answer, wish or end.
func (w *world) happens() {
	for _, j := range w.h.Jobs(nil) {
		id := j.Job.ID
		ends := invasive.Event{Kind: invasive.Exited, ID: id}
		switch choice := rapid.IntRange(0, 5).Draw(w.t, "choice"); {
		case j.Taking != nil && (w.calm || choice < 3):
			w.h.Step(&invasive.Event{Kind: invasive.Released, ID: id, Cores: j.Taking}, nil)
		case j.Taking != nil && choice == 3:
			w.stubborn[id]++
			w.h.Step(&invasive.Event{Kind: invasive.Kept, ID: id}, nil)
		case j.State == invasive.Running && choice == 4 && j.Job.Flex == invasive.Evolving:
			w.wishes[id] = rapid.Uint32Range(1, 9).Draw(w.t, "wish")
		case j.State == invasive.Running && (w.calm || choice == 5):
			w.h.Step(&ends, nil)
			return
		}
	}
}
