// SPDX-License-Identifier: BSD-3-Clause

package localitylog

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/aucsched/aucsched/benchmarks/locality"
)

// ReadCluster reads the nodes of a cluster from r, one a line as in
//
//	{ id: 0 memory: 128 bandwidth: 0.1 core: 20 }
//
// with the memory in GB and the bandwidth in GB/s. Nodes are in the file's order; ids may repeat,
// as they do in the authors' own file. name is what errors call the file: they are
// [*workload.InputError].
func ReadCluster(r io.Reader, name string) ([]locality.Node, error) {
	var nodes []locality.Node
	in := newRecords(r, name, clusterLabels)
	for in.next() {
		nodes = append(nodes, locality.Node{
			ID:        int(in.whole(0, 0, math.MaxInt32)),
			Memory:    in.real(1, true),
			Bandwidth: in.real(2, true),
			Cores:     int(in.whole(3, 1, locality.MaxCores)),
		})
		if len(nodes) > locality.MaxNodes {
			in.fail("", "", fmt.Errorf("more than %d nodes", locality.MaxNodes))
		}
	}
	if in.err == nil && len(nodes) == 0 {
		in.line = 0
		in.fail("", "", errors.New("no node"))
	}
	if in.err != nil {
		return nil, in.err
	}
	return nodes, nil
}
