// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package slurm

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/launch"
)

const playedUser = 1234

// A playedSlurm answers squeue by one line after the other, the last one again and again, and notes
// what scontrol and scancel are asked.
type playedSlurm struct{ dir string }

func playSlurm(t *testing.T, states ...string) playedSlurm {
	t.Helper()
	p := playedSlurm{t.TempDir()}
	for i, s := range states {
		if !strings.HasPrefix(s, "!") {
			s = "5@" + strings.ReplaceAll(s, " ", "@") + fmt.Sprintf("@%d@", playedUser)
		}
		states[i] = s
	}
	require.NoError(t, os.WriteFile(p.file("states"), []byte(strings.Join(states, "\n")+"\n"), 0o600))
	squeue := `#!/bin/sh
cd ` + p.dir + `
for w in "$@"; do case $w in --Format=*) end=${w##*:} ;; esac; done
line=$(head -n 1 states)
[ "$(wc -l < states)" = 1 ] || { tail -n +2 states > rest; mv rest states; }
case $line in '!'*) echo "$line" >&2; exit 1 ;; esac
echo "$line" | sed "s/@/$end/g"
`
	for name, script := range map[string]string{"squeue": squeue,
		"scontrol": "#!/bin/sh\necho \"$@\" >> " + p.file("asked") + "\n",
		"scancel":  "#!/bin/sh\necho scancel \"$@\" >> " + p.file("asked") + "\n"} {
		require.NoError(t, os.WriteFile(p.file(name), []byte(script), 0o755))
	}
	t.Setenv("PATH", p.dir+":"+os.Getenv("PATH"))
	return p
}

func (p playedSlurm) file(name string) string { return filepath.Join(p.dir, name) }

func (p playedSlurm) asked() string {
	text, _ := os.ReadFile(p.file("asked"))
	return string(text)
}

func testLauncher(t *testing.T, jobs string) *Launcher {
	t.Helper()
	l, err := New(Config{Dir: jobs, Partition: "inv", Node: "n7", Spool: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	l.first = time.Millisecond
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

const releases = "update JobId=5 ReqNodeList=n7\nrelease 5\n"

// A job is released until Slurm has started it, and never again.
func TestWait(t *testing.T) {
	held, pending, running := "PENDING inv JobHeldUser 0 0 0", "PENDING inv Resources 7 0 0", "RUNNING inv None 7 0 0"
	for name, c := range map[string]struct {
		started bool // Slurm had started it before
		states  []string
		code    int32
		asked   string
	}{
		"as ever": {false, []string{held, pending, running,
			"COMPLETING inv None 7 0 0", "FAILED inv None 7 0 768"}, 3, releases},
		"a release is forgotten": {false, []string{held, pending, held, "COMPLETED inv None 7 0 0"}, 0, releases + releases},
		"a start is forgotten":   {true, []string{held, held}, launch.LostExit, releases + "scancel 5\n"},
		"requeued":               {true, []string{held, "PENDING inv BeginTime 7 1 0", "COMPLETED inv None 7 1 0"}, 0, releases},
		"requeued, and held":     {true, []string{held, "PENDING inv JobHeldUser 0 1 0"}, launch.LostExit, releases},
		"cancelled before":       {false, []string{"CANCELLED inv None 0 0 0"}, 143, ""},
		"of another partition":   {false, []string{"PENDING p JobHeldUser 0 0 0"}, launch.UnlaunchedExit, ""},
		"forgotten altogether":   {false, []string{"!Invalid job id specified"}, launch.LostExit, ""},
		"while slurmctld was down": {false, []string{"!Unable to contact slurm controller",
			held, "COMPLETED inv None 7 0 0"}, 0, releases},
		"while squeue was nonsense": {false, []string{"RUNNING", held, "COMPLETED inv None 7 0 0"}, 0, releases},
	} {
		t.Run(name, func(t *testing.T) {
			p, jobs := playSlurm(t, c.states...), t.TempDir()
			l := testLauncher(t, jobs)
			require.NoError(t, l.Launch(&invasive.Job{ID: 5, MinCores: 1, MaxCores: 1, Args: []string{Command, "n"}}, []int{0}, nil))
			if c.started {
				j, err := l.get(5)
				require.NoError(t, err)
				j.started = true
			}
			code, err := l.Wait(5)
			require.NoError(t, err)
			require.Equal(t, c.code, code)
			require.Equal(t, c.asked, p.asked())

			again := testLauncher(t, jobs) // after a crash
			seen, err := again.Find()
			require.NoError(t, err)
			require.Equal(t, []invasive.Seen{{ID: 5, Exited: true, Exit: c.code}}, seen)
			require.NoError(t, again.Forget(5))
			seen, err = again.Find()
			require.NoError(t, err)
			require.Empty(t, seen)
		})
	}
}

// A job that an earlier Launcher had suspended goes on, though it can't be said, or
// written down, whose it is.
func TestSuspendedJobGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		state     string
		unwritten bool
		asked     string
	}{
		"it was suspended":           {"SUSPENDED inv None 7 0 0", false, "resume 5\n"},
		"its user can't be written":  {"SUSPENDED inv None 7 0 0", true, "resume 5\n"},
		"squeue has no answer":       {"!Unable to contact slurm controller", false, "resume 5\n"},
		"it runs":                    {"RUNNING inv None 7 0 0", false, ""},
		"it runs, user not written":  {"RUNNING inv None 7 0 0", true, ""},
		"slurmctld has forgotten it": {"!Invalid job id specified", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, jobs := playSlurm(t, c.state), t.TempDir()
			l := testLauncher(t, jobs)
			j := newJob(5, "")
			j.running, j.cpus = unknown, new(unix.CPUSet)
			if !c.unwritten {
				require.NoError(t, os.Mkdir(filepath.Join(jobs, "5"), 0o700))
			}
			pause := l.settle(j)
			require.Equal(t, yes, j.running)
			require.Equal(t, c.asked, p.asked())
			_, known := j.user()
			require.Equal(t, known, pause == time.Hour, "it is asked again whose it is")
			require.Equal(t, !c.unwritten && !strings.HasPrefix(c.state, "!"), known)
		})
	}
}

// What isn't Slurm's is not launched; what was launched is found by the next one, and
// released if it hasn't been.
func TestLaunched(t *testing.T) {
	p, jobs := playSlurm(t, "PENDING inv JobHeldUser 0 0 0", "COMPLETED inv None 7 0 0"), t.TempDir()
	l := testLauncher(t, jobs)
	var not *launch.UnlaunchedError
	require.ErrorAs(t, l.Launch(&invasive.Job{ID: 6, Args: []string{"true"}}, []int{0}, nil), &not)
	require.ErrorAs(t, l.Launch(&invasive.Job{ID: 6, Args: []string{Command}}, nil, nil), &not)
	_, launched := l.Started(6)
	require.False(t, launched)
	require.NoError(t, l.Launch(&invasive.Job{ID: 5, Args: []string{Command}}, []int{0}, nil))
	require.Empty(t, p.asked())

	next := testLauncher(t, jobs)
	seen, err := next.Find()
	require.NoError(t, err)
	require.Equal(t, []invasive.Seen{{ID: 5}}, seen)
	_, launched = next.Started(5)
	require.True(t, launched)
	code, err := next.Wait(5)
	require.NoError(t, err)
	require.Zero(t, code)
	require.Equal(t, releases, p.asked())
	require.NoError(t, os.WriteFile(filepath.Join(jobs, "5", "exit"), []byte("x"), 0o600))
	_, err = next.Find()
	require.ErrorContains(t, err, fmt.Sprintf("%s/5/exit:1: \"x\" is no number", jobs))
}
