// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"time"

	"github.com/aucsched/aucsched/benchmarks/emulation/load"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// page is benchmarks/results/load.md.
func (f *loadFigures) page() (string, error) {
	return render("load", map[string]any{
		"Machine": f.Machine, "Slurm": f.Slurm, "Node": load.Node,
		"Options": f.Options, "LeastWarm": f.Options.Warm / 3, "Rivals": f.Rivals,
		"Clients": f.clients(), "Controller": f.controller(),
		"SlurmCycles": f.slurmCycles(), "AuctionCycles": f.auctionCycles(), "Ahead": f.ahead(),
	})
}

// ms is a time in milliseconds, or "-" if it was never taken.
func ms(n int, d time.Duration) string {
	if n == 0 {
		return "-"
	}
	x := float64(d) / 1e6
	if x < 99.95 {
		return digits(x)
	}
	return count(int(x + 0.5))
}

func us(c int64, v int64) string { return ms(int(c), time.Duration(v)*time.Microsecond) }

// who begins a row.
func who(x *load.Figures) []string {
	return []string{count(x.Size.Nodes), count(x.Size.Jobs), x.Rival.Name}
}

// sized is a table whose rows begin with who.
func sized(columns ...string) *table {
	return &table{textColumns: 3, header: append([]string{"nodes", "queue", "scheduler"}, columns...)}
}

func (f *loadFigures) clients() *table {
	t := sized("squeue n", "failed", "p50", "p99", "max", "sbatch n", "failed", "p50", "p99", "max")
	for _, x := range f.All {
		row := who(x)
		for _, l := range []*load.Latencies{&x.Squeue, &x.Sbatch} {
			row = append(row, waits(l)...)
		}
		t.add(row...)
	}
	return t
}

// waits are how many there were, how many failed, and how long they took.
func waits(l *load.Latencies) []string {
	n := len(l.Sorted)
	return []string{count(n), count(l.Failed), ms(n, l.Quantile(0.5)), ms(n, l.Quantile(0.99)), ms(n, l.Quantile(1))}
}

func (f *loadFigures) controller() *table {
	t := sized("window s", "CPU", "others", "RSS MiB", "at most", "full after s", "cores busy %",
		"looks", "starts", "a minute", "running", "waiting", "registrations")
	for _, x := range f.All {
		filled := "not in time"
		if x.Filled > 0 {
			filled = fmt.Sprintf("%.1f", x.Filled.Seconds())
		}
		t.add(append(who(x), fmt.Sprintf("%.0f", x.Window.Seconds()), fmt.Sprintf("%.2f", x.CPU),
			fmt.Sprintf("%.2f", x.Others), mebibytes(x.RSS), mebibytes(x.PeakRSS), filled,
			fmt.Sprintf("%.1f", 100*x.Busy), count(x.Looks),
			count(x.Started), fmt.Sprintf("%.0f", perMinute(x)), count(x.Running), count(x.Pending), count(x.Registrations))...)
	}
	return t
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.0f", float64(bytes)/(1<<20)) }

func perMinute(x *load.Figures) float64 { return float64(x.Started) / x.Window.Minutes() }

func (f *loadFigures) slurmCycles() *table {
	t := sized("main n", "mean", "max", "last", "depth", "backfill n", "mean", "max", "last", "depth")
	for _, x := range f.All {
		row := who(x)
		for _, c := range []*slurmtest.Cycles{&x.Main, &x.Backfill} {
			row = append(row, count(int(c.Count)), us(c.Count, c.Mean), us(c.Count, c.Max),
				us(c.Count, c.Last), count(int(c.DepthMean)))
		}
		t.add(row...)
	}
	return t
}

func (f *loadFigures) auctionCycles() *table {
	t := sized("cycles", "n", "cycle", "snapshot", "decide", "lock", "start n", "start", "rest")
	for _, x := range f.All {
		a := x.Auction
		if a == nil {
			continue
		}
		row := append(who(x), count(a.Cycles), count(a.Cycle.N))
		for _, y := range []*load.Times{&a.Cycle, &a.Snapshot, &a.Decide, &a.Lock} {
			row = append(row, both(y))
		}
		t.add(append(row, count(a.Start.N), both(&a.Start), ms(a.Cycle.N, rest(a)))...)
	}
	return t
}

// rest is what the mean cycle spends neither deciding nor with the locks that are counted.
func rest(a *load.Auction) time.Duration {
	if a.Cycle.N == 0 {
		return 0
	}
	starts := a.Start.Mean * time.Duration(a.Start.N) / time.Duration(a.Cycle.N)
	return max(a.Cycle.Mean-a.Decide.Mean-a.Lock.Mean-starts, 0)
}

// both is mean and greatest.
func both(t *load.Times) string {
	if t.N == 0 {
		return "-"
	}
	return ms(t.N, t.Mean) + ", " + ms(t.N, t.Max)
}
