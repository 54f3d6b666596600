// SPDX-License-Identifier: BSD-3-Clause

// Package pending says why a job of a running Slurm waits, and what would let it start. It asks
// Slurm's own commands, with the rights of whoever asks, and reads what aucsched's plug-in has
// noted in the job's record.
package pending

import (
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// fields is one record of scontrol's, by key.
type fields map[string]string

// parseRecords reads what "scontrol show" prints: records that are set apart by an empty line, or
// begin with a line of the key first.
func parseRecords(text, first string) []fields {
	var all []fields
	var f fields
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), first+"=") {
			f = fields{}
			all = append(all, f)
		}
		if f != nil {
			AddFields(f, line)
		}
	}
	return all
}

// text is a value, or "" where Slurm prints that there is none.
func (f fields) text(key string) string {
	switch v := f[key]; v {
	case "(null)", "N/A", "None", "none", "Unknown":
		return ""
	default:
		return v
	}
}

// count is a number that may have a suffix of units, as memory, or be a range, of which it is the
// low end; 0 where there is none.
func (f fields) count(key string) int { n, _ := parseCount(f.text(key)); return n }

// parseCount reads "8", "8-16" as 8 and 16, and "4000M" in MB.
func parseCount(text string) (low, high int) {
	a, b, isRange := strings.Cut(text, "-")
	low = number(a)
	if high = low; isRange {
		high = number(b)
	}
	return low, high
}

// number reads 16, and memory with K, M, G or T in MB.
func number(text string) int {
	unit := 1.0
	switch {
	case strings.HasSuffix(text, "K"):
		unit = 1.0 / 1024
	case strings.HasSuffix(text, "G"):
		unit = 1024
	case strings.HasSuffix(text, "T"):
		unit = 1024 * 1024
	}
	v, err := strconv.ParseFloat(strings.TrimRight(text, "KMGT"), 64)
	if err != nil || v < 0 || v > 1<<40 {
		return 0
	}
	return int(v * unit)
}

// time is a moment as Slurm prints it, in this machine's zone; zero where there is none.
func (f fields) time(key string) time.Time {
	t, err := time.ParseInLocation("2006-01-02T15:04:05", f.text(key), time.Local)
	if err != nil {
		return time.Time{}
	}
	return t
}

// minutes is a time limit as Slurm prints it, "1-02:30:00"; 0: none.
func (f fields) minutes(key string) time.Duration {
	seconds, _ := conf.ParseSpan(f.text(key)) // or there is none
	return time.Duration(seconds) * time.Second
}
