// SPDX-License-Identifier: BSD-3-Clause

// Package sim runs a [core.Policy] over a workload in simulated time and measures
// what the papers measure.
//
// [Run] is an event-driven simulator: jobs are submitted and end, and at multiples
// of the scheduling interval, if something has happened since the last time, the
// policy decides. Every plan is checked by [core.Verify]. Given the same jobs, options
// and a policy that keeps to its Work limits, the same schedule comes out, bit for bit;
// only the wall-clock times of the cycles differ.
//
// Jobs may name an input file that each of their nodes has to load if it has it not: see [Files].
//
// [Backfill] is the policy that the papers compare with: Slurm's main scheduler
// followed by its backfill scheduler. [List] is EASY, with orders of one's choice.
package sim
