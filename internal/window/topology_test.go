// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadSwitches(t *testing.T) {
	w, err := Read(strings.NewReader(`{"switches": [{"name": "root", "switches": "s[1-2]"},
	 {"name": "s1", "nodes": "n[1,3]"}, {"name": "s2", "nodes": "n2"}],
	 "nodes": [{"name": "n[1-3]", "cores": 4}],
	 "jobs": [{"id": "a", "priority": 1, "nodes": 2, "tasks_per_node": 1, "switches": 1, "within": 2, "segment": 2,
	           "alternatives": [{"cores": 2, "switches": 2}]}]}`), "w.json")
	require.NoError(t, err)
	require.Equal(t, []int32{0, 1, 0}, w.Snapshot.Topology.SwitchOf(1))
	require.Equal(t, 2, w.Snapshot.Topology.Levels())
	job := w.Snapshot.Pending[0]
	require.Equal(t, []int{1, 2, 2}, []int{job.Switches, job.Within, job.Segment})
	require.Equal(t, 2, job.Alternatives[0].Switches)
}

func TestReadSwitchErrors(t *testing.T) {
	const nodes = `{"nodes": [{"name": "n1"}], `
	for _, x := range []struct{ text, want string }{
		{"\n" + `"switches": [{"name": "a", "nodes": "n2"}]}`, "w.json:2: switches[0] (a): nodes: n2: there is no node n2"},
		{`"switches": [{"name": "a", "node": "n1"}]}`, `w.json:1: switches[0] (a): unknown field "node"; did you mean "nodes"?`},
		{`"switches": [{"name": "a", "nodes": "n1"}, {"name": "b", "nodes": "n1"}]}`,
			"w.json:1: switches[1] (b): nodes: n1: node 0 is below a already"},
		{`"jobs": [{"id": "a", "priority": 1, "cores": 1, "switches": -1}]}`,
			"w.json:1: jobs[0] (a): switches: -1: must not be negative"},
	} {
		_, err := Read(strings.NewReader(nodes+x.text), "w.json")
		require.ErrorContains(t, err, x.want)
	}
}
