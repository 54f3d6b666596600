// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/procs"
)

// The test's programme is a supervisor, or an iHypervisor that launches a job and is
// killed at a point. A supervisor ends by syscall.Exit: the race detector makes every
// os.Exit wait for a second.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "supervise" {
		if err := Supervise(os.Args[2], killAt(os.Getenv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "launch" {
		l := launcher(os.Args[2])
		l.Point = killAt(os.Getenv)
		l.Launch(counted(os.Args[2]), []int{0}, nil)
		unix.Kill(os.Getpid(), unix.SIGKILL)
	}
	os.Exit(m.Run())
}

func killAt(getenv func(string) string) func(string) {
	return func(step string) {
		if getenv("KILL_AT") == step {
			unix.Kill(os.Getpid(), unix.SIGKILL)
		}
	}
}

func launcher(root string) *Launcher {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return New(Config{Dir: filepath.Join(root, "jobs"), Output: filepath.Join(root, "out"), Supervisor: []string{self, "supervise"}})
}

func newLauncher(t *testing.T) (*Launcher, string) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "jobs"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, "out"), 0o700))
	t.Cleanup(func() { // what a failed test has left
		l := launcher(root)
		seen, _ := l.Find()
		for _, s := range seen {
			if !s.Exited && l.Signal(s.ID, unix.SIGKILL) == nil {
				l.Wait(s.ID)
			}
		}
		// A supervisor that came too late may still be about to see that.
		require.Eventually(t, func() bool { return os.RemoveAll(l.Dir) == nil }, 60*time.Second, 10*time.Millisecond)
	})
	return launcher(root), root
}

func command(id invasive.JobID, args ...string) *invasive.Job {
	return &invasive.Job{ID: id, MinCores: 1, MaxCores: 1, Args: args}
}

func shell(id invasive.JobID, script string) *invasive.Job { return command(id, "sh", "-c", script) }

// counted writes a line each time that it is started.
func counted(root string) *invasive.Job { return shell(1, "echo started >>"+root+"/count") }

func output(t *testing.T, root string, id int, kind string) string {
	text, err := os.ReadFile(filepath.Join(root, "out", strconv.Itoa(id)+"."+kind))
	require.NoError(t, err)
	return string(text)
}

func wait(t *testing.T, l *Launcher, id invasive.JobID) int32 {
	t.Helper()
	type result struct {
		code int32
		err  error
	}
	c := make(chan result, 1)
	go func() { code, err := l.Wait(id); c <- result{code, err} }()
	select {
	case r := <-c:
		require.NoError(t, r.err)
		return r.code
	case <-time.After(30 * time.Second):
		require.Fail(t, "the job doesn't end")
	}
	return 0
}

// allowed are the CPUs of all threads of a job's processes, as the kernel lists them.
func allowed(t *testing.T, l *Launcher, id invasive.JobID) map[string]int {
	list := map[string]int{}
	for _, pid := range l.Processes(id) {
		for _, tid := range procs.Numbers(fmt.Sprintf("/proc/%d/task", pid)) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
			if err != nil {
				continue
			}
			_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:\t")
			cpus, _, _ := strings.Cut(rest, "\n")
			list[cpus]++
		}
	}
	return list
}

func twoCPUs(t *testing.T) {
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	if !set.IsSet(0) || !set.IsSet(1) {
		t.Skip("needs the CPUs 0 and 1")
	}
}

func TestExitAndOutput(t *testing.T) {
	l, root := newLauncher(t)
	for i, c := range []struct {
		job       *invasive.Job
		code      int32
		out, errs string
	}{
		{shell(1, "echo out; echo err >&2; exit 3"), 3, "out\n", "err\n"},
		{shell(2, "kill -TERM $$"), 128 + 15, "", ""},
		{command(3, "no-such-programme"), NotFound, "", "aucsched: no-such-programme: not in PATH: file does not exist\n"},
		{command(4, "/"), NotRunnable, "", "aucsched: /: permission denied\n"},
		{command(5), NotFound, "", "aucsched: no command: file does not exist\n"},
		{shell(6, "echo $0 $A $B; pwd; grep Cpus_allowed_list /proc/self/status; cat"), 0, "sh 1 \xff\n/tmp\nCpus_allowed_list:\t0\n", ""},
	} {
		if c.job.ID == 6 {
			c.job.Dir, c.job.Env = "/tmp", []string{"A=1", "B=2"}
		}
		require.NoError(t, l.Launch(c.job, []int{0}, []string{"B=\xff"}))
		require.Equal(t, c.code, wait(t, l, c.job.ID))
		require.Equal(t, c.out, output(t, root, i+1, "out"))
		require.Equal(t, c.errs, output(t, root, i+1, "err"))
		require.NoError(t, l.Forget(c.job.ID))
	}
	left, err := os.ReadDir(l.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
	var not *UnlaunchedError
	require.ErrorAs(t, l.Launch(command(7), []int{5000}, nil), &not)
	require.ErrorContains(t, not, "CPU 5000")
}

// A tree of processes, also one that has left session and parent, is pinned, stopped
// and ended as a whole.
const tree = "sleep 100 & (setsid sh -c 'sleep 100 & sleep 100' &) ; sh -c 'while :; do sleep 0.01; done' & echo ready; wait"

func startTree(t *testing.T, l *Launcher, root string, id int) {
	require.NoError(t, l.Launch(shell(invasive.JobID(id), tree), []int{0}, nil))
	require.Eventually(t, func() bool {
		return output(t, root, id, "out") == "ready\n" && len(l.Processes(invasive.JobID(id))) >= 6
	}, 30*time.Second, time.Millisecond)
}

func TestWholeTree(t *testing.T) {
	twoCPUs(t)
	l, root := newLauncher(t)
	startTree(t, l, root, 1)
	require.Len(t, allowed(t, l, 1), 1)
	require.NotZero(t, allowed(t, l, 1)["0"])
	for _, cpus := range [][]int{{0, 1}, {1}, {0}, {0, 1}} {
		require.NoError(t, l.Confine(1, cpus, false))
		want := strings.ReplaceAll(strings.Trim(fmt.Sprint(cpus), "[]"), " ", "-")
		require.Len(t, allowed(t, l, 1), 1)
		require.NotZero(t, allowed(t, l, 1)[want], "%v", allowed(t, l, 1))
	}
	states := func() map[byte]int {
		list := map[byte]int{}
		for _, pid := range l.Processes(1) {
			if s, err := procs.ReadStat(pid); err == nil {
				list[s.State]++
			}
		}
		return list
	}
	require.NoError(t, l.Halt(1))
	stopped := states() // the parent of a vfork waits in the kernel
	require.Equal(t, stopped['T']+stopped['D'], len(l.Processes(1)), "%v", stopped)
	require.GreaterOrEqual(t, stopped['T'], 5)
	require.NoError(t, l.Confine(1, []int{0}, true))
	require.Eventually(t, func() bool { return states()['T'] == 0 }, 30*time.Second, time.Millisecond, "all go on")

	pids := l.Processes(1)
	ours, me := 0, uint32(os.Geteuid())
	for _, pid := range pids {
		_, theirs := l.JobOf(pid, me+1)
		require.False(t, theirs, "a process of another user")
		if id, ok := l.JobOf(pid, me); ok {
			require.EqualValues(t, 1, id)
			ours++
		} else {
			require.False(t, alive(pid), "process %d", pid) // a short sleep
		}
	}
	require.GreaterOrEqual(t, ours, 5)
	_, ok := l.JobOf(os.Getpid(), me)
	require.False(t, ok)

	require.NoError(t, unix.Kill(pids[0], unix.SIGTERM)) // the first; the rest goes with it
	require.EqualValues(t, 128+15, wait(t, l, 1))
	for _, pid := range pids {
		require.False(t, alive(pid))
	}
	require.NoError(t, l.Confine(1, []int{0}, false), "nobody is there any more")
}

func TestFoundAgain(t *testing.T) {
	l, root := newLauncher(t)
	startTree(t, l, root, 1)
	require.NoError(t, l.Launch(shell(2, "exit 4"), []int{0}, nil))
	require.EqualValues(t, 4, wait(t, l, 2))
	startTree(t, l, root, 3)
	require.NoError(t, os.Mkdir(l.dir(4), 0o700)) // it was about to be launched

	again := launcher(root)
	seen, err := again.Find()
	require.NoError(t, err)
	require.Equal(t, []invasive.Seen{{ID: 1}, {ID: 2, Exited: true, Exit: 4}, {ID: 3}}, seen)
	require.EqualValues(t, 4, wait(t, again, 2))
	require.ErrorContains(t, again.Forget(1), "runs")
	pids := again.Processes(1)
	require.GreaterOrEqual(t, len(pids), 6)
	require.NoError(t, again.Signal(1, unix.SIGKILL))
	require.EqualValues(t, 128+9, wait(t, again, 1))

	// A supervisor that is killed takes its job with it, all of it.
	pids = again.Processes(3)
	r, ok := again.get(3)
	require.True(t, ok)
	require.NoError(t, unix.Kill(r.mark.Supervisor.PID, unix.SIGKILL))
	require.EqualValues(t, LostExit, wait(t, again, 3))
	for _, pid := range pids {
		require.Eventually(t, func() bool { return !alive(pid) }, 30*time.Second, time.Millisecond)
	}
}

// Whoever is killed at whatever step, the job is started once; and not at all only if its
// supervisor was killed.
func TestKilledWhileLaunching(t *testing.T) {
	for _, step := range []string{"", "launch: before supervisor", "launch: after supervisor"} {
		t.Run(step, func(t *testing.T) {
			l, root := newLauncher(t)
			self, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.Command(self, "launch", root)
			cmd.Env = append(os.Environ(), "KILL_AT="+step)
			require.Error(t, cmd.Run())
			relaunch(t, l, root)
			require.Equal(t, 1, starts(t, root))
		})
	}
	for _, step := range []string{"supervisor: before mark", "supervisor: after mark", "supervisor: before exit"} {
		t.Run(step, func(t *testing.T) {
			l, root := newLauncher(t)
			// The environment of a supervisor is empty, so that a shell sets it.
			l.Supervisor = []string{"/bin/sh", "-c", `KILL_AT="$0" exec "$@"`, step, l.Supervisor[0], "supervise"}
			err := l.Launch(counted(root), []int{0}, nil)
			var not *UnlaunchedError
			require.Equal(t, step == "supervisor: before mark", errors.As(err, &not), "%v", err)
			relaunch(t, launcher(root), root)
			want := 1
			if step == "supervisor: after mark" {
				want = 0
			}
			require.Equal(t, want, starts(t, root))
		})
	}
}

// relaunch is what an iHypervisor does that starts again, with job 1 in its journal.
func relaunch(t *testing.T, l *Launcher, root string) {
	seen, err := l.Find()
	require.NoError(t, err)
	if len(seen) == 0 {
		require.NoError(t, l.Launch(counted(root), []int{0}, nil))
	}
	wait(t, l, 1)
}

func starts(t *testing.T, root string) int {
	text, err := os.ReadFile(filepath.Join(root, "count"))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	return strings.Count(string(text), "started\n")
}

// Several supervisors of the same job at once, as after a restart while the first was on its way.
func TestLaunchedOnce(t *testing.T) {
	l, root := newLauncher(t)
	l.Supervisor = []string{"/bin/false"}
	var not *UnlaunchedError
	require.ErrorAs(t, l.Launch(counted(root), []int{0}, nil), &not) // leaves a spec
	done := make(chan error)
	l = launcher(root)
	for range 4 {
		go func() { _, err := l.supervise(1); done <- err }()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	_, err := l.Find()
	require.NoError(t, err)
	require.Zero(t, wait(t, l, 1))
	require.Equal(t, 1, starts(t, root))
}

func TestAsAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	l, root := newLauncher(t)
	l.Credential = &syscall.Credential{Uid: 65534, Gid: 65533, Groups: []uint32{65532}}
	require.NoError(t, l.Launch(shell(1, "id -u; id -g; id -G; cat "+l.Dir+"/1/spec"), []int{0}, nil))
	require.EqualValues(t, 1, wait(t, l, 1))
	require.Equal(t, "65534\n65533\n65533 65532\n", output(t, root, 1, "out"))
	require.Contains(t, output(t, root, 1, "err"), "Permission denied")
}

// A job of the same number as an earlier one of another user gets files of its own, and the
// other's stay as they are.
func TestOutputOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	l, root := newLauncher(t)
	runs := func(uid uint32, script string) {
		t.Helper()
		l.Credential = &syscall.Credential{Uid: uid, Gid: uid}
		if uid == 0 {
			l.Credential = nil
		}
		require.NoError(t, l.Launch(shell(1, script), []int{0}, nil))
		require.Zero(t, wait(t, l, 1))
		require.NoError(t, l.Forget(1))
	}
	runs(65534, "echo secret; echo hidden >&2")
	runs(65533, "echo mine")
	runs(65533, "echo again") // a user's own goes on
	runs(0, "echo of root")
	for name, want := range map[string]struct {
		text string
		uid  uint32
	}{
		"1.out.1": {"secret\n", 65534}, "1.err.1": {"hidden\n", 65534}, "1.out.2": {"mine\nagain\n", 65533}, "1.err.2": {"", 65533},
		"1.out": {"of root\n", 0}, "1.err": {"", 0},
	} {
		path := filepath.Join(root, "out", name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want.text, string(text), name)
		var st unix.Stat_t
		require.NoError(t, unix.Stat(path, &st))
		require.Equal(t, want.uid, st.Uid, name)
		require.EqualValues(t, 0o600, st.Mode&0o777, name)
	}
}

// A supervisor that comes when the job is being forgotten, its mark gone already,
// doesn't start it again.
func TestLateSupervisor(t *testing.T) {
	dir := t.TempDir()
	held, err := lockUnmarked(dir)
	require.NoError(t, err)
	require.Nil(t, held)
	require.NoError(t, writeFile(filepath.Join(dir, "spec"), spec{}))
	held, err = lockUnmarked(dir)
	require.NoError(t, err)
	require.NotNil(t, held, "a job that wasn't launched")
	require.NoError(t, held.Close())
}

// A launch that is abandoned before its supervisor has the lock is never begun, however late that
// comes; one that has begun is known.
func TestAbandon(t *testing.T) {
	l, root := newLauncher(t)
	start := filepath.Join(root, "go")
	late := launcher(root)
	late.Supervisor = append([]string{"/bin/sh", "-c", `while [ ! -e "$0" ]; do sleep 0.01; done; exec "$@"`, start}, l.Supervisor...)
	failed := make(chan error, 1)
	go func() { failed <- late.Launch(counted(root), []int{0}, nil) }()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(l.dir(1), "log"))
		return err == nil
	}, 60*time.Second, time.Millisecond)
	launched, err := l.Abandon(1)
	require.NoError(t, err)
	require.False(t, launched)
	require.NoError(t, os.WriteFile(start, nil, 0o600))
	var not *UnlaunchedError
	require.ErrorAs(t, <-failed, &not)
	require.NoFileExists(t, filepath.Join(root, "count"))

	path := filepath.Join(root, "lock")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, os.Remove(path))
	held, err := lockOpened(f, path)
	require.NoError(t, err)
	require.False(t, held, "it is gone")
	other, err := lock(path)
	require.NoError(t, err)
	require.NotNil(t, other)
	defer other.Close()
	held, err = lockOpened(f, path)
	require.NoError(t, err)
	require.False(t, held, "another is there")
	held, err = lockOpened(other, path)
	require.NoError(t, err)
	require.True(t, held)

	launched, err = l.Abandon(7)
	require.NoError(t, err)
	require.False(t, launched, "nothing was ever there")

	require.NoError(t, launcher(root).Launch(shell(1, "echo started >>"+root+"/count; sleep 0.2; exit 3"), []int{0}, nil))
	launched, err = l.Abandon(1)
	require.NoError(t, err)
	require.True(t, launched)
	require.EqualValues(t, 3, wait(t, l, 1))
}

// A job ends with the process that it is to end with, also one that has ended before.
func TestEndsWith(t *testing.T) {
	l, root := newLauncher(t)
	with := exec.Command("sleep", "1000")
	require.NoError(t, with.Start())
	l.With = with.Process.Pid
	require.NoError(t, l.Launch(shell(1, "sleep 1000 & sleep 1000"), []int{0}, nil))
	before := l.Processes(1)
	require.NotEmpty(t, before)
	require.NoError(t, with.Process.Kill())
	require.Error(t, with.Wait())
	require.EqualValues(t, 128+9, wait(t, l, 1))
	require.Empty(t, l.Processes(1))
	var not *UnlaunchedError
	require.ErrorAs(t, l.Launch(shell(2, "touch "+root+"/began"), []int{0}, nil), &not)
	require.NoFileExists(t, filepath.Join(root, "began"))
}

// Descriptors that the launcher has inherited are neither a job's nor its supervisor's.
func TestNoDescriptorsAreInherited(t *testing.T) {
	l, root := newLauncher(t)
	var pipe [2]int
	// without O_CLOEXEC, as it is for one who has inherited it
	require.NoError(t, unix.Pipe(pipe[:]))
	defer unix.Close(pipe[0])
	require.NoError(t, l.Launch(shell(1, "readlink /proc/$$/fd/* /proc/$PPID/fd/*; true"), []int{0}, nil))
	require.Zero(t, wait(t, l, 1))
	var st unix.Stat_t
	require.NoError(t, unix.Fstat(pipe[0], &st))
	unix.Close(pipe[1])
	require.NotContains(t, output(t, root, 1, "out"), fmt.Sprintf("pipe:[%d]", st.Ino))
	n, err := unix.Read(pipe[0], make([]byte, 1))
	require.NoError(t, err)
	require.Zero(t, n, "nobody else has it")
}
