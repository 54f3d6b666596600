// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkVictims is the referee of who ends for whom: gone are the nodes on which somebody does.
func checkVictims(in *Input, out *Output) (gone []bool, err error) {
	gone = make([]bool, len(in.Nodes))
	ends := make([]bool, len(in.Running))
	for i, d := range out.Decisions {
		if d.Why != Starts {
			continue
		}
		list := out.Victims[d.FirstVictim:][:d.Victims]
		for k, r := range list {
			if in.Running[r].Price == 0 || k > 0 && list[k-1] >= r {
				return nil, fmt.Errorf("job %d: running jobs %v end", i, list)
			}
			ends[r] = true
		}
	}
	count := 0
	for r := range ends {
		if !ends[r] {
			continue
		}
		count++
		for _, s := range in.segmentsOf(r) {
			for n := s.First; n <= s.Last; n++ {
				gone[n] = true
			}
		}
	}
	if count != out.Preempted {
		return nil, fmt.Errorf("%d running jobs end instead of %d", count, out.Preempted)
	}
	for i, d := range out.Decisions {
		if d.Why != Starts {
			continue
		}
		for r := range ends {
			waits := slices.Contains(out.Victims[d.FirstVictim:][:d.Victims], uint32(r))
			may := in.Jobs[i].Preempts>>in.Running[r].PreemptClass&1 == 1
			if waits && !may {
				return nil, fmt.Errorf("job %d and running job %d: waits %t, may %t", i, r, waits, may)
			}
		}
	}
	var sets []uint64
	classes := uint64(0)
	for r := range ends {
		if ends[r] {
			classes |= 1 << in.Running[r].PreemptClass
		}
	}
	for _, j := range in.Jobs {
		if set := j.Preempts & classes; !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	for n := range in.Nodes {
		for _, set := range sets {
			if !gone[n] {
				continue
			}
			if err := checkRoom(in, out, n, set, classes, ends); err != nil {
				return nil, err
			}
		}
	}
	return gone, nil
}

func (in *Input) segmentsOf(running int) []Segment {
	r := &in.Running[running]
	return in.Segments[r.FirstSegment:][:r.Segments]
}

func (o *Output) segmentsOf(d *Decision) []Segment { return o.Segments[d.FirstSegment:][:d.Segments] }

// checkRoom has those starts that preempt none beyond set take no more of node n than is free, and
// those of set give back that end, which are of classes in all.
func checkRoom(in *Input, out *Output, n int, set, classes uint64, ends []bool) error {
	room := []int{int(in.Nodes[n].FreeCores), int(in.Nodes[n].FreeGPUs)}
	for r := range in.Resources {
		room = append(room, int(in.Amounts[r*len(in.Nodes)+n].Free))
	}
	add := func(segs []Segment, uses []Use, of, sign int) {
		for _, s := range segs {
			if int(s.First) > n || int(s.Last) < n {
				continue
			}
			room[0] += sign * int(s.Cores)
			room[1] += sign * int(s.GPUs)
			for _, u := range uses {
				if int(u.Of) == of {
					room[2+u.Resource] += sign * (int(u.PerNode) + int(u.PerCore)*int(s.Cores) + int(u.PerGPU)*int(s.GPUs))
				}
			}
		}
	}
	for r := range ends {
		if ends[r] && set>>in.Running[r].PreemptClass&1 == 1 {
			add(in.segmentsOf(r), in.RunningUses, r, 1)
		}
	}
	for i, d := range out.Decisions {
		if d.Why != Starts || in.Jobs[i].Preempts&classes&^set != 0 {
			continue
		}
		uses, of := in.JobUses, i
		if d.Alternative > 0 {
			uses, of = in.AlternativeUses, alternativeOf(in, i, int(d.Alternative))
		}
		add(out.segmentsOf(&d), uses, of, -1)
	}
	if slices.Min(room) < 0 {
		return fmt.Errorf("node %d: starts that preempt %#x leave %v", n, set, room)
	}
	return nil
}

// addPrices gives running jobs prices, and lets jobs preempt them.
func (in *Input) addPrices(rng *rand.Rand) {
	for i := range in.Running {
		if r := &in.Running[i]; rng.IntN(3) > 0 {
			r.Price, r.PreemptClass = 1+rng.Uint64N(1<<rng.IntN(32)), uint8(rng.IntN(3)*31)
		}
	}
	for i := range in.Jobs {
		if rng.IntN(2) == 0 {
			in.Jobs[i].Preempts = rng.Uint64()
		}
	}
}

// priced is a node that a job has to itself which may be preempted, and one who may.
func priced(price uint64) *Input {
	return &Input{Now: 100, Nodes: []Node{{Cores: 4, Up: 1}, {Cores: 4, FreeCores: 4, Up: 1}},
		Running:  []Running{{End: 900, Segments: 1, Price: price, PreemptClass: 63}},
		Segments: []Segment{{Cores: 4}},
		Jobs: []Job{{Priority: 50, Cores: 8, MinNodes: 2, MaxNodes: 2, TimeLimit: 60, Mask: -1, Preempts: 1 << 63},
			{Priority: 40, Cores: 4, TimeLimit: 60, Mask: -1}}}
}

func TestPreemption(t *testing.T) {
	e := open(t, "preset=none reservations=0")
	var out Output
	for name, share := range map[string][]uint32{"": nil, "GPUs are shared somewhere": {0, 0}} {
		in := priced(5) // 5 and 40 are less than 50
		in.ShareSizes = share
		require.NoError(t, e.Cycle(in, &out))
		require.NoError(t, check(in, &out))
		require.Equal(t, []uint8{Starts, WaitsLost}, whys(&out), name)
		require.Equal(t, []uint32{0}, out.Victims)
		require.Equal(t, []int{1, 1}, []int{out.Preempted, int(out.Decisions[0].Victims)})
		require.InDelta(t, 55, out.Objective, 10, "50 less 5, and the preference for its place")
	}
	for name, change := range map[string]func(in *Input){
		"it is too dear":  func(in *Input) { in.Running[0].Price = 11 },
		"it has no price": func(in *Input) { in.Running[0].Price = 0 },
		"nobody may":      func(in *Input) { in.Jobs[0].Preempts = 1 << 62 },
	} {
		in := priced(5)
		change(in)
		require.NoError(t, e.Cycle(in, &out))
		require.NoError(t, check(in, &out))
		require.Equal(t, Starts, out.Decisions[1].Why, name)
		require.Empty(t, out.Victims, name)
		require.Zero(t, out.Preempted, name)
	}
}

// Two starts may wait for the same running job, and one for two: queue and input differ in number.
func TestVictimsOfSeveralStarts(t *testing.T) {
	in := &Input{Nodes: []Node{{Cores: 8, Up: 1}, {Cores: 8, Up: 1}, {Cores: 8, FreeCores: 8, Up: 1}},
		Running: []Running{{End: 50, FirstSegment: 1, Segments: 1}, {End: 60, Segments: 1, Price: 2},
			{End: 70, FirstSegment: 2, Segments: 1, Price: 3, PreemptClass: 1}},
		Segments: []Segment{{Cores: 8}, {First: 1, Last: 1, Cores: 4}, {First: 1, Last: 1, Cores: 4}}}
	in.Jobs = []Job{{Priority: 90, Cores: 1, Mask: -1}, // it has a fault: no time limit
		{Priority: 80, Cores: 8, CoresPerNode: 4, Mask: 0, TimeLimit: 9, Preempts: 3},
		{Priority: 70, Cores: 4, Mask: 0, TimeLimit: 9, Preempts: 1}, {Priority: 60, Cores: 8, Mask: -1, TimeLimit: 9, Preempts: 3}}
	in.Masks, in.MaskCount, in.MaskWords = []uint64{3}, 1, 1
	var out Output
	require.NoError(t, open(t, "reservations=0").Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, []uint8{Faulty, Starts, Starts, Starts}, whys(&out))
	require.Equal(t, 2, out.Preempted)
	victims := func(i int) []uint32 { return out.Victims[out.Decisions[i].FirstVictim:][:out.Decisions[i].Victims] }
	require.Equal(t, []uint32{1, 2}, victims(1))
	require.Equal(t, []uint32{1}, victims(2))
	require.Empty(t, victims(3))
}

func TestFaultsOfPrices(t *testing.T) {
	for words, spoil := range map[string]func(r *Running){
		"running[0].price: 1099511627777: must be at most 1099511627776": func(r *Running) { r.Price = 1<<40 + 1 },
		"running[0].preempt_class: 64: must be at most 63":               func(r *Running) { r.PreemptClass = 64 },
	} {
		in := priced(9)
		spoil(&in.Running[0])
		out := decideInSpite(t, open(t, "reservations=0"), in, -1, words)
		require.Empty(t, out.Victims, "what it holds is nobody's")
	}
}

// The inputs of the other tests have jobs preempted, and GPUs shared.
func TestRandomInputsShareAndPreempt(t *testing.T) {
	rng := rand.New(rand.NewPCG(77, 1))
	e, victims, bins := open(t, "work=20000"), 0, 0
	for range 300 {
		in := randomInput(rng, rng.IntN(60)+1, rng.IntN(40))
		var out Output
		require.NoError(t, e.Cycle(in, &out))
		require.NoError(t, check(in, &out))
		victims += out.Preempted
		for _, s := range out.Segments {
			if s.Bin > 0 {
				bins++
			}
		}
	}
	require.Greater(t, victims, 20)
	require.Greater(t, bins, 300)
}
