// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/switches"
	slurm "github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// ParseCluster is ParseMachine, without memory.
func ParseCluster(spec string) ([]nodeset.Capacity, error) {
	m, err := ParseMachine(spec)
	if err != nil {
		return nil, err
	}
	return m.Nodes, nil
}

// ParseMachine gives the nodes of the machine that spec describes, in the
// machine's order. spec is either runs of equal nodes, COUNTxCORES or
// COUNTxCORESxGPUS with commas between ("1408x12x3", "20x80,48x12"), or the path of
// a file in a format of [ReadMachine]. A machine has at most nodeset.MaxNodes
// nodes, each with 1 to 65535 cores and up to 255 GPUs.
func ParseMachine(spec string) (*Machine, error) {
	if !generate.IsRuns(spec) {
		return readClusterFile(spec)
	}
	nodes, err := generate.Nodes(spec)
	if err != nil {
		return nil, err
	}
	return &Machine{Nodes: nodes, Memory: make([]int64, len(nodes))}, nil
}

func readClusterFile(path string) (*Machine, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: neither COUNTxCORES[xGPUS],... nor a file: %w", workload.Quote(path), err)
	}
	defer f.Close()
	return ReadMachine(f, path)
}

// Limits of one node, which are those of nodeset.Capacity.
const (
	maxNodeCores = 1<<16 - 1
	maxNodeGPUs  = 1<<8 - 1
)

// add adds nodes with so many MiB of memory each.
func (m *Machine) add(count int, c nodeset.Capacity, memory int) error {
	if count > nodeset.MaxNodes-len(m.Nodes) {
		return fmt.Errorf("more than %d nodes", nodeset.MaxNodes)
	}
	m.Nodes, m.Memory = slices.Grow(m.Nodes, count), slices.Grow(m.Memory, count)
	for range count {
		m.Nodes, m.Memory = append(m.Nodes, c), append(m.Memory, int64(memory))
	}
	return nil
}

// ReadMachine reads the nodes of a machine from r; name is what errors call it. The file is a
// slurm.conf, as internal/slurm/conf reads it, if its first line is KEY=VALUE or includes a file; it
// may be in gzip's format. Or each line is one of
//
//	COUNT CORES [GPUS]
//	HOSTLIST cores=CORES [gpus=GPUS] [memory=MiB]
//
// where "#" begins a comment.
//
// Or the file is a list of nodes of Alibaba's GPU cluster, openb_node_list_*.csv of
// cluster-trace-gpu-v2023, told by its first line "sn,cpu_milli,memory_mib,gpu,model": a
// node has cpu_milli in cores, rounded down, gpu GPUs and memory_mib; the GPUs' model is
// not read.
//
// Nodes are in the file's order, which is all that a file says of where they stand; a
// name may occur once.
func ReadMachine(r io.Reader, name string) (*Machine, error) {
	in, err := workload.Plain(r, name)
	if err != nil {
		return nil, err
	}
	if begin, _ := in.Peek(in.Size()); switches.BeginsConf(begin) {
		return readSlurmConf(in, name)
	}
	c := clusterReader{Lines: workload.NewLines(in, name), lineOf: map[string]int{}}
	for c.Next() {
		text := c.Text()
		if c.N == 1 && len(missing(text, alibabaNodes)) == 0 {
			return readAlibabaNodes(c.Lines)
		}
		line, _, _ := strings.Cut(string(text), "#")
		if err := c.add(strings.Fields(line)); err != nil {
			return nil, c.Locate(err)
		}
	}
	switch {
	case c.Lines.Err != nil:
		return nil, c.Lines.Err
	case len(c.nodes.Nodes) == 0:
		return nil, &workload.InputError{File: name, Err: errors.New("no node")}
	}
	return &c.nodes, nil
}

// readSlurmConf reads the nodes of a slurm.conf.
func readSlurmConf(r io.Reader, name string) (*Machine, error) {
	conf, err := slurm.ReadFrom(r, name)
	if err != nil {
		return nil, &workload.InputError{Err: err}
	}
	conf.Lines = slices.DeleteFunc(conf.Lines, func(l slurm.Line) bool { return l.Is("PartitionName") })
	m, err := conf.Machine()
	if err != nil {
		return nil, &workload.InputError{Err: err}
	}
	machine := &Machine{Nodes: m.Nodes, Names: m.Names, Memory: m.Memory}
	for _, moved := range conf.Moved {
		machine.Notes = append(machine.Notes, moved.Error())
	}
	return machine, nil
}
