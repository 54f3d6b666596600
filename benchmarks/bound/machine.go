// SPDX-License-Identifier: BSD-3-Clause

package bound

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// machine is a number of nodes of each kind.
type machine struct {
	kinds       []kind // in a fixed order
	nodes       int64
	cores, gpus int64 // of all nodes
	// widest and deepest are the most cores and GPUs of any node.
	widest, deepest int
}

type kind struct {
	cores, gpus int
	nodes       int64
}

func newMachine(nodes []nodeset.Capacity) (*machine, error) {
	if len(nodes) < 1 || len(nodes) > nodeset.MaxNodes {
		return nil, fmt.Errorf("nodes: %d: must be in 1..%d", len(nodes), nodeset.MaxNodes)
	}
	count := make(map[nodeset.Capacity]int64)
	for _, c := range nodes {
		count[c]++
	}
	m := &machine{nodes: int64(len(nodes))}
	for c, n := range count {
		k := kind{int(c.Cores), int(c.GPUs), n}
		m.kinds = append(m.kinds, k)
		m.cores += n * int64(k.cores)
		m.gpus += n * int64(k.gpus)
		m.widest, m.deepest = max(m.widest, k.cores), max(m.deepest, k.gpus)
	}
	slices.SortFunc(m.kinds, func(a, b kind) int { return cmp.Or(b.cores-a.cores, b.gpus-a.gpus) })
	return m, nil
}

// mostCores are those of the largest node with so many GPUs; 0 if there is none.
func (m *machine) mostCores(gpus int) int {
	most := 0
	for _, k := range m.kinds {
		if k.gpus >= gpus {
			most = max(most, k.cores)
		}
	}
	return most
}
