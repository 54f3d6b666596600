// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"fmt"
	"strings"
)

// JobID names a job for good: the iScheduler never gives the same one twice. Zero names none.
type JobID uint64

// Flex is how a job's resources may change (the paper, section 2.1).
type Flex uint8

// The four classes of Feitelson and Rudolph. Those of a rigid or moldable job stay as they were at
// its start; an evolving job asks for changes itself, a malleable one is told of them.
const (
	Rigid Flex = iota
	Moldable
	Evolving
	Malleable
	flexes
)

// Bounds of what a message may say of a job.
const (
	MaxArgs     = 1024     // arguments, and variables of the environment, of a job
	MaxArgBytes = 64 << 10 // bytes of all of them together
	MaxCores    = 1 << 24  // cores, and nodes, of a partition
	MaxSeconds  = 1 << 30  // of a limit or a delay
)

// A Job is what the iScheduler knows of a job and the iHypervisor needs to run it. Jobs are shared,
// and never changed once they are submitted.
type Job struct {
	ID   JobID
	Flex Flex
	// MinCores to MaxCores, from 1, are the cores that the job can use; for a rigid
	// job both are the same.
	MinCores, MaxCores uint32
	// MinNodes to MaxNodes are those that they may lie on; 0 and 0 if it doesn't matter.
	MinNodes, MaxNodes uint32
	// Urgent jobs don't wait for a negotiation (section 3.2).
	Urgent   bool
	Priority uint32
	// Limit is the longest that the job may run, in seconds; 0 is for ever.
	Limit uint32
	// Args is the command, Env its variables as NAME=VALUE, Dir where it runs. Any bytes but NUL.
	Args, Env []string
	Dir       string
}

// Check returns an error of type *FieldError if a field is out of its range.
func (j *Job) Check() error {
	size := j.size()
	words := strings.IndexByte(j.Dir, 0) < 0
	for _, list := range [2][]string{j.Args, j.Env} {
		for _, s := range list {
			words = words && strings.IndexByte(s, 0) < 0
		}
	}
	switch {
	case j.ID == 0:
		return bad("job.id", 0)
	case j.Flex >= flexes:
		return bad("job.flex", uint64(j.Flex))
	case j.MinCores == 0 || j.MinCores > MaxCores:
		return bad("job.min_cores", uint64(j.MinCores))
	case j.MaxCores < j.MinCores || j.MaxCores > MaxCores || j.Flex == Rigid && j.MaxCores != j.MinCores:
		return bad("job.max_cores", uint64(j.MaxCores))
	case j.MinNodes > MaxCores:
		return bad("job.min_nodes", uint64(j.MinNodes))
	case j.MaxNodes < j.MinNodes || j.MaxNodes > MaxCores:
		return bad("job.max_nodes", uint64(j.MaxNodes))
	case j.Limit > MaxSeconds:
		return bad("job.limit_s", uint64(j.Limit))
	case len(j.Args) > MaxArgs:
		return bad("job.args", uint64(len(j.Args)))
	case len(j.Env) > MaxArgs:
		return bad("job.env", uint64(len(j.Env)))
	case !words: // a NUL would end them early
		return bad("job.args", 0)
	case size > MaxArgBytes:
		return bad("job.args", uint64(size))
	}
	return nil
}

// size is that of the job's words, in bytes.
func (j *Job) size() int {
	n := len(j.Dir)
	for _, list := range [2][]string{j.Args, j.Env} {
		for _, s := range list {
			n += len(s)
		}
	}
	return n
}

// A FieldError says which field of a message is out of its range.
type FieldError struct {
	Field string // as in invasive.proto
	Value uint64
}

func (e *FieldError) Error() string { return fmt.Sprintf("field %s is %d", e.Field, e.Value) }

func bad(field string, value uint64) error { return &FieldError{field, value} }
