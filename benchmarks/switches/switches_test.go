// SPDX-License-Identifier: BSD-3-Clause

package switches

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// finder finds nodes n0, n1, ... of so many.
func finder(nodes int) func(string) ([]int, error) {
	return func(list string) (numbers []int, err error) {
		if n, err := hostlist.Count(list); err != nil || n > 1<<12 {
			return nil, errors.Join(err, errors.New("too long"))
		}
		names, err := hostlist.Expand(list)
		for _, name := range names {
			n := 0
			if _, err := fmt.Sscanf(name, "n%d", &n); err != nil || n < 0 || n >= nodes {
				return nil, fmt.Errorf("there is no node %s", name)
			}
			numbers = append(numbers, n)
		}
		return numbers, err
	}
}

const treeConf = `# as of slurm.schedmd.com/topology.conf.html
SwitchName=s0 Nodes=n[0-5]   LinkSpeed=900
SwitchName=s1 Nodes=n[6-11]
switchname=s2 nodes=n[12-17] # the last
SwitchName=s3 \
  Switches=s[0-2]
`

func TestReadTree(t *testing.T) {
	lines, err := ReadConf(strings.NewReader(treeConf), "topology.conf")
	require.NoError(t, err)
	require.Equal(t, []Line{{"s0", "n[0-5]", ""}, {"s1", "n[6-11]", ""}, {"s2", "n[12-17]", ""}, {"s3", "", "s[0-2]"}}, lines)
	tree, err := Topology(lines, 18, finder(18))
	require.NoError(t, err)
	require.Equal(t, 2, tree.Levels())
	require.Equal(t, []int{3, 1}, []int{tree.Switches(1), tree.Switches(2)})
	require.Equal(t, "s1", tree.Name(1, int(tree.SwitchOf(1)[6])))
}

func TestReadBlocks(t *testing.T) {
	text := "BlockName=a Nodes=n[0-3]\nBlockName=b Nodes=n[4-7]\nBlockName=c Nodes=n[8-11]\nBlockName=d Nodes=n[12-15]\nBlockSizes=4,8\n"
	lines, err := ReadConf(strings.NewReader(text), "topology.conf")
	require.NoError(t, err)
	tree, err := Topology(lines, 16, finder(16))
	require.NoError(t, err)
	require.Equal(t, []int{4, 2, 1}, []int{tree.Switches(1), tree.Switches(2), tree.Switches(3)})
	require.Equal(t, tree.SwitchOf(2)[0], tree.SwitchOf(2)[7])
	require.NotEqual(t, tree.SwitchOf(2)[7], tree.SwitchOf(2)[8])
}

// The grammar is slurm.conf's.
func TestReadConfAsSlurm(t *testing.T) {
	text := "\n# SwitchName=x \\\nSwitchName = s0 Nodes = \"n[0-1], n2,\" \\ \n LinkSpeed=9\nSwitchName=top Switches=s0\n"
	lines, err := ReadConf(strings.NewReader(text), "t")
	require.NoError(t, err)
	require.Equal(t, []Line{{"s0", "n[0-1], n2,", ""}, {"top", "", "s0"}}, lines)
	tree, err := Topology(lines, 3, finder(3))
	require.NoError(t, err)
	require.Equal(t, []int32{0, 0, 0}, tree.SwitchOf(1))
}

func TestReadYAML(t *testing.T) {
	const tree, blocks = `
  tree:
    switches:
      - switch: root
        children: s[1-2]
      - {switch: s1, nodes: "n[0-3]", link_speed: 3}
      - switch: s2
        nodes: n[4-7]
`, `
  block:
    block_sizes: [4, 8]
    blocks:
      - block: a
        nodes: n[0-3]
      - block: b
        nodes: n[4-7]
      - block: c
        nodes: n[8-11]
`
	for text, want := range map[string][]int{
		"---\n- topology: t\n  cluster_default: true" + tree:                                           {2, 1},
		"topology: t" + strings.ReplaceAll(tree, "\n  ", "\n"):                                         {2, 1},
		"- topology: b" + blocks + "- topology: t\n  cluster_default: true" + tree:                     {2, 1},
		"- topology: b" + blocks + "- topology: t" + tree:                                              {3, 2, 1},
		"# a comment\n- topology: flat\n  flat: true\n- topology: b\n  cluster_default: true" + blocks: {3, 2, 1},
	} {
		lines, err := ReadConf(strings.NewReader(text), "topology.yaml")
		require.NoError(t, err, text)
		tree, err := Topology(lines, 12, finder(12))
		require.NoError(t, err, text)
		var got []int
		for level := 1; level <= tree.Levels(); level++ {
			n := 0
			for s := range tree.Switches(level) {
				if nodesBelow(tree, level, s) > 1 {
					n++
				}
			}
			got = append(got, n)
		}
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"- topology: t\n  flat: true":                   `topology "t": has neither a tree nor blocks`,
		"- topology: t" + tree + blocks[1:]:             `topology "t": has both a tree and blocks`,
		"- topology: t\n  block:\n    block_sizes: [0]": "BlockSizes: 0: is no number of nodes",
		"- topology: t\n  block:\n    block_sizes: 4":   "cannot unmarshal",
		"[]":  "it has no topology",
		"- [": "yaml: line 1",
		"- topology: t\n  tree:\n    switches: []": "has no switch and no block",
		strings.Repeat("#", maxBytes+1):            "more than 16 MiB",
	} {
		_, err := ReadConf(strings.NewReader(text), "t")
		require.ErrorContains(t, err, want, "%.60s", text)
	}
}

func TestConfFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "t: no topology.conf begins so, and as topology.yaml: it is empty",
		"\nSwitchName=a Noodles=n1":          `t:2: unknown key "Noodles"`,
		"Nodes=n1":                           `t:1: "Nodes=n1": neither SwitchName nor BlockName`,
		"SwitchName=a Nodes":                 `t:1: the line can't be read from "Nodes" on`,
		"BlockSizes=4,x":                     `t:1: BlockSizes: "x" is no number of nodes`,
		"BlockSizes=4,6":                     "t:1: BlockSizes: 6: must be a multiple of 4, and ascend",
		"BlockName=a Nodes=n1\nSwitchName=b": "t: has both SwitchName and BlockName",
	} {
		_, err := ReadConf(strings.NewReader(text), "t")
		require.EqualError(t, err, want, text)
	}
	for want, lines := range map[string][]Line{
		"switch 0: name: \"\": is missing":                                {{"", "n1", ""}},
		"switch 1: name: a: is there twice":                               {{"a", "n1", ""}, {"a", "n2", ""}},
		"switch 0: nodes: n1: a switch has either nodes or switches":      {{"a", "n1", "a"}},
		"switch 0: nodes: n9: there is no node n9":                        {{"a", "n9", ""}},
		"switch 1: switches: b: there is no switch b":                     {{"a", "n1", ""}, {"r", "", "b"}},
		"switch 2: switches: a: a is below r already":                     {{"a", "n1", ""}, {"r", "", "a"}, {"q", "", "a"}},
		"switch 1: nodes: n1: node 1 is below a already":                  {{"a", "n1", ""}, {"b", "n1", ""}},
		"switch r is below itself":                                        {{"r", "", "r"}},
		"switch 0: switches: b[0-99]: no list of switches that there are": {{"r", "", "b[0-99]"}},
	} {
		_, err := Topology(lines, 4, finder(4))
		require.EqualError(t, err, want)
	}
}

func TestEven(t *testing.T) {
	tree, err := Even(10, 3)
	require.NoError(t, err)
	require.Equal(t, []int32{0, 0, 0, 0, 1, 1, 1, 2, 2, 2}, tree.SwitchOf(1))
	_, err = Even(10, 11)
	require.EqualError(t, err, "11 leaves: must be 1 to 10, the number of nodes")
}

// Whatever the file says, each node is below one switch of each level, and the switches add up.
func FuzzReadConf(f *testing.F) {
	f.Add(treeConf)
	f.Add("- topology: t\n  tree:\n    switches:\n      - {switch: a, nodes: n1}\n      - {switch: b, children: a}")
	f.Add("BlockName=a Nodes=n[0-3]\nBlockName=b Nodes=n[4-7]\nBlockSizes=4,8")
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := ReadConf(strings.NewReader(text), "t")
		if err != nil {
			return
		}
		tree, err := Topology(lines, 32, finder(32))
		if err != nil {
			return
		}
		for level := 1; level <= tree.Levels(); level++ {
			sum := 0
			for s := range tree.Switches(level) {
				sum += nodesBelow(tree, level, s)
			}
			require.Equal(t, 32, sum)
		}
	})
}

func nodesBelow(tree *nodeset.Topology, level, s int) (n int) {
	for _, of := range tree.SwitchOf(level) {
		if int(of) == s {
			n++
		}
	}
	return n
}
