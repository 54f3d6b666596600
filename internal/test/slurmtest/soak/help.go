// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"context"
	"strings"
	"time"
)

// patience is how long a job may be held or suspended before somebody looks after it.
const patience = 20 * time.Second

// help does what stock Slurm wants of an administrator after faults: it drains nodes and holds jobs
// that it has launched a second time, has jobs wait two minutes that it requeues, forgets that
// somebody released or resumed a job, and keeps the nodes of an srun that ended while it was away.
func (r *runner) help(ctx context.Context) {
	since := map[string]time.Time{} // when a job was first seen to need help
	for wait(ctx, sampleEvery) {
		r.helpNodes(ctx)
		jobs, err := r.jobs(ctx)
		if err != nil {
			continue
		}
		now := map[string]time.Time{}
		for _, j := range jobs {
			argv, after := helpFor(j)
			if r.stray(j) {
				argv, after = []string{"cancel", j.id}, 0
			}
			if argv == nil || r.spoiled(j.key) {
				continue
			}
			id := strings.Join(argv, " ")
			if now[id] = since[id]; now[id].IsZero() {
				now[id] = time.Now()
			}
			if time.Since(now[id]) < after {
				continue
			}
			if argv[0] == "cancel" {
				err = r.cluster.Scancel(ctx, argv[1:]...)
			} else {
				_, err = r.cluster.Scontrol(ctx, argv...)
			}
			if err == nil {
				r.note(func(o *Outcome) { o.Helps = append(o.Helps, Help{time.Now(), argv[0], j.line}) })
			}
		}
		since = now
	}
}

// helpFor is the command of scontrol that gets a job on, or nil, and how long it is waited with:
// the job's user may be about to do the same.
func helpFor(j queued) (argv []string, after time.Duration) {
	switch {
	case j.state == "SUSPENDED":
		return []string{"resume", j.id}, patience
	case strings.Contains(j.reason, "launch failed"):
		return []string{"release", j.id}, 0
	case strings.Contains(strings.ToLower(j.reason), "held"):
		return []string{"release", j.id}, patience
	case j.reason == "BeginTime":
		return []string{"update", "JobId=" + j.id, "StartTime=now"}, 0
	}
	return nil, 0
}

// stray says whether a job's srun or salloc is over for good. One that ends while slurmctld is away
// can't say so, and gives up; Slurm keeps the nodes for it until the job's time is over.
func (r *runner) stray(j queued) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	over, ok := r.over[j.key]
	return ok && j.state == "RUNNING" && time.Since(over) > patience
}

// spoiled says whether a user has set something that keeps the job from running.
func (r *runner) spoiled(k Key) bool {
	k.Task = 0
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.out.Done {
		if d.Key == k && d.Action.Verb == Spoil {
			return true
		}
	}
	return false
}

// helpNodes resumes nodes that are drained or down, but for the one that the plan has drained. A
// kill may make slurmctld forget that the plan resumed it.
func (r *runner) helpNodes(ctx context.Context) {
	out, err := r.cluster.Sinfo(ctx, "%N|%T|%E")
	if err != nil {
		return
	}
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.SplitN(line, "|", 3)
		if len(f) != 3 || !strings.HasPrefix(f[1], "drain") && !strings.HasPrefix(f[1], "down") {
			continue
		}
		what := "resume node"
		if f[2] == drainReason {
			if what = "resume again"; r.draining.Load() {
				continue
			}
		}
		if _, err := r.cluster.Scontrol(ctx, "update", "NodeName="+f[0], "State=RESUME"); err == nil {
			r.note(func(o *Outcome) { o.Helps = append(o.Helps, Help{time.Now(), what, line}) })
		}
	}
}

// drainReason is that of [slurmtest.Cluster.DrainNode].
const drainReason = "test"
