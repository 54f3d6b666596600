// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"syscall"
)

// peakBytes is the most memory that an ended process has had at a time.
func peakBytes(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) * 1024 // in KiB on Linux
	}
	return 0
}
