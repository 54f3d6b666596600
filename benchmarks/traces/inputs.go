// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
)

// SharedWithin is the time in seconds within which jobs that share a file follow one another
// (locality, section 5.1).
const SharedWithin = 800

// Sharing finds out which jobs of a workload read the same file, as a log does not say it
// (locality, section 5.1): a job reads that of the last one of the same user with as many cores if
// that came at most SharedWithin seconds earlier, and otherwise one of its own.
type Sharing struct {
	most    int
	oneUser bool
	files   uint64
	groups  map[sharers]sharedFile
}

// sharers is whose jobs may share files.
type sharers struct {
	user  string
	cores int
}

// sharedFile is the file of the last of them.
type sharedFile struct {
	file   uint64
	submit int64
	jobs   int
}

// NewSharing begins with the workload's jobs. If none of them says whose it is, all are one
// user's; a single one that does not say it shares with nobody. At most so many jobs share a
// file; 0: any number.
func NewSharing(jobs []workload.Job, most int) *Sharing {
	s := &Sharing{most: most, oneUser: true, groups: map[sharers]sharedFile{}}
	for i := range jobs {
		s.oneUser = s.oneUser && jobs[i].User == ""
	}
	return s
}

// File is the number of the file, counted from 1, that the next job reads. Jobs come in
// order of submission.
func (s *Sharing) File(user string, cores int, submit int64) uint64 {
	k := sharers{user, cores}
	g, ok := s.groups[k]
	if !ok || submit-g.submit > SharedWithin || g.jobs == s.most && s.most > 0 || user == "" && !s.oneUser {
		s.files++
		g = sharedFile{file: s.files}
	}
	g.submit, g.jobs = submit, g.jobs+1
	s.groups[k] = g
	return g.file
}

// ShareInputs gives each job a file, as [Sharing] says. On nodes of so many cores and bytes of
// memory its size is that share of the memory which the job has of a node's cores (locality,
// section 5.1). It replaces inputs that the jobs have.
func ShareInputs(jobs []workload.Job, cores int, memory int64, most int) error {
	switch {
	case most < 0:
		return fmt.Errorf("jobs that share a file: %d: must not be negative", most)
	case memory < 1 || memory > 1<<50:
		return fmt.Errorf("memory: %d: must be 1 to %d bytes", memory, int64(1<<50))
	case cores < 1 || cores > bids.MaxCoresPerNode:
		return fmt.Errorf("cores: %d: must be 1 to %d", cores, bids.MaxCoresPerNode)
	}
	sharing := NewSharing(jobs, most)
	for i := range jobs {
		j := &jobs[i]
		total, share := coresOf(&j.Request)
		j.Input = workload.Input{File: sharing.File(j.User, total, j.Submit), Bytes: max(1, memory/int64(cores)*int64(min(share, cores)))}
	}
	return nil
}

// coresOf is how many cores a request asks for, all together and of a node.
func coresOf(r *bids.Request) (total, node int) {
	nodes := max(r.MinNodes, 1)
	total = r.Cores
	if total == 0 {
		total = nodes * max(r.TasksPerNode, 1)
	}
	if node = r.TasksPerNode; node == 0 {
		node = total / nodes
	}
	return total, max(node, 1)
}
