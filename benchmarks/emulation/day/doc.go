// SPDX-License-Identifier: BSD-3-Clause

// Package day has a real Slurm with accounts run a day of a site's mixed load under the clock of
// package emulation, in minutes, and keeps what a site has of such a day: slurm.conf and what sacct
// prints. `aucsched try` reads both, and its simulated Slurm can be held against what ran.
//
// slurmctld, slurmdbd and the nodes live by the fast clock; the database by the world's.
package day
