// SPDX-License-Identifier: BSD-3-Clause

// Package soak runs Slurm for hours under faults, with and without aucsched, and counts what became
// of the jobs.
//
// One seed gives one [Plan]: which job is submitted when and by whom, what its user does to it
// later, and which fault comes when. The same plan is run on stock Slurm and on Slurm with aucsched
// ([Run]). What happened is known from lines that the jobs' scripts write ([Record]), not from
// Slurm. [Judge] compares these lines with the plan, and with what Slurm itself says; [Report]
// compares the two runs. A fault hurts stock Slurm too: a killed slurmctld has forgotten the last
// seconds. So what counts is what is worse than with stock.
package soak
