// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stopping is a terminal that interrupts the command once it has shown so many pages.
type stopping struct {
	bytes.Buffer
	pages int
	stop  context.CancelFunc
}

func (s *stopping) Write(p []byte) (int, error) {
	if s.pages--; s.pages == 0 {
		s.stop()
	}
	return s.Buffer.Write(p)
}

func top(ctx context.Context, t *testing.T, terminal bool, out io.Writer, args ...string) error {
	t.Helper()
	c := newTopCommand(func() time.Time { return written }, os.Getenv, func(io.Writer) bool { return terminal })
	c.SetOut(out)
	c.SetErr(io.Discard)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	return c.ExecuteContext(ctx)
}

// On a terminal the page comes again until it is interrupted, whatever becomes of the file; else
// once.
func TestTop(t *testing.T) {
	text, err := os.ReadFile("testdata/status.json")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "status")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	var once bytes.Buffer
	require.NoError(t, top(t.Context(), t, false, &once, "--file", file))
	require.NotContains(t, once.String(), clearScreen)
	require.Contains(t, once.String(), "written 0s ago")

	ctx, stop := context.WithCancel(t.Context())
	screen := &stopping{pages: 3, stop: stop}
	require.ErrorIs(t, top(ctx, t, true, screen, "--file", file, "--interval", "200ms"), context.Canceled)
	require.Equal(t, strings.Repeat(clearScreen+once.String(), 3), screen.String())

	ctx, stop = context.WithCancel(t.Context())
	screen = &stopping{pages: 1, stop: stop}
	require.ErrorIs(t, top(ctx, t, true, screen, "--file", filepath.Join(t.TempDir(), "none")), context.Canceled)
	require.Contains(t, screen.String(), "none: there is no such file: slurmctld has not written it")
	require.ErrorContains(t, top(ctx, t, true, screen, "--interval", "1ms", "--file", file), "must be 200ms to 1h")
	require.ErrorContains(t, top(ctx, t, false, screen, "--file", filepath.Join(t.TempDir(), "none")), "no such file")
}
