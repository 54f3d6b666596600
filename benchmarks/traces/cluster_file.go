// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// maxNamed is the most nodes that a file may name, far above Slurm's own limit of
// 65533; each name costs memory.
const maxNamed = 1 << 20

// clusterReader turns lines into nodes.
type clusterReader struct {
	*workload.Lines
	nodes  Machine
	lineOf map[string]int // of each node's name
}

var errClusterLine = errors.New("not COUNT CORES [GPUS] or HOSTLIST cores=CORES [gpus=GPUS] [memory=MiB], and no slurm.conf begins so")

func (c *clusterReader) add(fields []string) error {
	switch {
	case len(fields) == 0:
		return nil
	case strings.Contains(fields[0], "="):
		return errClusterLine
	case len(fields) > 1 && strings.Contains(fields[1], "="):
		return c.addNamed(fields)
	case len(fields) > 3 || len(fields) < 2:
		return errClusterLine
	}
	nodes, err := generate.AddRun(c.nodes.Nodes, fields)
	if err != nil {
		return err
	}
	c.nodes.Nodes = nodes
	c.nodes.Memory = append(c.nodes.Memory, make([]int64, len(nodes)-len(c.nodes.Memory))...)
	return nil
}

// namedKeys are the keys of a line HOSTLIST cores=CORES [gpus=GPUS] [memory=MiB].
var namedKeys = []string{"cores", "gpus", "memory"}

// addNamed adds the nodes of such a line.
func (c *clusterReader) addNamed(fields []string) error {
	values := map[string]string{}
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		name := strings.ToLower(key)
		_, twice := values[name]
		switch {
		case !ok:
			return fmt.Errorf("%s is not KEY=VALUE", workload.Quote(f))
		case !slices.Contains(namedKeys, name):
			return &workload.InputError{Field: key, Value: value, Err: errors.New("unknown; known are cores, gpus and memory")}
		case twice:
			return &workload.InputError{Field: name, Value: value, Err: errors.New("given twice on the line")}
		}
		values[name] = value
	}
	number := func(key string, low, high int) (n int, err error) {
		if value, given := values[key]; given {
			n, err = generate.Whole(key, value, low, high)
		}
		return n, err
	}
	cores, err := number("cores", 0, maxNodeCores)
	if err != nil {
		return err
	}
	gpus, err := number("gpus", 0, maxNodeGPUs)
	if err != nil {
		return err
	}
	memory, err := number("memory", 1, nodeset.MaxAmount)
	if err != nil {
		return err
	}
	if cores < 1 {
		return fmt.Errorf("nodes %s without a core", workload.Quote(fields[0]))
	}
	n, err := c.name(fields[0])
	if err != nil {
		return &workload.InputError{Field: "hosts", Value: fields[0], Err: err}
	}
	return c.nodes.add(n, nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}, memory)
}

// name takes the names of a line's nodes, and returns how many there are.
func (c *clusterReader) name(hosts string) (int, error) {
	n, err := hostlist.Count(hosts)
	switch {
	case err != nil:
		return 0, err
	case len(c.lineOf)+n > maxNamed:
		return 0, fmt.Errorf("more than %d named nodes; give COUNT CORES GPUS", maxNamed)
	}
	names, err := hostlist.Expand(hosts)
	for _, name := range names {
		if line, ok := c.lineOf[name]; ok {
			return 0, fmt.Errorf("node %s is on line %d already", name, line)
		}
		c.lineOf[name] = c.N
	}
	return n, err
}
