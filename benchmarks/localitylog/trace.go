// SPDX-License-Identifier: BSD-3-Clause

package localitylog

import (
	"fmt"
	"strconv"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
)

// TraceOptions say how jobs of a trace, which knows no files, get some (section 5.1).
type TraceOptions struct {
	// CoresPerNode is at least 1, MemoryPerNode is in GB and above 0.
	CoresPerNode  int
	MemoryPerNode float64
	// Sharers is how many jobs share a file at most; 0: any number, as in the report.
	Sharers int
	// WarmUp is the seconds from the first submission before jobs count, and Evaluate how long
	// they do; 0: to the end.
	WarmUp, Evaluate int64
}

// FromTrace makes jobs with files of a workload's: which share one says [traces.Sharing], and its
// size is that share of a node's memory which the job's cores are of a node's.
//
// A job that asks for several nodes, or for more cores than a node has, becomes several jobs, of
// the same user, time and duration: as many cores on each of the nodes that it asks for, or full
// nodes and the rest. Jobs count from 1 in the order of submission.
//
// GPUs do not count. It fails if options are out of range, and where there are more than MaxJobs
// jobs or times are beyond MaxTime.
func FromTrace(w *workload.Workload, o TraceOptions) ([]locality.Job, error) {
	if o.CoresPerNode < 1 || o.CoresPerNode > locality.MaxCores {
		return nil, fmt.Errorf("cores per node: %d: must be in 1..%d", o.CoresPerNode, locality.MaxCores)
	}
	if !(o.MemoryPerNode > 0 && o.MemoryPerNode <= maxGB) {
		return nil, fmt.Errorf("memory: %v: must be above 0 and at most %g GB", o.MemoryPerNode, float64(maxGB))
	}
	t := traceReader{o: o, sharing: traces.NewSharing(w.Jobs, o.Sharers)}
	for i := range w.Jobs {
		if err := t.add(&w.Jobs[i]); err != nil {
			return nil, err
		}
	}
	return t.jobs, nil
}

type traceReader struct {
	o       TraceOptions
	sharing *traces.Sharing
	jobs    []locality.Job
}

func (t *traceReader) add(w *workload.Job) error {
	if w.Submit > locality.MaxTime || w.Duration > locality.MaxTime || w.TimeLimit > locality.MaxTime {
		return fmt.Errorf("job %s: submission, duration or time limit: must be at most %d s", strconv.Quote(w.ID), int64(locality.MaxTime))
	}
	count, cores, rest := split(&w.Request, t.o.CoresPerNode)
	if count > locality.MaxJobs-len(t.jobs) || rest > 0 && count == locality.MaxJobs-len(t.jobs) {
		return fmt.Errorf("job %s: more than %d jobs, counting each node of a job", strconv.Quote(w.ID), locality.MaxJobs)
	}
	for range count {
		t.one(w, cores)
	}
	if rest > 0 {
		t.one(w, rest)
	}
	return nil
}

// one adds a job of so many cores.
func (t *traceReader) one(w *workload.Job, cores int) {
	j := locality.Job{
		ID: int64(len(t.jobs) + 1), Submit: w.Submit, Duration: max(1, w.Duration),
		WallTime: max(1, w.TimeLimit), Cores: cores, User: w.User,
		FileSize: float64(cores) / float64(t.o.CoresPerNode) * t.o.MemoryPerNode, StartNode: 1,
	}
	j.File = int64(t.sharing.File(w.User, cores, w.Submit))
	switch after := w.Submit - t.o.WarmUp; {
	case after < 0:
		j.Class = locality.WarmUp
	case t.o.Evaluate == 0 || after < t.o.Evaluate:
		j.Class = locality.Evaluated
	default:
		j.Class = locality.Pressure
	}
	t.jobs = append(t.jobs, j)
}

// split gives the single-node jobs that stand for a request: count of so many cores each, and one
// of rest cores if that is not 0.
func split(q *bids.Request, most int) (count, cores, rest int) {
	nodes := max(1, q.MinNodes)
	total := q.Cores
	if total == 0 {
		total = nodes * max(1, q.TasksPerNode)
	}
	cores = most
	switch {
	case q.TasksPerNode > 0:
		cores = q.TasksPerNode
	case q.MinNodes > 1:
		cores = (total + nodes - 1) / nodes
	}
	cores = min(cores, most, total)
	return total / cores, cores, total % cores
}
