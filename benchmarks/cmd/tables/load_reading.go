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

// ahead holds each of aucsched's rows against each of stock Slurm's.
func (f *loadFigures) ahead() *table {
	t := &table{textColumns: 6,
		header: []string{"nodes", "queue", "stock", "aucsched", "stock is ahead in", "aucsched is ahead in"}}
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
	return t
}
