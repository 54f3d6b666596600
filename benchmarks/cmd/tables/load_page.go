// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/aucsched/aucsched/benchmarks/emulation/load"
	"github.com/aucsched/aucsched/internal/slurmtest"
)

// page is benchmarks/results/load.md.
func (f *loadFigures) page() string {
	var p page
	p.heading(1, "A long queue on a real slurmctld")
	p.say("Written by `make load`, which is `go run ./benchmarks/cmd/tables load > benchmarks/results/load.md`; change the command, not this page. `-quick` tries it in a minute on a small machine.")
	p.say("Measured on: %s, Slurm %s. The two cores of such a machine are slurmctld's, its clients' and those of the process that plays the nodes; a controller of its own has more.", f.Machine, f.Slurm)
	f.writeMethod(&p)
	f.writeRivals(&p)
	f.writeClients(&p)
	f.writeController(&p)
	f.writeSlurmCycles(&p)
	f.writeAuctionCycles(&p)
	f.writeReading(&p)
	writeCauses(&p)
	return p.String()
}

func (f *loadFigures) writeMethod(p *page) {
	p.heading(2, "How")
	p.list(
		fmt.Sprintf("A stock slurmctld; all nodes, of %d cores and %d GPUs each, are played by one process (package emulation), at the world's rate. Jobs execute nothing. No munge (auth/none), no accounting, jobcomp/filetxt, priority/basic.", load.Node.Cores, load.Node.GPUs),
		"The queue: workload V.1 of package workload (seed "+fmt.Sprint(f.Options.Seed)+"): a third of the jobs ask for cores, a third for nodes, a third for nodes with 1 or 2 GPUs; up to half a per cent of all cores, 1 to 10 minutes long, so that some 400 run at a time on either machine. Those that fill the machine first have part of their time behind them: jobs end, and others start, all the time.",
		"Each job is a record of its own, submitted by an sbatch of its own, four at a time, to a slurmctld whose partition is down. Its saved state is then what the slurmctld of every scheduler starts with: all have the same queue before them. When it has heard from all nodes the partition goes up, and nothing else happens until the machine is full or the warm-up is over.",
		fmt.Sprintf("Warm-up: until %.0f%% of the cores are busy, %v to %v. Window: %v. In it squeue (of the whole queue, formatted as ever) and sbatch (of a further job, of the lowest priority) run %d times each at a fixed pace, whether or not those before have their answers. Their times are from when they were due, processes and all.", 95.0, f.Options.Warm/3, f.Options.Warm, f.Options.Window, f.Options.Asks),
		"One window for each row: schedules differ from run to run, and what happens once or twice in a window (a backfill cycle) more so. n is how many times a figure was taken.",
	)
}

func (f *loadFigures) writeRivals(p *page) {
	p.heading(2, "Schedulers")
	var items []string
	for _, r := range f.Rivals {
		what := "Slurm alone"
		if r.Auction {
			what = "aucsched's plug-ins, Slurm's own schedulers going on beside them"
		}
		with := "the defaults"
		if r.Parameters != "" {
			with = "`" + strings.ReplaceAll(r.Parameters, ",", ", ") + "`"
		}
		items = append(items, fmt.Sprintf("%s: %s, with %s.", r.Name, what, with))
	}
	p.list(items...)
	p.say("\"tuned\" is what Slurm's High Throughput Computing Administration Guide gives as a starting point for many jobs, with `defer`, which its text recommends, and `max_rpc_cnt`, which slurm.conf(5) does. Left out are its `bf_interval=300`, with which jobs of some minutes would hardly be backfilled at all, and `bf_min_age_reserve=10800`, which gives up reservations for the first three hours.")
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
func sized(columns ...string) table {
	return table{textColumns: 3, header: append([]string{"nodes", "queue", "scheduler"}, columns...)}
}

func (f *loadFigures) writeClients(p *page) {
	p.heading(2, "Clients")
	p.say("Milliseconds.")
	t := sized("squeue n", "failed", "p50", "p99", "max", "sbatch n", "failed", "p50", "p99", "max")
	for _, x := range f.All {
		row := who(x)
		for _, l := range []*load.Latencies{&x.Squeue, &x.Sbatch} {
			n := len(l.Sorted)
			row = append(row, count(n), count(l.Failed), ms(n, l.Quantile(0.5)), ms(n, l.Quantile(0.99)), ms(n, l.Quantile(1)))
		}
		t.add(row...)
	}
	p.table(&t)
}

func (f *loadFigures) writeController(p *page) {
	p.heading(2, "slurmctld, and what gets done")
	p.say("CPU is how many processors slurmctld kept busy, \"others\" what everything else did: the clients first of all, and now and then other work on the machine. RSS is at the end of the window. \"full after\" is how long it took from the empty machine to 95%% of the cores busy; \"cores busy\" their share in the window, the mean of looks 5 s apart. \"registrations\" are those of nodes: a slurmctld that has just begun has each node register, more than once, and in a row with many of them CPU and sbatch are theirs in part (validate_jobs_on_node() goes through all jobs for each node), whoever schedules.")
	t := sized("window s", "CPU", "others", "RSS MiB", "at most", "full after s", "cores busy %", "looks", "starts", "a minute", "running", "waiting", "registrations")
	for _, x := range f.All {
		filled := "not in time"
		if x.Filled > 0 {
			filled = fmt.Sprintf("%.1f", x.Filled.Seconds())
		}
		t.add(append(who(x), fmt.Sprintf("%.0f", x.Window.Seconds()), fmt.Sprintf("%.2f", x.CPU), fmt.Sprintf("%.2f", x.Others),
			fmt.Sprintf("%.0f", float64(x.RSS)/(1<<20)), fmt.Sprintf("%.0f", float64(x.PeakRSS)/(1<<20)), filled, fmt.Sprintf("%.1f", 100*x.Busy), count(x.Looks),
			count(x.Started), fmt.Sprintf("%.0f", perMinute(x)), count(x.Running), count(x.Pending), count(x.Registrations))...)
	}
	p.table(&t)
}

func perMinute(x *load.Figures) float64 { return float64(x.Started) / x.Window.Minutes() }

func (f *loadFigures) writeSlurmCycles(p *page) {
	p.heading(2, "Slurm's own cycles")
	p.say("As sdiag has them, in milliseconds; depth is how many jobs a cycle looks at, in the mean. A main cycle holds the locks all along; a backfill cycle's time is without its pauses, and it ends at `bf_max_time` (as long as `bf_interval`), pauses and all. A cycle that was under way when the window ended is not in it.")
	t := sized("main n", "mean", "max", "last", "depth", "backfill n", "mean", "max", "last", "depth")
	for _, x := range f.All {
		row := who(x)
		for _, c := range []*slurmtest.Cycles{&x.Main, &x.Backfill} {
			row = append(row, count(int(c.Count)), us(c.Count, c.Mean), us(c.Count, c.Max), us(c.Count, c.Last), count(int(c.DepthMean)))
		}
		t.add(row...)
	}
	p.table(&t)
}

func (f *loadFigures) writeAuctionCycles(p *page) {
	p.heading(2, "The auction's cycles")
	p.say("Milliseconds, mean and greatest of the cycles seen (slurmctld writes them down once a second at most). Only snapshot, start and lock hold slurmctld's locks: snapshot is the first part of a cycle, \"start\" all batches of starts, \"lock\" what is held outside of starts, the snapshot in it. n of \"start\" is the cycles that started something. \"rest\" is what is left of the mean cycle: waiting for the locks while backfill has them, and saving: starts are saved before they are launched, slurmctld writing down all jobs with its job read lock.")
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
	p.table(&t)
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
