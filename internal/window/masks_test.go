// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/nodeset"
)

const named = `{"jobs": [
	{"id": "J", "priority": 2, "cores": 4, "eligible": "n[3-4]", "prefer": "n4",
	 "alternatives": [{"cores": 8}, {"cores": 2, "eligible": "n1"}]},
	{"id": "K", "priority": 1, "cores": 4, "eligible": ""}],
 "running": [{"id": "R", "nodes": "n[3,1-2]", "cores_per_node": [1, 2, 2], "gpus_per_node": [0, 1, 1], "end_s": 5}],
 "nodes": [{"name": "n[1-4]", "cores": 8, "gpus": 2}]}`

func TestReadNamedNodes(t *testing.T) {
	w, err := Read(strings.NewReader(named), "w.json")
	require.NoError(t, err)
	j, k := w.Snapshot.Pending[0], w.Snapshot.Pending[1]
	require.Equal(t, nodeset.Mask{0b1100}, j.Eligible)
	require.Equal(t, nodeset.Mask{0b1000}, j.Prefer)
	require.Nil(t, j.Alternatives[0].Eligible)
	require.Equal(t, nodeset.Mask{0b1}, j.Alternatives[1].Eligible)
	require.Equal(t, nodeset.Mask{0}, k.Eligible, "an empty list has no node")
	require.Nil(t, k.Prefer)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 1, Cores: 2, GPUs: 1}, {First: 2, Last: 2, Cores: 1}},
		w.Snapshot.Running[0].Segs, "shares are in the order of the list")
}

func TestReadNamedNodesErrors(t *testing.T) {
	for _, x := range []struct{ old, new, want string }{
		{`"eligible": "n[3-4]"`, `"eligible": "n[3-5]"`, "w.json:2: jobs[0] (J): eligible: n5: there is no such node"},
		{`"prefer": "n4"`, `"prefer": "n["`, "w.json:2: jobs[0] (J): prefer: "},
		{`[1, 2, 2]`, `[1, 2]`, "w.json:5: running[0] (R): cores_per_node: 2: this and gpus_per_node are a number, or one for each of 3 nodes"},
		{`[1, 2, 2]`, `[1, 2, -1]`, "running[0] (R): node n2: cores: -1: must be 0 to 65535"},
		{`[1, 2, 2]`, `"1"`, "is neither a whole number nor a list of them"},
		{`"n[3,1-2]"`, `""`, `running[0] (R): nodes: "": are missing`},
	} {
		in := strings.Replace(named, x.old, x.new, 1)
		require.NotEqual(t, named, in)
		_, err := Read(strings.NewReader(in), "w.json")
		require.ErrorContains(t, err, x.want)
	}
}
