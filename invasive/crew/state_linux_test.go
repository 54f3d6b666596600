// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		head, lines, ok := strings.Cut(string(text), "\n")
		require.True(t, ok)
		require.Regexp(t, `^# job 27 at \d{4}-\S+: PLACE NODE JOB STATE TASKS$`, head)
		return lines
	}
	_, _ = l.member(2)
	b.Handle(l.until(t, Joined, 2))
	require.Eventually(t, func() bool { return state() == "2 n2 1 here 1\n" }, 10*time.Second, 10*time.Millisecond)
	end()
	require.Empty(t, state())
	require.NoFileExists(t, path+".new")
}
