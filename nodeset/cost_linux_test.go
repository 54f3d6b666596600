// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/costtest"
)

// treeOf has n switches with these parents. No node is below them.
func treeOf(n int, parent func(i int) int) []Switch {
	switches := make([]Switch, n)
	for i := range switches {
		switches[i] = Switch{Name: strconv.Itoa(i), Parent: parent(i)}
	}
	return switches
}

// However switches hang together, each is looked at once, in whatever order they are given.
func TestTopologyCost(t *testing.T) {
	for _, x := range []struct {
		shape  string
		parent func(i, n int) int
		wrong  string
	}{
		{"chain, root first", func(i, _ int) int { return i - 1 }, ""},
		{"chain, leaf first", func(i, n int) int { return (i+2)%(n+1) - 1 }, ""},
		{"chain with a leaf at each switch", func(i, _ int) int { return max(i-2+i%2, -1) }, ""},
		{"all below one", func(i, _ int) int { return min(i, 1) - 1 }, ""},
		{"circle", func(i, n int) int { return (i + 1) % n }, "switch 0 is below itself"},
		{"chain below a circle", func(i, n int) int { return min(i+1, n-1) }, "is below itself"},
	} {
		t.Run(x.shape, func(t *testing.T) {
			costtest.Linear(t, 5_000, func(n int) func() {
				switches := treeOf(n, func(i int) int { return x.parent(i, n) })
				return func() {
					_, err := NewTopology([]int32{-1}, switches)
					if x.wrong == "" {
						require.NoError(t, err)
						return
					}
					require.ErrorContains(t, err, x.wrong)
				}
			})
		})
	}
}

// Each leaf costs its own nodes, not all of the machine.
func TestTopologyWideCost(t *testing.T) {
	costtest.Linear(t, 20_000, func(n int) func() {
		switches, leaf := treeOf(n, func(int) int { return -1 }), make([]int32, n)
		for i := range leaf {
			leaf[i] = int32(i)
		}
		return func() {
			_, err := NewTopology(leaf, switches)
			require.NoError(t, err)
		}
	})
}
