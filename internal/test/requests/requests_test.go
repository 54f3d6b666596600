// SPDX-License-Identifier: BSD-3-Clause

package requests

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
)

// The table and the function say the same, and requests of the table are valid.
func TestCases(t *testing.T) {
	names, met := map[string]bool{}, 0
	for _, c := range Cases() {
		require.False(t, names[c.Name], c.Name)
		names[c.Name] = true
		require.NoError(t, place.Validate(&c.Request), c.Name)
		require.Equal(t, c.OK, Met(&c.Request, c.Segs), c.Name)
		if c.OK {
			met++
		}
	}
	require.Greater(t, met, 20)
	require.Greater(t, len(names)-met, 20)
}

// What is drawn is met often enough, and not met often enough, to tell judges apart.
func TestDrawDrawsBoth(t *testing.T) {
	drawn := map[bool]int{}
	rapid.Check(t, func(r *rapid.T) {
		for range 20 {
			drawn[Draw(r).OK]++
		}
	})
	require.Greater(t, drawn[true], 10)
	require.Greater(t, drawn[false], 20)
}

// Requests that ask for the same have the same normal form, however they say it.
func TestSameRequestsHaveTheSameSpec(t *testing.T) {
	for _, same := range [][]bids.Request{
		{{Cores: 8}, {Cores: 8, MixedGPUs: true}},
		{{Cores: 8, MinGPUs: 1}, {Cores: 8, MinGPUs: 1, MaxGPUs: 1}, {Cores: 8, MinGPUs: 1, MixedGPUs: true}},
		{{Cores: 8, MinNodes: 2}, {Cores: 8, MinNodes: 2, MaxNodes: 8}, {Cores: 8, MinNodes: 2, MaxNodes: 100}},
		{{TasksPerNode: 3}, {TasksPerNode: 3, MinNodes: 1}, {TasksPerNode: 3, MinNodes: 1, MaxNodes: 1}, {TasksPerNode: 3, Cores: 3}},
		{{Cores: 8, TasksPerNode: 4}, {MinNodes: 2, TasksPerNode: 4}, {Cores: 8, TasksPerNode: 4, MinNodes: 1, MaxNodes: 3}},
	} {
		for i := range same {
			require.Equal(t, Spec(&same[0]), Spec(&same[i]), "%+v", same[i])
			require.NoError(t, place.Validate(&same[i]))
		}
	}
}

// Whatever meets a request meets all that have the same normal form.
func TestOneSpecOneMeaning(t *testing.T) {
	known := map[place.Spec]bids.Request{}
	again := 0
	rapid.Check(t, func(r *rapid.T) {
		for range 20 {
			c := Draw(r)
			spec := Spec(&c.Request)
			spec.Eligible, c.Request.Eligible = nil, nil
			other, ok := known[spec]
			if known[spec] = c.Request; !ok || Met(&c.Request, c.Segs) != Met(&other, c.Segs) {
				require.False(r, ok, "%+v and %+v", c.Request, other)
				continue
			}
			again++
		}
	})
	require.Greater(t, again, 50)
}
