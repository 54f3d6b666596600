// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"fmt"
)

// check finds input that cannot be simulated.
func (r *run) check(jobs []Job) error {
	if r.mode != Paper && r.mode != Reference {
		return fmt.Errorf("mode: %d is unknown", r.mode)
	}
	if len(r.nodes) == 0 || len(r.nodes) > MaxNodes {
		return fmt.Errorf("cluster: %d nodes: must be in 1..%d", len(r.nodes), MaxNodes)
	}
	most, slowest := 0, r.nodes[0].Bandwidth
	for i, n := range r.nodes {
		if err := n.check(); err != nil {
			return fmt.Errorf("cluster: node %d: %w", i, err)
		}
		most, slowest = max(most, n.Cores), min(slowest, n.Bandwidth)
	}
	if len(jobs) > MaxJobs {
		return fmt.Errorf("workload: %d jobs: must be at most %d", len(jobs), MaxJobs)
	}
	evaluated := false
	for i := range jobs {
		j := &jobs[i]
		if err := j.check(); err != nil {
			return err
		}
		if j.Cores > most {
			return &JobError{j.ID, "cores", j.Cores, fmt.Sprintf("no node has more than %d", most)}
		}
		if j.FileSize/slowest > maxTransfer {
			return &JobError{j.ID, "data_size", j.FileSize, fmt.Sprintf("takes more than %g s to a node", maxTransfer)}
		}
		evaluated = evaluated || j.Class == Evaluated
	}
	if !evaluated {
		return ErrNothingEvaluated
	}
	return nil
}

func (n *Node) check() error {
	switch {
	case !(n.Memory > 0 && n.Memory <= maxGB):
		return fmt.Errorf("memory: %v: must be above 0 and at most %g GB", n.Memory, float64(maxGB))
	case !(n.Bandwidth > 0 && n.Bandwidth <= maxGB):
		return fmt.Errorf("bandwidth: %v: must be above 0 and at most %g GB/s", n.Bandwidth, float64(maxGB))
	case n.Cores < 1 || n.Cores > MaxCores:
		return fmt.Errorf("core: %d: must be in 1..%d", n.Cores, MaxCores)
	}
	return nil
}

// check finds fields out of bounds, with a *JobError.
func (j *Job) check() error {
	for _, f := range []struct {
		name       string
		value, low int64
	}{{"subtime", j.Submit, 0}, {"delay", j.Duration, 1}, {"walltime", j.WallTime, 1}} {
		if f.value < f.low || f.value > MaxTime {
			return &JobError{j.ID, f.name, f.value, fmt.Sprintf("must be in %d..%d", f.low, int64(MaxTime))}
		}
	}
	switch {
	case j.Cores < 1 || j.Cores > MaxCores:
		return &JobError{j.ID, "cores", j.Cores, fmt.Sprintf("must be in 1..%d", MaxCores)}
	case !(j.FileSize >= 0 && j.FileSize <= maxGB):
		return &JobError{j.ID, "data_size", j.FileSize, fmt.Sprintf("must be in 0..%g GB", float64(maxGB))}
	case j.Class < Running || j.Class > Pressure:
		return &JobError{j.ID, "workload", int(j.Class), fmt.Sprintf("must be in %d..%d", Running, Pressure)}
	case j.Class == Running && (j.Started < -MaxTime || j.Started > MaxTime):
		return &JobError{j.ID, "start_time_from_history", j.Started, fmt.Sprintf("must be in %d..%d", -MaxTime, MaxTime)}
	}
	return nil
}
