#!/bin/sh
# Says what Slurm is installed here:
#
#	sh scripts/slurm-installed.sh version    22.05.8
#	sh scripts/slurm-installed.sh plugins    the directory of its plug-ins
#	sh scripts/slurm-installed.sh slurmctld  the daemon itself
#
# SLURM_PREFIX=DIR in the environment is where it was installed, /opt/slurm; without it the one in
# PATH is meant. The exit status is 1, with a message on stderr, when there is none.
set -eu

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
hint="(Debian: apt-get install slurmctld slurm-wlm-basic-plugins; elsewhere SLURM_PREFIX=DIR says where it is)"
: "${SLURM_PREFIX:=}"

die() { echo "slurm-installed.sh: $*" >&2; exit 1; }

find_slurmctld() {
	if [ -z "$SLURM_PREFIX" ]; then
		command -v slurmctld || die "slurmctld is not installed $hint"
	elif [ -x "$SLURM_PREFIX/sbin/slurmctld" ]; then
		echo "$(cd "$SLURM_PREFIX" && pwd)/sbin/slurmctld"
	else
		die "SLURM_PREFIX=$SLURM_PREFIX: there is no sbin/slurmctld"
	fi
}

find_version() {
	daemon=$(find_slurmctld) || exit 1
	words=$("$daemon" -V 2>&1) || die "$daemon -V: $words"
	version=${words##* }
	case $version in
	[0-9]*.[0-9]*.[0-9]*) echo "$version" ;;
	*) die "$daemon -V says \"$words\", which names no version" ;;
	esac
}

# The directory that slurmctld itself searches unless slurm.conf says otherwise: below where it is
# installed. It may be named by a link, as of Debian's alternatives.
find_plugins() {
	daemon=$(find_slurmctld) || exit 1
	triplet=$(${CC:-cc} -print-multiarch 2>/dev/null) || triplet=
	for file in "$daemon" "$(readlink -f "$daemon")"; do
		prefix=${file%/*/*}
		for dir in ${triplet:+"$prefix/lib/$triplet/slurm-wlm"} "$prefix"/lib/*/slurm-wlm \
			"$prefix/lib64/slurm" "$prefix/lib/slurm" "$prefix"/lib/*/slurm; do
			if [ -n "$prefix" ] && [ -f "$dir/select_cons_tres.so" ]; then
				echo "$dir"
				return
			fi
		done
	done
	die "no select_cons_tres.so in the usual directories of plug-ins below ${daemon%/*/*} $hint"
}

case ${1:-} in
version | plugins | slurmctld) "find_$1" ;;
*) die "usage: slurm-installed.sh version | plugins | slurmctld" ;;
esac
