// SPDX-License-Identifier: BSD-3-Clause

package residence

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// some is a state of three nodes of which two hold something.
func some() *State {
	s := on(10, 20, 30)
	s.Read(0, 1, 4, 100)
	s.Read(0, 2, 6, 101)
	s.Read(2, 1, 4, 102)
	return s
}

func TestSaveAndLoad(t *testing.T) {
	s := some()
	saved := s.Append([]byte("before"))
	require.LessOrEqual(t, len(saved), len("before")+MaxSaved)
	var back = New(0)
	back.Read(0, 9, 9, 9)
	require.NoError(t, back.Load(saved[len("before"):]))
	require.Equal(t, 3, back.Copies())
	back.SetMachine([]Node{{ID: 3, Capacity: 30}, {ID: 1, Capacity: 10}})
	require.Equal(t, []Copy{{1, 4, 102}}, held(back, 0))
	require.Equal(t, []Copy{{2, 6, 101}, {1, 4, 100}}, held(back, 1))
}

// Nodes without an ID, or with that of another, can't be found again.
func TestNodesWithoutIDsAreNotSaved(t *testing.T) {
	s := New(0)
	s.SetMachine([]Node{{Capacity: 10}, {ID: 5, Capacity: 10}, {ID: 5, Capacity: 10}})
	s.Read(0, 1, 1, 0)
	s.Read(1, 2, 1, 0)
	s.Read(2, 3, 1, 0)
	saved := s.Append(nil)
	back := New(0)
	require.NoError(t, back.Load(saved))
	require.Equal(t, []int{1, 1}, []int{back.Files(), back.Copies()})
}

func TestSavingNothing(t *testing.T) {
	back := some()
	require.NoError(t, back.Load(New(0).Append(nil)))
	require.Zero(t, back.Copies())
}

func TestWhatIsSavedComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Node {
			return Node{rapid.Uint64Min(1).Draw(t, "id"), rapid.Int64Range(0, 40).Draw(t, "capacity")}
		}), 1, 8, func(n Node) uint64 { return n.ID }).Draw(t, "nodes")
		s, w := New(0), &twin{}
		s.SetMachine(nodes)
		w.setMachine(nodes)
		for range rapid.IntRange(0, 40).Draw(t, "reads") {
			n := rapid.IntRange(0, len(nodes)-1).Draw(t, "node")
			file, bytes, now := rapid.Uint64Range(1, 7).Draw(t, "file"),
				rapid.Int64Range(1, 20).Draw(t, "bytes"), rapid.Int64().Draw(t, "now")
			s.Read(n, file, bytes, now)
			w.read(n, file, bytes, now)
		}
		back := New(0)
		if err := back.Load(s.Append(nil)); err != nil {
			t.Fatal(err)
		}
		turned := slices.Clone(nodes)
		slices.Reverse(turned)
		back.SetMachine(turned)
		w.setMachine(turned)
		alike(t, back, w)
	})
}

// sum puts the right checksum behind the rest.
func sum(saved []byte) []byte {
	body := saved[:len(saved)-sumSize]
	return binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli))
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	good := some().Append(nil)
	node0, node1 := headSize, headSize+nodeSize+2*copySize
	put64 := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return sum(b) }
	}
	put32 := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return sum(b) }
	}
	for want, spoil := range map[string]func([]byte) []byte{
		"3 bytes are too few":                                              func(b []byte) []byte { return b[:3] },
		"begins with \"xucfile":                                            func(b []byte) []byte { b[0] = 'x'; return b },
		"version 2 is unknown":                                             func(b []byte) []byte { b[8] = 2; return b },
		"damaged: the checksum":                                            func(b []byte) []byte { b[30] ^= 1; return b },
		"node 2: ends early":                                               put32(len(magic)+4, 3),
		"bytes more than the 1":                                            put32(len(magic)+4, 1),
		"node 1: id 1: is 0, or another node's":                            put64(node1, 1),
		"node 0: id 0: is 0":                                               put64(node0, 0),
		"node 0: capacity 1152921504606846977: must be at most":            put64(node0+8, MaxBytes+1),
		"node 0: 0 copies: must be 1 to 64":                                put32(node0+16, 0),
		"node 0: 65 copies: must be 1 to 64":                               put32(node0+16, 65),
		"node 1: ends early":                                               put32(node1+16, 9),
		"node 0: copy 1: file 0: is 0":                                     put64(node0+nodeSize+copySize, 0),
		"node 0: copy 0: file 1: is 0, or held already":                    put64(node0+nodeSize, 1),
		"node 0: copy 1: 0 bytes: must be 1 to what is left of the node's": put64(node0+nodeSize+copySize+8, 0),
		"node 0: copy 0: 6 bytes: must be 1 to what is left of the node's": put64(node0+nodeSize+copySize+8, 5),
	} {
		t.Run(want, func(t *testing.T) {
			s := some()
			require.ErrorContains(t, s.Load(spoil(slices.Clone(good))), want)
			require.Zero(t, s.Copies(), "nothing is held")
			s.SetMachine(machine(10))
			require.False(t, s.Read(0, 1, 4, 0), "and it goes on")
			require.True(t, s.Holds(0, 1))
		})
	}
}

// Whatever is loaded is refused, or is what would be saved again.
func FuzzLoad(f *testing.F) {
	f.Add(some().Append(nil))
	f.Add(New(0).Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, saved []byte) {
		for _, b := range [][]byte{saved, append(slices.Clone(saved), 0, 0, 0, 0)} {
			if len(b) >= sumSize {
				b = sum(b) // otherwise nothing gets beyond the checksum
			}
			s := New(0)
			if err := s.Load(b); err != nil {
				require.Zero(t, s.Copies())
				continue
			}
			require.Equal(t, b, s.Append(nil))
		}
	})
}
