// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// StuckAfter is how long after its end, as its script noted it, a job may still run for slurmctld.
const StuckAfter = time.Minute

// Watch is what was seen while the plan ran.
type Watch struct {
	Memory []Sample // of slurmctld
	// jobs that ran for slurmctld longer than StuckAfter after their end, and how long
	Stuck map[string]time.Duration
	// NotOn are the seconds in which aucsched was not on, by state and words; the first
	// seconds of a slurmctld do not count.
	NotOn map[string]int
}

// Sample is the memory of a process.
type Sample struct {
	At  time.Duration // since the beginning
	Pid int
	KB  int // resident
}

// sampleEvery is the time from sample to sample, young what is a new slurmctld.
const (
	sampleEvery = 3 * time.Second
	young       = 10 * time.Second
)

// watch samples until ctx ends.
func (r *runner) watch(ctx context.Context) {
	r.note(func(o *Outcome) { o.Watch.Stuck, o.Watch.NotOn = map[string]time.Duration{}, map[string]int{} })
	since, last := time.Now(), 0
	for wait(ctx, sampleEvery) {
		pid := r.cluster.ControllerPid()
		if pid != last {
			since, last = time.Now(), pid
		}
		if pid == 0 {
			continue
		}
		if kb, err := residentKB(pid); err == nil {
			r.note(func(o *Outcome) {
				o.Watch.Memory = append(o.Watch.Memory, Sample{time.Since(r.began), pid, kb})
			})
		}
		if time.Since(since) < young {
			continue
		}
		r.watchState(pid)
		r.watchStuck(ctx)
	}
}

func (r *runner) watchState(pid int) {
	if r.options.Mode != Auction {
		return
	}
	s, err := r.cluster.Status()
	what := ""
	switch {
	case err != nil:
		what = err.Error()
	case s.Pid == pid && s.State != "on":
		what = s.State + ": " + s.StateText
	default:
		return
	}
	r.note(func(o *Outcome) { o.Watch.NotOn[what] += int(sampleEvery / time.Second) })
}

// watchStuck looks for jobs that run for slurmctld and have ended.
func (r *runner) watchStuck(ctx context.Context) {
	jobs, err := r.jobs(ctx)
	text, err2 := os.ReadFile(r.records)
	if errors.Join(err, err2) != nil {
		return
	}
	records, err := ParseRecords(string(text))
	if err != nil {
		return // half a line: the next time
	}
	last := map[Key]Record{}
	for _, rec := range records {
		last[rec.Key] = rec
	}
	for _, j := range jobs {
		rec, ok := last[j.key]
		if late := time.Since(rec.At); ok && rec.End && j.state == "RUNNING" && late > StuckAfter {
			r.note(func(o *Outcome) { o.Watch.Stuck[j.key.String()] = late })
		}
	}
}

// residentKB is a process's memory.
func residentKB(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm: %q", text)
	}
	pages, err := strconv.Atoi(fields[1])
	return pages * os.Getpagesize() / 1024, err
}

// queued is a line of squeue.
type queued struct {
	id     string // 17_3 of an array's task
	key    Key
	state  string
	reason string
	line   string
}

// jobs is the queue; jobs of others are left out.
func (r *runner) jobs(ctx context.Context) ([]queued, error) {
	out, err := r.cluster.Squeue(ctx, "%i|%j|%T|%r")
	if err != nil {
		return nil, err
	}
	return parseQueue(out), nil
}

func parseQueue(text string) []queued {
	var jobs []queued
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Split(line, "|")
		if len(f) != 4 {
			continue
		}
		key, ok := ParseName(f[1])
		if !ok {
			continue
		}
		_, task, _ := strings.Cut(f[0], "_")
		key.Task, _ = strconv.Atoi(task) // none: no array
		jobs = append(jobs, queued{id: f[0], key: key, state: f[2], reason: f[3], line: line})
	}
	return jobs
}
