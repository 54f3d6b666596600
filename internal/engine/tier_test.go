// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of two nodes of one weight that one comes first which is awake, or else has no GPUs; no node comes
// before one of a lower weight if there is room for all weights. With spread load counts first.
func TestTiers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 60 {
		weights := 1 + r.IntN([]int{12, 200}[round%2])
		nodes, preferences := make([]Node, 40), make([]Preference, 40)
		seen := map[uint32]bool{}
		for i := range nodes {
			cores := uint16(1 + r.IntN(200))
			nodes[i] = Node{Cores: cores, FreeCores: uint16(r.IntN(int(cores) + 1)), GPUs: uint8(r.IntN(2))}
			preferences[i] = Preference{Weight: 7 * r.Uint32N(uint32(weights)), Asleep: uint8(r.IntN(2))}
			seen[preferences[i].Weight] = true
		}
		SetTiers(nodes, preferences)
		plain := make([]uint8, len(nodes))
		for i := range nodes {
			plain[i], preferences[i].Spread = nodes[i].Tier, 1
		}
		SetTiers(nodes, preferences)
		load := func(i int) (eighths int) { // rounded up: nobody is on 0, all is taken on 7
			for eighths*int(nodes[i].Cores) < 7*int(nodes[i].Cores-nodes[i].FreeCores) {
				eighths++
			}
			return eighths
		}
		for a := range nodes {
			for b := range nodes {
				byWeight := cmp.Compare(preferences[a].Weight, preferences[b].Weight)
				bySleep := cmp.Compare(preferences[a].Asleep, preferences[b].Asleep)
				byKind := cmp.Or(bySleep, cmp.Compare(nodes[a].GPUs, nodes[b].GPUs))
				byLoad := cmp.Or(bySleep, cmp.Compare(load(a), load(b)))
				got, loaded := cmp.Compare(plain[a], plain[b]), cmp.Compare(nodes[a].Tier, nodes[b].Tier)
				require.Equal(t, cmp.Or(bySleep, byWeight, byKind), got, "there is room for 64 weights")
				if byLoad != 0 {
					require.Equal(t, byLoad, loaded)
				} else if len(seen) <= 8 {
					require.Equal(t, got, loaded)
				} else {
					require.True(t, loaded == got || loaded == 0 || loaded == byKind)
				}
				require.True(t, loaded != 0 || byKind == 0)
			}
		}
	}
}

// Neighbours that have no room of their own are one group: what differs otherwise is told apart.
func TestManyWeights(t *testing.T) {
	nodes, preferences := make([]Node, 1000), make([]Preference, 1000)
	for i := range nodes {
		nodes[i], preferences[i] = Node{Cores: 1, GPUs: uint8(i % 2)}, Preference{Weight: uint32(i / 2)}
	}
	SetTiers(nodes, preferences)
	for i := 1; i < len(nodes); i++ {
		a, b := &nodes[i-1], &nodes[i]
		require.LessOrEqual(t, a.Tier/tierKinds, b.Tier/tierKinds)
		require.Equal(t, int(b.GPUs), int(b.Tier)%tierKinds)
	}
	require.EqualValues(t, 63, nodes[999].Tier/tierKinds)
}
