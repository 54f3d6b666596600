// SPDX-License-Identifier: BSD-3-Clause

// Package slurmtest brings up a private, real Slurm cluster on this one machine
// and watches what it does: the stock slurmctld, one stock slurmd a virtual node,
// a munged with a key of its own, all on loopback and in one directory. Nothing of
// the system's Slurm is read or changed.
//
//	c, err := slurmtest.Start(ctx, dir, slurmtest.Config{Groups: slurmtest.Uniform(64, 8, 2)})
//	if err != nil { ... }
//	defer c.Stop()
//	id, err := c.Sbatch(ctx, []string{"-n4", "--gres=gpu:1"}, c.Script("sleep 2"))
//
// [Start] needs root and the programs of Debian's slurmctld, slurmd, slurm-client
// and munge packages; without them it returns an [ErrMissing] that says what to
// install. Whatever becomes of the calling process, a watchdog ends all that was
// started: see [Cluster.Stop].
//
// [Site] is the configuration of a small production site: with [Config.Accounting] a cluster
// has a slurmdbd and a MariaDB of its own too, up in some seconds, so that limits
// and priorities by fair share are real. They need Debian's slurmdbd,
// slurm-wlm-mysql-plugin, mariadb-server-core and mariadb-client-core.
//
// With [Config.Faults] slurmctld's files are slow, fail or have no room, and the wall clock is
// set, when a test says so ([Cluster.Faults]): a small C library is put before libc.
//
// Commands are the stock ones, with SLURM_CONF set ([Cluster.Sbatch],
// [Cluster.Squeue], ...). A [Watcher] is a referee that knows nothing of any
// scheduler: it reads "scontrol show job -d" once a second and says when a node, a
// core or a GPU is given away twice, or a job runs without what it asked for.
//
// The tests that start a cluster run when AUCSCHED_SLURM_TEST=1:
//
//	AUCSCHED_SLURM_NODES   nodes of the machine, 64 unless set
//	AUCSCHED_PLUGIN_DIR    directory of aucsched's plug-ins, ../build/slurm/VERSION
//	                       unless set; "none" leaves them out
//	AUCSCHED_SLURM_LONG=1  also what takes long: valgrind, thousands of cycles
//	AUCSCHED_SLURM_KEEP=1  keep the clusters' directories, with their logs
//
// With -short those are left out that take long and are variants of others.
package slurmtest
