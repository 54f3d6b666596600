// SPDX-License-Identifier: BSD-3-Clause

package timeline

// A lane is 16 bits of a word, of which the highest is 0. A word has those of four nodes.
const (
	laneBits = 16
	perWord  = 64 / laneBits
	// Top is the greatest amount of a lane.
	Top  = 1<<(laneBits-1) - 1
	high = 0x8000800080008000 // the highest bits of the lanes
	ones = 0x0001000100010001 // the lowest
	even = 0x0000FFFF0000FFFF // every other lane
)

// spread has x in all lanes.
func spread(x uint16) uint64 { return uint64(x) * ones }

// lane is the lane of a node.
func lane(words []uint64, node int) uint16 {
	return uint16(words[node/perWord] >> (node % perWord * laneBits))
}

// atLeast has the highest bit of each lane in which x is y or more.
func atLeast(x, y uint64) uint64 { return ((x | high) - y) & high }

// full has all bits of the lanes of which m has the highest.
func full(m uint64) uint64 { return m >> (laneBits - 1) * (1<<laneBits - 1) }

// least is the lesser of x and y in each lane.
func least(x, y uint64) uint64 {
	m := full(atLeast(x, y))
	return y&m | x&^m
}

// sum adds up the lanes.
func sum(x uint64) int {
	x = x&even + x>>laneBits&even
	return int(x&(1<<32-1) + x>>32)
}
