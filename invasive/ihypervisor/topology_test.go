// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ihypervisor

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
)

// fakeSys makes a /sys/devices/system/cpu; each CPU is its socket and its core.
func fakeSys(t *testing.T, cpus ...[2]int) string {
	sys := t.TempDir()
	for cpu, is := range cpus {
		dir := filepath.Join(sys, "cpu"+strconv.Itoa(cpu), "topology")
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "physical_package_id"), []byte(strconv.Itoa(is[0])+"\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "core_id"), []byte(strconv.Itoa(is[1])+"\n"), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(sys, "online"), []byte("0-"+strconv.Itoa(len(cpus)-1)+"\n"), 0o644))
	return sys
}

func TestTopology(t *testing.T) {
	twoCPUs(t) // only those that this process may use count
	two := fakeSys(t, [2]int{1, 0}, [2]int{0, 0})
	topology, err := ReadTopology(two)
	require.NoError(t, err)
	require.Equal(t, &Topology{Partition: invasive.Partition{Nodes: 1, Sockets: 2, CoresPerSocket: 1},
		CPUs: [][]int{{1}, {0}}, Shared: 1}, topology)
	threads := fakeSys(t, [2]int{0, 0}, [2]int{0, 0})
	topology, err = ReadTopology(threads)
	require.NoError(t, err)
	require.Equal(t, &Topology{Partition: invasive.Partition{Nodes: 1, Sockets: 1, CoresPerSocket: 1},
		CPUs: [][]int{{0, 1}}, Shared: 1}, topology)
	_, err = ReadTopology(filepath.Join(two, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	p := invasive.Partition{Nodes: 2, Sockets: 1, CoresPerSocket: 2}
	_, err = Simulate(p, two, false)
	require.ErrorContains(t, err, "4 cores on a host of 2")
	topology, err = Simulate(p, two, true)
	require.NoError(t, err)
	require.Equal(t, [][]int{{1}, {0}, {1}, {0}}, topology.CPUs)
	require.Equal(t, 2, topology.Shared)
	require.Equal(t, []int{0, 1}, topology.cpusOf([]uint32{0, 1, 2}))
	_, err = Simulate(invasive.Partition{Nodes: 1, Sockets: 1}, two, true)
	require.ErrorContains(t, err, "must be 1 to")
	_, err = Simulate(invasive.Partition{Nodes: 1 << 20, Sockets: 1 << 20, CoresPerSocket: 1 << 24}, two, true)
	require.ErrorContains(t, err, "must be 1 to")
}

func TestSockets(t *testing.T) {
	var all unix.CPUSet
	for cpu := range 6 {
		all.Set(cpu)
	}
	sys := fakeSys(t, [2]int{0, 0}, [2]int{1, 0}, [2]int{0, 1}, [2]int{1, 1}, [2]int{0, 0}, [2]int{1, 0})
	topology, err := readTopology(sys, &all)
	require.NoError(t, err)
	require.Equal(t, invasive.Partition{Nodes: 1, Sockets: 2, CoresPerSocket: 2}, topology.Partition)
	require.Equal(t, [][]int{{0, 4}, {2}, {1, 5}, {3}}, topology.CPUs)

	all.Clear(3)
	_, err = readTopology(sys, &all)
	require.ErrorContains(t, err, "different numbers of cores")
	all.Clear(1)
	all.Clear(5)
	topology, err = readTopology(sys, &all)
	require.NoError(t, err)
	require.Equal(t, [][]int{{0, 4}, {2}}, topology.CPUs)
	all.Zero()
	_, err = readTopology(sys, &all)
	require.ErrorContains(t, err, "no CPU that this process may use")
}
