// SPDX-License-Identifier: BSD-3-Clause

package input

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	known := []string{"plan", "explain", "simulate", "solve", "status", "auction1", "auction2", "a"}
	for word, want := range map[string]string{
		"plam": "plan", "pln": "plan", "lpan": "plan", "--plam": "plan", "PLAN": "plan",
		"explian": "explain", "simualte": "simulate", "statsu": "status", "auction3": "", "audtion2": "auction2",
		"frob": "", "": "", "-": "", "b": "", "planning": "", "nalp": "", "sxxxxxte": "",
	} {
		require.Equal(t, want, Nearest(word, known), word)
	}
	require.Equal(t, `; did you mean "plan"?`, Hint("plam", known))
	require.Empty(t, Hint("frob", known))
}

// The distance is symmetric, 0 for equal words alone, at most the longer length, and one edit is 1.
func TestDistance(t *testing.T) {
	word := rapid.StringMatching(`[abc]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		require.Equal(t, d, distance(b, a))
		require.Equal(t, a == b, d == 0)
		require.LessOrEqual(t, d, max(len(a), len(b)))
		require.GreaterOrEqual(t, d, max(len(a), len(b))-min(len(a), len(b)))
		at := rapid.IntRange(0, len(a)).Draw(t, "at")
		require.Equal(t, 1, distance(a, a[:at]+"x"+a[at:]))
	})
	require.Equal(t, 3, distance("kitten", "sitting"))
	require.Equal(t, 1, distance("ab", "ba"))
	require.Equal(t, 8, distance("", strings.Repeat("x", 8)))
}
