// SPDX-License-Identifier: BSD-3-Clause

package residence

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

func nodesOf(m nodeset.Mask) (nodes []int) {
	for n := range len(m) * 64 {
		if m != nil && m.Has(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// freeOf is a machine of nodes of 8 cores of which so many are free; fewer than 0: it is down.
func freeOf(t require.TestingT, free ...int) *nodeset.Table {
	table, err := nodeset.NewUniform(len(free), nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	for n, f := range free {
		if f < 0 {
			table.SetUp(n, false)
			continue
		}
		require.NoError(t, table.SetFree(n, nodeset.Capacity{Cores: uint16(f)}))
	}
	return table
}

func TestMasks(t *testing.T) {
	type wish struct {
		file  uint64
		cores int64
	}
	for name, c := range map[string]struct {
		free  []int
		held  map[uint64][]int // by file: its holders
		wants []wish
		masks map[uint64][]int
	}{
		"holders have room": {[]int{8, 8, 8, 8}, map[uint64][]int{1: {2}}, []wish{{1, 4}, {1, 4}}, map[uint64][]int{1: {2}}},
		"all holders with room": {[]int{8, 0, 8, -1, 1}, map[uint64][]int{1: {1, 2, 3, 4}},
			[]wish{{1, 4}}, map[uint64][]int{1: {2, 4}}},
		"holders have none": {[]int{0, 5, 7, 8}, map[uint64][]int{1: {0}}, []wish{{1, 10}}, map[uint64][]int{1: {2, 3}}},
		"and not enough":    {[]int{3, 5, 8, 8}, map[uint64][]int{1: {0}}, []wish{{1, 10}}, map[uint64][]int{1: {0, 2}}},
		"nobody holds it": {[]int{8, 8, 8, 8}, nil, []wish{{1, 4}, {2, 4}, {3, 12}, {1, 4}},
			map[uint64][]int{1: {0}, 2: {1}, 3: {1, 2}}},
		"holders before choices": {[]int{8, 6, 0, 0}, map[uint64][]int{2: {0}},
			[]wish{{1, 4}, {2, 8}}, map[uint64][]int{1: {1}, 2: {0}}},
		"more than there is": {[]int{2, 0, 1, 0}, nil, []wish{{1, 100}, {2, 1}}, map[uint64][]int{1: {0, 2}, 2: nil}},
		"nothing is free": {[]int{0, -1, 0, 0}, map[uint64][]int{1: {0, 1}},
			[]wish{{1, 1}, {2, 1}}, map[uint64][]int{1: nil, 2: nil}},
		"nobody wants it": {[]int{8, 8, 8, 8}, map[uint64][]int{1: {0}}, nil, map[uint64][]int{1: nil}},
		"a holder that is promised": {[]int{8, 0, 0, 0}, map[uint64][]int{1: {0}, 2: {0}},
			[]wish{{1, 8}, {2, 8}}, map[uint64][]int{1: {0}, 2: {0}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := on(100, 100, 100, 100, 100)
			for file, nodes := range c.held {
				for _, n := range nodes {
					s.Read(n, file, 1, 0)
				}
			}
			var m Masks
			m.Reset(s)
			for _, w := range c.wants {
				m.Want(w.file, w.cores, false)
				m.Want(w.file, 0, false)
			}
			m.Settle(freeOf(t, c.free...))
			for file, want := range c.masks {
				require.Equal(t, want, nodesOf(m.Of(file)), "file %d", file)
			}
		})
	}
}

// A job alone goes where its file is, and otherwise anywhere.
func TestAJobAloneChoosesNoNode(t *testing.T) {
	s := on(100, 100)
	s.Read(1, 2, 1, 0)
	var m Masks
	m.Reset(s)
	m.Want(1, 4, false)
	m.Want(2, 40, false)
	m.Settle(freeOf(t, 8, 8))
	require.Nil(t, m.Of(1))
	require.Equal(t, []int{1}, nodesOf(m.Of(2)))
}

// On a machine with GPUs on some of its nodes these are chosen by jobs with GPUs alone; whoever
// holds a file holds it.
func TestJobsWithoutGPUsChooseNoneWith(t *testing.T) {
	for _, c := range []struct {
		gpus   []uint8 // of nodes
		chosen [2][]int
	}{
		{[]uint8{2, 0, 2, 0}, [2][]int{{1, 3}, {0, 2}}},
		{[]uint8{2, 2, 2, 2}, [2][]int{{0, 1}, {1, 2}}},
		{[]uint8{0, 0, 0, 0}, [2][]int{{0, 1}, {1, 2}}},
	} {
		var nodes []nodeset.Capacity
		for _, g := range c.gpus {
			nodes = append(nodes, nodeset.Capacity{Cores: 8, GPUs: g})
		}
		table, err := nodeset.New(nodes)
		require.NoError(t, err)
		s := on(100, 100, 100, 100)
		var m Masks
		m.Reset(s)
		for file := range uint64(2) {
			m.Want(file+1, 6, file == 1)
			m.Want(file+1, 6, file == 1)
		}
		m.Settle(table)
		require.Equal(t, c.chosen, [2][]int{nodesOf(m.Of(1)), nodesOf(m.Of(2))})
		s.Read(0, 1, 1, 0)
		m.Reset(s)
		m.Want(1, 6, false)
		m.Settle(table)
		require.Equal(t, []int{0}, nodesOf(m.Of(1)))
	}
}

// Whatever is wanted: holders that have anything free are preferred, and others only as far as they
// are needed and have something free.
func TestMasksHoldTogether(t *testing.T) {
	var m Masks
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.SliceOfN(rapid.IntRange(-1, 8), 1, 140).Draw(t, "free")
		table := freeOf(t, free...)
		s := New(0)
		nodes := machine(make([]int64, len(free))...)
		for n := range nodes {
			nodes[n].Capacity = 100
		}
		s.SetMachine(nodes)
		for range rapid.IntRange(0, 30).Draw(t, "copies") {
			s.Read(rapid.IntRange(0, len(free)-1).Draw(t, "node"), rapid.Uint64Range(1, 6).Draw(t, "file"), 1, 0)
		}
		m.Reset(s)
		wanted := map[uint64]int64{}
		for range rapid.IntRange(0, 12).Draw(t, "jobs") {
			file, cores := rapid.Uint64Range(1, 6).Draw(t, "wants"), rapid.Int64Range(0, 20).Draw(t, "cores")
			m.Want(file, cores, false)
			wanted[file] += cores
		}
		m.Settle(table)
		for file := range uint64(8) {
			mask, chosen := m.Of(file), int64(0)
			_, asked := wanted[file]
			require.True(t, asked || mask == nil)
			for n := range free {
				holds, preferred := s.Holds(n, file), mask != nil && mask.Has(n)
				if preferred {
					require.Positive(t, free[n])
				}
				if holds && asked && free[n] > 0 {
					require.True(t, preferred)
				}
				if preferred && !holds {
					chosen++
				}
			}
			require.LessOrEqual(t, chosen, wanted[file], "each gives a core at least")
		}
	})
}

func TestMasksAllocateNothing(t *testing.T) {
	race.Allocates(t)
	s := New(0)
	nodes := machine(make([]int64, 130)...)
	for n := range nodes {
		nodes[n].Capacity = 100
	}
	s.SetMachine(nodes)
	for f := range 9 {
		for n := f; n < 130; n += 9 {
			s.Read(n, uint64(f+1), 1, 0)
		}
	}
	table, err := nodeset.NewUniform(130, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	var m Masks
	cycle := func() {
		m.Reset(s)
		for f := range uint64(20) {
			m.Want(f+1, 9, f%2 == 0)
			m.Want(f+1, 9, false)
		}
		m.Settle(table)
	}
	cycle()
	require.Same(t, &m.Of(3)[0], &m.Of(3)[0])
	require.Zero(t, testing.AllocsPerRun(10, cycle))
}
