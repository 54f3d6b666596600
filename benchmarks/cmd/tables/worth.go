// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/benchmarks/bound"
	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// worthCase is one workload of a row of the page: a seed, or a part of a trace.
type worthCase struct {
	row      string
	part     string // which of the row
	nodes    []nodeset.Capacity
	more     []sim.Resource
	interval int64
	seed     uint64
	jobs     []workload.Job
}

// worthPolicy is a scheduler of the page.
type worthPolicy struct {
	name string
	make func() (core.Policy, error)
}

// worthPolicies are the baselines, the auction of one moment in two ways, and the presets.
func worthPolicies() []worthPolicy {
	all := []worthPolicy{
		{"backfill", backfill}, {"easy", easy(sim.QueueOrder)}, {"easy-sjf", easy(sim.ShortestFirst)}, {"easy-f1", easy(sim.F1)},
		{"plan", func() (core.Policy, error) { return policies.NewPlanned(false, 0) }},
		{"auction2", auction(core.Preset("none"))}, {"packed", auction(core.Preset("packed"))},
	}
	for _, name := range settings.Planned() {
		all = append(all, worthPolicy{name, func() (core.Policy, error) {
			o := core.Preset(name)
			return core.NewAuction(o, nil)
		}})
	}
	return all
}

// easy is EASY with an order behind the head.
func easy(behind sim.Order) func() (core.Policy, error) {
	return func() (core.Policy, error) {
		o := sim.DefaultList()
		o.Behind = behind
		return sim.NewList(o)
	}
}

// worthRow is what all policies did with the cases of a row, of which bounds are how soon, in
// seconds, it could be done at all; of cases with a job that can never run there are none.
type worthRow struct {
	name     string
	interval int64
	runs     [][]*sim.Result // by policy and case
	bounds   []float64       // by case
}

// worthMixes are generated workloads of the page: machine, name, and scheduling interval in
// seconds.
var worthMixes = []struct {
	machine, name string
	interval      int64
}{
	{"128x8x2", "I.1", 5}, {"128x8x2", "II.1", 5}, {"128x8x2", "III.1", 5}, {"128x8x2", "IV.1", 5}, {"128x8x2", "V.1", 5},
	{"128x8x2", "V.2", 5}, {"128x8x2", "V.3", 5}, {"256x8x2", "IV.1", 5}, {"256x8x2", "V.1", 5},
	{"128x8x2", "esp", 5}, {"128x8x2", "esp-rand", 5},
	{"128x2", "lublin-70", 30}, {"128x2", "lublin-90", 30}, {"128x2", "lublin-110", 30},
	{"1408x12x3", "tsubame-1.NC", 5}, {"1408x12x3", "tsubame-2.NC", 5},
	{"1024x8x2", "IV.1", 5}, {"1024x8x2", "V.1", 5},
	{"128x2", "lublin-70" + inexact, 30}, {"128x2", "lublin-90" + inexact, 30}, {"128x8x2", "V.1" + inexact, 5},
}

// inexact is the end of a row's name in which jobs have limits as users set them: see usersLimits.
const inexact = " with users' limits"

// usersLimits has one job in seven run to its limit, as where it is ended there, and the others for a
// part of it that is uniform from a tenth on. Limits are full quarters of an hour.
func usersLimits(jobs []workload.Job, seed uint64) {
	const quarter = 900
	rng := rand.New(rand.NewPCG(seed, 7))
	for i := range jobs {
		limit := float64(jobs[i].Duration)
		if rng.IntN(7) > 0 {
			limit /= 0.1 + 0.9*rng.Float64()
		}
		jobs[i].TimeLimit = int64(math.Ceil(limit/quarter)) * quarter
	}
}

// worthParts is into how many parts each of realTraces is cut.
const worthParts = 4

// worthRates are how many times as fast jobs of each of realTraces come: LCG's fill the machine as
// they are.
var worthRates = [][]float64{{1, 1.7}, {1}}

// worthOptions are the flags of the page.
type worthOptions struct {
	seeds               seedRange
	traces, match, plot string
	dir                 string // where what is done is kept; "": nowhere
}

// worth has all policies decide all cases, and writes the page and the plot.
func worth(ctx context.Context, o worthOptions, errs io.Writer) (page string, err error) {
	cases, err := o.cases()
	if err != nil {
		return "", err
	}
	ranges := rangeRows(o.match)
	if cases, err = matching(cases, o.match, func(c *worthCase) string { return c.row }); err != nil && len(ranges) == 0 {
		return "", err
	}
	done, err := openKept[worthFigure](o.dir, "worth.jsonl")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done.close()) }()
	rows, err := decideWorth(ctx, cases, done, errs)
	if err != nil {
		return "", err
	}
	if err := decideRanges(ctx, ranges, o.seeds, done, errs); err != nil {
		return "", err
	}
	costs := worthCosts(rows, worthPolicies())
	if err := writePicture(o.plot, func() ([]byte, error) { return drawCosts(costs) }); err != nil {
		return "", err
	}
	return worthPage(o.seeds, o.traces != "", rows, ranges)
}

// cases are the workloads of the page.
func (o *worthOptions) cases() (cases []worthCase, err error) {
	for _, m := range worthMixes {
		nodes, err := traces.ParseCluster(m.machine)
		if err != nil {
			return nil, err
		}
		for seed := o.seeds.First; seed <= o.seeds.Last; seed++ {
			name, users := strings.CutSuffix(m.name, inexact)
			w, err := generate.Generate(generate.GeneratorPrefix+name, nodes, seed)
			if err != nil {
				return nil, err
			}
			if users {
				usersLimits(w.Jobs, seed)
			}
			cases = append(cases, worthCase{m.name + ", " + m.machine, fmt.Sprint("seed ", seed), nodes, nil, m.interval, seed, w.Jobs})
		}
	}
	if o.traces != "" {
		more, err := worthTraces(o.traces)
		if err != nil {
			return nil, err
		}
		cases = append(cases, more...)
	}
	return cases, nil
}

// worthNames are the rows of the page that take a minute or two.
func worthNames() (names []string) {
	for _, m := range worthMixes {
		if strings.HasPrefix(m.machine, "128x") {
			names = append(names, m.name+", "+m.machine)
		}
	}
	for _, rate := range worthRates[0] {
		names = append(names, fmt.Sprintf("%s at %v", realTraces[0].name, rate))
	}
	return names
}

// worthTraces are parts of real traces, at rates with which queues form.
func worthTraces(dir string) (cases []worthCase, err error) {
	for i, t := range realTraces {
		all, err := traces.ReadFile(filepath.Join(dir, t.file), traces.Options{})
		if err != nil {
			return nil, err
		}
		nodes, err := traces.ParseCluster(t.cluster)
		if err != nil {
			return nil, err
		}
		size := len(all.Jobs) / worthParts
		for _, rate := range worthRates[i] {
			for k := range worthParts {
				part := window(all.Jobs[k*size:(k+1)*size], all.Jobs[k*size].Submit, workload.MaxSeconds)
				c := worthCase{fmt.Sprintf("%s at %v", t.name, rate), fmt.Sprint("part ", k+1), nodes, nil, 30, 1, part}
				if c.jobs, err = faster(c.jobs, rate); err != nil {
					return nil, err
				}
				cases = append(cases, c)
			}
		}
	}
	for _, read := range []func(string) ([]gpuCase, error){alibabaCases, phillyCases} {
		gpu, err := read(dir)
		if err != nil {
			return nil, err
		}
		for i, g := range gpu {
			if g.rate == 20 || g.rate == 1.2 {
				continue // there is no queue, or little of one
			}
			c := worthCase{fmt.Sprintf("%s at %v", g.trace, g.rate), fmt.Sprint("part ", i+1), g.nodes, g.more, 3, 1, nil}
			if c.jobs, err = faster(g.jobs, g.rate); err != nil {
				return nil, err
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// faster is a copy of jobs that come rate times as fast.
func faster(jobs []workload.Job, rate float64) ([]workload.Job, error) {
	w := workload.Workload{Jobs: slices.Clone(jobs)}
	err := traces.Accelerate(&w, rate)
	return w.Jobs, err
}

// decideWorth runs each case under all policies, several at a time, unless that is done. Cases of a
// row follow each other.
func decideWorth(ctx context.Context, cases []worthCase, done *kept[worthFigure], errs io.Writer) ([]worthRow, error) {
	policies := worthPolicies()
	var rows []worthRow
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range cases {
		if i == 0 || c.row != cases[i-1].row {
			fmt.Fprintf(errs, "simulating: %s\n", c.row)
			rows = append(rows, worthRow{name: c.row, interval: c.interval, runs: make([][]*sim.Result, len(policies))})
		}
		row := &rows[len(rows)-1]
		if least, err := bound.Runtime(c.nodes, c.jobs); err == nil { // else a job can never run
			row.bounds = append(row.bounds, least.Nodes)
		}
		for k, p := range policies {
			at := new(sim.Result)
			row.runs[k] = append(row.runs[k], at)
			part := fmt.Sprintf("%s, %s, %s", c.row, c.part, p.name)
			g.Go(func() (err error) {
				*at, err = worthResult(done, part, func() (*sim.Result, error) { return c.decide(ctx, p) })
				return err
			})
		}
	}
	return rows, g.Wait()
}

// decide is what a policy does with the case.
func (c *worthCase) decide(ctx context.Context, p worthPolicy) (*sim.Result, error) {
	policy, err := p.make()
	if err != nil {
		return nil, err
	}
	cfg := sim.NewConfig(c.nodes)
	cfg.Interval, cfg.Seed, cfg.Resources = c.interval, c.seed, c.more
	return sim.Run(ctx, cfg, policy, c.jobs)
}
