// SPDX-License-Identifier: BSD-3-Clause

package bids

// Class is the class of a bid (aucsched1, section 4): A is contiguous, at an end of a nodeset. B is
// contiguous, inside one. C combines neighbouring nodesets. S is what Slurm's own selection would
// take. 0 stands for no bid.
type Class byte

// String returns the letter of the class, empty for no bid.
func (c Class) String() string {
	if c == 0 {
		return ""
	}
	return string(rune(c))
}
