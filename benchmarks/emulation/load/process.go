// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is what a process has used so far.
type usage struct {
	CPU          time.Duration
	RSS, PeakRSS int64 // bytes
}

// tick is the unit of /proc/PID/stat's times.
const tick = 10 * time.Millisecond

// usageOf reads /proc.
func usageOf(pid int) (usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return usage{}, err
	}
	return parseUsage(string(stat), string(status))
}

func parseUsage(stat, status string) (u usage, err error) {
	// The program's name, in brackets, may have blanks and brackets in it.
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return u, fmt.Errorf("%.80q is no line of /proc/PID/stat", stat)
	}
	for _, ticks := range f[11:13] {
		n, err := strconv.ParseInt(ticks, 10, 64)
		if err != nil {
			return u, err
		}
		u.CPU += time.Duration(n) * tick
	}
	for line := range strings.SplitSeq(status, "\n") {
		name, value, _ := strings.Cut(line, ":")
		to := map[string]*int64{"VmRSS": &u.RSS, "VmHWM": &u.PeakRSS}[name]
		if to == nil {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return u, fmt.Errorf("%s: %w", name, err)
		}
		*to = kb << 10
	}
	if u.RSS == 0 || u.PeakRSS == 0 {
		return u, fmt.Errorf("%.80q has no VmRSS and VmHWM", status)
	}
	return u, nil
}

// IdleTime is for how long the processors have had nothing to do so far, all together.
func IdleTime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseIdle(string(text))
}

func parseIdle(stat string) (time.Duration, error) {
	f := strings.Fields(stat)
	if len(f) < 6 || f[0] != "cpu" {
		return 0, fmt.Errorf("%.80q does not begin as /proc/stat", stat)
	}
	var idle time.Duration
	for _, ticks := range f[4:6] { // idle, and waiting for a disk
		n, err := strconv.ParseInt(ticks, 10, 64)
		if err != nil {
			return 0, err
		}
		idle += time.Duration(n) * tick
	}
	return idle, nil
}
