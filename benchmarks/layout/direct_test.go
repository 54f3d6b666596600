// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/mps"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// twoJobs is the window of a job of four cores on two nodes, of type 2, and one of type 3 on the
// second node, of which three cores are free.
func twoJobs(t *testing.T) *Direct {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4, GPUs: 2})
	require.NoError(t, err)
	require.NoError(t, nodes.SetFree(1, nodeset.Capacity{Cores: 3, GPUs: 2}))
	eligible := nodeset.NewMask(2)
	eligible.Set(1)
	variants := []market.Variant{
		{Spec: requests.Spec(&bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 1}), Priority: 5},
		{Spec: requests.Spec(&bids.Request{MinNodes: 1, TasksPerNode: 2, Eligible: eligible}), Priority: 3},
	}
	space := market.Space{Now: nodes}
	var g market.Generator
	var book market.Book
	g.Generate(&space, variants, market.Options{MaxBidsPerJob: 1}, &book)
	var b market.Builder
	var m ipmodel.Model
	require.NoError(t, b.Build(&space, variants, &book, nil, &m))
	m.Value = []int64{5, 3} // plain numbers for the reader
	d, err := NewDirect(&space, variants, &book, &m)
	require.NoError(t, err)
	return d
}

// Equations 1-8 of aucsched1, term by term.
func TestDirectAsPrinted(t *testing.T) {
	const want = `NAME two
OBJSENSE
 MAX
ROWS
 N obj
 L one0
 G in0
 E nodes0
 E cores0
 L rest0_0
 L rest0_1
 L one1
 G in1
 E nodes1
 E cores1
 L rest1_1
 E cpn1_1
 L cpu0_0
 L gpu0_0
 L cpu0_1
 L gpu0_1
COLUMNS
 M0 'MARKER' 'INTORG'
 b0 obj 5
 b0 one0 1
 b0 in0 -2
 b0 nodes0 -2
 b0 cores0 -4
 b1 obj 3
 b1 one1 1
 b1 in1 -1
 b1 nodes1 -1
 b1 cores1 -2
 b1 cpn1_1 -2
 u0_0 obj 0
 u0_0 in0 1
 u0_0 nodes0 1
 u0_0 cores0 1
 u0_0 rest0_0 -3
 u0_0 cpu0_0 1
 u0_0 gpu0_0 1
 r0_0 obj 0
 r0_0 cores0 1
 r0_0 rest0_0 1
 r0_0 cpu0_0 1
 u0_1 obj 0
 u0_1 in0 1
 u0_1 nodes0 1
 u0_1 cores0 1
 u0_1 rest0_1 -2
 u0_1 cpu0_1 1
 u0_1 gpu0_1 1
 r0_1 obj 0
 r0_1 cores0 1
 r0_1 rest0_1 1
 r0_1 cpu0_1 1
 u1_1 obj 0
 u1_1 in1 1
 u1_1 nodes1 1
 u1_1 cores1 1
 u1_1 rest1_1 -1
 u1_1 cpn1_1 1
 u1_1 cpu0_1 1
 r1_1 obj 0
 r1_1 cores1 1
 r1_1 rest1_1 1
 r1_1 cpn1_1 1
 r1_1 cpu0_1 1
 M1 'MARKER' 'INTEND'
RHS
 RHS one0 1
 RHS one1 1
 RHS cpu0_0 4
 RHS gpu0_0 2
 RHS cpu0_1 3
 RHS gpu0_1 2
BOUNDS
 UP BND b0 1
 UP BND b1 1
 UP BND u0_0 1
 UP BND r0_0 3
 UP BND u0_1 1
 UP BND r0_1 2
 UP BND u1_1 1
 UP BND r1_1 1
ENDATA
`
	d := twoJobs(t)
	var text bytes.Buffer
	require.NoError(t, mps.WriteProgram(&text, &d.Program, "two"))
	require.Equal(t, want, text.String())
	require.ErrorContains(t, mps.WriteProgram(&text, &d.Program, "a b"), "blank")

	x, worth, ok := d.Enumerate()
	require.True(t, ok)
	require.Equal(t, int64(8), worth, "three cores of the first node, one of the second")
	again, err := d.Check(x)
	require.NoError(t, err)
	require.Equal(t, worth, again)
	fixed := []nodeset.Segment{{First: 0, Last: 1, Cores: 2, GPUs: 1}}
	other := []nodeset.Segment{{First: 1, Last: 1, Cores: 2}}
	x, err = d.Values([]int32{0, 1}, [][]nodeset.Segment{fixed, other})
	require.NoError(t, err)
	_, err = d.Check(x)
	require.EqualError(t, err, "row cpu0_1: 4 is out of its limits")
	_, err = d.Values([]int32{1}, [][]nodeset.Segment{fixed})
	require.Error(t, err, "the job does not bid for node 0")
}

func TestPaperSize(t *testing.T) {
	columns, rows := PaperSize(2, 2, 2, 1)
	require.Equal(t, []int64{2 + 4 + 4, 2 + 2 + 2 + 2 + 2 + 4 + 2}, []int64{columns, rows})
}
