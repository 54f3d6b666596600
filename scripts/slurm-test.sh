#!/bin/sh
# Builds the plug-ins for the installed Slurm and tests them on clusters of their own:
#
#	N=1408 sh scripts/slurm-test.sh [ARGUMENT OF go test]...
#
# Slurm is installed where it is missing (Debian, as root), or is that of SLURM_PREFIX=DIR with
# SLURM_SOURCE. N is the number of nodes, 64 unless set.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

[ "$(id -u)" = 0 ] || { echo "slurm-test.sh: a cluster needs root: slurmd starts jobs as their users" >&2; exit 1; }
sh scripts/packages.sh build
sh scripts/packages.sh slurm
sh scripts/packages.sh site
sh scripts/packages.sh metrics || echo "slurm-test.sh: going on without Prometheus" >&2
make -C slurmplugin all check
[ -z "${SLURM_PREFIX:-}" ] || export PATH="$SLURM_PREFIX/sbin:$SLURM_PREFIX/bin:$PATH"
[ -z "${N:-}" ] || export AUCSCHED_SLURM_NODES="$N"
# Tests beside each other mostly wait, for Slurm's own intervals.
AUCSCHED_SLURM_TEST=1 exec "${GO:-go}" test -count=1 -parallel 6 -timeout "${TIMEOUT:-60m}" "$@" ./internal/test/slurmtest/...
