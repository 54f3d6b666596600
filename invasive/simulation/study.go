// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Study is the same workloads with several shares of malleable jobs.
type Study struct {
	Config      Config
	Flexibility Flexibility // without its share and its seed
	Shares      []float64
	// Jobs makes the workload of a seed, Seeds are which.
	Jobs  func(seed uint64) ([]Job, error)
	Seeds []uint64
	// OnRun, if set, is called after every run with the number of those done.
	OnRun func(done, of int)
}

// A Case is one run of a Study.
type Case struct {
	Share float64 `json:"malleable_share"`
	Seed  uint64  `json:"seed"`
	Result
}

// Run runs all cases, share by share.
func (s *Study) Run(ctx context.Context) ([]Case, error) {
	var cases []Case
	for _, share := range s.Shares {
		for _, seed := range s.Seeds {
			jobs, err := s.Jobs(seed)
			if err != nil {
				return nil, err
			}
			flex := s.Flexibility
			flex.Malleable, flex.Seed = share, seed
			if jobs, err = flex.Apply(jobs, s.Config.Partition.Cores()); err != nil {
				return nil, err
			}
			cfg := s.Config
			cfg.Queue.Seed = seed
			r, err := Run(ctx, cfg, jobs)
			if err != nil {
				return nil, fmt.Errorf("share %g, seed %d: %w", share, seed, err)
			}
			if cases = append(cases, Case{share, seed, *r}); s.OnRun != nil {
				s.OnRun(len(cases), len(s.Shares)*len(s.Seeds))
			}
		}
	}
	return cases, nil
}

// Mean is the mean of a figure over the cases of a share, and its standard
// deviation; 0 for one case.
func Mean(cases []Case, share float64, figure func(*Result) float64) (mean, deviation float64) {
	n, sum, squares := 0.0, 0.0, 0.0
	for i := range cases {
		if cases[i].Share == share {
			n++
			sum += figure(&cases[i].Result)
		}
	}
	mean = sum / n
	for i := range cases {
		if cases[i].Share == share {
			d := figure(&cases[i].Result) - mean
			squares += d * d
		}
	}
	return mean, math.Sqrt(squares / max(1, n-1))
}

// UrgentLatency is the latency, in seconds, that a share q of all urgent jobs of the cases doesn't
// exceed; 0 if there are none.
func UrgentLatency(cases []Case, share, q float64) float64 {
	var all []time.Duration
	for i := range cases {
		if cases[i].Share == share {
			all = append(all, cases[i].Latencies...)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return quantile(all, q)
}
