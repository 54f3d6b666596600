// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// Whoever is barred has no place, on a machine of which more and more is taken.
func TestLimitsBarOnlyWhoHasNoPlace(t *testing.T) {
	barred, open := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var r place.Residual
		space := drawSpace(t)
		nodes := space.Now.Len()
		r.Reset(space.Now, space.Left)
		masks := []nodeset.Mask{nil, draw.Mask(t, nodes, "one"), draw.Mask(t, nodes, "other")}
		var p place.Placer
		var l limits
		for range 12 {
			q := requests.DrawWithCores(t, nodes)
			mask := rapid.IntRange(0, len(masks)-1).Draw(t, "mask")
			q.Eligible = masks[mask]
			s, err := place.SpecOf(&q)
			if err != nil {
				continue
			}
			if q.Eligible != nil {
				s.Eligible = &masks[mask]
			}
			a := Variant{Spec: s, Crosses: rapid.IntRange(0, len(space.Left)).Draw(t, "crosses")}
			gpus := rapid.IntRange(0, 2).Draw(t, "gpus a node")
			key := keyOf(&a, &s, gpus)
			bar := l.bar(&s, key)
			segs, ok := p.PlaceAs(nil, r.View(a.Crosses), &s, gpus, place.Level)
			switch {
			case ok:
				require.False(t, bar, "%+v has a place", q)
				require.NoError(t, r.Take(&place.Spec{}, segs, a.Crosses))
			case bar:
				barred++
			default:
				open++
				l.learn(key, p.Sets())
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
