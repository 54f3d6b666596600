#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: sbatch --nodes=N --exclusive manage.sh DIRECTORY
#
# Has an iHypervisor share the nodes of this batch job among jobs that grow and shrink. DIRECTORY is
# on a file system of all nodes. It has the queue, and what the jobs write. Jobs are submitted on
# the first node of this one, and go on in the next one with the same DIRECTORY:
#
#	srun --jobid=JOBID --overlap --nodes=1 --ntasks=1 aucsched ischeduler --dir DIRECTORY/queue submit ...
#
# AUCSCHED       the command (default aucsched)
# AUCSCHED_DISK  a directory on a disk of each node (default /tmp)
set -eu
aucsched=${AUCSCHED:-aucsched} disk=${AUCSCHED_DISK:-/tmp}
[ $# = 1 ] && [ -n "${SLURM_JOB_NUM_NODES-}" ] || { sed -n 4p "$0"; exit 2; }
umask 077
mkdir -p "$1"
dir=$(cd "$1" && pwd)
run=$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0} # a job that is requeued has other nodes
export aucsched disk dir run

# Whatever is killed begins again, and finds what it was about.
again='while :; do "$@" || true; sleep 1; done'
sh -c "$again" sh "$aucsched" ihypervisor --socket "unix:$dir/run/socket" --state "$dir/state-$run" \
	--agents "$SLURM_JOB_NUM_NODES" ${AUCSCHED_LISTEN:+--agents-listen "$AUCSCHED_LISTEN"} &
# What jobs run ends with the step, whatever Slurm finds of it.
# shellcheck disable=SC2016
srun --overlap --cpu-bind=none --ntasks-per-node=1 --kill-on-bad-exit=0 sh -c '
	while :; do
		"$aucsched" agent --invitation "$dir/state-$run/invitation" --state "$disk/aucsched-$run-$SLURMD_NODENAME" \
			--output "$dir/output" --with $$ || true
		sleep 1
	done' &
exec "$aucsched" ischeduler --dir "$dir/queue" --connect "unix:$dir/run/socket"
