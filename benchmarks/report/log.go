// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Log keeps the jobs of one simulation as they end. Its memory is in proportion to
// their number and the segments of their allocations. The zero Log is empty.
type Log struct {
	ran  []ran
	segs []nodeset.Segment
}

// ran is the life of a job: sim.Record, with its segments in the Log's memory.
type ran struct {
	job                *workload.Job
	submit, start, end int64
	class              bids.Class
	from, to           int // of Log.segs
	loading            int64
}

// Add keeps a copy of r: set it as sim.Config.OnEnd.
func (l *Log) Add(r sim.Record) {
	from := len(l.segs)
	l.segs = append(l.segs, r.Segs...)
	l.ran = append(l.ran, ran{r.Job, r.Submit, r.Start, r.End, r.Class, from, len(l.segs), r.Loading})
}

// Len is the number of jobs kept.
func (l *Log) Len() int { return len(l.ran) }

func (l *Log) segments(r *ran) []nodeset.Segment { return l.segs[r.from:r.to] }

// numbered are the jobs that ran by start, then by their position in the workload,
// and these positions.
func (l *Log) numbered(jobs []workload.Job) (order []*ran, position map[*workload.Job]int) {
	position = make(map[*workload.Job]int, len(jobs))
	for i := range jobs {
		position[&jobs[i]] = i
	}
	for i := range l.ran {
		order = append(order, &l.ran[i])
	}
	slices.SortFunc(order, func(a, b *ran) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(position[a.job], position[b.job]))
	})
	return order, position
}
