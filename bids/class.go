// SPDX-License-Identifier: BSD-3-Clause

package bids

// Class is the class of a bid (aucsched1, section 4).
type Class byte

// The classes. The zero Class is that of no bid.
const (
	ClassA Class = 'A' // contiguous, aligned to an end of a nodeset
	ClassB Class = 'B' // contiguous, inside a nodeset
	ClassC Class = 'C' // neighbouring nodesets combined
	ClassS Class = 'S' // what Slurm's own selection would take ("SLURM bid")
)

func (c Class) String() string {
	if c == 0 {
		return ""
	}
	return string(rune(c))
}
