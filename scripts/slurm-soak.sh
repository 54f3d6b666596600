#!/bin/sh
# Runs the installed Slurm under faults, with the plug-ins and without, and compares what became of
# the jobs:
#
#	sh scripts/slurm-soak.sh HOURS [SEED]
#
# The table goes to the terminal, all figures to build/soak-VERSION.json. The exit status is 1 if
# the plug-ins do worse than stock Slurm.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

[ "$(id -u)" = 0 ] || { echo "slurm-soak.sh: a cluster needs root: slurmd starts jobs as their users" >&2; exit 1; }
sh scripts/packages.sh build
sh scripts/packages.sh slurm
sh scripts/packages.sh site
make -C slurmplugin
version=$(slurmctld -V | cut -d' ' -f2)
"${GO:-go}" build -o build/slurmsoak ./internal/test/slurmtest/cmd/slurmsoak
exec build/slurmsoak --hours "$1" ${2:+--seed "$2"} --plugins "build/slurm/$version" --json "build/soak-$version.json"
