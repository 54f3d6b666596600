// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"fmt"
	"unsafe"

	"github.com/aucsched/aucsched/nodeset"
)

// nodeRecord is a node as a scheduler without bit-packed arrays would keep it, with
// no more in it than a scan and a report need: Slurm's has several hundred bytes.
type nodeRecord struct {
	name        string
	total, free nodeset.Capacity
	up          bool
}

// NodeRecordBytes is the size of the struct that NodeLoop keeps of a node.
const NodeRecordBytes = int(unsafe.Sizeof(nodeRecord{}))

// nodeRecords copies a table.
func nodeRecords(t *nodeset.Table) []nodeRecord {
	nodes := make([]nodeRecord, t.Len())
	for n := range nodes {
		nodes[n] = nodeRecord{name: fmt.Sprintf("n%d", n+1), total: t.Total(n), free: t.Free(n), up: t.Up(n)}
	}
	return nodes
}

// scanRecords is nodeset.Table.Scan by a plain loop over node structs.
func scanRecords(dst []nodeset.Set, nodes []nodeRecord, q nodeset.Query) []nodeset.Set {
	least := max(q.MinCores, 1)
	open := false
	var cur nodeset.Set
	for n := range nodes {
		node := &nodes[n]
		suits := node.up && int(node.free.Cores) >= least && int(node.free.GPUs) >= q.GPUs && q.Eligible.Has(n)
		switch {
		case suits && !open:
			cur, open = nodeset.Set{First: int32(n), Last: int32(n), Cores: int64(node.free.Cores)}, true
		case suits:
			cur.Last = int32(n)
			cur.Cores += int64(node.free.Cores)
		case open:
			dst, open = append(dst, cur), false
		}
	}
	if open {
		dst = append(dst, cur)
	}
	return dst
}
