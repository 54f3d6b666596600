// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// child is a process that computes, or sleeps.
func child(t *testing.T, args ...string) *os.Process {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd.Process
}

// governed has a governor watch processes.
func governed(t *testing.T, pids func() []int, busy, fast float64) (*vclock.Clock, *Governor, func()) {
	t.Helper()
	clock, err := vclock.Create(filepath.Join(t.TempDir(), "clock"), time.Unix(0, 0), fast)
	require.NoError(t, err)
	t.Cleanup(func() { clock.Close() })
	g := NewGovernor(clock, busy, fast)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx, pids) }()
	return clock, g, func() {
		cancel()
		require.NoError(t, <-done)
		require.Equal(t, 1.0, clock.Rate(), "nobody governs any more")
	}
}

// While one of the processes computes the clock is slow, and otherwise fast. What is asked
// for is only that each comes about some time: the machine may have much else to do.
func TestGovernor(t *testing.T) {
	idle := child(t, "sleep", "1000")
	burner := child(t, "sh", "-c", "while :; do :; done")
	clock, g, stop := governed(t, func() []int { return []int{idle.Pid, burner.Pid} }, 3, 500)
	eventually := func(rate float64, why string) {
		t.Helper()
		require.Eventually(t, func() bool { return clock.Rate() == rate }, 60*time.Second, time.Millisecond, why)
	}
	eventually(3, "one computes")
	require.NoError(t, burner.Signal(syscall.SIGSTOP))
	eventually(500, "both are idle")
	require.NoError(t, burner.Signal(syscall.SIGCONT))
	eventually(3, "it computes again")
	require.NoError(t, burner.Signal(syscall.SIGSTOP))
	eventually(500, "it does no more")

	release := g.Hold()
	require.Never(t, func() bool { return clock.Rate() != 1 }, 50*time.Millisecond, time.Millisecond, "held")
	other := g.Hold()
	release()
	require.Never(t, func() bool { return clock.Rate() != 1 }, 50*time.Millisecond, time.Millisecond, "still held")
	other()
	eventually(500, "let go")
	stop()
	fast, slow := g.Spent()
	require.Positive(t, fast)
	require.Positive(t, slow)
}

// A daemon that waits for a processor is no idle one.
func TestGovernorSeesThatProcessorsAreTaken(t *testing.T) {
	clock, _, stop := governed(t, func() []int { return nil }, 3, 500)
	require.Eventually(t, func() bool { return clock.Rate() == 500 }, 60*time.Second, time.Millisecond)
	restore := urgently(slurmtest.UrgencyNodes) // or the test would never be there to see it
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Priority != slurmtest.UrgencyNodes {
		restore()
		t.Skip("needs the right to run before other processes")
	}
	attr.Priority = slurmtest.UrgencyController
	var taken []*os.Process
	for range 2 * runtime.NumCPU() {
		burner := child(t, "sh", "-c", "while :; do :; done")
		require.NoError(t, unix.SchedSetAttr(burner.Pid, attr, 0))
		taken = append(taken, burner)
	}
	seen := rates(clock, 200*time.Millisecond)
	for _, burner := range taken {
		require.NoError(t, burner.Kill())
	}
	restore()
	require.Contains(t, seen, 3.0, "all processors are taken")
	require.Eventually(t, func() bool { return clock.Rate() == 500 }, 60*time.Second, time.Millisecond, "they are free again")
	stop()
}

// Nor is one whose processor the host has given to somebody else: here a process that is
// more urgent than all.
func TestGovernorSeesThatOneProcessorIsAway(t *testing.T) {
	cpus := processors()
	if len(cpus) < 2 {
		t.Skip("needs two processors")
	}
	clock, _, stop := governed(t, func() []int { return nil }, 3, 500)
	require.Eventually(t, func() bool { return clock.Rate() == 500 }, 60*time.Second, time.Millisecond)
	restore := urgently(slurmtest.UrgencyNodes)
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Priority != slurmtest.UrgencyNodes {
		restore()
		t.Skip("needs the right to run before other processes")
	}
	attr.Priority = slurmtest.UrgencyNodes + 1
	burner := child(t, "sh", "-c", "while :; do :; done")
	require.NoError(t, unix.SchedSetaffinity(burner.Pid, &cpus[len(cpus)-1]))
	require.NoError(t, unix.SchedSetAttr(burner.Pid, attr, 0))
	seen := rates(clock, 200*time.Millisecond)
	require.NoError(t, burner.Kill())
	restore()
	require.Contains(t, seen, 3.0, "one processor is away")
	require.Eventually(t, func() bool { return clock.Rate() == 500 }, 60*time.Second, time.Millisecond, "it is back")
	stop()
}

// rates are those that the clock has for so long.
func rates(clock *vclock.Clock, long time.Duration) map[float64]bool {
	seen := make(map[float64]bool)
	pause := unix.NsecToTimespec(int64(look))
	for end := time.Now().Add(long); time.Now().Before(end); _ = unix.Nanosleep(&pause, nil) {
		seen[clock.Rate()] = true
	}
	return seen
}

// How long the clock was fast says how far it has come.
func TestGovernorSpent(t *testing.T) {
	idle := child(t, "sleep", "1000")
	begin := time.Now()
	clock, g, stop := governed(t, func() []int { return []int{idle.Pid} }, 1, 100)
	time.Sleep(time.Second)
	stop()
	real := time.Since(begin)
	virtual := clock.Now().Sub(time.Unix(0, 0))
	fast, slow := g.Spent()
	require.LessOrEqual(t, fast+slow, real)
	require.LessOrEqual(t, virtual, 100*real)
	require.Positive(t, fast, "idle")
	require.InEpsilon(t, 100*fast.Seconds()+slow.Seconds(), virtual.Seconds(), 0.3)
}

// Processes are asked for anew, and one that has ended is idle.
func TestGovernorAsksAgain(t *testing.T) {
	burner := child(t, "sh", "-c", "while :; do :; done")
	pids := make(chan []int, 1)
	pids <- []int{1 << 27}
	clock, _, stop := governed(t, func() []int { list := <-pids; pids <- list; return list }, 1, 100)
	require.Eventually(t, func() bool { return clock.Rate() == 100 }, 60*time.Second, time.Millisecond)
	<-pids
	pids <- []int{burner.Pid}
	require.Eventually(t, func() bool { return clock.Rate() == 1 }, 60*time.Second, time.Millisecond)
	require.NoError(t, burner.Kill())
	require.Eventually(t, func() bool { return clock.Rate() == 100 }, 60*time.Second, time.Millisecond)
	stop()
}

func TestCPUTime(t *testing.T) {
	burner := child(t, "sh", "-c", "while :; do :; done")
	first, err := cpuTime(burner.Pid)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		now, err := cpuTime(burner.Pid)
		return err == nil && now > first+int64(5*time.Millisecond)
	}, 60*time.Second, time.Millisecond)
	for _, pid := range []int{0, -1, 1 << 29, 1 << 27} {
		_, err := cpuTime(pid)
		require.Error(t, err, "%d", pid)
	}
}
