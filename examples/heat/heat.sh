#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: heat.sh [OPTION ...]        the program: a name server, and the ranks of the first place
#        heat.sh --place PLACE NAME  the ranks of one place more; the program itself calls this
#
# HEAT_ON      what runs a command on a place: HEAT_ON PLACE -- COMMAND [ARGUMENT ...]
# HEAT_RANKS   ranks of a place
# HEAT_LIMIT   seconds after which a process without progress ends
# HEAT_CHECKPOINT  a file. If the ranks fail, as when a node is lost, they are started again from it
#              if they have written it; it is removed in the end
# HEAT_MPIRUN  options of mpirun, such as --bind-to none
set -eu
export HEAT_ON="${HEAT_ON:-aucsched crew on}" HEAT_RANKS="${HEAT_RANKS:-1}" HEAT_LIMIT="${HEAT_LIMIT:-120}"
export HEAT_MPIRUN="${HEAT_MPIRUN:-}"
here=$(cd "$(dirname "$0")" && pwd)

# Each mpirun knows of its own node alone, also where it is in a job of Slurm.
node='--mca plm isolated --mca ras ^slurm --mca pml ob1'

if [ "${1-}" = --place ]; then
	# The first place's mpirun is not this one's.
	for name in $(env | sed -n 's/^\(\(OMPI\|PMIX\|ORTE\|OPAL\)_[A-Za-z0-9_]*\)=.*/\1/p'); do
		case $name in OMPI_ALLOW_*) ;; *) unset "$name" ;; esac
	done
	# shellcheck disable=SC2086
	exec $HEAT_ON "$2" -- mpirun -n "$HEAT_RANKS" $node $HEAT_MPIRUN --ompi-server "$HEAT_URI" \
		"$here/heat" -l "$HEAT_LIMIT" -j "$3"
fi

# end stops what this script has started.
end() {
	# shellcheck disable=SC2086
	kill ${ranks-} "$names" 2>/dev/null || true
	rm -rf "$dir"
}
dir=$(mktemp -d)
ompi-server --no-daemonize -r "$dir/uri" &
names=$!
trap end EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
for _ in $(seq 100); do
	[ ! -s "$dir/uri" ] || break
	sleep 0.1
done
[ -s "$dir/uri" ] || { echo "heat.sh: ompi-server has not started in 10 s" >&2; exit 1; }
HEAT_URI=$(cat "$dir/uri")
export HEAT_URI HEAT_START="$here/heat.sh"
while :; do
	: >"$dir/began"
	# shellcheck disable=SC2086
	mpirun -n "$HEAT_RANKS" $node $HEAT_MPIRUN --ompi-server "$HEAT_URI" "$here/heat" -l "$HEAT_LIMIT" "$@" &
	ranks=$!
	status=0
	wait "$ranks" || status=$?
	[ "$status" != 0 ] || break
	[ -n "${HEAT_CHECKPOINT-}" ] && [ "$HEAT_CHECKPOINT" -nt "$dir/began" ] || exit "$status"
done
[ -z "${HEAT_CHECKPOINT-}" ] || rm -f "$HEAT_CHECKPOINT" "$HEAT_CHECKPOINT.new"
