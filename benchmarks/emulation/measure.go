package emulation

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aucsched/aucsched/nodeset"
	"github.com/aucsched/aucsched/sim"
	"github.com/aucsched/aucsched/slurmtest"
	"github.com/aucsched/aucsched/workload"
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
	var over, lasted, points []float64
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
		should := sim.RunTime(rec.Job, rec.Segs)
		over, lasted = append(over, float64(rec.End-rec.Start-should)), append(lasted, float64(should))
		out.records, out.Lives = append(out.records, rec), append(out.Lives, lifeOf(k, &rec))
		if r.o.Multifactor {
			off, err := pointsOff(had, &rec, r.o.Machine)
			if err != nil {
				return out, err
			}
			points = append(points, off)
		}
		some, err := staysOf(had, &rec)
		if err != nil {
			return out, err
		}
		stays = append(stays, some...)
	}
	if r.o.Multifactor {
		all := spread(points)
		out.Points = &all
	}
	out.Overrun, out.DurationMean = spread(over), spread(lasted).Mean
	err := checkStays(r.o.Machine, stays)
	if err != nil {
		return out, err
	}
	if out.Metrics, err = sim.Measure(r.o.Machine, out.records); err != nil {
		return out, err
	}
	out.Metrics.Unrun = r.unrun
	out.Faults = out.faults(backfillInterval(r.o.Parameters))
	return out, nil
}

// pointsOff is by how much the priority with which a job was started differs from what its age
// and size give.
func pointsOff(had *slurmtest.Job, r *sim.Record, machine []nodeset.Capacity) (float64, error) {
	cores := int64(0)
	for _, c := range machine {
		cores += int64(c.Cores)
	}
	m, err := sim.NewMultifactor(int64(len(machine)), cores, 0)
	if err != nil {
		return 0, err
	}
	p, err := strconv.ParseInt(had.Fields["Priority"], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("job %s: Priority: %w", r.Job.ID, err)
	}
	return math.Abs(float64(p - m.Priority(r.Job, r.Start))), nil
}
