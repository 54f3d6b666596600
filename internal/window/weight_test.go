// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Weights are places in their order; alike, they are none.
func TestWeights(t *testing.T) {
	for name, x := range map[string]struct {
		weights []string
		want    []uint8
	}{
		"none":   {[]string{"", ""}, nil},
		"alike":  {[]string{`, "weight": 7`, `, "weight": 7`}, nil},
		"absent": {[]string{`, "weight": 7`, "", `, "weight": 4294967295`}, []uint8{1, 0, 2}},
	} {
		var nodes []string
		for i, weight := range x.weights {
			nodes = append(nodes, fmt.Sprintf(`{"name": "n%d", "cores": 8%s}`, i, weight))
		}
		w, err := Read(strings.NewReader(`{"nodes": [`+strings.Join(nodes, ",\n")+`], "jobs": []}`), "w.json")
		require.NoError(t, err)
		require.Equal(t, x.want, w.Snapshot.Tiers, name)
	}
	for weight, want := range map[string]string{
		"-1":         "w.json:1: nodes[0] (n): weight: -1: must be 0 to 4294967295",
		"4294967296": "w.json:1: nodes[0] (n): weight: 4294967296: must be 0 to 4294967295",
	} {
		in := `{"nodes": [{"name": "n", "cores": 8, "weight": ` + weight + `}], "jobs": []}`
		_, err := Read(strings.NewReader(in), "w.json")
		require.EqualError(t, err, want)
	}
}
