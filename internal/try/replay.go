// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"context"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// part is a part of the machine whose partitions share no node with the rest, and its jobs.
type part struct {
	nodes     []nodeset.Capacity
	resources []sim.Resource
	jobs      []workload.Job
	index     []int // of each in Past.Jobs
}

// parts cuts the machine, or has it whole.
func (p *Past) parts(whole bool) []part {
	masks, place := p.components(), make([]int, len(p.Machine.Nodes)) // of each node in its part
	if whole {
		masks = []nodeset.Mask{union(masks)}
	}
	resources := p.resources()
	all := make([]part, len(masks))
	for k, mask := range masks {
		all[k] = cut(p.Machine.Nodes, resources, mask, place)
	}
	queues := map[string]queue{}
	for i := range p.Machine.Partitions {
		x := &p.Machine.Partitions[i]
		for k, mask := range masks {
			if overlaps(x.Nodes, mask) {
				queues[x.Name] = queue{k, within(x.Nodes, place, len(all[k].nodes))}
			}
		}
	}
	for i := range p.Jobs {
		j := p.Jobs[i]
		q := queues[partitionOf(&j)]
		j.Eligible, j.Uses = q.eligible, p.uses(&j)
		x := &all[q.part]
		x.jobs, x.index = append(x.jobs, j), append(x.index, i)
	}
	return slices.DeleteFunc(all, func(x part) bool { return len(x.jobs) == 0 })
}

// queue is a partition: the part that it is in, and which of its nodes jobs may use, nil being all.
type queue struct {
	part     int
	eligible nodeset.Mask
}

// cut is the part of some nodes, and says of each its place there.
func cut(nodes []nodeset.Capacity, resources []sim.Resource, mask nodeset.Mask, place []int) (x part) {
	x.resources = slices.Clone(resources)
	for r := range x.resources {
		x.resources[r].Total = nil
	}
	for n, c := range nodes {
		if !mask.Has(n) {
			continue
		}
		place[n] = len(x.nodes)
		x.nodes = append(x.nodes, c)
		for r := range resources {
			x.resources[r].Total = append(x.resources[r].Total, resources[r].Total[n])
		}
	}
	return x
}

// within are the nodes of a partition by their places in a part of so many; nil if it has them all.
func within(nodes nodeset.Mask, place []int, size int) nodeset.Mask {
	if nodes.Count() == size {
		return nil
	}
	mask := nodeset.NewMask(size)
	for n, at := range place {
		if nodes.Has(n) {
			mask.Set(at)
		}
	}
	return mask
}

// components are the nodes of partitions that are connected by nodes that they share.
func (p *Past) components() (masks []nodeset.Mask) {
	for i := range p.Machine.Partitions {
		mine := slices.Clone(p.Machine.Partitions[i].Nodes)
		masks = slices.DeleteFunc(masks, func(m nodeset.Mask) bool {
			if !overlaps(m, mine) {
				return false
			}
			for w := range m {
				mine[w] |= m[w]
			}
			return true
		})
		if mine.Count() > 0 {
			masks = append(masks, mine)
		}
	}
	return masks
}

// union is all nodes of masks that are alike in length.
func union(masks []nodeset.Mask) (all nodeset.Mask) {
	for _, m := range masks {
		if all == nil {
			all = make(nodeset.Mask, len(m))
		}
		for w := range m {
			all[w] |= m[w]
		}
	}
	return all
}

func overlaps(a, b nodeset.Mask) bool {
	for w := range a {
		if a[w]&b[w] != 0 {
			return true
		}
	}
	return false
}

// Policy is what decides in a replay. Make is called for each part of the machine, or once where it
// is to see the machine as a whole.
type Policy struct {
	Name  string
	Make  func() (core.Policy, error)
	Whole bool
}

// Slurm is the simulated Slurm with the settings of its slurm.conf, by the name of its scheduler.
// It sees the machine as a whole: bf_max_job_test is one for all partitions, and when backfill
// expects a job to start depends on the ends of others that share no node with it (_will_run_test
// of cons_common's job_test.c groups the ends of all).
func (p *Past) Slurm() Policy {
	return Policy{Name: "backfill", Whole: true, Make: func() (core.Policy, error) { return sim.NewBackfill(p.Backfill) }}
}

// Presets are the names that Preset takes.
func Presets() []string { return append(settings.Planned(), "none") }

// Preset is the auction with that preset, or with none.
func Preset(name string) Policy {
	return Policy{Name: name, Make: func() (core.Policy, error) { return core.NewAuction(core.Preset(name), nil) }}
}

// Replay is when jobs begin, by index in Past.Jobs, in seconds as Job.Submit; never is -1.
type Replay struct {
	Policy   string
	Interval int64 // seconds from one cycle to the next
	Began    []int64
	// Unrun are jobs that the policy never starts, by reason.
	Unrun []workload.Tally
}

// What is the past itself.
func (p *Past) What() *Replay {
	r := &Replay{Policy: "Slurm, as it was", Began: make([]int64, len(p.Jobs))}
	for i := range p.Jobs {
		r.Began[i] = p.Jobs[i].Past.Began
	}
	return r
}

// settings is the line of slurm.conf that has the plug-in decide as a replay of Preset did.
func (r *Replay) settings() string {
	return fmt.Sprintf("%s: SchedulerParameters=auc_interval=%d,auc_preset=%[1]s", r.Policy, r.Interval)
}

// Setting is how a replay is simulated.
type Setting struct {
	Interval int64 // seconds from one cycle to the next, at least
	Seed     uint64
	// OnCycle hears how far it is; may be nil.
	OnCycle func(sim.Progress)
}

// release is after how many seconds the nodes of a job that has ended take the next: see
// benchmarks/results/emulation.md.
const release = 2

// Replay has a policy decide.
func (p *Past) Replay(ctx context.Context, by Policy, s Setting) (*Replay, error) {
	r := &Replay{Policy: by.Name, Interval: s.Interval, Began: slices.Repeat([]int64{-1}, len(p.Jobs))}
	for _, x := range p.parts(by.Whole) {
		policy, err := by.Make()
		if err != nil {
			return nil, err
		}
		cfg := sim.NewConfig(x.nodes)
		cfg.Resources, cfg.Interval, cfg.Seed, cfg.Release, cfg.OnCycle = x.resources, s.Interval, s.Seed, release, s.OnCycle
		cfg.KillAtLimit = false // jobs last as long as they did
		if p.factors != nil {
			cfg.Priorities, cfg.PriorityPeriod = p.factors, p.factors.period
		}
		byID := make(map[string]int, len(x.jobs))
		for k := range x.jobs {
			byID[x.jobs[k].ID] = x.index[k]
		}
		cfg.OnEnd = func(rec sim.Record) { r.Began[byID[rec.Job.ID]] = rec.Start }
		result, err := sim.Run(ctx, cfg, policy, x.jobs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", by.Name, err)
		}
		for _, u := range result.Unrun {
			r.Unrun = workload.Count(r.Unrun, u.Reason)
		}
	}
	return r, nil
}
