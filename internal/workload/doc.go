// SPDX-License-Identifier: BSD-3-Clause

// Package workload is what a simulator replays: jobs with their submission times and durations. It
// reads the output of Slurm's sacct ([ReadSacct]); benchmarks/traces reads other traces on top of
// it, and internal/test/generate makes the synthetic workloads of the papers.
//
// Readers convert every job or none. What a job lacks is settled by the rules that each reader
// documents. Jobs that cannot be replayed (they never started, say) are left out and counted by
// reason in [Workload].Skipped. Jobs that were changed are counted in [Workload].Adjusted. Anything
// malformed is an [*InputError], which names file, line, field and value.
package workload
