// SPDX-License-Identifier: BSD-3-Clause

// Package workload reads, writes and generates workloads: jobs with their
// submission times and durations, which a simulator replays.
//
// [ReadFile] reads a trace in any format that it knows: the Standard Workload
// Format of the Parallel Workloads Archive ([ReadSWF]), the output of Slurm's
// sacct ([ReadSacct]), and two traces of GPU clusters ([ReadAlibaba], [ReadPhilly]).
// [Generate] makes the synthetic workloads of the papers. [ParseCluster] reads the
// machine that a workload runs on.
//
// Readers convert every job or none. What a job lacks is settled by the rules that
// each reader documents; jobs that cannot be replayed (they never started, say)
// are left out and counted by reason in [Workload].Skipped, and jobs of which
// something was changed in [Workload].Adjusted. Anything malformed is an
// [*InputError], which names file, line, field and value.
package workload
