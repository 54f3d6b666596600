// SPDX-License-Identifier: BSD-3-Clause

package matrix

import (
	"iter"
	"maps"
	"slices"
)

// sorted goes over a map in the order of its seeds.
func sorted[V any](m map[uint64]V) iter.Seq2[uint64, V] {
	return func(yield func(uint64, V) bool) {
		for _, seed := range slices.Sorted(maps.Keys(m)) {
			if !yield(seed, m[seed]) {
				return
			}
		}
	}
}
