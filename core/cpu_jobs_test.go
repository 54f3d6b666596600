// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/nodeset"
)

// offGPUs puts nodes with GPUs into the second tier, as the plug-ins do among nodes of one weight.
func offGPUs(s *Snapshot) {
	s.Tiers = make([]uint8, s.Nodes.Len())
	for n := range s.Tiers {
		s.Tiers[n] = min(s.Nodes.Total(n).GPUs, 1)
	}
}

// startsOffGPUs reports whether a job would start alone on those nodes of s that have no GPUs.
func startsOffGPUs(t require.TestingT, a *Auction, s *Snapshot, job *Job) bool {
	one, part := *job, *s
	one.Eligible = nodeset.NewMask(len(s.Tiers))
	for n, tier := range s.Tiers {
		if tier == 0 && (job.Eligible == nil || job.Eligible.Has(n)) {
			one.Eligible.Set(n)
		}
	}
	part.Pending, part.Tiers = []*Job{&one}, nil
	return started(decideOn(t, a, &part)) == 1
}

// No node with GPUs is used by a job without while nodes without GPUs suit it, which means that it
// would start on these alone. In a window of its own that always holds; with other jobs, of what
// the whole plan leaves free, nearly always: who starts comes before where.
func TestCPUJobsKeepOffGPUs(t *testing.T) {
	a := auctionOf(t, func(*AuctionOptions) {})
	suited, beside, late := 0, 0, 0
	// the late ones are several in one window, if any: of few windows they can be many by chance
	checkUntil(t, func() bool { return suited > 100 && beside > 2000 }, func(t *rapid.T) {
		s := drawSnapshot(t)
		offGPUs(s)
		onGPUs := func(nodes []int) bool {
			return slices.ContainsFunc(nodes, func(n int) bool { return s.Tiers[n] > 0 })
		}
		pending := s.Pending
		on := nodesOf(decideOn(t, a, s))
		left := *s
		left.Nodes = new(nodeset.Table)
		left.Nodes.CopyFrom(s.Nodes)
		for _, d := range decideOn(t, a, s).Decisions {
			if d.Start {
				require.NoError(t, left.Nodes.Allocate(d.Segs))
			}
		}
		for i, job := range pending {
			if job.MaxGPUs > 0 {
				continue
			}
			if nodes, starts := on[i]; starts {
				beside++
				if onGPUs(nodes) && startsOffGPUs(t, a, &left, job) {
					late++
				}
			}
			if startsOffGPUs(t, a, s, job) {
				s.Pending = []*Job{job}
				require.False(t, onGPUs(nodesOf(decideOn(t, a, s))[0]), "%+v", job.Request)
				suited++
			}
		}
	})
	t.Logf("%d alone; %d in windows, %d of which have GPU nodes and needed none", suited, beside, late)
	require.LessOrEqual(t, late, beside/50)
}
