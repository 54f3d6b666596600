// SPDX-License-Identifier: BSD-3-Clause

package frag

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
)

const anyKind = ^uint64(0)

// node is a state with so many cores and these GPUs.
func node(cores int32, gpus ...int16) State {
	s := State{CPU: cores * 1000, Memory: 1 << 20, Count: uint8(len(gpus))}
	copy(s.GPUs[:], gpus)
	return s
}

// ask is a request; share is of each GPU.
func ask(cores int32, gpus uint8, share int16) Request {
	return Request{CPU: cores * 1000, GPUs: gpus, Share: share, Kinds: anyKind}
}

func TestFits(t *testing.T) {
	s := node(8, 1000, 1000, 300)
	for name, c := range map[string]struct {
		r    Request
		fits bool
	}{
		"whole GPUs":                {ask(8, 2, Whole), true},
		"a shared GPU is not whole": {ask(8, 3, Whole), false},
		"a share":                   {ask(1, 1, 300), true},
		"cores":                     {ask(9, 1, 300), false},
		"memory":                    {Request{Memory: 1<<20 + 1, Kinds: anyKind}, false},
		"another model":             {Request{GPUs: 1, Share: 1, Kinds: 2}, false},
		"no GPU, whatever model":    {Request{CPU: 8000}, true},
	} {
		require.Equal(t, c.fits, s.Fits(&c.r), name)
	}
}

func states(t *rapid.T) State {
	s := node(int32(rapid.IntRange(0, 64).Draw(t, "cores")))
	s.Count = uint8(rapid.IntRange(0, MaxGPUs).Draw(t, "GPUs"))
	for i := range s.Count {
		s.GPUs[i] = int16(rapid.SampledFrom([]int{0, 190, 530, 700, Whole, Whole}).Draw(t, "idle"))
	}
	return s
}

func requests(t *rapid.T) Request {
	cores, gpus := rapid.IntRange(0, 32).Draw(t, "cores"), rapid.IntRange(0, MaxGPUs).Draw(t, "GPUs")
	r := ask(int32(cores), uint8(gpus), Whole)
	switch r.GPUs {
	case 0:
		r.Share = 0
	case 1:
		r.Share = int16(rapid.IntRange(1, Whole).Draw(t, "share"))
	}
	return r
}

func TestReturnUndoesTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := states(t), requests(t)
		if !s.Fits(&r) {
			return
		}
		for g := range s.Ways(&r) {
			after := s
			taken := after.Take(&r, g)
			require.Equal(t, s.Idle()-r.Thousandths(), after.Idle())
			require.True(t, after.CPU >= 0)
			after.Return(&r, taken)
			require.Equal(t, s, after)
		}
	})
}

func TestMixKeepsTheMostFrequent(t *testing.T) {
	var all []Request
	for n, r := range []Request{ask(1, 1, Whole), ask(2, 1, 500), ask(3, 0, 0)} {
		for i := range 60 / (n + 1) / (n + 1) { // 60, 15, 6
			r.Memory = int32(i)
			all = append(all, r)
		}
	}
	m := NewMix(all, 0.9)
	require.Len(t, m, 2)
	require.Equal(t, ask(1, 1, Whole), m[0].Request)
	require.InDelta(t, 0.8, m[0].Weight, 1e-12)
	require.InDelta(t, 0.2, m[1].Weight, 1e-12)
	require.Len(t, NewMix(all, 1), 3)
}

func TestUnusable(t *testing.T) {
	m := Mix{
		{ask(4, 1, 500), 0.5},
		{ask(8, 2, Whole), 0.25},
		{ask(1, 0, 0), 0.25},
	}
	for name, c := range map[string]struct {
		s    State
		want float64
	}{
		"all in use":             {node(64, 0, 0), 0},
		"only the one without":   {node(8, 1000, 1000), 500},
		"too full for a share":   {node(8, 1000, 1000, 300), 0.5*300 + 0.25*300 + 0.25*2300},
		"too few GPUs":           {node(8, 1000), 500},
		"too few cores for all":  {node(3, 1000, 1000), 2000},
		"too few cores for some": {node(7, 1000, 1000), 1000},
	} {
		require.InDelta(t, c.want, m.Unusable(&c.s), 1e-9, name)
	}
	other := node(8, 1000)
	other.Kind = 3
	m[0].Kinds = 1
	require.InDelta(t, 1000, m.Unusable(&other), 1e-9, "of a model that none can use")
}

// after fills a node by the methods of State alone.
func after(s State, draws []Request) int {
	for i := range draws {
		r := draws[i]
		r.Memory = 0
		if s.Fits(&r) {
			s.Take(&r, s.Fullest(r.Share))
		}
	}
	return s.Idle()
}

func TestFillIsTheMeanOfItsSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(requests), 1, 8).Draw(t, "requests")
		f := NewFill(all, FillOptions{Sequences: 3, Length: 20, Seed: 7})
		s := states(t)
		want := 0
		for _, draws := range f.draws {
			want += after(s, draws)
		}
		require.InDelta(t, float64(want)/3, f.After(&s), 1e-3)
		require.Equal(t, f.After(&s), f.After(&s), "remembered")
		again := NewFill(all, FillOptions{Sequences: 3, Length: 20, Seed: 7})
		require.Equal(t, f.After(&s), again.After(&s), "the same seed")
	})
}

func TestStartTakesTheGPUThatLosesLeast(t *testing.T) {
	o := FillOptions{Sequences: 8, Length: 50, Seed: 1}
	f := NewFill([]Request{ask(0, 1, Whole), ask(0, 1, 530)}, o)
	s := node(8, 1000, 530)
	r := ask(1, 1, 530)
	gpu, cost := f.Start(&s, &r, f.After(&s))
	require.Equal(t, 1, gpu, "530 of 530 leaves nothing over")
	require.LessOrEqual(t, cost, 0.0)
	whole := ask(1, 1, Whole)
	gpu, _ = f.Start(&s, &whole, 0)
	require.Equal(t, -1, gpu)
}

func TestKnownStatesAllocateNothing(t *testing.T) {
	race.Allocates(t)
	f := NewFill([]Request{ask(1, 1, 470)}, FillOptions{Sequences: 8, Length: 50, Seed: 1})
	s := node(8, 1000, 530, 600)
	r := ask(1, 1, 500)
	before := f.After(&s)
	f.Start(&s, &r, before)
	require.Zero(t, testing.AllocsPerRun(100, func() { f.Start(&s, &r, before) }))
}

func TestPricesOfModels(t *testing.T) {
	on := func(kinds uint64, gpus uint8) Request {
		return Request{GPUs: gpus, Share: Whole, Kinds: kinds}
	}
	for name, c := range map[string]struct {
		requests []Request
		idle     []float64
		want     []float64
	}{
		"all will do": {[]Request{on(anyKind, 8)}, []float64{1000, 9000}, []float64{0, 0}},
		"room for those who insist": {
			[]Request{on(1, 1), on(anyKind, 4)},
			[]float64{1000, 1000}, []float64{0, 0},
		},
		"too many insist": {
			[]Request{on(1, 4), on(anyKind, 2)},
			[]float64{1000, 1000}, []float64{0.5, 0},
		},
		"as many insist, less left": {
			[]Request{on(1, 1), on(anyKind, 1)},
			[]float64{500, 1000}, []float64{0.5, 0},
		},
		"none left of it": {
			[]Request{on(1, 1), on(anyKind, 1)},
			[]float64{0, 1000}, []float64{0, 0},
		},
		"those who need one of two": {
			[]Request{on(3, 4), on(anyKind, 1)},
			[]float64{1000, 1000, 1000}, []float64{0.5, 0.5, 0},
		},
	} {
		var idle [MaxKinds]float64
		copy(idle[:], c.idle)
		price := NewPrices(c.requests).Of(&idle)
		for k, want := range c.want {
			require.InDelta(t, want, price[k], 1e-9, "%s: model %d", name, k)
		}
	}
}

func TestPricesOfHoles(t *testing.T) {
	// One request in four asks for 4 GPUs and 8 cores, the others for one GPU: 1.75 on average.
	all := []Request{ask(8, 4, Whole), ask(1, 1, Whole), ask(1, 1, Whole), ask(1, 1, Whole)}
	h := NewHoles(all)
	empty, full := State{}, node(8, 1000, 1000, 1000, 1000)
	for range 100 {
		h.Move(&empty, &full)
	}
	hole := Broken(1 << 3)
	require.Less(t, h.Prices(4000)[hole], 1.0, "100 holes, fewer than one request for them to come")
	require.Greater(t, h.Prices(4e6)[hole], 3999.0, "hundreds of requests to come")
	require.Zero(t, h.Prices(4e6)[0])

	one, four := ask(1, 1, Whole), ask(8, 4, Whole)
	require.Equal(t, hole, h.Breaks(&full, &one, -1))
	require.Zero(t, h.Breaks(&full, &four, -1), "that is what the hole is for")
	cores := ask(1, 0, 0)
	require.Equal(t, hole, h.Breaks(&full, &cores, -1), "a hole without cores is none")
	spare := node(64, 1000, 1000, 1000, 1000, 1000)
	require.Zero(t, h.Breaks(&spare, &one, -1), "one is left")

	few := node(4, 1000, 1000, 1000, 1000)
	for range 100 {
		h.Move(&full, &few)
	}
	require.Greater(t, h.Prices(4e4)[hole], 3900.0, "no hole is left")
}
