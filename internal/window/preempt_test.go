// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
)

const preemptable = `{"nodes": [{"name": "n[1-2]", "cores": 8}],
 "running": [{"id": "R1", "nodes": "n1", "cores_per_node": 8, "end_s": 500, "price": 20, "class": 3},
             {"id": "R2", "nodes": "n2", "cores_per_node": 8, "end_s": 500, "price": 10, "class": 3}],
 "jobs": [{"id": "J1", "priority": 1000, "cores": 8, "preempts": [0, 3]},
          {"id": "J2", "priority": 900, "cores": 8}]}`

func TestPreemptionIsReadAndWritten(t *testing.T) {
	w, err := Read(strings.NewReader(preemptable), "w.json")
	require.NoError(t, err)
	require.EqualValues(t, 1<<3|1, w.Snapshot.Pending[0].Preempts)
	require.Zero(t, w.Snapshot.Pending[1].Preempts)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
	o, err := NewOutcome("auction2", w, &p)
	require.NoError(t, err)
	require.Equal(t, []Preemption{{Job: "R2", For: []string{"J1"}}}, o.Preempted)
	require.Equal(t, "n2", o.Decisions[0].Nodes)

	e, err := core.NewExplainer(context.Background(), a, &w.Snapshot, core.Limits{})
	require.NoError(t, err)
	x, err := e.Explain(context.Background(), 1, core.ExplainOptions{})
	require.NoError(t, err)
	told, err := NewExplanation(w, x)
	require.NoError(t, err)
	require.NotEmpty(t, told.BlockedBy)
	require.False(t, *told.BlockedBy[0].Preemptable)
}

func TestPreemptionErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"price": 10`, `"price": -1`, "w.json:3: running[1] (R2): price: -1: must be 0 to 1099511627776"},
		{`"price": 10, "class": 3`, `"price": 10, "class": 64`, "w.json:3: running[1] (R2): class: 64: must be 0 to 63"},
		{`[0, 3]`, `[64]`, "w.json:4: jobs[0] (J1): preempts: 64: must be 0 to 63"},
		{`[0, 3]`, `[0, null]`, "w.json:4: jobs[0] (J1): preempts: is null: leave a field out that has no value"},
		{`[0, 3]`, `3`, "w.json:4: jobs[0] (J1): preempts: number is not a list"},
		{`"preempts"`, `"preempt"`, `w.json:4: jobs[0] (J1): unknown field "preempt"; did you mean "preempts"?`},
	} {
		_, err := Read(strings.NewReader(strings.Replace(preemptable, c.old, c.new, 1)), "w.json")
		require.EqualError(t, err, c.want)
	}
}
