// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/requests"
)

// A job in the words of aucsched.h means what the request means that it is made of, to the header's
// reader (checkJob) and to the policies, which see what the snapshot makes of it.
func TestJobsMeanWhatRequestsMean(t *testing.T) {
	judged := 0
	judge := func(t require.TestingT, c requests.Case) {
		in, ok := inWords(&c)
		if !ok {
			return
		}
		var s snapshot
		require.NoError(t, s.load(in))
		if s.faults.count > 0 {
			// the header has no word for it: no number of nodes has so many cores on each
			require.ErrorContains(t, s.faults.first, "jobs[0].cores_per_node: ")
			return
		}
		judged++
		d := Decision{GPUs: c.Segs[0].GPUs, BidClass: 'A'}
		err := checkJob(in, 0, &in.Jobs[0], &d, segments(c), make([]int, c.Nodes), make([]int, c.Nodes))
		require.Equal(t, c.OK, err == nil, "%s: %+v on %+v: %v", c.Name, in.Jobs[0], c.Segs, err)
		err = place.CheckSegments(&s.Pending[0].Request, c.Segs, c.Nodes)
		require.Equal(t, c.OK, err == nil, "%s: %+v on %+v: %v", c.Name, s.Pending[0].Request, c.Segs, err)
	}
	for _, c := range requests.Cases() {
		judge(t, c)
	}
	require.Greater(t, judged, 30)
	rapid.Check(t, func(r *rapid.T) { judge(r, requests.Draw(r)) })
}

// inWords is an input with a job that asks for a case's request, if the header has words for it:
// the number of cores is always given, and all nodes have the same number of GPUs.
func inWords(c *requests.Case) (*Input, bool) {
	r := &c.Request
	j := Job{Priority: 1, Cores: uint32(r.Cores), MinNodes: uint32(r.MinNodes),
		MaxNodes: uint32(r.MaxNodes), CoresPerNode: uint32(r.TasksPerNode), TimeLimit: 1,
		MinGPUs: uint8(r.MinGPUs), MaxGPUs: uint8(max(r.MinGPUs, r.MaxGPUs)), Mask: -1}
	if r.Contiguous {
		j.Flags = Contiguous
	}
	if r.Cores+r.TasksPerNode == 0 {
		return nil, false
	}
	if r.Cores == 0 {
		least := max(r.MinNodes, 1)
		j.Cores = uint32(least * r.TasksPerNode)
		if r.MaxNodes != 0 && r.MaxNodes != least {
			return nil, false
		}
	}
	in := &Input{Jobs: []Job{j}}
	for range c.Nodes {
		in.Nodes = append(in.Nodes, Node{Cores: 16, FreeCores: 16, GPUs: 8, FreeGPUs: 8, Up: 1})
	}
	if r.Eligible != nil {
		in.Jobs[0].Mask, in.Masks, in.MaskCount, in.MaskWords = 0, r.Eligible, 1, 1
	}
	return in, !r.MixedGPUs
}

// segments are a case's in the header's terms.
func segments(c requests.Case) (out []Segment) {
	for _, s := range c.Segs {
		out = append(out, Segment{First: uint32(s.First), Last: uint32(s.Last), Cores: s.Cores, GPUs: s.GPUs})
	}
	return out
}
