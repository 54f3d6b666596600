// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/emulation/load"
)

// loadCriterion is a figure by which schedulers are held against each other.
type loadCriterion struct {
	name   string
	more   bool // is better
	figure func(*load.Figures) float64
}

var loadCriteria = []loadCriterion{
	{"squeue p50", false, func(x *load.Figures) float64 { return latency(&x.Squeue, 0.5) }},
	{"squeue p99", false, func(x *load.Figures) float64 { return latency(&x.Squeue, 0.99) }},
	{"sbatch p50", false, func(x *load.Figures) float64 { return latency(&x.Sbatch, 0.5) }},
	{"sbatch p99", false, func(x *load.Figures) float64 { return latency(&x.Sbatch, 0.99) }},
	{"CPU", false, func(x *load.Figures) float64 { return x.CPU }},
	{"memory", false, func(x *load.Figures) float64 { return float64(x.RSS) }},
	{"starts", true, perMinute},
	{"cores busy", true, func(x *load.Figures) float64 { return x.Busy }},
}

// latency is infinite if nobody got an answer.
func latency(l *load.Latencies, q float64) float64 {
	if len(l.Sorted) == 0 {
		return math.Inf(1)
	}
	return l.Quantile(q).Seconds()
}

// clear is by how much two figures of one window must differ to be told apart.
const clear = 1.05

// against says in which figures a is ahead of b, and by what factor.
func against(a, b *load.Figures) string {
	var ahead []string
	for _, c := range loadCriteria {
		x, y := c.figure(a), c.figure(b)
		if !c.more {
			x, y = y, x
		}
		switch ratio := x / y; {
		case math.IsInf(ratio, 1):
			ahead = append(ahead, c.name)
		case ratio > clear:
			ahead = append(ahead, fmt.Sprintf("%s %s", c.name, times(ratio)))
		}
	}
	if ahead == nil {
		return "nothing"
	}
	return strings.Join(ahead, ", ")
}

// writeReading holds each of aucsched's rows against each of stock Slurm's.
func (f *loadFigures) writeReading(p *page) {
	p.heading(2, "Who is ahead")
	p.say("In which figures, and how many times better, if by more than 5%%.")
	t := table{textColumns: 6, header: []string{"nodes", "queue", "stock", "aucsched", "stock is ahead in", "aucsched is ahead in"}}
	for _, a := range f.All {
		if a.Rival.Auction {
			continue
		}
		for _, b := range f.All {
			if b.Rival.Auction && b.Size == a.Size {
				t.add(count(a.Size.Nodes), count(a.Size.Jobs), a.Rival.Name, b.Rival.Name, against(a, b), against(b, a))
			}
		}
	}
	p.table(&t)
}

// writeCauses says what the figures come from.
func writeCauses(p *page) {
	p.heading(2, "Where it comes from")
	p.list(
		"Slurm's backfill holds the locks that sbatch and squeue wait for until it yields them, after `bf_yield_interval` (2 s; \"tuned\": 1 s). Without `bf_continue` it then gives up if anything has changed, after one or two yields here. That is the p99 of the clients with stock Slurm, and with the auction too, beside which backfill goes on planning as ever. With `bf_interval=300` the first backfill cycle comes after the window: its row shows clients between two backfill cycles, which then is most of the time, not a backfill that is any shorter.",
		"The snapshot has Slurm build and sort the queue of all pending jobs, as each of its main cycles does (compare the two): this part grows with the queue. What the library is given does not: `auc_window` and `auc_depth` bound it.",
		"\"rest\" grows with the queue, too: with `auc_save=yes` each cycle with starts has Slurm write the state of all jobs down before anything is launched, where stock Slurm does so every five seconds at most. Beside `bf_interval=300`, where no backfill is waited for, \"rest\" is about that alone; it was not measured by itself. `auc_save=no` goes without, and without what it is for ([slurm.md](../../docs/slurm.md)).",
		"Stock Slurm fills a machine by its main loop until a job does not fit; those behind it have to wait for backfill, which begins every 30 s. The auction fills the gaps in each cycle. \"stock, tuned\" fills slowly (`batch_sched_delay`, `defer`): part of its starts in the window are still of the first filling, so that its starts a minute are no measure of its speed.",
		"The starts of a machine that stays full are as many as its ends: there they do not tell schedulers apart, save for the sizes of the jobs that they choose.",
	)
}
