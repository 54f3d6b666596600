// SPDX-License-Identifier: BSD-3-Clause

// Package linktest is for tests that kill processes with a journal, or need an iScheduler.
package linktest

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive/link"
)

// Killed requires that a process was killed by SIGKILL, by the error of its Wait.
func Killed(t testing.TB, err error) {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal())
}

// Journal opens that of a process that has ended; the caller closes it. A child may hold its lock
// until it has become a supervisor: that is waited for.
func Journal(t testing.TB, path string, patience time.Duration) *link.Journal {
	t.Helper()
	var j *link.Journal
	var err error
	require.Eventually(t, func() bool {
		j, err = link.OpenJournal(path)
		return !errors.Is(err, link.ErrInUse)
	}, patience, time.Millisecond)
	require.NoError(t, err)
	return j
}
