// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package highs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
)

func confinedRoles() map[string]func() int {
	return map[string]func() int{"confined": confined, "glutton": glutton, "parent": parent}
}

// solvePair has a worker solve a small model, with an answer to begin with.
func solvePair(t testing.TB, s *Solver, deadline time.Duration) {
	t.Helper()
	var r ipmodel.Result
	require.NoError(t, s.Solve(context.Background(), pair(), ipmodel.Options{Deadline: time.Now().Add(deadline), Start: []int32{0}}, &r))
	s.Wait()
}

// A worker gets nothing of what the caller's environment has, and doesn't work in its directory.
func TestWorkerGetsLittle(t *testing.T) {
	t.Setenv("AUCSCHED_TEST_SECRET", "x")
	t.Setenv("LD_LIBRARY_PATH", "/nowhere")
	file := filepath.Join(t.TempDir(), "seen")
	s := New(Options{Command: []string{"/bin/sh", "-c", `PATH=/usr/bin:/bin; pwd >"$0"; tr '\0' ` +
		`'\n' </proc/$$/environ >>"$0"`, file}, Env: []string{"A=1"}, Memory: 77})
	solvePair(t, s, 10*time.Second)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "/\nLD_LIBRARY_PATH=/nowhere\nA=1\nAUCSCHED_WORKER_MEMORY=77\n", string(text))
}

// confined is a worker that says what it may, in one line.
func confined() int {
	runtime.LockOSThread() // which alone has the signal that confine sets
	confine()
	var core, data unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
	_ = unix.Getrlimit(unix.RLIMIT_DATA, &data)
	groups, _ := os.Getgroups()
	adj, _ := os.ReadFile("/proc/thread-self/oom_score_adj")
	signal := int32(-1)
	_ = unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&signal)), 0, 0, 0)
	fmt.Fprintf(os.Stderr, "uid %d gid %d groups %d core %d oom %s signal %d limited %t threads %t\n",
		os.Geteuid(), os.Getegid(), len(groups), core.Max,
		strings.TrimSpace(string(adj)), signal, data.Max < 1<<40, runtime.GOMAXPROCS(0) <= 2)
	return 9
}

// A worker is not root, leaves no core, and goes before others when the machine has no memory left.
func TestConfined(t *testing.T) {
	race.Skip(t, "its programmes have terabytes of addresses")
	s := worker(t, "confined")
	s.options.Memory = 1 << 30
	s.options.Env = append(s.options.Env, "GOMAXPROCS=64") // as on a large machine
	solvePair(t, s, 10*time.Second)
	who := fmt.Sprintf("uid %d gid %d ", os.Geteuid(), os.Getegid())
	if os.Geteuid() == 0 {
		who = "uid 65534 gid 65534 groups 0 "
	}
	require.ErrorContains(t, s.Fault(), who)
	require.ErrorContains(t, s.Fault(), " core 0 oom 1000 signal 9 limited true threads true")
}

// glutton is a worker that takes 400 MiB, and says so.
func glutton() int {
	confine()
	memory := make([]byte, 400<<20)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	fmt.Fprintln(os.Stderr, "satisfied")
	return int(memory[0])
}

// A worker that takes more than it may ends, and the caller hears of it.
func TestMemory(t *testing.T) {
	race.Skip(t, "its programmes take more than they are allowed before they begin")
	s := worker(t, "glutton")
	s.options.Memory = 1 << 30
	solvePair(t, s, 20*time.Second)
	require.ErrorContains(t, s.Fault(), "satisfied")
	s.options.Memory = 100 << 20
	solvePair(t, s, 20*time.Second)
	// and why, as far as Go can still say so
	require.ErrorContains(t, s.Fault(), "ended before its answer: EOF: ")
	require.NotContains(t, s.Fault().Error(), "satisfied")
}

// A worker isn't killed because some other thread of its caller ends.
func TestWorkerOutlivesThreads(t *testing.T) {
	s := New(Options{Command: []string{"/bin/sh", "-c", "sleep 0.3; echo still here >&2"}})
	over := make(chan struct{})
	go func() {
		defer close(over)
		solvePair(t, s, 20*time.Second)
	}()
	for {
		select {
		case <-over:
			require.ErrorContains(t, s.Fault(), "still here")
			return
		case <-time.After(time.Millisecond):
			go runtime.LockOSThread() // the thread ends with the goroutine
		}
	}
}

// parent has a worker that reads nothing leave its number in a file, and waits for it.
func parent() int {
	s := New(Options{Command: []string{"/bin/sh", "-c", `echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 100`, os.Getenv(fileVariable)}})
	var r ipmodel.Result
	_ = s.Solve(context.Background(), pair(), ipmodel.Options{Deadline: time.Now().Add(100 * time.Second), Start: []int32{0}}, &r)
	return 0
}

const fileVariable = "AUCSCHED_TEST_FILE"

// Nothing is left of a worker whose caller is killed, even if it doesn't read.
func TestWorkerEndsWithItsCaller(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "pid")
	cmd := exec.Command(self)
	cmd.Env = []string{roleVariable + "=parent", fileVariable + "=" + file, "PATH=/usr/bin:/bin"}
	require.NoError(t, cmd.Start())
	var text []byte
	defer func() {
		cmd.Process.Kill()
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}()
	require.Eventually(t, func() bool { text, err = os.ReadFile(file); return err == nil }, 30*time.Second, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(text)), "stat"))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 60*time.Second, 10*time.Millisecond)
}
