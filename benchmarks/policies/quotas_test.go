// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/nodeset"
)

// ipsched knows no quotas: jobs that count against one wait, and are told so.
func TestIPSchedLeavesQuotasAlone(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	s := &core.Snapshot{Nodes: nodes, Quotas: []core.Quota{{Name: "x", Left: 1}}, Pending: []*core.Job{
		{ID: "a", Priority: 2, TimeLimit: 60, Request: bids.Request{Cores: 4, Charges: nodeset.Uses{{PerCore: 1}}}},
		{ID: "b", Priority: 1, TimeLimit: 60, Request: bids.Request{Cores: 4}}}}
	a, err := NewIPSched(older.DefaultOptions())
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p))
	require.NoError(t, core.Verify(s, &p))
	require.Equal(t, core.Unmodelled, p.Decisions[0].Why)
	require.Contains(t, p.Decisions[0].Reason, "quotas")
	require.True(t, p.Decisions[1].Start)
}
