// SPDX-License-Identifier: BSD-3-Clause

package vclock_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
	"github.com/aucsched/aucsched/internal/test/race"
)

// How a call says that it failed.
const (
	returnsNumber = iota // the number of the error
	setsErrno            // -1, and the number in errno
	saysNothing
)

// kind is a wait of testdata/probe.c.
type kind struct {
	name    string
	failing int
	until   bool // a time-out is an error; and it takes a moment
	ready   bool // what it waits for may be there
	signals bool // a signal ends it
	left    bool // and it tells what is left
	invalid bool // it takes nanoseconds, which may be none
}

// kinds are those that are scaled.
var kinds = []kind{
	{"sleep", saysNothing, false, false, true, true, false},
	{"usleep", setsErrno, false, false, true, false, false},
	{"nanosleep", setsErrno, false, false, true, true, true},
	{"clock_nanosleep", returnsNumber, false, false, true, true, true},
	{"clock_nanosleep_abs", returnsNumber, false, false, true, false, true},
	{"poll", setsErrno, false, false, true, false, false},
	{"select", setsErrno, false, false, true, true, false},
	{"cond", returnsNumber, true, false, false, false, true},
	{"cond_monotonic", returnsNumber, true, false, false, false, true},
	{"cond_clockwait", returnsNumber, true, false, false, false, true},
	{"mutex", returnsNumber, true, true, false, false, true},
	{"join", returnsNumber, true, true, false, false, false}, // libc never returns then
	{"sem", setsErrno, true, true, true, false, true},
	{"timer", setsErrno, false, false, false, false, true},
}

// requireFailed is that the call failed with that error.
func requireFailed(t *testing.T, failing int, number syscall.Errno, w waited) {
	switch failing {
	case returnsNumber:
		require.Equal(t, int(number), w.Result)
	case setsErrno:
		require.Equal(t, [2]int{-1, int(number)}, [2]int{w.Result, w.Errno})
	case saysNothing:
		require.Equal(t, -1, w.Result)
	}
}

// late is what a loaded machine may add to a wait, in real time.
const late = 10 * time.Second

func TestLibrary(t *testing.T) {
	race.Slow(t)
	p := newProbe(t)
	t.Run("waits", p.testWaits)
	t.Run("rate raised", p.testRaised)
	t.Run("rate lowered", p.testLowered)
	t.Run("rate always changing", p.testChanging)
	t.Run("interrupted", p.testInterrupted)
	t.Run("at once", p.testAtOnce)
	t.Run("conditions", p.testConditions)
	t.Run("time", p.testTime)
	t.Run("dead writer", p.testDeadWriter)
	t.Run("no clock", p.testNoClock)
}

// requireOver is that a wait ended by itself, by the clock no earlier than it should,
// and not much later: its clock ran at most at that rate.
func requireOver(t *testing.T, k kind, w waited, virtual time.Duration, rate float64) {
	if k.until {
		requireFailed(t, k.failing, syscall.ETIMEDOUT, w)
	} else {
		require.Zero(t, w.Result)
	}
	require.Zero(t, w.Left)
	require.GreaterOrEqual(t, w.Virtual, virtual)
	require.Less(t, w.Virtual, virtual+time.Duration(rate*float64(late)))
}

// all starts a wait of every kind by one clock, and checks each when all have begun and
// the clock was dealt with.
func (p *probe) all(t *testing.T, path, what, seconds string, wanted func(k kind) bool,
	then func(), check func(t *testing.T, k kind, w waited)) {
	ends := make([]func() string, len(kinds))
	for i, k := range kinds {
		if wanted(k) {
			ends[i] = p.start(t, path, what, k.name, seconds)
		}
	}
	then()
	for i, k := range kinds {
		if ends[i] != nil {
			out := ends[i]()
			t.Run(k.name, func(t *testing.T) { check(t, k, readWaited(t, out)) })
		}
	}
}

func anyKind(kind) bool { return true }

// testWaits: each kind of wait takes as long as it should at rates that do not change, be
// they the greatest there may be or not.
func (p *probe) testWaits(t *testing.T) {
	for _, c := range []struct{ rate, most float64 }{{1, 1}, {1, 1000}, {60, 60}, {60, 1000}, {1000, 1000}} {
		t.Run(fmt.Sprintf("at %g of %g", c.rate, c.most), func(t *testing.T) {
			_, path := clockAt(t, c.rate, c.most)
			seconds := math.Ceil(c.rate / 4)
			p.all(t, path, "wait", fmt.Sprint(seconds), anyKind, func() {}, func(t *testing.T, k kind, w waited) {
				requireOver(t, k, w, time.Duration(seconds*float64(time.Second)), c.rate)
				require.InDelta(t, float64(w.Virtual)/c.rate, float64(w.Real), float64(240*time.Millisecond))
			})
		})
	}
}

// testRaised: a wait that would take very long ends when the rate rises.
func (p *probe) testRaised(t *testing.T) {
	clock, path := clockAt(t, 1, 1000)
	p.all(t, path, "wait", "200", anyKind, func() {
		time.Sleep(150 * time.Millisecond)
		require.NoError(t, clock.SetRate(1000))
	}, func(t *testing.T, k kind, w waited) {
		requireOver(t, k, w, 200*time.Second, 1000)
		require.Less(t, w.Real, 350*time.Millisecond+late)
	})
}

// testLowered: a wait goes on when the rate falls, until its time has come.
func (p *probe) testLowered(t *testing.T) {
	clock, path := clockAt(t, 1000, 1000)
	p.all(t, path, "wait", "600", anyKind, func() {
		time.Sleep(200 * time.Millisecond)
		require.NoError(t, clock.SetRate(1))
		time.Sleep(500 * time.Millisecond)
		require.NoError(t, clock.SetRate(1000))
	}, func(t *testing.T, k kind, w waited) {
		requireOver(t, k, w, 600*time.Second, 1000)
		// 600 ms at that rate, and those at rate 1 unless it had not begun.
		require.GreaterOrEqual(t, w.Real, 600*time.Millisecond)
	})
}

// flap changes a clock's rate between 1 and 1000 as a governor would, but more often,
// until the test ends.
func flap(t *testing.T, clock *vclock.Clock, pause time.Duration) {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Add(1)
	go func() {
		defer wg.Done()
		for rate := 1.0; ; rate = 1001 - rate {
			select {
			case <-stop:
				return
			default:
			}
			if err := clock.SetRate(rate); err != nil {
				t.Error(err)
				return
			}
			if pause > 0 {
				time.Sleep(pause)
			}
		}
	}()
	t.Cleanup(func() { close(stop); wg.Wait() })
}

func (p *probe) testChanging(t *testing.T) {
	clock, path := clockAt(t, 1000, 1000)
	flap(t, clock, time.Millisecond)
	p.all(t, path, "wait", "200", anyKind, func() {}, func(t *testing.T, k kind, w waited) {
		requireOver(t, k, w, 200*time.Second, 1000)
	})
}

// testInterrupted: a signal ends what POSIX says that it ends.
func (p *probe) testInterrupted(t *testing.T) {
	const far = 100000 * time.Second
	for _, rate := range []float64{1, 1000} {
		t.Run(fmt.Sprintf("at %g", rate), func(t *testing.T) {
			_, path := clockAt(t, rate, 1000)
			signals := func(k kind) bool { return k.signals }
			p.all(t, path, "interrupt", "", signals, func() {}, func(t *testing.T, k kind, w waited) {
				requireFailed(t, k.failing, syscall.EINTR, w)
				// the signal may be under way when the wait begins
				require.GreaterOrEqual(t, w.Real, 50*time.Millisecond)
				require.Less(t, w.Real, 100*time.Millisecond+late)
				if k.left {
					// sleep() tells whole seconds; and time goes on before it is looked at.
					require.InDelta(t, float64(far), float64(w.Virtual+w.Left), float64(time.Second)+rate*float64(100*time.Millisecond))
				}
			})
		})
	}
}

// testAtOnce: calls that do not wait.
func (p *probe) testAtOnce(t *testing.T) {
	_, path := clockAt(t, 60, 1000)
	for _, c := range []struct {
		what   string
		wanted func(k kind) bool
		check  func(t *testing.T, k kind, w waited)
	}{
		{"past", func(k kind) bool { return k.until }, func(t *testing.T, k kind, w waited) {
			requireFailed(t, k.failing, syscall.ETIMEDOUT, w)
		}},
		{"past", func(k kind) bool { return k.name == "clock_nanosleep_abs" }, func(t *testing.T, k kind, w waited) {
			require.Zero(t, w.Result)
		}},
		{"ready", func(k kind) bool { return k.ready }, func(t *testing.T, k kind, w waited) {
			require.Zero(t, w.Result)
		}},
		{"invalid", func(k kind) bool { return k.invalid }, func(t *testing.T, k kind, w waited) {
			requireFailed(t, k.failing, syscall.EINVAL, w)
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			p.all(t, path, c.what, "", c.wanted, func() {}, func(t *testing.T, k kind, w waited) {
				c.check(t, k, w)
				require.Less(t, w.Real, late)
			})
		})
	}
}

// testConditions: a signal ends a long wait at once, and none is lost.
func (p *probe) testConditions(t *testing.T) {
	for _, rate := range []float64{1, 60, 1000} {
		t.Run(fmt.Sprintf("woken at %g", rate), func(t *testing.T) {
			_, path := clockAt(t, rate, 1000)
			var result int
			var real time.Duration
			_, err := fmt.Sscan(p.start(t, path, "wake", "200")(), &result, &real)
			require.NoError(t, err)
			require.Zero(t, result)
			require.GreaterOrEqual(t, real, 200*time.Millisecond)
			require.Less(t, real, 200*time.Millisecond+late)
		})
	}
	t.Run("two threads wake each other", func(t *testing.T) {
		clock, path := clockAt(t, 1, 1000)
		flap(t, clock, 100*time.Microsecond)
		out := p.start(t, path, "pingpong", "2000", "100000", "0")()
		var real time.Duration
		_, err := fmt.Sscan(out, &real)
		require.NoError(t, err)
		require.Less(t, real, 3*late)
	})
	t.Run("between two parts of a wait", func(t *testing.T) {
		_, path := clockAt(t, 1, 1000) // a wait of 5 s has parts of 5 ms
		p.start(t, path, "pingpong", "50", "5", "8")()
	})
}

// testTime: however the rate changes, time goes forward, in all processes.
func (p *probe) testTime(t *testing.T) {
	for name, pause := range map[string]time.Duration{"steadily": time.Hour, "now and then": time.Millisecond, "always": 0} {
		for _, args := range [][]string{{"monotone", "1000000"}, {"relay", "2000"}, {"clocks"}} {
			t.Run(name+" "+args[0], func(t *testing.T) {
				clock, path := clockAt(t, 1, 1000)
				if pause < time.Hour {
					flap(t, clock, pause)
				}
				before := clock.Now()
				out := p.start(t, path, args...)()
				after := clock.Now()
				var virtual, real time.Duration
				_, err := fmt.Sscan(out, &virtual, &real)
				require.NoError(t, err)
				if args[0] == "clocks" { // the moment itself: it lies between ours
					require.GreaterOrEqual(t, int64(virtual), before.UnixNano())
					require.LessOrEqual(t, int64(virtual), after.UnixNano())
					return
				}
				require.GreaterOrEqual(t, virtual, real-time.Millisecond)
				require.LessOrEqual(t, virtual, after.Sub(before))
			})
		}
	}
}

// testDeadWriter: whoever reads a page whose writer was killed in the middle of a change
// goes on by it after a second.
func (p *probe) testDeadWriter(t *testing.T) {
	_, path := clockAt(t, 60, 60)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	page[8]++
	require.NoError(t, os.WriteFile(path, page, 0o644))
	begin := time.Now()
	w := readWaited(t, p.start(t, path, "wait", "cond", "12")())
	requireOver(t, kind{until: true, failing: returnsNumber}, w, 12*time.Second, 60)
	require.GreaterOrEqual(t, time.Since(begin), time.Second)
	require.Less(t, time.Since(begin), 2*time.Second+late)
}

// testNoClock: without a page that is one the world's clock is used.
func (p *probe) testNoClock(t *testing.T) {
	_, good := clockAt(t, 1000, 1000)
	page, err := os.ReadFile(good)
	require.NoError(t, err)
	file := func(change func(page []byte) []byte) string {
		path := filepath.Join(t.TempDir(), "clock")
		require.NoError(t, os.WriteFile(path, change(append([]byte(nil), page...)), 0o644))
		return path
	}
	set := func(at int, value byte) func([]byte) []byte {
		return func(page []byte) []byte {
			clear(page[at : at+8])
			page[at+7] = value
			return page
		}
	}
	for name, c := range map[string]struct{ path, says string }{
		"no variable":    {"", ""},
		"no file":        {filepath.Join(t.TempDir(), "none"), "No such file or directory"},
		"a directory":    {t.TempDir(), "no page of a clock"},
		"short":          {file(func(page []byte) []byte { return page[:100] }), "no page of a clock"},
		"empty":          {file(func([]byte) []byte { return nil }), "no page of a clock"},
		"without magic":  {file(set(0, 0)), "no page of a clock"},
		"rate 0":         {file(set(32, 0)), "no page of a clock"},
		"rate below 0":   {file(set(32, 0x80)), "no page of a clock"},
		"more than most": {file(set(40, 0)), "no page of a clock"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(p.program, "wait", "cond", "0.1")
			cmd.Env = append(os.Environ(), vclock.Env(p.library, c.path)...)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			require.NoError(t, err)
			w := readWaited(t, string(out))
			require.Equal(t, int(syscall.ETIMEDOUT), w.Result)
			require.GreaterOrEqual(t, w.Real, 99*time.Millisecond)
			if c.says == "" {
				require.Empty(t, errs.String())
				return
			}
			require.Regexp(t, "^vclock: .*"+regexp.QuoteMeta(c.path)+": "+c.says+".*\n$", errs.String())
		})
	}
}

// BenchmarkClockGettime measures a call in nanoseconds, and one that is not scaled.
func BenchmarkClockGettime(b *testing.B) {
	p := newProbe(b)
	for _, scaled := range []bool{true, false} {
		b.Run(map[bool]string{true: "vclock", false: "libc"}[scaled], func(b *testing.B) {
			_, path := clockAt(b, 60, 1000)
			if !scaled {
				path = ""
			}
			var ns float64
			_, err := fmt.Sscan(p.start(b, path, "speed", strconv.Itoa(max(b.N, 1000000)))(), &ns)
			require.NoError(b, err)
			b.ReportMetric(ns, "ns/op")
		})
	}
}
