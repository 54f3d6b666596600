// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Result is what a run measured, and how faithful it was.
type Result struct {
	Metrics *sim.Result `json:"metrics"`
	// Jobs were submitted.
	Jobs int `json:"jobs"`
	// NotCompleted counts the runs of jobs that ended otherwise, by how.
	NotCompleted map[string]int `json:"not_completed,omitempty"`
	// Overrun is what jobs lasted beyond their duration, in virtual seconds: Slurm's way
	// of starting and ending them, and the clock's faults.
	Overrun Spread `json:"overrun_s"`
	// DurationMean is that of the jobs.
	DurationMean float64 `json:"duration_mean_s"`
	// Late is by how much submissions were, in virtual seconds.
	Late Spread  `json:"late_s"`
	Rate float64 `json:"rate"`
	Busy float64 `json:"busy_rate"`
	// FastSeconds and SlowSeconds are real time with the clock at Rate and slower.
	FastSeconds float64 `json:"fast_s"`
	SlowSeconds float64 `json:"slow_s"`
	WallSeconds float64 `json:"wall_s"`
	Slurm       Slurm   `json:"slurm"`
	// Points is by how many points Slurm's priorities at the jobs' starts differ from age and size
	// as [replay.Multifactor] has them; nil with basic priorities.
	Points *Spread `json:"points,omitempty"`
	// Faults say why the run must not be believed; none: it may.
	Faults []string `json:"faults,omitempty"`

	// Lives are the jobs that completed, in the order of the completion log.
	Lives []Life `json:"lives"`

	records []sim.Record
}

// Life is what became of a job: its place in the workload, and seconds of its time. Its
// nodes are runs of first, last, cores and GPUs a node.
type Life struct {
	Job   int      `json:"job"`
	Start int64    `json:"start"`
	End   int64    `json:"end"`
	Segs  [][4]int `json:"segs"`
}

func lifeOf(job int, r *sim.Record) Life {
	l := Life{Job: job, Start: r.Start, End: r.End}
	for _, s := range r.Segs {
		l.Segs = append(l.Segs, [4]int{int(s.First), int(s.Last), int(s.Cores), int(s.GPUs)})
	}
	return l
}

// Replay tells hear of all jobs that completed: those of the workload that was run.
func (r *Result) Replay(jobs []workload.Job, hear func(sim.Record)) error {
	for _, l := range r.Lives {
		if l.Job < 0 || l.Job >= len(jobs) {
			return fmt.Errorf("job %d is not of the workload of %d", l.Job, len(jobs))
		}
		rec := sim.Record{Job: &jobs[l.Job], Submit: jobs[l.Job].Submit, Start: l.Start, End: l.End}
		for _, s := range l.Segs {
			rec.Segs = append(rec.Segs, nodeset.Segment{First: int32(s[0]), Last: int32(s[1]), Cores: uint16(s[2]), GPUs: uint8(s[3])})
		}
		hear(rec)
	}
	return nil
}

// Slurm is what slurmctld says of itself at the end.
type Slurm struct {
	ControllerCPU float64          `json:"slurmctld_cpu_s"`
	Main          slurmtest.Cycles `json:"main"`
	Backfill      slurmtest.Cycles `json:"backfill"`
	// Auction is aucsched's own status; nil under stock backfill.
	Auction *slurmtest.Status `json:"auction,omitempty"`
}

// Spread is the mean and the maximum of some figures.
type Spread struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

func spread(x []float64) (s Spread) {
	for i, v := range x {
		s.Mean += v / float64(len(x))
		if i == 0 || v > s.Max {
			s.Max = v
		}
	}
	return s
}

// What a faithful run may have at most.
const (
	mostOverrun = 0.01 // of the mean duration, in the mean
	mostLate    = 5.0  // seconds, of a submission in the mean
	mostCycle   = 0.8  // of the interval, a scheduling cycle in the mean
	// of priority, in the mean: they are computed once a minute, which is a point
	mostPoints = 2.0
)

// backfillInterval is how many seconds after a pass stock backfill begins the next, by
// SchedulerParameters.
func backfillInterval(parameters string) int {
	interval := 30 // Slurm's default
	for p := range strings.SplitSeq(parameters, ",") {
		if v, ok := strings.CutPrefix(p, "bf_interval="); ok {
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				interval = n
			}
		}
	}
	return interval
}

// faults are the reasons to reject the run; interval is backfill's, in seconds.
func (r *Result) faults(interval int) (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if n := r.Jobs - len(r.records); n > 0 {
		add("%d of %d jobs did not complete (%v)", n, r.Jobs, r.NotCompleted)
	}
	if r.Overrun.Mean > mostOverrun*r.DurationMean {
		add("jobs lasted %.1f s beyond their duration in the mean, more than %.0f%% of it (%.0f s)",
			r.Overrun.Mean, 100*mostOverrun, r.DurationMean)
	}
	if r.Late.Mean > mostLate {
		add("jobs were submitted %.1f s late in the mean", r.Late.Mean)
	}
	if r.Points != nil && r.Points.Mean > mostPoints {
		add("priorities were %.1f points off what age and size give in the mean, %.0f at most", r.Points.Mean, r.Points.Max)
	}
	if c := float64(r.Slurm.Backfill.Mean) / 1e6; r.Slurm.Auction == nil && c > mostCycle*float64(interval) {
		add("a cycle of backfill took %.1f s in the mean, near its interval of %d s", c, interval)
	}
	if a := r.Slurm.Auction; a != nil {
		if c := a.Cycle.Mean / 1e6; c > mostCycle*float64(a.Interval) {
			add("a cycle of the auction took %.1f s in the mean, near its interval of %d s", c, a.Interval)
		}
		if (a.State != "on" && a.State != "shadow") || a.CyclesFailed > 0 || a.Fallbacks > 0 {
			add("the auction was not on all the time: it is %s, %d cycles failed, it gave up %d times (%s)",
				a.State, a.CyclesFailed, a.Fallbacks, a.LastFailure)
		}
	}
	return out
}
