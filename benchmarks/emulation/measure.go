// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// look asks Slurm what the run has cost, before the cluster ends.
func (r *run) look(ctx context.Context) error {
	pid := r.cluster.ControllerPid()
	cpu, err := cpuTime(pid)
	if err != nil {
		return err
	}
	r.slurm.ControllerCPU = time.Duration(cpu).Seconds()
	diag, err := r.cluster.Sdiag(ctx)
	if err != nil {
		return err
	}
	r.slurm.Main, r.slurm.Backfill = diag.Main, diag.Backfill
	if r.o.Auction {
		status, err := r.cluster.Status()
		if err != nil {
			return err
		}
		r.slurm.Auction = &status
	}
	jobs, err := r.cluster.Jobs(ctx)
	if err != nil {
		return err
	}
	r.had = make(map[uint32]*slurmtest.Job, len(jobs))
	for i := range jobs {
		r.had[jobs[i].ID] = &jobs[i]
	}
	r.ended, err = r.cluster.Ended()
	return err
}

// measure reads Slurm's records of the run.
func (r *run) measure() (*Result, error) {
	out := &Result{Slurm: r.slurm, Rate: r.o.Rate, Busy: r.o.Busy, Jobs: len(r.todo)}
	fast, slow := r.governor.Spent()
	out.FastSeconds, out.SlowSeconds = fast.Seconds(), slow.Seconds()
	out.Late = spread(r.late)
	out.NotCompleted = make(map[string]int)
	seen := make(map[*workload.Job]bool)
	var over, lasted []float64
	var started []*slurmtest.Job // of out.records
	var stays []stay
	for i := range r.ended {
		e := &r.ended[i]
		if e.State != "COMPLETED" {
			out.NotCompleted[e.State]++
			continue
		}
		had := r.had[e.ID]
		if had == nil {
			return out, fmt.Errorf("job %d: scontrol does not know it", e.ID)
		}
		rec, k, err := record(e, had, r.o.Jobs, r.origin)
		if err != nil {
			return out, err
		}
		if seen[rec.Job] {
			return out, fmt.Errorf("job %s ended twice", rec.Job.ID)
		}
		seen[rec.Job] = true
		should := runTime(rec.Job, rec.Segs)
		over, lasted = append(over, float64(rec.End-rec.Start-should)), append(lasted, float64(should))
		out.records, out.Lives, started = append(out.records, rec), append(out.Lives, lifeOf(k, &rec)), append(started, had)
		some, err := staysOf(had, &rec)
		if err != nil {
			return out, err
		}
		stays = append(stays, some...)
	}
	out.Overrun, out.DurationMean = spread(over), spread(lasted).Mean
	err := checkStays(r.o.Machine, stays)
	if err != nil {
		return out, err
	}
	if out.Metrics, err = metricsOf(r.o.Machine, out.records); err != nil {
		return out, err
	}
	out.Metrics.Unrun = r.unrun
	if out.Points, err = r.points(started, out.records); err != nil {
		return out, err
	}
	out.Faults = out.faults(backfillInterval(r.o.Parameters))
	return out, nil
}

// points is Result.Points; records are those of had.
func (r *run) points(had []*slurmtest.Job, records []sim.Record) (*Spread, error) {
	if !r.o.Multifactor {
		return nil, nil
	}
	should, err := replay.MultifactorOf(r.o.Machine)
	if err != nil {
		return nil, err
	}
	var off []float64
	for i := range records {
		p, err := strconv.ParseInt(had[i].Fields["Priority"], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("job %s: Priority: %w", records[i].Job.ID, err)
		}
		off = append(off, math.Abs(float64(p-should.Priority(records[i].Job, records[i].Start))))
	}
	s := spread(off)
	return &s, nil
}

// runTime is how long, in seconds, a job runs on segs if its time limit ends it: a request
// with a range of GPUs is the sooner done the more it has. segs must meet the request.
func runTime(j *workload.Job, segs []nodeset.Segment) int64 {
	return max(min(workload.Lasts(j.Duration, &j.Request, segs, sim.LinearSpeedup), j.TimeLimit), 1)
}
