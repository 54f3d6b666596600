// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// Governor runs a clock fast while the processes that it watches are idle, and slower
// while one of them computes, or would if the machine had a processor for it. At rate 1 then,
// what they do takes as long as it does without emulation, and nothing is waited for that only
// time brings; at a higher rate they are that much slower than in the world.
type Governor struct {
	clock *vclock.Clock
	fast  float64
	busy  float64
	mu    sync.Mutex
	held  int       // by so many; while there are some the rate is 1
	since time.Time // when it was last counted
	fasts time.Duration
	slows time.Duration
}

// The governor looks every look; a process that had a part of busyShare of a processor
// since the last time computes, and is taken to do so until it had less for hold.
const (
	look      = time.Millisecond
	hold      = 4 * time.Millisecond
	busyShare = 0.2
)

// NewGovernor governs the clock between the rates busy, at least 1, and fast.
func NewGovernor(clock *vclock.Clock, busy, fast float64) *Governor {
	return &Governor{clock: clock, busy: min(busy, fast), fast: fast}
}

// Hold keeps the clock at rate 1 until the returned function is called: while clients of
// the daemons run.
func (g *Governor) Hold() (release func()) {
	g.hold(1)
	_ = g.set(1) // 1 is always allowed
	return func() { g.hold(-1) }
}

// hold counts those who hold the clock by by, and says how many there are.
func (g *Governor) hold(by int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held += by
	return g.held
}

// Run governs until ctx ends, with the clock at rate 1 from then on. pids are the processes
// to watch; they are asked for anew now and then, since daemons may be restarted.
func (g *Governor) Run(ctx context.Context, pids func() []int) error {
	probing, cancel := context.WithCancel(ctx)
	probes, wait := startProbes(probing)
	defer wait()
	defer cancel()
	// it must see a daemon compute whatever else the machine does
	defer urgently(slurmtest.UrgencyNodes + 1)()
	pause := unix.NsecToTimespec(int64(look))
	w := watch{pids: pids}
	begin, busyUntil := time.Now(), time.Now()
	g.since = begin
	for ctx.Err() == nil {
		_ = unix.Nanosleep(&pause, nil) // shorter after a signal
		now := time.Now()
		if w.busy(now) || probes.late() || g.hold(0) > 0 {
			busyUntil = now.Add(hold)
		}
		rate := g.fast
		if now.Before(busyUntil) {
			rate = g.busy
		}
		g.count(now)
		if err := g.set(rate); err != nil {
			return err
		}
	}
	g.count(time.Now())
	return g.set(1)
}

// ownProcessors gives Go's threads so many of its processors (GOMAXPROCS) that none waits for
// another's. A thread that sleeps in the kernel keeps its own until Go's monitor takes it away, and
// that is not urgent: it may not run at all.
var ownProcessors = sync.OnceFunc(func() { runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 64)) })

// urgently has the calling goroutine, and the processes that it starts, run before whatever
// else the machine does that is not as urgent, until the returned function is called. Where
// that is not allowed they run as ever.
func urgently(priority uint32) (restore func()) {
	ownProcessors()
	runtime.LockOSThread()
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: priority}
	if unix.SchedSetAttr(0, &attr, 0) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr}, 0)
		runtime.UnlockOSThread()
	}
}

// count adds the time since it was last called to that of the clock's rate.
func (g *Governor) count(now time.Time) {
	old := g.clock.Rate()
	if d := now.Sub(g.since); old <= g.busy {
		g.slows += d
	} else {
		g.fasts += d
	}
	g.since = now
}

// set changes the rate, unless somebody holds the clock.
func (g *Governor) set(rate float64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held > 0 {
		rate = 1
	}
	return g.clock.SetRate(rate)
}

// Spent is how long the clock was fast and slow, in real time. It may be asked when Run
// has returned.
func (g *Governor) Spent() (fast, slow time.Duration) { return g.fasts, g.slows }

// watch looks at the processor time of processes.
type watch struct {
	pids  func() []int
	list  []int
	used  []int64 // of each, at the last look
	at    time.Time
	asked time.Time
}

// relist is how often the processes are asked for.
const relist = 250 * time.Millisecond

// busy reports whether one of the processes has computed since the last call.
func (w *watch) busy(now time.Time) bool {
	if now.Sub(w.asked) > relist {
		w.asked, w.list = now, w.pids()
		w.used = append(w.used[:0], make([]int64, len(w.list))...)
		for i, pid := range w.list {
			w.used[i], _ = cpuTime(pid)
		}
		w.at = now
		return false
	}
	elapsed := now.Sub(w.at)
	w.at = now
	busy := false
	for i, pid := range w.list {
		used, err := cpuTime(pid)
		if err != nil {
			continue // it has ended
		}
		if float64(used-w.used[i]) > busyShare*float64(elapsed) {
			busy = true
		}
		w.used[i] = used
	}
	return busy
}

// cpuTime is how much processor time a process has used, in ns.
func cpuTime(pid int) (int64, error) {
	if pid <= 0 || pid > 1<<28 {
		return 0, errors.New("no process")
	}
	const schedClock = 2 // CPUCLOCK_SCHED of a process: see clock_getcpuclockid(3)
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|schedClock, &t); err != nil {
		return 0, fmt.Errorf("process %d: %w", pid, err)
	}
	return t.Nano(), nil
}
