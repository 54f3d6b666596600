// SPDX-License-Identifier: BSD-3-Clause

// Package hostlist reads and writes Slurm's hostlist expressions, the short form
// of lists of node names.
//
//	n[1-3,007-009],gpu5,rack[1-2]n[1-4]
//
// Commas and blanks outside brackets separate elements; as in Slurm, several count as one, and
// those before the first element and behind the last one for nothing. A bracket holds numbers and
// ranges of numbers; several brackets in one element multiply, the last one counting fastest.
// (Slurm names the same nodes, but with three or more brackets in an order of its own.) The low end
// of a range sets the width to which its numbers are padded with zeros: [7-10] is 7, 8, 9, 10 and
// [07-10] is 07, 08, 09, 10.
//
// [Expand] and [Compress] are inverse: Expand(Compress(names)) is names.
package hostlist

// Bounds of a list. Input beyond them is an error.
const (
	MaxNames   = 1 << 24 // names in one list
	MaxNameLen = 255     // bytes of one name
)

// maxDigits keeps every number of a range within an int64.
const maxDigits = 18
