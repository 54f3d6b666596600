// SPDX-License-Identifier: BSD-3-Clause

// Package slurm attaches the invasive resource manager to Slurm: jobs of one of its partitions
// are held by the plug-in job_submit/aucsched, negotiated by an iScheduler ([Client.Held]),
// and started by Slurm when the iHypervisor releases them ([Launcher]). Docs/invasive-slurm.md
// is how it is set up.
//
// Slurm is asked by its own commands. Its jobs keep their numbers, so that whoever forgets
// something, or says it twice, does no harm: a job is taken from Slurm's own list as long as it is
// held there, and releasing it once more does nothing. Slurm starts it as any other, as its user,
// with its accounting, limits and output; the [Launcher] finds its processes below their
// slurmstepds, and keeps them to the CPUs of the ledger.
package slurm

// Command is the first word of the jobs of a queue that are Slurm's: no programme has this name,
// should an iHypervisor of another kind come by it.
const Command = "slurm job"
