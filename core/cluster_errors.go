// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Errors within an [Error], for errors.Is.
var (
	// ErrUnknown is returned for a job, a node, a resource or a quota that does not exist.
	ErrUnknown = errors.New("there is no such thing")
	// ErrDuplicate is returned for a job's id that another job has.
	ErrDuplicate = errors.New("there are two jobs of one id")
)

// Error says what is wrong with a job of a snapshot's queue, or with a job, a node, a quota or a
// switch of a Cluster.
type Error struct {
	// Of is what is at fault: job, node, quota or switch; Name is its name, or the id of a job.
	Of, Name string
	// Job is the job's index in Snapshot.Pending, -1 in a Cluster.
	Job int
	// Fault is the field at fault, named as in a window file.
	Fault *bids.FieldError
	is    error
}

func (e *Error) Error() string {
	if e.Job >= 0 {
		return fmt.Sprintf("jobs[%d] (%s): %v", e.Job, e.Name, e.Fault)
	}
	return fmt.Sprintf("%s %s: %v", e.Of, e.Name, e.Fault)
}

// Unwrap returns the fault, and ErrUnknown or ErrDuplicate if it is one of these.
func (e *Error) Unwrap() []error {
	if e.is == nil {
		return []error{e.Fault}
	}
	return []error{e.Fault, e.is}
}

// OptionError says which setting is out of range.
type OptionError struct {
	// Option is the setting, Value what it was, and Why what is wrong with it.
	Option string
	Value  any
	Why    string
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s %v: %s", e.Option, e.Value, e.Why) }

func faultOf(of, name, field string, value any, why string, is error) error {
	return &Error{of, name, -1, &bids.FieldError{Field: field, Value: value, Why: why}, is}
}

func jobFault(id, field string, value any, why string, is error) error {
	return faultOf("job", id, field, value, why, is)
}

func nodeFault(name, field string, value any, why string, is error) error {
	return faultOf("node", name, field, value, why, is)
}

func unknownJob(id string) error {
	return jobFault(id, "id", id, "no job of this id waits or runs", ErrUnknown)
}

// outOf is that a value is out of 0 to most, or nil.
func outOf(field string, value, most int64) *bids.FieldError {
	if value < 0 || value > most {
		return &bids.FieldError{Field: field, Value: value, Why: fmt.Sprintf("must be 0 to %d", most)}
	}
	return nil
}

// useFault is what is wrong with the amounts of a use, or nil.
func useFault(field string, u, most nodeset.Use) *bids.FieldError {
	return cmp.Or(outOf(field, u.PerJob, most.PerJob), outOf(field, u.PerNode, most.PerNode),
		outOf(field, u.PerCore, most.PerCore), outOf(field, u.PerGPU, most.PerGPU))
}
