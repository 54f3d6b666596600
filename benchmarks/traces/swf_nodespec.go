// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"errors"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// specField is the index of field 21, the node specification, in SWFRecord.Extra.
const specField = 21 - swfFields - 1

// What applyNodeSpec counts.
const (
	specUnknown  = "node specification not understood: processors only"
	specMismatch = "node specification contradicts the processors: processors only"
	specUneven   = "node specification of unequal nodes: number of nodes and processors only"
	specProperty = "properties in the node specification ignored"
)

// applyNodeSpec narrows q, which asks for processors, to the nodes that a PBS
// specification asks for. One that cannot be used leaves q as it is.
func applyNodeSpec(b *workload.Builder, q *bids.Request, text string) {
	spec, err := parseNodeSpec(text)
	switch {
	case err != nil:
		b.Adjust(specUnknown)
		return
	case spec.cores != q.Cores:
		b.Adjust(specMismatch)
		return
	case spec.properties:
		b.Adjust(specProperty)
	}
	q.MinNodes, q.MaxNodes, q.MinGPUs = spec.nodes, spec.nodes, spec.gpus
	if spec.even {
		q.TasksPerNode = spec.cores / spec.nodes
	} else {
		b.Adjust(specUneven)
	}
}

// nodeSpec is what a PBS node specification asks for.
type nodeSpec struct {
	nodes, cores int
	gpus         int  // on each node
	even         bool // the same number of cores on each node
	properties   bool // it also names properties of nodes
}

var errNodeSpec = errors.New("not a node specification")

// parseNodeSpec parses CHUNK+CHUNK..., see parseChunk. All chunks must ask for the
// same number of GPUs.
func parseNodeSpec(text string) (nodeSpec, error) {
	chunks := strings.Split(text, "+")
	all, err := parseChunk(chunks[0])
	for _, chunk := range chunks[1:] {
		if err != nil {
			return nodeSpec{}, err
		}
		var c nodeSpec
		if c, err = parseChunk(chunk); c.gpus != all.gpus {
			return nodeSpec{}, errNodeSpec
		}
		all.even = all.even && c.cores*all.nodes == all.cores*c.nodes
		all.nodes += c.nodes
		all.cores += c.cores
		all.properties = all.properties || c.properties
	}
	return all, err
}

// parseChunk parses COUNT:ppn=CORES:gpus=GPUS:PROPERTY..., in which all but COUNT
// may be missing and come in any order. A host's name in place of COUNT is one
// node.
func parseChunk(text string) (nodeSpec, error) {
	parts := strings.Split(text, ":")
	c := nodeSpec{nodes: 1, even: true}
	var err error
	if c.nodes, err = strconv.Atoi(parts[0]); err != nil {
		if !hostName(parts[0]) {
			return nodeSpec{}, errNodeSpec
		}
		c.nodes, c.properties = 1, true
	}
	perNode := 1
	for _, p := range parts[1:] {
		switch key, value, _ := strings.Cut(p, "="); key {
		case "ppn":
			perNode, err = strconv.Atoi(value)
		case "gpus":
			c.gpus, err = strconv.Atoi(value)
		default:
			c.properties = true
			continue
		}
		if err != nil {
			return nodeSpec{}, errNodeSpec
		}
	}
	if c.nodes < 1 || c.nodes > nodeset.MaxNodes || perNode < 1 || perNode > bids.MaxCoresPerNode ||
		c.gpus < 0 || c.gpus > bids.MaxGPUsPerNode {
		return nodeSpec{}, errNodeSpec
	}
	c.cores = c.nodes * perNode
	return c, nil
}

// hostName tells the name of a host from a malformed number.
func hostName(s string) bool {
	return s != "" && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z'
}
