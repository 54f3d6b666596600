// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/switches"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// The machine of the page.
const (
	treeNodes  = 1024
	treeLeaves = 32
	treeParts  = 3 // of MetaCentrum's trace, and weeks of Philly's
)

// treePolicy is a policy that knows of the switches, or not.
type treePolicy struct {
	name  string
	blind bool
	make  func() (core.Policy, error)
}

func treePolicies() []treePolicy {
	ours := auction(core.Preset("none"))
	return []treePolicy{
		{"auction2, topology", false, ours},
		{"auction2, none", true, ours},
		{"backfill, topology/tree", false, backfill},
		{"backfill, none", true, backfill},
	}
}

// treeCase is a part of a trace on nodes that are alike.
type treeCase struct {
	name string
	node nodeset.Capacity
	rate float64
	jobs []workload.Job
}

// treeRun is one replay.
type treeRun struct {
	*sim.Result
	Busy float64 // use of the cores, or of the GPUs if there are any, until the last job has come
}

// treeRow are one policy's runs of the parts of a trace.
type treeRow struct {
	Case   string
	Policy string
	Runs   []treeRun
}

// topologyPages replays the traces below leaf switches and writes the page.
func topologyPages(ctx context.Context, dir, match string, errs io.Writer) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("-traces is needed: %w", errUsage)
	}
	cases, err := treeCases(dir)
	if err != nil {
		return "", err
	}
	if cases, err = matching(cases, match, func(c *treeCase) string { return c.name }); err != nil {
		return "", err
	}
	rows, err := runTreeCases(ctx, cases, treeNodes, treeLeaves, errs)
	if err != nil {
		return "", err
	}
	return topologyPage(rows)
}

// treeCases are parts of MetaCentrum's trace and weeks of Philly's, at rates with which queues
// form.
func treeCases(dir string) (cases []treeCase, err error) {
	meta, err := traces.ReadFile(filepath.Join(dir, realTraces[0].file), traces.Options{})
	if err != nil {
		return nil, err
	}
	for _, x := range []treeCase{
		{"MetaCentrum 2013, 4 cores a node", nodeset.Capacity{Cores: 4}, 4, nil},
		{"MetaCentrum 2013, 16 cores a node", nodeset.Capacity{Cores: 16}, 40, nil},
	} {
		for k := range treeParts {
			size := len(meta.Jobs) / treeParts
			x.jobs = window(meta.Jobs[k*size:(k+1)*size], meta.Jobs[k*size].Submit, workload.MaxSeconds)
			cases = append(cases, x)
		}
	}
	const gpus = 2
	philly, err := traces.ReadFile(filepath.Join(dir, phillyJobs), traces.Options{GPU: traces.GPUTraceOptions{GPUsPerNode: gpus}})
	if err != nil {
		return nil, err
	}
	for k := range int64(treeParts) {
		first := phillyStart - philly.Start + k*phillyWindow
		cases = append(cases, treeCase{"Philly 2017, 2 GPUs a node", nodeset.Capacity{Cores: 8, GPUs: gpus}, 4,
			window(philly.Jobs, first, first+phillyWindow)})
	}
	return cases, nil
}

// topologyRows are the names of the cases.
func topologyRows() []string {
	return []string{"MetaCentrum 2013, 4 cores a node", "MetaCentrum 2013, 16 cores a node", "Philly 2017, 2 GPUs a node"}
}

// runTreeCases runs each case under all policies; cases of one name, which follow each other, make
// up a row of each.
func runTreeCases(ctx context.Context, cases []treeCase, nodes, leaves int, errs io.Writer) (rows []treeRow, err error) {
	tree, err := switches.Even(nodes, leaves)
	if err != nil {
		return nil, err
	}
	policies := treePolicies()
	for i, c := range cases {
		if i == 0 || c.name != cases[i-1].name {
			for _, p := range policies {
				rows = append(rows, treeRow{Case: c.name, Policy: p.name})
			}
		}
		fmt.Fprintf(errs, "replaying: %s, %d jobs\n", c.name, len(c.jobs))
		for k, p := range policies {
			r, err := runTreeCase(ctx, c, p, tree)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", c.name, p.name, err)
			}
			row := &rows[len(rows)-len(policies)+k]
			row.Runs = append(row.Runs, r)
		}
	}
	return rows, nil
}

func runTreeCase(ctx context.Context, c treeCase, p treePolicy, tree *nodeset.Topology) (r treeRun, err error) {
	w := workload.Workload{Jobs: slices.Clone(c.jobs)}
	if err := traces.Accelerate(&w, c.rate); err != nil {
		return r, err
	}
	policy, err := p.make()
	if err != nil {
		return r, err
	}
	last, busy := w.Jobs[len(w.Jobs)-1].Submit, int64(0)
	cfg := sim.NewConfig(slices.Repeat([]nodeset.Capacity{c.node}, tree.Len()))
	cfg.Topology, cfg.Blind = tree, p.blind
	all := int64(c.node.Cores) * int64(tree.Len())
	if c.node.GPUs > 0 {
		all = int64(c.node.GPUs) * int64(tree.Len())
	}
	cfg.OnEnd = func(j sim.Record) {
		held := nodeset.Cores(j.Segs)
		if c.node.GPUs > 0 {
			held = nodeset.GPUs(j.Segs)
		}
		busy += max(0, min(j.End, last)-j.Start) * int64(held)
	}
	if r.Result, err = sim.Run(ctx, cfg, policy, w.Jobs); err != nil {
		return r, err
	}
	r.Busy = float64(busy) / (float64(last) * float64(all))
	return r, nil
}
