// SPDX-License-Identifier: BSD-3-Clause

// Package rare has lines of a log that strangers can cause, as often as they like.
package rare

import (
	"log/slog"
	"sync"
	"time"
)

// Every is how often a line of one kind is logged at most.
const Every = 10 * time.Second

// A Line is a line of a log that comes at most once in Every, and says how many were left out
// since. It is safe for concurrent use.
type Line struct {
	mu   sync.Mutex
	next time.Time
	left int
}

// Warn logs the line, unless one came shortly before now.
func (r *Line) Warn(log *slog.Logger, now time.Time, text string, args ...any) {
	r.mu.Lock()
	left, due := r.left, !now.Before(r.next)
	if r.left++; due {
		r.left, r.next = 0, now.Add(Every)
	}
	r.mu.Unlock()
	if !due {
		return
	}
	if left > 0 {
		args = append(args, "left_out", left)
	}
	log.Warn(text, args...)
}
