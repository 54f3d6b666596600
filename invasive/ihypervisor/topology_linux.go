// SPDX-License-Identifier: BSD-3-Clause

package ihypervisor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A Topology is a partition and what its cores are on this host.
type Topology struct {
	Partition invasive.Partition
	// CPUs are those of each core, as Linux counts them: its hardware threads. Where cores are
	// oversubscribed several have the same.
	CPUs [][]int
	// Shared is how many cores of the partition are one of the host at most; 1 if
	// none is oversubscribed.
	Shared int
}

// threads is how many CPUs the cores have in all. One of the host's counts for
// each core that has it.
func (t *Topology) threads() (n int) {
	for _, cpus := range t.CPUs {
		n += len(cpus)
	}
	return n
}

// ReadTopology reads the host's, as far as this process may use it; sys is
// /sys/devices/system/cpu. A host whose sockets have different numbers of cores is an error: then
// the partition has to be said, see Simulate.
func ReadTopology(sys string) (*Topology, error) {
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		return nil, err
	}
	return readTopology(sys, &mine)
}

func readTopology(sys string, mine *unix.CPUSet) (*Topology, error) {
	cores, sockets, err := hostCores(sys, mine)
	if err != nil {
		return nil, err
	}
	per := len(cores) / sockets
	for i, c := range cores {
		if c.socket != cores[i-i%per].socket || i%per == 0 && i > 0 && c.socket == cores[i-1].socket {
			return nil, fmt.Errorf("%s: the sockets have different numbers of cores: say how many sockets and cores there are to be", sys)
		}
	}
	t := &Topology{Partition: invasive.Partition{Nodes: 1, Sockets: uint32(sockets), CoresPerSocket: uint32(per)}, Shared: 1}
	for _, c := range cores {
		t.CPUs = append(t.CPUs, c.cpus)
	}
	return t, nil
}

// Simulate makes a partition of a size that the user says, on the host's cores. It may
// have more cores than the host only if oversubscribe says so: then several of them are
// the same one of the host.
func Simulate(p invasive.Partition, sys string, oversubscribe bool) (*Topology, error) {
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		return nil, err
	}
	cores, _, err := hostCores(sys, &mine)
	if err != nil {
		return nil, err
	}
	if p.Nodes == 0 || p.Sockets == 0 || p.CoresPerSocket == 0 || max(p.Nodes, p.Sockets, p.CoresPerSocket) > invasive.MaxCores ||
		uint64(p.Nodes)*uint64(p.Sockets) > invasive.MaxCores || p.Cores() > invasive.MaxCores {
		return nil, fmt.Errorf("%d nodes of %d sockets of %d cores: must be 1 to %d cores in all",
			p.Nodes, p.Sockets, p.CoresPerSocket, invasive.MaxCores)
	}
	n := int(p.Cores())
	if n > len(cores) && !oversubscribe {
		return nil, fmt.Errorf("%d cores on a host of %d: several would be one, which has to be asked for (oversubscribe)", n, len(cores))
	}
	t := &Topology{Partition: p, Shared: (n + len(cores) - 1) / len(cores)}
	for i := range n {
		t.CPUs = append(t.CPUs, cores[i%len(cores)].cpus)
	}
	return t, nil
}

// Numbered is a partition of many nodes, whose CPUs are its cores by their numbers.
func Numbered(p invasive.Partition) *Topology {
	t := &Topology{Partition: p, CPUs: make([][]int, p.Cores()), Shared: 1}
	for c := range t.CPUs {
		t.CPUs[c] = []int{c}
	}
	return t
}

// cpusOf are the CPUs of cores, ascending.
func (t *Topology) cpusOf(cores []uint32) []int {
	var list []int
	for _, c := range cores {
		list = append(list, t.CPUs[c]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

type hostCore struct {
	socket, core int
	cpus         []int
}

// hostCores are the cores with a CPU that this process may use, socket by socket.
func hostCores(sys string, mine *unix.CPUSet) (cores []hostCore, sockets int, err error) {
	text, err := os.ReadFile(filepath.Join(sys, "online"))
	if err != nil {
		return nil, 0, err
	}
	online, err := malleable.ParseList(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, 0, fmt.Errorf("%s/online: %w", sys, err)
	}
	seen := map[int]bool{}
	for _, cpu := range online {
		if !mine.IsSet(cpu) {
			continue
		}
		c := hostCore{cpus: []int{cpu}}
		if c.socket, err = topologyOf(sys, cpu, "physical_package_id"); err != nil {
			return nil, 0, err
		}
		if c.core, err = topologyOf(sys, cpu, "core_id"); err != nil {
			return nil, 0, err
		}
		seen[c.socket] = true
		i := slices.IndexFunc(cores, func(o hostCore) bool { return o.socket == c.socket && o.core == c.core })
		if i >= 0 {
			cores[i].cpus = append(cores[i].cpus, cpu)
		} else {
			cores = append(cores, c)
		}
	}
	if len(cores) == 0 {
		return nil, 0, fmt.Errorf("%s: no CPU that this process may use", sys)
	}
	slices.SortFunc(cores, func(a, b hostCore) int { return cmp.Or(cmp.Compare(a.socket, b.socket), cmp.Compare(a.core, b.core)) })
	return cores, len(seen), nil
}

func topologyOf(sys string, cpu int, name string) (int, error) {
	path := filepath.Join(sys, "cpu"+strconv.Itoa(cpu), "topology", name)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return max(0, n), nil // -1 where a virtual machine doesn't say
}
