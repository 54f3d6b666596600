// SPDX-License-Identifier: BSD-3-Clause

package selection

import "github.com/aucsched/aucsched/nodeset"

// firstDevice is the first GPU of node n that has room for a share, one in shared use or one that
// is free; the node has such a GPU.
func firstDevice(t *nodeset.Table, n int, share int64) uint8 {
	resource, _ := t.Shares()
	whole := t.FreeGPUs()[n] > 0 && t.TotalOf(resource)[n] >= share
	for bin := 1; bin <= t.Bins(n); bin++ {
		if free, inUse := t.BinFree(n, uint8(bin)); (inUse && free >= share) || (!inUse && whole) {
			return uint8(bin)
		}
	}
	return 0
}
