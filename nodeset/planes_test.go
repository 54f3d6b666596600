// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// cores are the numbers that planes hold of the nodes of word 1.
func cores(p *planes) (c [64]uint16) {
	for b := range p.width {
		for n := range c {
			c[n] |= uint16(p.bits[b*p.words+1] >> n & 1 << b)
		}
	}
	return c
}

func drawPlanes(r *rapid.T, width int) *planes {
	p := newPlanes(3, width)
	for b := range width {
		p.bits[3*b+1] = rapid.Uint64().Draw(r, "plane")
	}
	return &p
}

// Each operation on planes is that on the numbers of the 64 nodes one by one.
func TestPlanesAreNumbers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(1, 16).Draw(r, "width")
		p, m := drawPlanes(r, width), rapid.Uint64().Draw(r, "m")
		k := rapid.UintRange(1, 1<<width-1).Draw(r, "k")
		was := cores(p)

		var sum int64
		have := p.atLeast(1, k)
		for n, c := range was {
			in := m>>n&1 != 0
			if in {
				sum += int64(c)
			}
			require.Equal(r, uint(c) >= k, have>>n&1 != 0, "atLeast, node %d", n)
			require.Equal(r, c > 0, p.nonzero(1)>>n&1 != 0, "nonzero, node %d", n)
		}
		require.Equal(r, sum, p.sum(1, m))

		kept := []uint64{0}
		p.keepAtLeast(kept, []uint64{m, 0}, 1, k)
		require.Equal(r, m&have, kept[0])

		p.add(1, m&have, -k)
		want := was
		for n := range want {
			if (m&have)>>n&1 != 0 {
				want[n] -= uint16(k)
			}
		}
		require.Equal(r, want, cores(p), "subtract")
		p.add(1, m&have, k)
		require.Equal(r, was, cores(p), "add")

		x, y := drawPlanes(r, width), drawPlanes(r, width)
		a, b := cores(x), cores(y)
		for n := range want {
			if want[n] = was[n]; m>>n&1 != 0 {
				want[n] = min(a[n], b[n])
			}
		}
		p.setLeast(1, m, x, y)
		require.Equal(r, want, cores(p), "setLeast")
		for n := range want {
			want[n] = min(want[n], b[n])
		}
		p.setLeast(1, ^uint64(0), p, y)
		require.Equal(r, want, cores(p), "setLeast of itself")
		p.set(1, m, k)
		for n := range want {
			if m>>n&1 != 0 {
				want[n] = uint16(k)
			}
		}
		require.Equal(r, want, cores(p), "set")
	})
}
