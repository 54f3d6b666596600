// SPDX-License-Identifier: BSD-3-Clause

package engine

import "slices"

// Preference is struct aucsched_preference: what says how soon a node is used.
type Preference struct {
	Weight   uint32 // lower ones first
	Asleep   uint8  // powered down: after others of its weight
	Spread   uint8  // the least loaded of these first, whatever their weight
	Reserved [2]uint8
}

const (
	tierKinds = 4   // of one weight: awake and asleep, each without and with GPUs
	allTiers  = 256 // a byte has so many
	tierLoads = 8   // loads of nodes that are told apart, where the least loaded come first
)

// SetTiers sets the tiers of nodes by their preferences.
func SetTiers(nodes []Node, preferences []Preference) {
	var weights []uint32
	for i := range preferences {
		weights = append(weights, preferences[i].Weight)
	}
	slices.Sort(weights)
	weights = slices.Compact(weights)
	highest := uint8(0)
	for i := range nodes {
		p := &preferences[i]
		at, _ := slices.BinarySearch(weights, p.Weight)
		kind := 0
		if p.Asleep != 0 {
			kind = 2
		}
		if nodes[i].GPUs > 0 {
			kind++
		}
		nodes[i].Tier = tier(at, len(weights), kind, allTiers)
		highest = max(highest, nodes[i].Tier)
	}
	for i := range nodes {
		if n := &nodes[i]; preferences[i].Spread != 0 && n.Cores > 0 {
			n.Tier = loadedTier(n, int(highest))
		}
	}
}

// tier is less than tiers. Where there are more weights than it has room for, neighbours count as
// one: what is asleep, or has GPUs, is told from what is not all the same.
func tier(at, weights, kind, tiers int) uint8 {
	if groups := tiers / tierKinds; weights > groups {
		at = at * groups / weights
	}
	return uint8(at*tierKinds + kind)
}

// loadedTier is that of a node where the least loaded come first: as with Slurm, load counts more than
// any weight.
func loadedTier(n *Node, highest int) uint8 {
	load := ((tierLoads-1)*int(n.Cores-n.FreeCores) + int(n.Cores) - 1) / int(n.Cores)
	const each = allTiers / tierLoads
	return uint8(load*each) + tier(int(n.Tier)/tierKinds, highest/tierKinds+1, int(n.Tier)%tierKinds, each)
}
