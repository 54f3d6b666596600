// SPDX-License-Identifier: BSD-3-Clause

// Package try replays what a site's Slurm did in some weeks, by its accounts, under a simulated
// Slurm and under presets of the auction. It says who would have waited for how long.
//
// Jobs are as they were: they ask for the processors that they were given, could begin when they
// were eligible, and run for as long as they ran.
package try
