// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchTable is a machine of n nodes of 8 cores and 2 GPUs, busy in runs.
func benchTable(b *testing.B, n int) *Table {
	t, err := NewUniform(n, Capacity{8, 2})
	require.NoError(b, err)
	x := uint64(1)
	for at := 0; at < n; {
		x = x*6364136223846793005 + 1442695040888963407
		run := 1 + int(x>>33)%40
		free := Capacity{uint16(x >> 50 % 9), uint8(x >> 60 % 3)}
		for ; run > 0 && at < n; run-- {
			if err := t.SetFree(at, free); err != nil {
				b.Fatal(err)
			}
			at++
		}
	}
	return t
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{128, 1024, 10_000, 100_000, 1_000_000} {
		for _, k := range []int{1, 3, 4} {
			b.Run(fmt.Sprintf("N=%d/mincores=%d", n, k), func(b *testing.B) {
				t := benchTable(b, n)
				q := Query{GPUs: 1, MinCores: k}
				dst := t.Scan(nil, q)
				require.Equal(b, dumbScan(t, q), dst)
				b.ReportAllocs()
				for b.Loop() {
					dst = t.Scan(dst[:0], q)
				}
			})
		}
	}
}

// BenchmarkAllocate is an Allocate and a Release of one segment.
func BenchmarkAllocate(b *testing.B) {
	for _, n := range []int{1, 16, 256, 4096} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			t, err := NewUniform(10_000, Capacity{8, 2})
			require.NoError(b, err)
			segs := []Segment{{First: 100, Last: int32(99 + n), Cores: 8, GPUs: 1}}
			b.ReportAllocs()
			for b.Loop() {
				if t.Allocate(segs) != nil || t.Release(segs) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}

func BenchmarkSetFree(b *testing.B) {
	t := benchTable(b, 10_000)
	for i := 0; b.Loop(); i++ {
		for n := range t.Len() {
			if err := t.SetFree(n, Capacity{uint16(n+i) & 7, uint8(i & 1)}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkCopyFrom(b *testing.B) {
	t, u := benchTable(b, 10_000), &Table{}
	for b.Loop() {
		u.CopyFrom(t)
	}
}

func BenchmarkIntersect(b *testing.B) {
	t, u, o := benchTable(b, 10_000), &Table{}, &Table{}
	o.CopyFrom(t)
	for n := 0; n < o.Len(); n += 3 {
		require.NoError(b, o.SetFree(n, Capacity{4, 1}))
	}
	for b.Loop() {
		u.CopyFrom(t)
		u.SetLeast(0, u.Len()-1, u, o)
	}
}
