// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// offering is what jobs offer to a policy.
type offering struct {
	name    string
	ranges  bool                                      // ranges of GPUs
	change  func(j *workload.Job, n nodeset.Capacity) // nil: jobs stay as they are
	policy  func() (core.Policy, error)
	against int // the offering that it is held against; its own for those that are not
}

const (
	offerBackfill = iota
	offerAuction
	offerAlternatives
	offerRanges
	offerMixed
)

// offerings are compared; those with ranges only where the workload has some.
func offerings() []offering {
	auction := auction(core.Preset("none"))
	return []offering{
		offerBackfill:     {"backfill", false, nil, backfill, offerAuction},
		offerAuction:      {"auction2", false, nil, auction, offerAuction},
		offerAlternatives: {"auction2, alternatives", false, offerReshaped, auction, offerAuction},
		offerRanges:       {"auction2, GPU ranges", true, nil, auction, offerRanges},
		offerMixed:        {"auction2, mixed GPU ranges", true, offerMixedGPUs, auction, offerRanges},
	}
}

// offerMixedGPUs lets a range of GPUs differ from node to node.
func offerMixedGPUs(j *workload.Job, _ nodeset.Capacity) { j.MixedGPUs = j.MaxGPUs > j.MinGPUs }

// offerReshaped adds an alternative on twice or half the nodes, where there is one.
func offerReshaped(j *workload.Job, n nodeset.Capacity) {
	if r, ok := reshaped(j.Request, n); ok {
		j.Alternatives = []bids.Request{r}
	}
}

// reshaped is a request for a number of nodes and cores on each as one for twice the nodes with
// half the cores and GPUs of each, if both are even; a job with GPUs where they are not takes half
// the nodes with twice as many, if a node has these. The cores and GPUs in all are the same. A
// contiguous job stays so.
func reshaped(r bids.Request, n nodeset.Capacity) (bids.Request, bool) {
	nodes := r.MinNodes
	if nodes == 0 || r.MaxNodes != nodes && (r.MaxNodes != 0 || r.TasksPerNode == 0) {
		return r, false
	}
	cores := r.TasksPerNode
	if cores == 0 {
		if cores = r.Cores / nodes; cores*nodes != r.Cores {
			return r, false
		}
	}
	switch {
	case cores%2 == 0 && r.MinGPUs%2 == 0:
		nodes, cores, r.MinGPUs = 2*nodes, cores/2, r.MinGPUs/2
	case r.MinGPUs > 0 && nodes%2 == 0 && 2*cores <= int(n.Cores) && 2*r.MinGPUs <= int(n.GPUs):
		nodes, cores, r.MinGPUs = nodes/2, 2*cores, 2*r.MinGPUs
	default:
		return r, false
	}
	r.MinNodes, r.MaxNodes, r.MaxGPUs = nodes, nodes, r.MinGPUs
	if r.TasksPerNode > 0 {
		r.TasksPerNode = cores
	}
	if r.Cores > 0 {
		r.Cores = nodes * cores
	}
	return r, true
}

// alternativeCase is a kind of workload.
type alternativeCase struct {
	name   string
	nodes  []nodeset.Capacity
	ranges bool // there are jobs with ranges
	jobs   func(seed uint64, ranges bool) (*workload.Workload, error)
}

func alternativeCases() ([]alternativeCase, error) {
	var cases []alternativeCase
	tsubame, err := traces.ParseCluster("1408x12x3")
	if err != nil {
		return nil, err
	}
	for _, v := range []string{"1.NC", "1.HC", "1.FC"} {
		cases = append(cases, alternativeCase{"Tsubame " + v, tsubame, true, func(seed uint64, ranges bool) (*workload.Workload, error) {
			return generate.Tsubame(generate.TsubameOptions{Variant: v, Ranges: ranges, Seed: seed})
		}})
	}
	small, err := traces.ParseCluster("128x8x2")
	if err != nil {
		return nil, err
	}
	for _, v := range []string{"V.1", "V.2", "V.3"} {
		cases = append(cases, alternativeCase{v, small, false, func(seed uint64, _ bool) (*workload.Workload, error) {
			return generate.Mix(generate.MixOptions{Variant: v, Nodes: small, Seed: seed})
		}})
	}
	return cases, nil
}

// alternativeRows are the names of the cases.
func alternativeNames() (names []string) {
	for _, v := range []string{"1.NC", "1.HC", "1.FC"} {
		names = append(names, "Tsubame "+v)
	}
	return append(names, "V.1", "V.2", "V.3")
}

// alternativeRun is one simulation.
type alternativeRun struct {
	*sim.Result
	Offer float64 // share of the jobs that offer something else
	Taken float64 // share of the jobs that got it: the alternative, or different numbers of GPUs
}

// alternativeRow are the runs of one offering, a seed each.
type alternativeRow struct {
	Case     string
	Offering int
	Runs     []alternativeRun
}

// alternatives measures what alternative requests and mixed ranges are worth, and writes the page.
func alternatives(ctx context.Context, seeds seedRange, match string, errs io.Writer) (string, error) {
	cases, err := alternativeCases()
	if err != nil {
		return "", err
	}
	if cases, err = matching(cases, match, func(c *alternativeCase) string { return c.name }); err != nil {
		return "", err
	}
	var rows []alternativeRow
	for _, c := range cases {
		fmt.Fprintf(errs, "simulating: %s, seeds %s\n", c.name, seeds.String())
		for k, o := range offerings() {
			if o.ranges && !c.ranges {
				continue
			}
			row := alternativeRow{Case: c.name, Offering: k}
			for seed := seeds.First; seed <= seeds.Last; seed++ {
				r, err := runAlternative(ctx, &c, &o, seed)
				if err != nil {
					return "", fmt.Errorf("%s, %s, seed %d: %w", c.name, o.name, seed, err)
				}
				row.Runs = append(row.Runs, r)
			}
			rows = append(rows, row)
		}
	}
	return alternativesPage(seeds, rows)
}

func runAlternative(ctx context.Context, c *alternativeCase, o *offering, seed uint64) (r alternativeRun, err error) {
	w, err := c.jobs(seed, o.ranges)
	if err != nil {
		return r, err
	}
	offer, taken := 0, 0
	for i := range w.Jobs {
		if j := &w.Jobs[i]; o.change != nil {
			if o.change(j, c.nodes[0]); len(j.Alternatives) > 0 || j.MixedGPUs {
				offer++
			}
		}
	}
	p, err := o.policy()
	if err != nil {
		return r, err
	}
	cfg := sim.NewConfig(c.nodes)
	cfg.OnEnd = func(j sim.Record) {
		mixed := slices.ContainsFunc(j.Segs, func(s nodeset.Segment) bool { return s.GPUs != j.Segs[0].GPUs })
		if j.Alternative > 0 || mixed {
			taken++
		}
	}
	if r.Result, err = sim.Run(ctx, cfg, p, w.Jobs); err != nil {
		return r, err
	}
	r.Offer, r.Taken = float64(offer)/float64(len(w.Jobs)), float64(taken)/float64(r.Jobs)
	return r, nil
}
