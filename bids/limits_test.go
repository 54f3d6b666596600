// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/nodeset"
)

// Whoever is barred has no place, on a machine of which more and more is taken.
func TestLimitsBarOnlyWhoHasNoPlace(t *testing.T) {
	barred, open := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var r Rest
		r.Reset(drawSpace(t))
		masks := []nodeset.Mask{nil, drawMask(t, r.now.Len(), "one"), drawMask(t, r.now.Len(), "other")}
		var p Placer
		var l limits
		for range 12 {
			q := drawRequest(t, r.now.Len())
			q.Eligible = rapid.SampledFrom(masks).Draw(t, "mask")
			s, err := q.shape()
			if err != nil {
				continue
			}
			a := Ask{Request: &q, Crosses: rapid.IntRange(0, len(r.left)).Draw(t, "crosses")}
			gpus := rapid.IntRange(0, 2).Draw(t, "gpus a node")
			key := keyOf(&a, &s, gpus)
			bar := l.bar(&s, key)
			segs, ok := p.place(nil, r.View(a.Crosses), &s, q.Eligible, gpus, level)
			switch {
			case ok:
				require.False(t, bar, "%+v has a place", q)
				require.NoError(t, r.Take(segs, a.Crosses))
			case bar:
				barred++
			default:
				open++
				l.learn(key, p.sets)
			}
		}
	})
	require.Positive(t, barred)
	require.Positive(t, open)
}

func TestLimitsAreBounded(t *testing.T) {
	var l limits
	for k := range 2 * maxLimits {
		l.learn(scanKey{lo: k}, nil)
		l.learn(scanKey{lo: k}, nil)
	}
	require.Len(t, l, maxLimits)
}
