// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// What errors of a Cluster are, for errors.Is.
var (
	ErrUnknownJob   = errors.New("there is no such job")
	ErrDuplicateJob = errors.New("there are two jobs of one id")
	ErrUnknownNode  = errors.New("there is no such node")
)

// NodeError is a fault of one node of a [Cluster].
type NodeError struct {
	// Node is the node's name.
	Node string
	// Fault is the field at fault, named as in a window file.
	Fault *bids.FieldError
	is    error
}

func (e *NodeError) Error() string { return fmt.Sprintf("node %s: %v", e.Node, e.Fault) }

// Unwrap gives the fault, and ErrUnknownNode if it is that.
func (e *NodeError) Unwrap() []error { return causes(e.Fault, e.is) }

// causes are what an error wraps: a fault, and what kind it is, if that has a name.
func causes(fault *bids.FieldError, is error) []error {
	if is == nil {
		return []error{fault}
	}
	return []error{fault, is}
}

// OptionError is a setting that is out of range.
type OptionError struct {
	// Option is the setting, Value what it was, and Why what is wrong with it.
	Option string
	Value  any
	Why    string
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s %v: %s", e.Option, e.Value, e.Why) }

func jobFault(id, field string, value any, why string, is error) error {
	return &JobError{-1, id, &bids.FieldError{Field: field, Value: value, Why: why}, is}
}

func nodeFault(name, field string, value any, why string, is error) error {
	return &NodeError{name, &bids.FieldError{Field: field, Value: value, Why: why}, is}
}

func unknownJob(id string) error {
	return jobFault(id, "id", id, "no job of this id waits or runs", ErrUnknownJob)
}

func unknownNode(name string) error {
	return nodeFault(name, "name", name, "there is no such node", ErrUnknownNode)
}

// useFault is what is wrong with the amounts of a use, or nil.
func useFault(field string, u, most nodeset.Use) *bids.FieldError {
	if amount, limit, over := u.Beyond(most); over {
		return &bids.FieldError{Field: field, Value: amount, Why: fmt.Sprintf("must be 0 to %d", limit)}
	}
	return nil
}
