package residence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/nodeset"
)

func TestMasks(t *testing.T) {
	s := New(0)
	nodes := machine(make([]int64, 130)...)
	for n := range nodes {
		nodes[n].Capacity = 100
	}
	s.SetMachine(nodes)
	var m Masks
	cycle := func() {
		m.Reset(s)
		for f := range uint64(9) {
			require.Nil(t, m.Of(100+f))
			require.Equal(t, s.Files() > int(f), m.Of(f+1) != nil)
		}
	}
	cycle()
	for f := range 9 {
		for n := f; n < 130; n += 9 {
			s.Read(n, uint64(f+1), 1, 0)
		}
	}
	cycle()
	for f := range 9 { // also those made before the memory grew
		want := nodeset.NewMask(130)
		for n := f; n < 130; n += 9 {
			want.Set(n)
		}
		require.Equal(t, want, m.Of(uint64(f+1)))
		require.Same(t, &m.Of(uint64(f + 1))[0], &m.Of(uint64(f + 1))[0])
	}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		m.Reset(s)
		for f := range uint64(9) {
			m.Of(f + 1)
		}
	}))
}
