// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// probe finds out whether daemons wait for a processor: it wants one every look. A daemon that
// waits has used no processor time, and would pass for idle.
type probe struct{ seen atomic.Int64 } // when it last ran, of the monotonic clock

// delayed is how long after it wanted a processor a probe is late.
const delayed = 2 * time.Millisecond

// mostProbes bounds how many processors have a probe of their own.
const mostProbes = 16

// probes are one that is as urgent as slurmctld, and goes where there is a processor for it: it is
// late if all are taken. And one for each processor, which nothing keeps from it: it is late if the
// host of this virtual machine has given the processor to somebody else, with the daemon on it.
type probes []probe

// startProbes starts them; they run until ctx ends, and wait waits for that.
func startProbes(ctx context.Context) (all probes, wait func()) {
	cpus := processors()
	all = make(probes, 1+len(cpus))
	var running sync.WaitGroup
	for k := range all {
		p := &all[k]
		p.seen.Store(monotonic())
		running.Go(func() {
			if k > 0 {
				// for good: the thread, which keeps to its processor, ends with this
				runtime.LockOSThread()
				_ = unix.SchedSetaffinity(0, &cpus[k-1])
				defer urgently(slurmtest.UrgencyNodes)()
			} else {
				defer urgently(slurmtest.UrgencyController)()
			}
			p.run(ctx)
		})
	}
	return all, running.Wait
}

// processors are the first mostProbes that this process may use, each as a set of one.
func processors() (sets []unix.CPUSet) {
	var mine unix.CPUSet
	if unix.SchedGetaffinity(0, &mine) != nil {
		return nil
	}
	for cpu := 0; cpu < 1024 && len(sets) < mostProbes; cpu++ {
		if mine.IsSet(cpu) {
			var one unix.CPUSet
			one.Set(cpu)
			sets = append(sets, one)
		}
	}
	return sets
}

// run has the probe run until ctx ends.
func (p *probe) run(ctx context.Context) {
	pause := unix.NsecToTimespec(int64(look))
	for ctx.Err() == nil {
		p.seen.Store(monotonic())
		_ = unix.Nanosleep(&pause, nil)
	}
}

// late reports whether one of them waits for a processor.
func (all probes) late() bool {
	now := monotonic()
	for k := range all {
		if time.Duration(now-all[k].seen.Load()) > look+delayed {
			return true
		}
	}
	return false
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return t.Nano()
}
