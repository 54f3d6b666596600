// SPDX-License-Identifier: BSD-3-Clause

package frag

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
)

// holesOf are nodes of one GPU, each so many times, as Shares is told of them.
func holesOf(h *Shares, times map[int16]int) {
	for idle, n := range times {
		s := node(8, idle)
		for range n {
			h.Move(&State{}, &s)
		}
	}
}

// many repeats requests as often as it says.
func many(times map[Request]int) (all []Request) {
	for r, n := range times {
		for range n {
			all = append(all, r)
		}
	}
	return all
}

func TestSharesAreWorthWhatComes(t *testing.T) {
	small, half, large, whole := ask(1, 1, 160), ask(1, 1, 470), ask(1, 1, 810), ask(1, 1, Whole)
	h := NewShares(many(map[Request]int{small: 2, half: 20, large: 20, whole: 60}))
	holesOf(h, map[int16]int{190: 100, 530: 10, 340: 10, Whole: 100})
	h.Look(130 * Whole)
	cost := h.Costs(160)
	require.InDelta(t, -160, cost[19], 10, "more holes of 190 than 160 come: it adds all that it has")
	require.Greater(t, cost[53], cost[19]+200, "530 is for 470")
	cost = h.Costs(470)
	require.Less(t, cost[53], cost[Units], "a hole of 530 before a whole GPU")
	require.InDelta(t, cost[53], h.Least(470), 1e-9)
	require.Zero(t, cost[46], "too small")
	cost = h.Costs(810)
	require.InDelta(t, 190, cost[Units], 30, "what is left of the GPU is worth nothing")

	// The same holes, but small shares in plenty: what 810 leaves is filled.
	h = NewShares(many(map[Request]int{small: 200, half: 20, large: 20, whole: 60}))
	holesOf(h, map[int16]int{190: 100, 530: 10, 340: 10, Whole: 100})
	h.Look(300 * Whole)
	cost = h.Costs(810)
	require.Less(t, cost[Units], 60.0)
}

// The prices solve the linear program: no size is used more than it comes, one with a rent is used
// up, and what the prices promise is what is given out; but for what the softness blurs.
func TestSharesPricesClear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfNDistinct(rapid.IntRange(5, Units), 1, 6, rapid.ID[int]).Draw(t, "sizes")
		times := map[Request]int{}
		for _, s := range sizes {
			times[ask(1, 1, int16(s*unit))] = rapid.IntRange(1, 9).Draw(t, "times")
		}
		h := NewShares(many(times))
		holes := map[int16]int{}
		for range rapid.IntRange(1, 5).Draw(t, "holes") {
			holes[int16(rapid.IntRange(1, Units).Draw(t, "idle")*unit)] = rapid.IntRange(1, 40).Draw(t, "nodes")
		}
		holesOf(h, holes)
		coming := float64(rapid.IntRange(1, 60).Draw(t, "coming")) * Whole
		for range 240 { // 60 leave one in some 20,000 not yet there
			h.Look(coming)
		}
		var f filling
		f.of(h)
		given, promised, nodes := 0.0, 0.0, 0
		for s, used := range f.used(h) {
			if h.asked[s] == 0 {
				require.Zero(t, used)
				continue
			}
			come := h.asked[s] * coming / h.each
			near := 0.1*come + 1
			require.LessOrEqual(t, used, come+near, "size %d", s)
			if h.rent[s] > 0 {
				require.InDelta(t, come, used, near, "size %d has a rent of %v", s, h.rent[s])
			}
			given += used * float64(s*unit)
			promised += come * h.rent[s]
		}
		for idle, n := range holes {
			promised += float64(n) * h.worth[Hole(idle)]
			nodes += n
		}
		require.InDelta(t, given, promised, 0.1*given+float64(nodes)*10*soft)
	})
}

func TestSharesAreCounted(t *testing.T) {
	h := NewShares([]Request{ask(2, 1, 300), ask(0, 0, 0)})
	was, is := node(4, 1000, 495), node(4, 1000, 195)
	h.Move(&State{}, &was)
	require.Equal(t, 1, h.holes[49], "rounded down")
	h.Move(&was, &is)
	require.Equal(t, [3]int{1, 0, 1}, [3]int{h.holes[19], h.holes[49], h.holes[Units]})
	few := node(1, 1000, 195)
	h.Move(&is, &few)
	require.Equal(t, [Units + 1]int{}, h.holes, "no request finds the cores")
	h.Look(0)
	NewShares([]Request{ask(1, 0, 0)}).Look(1000) // no GPU is asked for
	require.Equal(t, uint8(1), Hole(19))
}

func TestSharesAllocateNothing(t *testing.T) {
	race.Allocates(t)
	h := NewShares([]Request{ask(1, 1, 470), ask(1, 1, 320)})
	holesOf(h, map[int16]int{530: 3, Whole: 9})
	var cost [Units + 1]float64
	require.Zero(t, testing.AllocsPerRun(10, func() { h.Look(5000); cost = h.Costs(320) }))
	require.NotZero(t, cost[53])
}
