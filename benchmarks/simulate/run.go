// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/inputs"
	"github.com/aucsched/aucsched/internal/workload"
)

// study is all that is simulated: each variant on the input of each seed.
type study struct {
	flags    *Flags
	set      *pflag.FlagSet
	more     *More
	machine  *traces.Machine
	seeds    []uint64
	variants []*variant
	first    *seeded            // of the first seed
	trace    *workload.Workload // as it was read, for --resample
}

// seeded is what the runs of one seed share. Nobody changes it.
type seeded struct {
	cfg   sim.Config
	work  *workload.Workload
	files inputs.Files
	err   error
}

// prepare checks all input: it reads the machine and the first seed's workload, and makes the
// policies once.
func (f *Flags) prepare(set *pflag.FlagSet, more *More) (*study, error) {
	s := &study{flags: f, set: set, more: more, seeds: []uint64{f.Replay.Seed}}
	if err := f.forms(set); err != nil {
		return nil, err
	}
	if f.seeds != "" {
		var err error
		if s.seeds, err = replay.ParseSeeds(f.seeds); err != nil {
			return nil, fmt.Errorf("--seeds: %w", err)
		}
		if once := slices.Compact(slices.Sorted(slices.Values(s.seeds))); len(once) < len(s.seeds) {
			return nil, fmt.Errorf("--seeds: %s: a seed is there twice", f.seeds)
		}
		f.Replay.Seed = s.seeds[0]
	}
	cfg := &f.Replay.Config
	w, machine, err := f.readMachine()
	if err != nil {
		return nil, err
	}
	s.machine, cfg.Nodes = machine, machine.Nodes
	for _, note := range machine.Notes {
		slog.Warn("slurm.conf was read with a file from elsewhere", "file", note)
	}
	if cfg.Interval < 1 {
		return nil, fmt.Errorf("--interval: %d: must be at least 1 second", cfg.Interval)
	}
	switch d := f.Policy.BackfillTest; {
	case d != 0 && !f.Policy.Slurmctld:
		return nil, fmt.Errorf("--backfill-test: goes with --slurmctld")
	case d < 0 || d > time.Minute:
		return nil, fmt.Errorf("--backfill-test: %v: must be between 0 and a minute", d)
	}
	if cfg.Topology, cfg.Blind, err = f.tree.read(set, len(cfg.Nodes), machine.Names); err != nil {
		return nil, err
	}
	if cfg.Priorities, err = priorities(f.priority, cfg.Nodes); err != nil {
		return nil, err
	}
	if cfg.Priorities != nil && f.crews.percent > 0 {
		return nil, errors.New("--malleable: goes with --priority basic")
	}
	if w == nil {
		if w, err = f.Replay.Read(f.Workload); err != nil {
			return nil, err
		}
		f.compareMachine(w)
	}
	if f.resample > 0 {
		s.trace = w
		if w, err = s.draw(s.seeds[0]); err != nil {
			return nil, err
		}
	}
	if s.first = s.settle(s.seeds[0], w); s.first.err != nil {
		return nil, s.first.err
	}
	if len(s.seeds) > 1 && s.drawn() && s.trace == nil && f.Workload == "-" {
		return nil, errors.New("--seeds: with --malleable the workload must be a file: it is read for each seed")
	}
	f.Replay.Config.Serial, f.Replay.Files = s.first.cfg.Serial, s.first.files // for policies and the page
	if s.variants, err = f.variants(set); err != nil {
		return nil, err
	}
	for _, v := range s.variants {
		trial := s.first.cfg
		if _, err := v.make(&trial); err != nil && (v.program != nil || strings.Contains(v.label, ":")) {
			return nil, fmt.Errorf("--policy: %s: %w", v.label, err)
		} else if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// forms refuses flags that exclude each other.
func (f *Flags) forms(set *pflag.FlagSet) error {
	var given []string
	for _, name := range []string{"json", "csv", "markdown"} {
		if on, err := set.GetBool(name); err == nil && on {
			given = append(given, "--"+name)
		}
	}
	if err := f.plot.check(set); err != nil {
		return err
	}
	switch {
	case len(given) > 1:
		return fmt.Errorf("%s: goes without %s", given[1], given[0])
	case f.seeds != "" && set.Changed("seed"):
		return errors.New("--seeds: goes without --seed")
	case f.resample < 0 || f.resample%time.Second != 0:
		return fmt.Errorf("--resample: %v: must be whole seconds", f.resample)
	case f.resample > 0 && strings.HasPrefix(f.Workload, generate.GeneratorPrefix):
		return errors.New("--resample: is for traces: each seed makes a generated workload of its own")
	case f.answerWithin <= 0:
		return fmt.Errorf("--answer-within: %v: must be above 0", f.answerWithin)
	case f.parallel < 0 || f.parallel > 1024:
		return fmt.Errorf("--parallel: %d: must be 0 to 1024", f.parallel)
	}
	return nil
}

// draw is the trace of a seed.
func (s *study) draw(seed uint64) (*workload.Workload, error) {
	w, err := replay.Resample(s.trace, int64(s.flags.resample/time.Second), seed)
	if err != nil {
		err = fmt.Errorf("--resample: %w", err)
	}
	return w, err
}

// drawn tells whether the jobs depend on the seed.
func (s *study) drawn() bool {
	return strings.HasPrefix(s.flags.Workload, generate.GeneratorPrefix) || s.flags.crews.percent > 0 || s.trace != nil
}

// input is that of a seed.
func (s *study) input(seed uint64) *seeded {
	if !s.drawn() || seed == s.seeds[0] {
		in := *s.first
		in.cfg.Seed = seed
		return &in
	}
	r := s.flags.Replay
	r.Seed = seed
	read := func() (*workload.Workload, error) { return r.Read(s.flags.Workload) }
	if s.trace != nil {
		read = func() (*workload.Workload, error) { return s.draw(seed) }
	}
	w, err := read()
	if err != nil {
		return &seeded{err: err}
	}
	return s.settle(seed, w)
}

// settle gives the jobs of w, which are its own, what the flags say, and makes the simulator's
// configuration for them.
func (s *study) settle(seed uint64, w *workload.Workload) *seeded {
	f := *s.flags
	f.Replay.Seed = seed
	cfg := &f.Replay.Config
	cfg.Seed = seed
	err := func() (err error) {
		if err := errors.Join(f.countMemory(s.machine, w), f.countExactly(s.more.Exact, s.machine, w)); err != nil {
			return err
		}
		if err := f.ranges.apply(cfg, w.Jobs); err != nil {
			return err
		}
		if f.Replay.Files, err = f.Files.apply(s.set, f.memoryCounts, w.Jobs, cfg.Nodes); err != nil {
			return err
		}
		f.Replay.Files.In(cfg)
		if f.Policy.Slurmctld {
			inMinutes(w.Jobs)
			cfg.Release = replay.SlurmRelease
		}
		return f.crews.apply(s.set, cfg, w.Jobs, seed)
	}()
	return &seeded{*cfg, w, f.Replay.Files, err}
}

// inMinutes rounds time limits up to whole minutes.
func inMinutes(jobs []workload.Job) {
	for i := range jobs {
		jobs[i].TimeLimit = (jobs[i].TimeLimit + 59) / 60 * 60
	}
}

// ran is one run.
type ran struct {
	*sim.Result
	seed  uint64
	bound float64 // the least runtime that was possible, in seconds; 0 if that is not known
	// log and the jobs that are in it, if somebody asks for them
	log  *report.Log
	work *workload.Workload
}

// run simulates all, and reports; least is that of [More].
func (f *Flags) run(c *cobra.Command, s *study, least func(*sim.Result, *sim.Config, []workload.Job) (float64, error)) error {
	out, err := f.open(s)
	if err != nil {
		return cli.BadInput(err)
	}
	defer out.discard()
	runs, err := s.run(c.Context(), c.ErrOrStderr(), out.keeps(), least)
	if err != nil {
		return err
	}
	replay.WarnChanges(s.first.work)
	for _, column := range runs {
		replay.WarnUnrun(column[0].Result)
	}
	if err := f.print(c.OutOrStdout(), s, runs); err != nil {
		return err
	}
	page := report.Page{Workload: s.first.work, Nodes: s.first.cfg.Nodes, Command: report.CommandLine(c),
		Settings: slices.Concat(f.Replay.Settings(), f.ranges.settings(), f.crews.settings())}
	if err := out.write(&page, s, runs); err != nil {
		return err
	}
	return noneRan(runs)
}

// run simulates all variants with all seeds, several at a time, and returns the runs by variant and
// seed. Those for which keep is set have a log.
func (s *study) run(ctx context.Context, errs io.Writer, keep func(variant, seed int) bool,
	least func(*sim.Result, *sim.Config, []workload.Job) (float64, error)) ([][]*ran, error) {
	runs := make([][]*ran, len(s.variants))
	for i := range runs {
		runs[i] = make([]*ran, len(s.seeds))
	}
	at := s.flags.parallel
	switch {
	case at == 0 && s.flags.Replay.CycleLimit > 0:
		at = 1 // what a cycle finds by its deadline is to be its own doing
	case at == 0:
		at = runtime.GOMAXPROCS(0)
	}
	bar := newBar(errs, len(s.seeds)*len(s.variants), len(s.first.work.Jobs))
	defer bar.clear()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(at)
	for k, seed := range s.seeds {
		load := sync.OnceValue(func() *seeded { return s.input(seed) })
		for i, v := range s.variants {
			g.Go(func() error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				r, err := s.one(ctx, v, load(), keep(i, k), bar, least)
				if err != nil && len(s.seeds) > 1 {
					err = fmt.Errorf("seed %d: %w", seed, err)
				}
				runs[i][k] = r
				return err
			})
		}
	}
	return runs, g.Wait()
}

// one is a run.
func (s *study) one(ctx context.Context, v *variant, in *seeded, keep bool, bar *bar,
	least func(*sim.Result, *sim.Config, []workload.Job) (float64, error)) (*ran, error) {
	if in.err != nil {
		return nil, in.err
	}
	cfg, r := in.cfg, &ran{seed: in.cfg.Seed}
	p, err := v.make(&cfg)
	if err != nil {
		return nil, err
	}
	cfg.OnCycle = bar.of(len(in.work.Jobs))
	jobs := replay.Settled(&v.from, v.policy, in.work.Jobs)
	if keep {
		r.log, r.work = new(report.Log), in.work
		cfg.OnEnd = r.log.Add
		if &jobs[0] != &in.work.Jobs[0] { // copies, and the log's are the workload's
			of := make(map[*workload.Job]*workload.Job, len(jobs))
			for i := range jobs {
				of[&jobs[i]] = &in.work.Jobs[i]
			}
			cfg.OnEnd = func(x sim.Record) {
				x.Job = of[x.Job]
				r.log.Add(x)
			}
		}
	}
	r.Result, err = sim.Run(ctx, cfg, replay.Limited(p, s.flags.Replay.CycleLimit, &cfg), jobs)
	if c, ok := p.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return nil, err
	}
	r.Policy = v.label
	if least != nil {
		r.bound, err = least(r.Result, &cfg, jobs)
	}
	return r, err
}

// bar is one bar for all runs, on a terminal.
type bar struct {
	*progressbar.ProgressBar
	jobs int // of a run
	done atomic.Int64
}

func newBar(errs io.Writer, runs, jobs int) *bar {
	what := "jobs"
	if runs > 1 {
		what = fmt.Sprintf("jobs of %d runs", runs)
	}
	return &bar{ProgressBar: cli.NewBar(errs, runs*jobs, what, progressbar.OptionSetPredictTime(true)), jobs: jobs}
}

// of is what a run of so many jobs calls in each cycle; nil where there is no terminal.
func (b *bar) of(jobs int) func(sim.Progress) {
	if b.ProgressBar == nil {
		return nil
	}
	said := 0
	return func(p sim.Progress) {
		now := p.End * b.jobs / max(jobs, 1) // as if all runs had as many jobs
		_ = b.Set64(b.done.Add(int64(now - said)))
		said = now
	}
}

func (b *bar) clear() {
	if b.ProgressBar != nil {
		_ = b.Clear()
	}
}

// noneRan is an error if a policy could run no job at all, so that its figures say nothing.
func noneRan(runs [][]*ran) error {
	for _, column := range runs {
		if r := column[0]; r.Jobs == 0 && len(r.Unrun) > 0 {
			return fmt.Errorf("policy %s: not one of %d jobs ran: the first, %s: %s",
				r.Policy, len(r.Unrun), r.Unrun[0].ID, r.Unrun[0].Reason)
		}
	}
	return nil
}
