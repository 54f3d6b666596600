// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// tries is how often somebody submits who gets no answer.
const tries = 20

// submitAll submits what the plan has, each in its moment.
func (r *runner) submitAll(ctx context.Context) {
	for i := range r.plan.Submissions {
		if !r.until(ctx, r.plan.Submissions[i].At) {
			return
		}
		r.clients.Go(func() { r.submit(ctx, i) })
	}
}

func (r *runner) submit(ctx context.Context, number int) {
	s := &r.plan.Submissions[number]
	for try := 1; try <= tries && ctx.Err() == nil; try++ {
		a := r.attempt(ctx, s, Key{Submission: number, Try: try})
		r.note(func(o *Outcome) {
			o.Attempts = append(o.Attempts, a)
			switch {
			case s.Form != Batch:
				r.over[a.Key] = time.Now()
			case a.Accepted:
				r.accepted[number] = a
			}
		})
		if a.Accepted || s.Form != Batch || !wait(ctx, time.Second) {
			return
		}
	}
}

func (r *runner) attempt(ctx context.Context, s *Submission, k Key) Attempt {
	args := s.Args
	if r.options.Mode == Stock && s.Stock != nil {
		args = s.Stock
	}
	argv := append([]string{string(s.Form), "-J", k.Name()}, args...)
	script, stdin := Script(s, k, r.records), ""
	if s.Form == Batch {
		argv, stdin = append(argv, "--parsable", "-o", "/dev/null"), script
	} else {
		argv = append(argv, "sh", "-c", script)
	}
	out, err := r.cluster.RunAs(ctx, r.users[s.User%len(r.users)], stdin, argv...)
	a := Attempt{Key: k, Accepted: err == nil, At: time.Now()}
	switch {
	case err != nil:
		a.Said = strings.TrimSpace(slurmtest.Stderr(err))
		if s.Form == Batch {
			r.options.Say("%v: %s", k, a.Said)
		}
	case s.Form == Batch:
		id, err := strconv.ParseUint(strings.TrimSpace(out), 10, 32)
		if err != nil {
			a.Accepted, a.Said = false, fmt.Sprintf("printed %q", out)
		}
		a.ID = uint32(id)
	}
	return a
}

// actAll has users do what the plan says to their jobs.
func (r *runner) actAll(ctx context.Context) {
	for _, a := range r.plan.Actions {
		if !r.until(ctx, a.At) {
			return
		}
		r.clients.Go(func() { r.act(ctx, a) })
	}
}

// act takes an action, if the job is known by now and still the same: a number may have been
// given again.
func (r *runner) act(ctx context.Context, a Action) {
	r.mu.Lock()
	attempt, ok := r.accepted[a.Of]
	r.mu.Unlock()
	if !ok {
		return
	}
	id := fmt.Sprint(attempt.ID)
	if name, err := r.cluster.Squeue(ctx, "%j", "-j", id); err != nil || !strings.HasPrefix(name, attempt.Key.Name()+"\n") {
		return
	}
	first, second := a.commands(id)
	if !r.do(ctx, a, attempt.Key, first) || second == nil {
		return
	}
	wait(ctx, a.Length)
	// A fault that forgets this is made good by the helper.
	_, _ = r.cluster.Run(ctx, second...)
}

// commands are what an action does, and what undoes it later.
func (a *Action) commands(id string) (first, second []string) {
	switch a.Verb {
	case Update, Spoil:
		return append([]string{"scontrol", "update", "JobId=" + id}, a.Args...), nil
	case Cancel:
		return []string{"scancel", id}, nil
	case Suspend: // only an operator may
		return []string{"scontrol", "suspend", id}, []string{"scontrol", "resume", id}
	case Hold:
		return []string{"scontrol", "hold", id}, []string{"scontrol", "release", id}
	default:
		return []string{"scontrol", string(a.Verb), id}, nil
	}
}

// do runs an action's command and notes it, unless it was surely refused.
func (r *runner) do(ctx context.Context, a Action, k Key, argv []string) bool {
	user := r.users[r.plan.Submissions[a.Of].User%len(r.users)]
	if a.Verb == Suspend {
		user = "root"
	}
	at := time.Now()
	_, err := r.cluster.RunAs(ctx, user, "", argv...)
	// What was refused may be done in part: to some tasks of an array, or the
	// first of several changes.
	unsure := err != nil && (unanswered(err) || a.Verb == Spoil || r.plan.Submissions[a.Of].Tasks > 0)
	if err != nil && !unsure {
		return false
	}
	r.note(func(o *Outcome) { o.Done = append(o.Done, Done{Action: a, Key: k, At: at, Unsure: unsure}) })
	return true
}

// unanswered says whether a command failed in a way that leaves open what slurmctld has done.
func unanswered(err error) bool {
	said := strings.ToLower(slurmtest.Stderr(err))
	return err != nil && slices.ContainsFunc([]string{"contact", "connection", "timed out",
		"zero bytes", "socket", "unspecified", "authentication"},
		func(word string) bool { return strings.Contains(said, word) })
}
