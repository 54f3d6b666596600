// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTopologyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "topology")
	for _, c := range []struct {
		text  string
		nodes int
		names []string
		leaf  []int32 // of each node
		err   string
	}{
		{text: "SwitchName=s Nodes=n[1-2]\nSwitchName=r Nodes=n3", nodes: 3, leaf: []int32{0, 0, 1}},
		// One node below both leaves: it counts once, as below the first.
		{text: "SwitchName=s Nodes=n[1-3]\nSwitchName=r Nodes=n[3-4]", nodes: 4, leaf: []int32{0, 0, 0, 1}},
		{text: "SwitchName=s Nodes=n[1-3]\nSwitchName=r Nodes=n[3-5]", nodes: 4, err: "n[3-5]: the machine has 4 nodes"},
		// Nodes with names are where their names say.
		{text: "SwitchName=s Nodes=b,d\nSwitchName=r Nodes=\"c, a,\"", nodes: 4, names: []string{"a", "b", "c", "d"},
			leaf: []int32{0, 1, 0, 1}},
		{text: "SwitchName=s Nodes=a,gone[1-9]\nSwitchName=r Nodes=b", nodes: 2, names: []string{"a", "b"}, leaf: []int32{0, 1}},
		{text: "topology: t\nblock:\n  blocks:\n  - {block: x, nodes: a}\n  - {block: y, nodes: b}", nodes: 2, leaf: []int32{0, 1}},
		{text: "SwitchName=s Nodes=n[1-2000000]", nodes: 4, err: "more than 1048576 nodes"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		f := treeFlags{file: path}
		tree, err := f.readFile(c.nodes, c.names)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err, c.text)
		of := tree.SwitchOf(1)
		for n := range of {
			require.Equal(t, c.leaf[n] == c.leaf[0], of[n] == of[0], "%s: node %d", c.text, n)
		}
		require.Equal(t, 2, tree.Switches(1))
	}
}
