// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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

func TestTakesWhatIsAskedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := states(t), requests(t)
		if !s.Fits(&r) {
			return
		}
		for g := range s.Ways(&r) {
			after := s
			taken := after.Take(&r, g)
			require.Equal(t, s.Idle()-r.Thousandths(), after.Idle())
			require.Equal(t, int(r.GPUs), bits.OnesCount8(uint8(taken)))
			require.True(t, after.CPU >= 0)
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
