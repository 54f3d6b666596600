// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"log/slog"
	"os"
)

const traceUsage = "file to which a line of each message and of each change of the journal is added; none: no trace"

// A trace is the file of --trace; the zero value is none.
type trace struct{ file *os.File }

func openTrace(path string) (*trace, error) {
	if path == "" {
		return &trace{}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	return &trace{f}, nil
}

// line writes a line with one call, so that a killed process leaves whole ones. A trace that can't
// be written ends; the work goes on.
func (t *trace) line(text string) {
	if t.file == nil {
		return
	}
	if _, err := t.file.WriteString(text + "\n"); err != nil {
		slog.Error("the trace ends", "why", err)
		_ = t.Close()
	}
}

func (t *trace) Close() error {
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file = nil
	return f.Close()
}
