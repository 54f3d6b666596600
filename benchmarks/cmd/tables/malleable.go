// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/benchmarks/crews"
	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/invasive"
	invasim "github.com/aucsched/aucsched/invasive/simulation"
	"github.com/aucsched/aucsched/nodeset"
)

// crewShares are the shares of malleable jobs that are shown, in percent.
var crewShares = []int{0, 20, 50, 100}

// crewPolicies are the schedulers of the page: the first two with rigid jobs alone.
var crewPolicies = []worthPolicy{
	{"easy", easy(sim.QueueOrder)}, {"easy-sjf", easy(sim.ShortestFirst)},
	{"backfill", backfill}, {"auction2", auction(core.Preset("none"))},
}

// oneHost is the manager of package invasive/place, which gives equal shares, as a scheduler of the
// page.
const oneHost = "one manager"

// crewOptions are the flags of the page.
type crewOptions struct {
	seeds  seedRange
	traces string // "": without real ones
	dir    string // where what is done is kept; "": nowhere
	jobs   int    // of each workload
}

// crewWorkload is one workload of the page, a case each seed or part.
type crewWorkload struct {
	name    string
	nodes   []nodeset.Capacity
	cases   []crewCase
	manager bool // whether the one manager knows it too
}

type crewCase struct {
	part string
	seed uint64
	jobs []workload.Job
}

// crewGroup is what jobs of one kind went through, in seconds.
type crewGroup struct{ Wait, Turnaround float64 }

// crewFigure is what one run came to. Chosen and Others are the jobs that are malleable, and that
// are not, at each of crewShares, whatever they are in the run.
type crewFigure struct {
	Use, Wait, P95, Widest, Turnaround, Slowdown float64
	Lost                                         float64 // share of what malleable jobs held
	Changes                                      float64 // a malleable job
	Preempted                                    float64 // companions a malleable job
	Chosen, Others                               []crewGroup
}

// crewSetting is what is assumed.
type crewSetting struct {
	config sim.Config
	crews  crews.Options
	jobs   generate.Malleability
}

// crewVariant is a change of that.
type crewVariant struct {
	name   string
	change func(*crewSetting)
}

var crewVariants = []crewVariant{
	{"as above", func(*crewSetting) {}},
	{"a change costs 10 s", func(s *crewSetting) { s.crews.Reconfigure = 10 }},
	{"a change costs 60 s", func(s *crewSetting) { s.crews.Reconfigure = 60 }},
	{"1% of a job is serial", func(s *crewSetting) { s.config.Serial = 10 }},
	{"10% of a job is serial", func(s *crewSetting) { s.config.Serial = 100 }},
	{"companions of 10 min", func(s *crewSetting) { s.crews.Limit = 600 }},
	{"n to 2n nodes: jobs wait for what they ask for", func(s *crewSetting) { s.jobs.Least = 1 }},
	{"n/4 to n nodes: jobs get no more", func(s *crewSetting) { s.jobs.Most = 1 }},
}

// crewVariantShare is the share, in percent, that variants are shown at.
const crewVariantShare = 50

// crewRows are the figures of a workload: by scheduler and share, and of the first workload by
// scheduler and variant, a case each.
type crewRows struct {
	*crewWorkload
	runs     map[string][]crewFigure
	variants map[string][]crewFigure
}

func crewKey(policy string, percent int) string { return fmt.Sprintf("%s, %d%%", policy, percent) }

// malleableWorth simulates, and writes the page.
func malleableWorth(ctx context.Context, o crewOptions, errs io.Writer) (page string, err error) {
	loads, err := o.workloads()
	if err != nil {
		return "", err
	}
	done, err := openKept[crewFigure](o.dir, "malleable.jsonl")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done.close()) }()
	var rows []*crewRows
	for i := range loads {
		rows = append(rows, &crewRows{&loads[i], map[string][]crewFigure{}, map[string][]crewFigure{}})
		fmt.Fprintf(errs, "simulating: %s\n", loads[i].name)
		if err := rows[i].run(ctx, done, rows[i].shares); err != nil {
			return "", fmt.Errorf("%s: %w", loads[i].name, err)
		}
	}
	fmt.Fprintln(errs, "simulating: what depends on what")
	if err := rows[0].run(ctx, done, rows[0].changes); err != nil {
		return "", err
	}
	return malleablePage(&o, rows)
}

// workloads are those of the page.
func (o *crewOptions) workloads() (all []crewWorkload, err error) {
	lublin, err := o.lublin(o.jobs)
	if err != nil {
		return nil, err
	}
	small, err := o.lublin(max(2, o.jobs/6))
	if err != nil {
		return nil, err
	}
	small.manager = true
	if o.traces == "" {
		return append(all, lublin, small), nil
	}
	const parts, rate = 4, 1.7
	t := realTraces[0]
	meta := crewWorkload{name: fmt.Sprintf("%s at %v, %d jobs of each of %d parts", t.name, rate, o.jobs, parts)}
	if meta.nodes, err = traces.ParseCluster(t.cluster); err != nil {
		return nil, err
	}
	w, err := traces.ReadFile(filepath.Join(o.traces, t.file), traces.Options{SWF: traces.SWFOptions{NodeSpec: true}})
	if err != nil {
		return nil, err
	}
	for k := range parts {
		part := w.Jobs[k*len(w.Jobs)/parts:]
		part = window(part[:min(o.jobs, len(part))], part[0].Submit, workload.MaxSeconds)
		if part, err = faster(part, rate); err != nil {
			return nil, err
		}
		meta.cases = append(meta.cases, crewCase{fmt.Sprint("part ", k+1), uint64(k + 1), part})
	}
	return append(all, lublin, meta, small), nil
}

// lublin is a generated workload of so many jobs.
func (o *crewOptions) lublin(jobs int) (l crewWorkload, err error) {
	l.name = fmt.Sprintf("gen:lublin-90 on 64 nodes, %d jobs", jobs)
	if l.nodes, err = traces.ParseCluster("64x1"); err != nil {
		return l, err
	}
	for seed := o.seeds.First; seed <= o.seeds.Last; seed++ {
		w, err := generate.Lublin(generate.LublinOptions{Nodes: l.nodes, Load: 0.9, Jobs: jobs, Seed: seed})
		if err != nil {
			return l, err
		}
		l.cases = append(l.cases, crewCase{fmt.Sprint("seed ", seed), seed, w.Jobs})
	}
	return l, nil
}

// crewRun is one run of a case.
type crewRun func(context.Context, *crewCase) (crewFigure, error)

// run has what plan adds simulated, several runs at a time, unless it is done.
func (r *crewRows) run(ctx context.Context, done *kept[crewFigure], plan func(add func(map[string][]crewFigure, string, crewRun))) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	plan(func(to map[string][]crewFigure, key string, simulate crewRun) {
		figures := make([]crewFigure, len(r.cases))
		to[key] = figures
		for i := range r.cases {
			c := &r.cases[i]
			g.Go(func() (err error) {
				part := fmt.Sprintf("%s, %s, %s", r.name, key, c.part)
				figure, is := done.get(part)
				if !is {
					if figure, err = simulate(ctx, c); err == nil {
						err = done.put(part, figure)
					}
				}
				figures[i] = figure
				return err
			})
		}
	})
	return g.Wait()
}

// shares are the runs of all schedulers at all shares.
func (r *crewRows) shares(add func(map[string][]crewFigure, string, crewRun)) {
	for _, percent := range crewShares {
		for k, p := range crewPolicies {
			if percent > 0 && k < 2 {
				continue
			}
			add(r.runs, crewKey(p.name, percent), func(ctx context.Context, c *crewCase) (crewFigure, error) {
				return r.simulate(ctx, c, p, percent, &crewVariants[0])
			})
		}
		if r.manager {
			add(r.runs, crewKey(oneHost, percent), func(ctx context.Context, c *crewCase) (crewFigure, error) {
				return r.manage(ctx, c, percent)
			})
		}
	}
}

// changes are the runs of all variants.
func (r *crewRows) changes(add func(map[string][]crewFigure, string, crewRun)) {
	for i := range crewVariants {
		v := &crewVariants[i]
		for _, p := range crewPolicies[2:] {
			add(r.variants, p.name+", "+v.name, func(ctx context.Context, c *crewCase) (crewFigure, error) {
				return r.simulate(ctx, c, p, crewVariantShare, v)
			})
		}
	}
}

// malleable are the jobs of a case of which a share is malleable.
func (l *crewWorkload) malleable(c *crewCase, percent int, m generate.Malleability) ([]workload.Job, error) {
	jobs := slices.Clone(c.jobs)
	m.Share, m.Seed = float64(percent)/100, c.seed
	_, err := m.Apply(l.nodes, jobs)
	return jobs, err
}

// simulate is one run in which jobs have companions.
func (l *crewWorkload) simulate(ctx context.Context, c *crewCase, p worthPolicy, percent int, v *crewVariant) (f crewFigure, err error) {
	s := crewSetting{sim.NewConfig(l.nodes), crews.Default(), generate.DefaultMalleability()}
	s.config.Interval, s.config.Seed = contestInterval, c.seed
	v.change(&s)
	cfg, m := s.config, s.jobs
	cfg.Crews = s.crews.For
	jobs, err := l.malleable(c, percent, m)
	if err != nil {
		return f, err
	}
	policy, err := p.make()
	if err != nil {
		return f, err
	}
	ends := make(map[string]sim.Record)
	cfg.OnEnd = func(r sim.Record) { ends[r.Job.ID] = r }
	r, err := sim.Run(ctx, cfg, policy, jobs)
	if err != nil {
		return f, err
	}
	if len(r.Unrun) > 0 {
		return f, fmt.Errorf("%s, %s: %d jobs did not run: %s", c.part, p.name, len(r.Unrun), r.Unrun[0].Reason)
	}
	f = crewFigure{
		Use: r.CPUUtilizationLoaded, Wait: r.WaitMean, P95: r.Waits.P95, Widest: r.Waits.Widest10,
		Slowdown: r.Waits.BoundedSlowdown,
	}
	if x := r.Crews; x != nil {
		f.Lost = float64(x.Lost) / float64(x.Held)
		f.Changes, f.Preempted = float64(x.Changes)/float64(x.Jobs), float64(x.Preempted)/float64(x.Jobs)
	}
	for _, share := range crewShares {
		kinds, err := l.malleable(c, share, m)
		if err != nil {
			return f, err
		}
		chosen, others := groupsOf(kinds, ends)
		f.Chosen, f.Others = append(f.Chosen, chosen), append(f.Others, others)
	}
	f.Turnaround = f.Others[0].Turnaround
	return f, nil
}

// groupsOf are the means over those of jobs that are malleable, and over the others; 0 for none.
func groupsOf(jobs []workload.Job, ends map[string]sim.Record) (chosen, others crewGroup) {
	var waits, turnarounds [2][]float64
	for i := range jobs {
		k, r := 0, ends[jobs[i].ID]
		if jobs[i].Span == (workload.Span{}) {
			k = 1
		}
		waits[k] = append(waits[k], float64(r.Start-r.Submit))
		turnarounds[k] = append(turnarounds[k], float64(r.End-r.Submit))
	}
	var out [2]crewGroup
	for k := range out {
		if len(waits[k]) > 0 {
			out[k] = crewGroup{stats.Over(waits[k]).Mean, stats.Over(turnarounds[k]).Mean}
		}
	}
	return out[0], out[1]
}

// manage is one run of the same jobs under the one manager, on nodes of one core.
func (l *crewWorkload) manage(ctx context.Context, c *crewCase, percent int) (f crewFigure, err error) {
	jobs, err := l.malleable(c, percent, generate.DefaultMalleability())
	if err != nil {
		return f, err
	}
	all := invasim.FromWorkload(&workload.Workload{Jobs: jobs})
	for i := range all {
		j := &all[i]
		j.Kind, j.MinCores, j.MaxCores = invasive.Rigid, j.Cores, j.Cores
		if s := jobs[i].Span; s != (workload.Span{}) {
			j.Kind, j.MinCores, j.MaxCores = invasive.Malleable, uint32(s.Least), uint32(s.Most)
		}
	}
	cfg := invasim.NewConfig(invasive.Partition{Name: "host", Nodes: uint32(len(l.nodes)), Sockets: 1, CoresPerSocket: 1})
	cfg.Queue.Seed = c.seed
	cfg.ResizeCost = time.Duration(crews.Default().Reconfigure) * time.Second
	r, err := invasim.Run(ctx, cfg, all)
	if err != nil {
		return f, err
	}
	f = crewFigure{Use: r.Utilisation, Wait: r.Wait, Turnaround: r.Turnaround, Slowdown: r.Slowdown}
	if r.Malleable > 0 {
		f.Changes = float64(r.Shrinks+r.Grows) / float64(r.Malleable)
	}
	return f, nil
}
