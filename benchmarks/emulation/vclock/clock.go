// SPDX-License-Identifier: BSD-3-Clause

// Package vclock is a clock that runs at another rate than the world's, for processes
// that know nothing of it: a library put before libc (LD_PRELOAD) gives them the time
// from a page of memory that they share, and cuts their sleeps and waits accordingly.
//
//	clock, err := vclock.Create(path, time.Unix(1767225600, 0), 1000)
//	if err != nil { ... }
//	defer clock.Close()
//	cmd.Env = append(cmd.Env, vclock.Env(library, path)...)
//	...
//	clock.SetRate(200) // from now on, for all of them
//
// What is scaled and what is not is said in preload/vclock.c.
package vclock

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FileVariable is the environment variable that names the page's file.
const FileVariable = "AUCSCHED_VCLOCK"

// MostRate is the greatest rate of a clock.
const MostRate = 1e6

// page is struct vclock_page of vclock.h.
type page struct {
	magic, seq           uint64
	mono0, virt0         int64
	rateMilli, mostMilli int64
}

const (
	pageMagic = 0x6b636f6c63637561
	pageSize  = 4096
)

// Clock is the writer of a page. Its methods may be used by several goroutines.
type Clock struct {
	mu   sync.Mutex
	mem  []byte
	page *page
}

// Create makes the file of a page, which must not exist, with the clock at start, at
// rate 1. The rate will be at most most, 1 to [MostRate].
func Create(path string, start time.Time, most float64) (*Clock, error) {
	if !(most >= 1 && most <= MostRate) {
		return nil, fmt.Errorf("vclock: rate %g: must be from 1 to %g", most, MostRate)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("vclock: %w", err)
	}
	defer f.Close()
	if err := f.Truncate(pageSize); err != nil {
		return nil, fmt.Errorf("vclock: %w", err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("vclock: %s: %w", path, err)
	}
	c := &Clock{mem: mem, page: (*page)(unsafe.Pointer(&mem[0]))}
	*c.page = page{mono0: monotonic(), virt0: start.UnixNano(), rateMilli: 1000, mostMilli: int64(most * 1000)}
	atomic.StoreUint64(&c.page.magic, pageMagic)
	return c, nil
}

// Close lets go of the page. The file stays, and the clock of those who have it runs on.
func (c *Clock) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.page == nil {
		return nil
	}
	c.page = nil
	return unix.Munmap(c.mem)
}

// Env is what the environment of a process needs to live by the clock in the file
// path: library is vclock.so.
func Env(library, path string) []string {
	return []string{"LD_PRELOAD=" + library, FileVariable + "=" + path}
}

// Now is the virtual time; the zero time after [Clock.Close].
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.page == nil {
		return time.Time{}
	}
	return time.Unix(0, c.page.at(monotonic()))
}

// Rate is how many virtual seconds pass in a real one; 0 after [Clock.Close].
func (c *Clock) Rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.page == nil {
		return 0
	}
	return float64(c.page.rateMilli) / 1000
}

// SetRate changes the rate, from now on. It must be from 0.001 to the clock's most.
func (c *Clock) SetRate(rate float64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.page
	if p == nil {
		return errors.New("vclock: closed")
	}
	milli := int64(math.Round(rate * 1000))
	if milli < 1 || milli > p.mostMilli {
		return fmt.Errorf("vclock: rate %g: must be from 0.001 to %g", rate, float64(p.mostMilli)/1000)
	}
	if milli == p.rateMilli {
		return nil
	}
	// The moment of the change lies within the bracket: whoever saw a later moment at the
	// old rate tries again, and no reader's time goes backwards.
	atomic.AddUint64(&p.seq, 1)
	mono := monotonic()
	virt := p.at(mono)
	atomic.StoreInt64(&p.mono0, mono)
	atomic.StoreInt64(&p.virt0, virt)
	atomic.StoreInt64(&p.rateMilli, milli)
	atomic.AddUint64(&p.seq, 1)
	return nil
}

// at is the virtual time at a monotonic one. In whole seconds and the rest, so that
// nothing overflows.
func (p *page) at(mono int64) int64 {
	d := mono - p.mono0
	const second = int64(time.Second)
	return p.virt0 + d/second*p.rateMilli*(second/1000) + d%second*p.rateMilli/1000
}

func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // every Linux has it
	}
	return t.Nano()
}
