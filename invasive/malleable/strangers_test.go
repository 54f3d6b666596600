// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package malleable

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
)

// lines counts those of a log that have some words.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) with(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// open serves a socket that every user reaches.
func open(t *testing.T, identify func(link.Peer) (invasive.JobID, bool)) (*bed, *lines) {
	t.Helper()
	return openFor(t, 0, identify)
}

// openFor has room for so many tasks that begin at a time.
func openFor(t *testing.T, tasks int, identify func(link.Peer) (invasive.JobID, bool)) (*bed, *lines) {
	t.Helper()
	dir, err := os.MkdirTemp("", "jobs")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	log := &lines{}
	b := &bed{t: t, path: filepath.Join(dir, "run", "jobs"), said: make(chan Request, 1000)}
	from, cleanup, err := link.ListenUnix(b.path, []uint32{^uint32(0)})
	require.NoError(t, err)
	b.server = NewServer(from, ServerConfig{
		Identify: identify, Tasks: tasks, Log: slog.New(slog.NewTextHandler(log, nil)),
		Handle: func(_ invasive.JobID, r Request) { b.said <- r },
	})
	t.Cleanup(func() {
		began := time.Now()
		b.server.Close()
		require.Less(t, time.Since(began), patience, "who waits for his turn doesn't hold up the end")
		require.NoError(t, cleanup())
		require.NoError(t, os.RemoveAll(dir))
	})
	return b, log
}

const strangersPath = "AUCSCHED_TEST_STRANGERS"

// TestStrangersProcess is a process of TestFloodOfStrangers: it connects 1000 times a
// second, until it is killed.
func TestStrangersProcess(t *testing.T) {
	path := os.Getenv(strangersPath)
	if path == "" {
		t.Skip("a process of another test")
	}
	for range time.Tick(time.Millisecond) {
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
		}
	}
}

// A stranger who connects without end, each time at the cost of a second, keeps no job of other
// users waiting, and fills no log.
func TestFloodOfStrangers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a process of another user")
	}
	const nobody = 65534
	b, log := open(t, func(p link.Peer) (invasive.JobID, bool) {
		if p.UID == nobody {
			time.Sleep(time.Second)
		}
		return 7, p.UID != nobody
	})
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(self) // which may be where nobody else can read
	require.NoError(t, err)
	programme := filepath.Join(filepath.Dir(filepath.Dir(b.path)), "strangers")
	require.NoError(t, os.WriteFile(programme, text, 0o755))
	cmd := exec.Command(programme, "-test.run=^TestStrangersProcess$")
	cmd.Dir, cmd.Env = "/", []string{strangersPath + "=" + b.path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	require.Eventually(t, func() bool { s := b.server.Stats(); return s.Crowded+s.Strangers > 500 }, patience, time.Millisecond)

	for range 3 {
		c, err := link.DialUnix(context.Background(), b.path)
		require.NoError(t, err)
		fmt.Fprint(c, "hello 1\n")
		b.hears(Request{Verb: Hello}) // a queue of strangers takes minutes
		c.Close()
		b.hears(Request{Verb: Gone})
		require.Eventually(t, func() bool { return !b.server.Send(7, Change{}) }, patience, time.Millisecond)
	}
	before := b.server.Stats()
	require.Eventually(t, func() bool { return b.server.Stats().Strangers > before.Strangers },
		patience, time.Millisecond, "they are looked at")
	require.LessOrEqual(t, log.with("level=WARN"), 6)
	require.NotZero(t, log.with("uid=65534"))
}

// While the kernel has no descriptor for it a connection waits, and is served then.
func TestTooManyOpenFiles(t *testing.T) {
	b, log := open(t, func(link.Peer) (invasive.JobID, bool) { return 7, true })
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	var was unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	none := was
	none.Cur = 3 // those that are open stay open
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &none))
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: b.path})
	time.Sleep(4 * acceptPause)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &was))
	require.NoError(t, err)
	_, err = unix.Write(fd, []byte("hello 1\n"))
	require.NoError(t, err)
	b.hears(Request{Verb: Hello})
	faults := b.server.Stats().Faults
	require.NotZero(t, faults)
	require.LessOrEqual(t, faults, uint64(20), "it pauses between attempts")
	require.Equal(t, 1, log.with("too many open files"))
}

// A job that begins on all of a large node at once has each of its tasks looked at.
func TestManyTasks(t *testing.T) {
	const tasks = 192
	goOn := make(chan struct{})
	var looked atomic.Int32
	b, _ := openFor(t, tasks, func(link.Peer) (invasive.JobID, bool) {
		<-goOn
		looked.Add(1)
		return 7, true
	})
	for range tasks {
		c, err := link.DialUnix(context.Background(), b.path)
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
	}
	close(goOn)
	require.Eventually(t, func() bool { s := b.server.Stats(); return s.Crowded > 0 || looked.Load() == tasks }, patience, time.Millisecond)
	require.Zero(t, b.server.Stats().Crowded)
}

const leavingPath = "AUCSCHED_TEST_LEAVING"

// TestLeavingProcess is a process of TestEndedProcess: it leaves its connection to another one.
func TestLeavingProcess(t *testing.T) {
	path := os.Getenv(leavingPath)
	if path == "" {
		t.Skip("a process of another test")
	}
	c, err := net.Dial("unix", path)
	require.NoError(t, err)
	fmt.Fprint(c, "hello 1\n")
	heir, err := c.(*net.UnixConn).File()
	require.NoError(t, err)
	_, err = os.StartProcess("/bin/sleep", []string{"sleep", "3"}, &os.ProcAttr{Files: []*os.File{heir}})
	require.NoError(t, err)
}

// Who connects and ends, with the connection passed on, isn't taken for a process
// that gets its number.
func TestEndedProcess(t *testing.T) {
	goOn := make(chan struct{})
	b, _ := open(t, func(p link.Peer) (invasive.JobID, bool) {
		<-goOn
		return 7, true // the number is a job's by now
	})
	self, err := os.Executable()
	require.NoError(t, err)
	ended := exec.Command(self, "-test.run=^TestLeavingProcess$")
	ended.Env = []string{leavingPath + "=" + b.path}
	require.NoError(t, ended.Run())
	close(goOn)
	require.Eventually(t, func() bool { return b.server.Stats().Strangers == 1 }, patience, time.Millisecond)
	require.Empty(t, b.said)
	require.Zero(t, b.server.Stats().Jobs)
}

// Whatever comes and goes, a user has room as long as neither he nor all have too many.
func TestGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGate(rapid.SampledFrom([]int{0, 64, 192}).Draw(t, "tasks"))
		require.Contains(t, []int{128, 384}, g.userMost)
		in, all := map[uint32]int{}, 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			uid := rapid.Uint32Range(0, 6).Draw(t, "uid")
			if in[uid] > 0 && rapid.Bool().Draw(t, "leaves") {
				g.leave(uid)
				in[uid]--
				all--
				continue
			}
			for range rapid.SampledFrom([]int{1, g.userMost - 1, g.userMost + 1}).Draw(t, "come") {
				free := in[uid] < g.userMost && all < 4*g.userMost
				require.Equal(t, free, g.enter(uid) != nil)
				if free {
					in[uid]++
					all++
				}
			}
		}
		for uid, n := range in {
			for range n {
				g.leave(uid)
			}
		}
		require.Empty(t, g.users)
		require.Zero(t, g.all)
	})
}
