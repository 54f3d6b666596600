// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Signalled is the cause of a context that a signal ended.
type Signalled struct{ syscall.Signal }

func (s Signalled) Error() string {
	if s.Signal == syscall.SIGINT {
		return "interrupted"
	}
	return "terminated"
}

// untilSignal is a context that SIGINT or SIGTERM ends. A second SIGINT ends the program at once,
// as some work does not look at its context for long.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-ctx.Done():
			return
		case s := <-came:
			number, _ := s.(syscall.Signal) // which all systems have
			cancel(Signalled{number})
			signal.Reset(os.Interrupt)
		}
	}()
	return ctx, func() { signal.Stop(came); cancel(nil) }
}

// afterSignal says whether a command failed because a signal ended its context, and makes the error
// say so. Words such as "context canceled" are of no use after Ctrl-C. An error that begins with
// the cause has more to say, and stays.
func afterSignal(ctx context.Context, err error) (status int, said error) {
	var s Signalled
	if err == nil || !errors.As(context.Cause(ctx), &s) {
		return 0, err
	}
	if errors.As(err, new(inputError)) && !errors.Is(err, context.Canceled) && !errors.As(err, new(Signalled)) {
		return 0, err // which was wrong anyway
	}
	if !strings.HasPrefix(err.Error(), s.Error()) {
		err = s
	}
	return 128 + int(s.Signal), err
}

// untilDone is a reader whose Read ends with the context: that of a terminal or a pipe, on which
// nothing may come for ever.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text := make([]byte, len(p)) // p is the caller's again if the context ends first
		n, err := r.in.Read(text)
		done <- result{text[:n], err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	case x := <-done:
		return copy(p, x.text), x.err
	}
}
