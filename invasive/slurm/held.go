// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Held is a job that Slurm holds until it was negotiated.
type Held struct {
	ID   uint64
	Name string
	// MinCores to MaxCores are the cores that it can use; Kind is rigid, moldable,
	// evolving or malleable.
	MinCores, MaxCores uint32
	Kind               string
	Urgent             bool
	Points             uint32 // its priority
	Submitted          time.Time
	Limit              time.Duration // the longest that it may run; 0: for ever
	Deadline           time.Time     // by when it should have ended; zero: none
}

// Held returns the jobs of a partition that wait for nothing but a negotiation. Those that it can't
// make sense of are told in faults, by their IDs; a partition that has never been set up for the
// plug-ins is full of them.
func (c *Client) Held(ctx context.Context, partition string) (list []Held, faults map[uint64]error, err error) {
	jobs, err := c.squeue(ctx, []string{"JobID", "PriorityLong", "Reason", "Dependency",
		"SubmitTime", "TimeLimit", "Deadline", "Name", "Comment"},
		"--states=pending", "--partition="+partition)
	if err != nil {
		return nil, nil, err
	}
	faults = map[uint64]error{}
	for _, f := range jobs {
		id, err := strconv.ParseUint(f[0], 10, 32)
		if err != nil || id == 0 {
			return nil, nil, fmt.Errorf("squeue: job %q: must be a number", f[0])
		}
		if f[1] != "0" || !strings.HasPrefix(f[2], "JobHeld") || f[3] != "" {
			continue
		}
		h := Held{ID: id, Name: f[7]}
		kept, err := h.read(f[4], f[5], f[6], f[8])
		switch {
		case err != nil:
			faults[id] = err
		case !kept:
			list = append(list, h)
		}
	}
	return list, faults, nil
}

// read returns whether somebody wants it to be held on.
func (h *Held) read(submitted, limit, deadline, comment string) (kept bool, err error) {
	if h.Submitted, err = readTime(submitted); err != nil {
		return false, fmt.Errorf("submitted at %q: %w", submitted, err)
	}
	if h.Limit, err = readLimit(limit); err != nil {
		return false, fmt.Errorf("time limit %q: %w", limit, err)
	}
	if h.Deadline, err = readTime(deadline); err != nil {
		return false, fmt.Errorf("deadline %q: %w", deadline, err)
	}
	note, ok := findNote(comment)
	if !ok {
		return false, fmt.Errorf("its comment has no part %s: was it submitted without the plug-in?", noteKey)
	}
	return h.readNote(note)
}

// noteKey begins the part of a comment that job_submit/aucsched has made of
// what the user asked for.
const noteKey = "invasic="

// findNote returns the first note of a comment, whose parts have ';' between them.
func findNote(comment string) (string, bool) {
	for part := range strings.SplitSeq(comment, ";") {
		if note, ok := strings.CutPrefix(part, noteKey); ok {
			return note, true
		}
	}
	return "", false
}

// readNote reads MIN-MAX,KIND[,urgent][,held],points=N, the one form in which
// the plug-in writes it.
func (h *Held) readNote(note string) (held bool, err error) {
	bad := fmt.Errorf("%s%.60s: must be MIN-MAX,KIND[,urgent][,held],points=N", noteKey, note)
	words := strings.Split(note, ",")
	n := len(words)
	if n < 3 || n > 5 {
		return false, bad
	}
	for _, word := range words[2 : n-1] {
		switch {
		case word == "urgent" && !h.Urgent && !held:
			h.Urgent = true
		case word == "held" && !held:
			held = true
		default:
			return false, bad
		}
	}
	low, high, _ := strings.Cut(words[0], "-")
	points, is := strings.CutPrefix(words[n-1], "points=")
	for _, f := range []struct {
		text string
		to   *uint32
	}{{low, &h.MinCores}, {high, &h.MaxCores}, {points, &h.Points}} {
		v, err := strconv.ParseUint(f.text, 10, 31)
		if err != nil {
			return false, bad
		}
		*f.to = uint32(v)
	}
	h.Kind = words[1]
	if !is || h.MinCores == 0 || h.MaxCores < h.MinCores {
		return false, bad
	}
	return held, nil
}

// readTime reads seconds since 1970; what isn't known, or not set, is the zero time.
func readTime(text string) (time.Time, error) {
	if text == "" || text == "N/A" || text == "Unknown" || text == "NONE" {
		return time.Time{}, nil
	}
	s, err := strconv.ParseInt(text, 10, 64)
	if err != nil || s < 0 {
		return time.Time{}, fmt.Errorf("must be seconds since 1970")
	}
	return time.Unix(s, 0), nil
}

// readLimit reads [DAYS-][[HOURS:]MINUTES:]SECONDS.
func readLimit(text string) (time.Duration, error) {
	if text == "UNLIMITED" || text == "NOT_SET" || text == "" || text == "N/A" {
		return 0, nil
	}
	bad := fmt.Errorf("must be DAYS-HOURS:MINUTES:SECONDS")
	days, clock, found := strings.Cut(text, "-")
	if !found {
		days, clock = "0", text
	}
	d, err := strconv.ParseUint(days, 10, 20)
	parts := strings.Split(clock, ":")
	if err != nil || len(parts) > 3 {
		return 0, bad
	}
	sum := uint64(0)
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 20)
		if err != nil {
			return 0, bad
		}
		sum = sum*60 + n
	}
	return time.Duration(d*86400+sum) * time.Second, nil
}
