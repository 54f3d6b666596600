// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package highs

import (
	"os/exec"
	"syscall"
)

// ownGroup has a process start a group of its own, so that what it starts itself, as a
// script does, can be killed with it.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process that has not been waited for, and its group.
func killGroup(c *exec.Cmd) {
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	_ = c.Process.Kill()
}
