package locality

import (
	"fmt"
	"strconv"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/workload"
)

// TraceOptions say how jobs of a trace, which knows no files, get some (section 5.1).
type TraceOptions struct {
	// CoresPerNode is at least 1, MemoryPerNode is in GB and above 0.
	CoresPerNode  int
	MemoryPerNode float64
	// Within is the time, in seconds, within which jobs must follow one another to share a file; 0
	// means the report's 800.
	Within int64
	// WarmUp is the seconds from the first submission before jobs count, and Evaluate how long they do;
	// 0: to the end.
	WarmUp, Evaluate int64
}

// sharedWithin is the report's time frame in which a user submits the jobs of a file, in seconds.
const sharedWithin = 800

// FromTrace makes jobs with files of a workload's: a job has the same file as the last one of the same user
// with as many cores if that came at most 800 s earlier, and otherwise a file of its own. Its size is
// that share of a node's memory which its cores are of a node's. If the workload says nothing of
// users, all jobs are one user's; a single job without a user shares with nobody.
//
// A job that asks for several nodes, or for more cores than a node has, becomes several jobs, of the same user,
// time and duration: as many cores on each of the nodes that it asks for, or full nodes and the rest. Jobs
// count from 1 in the order of submission.
//
// GPUs do not count. It fails if options are out of range, and where there are more than MaxJobs jobs or times
// are beyond MaxTime.
func FromTrace(w *workload.Workload, o TraceOptions) ([]Job, error) {
	if o.CoresPerNode < 1 || o.CoresPerNode > MaxCores {
		return nil, fmt.Errorf("cores per node: %d: must be in 1..%d", o.CoresPerNode, MaxCores)
	}
	if !(o.MemoryPerNode > 0 && o.MemoryPerNode <= maxGB) {
		return nil, fmt.Errorf("memory: %v: must be above 0 and at most %g GB", o.MemoryPerNode, float64(maxGB))
	}
	if o.Within == 0 {
		o.Within = sharedWithin
	}
	t := traceReader{o: o, groups: map[group]fileOfGroup{}, oneUser: true}
	for i := range w.Jobs {
		t.oneUser = t.oneUser && w.Jobs[i].User == ""
	}
	for i := range w.Jobs {
		if err := t.add(&w.Jobs[i]); err != nil {
			return nil, err
		}
	}
	return t.jobs, nil
}

type traceReader struct {
	o       TraceOptions
	oneUser bool
	jobs    []Job
	files   int64
	groups  map[group]fileOfGroup
}

// group is whose jobs may share files.
type group struct {
	user  string
	cores int
}

// fileOfGroup is the file of a group's last job.
type fileOfGroup struct{ file, submit int64 }

func (t *traceReader) add(w *workload.Job) error {
	if w.Submit > MaxTime || w.Duration > MaxTime || w.TimeLimit > MaxTime {
		return fmt.Errorf("job %s: submission, duration or time limit: must be at most %d s", strconv.Quote(w.ID), int64(MaxTime))
	}
	count, cores, rest := split(&w.Request, t.o.CoresPerNode)
	if count > MaxJobs-len(t.jobs) || rest > 0 && count == MaxJobs-len(t.jobs) {
		return fmt.Errorf("job %s: more than %d jobs, counting each node of a job", strconv.Quote(w.ID), MaxJobs)
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
	j := Job{
		ID: int64(len(t.jobs) + 1), Submit: w.Submit, Duration: max(1, w.Duration), WallTime: max(1, w.TimeLimit), Cores: cores, User: w.User,
		FileSize: float64(cores) / float64(t.o.CoresPerNode) * t.o.MemoryPerNode, StartNode: 1,
	}
	g := group{w.User, cores}
	last, ok := t.groups[g]
	if !ok || w.Submit-last.submit > t.o.Within || w.User == "" && !t.oneUser {
		t.files++
		last.file = t.files
	}
	last.submit = w.Submit
	t.groups[g] = last
	j.File = last.file
	switch after := w.Submit - t.o.WarmUp; {
	case after < 0:
		j.Class = WarmUp
	case t.o.Evaluate == 0 || after < t.o.Evaluate:
		j.Class = Evaluated
	default:
		j.Class = Pressure
	}
	t.jobs = append(t.jobs, j)
}

// split gives the single-node jobs that stand for a request: count of so many cores each, and one of rest
// cores if that is not 0.
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
