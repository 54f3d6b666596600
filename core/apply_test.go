// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

func TestApply(t *testing.T) {
	table := uniform(t, 4, 8)
	first := []nodeset.Segment{{First: 0, Last: 1, Cores: 8}}
	p := &core.Plan{Decisions: []core.Decision{
		{Job: 0, Start: true, Segs: first}, {Job: 1}, {Job: 2, Start: true, Segs: []nodeset.Segment{{First: 3, Last: 3, Cores: 2}}}}}
	starts, err := p.Apply(table)
	require.NoError(t, err)
	require.Equal(t, []int{0, 2}, []int{starts[0].Job, starts[1].Job})
	require.Equal(t, []uint16{0, 0, 8, 6}, table.FreeCores())
	first[0] = nodeset.Segment{} // as the plan's next use does
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 1, Cores: 8}}, starts[0].Segs)
}

func TestApplyChangesNothingInVain(t *testing.T) {
	table := uniform(t, 4, 8)
	p := &core.Plan{Decisions: []core.Decision{
		{Start: true, Segs: []nodeset.Segment{{First: 0, Last: 1, Cores: 8}}},
		{Job: 1, Start: true, Segs: []nodeset.Segment{{First: 1, Last: 1, Cores: 1}}}}}
	_, err := p.Apply(table)
	require.ErrorIs(t, err, core.ErrInvalidPlan)
	require.ErrorContains(t, err, "decision on job 1: node 1")
	require.Equal(t, []uint16{8, 8, 8, 8}, table.FreeCores())
}
