// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"syscall"
	"time"
)

// peakBytes is the most memory that an ended process has had at a time.
func peakBytes(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) * 1024 // in KiB on Linux
	}
	return 0
}

// processorTime is what this program has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
