// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/slurm/params"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// replayed are the jobs, each with the nodes of its partition and what it takes of them.
func (p *Past) replayed() []workload.Job {
	eligible := map[string]nodeset.Mask{} // nil: all nodes
	for i := range p.Machine.Partitions {
		if x := &p.Machine.Partitions[i]; x.Nodes.Count() < len(p.Machine.Nodes) {
			eligible[x.Name] = x.Nodes
		}
	}
	jobs := slices.Clone(p.Jobs)
	for i := range jobs {
		j := &jobs[i]
		j.Eligible, j.Uses = eligible[partitionOf(j)], p.uses(j)
	}
	return jobs
}

// Policy is what decides in a replay, on the machine as a whole, as Slurm and its plug-ins do.
type Policy struct {
	Name string
	Make func() (core.Policy, error)
}

// Slurm is the simulated Slurm with the settings of its slurm.conf, by the name of its scheduler.
func (p *Past) Slurm() Policy {
	return Policy{Name: "backfill", Make: func() (core.Policy, error) { return sim.NewBackfill(p.Backfill) }}
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

// settings is the line of slurm.conf that has the plug-in decide as a replay of Preset did. It
// keeps what else the site has in it, and is in shadow mode, which is where to begin.
func (r *Replay) settings(parameters string) string {
	_, others := params.Split(parameters)
	ours := fmt.Sprintf("auc_mode=shadow,auc_interval=%d,auc_preset=%s", r.Interval, r.Policy)
	return r.Policy + ": SchedulerParameters=" + strings.Join(append(others, ours), ",")
}

// Setting is how a replay is simulated.
type Setting struct {
	Interval int64 // seconds from one cycle to the next, at least
	Seed     uint64
	// OnCycle hears how far it is; may be nil.
	OnCycle func(sim.Progress)
	onEnd   func(sim.Record) // of tests
}

// release is after how many seconds the nodes of a job that has ended take the next: see
// benchmarks/results/emulation.md.
const release = 2

// Replay has a policy decide.
func (p *Past) Replay(ctx context.Context, by Policy, s Setting) (*Replay, error) {
	r := &Replay{Policy: by.Name, Interval: s.Interval, Began: slices.Repeat([]int64{-1}, len(p.Jobs))}
	policy, err := by.Make()
	if err != nil {
		return nil, err
	}
	cfg := sim.NewConfig(p.Machine.Nodes)
	cfg.Resources, cfg.Interval, cfg.Seed, cfg.Release, cfg.OnCycle = p.resources(), s.Interval, s.Seed, release, s.OnCycle
	cfg.KillAtLimit = false // jobs last as long as they did
	if p.factors != nil {
		cfg.Priorities, cfg.PriorityPeriod = p.factors, p.factors.period
	}
	index := make(map[string]int, len(p.Jobs))
	for i := range p.Jobs {
		index[p.Jobs[i].ID] = i
	}
	cfg.OnEnd = func(rec sim.Record) {
		r.Began[index[rec.Job.ID]] = rec.Start
		if s.onEnd != nil {
			s.onEnd(rec)
		}
	}
	result, err := sim.Run(ctx, cfg, policy, p.replayed())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", by.Name, err)
	}
	for _, u := range result.Unrun {
		r.Unrun = workload.Count(r.Unrun, u.Reason)
	}
	return r, nil
}
