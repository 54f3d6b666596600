// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/slurm/conf"
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
	if !isRuns(spec) {
		return readClusterFile(spec)
	}
	m := new(Machine)
	for _, run := range strings.Split(spec, ",") {
		if err := m.addRun(strings.Split(run, "x")); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", quote(spec), err)
		}
	}
	return m, nil
}

// isRuns tells runs of nodes, well-formed or not, from a path.
func isRuns(spec string) bool {
	digit := spec != "" && spec[0] >= '0' && spec[0] <= '9'
	return digit && strings.Trim(spec, "0123456789x,") == ""
}

func readClusterFile(path string) (*Machine, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: neither COUNTxCORES[xGPUS],... nor a file: %w", quote(path), err)
	}
	defer f.Close()
	return ReadMachine(f, path)
}

// addRun adds the nodes that count, cores and perhaps GPUs say.
func (m *Machine) addRun(fields []string) error {
	if len(fields) != 2 && len(fields) != 3 {
		return fmt.Errorf("%s: not a count of nodes, cores and perhaps GPUs", quote(strings.Join(fields, "x")))
	}
	count, err := parseField("count", fields[0], 1, nodeset.MaxNodes)
	if err != nil {
		return err
	}
	cores, err := parseField("cores", fields[1], 1, maxNodeCores)
	if err != nil {
		return err
	}
	gpus := 0
	if len(fields) == 3 {
		if gpus, err = parseField("gpus", fields[2], 0, maxNodeGPUs); err != nil {
			return err
		}
	}
	return m.add(count, nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}, 0)
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

// parseField parses a number; its error is an [*InputError] still without a place.
func parseField(field, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		err = errNotWhole
	case err != nil || n < low || n > high:
		err = fmt.Errorf("must be in %d..%d", low, high)
	default:
		return n, nil
	}
	return 0, &InputError{Field: field, Value: value, Err: err}
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
	in, err := plain(r, name)
	if err != nil {
		return nil, err
	}
	if begin, _ := in.Peek(in.Size()); conf.Begins(begin) {
		return readSlurmConf(in, name)
	}
	c := clusterReader{lines: newLines(in, name), lineOf: map[string]int{}}
	for c.next() {
		text := c.text()
		if c.n == 1 && len(missing(text, alibabaNodes)) == 0 {
			return readAlibabaNodes(c.lines)
		}
		line, _, _ := strings.Cut(string(text), "#")
		if err := c.add(strings.Fields(line)); err != nil {
			return nil, c.locate(err)
		}
	}
	switch {
	case c.lines.err != nil:
		return nil, c.lines.err
	case len(c.nodes.Nodes) == 0:
		return nil, &InputError{File: name, Err: errors.New("no node")}
	}
	return &c.nodes, nil
}

// readSlurmConf reads the nodes of a slurm.conf.
func readSlurmConf(r io.Reader, name string) (*Machine, error) {
	conf, err := conf.ReadFrom(r, name)
	if err != nil {
		return nil, &InputError{Err: err}
	}
	m, err := conf.Nodes()
	if err != nil {
		return nil, &InputError{Err: err}
	}
	machine := &Machine{Nodes: m.Nodes, Names: m.Names, Memory: m.Memory}
	for _, moved := range conf.Moved {
		machine.Notes = append(machine.Notes, moved.Error())
	}
	return machine, nil
}
