// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"testing"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The oracle has its own meaning of requests, which is that of the table of requests and their
// allocations.
func TestOracleMeansWhatRequestsMean(t *testing.T) {
	judge := func(t require.TestingT, c requests.Case) {
		r, w := &c.Request, &World{Nodes: make([]Node, c.Nodes)}
		if len(r.Components) > 0 || len(r.Uses) > 0 {
			return
		}
		p := Part{Cores: r.Cores, MinNodes: r.MinNodes, MaxNodes: r.MaxNodes, Tasks: r.TasksPerNode,
			MinGPUs: r.MinGPUs, MaxGPUs: r.MaxGPUs, Mixed: r.MixedGPUs, Contiguous: r.Contiguous, On: nodesIn(r, c.Nodes)}
		var pieces []Piece
		for _, s := range c.Segs {
			for n := s.First; n <= s.Last; n++ {
				pieces = append(pieces, Piece{Node: int(n), Cores: int(s.Cores), GPUs: int(s.GPUs)})
			}
		}
		require.Equal(t, c.OK, w.Meets(&Way{Parts: []Part{p}}, pieces), "%s: %+v on %+v", c.Name, *r, c.Segs)
	}
	for _, c := range requests.Cases() {
		judge(t, c)
	}
	rapid.Check(t, func(r *rapid.T) { judge(r, requests.Draw(r)) })
}

func nodesIn(r *bids.Request, n int) (on uint) {
	for i := range n {
		if r.Eligible.Has(i) {
			on |= 1 << i
		}
	}
	return on
}
