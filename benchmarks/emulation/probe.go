package emulation

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// probe finds out whether daemons wait for a processor: it has their urgency, and wants one every
// look. A daemon that waits has used no processor time, and would pass for idle.
type probe struct{ seen atomic.Int64 } // when it last ran, of the monotonic clock

// delayed is how long after it wanted a processor a probe is late.
const delayed = 2 * time.Millisecond

// run has the probe run until ctx ends.
func (p *probe) run(ctx context.Context) {
	defer urgently(daemonUrgency)()
	pause := unix.NsecToTimespec(int64(look))
	for ctx.Err() == nil {
		p.seen.Store(monotonic())
		_ = unix.Nanosleep(&pause, nil)
	}
}

// late reports whether the probe waits for a processor.
func (p *probe) late() bool {
	return time.Duration(monotonic()-p.seen.Load()) > look+delayed
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return t.Nano()
}
