// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Alone keeps other processes from emulating on a machine. The governors of two would be as
// urgent as each other, and Go's threads of one wait for locks that a thread of the other
// keeps from being given back: both spin, and clocks run on while nobody looks. Runs of one
// process may go on together.
type Alone struct {
	// of an abstract socket, with the at sign: it ends with its process, however that ends
	name string
	mu   sync.Mutex
	held net.Listener
}

// NewAlone is the claim that all emulations on a machine share.
func NewAlone() *Alone { return &Alone{name: "@aucsched-emulate"} }

// BusyError says that another process emulates.
type BusyError struct{ Pid int } // 0 if that is not known

func (e *BusyError) Error() string {
	who := "another process"
	if e.Pid > 0 {
		who = fmt.Sprintf("process %d", e.Pid)
	}
	return who + " emulates on this machine, and two at once are in each other's way: have one do all of it, with -j, or wait for its end"
}

// Enter claims the machine for this process, if it has not done so yet. It returns a
// [*BusyError] if another has it.
func (a *Alone) Enter() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held != nil {
		return nil
	}
	l, err := net.Listen("unix", a.name)
	if errors.Is(err, syscall.EADDRINUSE) {
		return &BusyError{Pid: listener(a.name)}
	}
	if err != nil {
		return fmt.Errorf("socket %s: %w", a.name, err)
	}
	a.held = l
	return nil
}

// Leave takes the claim back, if there is one.
func (a *Alone) Leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held != nil {
		_ = a.held.Close() // nothing was written to it
		a.held = nil
	}
}

// listener is the process that listens at a socket, 0 if there is none.
func listener(name string) (pid int) {
	c, err := net.Dial("unix", name)
	if err != nil {
		return 0
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}
