// SPDX-License-Identifier: BSD-3-Clause

package residence

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
)

func machine(capacities ...int64) (nodes []Node) {
	for n, c := range capacities {
		nodes = append(nodes, Node{ID: uint64(n + 1), Capacity: c})
	}
	return nodes
}

func on(capacities ...int64) *State {
	s := New(0)
	s.SetMachine(machine(capacities...))
	return s
}

func TestFilesStayUntilOthersPushThemOut(t *testing.T) {
	s := on(10)
	require.False(t, s.Read(0, 1, 4, 0))
	require.False(t, s.Read(0, 2, 4, 1))
	require.True(t, s.Read(0, 1, 4, 2), "both fit")
	require.False(t, s.Read(0, 3, 4, 3))
	require.Equal(t, []Copy{{3, 4, 3}, {1, 4, 2}}, held(s, 0), "2 was not read for longest")
	require.True(t, s.Read(0, 1, 9, 4), "it has grown")
	require.Equal(t, []Copy{{1, 9, 4}}, held(s, 0))
	require.False(t, s.Read(0, 4, 11, 5))
	require.Empty(t, held(s, 0), "what is larger than the memory leaves nothing there")
	require.Zero(t, s.Files())
}

func TestANodeWithoutMemoryHoldsNothing(t *testing.T) {
	s := on(0, -1)
	for n := range 2 {
		require.False(t, s.Read(n, 1, 1, 0))
		require.False(t, s.Holds(n, 1))
	}
}

func TestReadsThatSayNothing(t *testing.T) {
	s := on(10)
	for _, r := range []struct {
		node  int
		file  uint64
		bytes int64
	}{{-1, 1, 1}, {1, 1, 1}, {0, 0, 1}, {0, 1, 0}, {0, 1, math.MinInt64}} {
		require.False(t, s.Read(r.node, r.file, r.bytes, 0))
	}
	require.Zero(t, s.Copies())
	require.False(t, s.Holds(-1, 1))
	require.False(t, s.Holds(1, 1))
}

func TestSumsOfSizesStayInRange(t *testing.T) {
	s := on(math.MaxInt64)
	require.False(t, s.Read(0, 1, math.MaxInt64, 0))
	require.False(t, s.Read(0, 2, math.MaxInt64, 1))
	require.Equal(t, []Copy{{2, MaxBytes, 1}}, held(s, 0))
}

func TestMostFilesOfANode(t *testing.T) {
	s := on(1 << 20)
	for f := range uint64(MaxPerNode + 5) {
		s.Read(0, f+1, 1, int64(f))
	}
	require.Equal(t, MaxPerNode, s.Copies())
	require.False(t, s.Holds(0, 5))
	require.True(t, s.Holds(0, 6))
}

// Many small files push no larger one out: the smallest, which is the cheapest to read
// again, is not remembered.
func TestSmallFilesPushNoLargeOneOut(t *testing.T) {
	s := on(1 << 40)
	for f := range uint64(MaxPerNode / 2) {
		s.Read(0, 1+f, 1<<30, int64(f))
	}
	for f := range uint64(3 * MaxPerNode) {
		s.Read(0, 1000+f, 1, int64(100+f))
	}
	for f := range uint64(MaxPerNode / 2) {
		require.True(t, s.Holds(0, 1+f), "file %d", 1+f)
	}
	require.True(t, s.Holds(0, 1000+3*MaxPerNode-1), "of the same size the last one read stays")
	for f := range uint64(MaxPerNode / 2) {
		s.Read(0, 2000+f, 1<<20, int64(1000+f))
	}
	s.Read(0, 3000, 1, 2000)
	require.False(t, s.Holds(0, 3000), "64 larger ones stay")
	require.True(t, s.Holds(0, 2000))
	require.Equal(t, MaxPerNode, s.Copies())
}

// With all copies in use one more takes the place of another of its node, and a node
// without any does without.
func TestMostCopies(t *testing.T) {
	s := on(1<<20, 1<<20)
	s.Read(0, 1, 1, 0)
	s.Read(0, 2, 1, 1)
	s.used += MaxCopies - 2 // as if other nodes held them
	s.Read(0, 3, 1, 2)
	require.Equal(t, []Copy{{3, 1, 2}, {2, 1, 1}}, held(s, 0))
	s.Read(0, 2, 5, 3)
	s.Read(0, 4, 2, 4)
	s.Read(0, 5, 1, 5)
	require.Equal(t, []Copy{{4, 2, 4}, {2, 5, 3}}, held(s, 0))
	require.False(t, s.Read(1, 3, 1, 2))
	require.False(t, s.Holds(1, 3))
	require.Equal(t, MaxCopies, s.Copies())
}

func TestAge(t *testing.T) {
	s := New(60)
	s.SetMachine(machine(10, 10))
	s.Read(0, 1, 1, 0)
	s.Read(1, 2, 1, 30)
	s.Expire(60)
	require.Equal(t, 2, s.Copies())
	s.Expire(61)
	require.False(t, s.Holds(0, 1))
	require.True(t, s.Holds(1, 2))
	s.SetAge(0)
	s.Expire(math.MaxInt64)
	require.True(t, s.Holds(1, 2), "0 is no limit")
}

// Nodes come, go and change places.
func TestAnotherMachine(t *testing.T) {
	s := on(10, 10, 10)
	for n := range 3 {
		s.Read(n, uint64(10+n), 4, 1)
		s.Read(n, 99, 4, 2)
	}
	before := s.Changes()
	s.SetMachine([]Node{{ID: 3, Capacity: 4}, {ID: 7, Capacity: 10}, {ID: 1, Capacity: 10}})
	require.Equal(t, []Copy{{99, 4, 2}}, held(s, 0), "it has less memory than before")
	require.Empty(t, held(s, 1))
	require.Equal(t, []Copy{{99, 4, 2}, {10, 4, 1}}, held(s, 2))
	require.NotEqual(t, before, s.Changes())
	require.Equal(t, []int32{0, 2}, s.files[99])
}

// Whatever happens, it is as the twin says.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		age := rapid.SampledFrom([]int64{0, 5, 50}).Draw(t, "age")
		s, w := New(age), &twin{age: age}
		now := int64(0)
		steps := rapid.IntRange(1, 60).Draw(t, "steps")
		for range steps {
			now += rapid.Int64Range(0, 4).Draw(t, "later")
			switch k := rapid.IntRange(0, 9).Draw(t, "step"); {
			case k == 0 || len(w.nodes) == 0:
				nodes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Node {
					return Node{rapid.Uint64Range(0, 5).Draw(t, "id"), rapid.Int64Range(0, 20).Draw(t, "capacity")}
				}), 1, 6).Draw(t, "nodes")
				s.SetMachine(nodes)
				w.setMachine(nodes)
			case k == 1:
				s.Expire(now)
				w.expire(now)
			default:
				n := rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node")
				file, bytes := rapid.Uint64Range(1, 6).Draw(t, "file"), rapid.Int64Range(1, 12).Draw(t, "bytes")
				if got, want := s.Read(n, file, bytes, now), w.read(n, file, bytes, now); got != want {
					t.Fatalf("read of file %d on node %d: held %t instead of %t", file, n, got, want)
				}
			}
			alike(t, s, w)
		}
	})
}

// With so many files that they are too many for a node as well.
func TestPropertiesOfMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w := New(0), &twin{}
		nodes := []Node{{1, rapid.Int64Range(100, 400).Draw(t, "capacity")}}
		s.SetMachine(nodes)
		w.setMachine(nodes)
		for now := range rapid.Int64Range(1, 150).Draw(t, "reads") {
			file, bytes := rapid.Uint64Range(1, 200).Draw(t, "file"), rapid.Int64Range(1, 4).Draw(t, "bytes")
			require.Equal(t, w.read(0, file, bytes, now), s.Read(0, file, bytes, now))
			require.Equal(t, append([]Copy(nil), w.held[0]...), held(s, 0))
		}
	})
}

// alike compares everything that can be asked.
func alike(t require.TestingT, s *State, w *twin) {
	for n := range w.nodes {
		require.Equal(t, append([]Copy(nil), w.held[n]...), held(s, n), "node %d", n)
	}
	for file := range uint64(8) {
		holders := w.holders(file)
		require.ElementsMatch(t, holders, s.files[file])
		for n := range w.nodes {
			require.Equal(t, slices.Contains(holders, int32(n)), s.Holds(n, file))
		}
	}
	files, copies := w.counts()
	require.Equal(t, [2]int{files, copies}, [2]int{s.Files(), s.Copies()})
}

// A cycle reads what runs, asks for holders and forgets: nothing of that allocates
// once there was as much.
func TestNothingIsAllocated(t *testing.T) {
	race.Allocates(t)
	s := New(100)
	nodes := machine(make([]int64, 200)...)
	for n := range nodes {
		nodes[n].Capacity = 10
	}
	now := int64(0)
	cycle := func() {
		now++
		s.SetMachine(nodes)
		for n := range nodes {
			s.Read(n, 1+uint64(now+int64(n))%50, 3, now)
		}
		s.Expire(now)
	}
	for range 200 {
		cycle()
	}
	require.Zero(t, testing.AllocsPerRun(100, cycle))
}
