// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// InputError is a fault in the arrays of an [Input].
type InputError struct {
	Array string // as in aucsched.h
	Index int    // -1: the array as a whole
	Field string // "" where it is the array as a whole
	Value any
	Why   string
}

func (e *InputError) Error() string {
	where := e.Array
	if e.Index >= 0 {
		where = fmt.Sprintf("%s[%d].%s", e.Array, e.Index, e.Field)
	}
	return fmt.Sprintf("%s: %v: %s", where, e.Value, e.Why)
}

// at is e as an error, of element i.
func (e InputError) at(i int) error {
	e.Index = i
	return &e
}

// SettingError is a fault in the text of settings.
type SettingError struct {
	Key, Value string
	Why        string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("setting %s=%s: %s", short(e.Key), short(e.Value), e.Why)
}

// short keeps what is quoted in an error to one line of fair length.
func short(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "..."
	}
	s = fmt.Sprintf("%q", s)
	return s[1 : len(s)-1]
}

// Errors of a [Table].
var (
	ErrHandle = errors.New("no such handle: it was never opened, or is closed")
	ErrBusy   = errors.New("another call on this handle is under way")
)

// PanicError is a bug of this module that did not get further than one call.
type PanicError struct {
	Value any
	Where string // file and line
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v (%s)", e.Value, e.Where) }

// guard calls f and turns a panic into an error.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Where: panicked()}
		}
	}()
	return f()
}

// panicked is where the panic that is being recovered came from.
func panicked() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	seen := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if seen && !inRuntime {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		seen = seen || inRuntime
		if !more {
			return "unknown"
		}
	}
}
