// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStateLines(t *testing.T) {
	require.Empty(t, stateLines(nil, map[int][]int{3: {1}}), "of a place that has gone")
	require.Equal(t, "0 n1 27 here 2,11\n4 n3 31 leaving -\n",
		string(stateLines([]Place{{0, "n1", "27", false}, {4, "n3", "31", true}}, map[int][]int{0: {2, 11}, 5: {3}})))
}

// The file has what the lead has, and no places in the end.
func TestStateIsKept(t *testing.T) {
	l := newTestCrew(t)
	path := filepath.Join(t.TempDir(), "state")
	b := &Bag{Tasks: []string{"sleep 100"}, Slots: 1, Log: quiet, Start: l.Run}
	b.Begin(nil)
	c := &crew{Options: Options{Job: "27", State: path, Log: quiet}, lead: l.Lead}
	end := c.keepState(b)
	state := func() string {
		text, _ := os.ReadFile(path)
		head, lines, ok := strings.Cut(string(text), "\n")
		if !ok { // not written yet
			return "none"
		}
		require.Regexp(t, `^# job 27 at \d{4}-\S+: PLACE NODE JOB STATE TASKS$`, head)
		return lines
	}
	_, _ = l.member(2)
	b.Handle(l.until(t, Joined, 2))
	require.Eventually(t, func() bool { return state() == "2 n2 1 here 1\n" }, 60*time.Second, 10*time.Millisecond)
	end()
	require.Empty(t, state())
	require.NoFileExists(t, path+".new")
}

// The last task of an array has the array's number: asked for by that, squeue has all tasks.
func TestPreemptedIsOneTask(t *testing.T) {
	dir := t.TempDir()
	squeue := "#!/bin/sh\ncase $* in\n*--jobs=27_6\\ *) echo 2026-11-27T12:00:00;;\n" +
		"*--jobs=27_5\\ *) echo N/A;;\n*) echo N/A; echo N/A;;\nesac\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "squeue"), []byte(squeue), 0o755))
	t.Setenv("PATH", dir)
	yes, err := Preempted(t.Context(), "27_6")
	require.NoError(t, err)
	require.True(t, yes)
	yes, err = Preempted(t.Context(), "27_5")
	require.NoError(t, err)
	require.False(t, yes)
	_, err = Preempted(t.Context(), "27")
	require.EqualError(t, err, "squeue has several jobs 27")
}

// Slurm is asked for the numbers of arrays, and says one for each job: an array that waits is one.
func TestKnownArrays(t *testing.T) {
	dir := t.TempDir()
	squeue := "#!/bin/sh\ncase \"$*\" in\n*--array*) exit 1;;\n" +
		"*' --states=all '*' --name=crew-7 --format=%F') echo 8; echo 8; echo 19;;\n" +
		"*--name=none*) ;;\n*) echo no >&2; exit 1;;\nesac\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "squeue"), []byte(squeue), 0o755))
	t.Setenv("PATH", dir)
	known, err := KnownArrays(t.Context(), "crew-7")
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"8": true, "19": true}, known)
	known, err = KnownArrays(t.Context(), "none")
	require.NoError(t, err)
	require.Empty(t, known)
	_, err = KnownArrays(t.Context(), "bad")
	require.ErrorContains(t, err, "squeue: exit status 1")
}

// The job's own members are begun again until one has joined, for a while, and not afterwards.
func TestOwnMembersAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("no slurmctld")
		runs := 0
		began := time.Now()
		try := func(joins int) error {
			runs = 0
			return untilJoined(t.Context(), quiet, func() bool { return runs == joins }, func(context.Context) error {
				runs++
				return bad
			})
		}
		require.ErrorIs(t, try(1), bad)
		require.Zero(t, time.Since(began), "it had begun")
		require.ErrorIs(t, try(4), bad)
		require.Equal(t, 3*ownPause, time.Since(began))
		require.ErrorIs(t, try(-1), bad)
		require.Greater(t, time.Since(began), ownTime)
		require.Less(t, time.Since(began), ownTime+20*time.Second)
		require.NoError(t, untilJoined(t.Context(), quiet, func() bool { return false }, func(context.Context) error { return nil }))
	})
}
