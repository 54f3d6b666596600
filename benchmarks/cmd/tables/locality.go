// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/aucsched/aucsched/benchmarks/locality"
)

// localityOptions are those of the command.
type localityOptions struct {
	data, traces string // directories of the authors' log, and of others'
	// of the days that are reported, and of those with which the rule was chosen
	seeds, tried seedRange
	shrink       int    // the cluster has one in so many of the log's nodes
	jobs         int    // simulations at once
	dir          string // keeps what is done
	html, svg    string // files of pictures
	traceDays    int
}

func (o *localityOptions) register(flags *flag.FlagSet) {
	flags.StringVar(&o.data, "data", "", "directory with cluster_486x20.txt and workload_2022-09-10.txt")
	flags.Var(&o.seeds, "seeds", "seeds of the days, FIRST-LAST")
	flags.Var(&o.tried, "tried", "seeds of days on which to measure the rules that were tried, FIRST-LAST; without it they are left out")
	flags.IntVar(&o.shrink, "shrink", 4, "have the cluster be so many times smaller than the log's, and sessions too")
	flags.StringVar(&o.traces, "traces", "", "directory with "+otherTrace+"; without it there are only days of the log")
	flags.IntVar(&o.traceDays, "trace-days", 20, "most days of the trace")
	flags.IntVar(&o.jobs, "j", 0, "simulations at once; 0: as many as there are processors")
	flags.StringVar(&o.dir, "dir", "",
		"keep what is done in this directory, and go on with what is there: empty it when the programme has changed")
	flags.StringVar(&o.html, "html", "", "write a page of pictures to this file")
	flags.StringVar(&o.svg, "plot", "", "write the distributions, SVG, to this file")
}

// dayFigures are what one scheduler came to on one day.
type dayFigures struct {
	Day, Scheduler string
	Jobs           int
	Stretch        float64
	Transfer       int64 // seconds of loads
	// Queued is how many cores waiting jobs asked for in the mean of the
	// evaluated time, of all cores.
	Queued float64
}

// scheduler is a policy, or a rule of its own in the place of one.
type scheduler struct {
	name, meaning string
	options       locality.Options
}

// policiesOf are the package's policies with those names.
func policiesOf(names ...string) []scheduler {
	var out []scheduler
	for _, name := range names {
		out = append(out, scheduler{name: name, options: locality.Options{Policy: name}})
	}
	return out
}

// plainPolicies are those without backfilling, the baseline first; backfilled are their twins.
var (
	plainPolicies = []string{"fcfs", "eft", "lea", "leo", "lem", "lead"}
	backfilled    = []string{"fcfs-bf", "eft-bf", "lea-bf", "leo-bf", "lem-bf", "lead-bf"}
)

// localityDays measures and writes the page.
func localityDays(ctx context.Context, o localityOptions, errs io.Writer) (text string, err error) {
	if o.data == "" {
		return "", errors.New("-data is needed: a directory with cluster_486x20.txt and workload_2022-09-10.txt")
	}
	if o.shrink < 1 || o.jobs < 0 || o.traceDays < 0 {
		return "", fmt.Errorf("-shrink %d, -j %d, -trace-days %d: must be at least 1, 0 and 0", o.shrink, o.jobs, o.traceDays)
	}
	log, err := readLog(o.data, o.shrink)
	if err != nil {
		return "", err
	}
	f := localityFigures{Options: o, Nodes: len(log.nodes)}
	days := log.days(o.seeds)
	if o.traces != "" {
		more, err := traceDays(o.traces, o.traceDays)
		if err != nil {
			return "", err
		}
		days = append(days, more...)
	}
	done, err := openKept[dayFigures](o.dir, "locality.jsonl")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done.close()) }()
	m := measurer{ctx: ctx, jobs: cmp.Or(o.jobs, runtime.NumCPU()), done: done, errs: errs}
	if f.Days, err = m.all(days, policiesOf(slices.Concat(plainPolicies, backfilled)...)); err != nil {
		return "", err
	}
	if o.tried.First > 0 {
		if f.Tried, err = m.all(log.days(o.tried), append(policiesOf(plainPolicies...), triedRules...)); err != nil {
			return "", err
		}
	}
	if err := f.pictures(ctx, days); err != nil {
		return "", err
	}
	return f.page()
}

// measurer simulates days, several at once, and keeps what is done, by day and scheduler.
type measurer struct {
	ctx  context.Context
	jobs int
	done *kept[dayFigures]
	mu   sync.Mutex // of errs
	errs io.Writer
}

// all are the figures of all schedulers on all days, the schedulers of a day one after the other.
func (m *measurer) all(days []localityDay, schedulers []scheduler) ([]dayFigures, error) {
	out := make([]dayFigures, len(days)*len(schedulers))
	ctx, cancel := context.WithCancelCause(m.ctx)
	defer cancel(nil)
	next := make(chan int)
	var wait sync.WaitGroup
	for range m.jobs {
		wait.Go(func() {
			for d := range next {
				if err := m.day(ctx, days[d], schedulers, out[d*len(schedulers):]); err != nil {
					cancel(fmt.Errorf("%s: %w", days[d].name, err))
				}
			}
		})
	}
	for d := range days {
		select {
		case next <- d:
		case <-ctx.Done():
		}
	}
	close(next)
	wait.Wait()
	return out, context.Cause(ctx)
}

// day measures a day into out.
func (m *measurer) day(ctx context.Context, d localityDay, schedulers []scheduler, out []dayFigures) error {
	var jobs []locality.Job
	for i, s := range schedulers {
		part := d.name + ", " + s.name
		f, ok := m.done.get(part)
		if ok {
			out[i] = f
			continue
		}
		if jobs == nil {
			var err error
			if jobs, err = d.jobs(); err != nil {
				return err
			}
		}
		f, err := simulateDay(ctx, d, jobs, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		out[i] = f
		if err := m.done.put(part, f); err != nil {
			return err
		}
		m.mu.Lock()
		fmt.Fprintf(m.errs, "%s: %s: stretch %.3f\n", f.Day, f.Scheduler, f.Stretch)
		m.mu.Unlock()
	}
	return nil
}

// simulateDay runs one scheduler on one day.
func simulateDay(ctx context.Context, d localityDay, jobs []locality.Job, s scheduler) (dayFigures, error) {
	q := newQueueMeter(d.nodes, jobs)
	o := s.options
	o.OnStart = q.start
	r, err := locality.Simulate(ctx, d.nodes, jobs, o)
	if err != nil {
		return dayFigures{}, err
	}
	return dayFigures{d.name, s.name, r.Jobs, r.StretchMean, r.Transfer, q.mean()}, nil
}
