// SPDX-License-Identifier: BSD-3-Clause

// Package emulation runs workloads on a real slurmctld in less time than they take: all
// of Slurm's daemons live by a clock that runs fast while they have nothing to do, and at
// the world's rate while they compute, so that scheduling costs what it costs. The nodes
// are played by one process; jobs last as long as their duration and execute nothing.
//
//	r, err := emulation.Run(ctx, emulation.Options{
//		Dir: dir, Tools: tools, Machine: nodes, Jobs: w.Jobs, Rate: 200,
//	})
//
// What is measured comes from Slurm's own records of completed jobs, by the same code that
// measures simulations ([sim.Meter]). A run that was not faithful is an error: see
// [Faults].
package emulation
