package main

import (
	"fmt"
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
	{"squeue p50", false, func(x *load.Figures) float64 { return x.Squeue.Quantile(0.5).Seconds() }},
	{"squeue p99", false, func(x *load.Figures) float64 { return x.Squeue.Quantile(0.99).Seconds() }},
	{"sbatch p50", false, func(x *load.Figures) float64 { return x.Sbatch.Quantile(0.5).Seconds() }},
	{"sbatch p99", false, func(x *load.Figures) float64 { return x.Sbatch.Quantile(0.99).Seconds() }},
	{"CPU", false, func(x *load.Figures) float64 { return x.CPU }},
	{"memory", false, func(x *load.Figures) float64 { return float64(x.RSS) }},
	{"starts", true, perMinute},
	{"cores busy", true, func(x *load.Figures) float64 { return x.Busy }},
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
		switch {
		case x > 0 && y == 0:
			ahead = append(ahead, c.name)
		case y > 0 && x/y > clear:
			ahead = append(ahead, fmt.Sprintf("%s %s", c.name, times(x/y)))
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
