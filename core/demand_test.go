// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
)

func TestDemandFades(t *testing.T) {
	var d Demand
	require.Empty(t, d.Recent())
	d.Come(&bids.Request{Cores: 5}, 10)
	require.Empty(t, d.Recent(), "no GPUs")
	d.Come(&bids.Request{Cores: 16, MinNodes: 2, MaxNodes: 2, MinGPUs: 4, MaxGPUs: 8}, 100)
	d.Come(&bids.Request{TasksPerNode: 3, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}, 100)
	require.Equal(t, []Asked{{1, 3, 1}, {4, 8, 2}}, d.Recent())
	d.Come(&bids.Request{Cores: 6, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}, 100+DemandHalfLife)
	require.Equal(t, []Asked{{1, 5, 1.5}, {4, 8, 1}}, d.Recent())
	d.Come(&bids.Request{Cores: 5}, 100+100*DemandHalfLife)
	require.Empty(t, d.Recent(), "all is forgotten")
}
