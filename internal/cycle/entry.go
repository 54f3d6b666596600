// SPDX-License-Identifier: BSD-3-Clause

// Package cycle has what the cycles of all policies need: one goroutine at a time decides
// ([Entry]), work ends before the deadline ([Slack]), and a measurement turns parts off ([Parts]).
package cycle

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrBusy is what the second goroutine gets.
var ErrBusy = errors.New("the policy is deciding in another goroutine")

// Entry is the way into one policy. The zero Entry is free.
type Entry struct{ busy atomic.Bool }

// Run empties the plan, checks the snapshot and decides, unless ctx ends meanwhile. After an error
// the plan is empty again. With ErrBusy nothing is called.
func (e *Entry) Run(ctx context.Context, empty func(), check, decide func() error) (err error) {
	if !e.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	defer e.busy.Store(false)
	empty()
	if err = ctx.Err(); err == nil {
		err = check()
	}
	if err == nil {
		err = decide()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		empty()
	}
	return err
}
