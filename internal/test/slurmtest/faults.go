// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

//go:embed faults/*.c faults/*.h
var faultSources embed.FS

// Faults are the faults of a cluster's daemons, which Config.Faults has it built with: calls of
// slurmctld on its files below StateSaveLocation that are slow or fail, and a wall clock
// that was set. They change at once, and outlive slurmctld. What Go's runtime asks the
// kernel by itself, as in libaucsched.so, has none.
type Faults struct {
	mu   sync.Mutex
	mem  []byte
	page *faultPage
}

// FileOp is a kind of calls on files.
type FileOp int

// In the order of faults.h.
const (
	OpOpen FileOp = iota // open, creat, fopen
	OpWrite
	OpFsync
	OpLink
	OpUnlink
	OpRename
	OpStat // stat, fstat, access
	fileOps
)

// String is the name of a call of the kind.
func (op FileOp) String() string {
	if op < 0 || op >= fileOps {
		return fmt.Sprintf("FileOp(%d)", int(op))
	}
	return [...]string{"open", "write", "fsync", "link", "unlink", "rename", "stat"}[op]
}

// Fault is what becomes of the calls of one kind.
type Fault struct {
	// of files whose path below StateSaveLocation has this in it, at most 63 bytes; "": all
	Name  string
	Delay time.Duration // it takes so much longer, in whole microseconds
	Error syscall.Errno // it fails so; 0: it does not fail
	Skip  int           // so many calls are let pass first
	Times int           // then so many have the fault; 0: all
	Part  int           // bytes that a longer write writes instead of failing
}

// faultOp and faultPage are op_t and page_t of faults.h.
type faultOp struct {
	on, delayUS, error, skip, times, part, calls, hits int64
	name                                               [64]byte
}

type faultPage struct {
	shiftS int64
	dir    [256]byte
	ops    [fileOps]faultOp
}

// Set changes what becomes of the calls of one kind, and counts their hits from 0. The
// zero Fault is none.
func (f *Faults) Set(op FileOp, fault Fault) error {
	switch {
	case op < 0 || op >= fileOps:
		return fmt.Errorf("slurmtest: faults: no operation %d", op)
	case len(fault.Name) >= len(faultOp{}.name) || fault.Delay < 0 || fault.Skip < 0 || fault.Times < 0 || fault.Part < 0:
		return fmt.Errorf("slurmtest: faults: out of range: %+v", fault)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.page == nil {
		return errors.New("slurmtest: faults: the cluster is stopped")
	}
	o := &f.page.ops[op]
	atomic.StoreInt64(&o.on, 0)
	atomic.StoreInt64(&o.delayUS, fault.Delay.Microseconds())
	atomic.StoreInt64(&o.error, int64(fault.Error))
	atomic.StoreInt64(&o.skip, int64(fault.Skip))
	atomic.StoreInt64(&o.times, int64(fault.Times))
	atomic.StoreInt64(&o.part, int64(fault.Part))
	atomic.StoreInt64(&o.calls, 0)
	atomic.StoreInt64(&o.hits, 0)
	o.name = [64]byte{}
	copy(o.name[:], fault.Name)
	if fault != (Fault{}) {
		atomic.StoreInt64(&o.on, 1)
	}
	return nil
}

// Clear ends all faults; the clock is right again.
func (f *Faults) Clear() error {
	errs := []error{f.ShiftClock(0)}
	for op := range fileOps {
		errs = append(errs, f.Set(op, Fault{}))
	}
	return errors.Join(errs...)
}

// Hits is how many calls have had the fault that was set last.
func (f *Faults) Hits(op FileOp) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.page == nil || op < 0 || op >= fileOps {
		return 0
	}
	return atomic.LoadInt64(&f.page.ops[op].hits)
}

// FullDisk has calls that would take room fail, until Clear: what is written, made or linked.
func (f *Faults) FullDisk() error {
	full := Fault{Error: syscall.ENOSPC}
	return errors.Join(f.Set(OpWrite, full), f.Set(OpLink, full), f.Set(OpRename, full))
}

// ShiftClock sets the wall clock of Slurm's daemons ahead of this machine's by so many whole
// seconds, or behind it if by is negative. Their monotonic clock goes on.
func (f *Faults) ShiftClock(by time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.page == nil {
		return errors.New("slurmtest: faults: the cluster is stopped")
	}
	atomic.StoreInt64(&f.page.shiftS, int64(by/time.Second))
	return nil
}

func (f *Faults) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.page != nil {
		f.page = nil
		_ = unmap(f.mem) // it is of no use any more
	}
}

// Faults are the cluster's; nil unless Config.Faults.
func (c *Cluster) Faults() *Faults { return c.faults }

// makeFaults builds the library, and makes the page for it.
func (c *Cluster) makeFaults() error {
	compiler, err := lookPath("cc")
	if err != nil {
		return &ErrMissing{"faults need a C compiler (Debian: apt-get install gcc libc6-dev)"}
	}
	source := c.path("faults.src")
	if err := os.CopyFS(source, faultSources); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(source, "faults", "*.c"))
	if err != nil {
		return err
	}
	args := append([]string{"-std=gnu11", "-g", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-fPIC", "-shared",
		"-fvisibility=hidden", "-o", c.path("faults.so")}, files...)
	if out, err := exec.Command(compiler, append(args, "-ldl")...).CombinedOutput(); err != nil {
		return fmt.Errorf("faults: %w: %s", err, out)
	}
	return c.makeFaultPage()
}

func (c *Cluster) makeFaultPage() error {
	file, err := os.OpenFile(c.path("faults"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if c.cfg.SlurmUser != "root" {
		as, err := accountOf(c.cfg.SlurmUser)
		if err != nil {
			return err
		}
		if err := file.Chown(int(as.uid), int(as.gid)); err != nil {
			return err
		}
	}
	const size = int(unsafe.Sizeof(faultPage{}))
	if err := file.Truncate(int64(size)); err != nil {
		return err
	}
	mem, err := mapShared(file, size)
	if err != nil {
		return err
	}
	f := &Faults{mem: mem, page: (*faultPage)(unsafe.Pointer(&mem[0]))}
	copy(f.page.dir[:], c.path("state")+"/") // checkDir has bounded it
	c.faults = f
	return nil
}

// faultEnv is what a daemon's environment needs for its faults.
func (c *Cluster) faultEnv() []string {
	if c.faults == nil {
		return nil
	}
	return []string{"LD_PRELOAD=" + c.path("faults.so"), "AUCSCHED_FAULTS=" + c.path("faults")}
}
