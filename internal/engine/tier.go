// SPDX-License-Identifier: BSD-3-Clause

package engine

import "slices"

// Preference is struct aucsched_preference: what says how soon a node is used.
type Preference struct {
	Weight   uint32 // lower ones first
	Asleep   uint8  // powered down: after all others
	Spread   uint8  // the least loaded of these first, whatever their weight
	Reserved [2]uint8
}

const (
	asleepTier = 128 // from this one on nodes sleep: a byte has twice as many
	tierKinds  = 2   // of one weight: without and with GPUs
	tierLoads  = 8   // loads of nodes that are told apart, where the least loaded come first
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
		at, _ := slices.BinarySearch(weights, preferences[i].Weight)
		nodes[i].Tier = tier(at, len(weights), min(int(nodes[i].GPUs), 1), asleepTier)
		highest = max(highest, nodes[i].Tier)
	}
	for i := range nodes {
		n, p := &nodes[i], &preferences[i]
		if p.Spread != 0 && n.Cores > 0 {
			n.Tier = loadedTier(n, int(highest))
		}
		if p.Asleep != 0 {
			n.Tier += asleepTier
		}
	}
}

// tier is less than tiers. Where there are more weights than it has room for, neighbours count as
// one: what has GPUs is told from what has none all the same.
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
	const each = asleepTier / tierLoads
	return uint8(load*each) + tier(int(n.Tier)/tierKinds, highest/tierKinds+1, int(n.Tier)%tierKinds, each)
}
