// SPDX-License-Identifier: BSD-3-Clause

//go:build !unix

package highs

import "os/exec"

func ownGroup(*exec.Cmd) {}

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }
