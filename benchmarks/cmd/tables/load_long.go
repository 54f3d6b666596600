// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/aucsched/aucsched/benchmarks/emulation/load"
)

// longFigures are those of the page of the long queue.
type longFigures struct {
	loadFigures
	Runs  []*load.LongRun // as All
	Files string          // the kind of file system that holds slurmctld's state
}

// longLoads measures one long queue and writes the page.
func longLoads(ctx context.Context, lo loadOptions, errs io.Writer) (string, error) {
	o := load.Options{Seed: lo.seed, Warm: 45 * time.Second, Window: 60 * time.Second, Asks: 60, Lists: 12, Sinfo: true, Log: errs}
	size, rivals := load.Long(), load.LongRivals()
	if lo.quick {
		o.Warm, o.Window, o.Asks, o.Lists = 6*time.Second, 15*time.Second, 20, 10
		size = load.Size{Nodes: 100, Jobs: 1000}
	}
	f := longFigures{loadFigures: loadFigures{Rivals: rivals}}
	err := f.measure(o, lo.dir, func(o *load.Options) (err error) {
		if f.Files, err = fileSystem(o.Dir); err != nil {
			return err
		}
		f.Runs, err = load.RunLong(ctx, o, size, rivals)
		return err
	})
	if err != nil {
		return "", err
	}
	return f.page()
}

// page is benchmarks/results/load-long.md.
func (f *longFigures) page() (string, error) {
	f.All = nil
	for i := range f.Runs {
		f.All = append(f.All, f.Runs[i].Figures)
	}
	return render("load-long", map[string]any{
		"Files": f.Files, "Machine": f.Machine, "Slurm": f.Slurm, "Node": load.Node, "Size": f.All[0].Size,
		"Options": f.Options, "LeastWarm": f.Options.Warm / 3, "Rivals": f.Rivals,
		"Clients": f.clients(), "Sinfo": f.sinfo(), "Controller": f.controller(), "Restarts": f.restarts(),
		"SlurmCycles": f.slurmCycles(), "AuctionCycles": f.auctionCycles(), "Ahead": f.ahead(),
	})
}

func (f *longFigures) sinfo() *table {
	t := sized("sinfo n", "failed", "p50", "p99", "max", "jobs at their limits")
	for _, x := range f.All {
		t.add(append(append(who(x), waits(&x.Sinfo)...), count(x.TimedOut))...)
	}
	return t
}

func (f *longFigures) restarts() *table {
	t := &table{textColumns: 2, header: []string{"scheduler", "way", "ended s", "answered s", "first cycle s", "first start s",
		"jobs before", "after", "lost", "ran again", "end twice", "RSS MiB"}}
	for i := range f.Runs {
		for _, r := range f.Runs[i].Restarts {
			t.add(r.Rival.Name, r.Way, seconds(r.Ended), seconds(r.Answered), seconds(r.Cycle), seconds(r.Start),
				count(r.Before), count(r.After), count(r.Lost), count(r.Again), count(r.Twice), mebibytes(r.RSS))
		}
	}
	return t
}

// seconds is "-" for what has not been.
func seconds(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", d.Seconds())
}
