// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/aucsched/aucsched/internal/workload"
)

// A Mix describes jobs that come at random: sizes are powers of two, up to a share of the
// partition, each as likely; durations lie between two bounds, each order of magnitude as likely;
// and the gaps between them are exponential, with the mean at which the jobs' work is Load times
// what the partition can do.
type Mix struct {
	Jobs     int
	Load     float64
	MaxShare float64 // of the partition's cores
	Shortest time.Duration
	Longest  time.Duration
	// LimitFactor is a job's limit as a multiple of its duration, drawn from 1 to that.
	LimitFactor float64
	Seed        uint64
}

// DefaultMix is 500 jobs of a minute to two hours, on up to half of the partition, which would
// keep 95% of it busy.
func DefaultMix() Mix {
	return Mix{Jobs: 500, Load: 0.95, MaxShare: 0.5, Shortest: time.Minute, Longest: 2 * time.Hour, LimitFactor: 2, Seed: 1}
}

func (m *Mix) validate() error {
	switch {
	case m.Jobs < 1 || m.Jobs > workload.MaxJobs:
		return fmt.Errorf("jobs %d: must be 1 to %d", m.Jobs, workload.MaxJobs)
	case !(m.Load > 0 && m.Load <= 100):
		return fmt.Errorf("load %v: must be more than 0, and at most 100", m.Load)
	case !(m.MaxShare > 0 && m.MaxShare <= 1):
		return fmt.Errorf("largest share %v: must be more than 0, and at most 1", m.MaxShare)
	case m.Shortest < time.Second || m.Longest < m.Shortest || m.Longest > 1000*time.Hour:
		return fmt.Errorf("durations %v to %v: must be 1s to 1000h", m.Shortest, m.Longest)
	case !(m.LimitFactor >= 1 && m.LimitFactor <= 1000):
		return fmt.Errorf("limit factor %v: must be 1 to 1000", m.LimitFactor)
	}
	return nil
}

// Generate makes the jobs for a partition of so many cores. The same mix and
// cores give the same jobs.
func (m *Mix) Generate(cores uint64) ([]Job, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(m.Seed, 0x6d6978))
	sizes := int(math.Log2(max(1, m.MaxShare*float64(cores)))) + 1
	jobs := make([]Job, m.Jobs)
	gaps := make([]float64, m.Jobs)
	work := 0.0
	for i := range jobs {
		j := &jobs[i]
		j.Cores = 1 << r.IntN(sizes)
		j.Duration = time.Duration(
			math.Exp(math.Log(m.Shortest.Seconds())+r.Float64()*math.Log(float64(m.Longest)/float64(m.Shortest)))) *
			time.Second
		j.Limit = (time.Duration(float64(j.Duration)*(1+r.Float64()*(m.LimitFactor-1))) + time.Second).Truncate(time.Second)
		work += j.Duration.Seconds() * float64(j.Cores)
		gaps[i] = r.ExpFloat64()
	}
	mean := work / float64(m.Jobs) / float64(cores) / m.Load
	at := 0.0
	for i := range jobs {
		jobs[i].Submit = time.Duration(at*1000) * time.Millisecond
		at += gaps[i] * mean
	}
	return jobs, nil
}

// FromWorkload takes over the jobs of a trace or a generator: the fewest cores and nodes that they
// ask for, without GPUs.
func FromWorkload(w *workload.Workload) []Job {
	jobs := make([]Job, 0, len(w.Jobs))
	for i := range w.Jobs {
		j := &w.Jobs[i]
		cores := j.Cores
		if cores == 0 {
			cores = max(j.MinNodes, 1) * max(j.TasksPerNode, 1)
		}
		out := Job{
			Submit: time.Duration(j.Submit) * time.Second, Duration: time.Duration(max(j.Duration, 1)) * time.Second,
			Limit: time.Duration(max(j.Duration, j.TimeLimit, 1)) * time.Second, Cores: uint32(cores),
		}
		if j.MinNodes > 1 {
			out.MinNodes, out.MaxNodes = uint32(j.MinNodes), uint32(max(j.MaxNodes, 0))
		}
		jobs = append(jobs, out)
	}
	return jobs
}
