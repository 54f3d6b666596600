// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// urgent has a process run before whatever is less so, where that is allowed.
func urgent(pid int, urgency uint32) {
	_ = unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: urgency}, 0)
}

// endWithThread has a process killed when the thread that starts it ends.
func endWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// asUser has a process run as somebody; nil is whoever starts it.
func asUser(attr *syscall.SysProcAttr, as *account) {
	if as != nil {
		attr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid}
	}
}

// mapShared maps the first bytes of a file, for reading and writing; unmap ends that.
func mapShared(file *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func unmap(mem []byte) error { return unix.Munmap(mem) }
