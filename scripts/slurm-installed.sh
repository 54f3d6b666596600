#!/bin/sh
# Says what Slurm is installed here:
#
#	sh scripts/slurm-installed.sh version    22.05.8
#	sh scripts/slurm-installed.sh plugins    the directory of its plug-ins
#	sh scripts/slurm-installed.sh slurmctld  the daemon itself
#
# The exit status is 1, with a message on stderr, when there is none.
set -eu

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
hint="(Debian: apt-get install slurmctld slurm-wlm-basic-plugins)"

die() { echo "slurm-installed.sh: $*" >&2; exit 1; }

find_slurmctld() {
	command -v slurmctld || die "slurmctld is not installed $hint"
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

# The directory that slurmctld itself searches unless slurm.conf says otherwise.
find_plugins() {
	triplet=$(${CC:-cc} -print-multiarch 2>/dev/null) || triplet=
	for dir in ${triplet:+"/usr/lib/$triplet/slurm-wlm"} /usr/lib/*/slurm-wlm \
		/usr/lib64/slurm /usr/lib/slurm /usr/lib/*/slurm /usr/local/lib/slurm; do
		if [ -f "$dir/select_cons_tres.so" ]; then
			echo "$dir"
			return
		fi
	done
	die "no select_cons_tres.so in the usual directories of Slurm's plug-ins $hint"
}

case ${1:-} in
version | plugins | slurmctld) "find_$1" ;;
*) die "usage: slurm-installed.sh version | plugins | slurmctld" ;;
esac
