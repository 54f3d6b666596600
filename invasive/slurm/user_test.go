// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package slurm

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive"
)

// A process is taken for one of a job if it is below the job's slurmstepd and has the job's user;
// this and the next Launcher know whose the job is before Slurm starts it, and ask if somebody
// else has had it started.
func TestJobOfUser(t *testing.T) {
	for name, states := range map[string][]string{
		"released":              {"PENDING inv JobHeldUser 0 0 0", "PENDING inv Resources 7 0 0"},
		"released by an admin":  {"RUNNING inv None 7 0 0"},
		"slurmctld was down":    {"!Unable to contact slurm controller", "PENDING inv JobHeldUser 0 0 0", "PENDING inv Resources 7 0 0"},
		"a start nobody sees":   {"PENDING inv Resources 7 0 0"},
		"held by somebody else": {"PENDING inv JobHeldUser 0 0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			playSlurm(t, states...)
			jobs := t.TempDir()
			l := testLauncher(t, jobs)
			require.NoError(t, l.Launch(&invasive.Job{ID: 5, MinCores: 1, MaxCores: 1, Args: []string{Command, "n"}}, []int{0}, nil))
			j, err := l.get(5)
			require.NoError(t, err)
			j.hand.Lock()
			j.cpus = nil // this process plays its slurmstepd, and is to stay where it is
			j.hand.Unlock()
			if name == "released by an admin" {
				stepAbove(t, l)
			}
			go l.Wait(5)
			require.Eventually(t, func() bool {
				_, err := os.Stat(filepath.Join(jobs, "5", "user"))
				return err == nil
			}, 30*time.Second, time.Millisecond)
			stepAbove(t, l)
			require.Eventually(t, func() bool { _, ok := l.JobOf(child(t), playedUser); return ok }, 30*time.Second, time.Millisecond)
			for _, uid := range []uint32{0, playedUser + 1} {
				_, ok := l.JobOf(child(t), uid)
				require.False(t, ok, "user %d", uid)
			}

			next := testLauncher(t, jobs)
			_, err = next.Find()
			require.NoError(t, err)
			stepAbove(t, next)
			id, ok := next.JobOf(child(t), playedUser)
			require.True(t, ok)
			require.EqualValues(t, 5, id)
			_, ok = next.JobOf(child(t), playedUser+1)
			require.False(t, ok)
		})
	}
}

// stepAbove has this process be the slurmstepd of job 5.
func stepAbove(t *testing.T, l *Launcher) {
	path := filepath.Join(l.Spool, "n7_5.0")
	if _, err := os.Stat(path); err == nil {
		return
	}
	from, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { from.Close() })
}

// child is the number of a process below this one.
func child(t *testing.T) int {
	t.Helper()
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "60"}, &os.ProcAttr{})
	require.NoError(t, err)
	t.Cleanup(func() { p.Kill(); p.Wait() })
	return p.Pid
}
