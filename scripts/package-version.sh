#!/bin/sh
# Says of a package:
#
#	sh scripts/package-version.sh release   the version of aucsched, 0.9.0
#	sh scripts/package-version.sh slurm     that of Slurm which the plug-ins are for, 22.05.8
#	sh scripts/package-version.sh stock     where its own plug-ins are
#	sh scripts/package-version.sh plugins   where ours are put
#	sh scripts/package-version.sh prefix    where its programs are, /usr
#	sh scripts/package-version.sh time      the time of all that is made, in seconds
#
# The Slurm is that of slurm-installed.sh; SLURM_PLUGINS=DIR is where the machines that get the
# package have its plug-ins, if elsewhere than here. PACKAGE_SUFFIX is added to the release: a rebuild
# of one's own, or a test of upgrades, has +2.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

die() { echo "package-version.sh: $*" >&2; exit 1; }

release() {
	number=$(sed -n 's/^const Number = "\(.*\)"$/\1/p' "$here/../internal/version/version.go")
	[ -n "$number" ] || die "internal/version/version.go names no version"
	echo "$number${PACKAGE_SUFFIX:-}"
}

stock() {
	dir=${SLURM_PLUGINS:-$(sh "$here/slurm-installed.sh" plugins)}
	case $dir in
	/*/) die "SLURM_PLUGINS=$dir: without the slash at the end" ;;
	/*/*) echo "$dir" ;;
	*) die "SLURM_PLUGINS=$dir: must be a directory, from the root" ;;
	esac
}

# The directory of plug-ins is PREFIX/lib/slurm, PREFIX/lib64/slurm, or Debian's.
prefix() {
	dir=$(stock)
	case $dir in
	*/lib/*/slurm | */lib/*/slurm-wlm) echo "${dir%/lib/*}" ;;
	*/lib/slurm | */lib64/slurm | */lib/slurm-wlm) echo "${dir%/*/*}" ;;
	*) die "$dir: not where a Slurm has its plug-ins, PREFIX/lib/slurm or PREFIX/lib64/slurm" ;;
	esac
}

case ${1:-} in
release | stock | prefix) "$1" ;;
slurm) sh "$here/slurm-installed.sh" version ;;
plugins) echo "$(stock)-aucsched" ;;
time) echo "${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}" ;;
*) die "usage: package-version.sh release | slurm | stock | plugins | prefix | time" ;;
esac
