// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Watcher is the referee of a cluster: once a second it reads all jobs and checks
// them with [CheckJobs].
type Watcher struct {
	cluster *Cluster
	machine Machine
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	looking sync.Mutex
	asks    map[uint32]Ask
	report  Report
}

// Report is what a [Watcher] saw.
type Report struct {
	Looks      int // times that it has read all jobs
	Failed     int // times that slurmctld did not answer
	Violations []Violation
	More       int // violations beyond those kept
	// States has each job's states, in the order in which they were seen.
	States map[uint32][]Seen
	// MostRunning is the largest number of jobs that ran at once.
	MostRunning int
}

// Seen is a state that a job was first seen in at a time.
type Seen struct {
	State string
	At    time.Time
}

const keptViolations = 100

// Watch starts a watcher; it ends with ctx or [Watcher.Stop].
func (c *Cluster) Watch(ctx context.Context) *Watcher {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	machine := c.cfg.Machine()
	c.mu.Unlock()
	w := &Watcher{cluster: c, machine: machine, cancel: cancel, done: make(chan struct{}),
		asks: map[uint32]Ask{}, report: Report{States: map[uint32][]Seen{}}}
	go w.loop(ctx)
	return w
}

func (w *Watcher) loop(ctx context.Context) {
	defer close(w.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.Look(ctx) // a slurmctld that is down is counted in Report.Failed
		}
	}
}

// Expect tells the watcher what a job, or the tasks of an array, asked for.
func (w *Watcher) Expect(id uint32, ask Ask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asks[id] = ask
}

// Look checks all jobs now and returns them.
func (w *Watcher) Look(ctx context.Context) ([]Job, error) {
	w.looking.Lock() // so that states are noted in the order in which they were read
	defer w.looking.Unlock()
	jobs, err := w.cluster.Jobs(ctx)
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			w.report.Failed++
		}
		return nil, err
	}
	w.report.Looks++
	found := CheckJobs(w.machine, jobs, w.asks, now)
	room := keptViolations - len(w.report.Violations)
	w.report.Violations = append(w.report.Violations, found[:min(room, len(found))]...)
	w.report.More += max(len(found)-room, 0)
	running := 0
	for i := range jobs {
		j := &jobs[i]
		if j.State == "RUNNING" {
			running++
		}
		seen := w.report.States[j.ID]
		if len(seen) == 0 || seen[len(seen)-1].State != j.State {
			w.report.States[j.ID] = append(seen, Seen{j.State, now})
		}
	}
	w.report.MostRunning = max(w.report.MostRunning, running)
	return jobs, nil
}

// Stop ends the watcher and returns what it saw.
func (w *Watcher) Stop() Report {
	w.cancel()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.report
}

// Err is nil if nothing was wrong and the watcher has seen something.
func (r *Report) Err() error {
	if r.Looks == 0 {
		return errors.New("the referee never saw the jobs")
	}
	var errs []error
	for _, v := range r.Violations {
		errs = append(errs, errors.New(v.String()))
	}
	if r.More > 0 {
		errs = append(errs, fmt.Errorf("and %d more", r.More))
	}
	return errors.Join(errs...)
}

// Runs checks with [CheckRuns] what became of jobs whose scripts are from
// [Cluster.Script].
func (c *Cluster) Runs(ids []uint32) (Runs, error) {
	starts, err := c.Starts()
	if err != nil {
		return Runs{}, err
	}
	ended, err := c.Ended()
	if err != nil {
		return Runs{}, err
	}
	c.mu.Lock()
	kills := slices.Clone(c.kills)
	c.mu.Unlock()
	purged := c.purged()
	for _, s := range starts {
		delete(purged, s.ID)
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id uint32) bool { return purged[id] })
	return CheckRuns(ids, starts, ended, kills), nil
}

var vestigial = regexp.MustCompile(`Purging vestigial job script \S*/job0*(\d+)/`)

// purged are the jobs whose scripts slurmd took for leftovers. It does so with one that is just
// being launched, if it looks for its steps then, as for a reconfiguration: the step's socket is
// there, and nobody listens yet (_step_connect and _handle_stray_script of stepd_api.c). The job
// fails before it begins, with any scheduler.
func (c *Cluster) purged() map[uint32]bool {
	ids := map[uint32]bool{}
	for _, found := range vestigial.FindAllStringSubmatch(c.Logs("slurmd.log", 64<<20), -1) {
		if id, err := strconv.ParseUint(found[1], 10, 32); err == nil {
			ids[uint32(id)] = true
		}
	}
	return ids
}

// RanOnce is nil if every job ran exactly once and completed.
func (c *Cluster) RanOnce(ids []uint32) error {
	runs, err := c.Runs(ids)
	if err == nil && len(runs.Faults) > 0 {
		err = errors.New(strings.Join(runs.Faults, "\n"))
	}
	return err
}
