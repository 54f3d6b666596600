package workload

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
)

// Input is the file that a job reads. Each node of the job needs all of it.
type Input struct {
	// File tells files apart; 0: the job names none.
	File uint64
	// Bytes is the file's size, at least 1 where there is a file.
	Bytes int64
}

// ShareOptions say which jobs of a workload share an input file, for workloads that do not tell.
type ShareOptions struct {
	// Within is how many seconds after the first job that reads a file the last one may come.
	Within int64
	// Most is how many jobs read a file at most.
	Most int
	// Memory is the size in bytes of the file of a job that asks for all cores of a node; of
	// others it is in proportion.
	Memory int64
	// Cores is how many cores a node has.
	Cores int
}

// DefaultShareOptions are those of locality, section 5.1, for nodes of 128 GB and so many cores; that
// at most 100 jobs share a file is ours.
func DefaultShareOptions(cores int) ShareOptions {
	return ShareOptions{Within: 800, Most: 100, Memory: 128_000_000_000, Cores: cores}
}

// ShareInputs gives each job a file, the same to jobs that ask for as many cores and nodes and come within
// o.Within seconds (locality, section 5.1, save that the jobs of a workload have no users). It replaces inputs that the
// jobs have. The jobs are in order of submission.
func ShareInputs(jobs []Job, o ShareOptions) error {
	switch {
	case o.Within < 0:
		return fmt.Errorf("within: %d: must not be negative", o.Within)
	case o.Most < 1:
		return fmt.Errorf("most: %d: must be at least 1", o.Most)
	case o.Memory < 1 || o.Memory > 1<<50:
		return fmt.Errorf("memory: %d: must be 1 to %d bytes", o.Memory, int64(1<<50))
	case o.Cores < 1 || o.Cores > bids.MaxCoresPerNode:
		return fmt.Errorf("cores: %d: must be 1 to %d", o.Cores, bids.MaxCoresPerNode)
	}
	type kind struct{ cores, minNodes, maxNodes, tasks, gpus int }
	type group struct {
		Input
		since int64
		jobs  int
	}
	last := uint64(0)
	groups := make(map[kind]group)
	for i := range jobs {
		j := &jobs[i]
		k := kind{j.Cores, j.MinNodes, j.MaxNodes, j.TasksPerNode, j.MinGPUs}
		g := groups[k]
		if g.jobs == 0 || g.jobs == o.Most || j.Submit-g.since > o.Within {
			last++
			g = group{Input{last, o.bytes(&j.Request)}, j.Submit, 0}
		}
		g.jobs++
		groups[k] = g
		j.Input = g.Input
	}
	return nil
}

// bytes is the size of the file of a job: of a node's memory the share that the job has of its cores.
func (o *ShareOptions) bytes(r *bids.Request) int64 {
	cores := r.TasksPerNode
	if cores == 0 {
		cores = r.Cores / max(r.MinNodes, 1)
	}
	cores = max(1, min(cores, o.Cores))
	return max(1, o.Memory/int64(o.Cores)*int64(cores))
}
