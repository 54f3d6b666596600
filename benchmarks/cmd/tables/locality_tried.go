// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/aucsched/aucsched/benchmarks/locality"
)

// keeping is a scheduler with a rule of its own.
func keeping(name, meaning string, keep locality.Keep) scheduler {
	return scheduler{name, meaning, locality.Options{Policy: "lea", Keep: keep}}
}

// behind is how many cores jobs behind ask for, of all cores, over full, and at most 1.
func behind(d locality.Demand, full float64) float64 {
	return min(1, float64(d.Behind)/(full*float64(d.Cores)))
}

// ramp grows from 0 at low to 1 at high.
func ramp(x, low, high float64) float64 { return max(0, min(1, (x-low)/(high-low))) }

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func busyNodes(d locality.Demand) float64 { return float64(d.BusyNodes) / float64(d.Nodes) }

// waitAtMost is how far LEA may go if a job is to wait for its file no longer than its time limit.
func waitAtMost(d locality.Demand) float64 {
	return min(1, float64(d.Job.WallTime)/max(1, 500*float64(d.Load)))
}

// triedRules were tried, and lead was kept.
var triedRules = []scheduler{
	keeping("busy nodes", "from EFT at 60% of busy nodes to LEA at 100%", func(d locality.Demand) (float64, float64) {
		x := ramp(busyNodes(d), 0.6, 1)
		return x, x
	}),
	keeping("busy nodes, powers", "the same with the weight growing by equal factors", func(d locality.Demand) (float64, float64) {
		x := (math.Pow(500, ramp(busyNodes(d), 0.6, 1)) - 1) / 499
		return x, x
	}),
	keeping("busy cores", "from LEO at 70% of busy cores to LEA at 90%", func(d locality.Demand) (float64, float64) {
		return ramp(busyCores(d), 0.7, 0.9), 1
	}),
	keeping("queue", "from LEO to LEA as all waiting jobs, not only those behind, ask for up to 10% of the cores",
		func(d locality.Demand) (float64, float64) {
			return min(1, float64(d.Queued)/(0.1*float64(d.Cores))), 1
		}),
	keeping("idle cores", "from LEO to LEA as the jobs behind can fill the idle cores", func(d locality.Demand) (float64, float64) {
		return min(1, float64(d.Behind)/float64(max(1, d.IdleCores))), 1
	}),
	keeping("idle cores, switch", "LEA if the jobs behind can fill the idle cores, else LEO", func(d locality.Demand) (float64, float64) {
		return yes(d.Behind >= d.IdleCores), 1
	}),
	keeping("behind", "from LEO to LEA as the jobs behind ask for up to 3% of the cores, however many are busy", behindUpTo(0.03)),
	keeping("behind, EFT", "the same from EFT", func(d locality.Demand) (float64, float64) {
		x := behind(d, 0.03)
		return x, x
	}),
	keeping("behind, 2%", "LEA from 2% of the cores on", behindUpTo(0.02)),
	keeping("behind, 5%", "from 5% on", behindUpTo(0.05)),
	keeping("behind, 10%", "from 10% on", behindUpTo(0.1)),
	keeping("behind, 50%", "from 50% on", behindUpTo(0.5)),
	keeping("behind, room below 90%", "lead's, but from LEO at 80% of busy cores", func(d locality.Demand) (float64, float64) {
		return behind(d, 0.03) * ramp(busyCores(d), 0.8, 0.9), 1
	}),
	keeping("behind, room below 95%", "from LEO at 85% of busy cores to 95%", func(d locality.Demand) (float64, float64) {
		return behind(d, 0.03) * ramp(busyCores(d), 0.85, 0.95), 1
	}),
	keeping("behind, room below 100%", "from LEO at 90% of busy cores to 100%", func(d locality.Demand) (float64, float64) {
		return behind(d, 0.03) * ramp(busyCores(d), 0.9, 1), 1
	}),
	keeping("behind or cores", "behind, or from 90% of busy cores to 100% if that is more", func(d locality.Demand) (float64, float64) {
		return max(behind(d, 0.03), ramp(busyCores(d), 0.9, 1)), 1
	}),
	keeping("behind, time limit", "behind, but no job waits for its file for much longer than its time limit",
		func(d locality.Demand) (float64, float64) {
			return behind(d, 0.03) * waitAtMost(d), 1
		}),
	keeping("weaker LEO", "LEO with a weight of 51 instead of 500", func(locality.Demand) (float64, float64) { return 0, 0.1 }),
}

func busyCores(d locality.Demand) float64 { return 1 - float64(d.IdleCores)/float64(d.Cores) }

func behindUpTo(full float64) locality.Keep {
	return func(d locality.Demand) (float64, float64) { return behind(d, full), 1 }
}
