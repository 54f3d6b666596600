package sim

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/workload"
)

// Priorities rank the pending jobs anew before each cycle.
type Priorities interface {
	// Priority is that of a pending job at the second now, from 1 to
	// core.MaxPriority. It depends on its arguments only.
	Priority(j *workload.Job, now int64) int64
}

// Multifactor is the priority of ipsched, section VI, experiments 4 to 8, with the
// factors of Slurm's priority/multifactor:
//
//	1 + W x min(age / MaxAge, 1) + W x cores / all cores
//
// Both factors are in 0..1 and their weights W equal. A minute in the queue raises
// the priority by one, so W is the number of minutes in MaxAge. Both terms are
// rounded down. There is neither fair share nor quality of service.
//
// A job's age counts from its submission. The cores are those asked for,
// at least: MinNodes x TasksPerNode where no total is given.
// The paper does not say what the size contributes; that one minute is worth
// one settles it but for MaxAge, which is Slurm's default in [NewMultifactor].
type Multifactor struct {
	maxAge int64 // s, a multiple of 60
	cores  int64 // of the machine
}

// DefaultMaxAge is Slurm's PriorityMaxAge in seconds, 7 days.
const DefaultMaxAge = 7 * 24 * 60 * 60

// NewMultifactor is for a machine with that many cores. maxAge is in seconds, whole
// minutes up to a hundred years; 0 is DefaultMaxAge.
func NewMultifactor(cores, maxAge int64) (*Multifactor, error) {
	if maxAge == 0 {
		maxAge = DefaultMaxAge
	}
	switch {
	case cores < 1 || cores > bids.MaxNodes*bids.MaxCoresPerNode:
		return nil, fmt.Errorf("cores of the machine: %d: must be in 1..%d", cores, int64(bids.MaxNodes*bids.MaxCoresPerNode))
	case maxAge < 60 || maxAge > core.NoTimeLimit || maxAge%60 != 0:
		return nil, fmt.Errorf("age at which it counts fully: %d: must be whole minutes in 60..%d seconds", maxAge, int64(core.NoTimeLimit))
	}
	return &Multifactor{maxAge: maxAge, cores: cores}, nil
}

// Priority implements [Priorities].
func (m *Multifactor) Priority(j *workload.Job, now int64) int64 {
	age := min(max(now-j.Submit, 0), m.maxAge) / 60
	size := m.maxAge / 60 * min(int64(leastCores(&j.Request)), m.cores) / m.cores
	return 1 + age + size
}

// ranking keeps a queue in the order of priorities that change.
type ranking struct {
	priorities Priorities
	queue      *queue
	jobs       []job
	place      []int32 // of each job in the order of submission
}

// update sets the priorities at the second now and sorts the queue, equals in
// the order of submission. The queue's jobs are the simulator's own copies.
func (r *ranking) update(now int64) error {
	for i, j := range r.queue.jobs() {
		w := r.jobs[r.queue.numbers()[i]].Job
		if j.Priority = r.priorities.Priority(w, now); j.Priority < 1 || j.Priority > core.MaxPriority {
			return fmt.Errorf("job %s: priority: %d: must be between 1 and %d", j.ID, j.Priority, int64(core.MaxPriority))
		}
	}
	sort.Sort(r)
	return nil
}

// Len, Less and Swap implement [sort.Interface] on the queue.
func (r *ranking) Len() int { return r.queue.len() }

func (r *ranking) Less(i, k int) bool {
	jobs, num := r.queue.jobs(), r.queue.numbers()
	return cmp.Or(cmp.Compare(jobs[k].Priority, jobs[i].Priority), cmp.Compare(r.place[num[i]], r.place[num[k]])) < 0
}

func (r *ranking) Swap(i, k int) {
	jobs, num := r.queue.jobs(), r.queue.numbers()
	jobs[i], jobs[k] = jobs[k], jobs[i]
	num[i], num[k] = num[k], num[i]
}
