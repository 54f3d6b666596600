// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// staked is a machine with jobs that may be preempted, for one with the priority 1000.
func staked(stakes []Stake, gpus []uint8) *Input {
	in := &Input{Nodes: []Node{{Cores: 100, GPUs: 15}, {Cores: 100, GPUs: 1}}, Jobs: []Job{{Priority: 1 << 30}, {Priority: 1000, Preempts: 1}}}
	for i := range stakes {
		stakes[i].Running, stakes[i].Answers = uint32(i), 1
		in.Segments = append(in.Segments, Segment{GPUs: gpus[i]})
		in.Running = append(in.Running, Running{FirstSegment: uint32(i), Segments: 1})
	}
	return in
}

// Whoever loses more in one respect alone is dearer.
func TestPriceOrder(t *testing.T) {
	for name, dearer := range map[string]func(*Stake, *uint8){
		"cores": func(s *Stake, _ *uint8) { s.Cores *= 2 }, "time": func(s *Stake, _ *uint8) { s.Ran += 60 },
		"cancelled": func(s *Stake, _ *uint8) { s.Cancelled = 1 }, "order": func(s *Stake, _ *uint8) { s.Order++ },
		"GPUs": func(_ *Stake, gpus *uint8) { *gpus++ },
	} {
		stakes, gpus := []Stake{{Cores: 8, Order: 3}, {Cores: 8, Order: 3}}, []uint8{1, 1}
		dearer(&stakes[1], &gpus[1])
		in := staked(stakes, gpus)
		shift, err := Price(in, stakes)
		require.NoError(t, err)
		require.Equal(t, 10, shift)
		require.EqualValues(t, 1000<<10, in.Jobs[1].Priority)
		require.Greater(t, in.Running[1].Price, in.Running[0].Price, name)
		require.Less(t, in.Running[0].Price+in.Running[1].Price, in.Jobs[1].Priority/7, name)
	}
}

// A job may preempt whoever is in all answers that it got, and who may be preempted by the same is of one class.
func TestPriceClasses(t *testing.T) {
	in := staked(make([]Stake, 4), make([]uint8, 4))
	stakes := []Stake{{Running: 0, Answers: 1}, {Running: 1, Answers: 3}, {Running: 2, Answers: 1}, {Running: 3, Answers: 2}}
	in.Jobs = []Job{{Priority: 9, Preempts: 1}, {Priority: 8, Preempts: 3}, {Priority: 7}, {Priority: 6, Preempts: 4}}
	_, err := Price(in, stakes)
	require.NoError(t, err)
	for i, class := range []uint8{0, 1, 0, 2} {
		require.Equal(t, class, in.Running[i].PreemptClass)
		require.Positive(t, in.Running[i].Price)
	}
	for i, classes := range []uint64{0b011, 0b010, 0, 0} {
		require.Equal(t, classes, in.Jobs[i].Preempts)
	}

	in.Jobs = []Job{{Priority: 9}, {Priority: 8, Preempts: 4}}
	shift, err := Price(in, stakes)
	require.NoError(t, err)
	require.Zero(t, shift, "nobody may preempt anybody")
	require.Zero(t, in.Jobs[1].Preempts)

	var many []Stake
	for i := range MaxClass + 2 {
		many = append(many, Stake{Answers: uint64(i + 1)})
	}
	in = staked(many, make([]uint8, len(many)))
	for i := range many {
		many[i].Answers = uint64(i)<<1 | 1
	}
	_, err = Price(in, many)
	require.NoError(t, err)
	require.Positive(t, in.Running[MaxClass].Price)
	require.Zero(t, in.Running[MaxClass+1].Price, "there is no class for it")
}

// A start is worth more than all together, and of two the one that loses more is dearer.
func TestPricesTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		stakes, gpus := make([]Stake, 200), make([]uint8, 200)
		for i := range stakes {
			stakes[i] = Stake{Cores: 1 + r.Uint64N(4096), Ran: r.Int64N(1e6) - 10, Cancelled: uint8(r.IntN(2)), Order: r.Uint32N(6)}
			gpus[i] = uint8(r.IntN(16))
		}
		in := staked(stakes, gpus)
		in.Jobs[1].Priority = 1 + r.Uint64N(1<<30)
		_, err := Price(in, stakes)
		require.NoError(t, err)
		sum := uint64(0)
		for i := range in.Running {
			require.True(t, in.Running[i].Price >= 1 && in.Running[i].Price <= MaxPriority)
			if in.Running[i].Price > 1 {
				sum += in.Running[i].Price
			}
		}
		require.Less(t, sum, in.Jobs[1].Priority)
	}
	require.EqualValues(t, 1, price(1, 1, 0), "no worth")
	require.EqualValues(t, MaxPriority, price(1, 1, 1e30), "any worth")
}

func TestPriceRefuses(t *testing.T) {
	for _, running := range [][]uint32{{2}, {1, 1}, {1, 0}} {
		stakes := make([]Stake, 2)
		in := staked(stakes, make([]uint8, 2))
		stakes = stakes[:len(running)]
		for i := range running {
			stakes[i].Running = running[i]
		}
		_, err := Price(in, stakes)
		require.ErrorContains(t, err, "stakes")
	}
	in := staked(nil, nil)
	shift, err := Price(in, nil)
	require.NoError(t, err)
	require.Zero(t, shift)
	in = staked(make([]Stake, 1), make([]uint8, 1))
	in.Running[0].Segments = 2
	_, err = Price(in, []Stake{{}})
	require.Error(t, err)
	for _, priorities := range [][2]uint64{{1 << 63, 1}, {MaxPriority + 1, 1}, {1, 2}, {1, 1 << 63}} {
		in = staked(make([]Stake, 1), make([]uint8, 1))
		in.Jobs = []Job{{Priority: priorities[0]}, {Priority: priorities[1]}}
		_, err = Price(in, []Stake{{}})
		require.ErrorContains(t, err, "priority", "%v", priorities)
	}
}

// A tier comes before any priority, and the order of the queue before both.
func TestTiersOfJobs(t *testing.T) {
	in := &Input{Jobs: []Job{{Priority: 3, Tier: 9}, {Priority: 1 << 33, Tier: 5}, {Priority: 7, Tier: 5}, {Priority: 8, Tier: 5}, {Priority: 4, Tier: 2}}}
	given := in.Jobs
	_, err := in.Value(nil, nil)
	require.NoError(t, err)
	for i, want := range []uint64{2<<32 + 3, 1<<32 + 1<<32 - 1, 1<<32 + 7, 1<<32 + 7, 4} {
		require.Equal(t, want, in.Jobs[i].Priority, i)
	}
	require.EqualValues(t, 3, given[0].Priority, "the caller's stay")
	in = &Input{}
	for i := range 300 {
		in.Jobs = append(in.Jobs, Job{Priority: 5, Tier: uint32(300 - i)})
	}
	_, err = in.Value(nil, nil)
	require.NoError(t, err)
	require.EqualValues(t, 255<<32+5, in.Jobs[0].Priority)
	require.LessOrEqual(t, in.Jobs[0].Priority, uint64(MaxPriority))
}
