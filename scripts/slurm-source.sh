#!/bin/sh
# Makes the source tree of the installed Slurm, patched as Debian patches it and
# configured, and prints its path: plug-ins are compiled against its headers.
#
#	dir=$(sh scripts/slurm-source.sh)
#
# The tree is build/slurm-source/VERSION, made once, of Debian's source package. It comes from
# where the machine's own apt sources point; those are not changed, and nothing is
# installed except, as root, the tools that are missing. SLURM_SOURCE=DIR in the
# environment is taken instead, if it is configured and of the installed version; SLURM_SOURCE=FILE,
# a slurm-VERSION.tar.*, is unpacked and configured here. A Slurm of SLURM_PREFIX needs one of them.
# With SLURM_UNPATCHED=yes the upstream source will do, where the archive has lost Debian's part of
# it.
# Messages go to stderr; the exit status is 1, and nothing is printed, when there is none.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
base=$root/build/slurm-source
: "${SLURM_UNPATCHED:=}"

say() { echo "slurm-source.sh: $*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# version_of DIR: the version that its headers will compile into a plug-in.
version_of() {
	sed -n 's/^#define SLURM_VERSION_NUMBER 0x\(..\)\(..\)\(..\)$/\1 \2 \3/p' "$1/slurm/slurm_version.h" 2>/dev/null |
		while read -r major minor micro; do
			printf '%02d.%02d.%d\n' "0x$major" "0x$minor" "0x$micro"
		done
}

# check DIR WHOSE: that the tree is configured, and is of the installed version.
check() {
	[ -f "$1/config.h" ] && [ -f "$1/slurm/slurm_version.h" ] ||
		die "$2 $1 is no configured source tree of Slurm: run ./configure in it"
	found=$(version_of "$1")
	[ "$found" = "$installed" ] ||
		die "headers are of ${found:-an unknown version}, installed is $installed: a plug-in works in the very version alone that it was built against ($2 $1)"
}

installed=$(sh "$here/slurm-installed.sh" version) || exit 1

log=$base/$installed.log

# quietly WHAT COMMAND...: its output goes to the log, which is shown if it fails.
quietly() {
	what=$1
	shift
	say "$what"
	"$@" >>"$log" 2>&1 || { tail -n 40 "$log" >&2; die "$what: failed; all of it is in $log"; }
}

# begin: an empty log.
begin() {
	mkdir -p "$base"
	echo '*' >"$base/.gitignore"
	: >"$log"
}

# Configured where it will stay: configure notes the path.
configure() { cd "$tree" && ./configure; }

# from_release FILE: the tree of a release.
from_release() {
	tree=$base/$installed-release
	mark="$1 $(wc -c <"$1")"
	if [ "$(cat "$tree/.aucsched-configured" 2>/dev/null)" != "$mark" ]; then
		begin
		rm -rf "$tree"
		mkdir "$tree"
		quietly "unpacking $(basename "$1")" tar -xf "$1" -C "$tree" --strip-components=1
		quietly "configuring Slurm $installed (takes a minute)" configure
		rm -f "$log"
	fi
	check "$tree" "SLURM_SOURCE"
	echo "$mark" >"$tree/.aucsched-configured"
	echo "$tree"
}

if [ -n "${SLURM_SOURCE:-}" ]; then
	case $SLURM_SOURCE in /*) ;; *) SLURM_SOURCE=$PWD/$SLURM_SOURCE ;; esac
	if [ -f "$SLURM_SOURCE" ]; then
		from_release "$SLURM_SOURCE"
	else
		check "$SLURM_SOURCE" "SLURM_SOURCE"
		echo "$SLURM_SOURCE"
	fi
	exit 0
fi

otherwise="give SLURM_SOURCE=DIR, the source tree of Slurm $installed, configured, or SLURM_SOURCE=slurm-$installed.tar.bz2"
[ -z "${SLURM_PREFIX:-}" ] || die "the Slurm in SLURM_PREFIX=$SLURM_PREFIX came without its headers: $otherwise"
have dpkg-query && have apt-get || die "only Debian's source packages are found by themselves: $otherwise"
package=$(dpkg-query -W -f '${source:Package} ${source:Version}' slurmctld 2>/dev/null) ||
	die "slurmctld is not of a Debian package: $otherwise"
debian=${package#* } package=${package% *}

tree=$base/$installed
if [ -f "$tree/.aucsched-configured" ] && [ "$(cat "$tree/.aucsched-configured")" = "$package $debian" ]; then
	check "$tree" "the tree in"
	echo "$tree"
	exit 0
fi

sh "$here/packages.sh" source >&2 || exit 1

begin
work=$base/$installed.new
rm -rf "$work"
mkdir "$work"

# own_sources DIR: the machine's apt sources, as sources of source packages.
own_sources() {
	mkdir -p "$1/parts"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] || continue
		case $file in
		*.sources) sed 's/^Types:.*/Types: deb-src/' "$file" ;;
		*) sed -n 's/^[[:space:]]*deb\(-src\)\{0,1\}[[:space:]]/deb-src /p' "$file" | sort -u ;;
		esac >"$1/parts/$(basename "$file")"
	done
}

# apt get|cache ARGUMENT...: apt-get or apt-cache with those sources, and lists of its own.
apt() {
	tool=$1
	shift
	"apt-$tool" -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/parts" \
		-o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" \
		-o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# download VERSION: the files of that source package. Their sums are checked by apt.
download() {
	say "downloading $package $1"
	(cd "$work" && apt get source --only-source --download-only "$package=$1") >>"$log" 2>&1
}

# fetch: the source package of the installed version. Where the archive lacks some of its
# files, the upstream one may come with another revision.
fetch() {
	mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
	own_sources "$work/apt"
	quietly "finding the source package $package $debian" apt get update
	download "$debian" && return
	for other in $(apt cache showsrc --only-source "$package" 2>>"$log" | sed -n 's/^Version: //p' | sort -u); do
		[ "$other" != "$debian" ] && [ "${other%-*}" = "${debian%-*}" ] && download "$other" && return
	done
	return 0
}

# only PATTERN...: the one file that matches.
only() {
	[ $# = 1 ] && [ -f "$1" ] && echo "$1"
}

# unpack: the files into $work/tree, patched.
unpack() {
	revision=${package}_${debian#*:}
	if [ -f "$work/$revision.dsc" ] && (cd "$work" && dpkg-source -x "$revision.dsc" "$work/tree") >>"$log" 2>&1; then
		return
	fi
	# Without the .dsc, by hand.
	rm -rf "$work/tree"
	changes=$(only "$work/$revision.debian.tar".*) || changes=
	if ! upstream=$(only "$work"/*.orig.tar.*) || [ -z "$changes$SLURM_UNPATCHED" ]; then
		tail -n 20 "$log" >&2
		die "the archive does not give the source package $package $debian: upgrade Slurm if that is an old one, or $otherwise, or set SLURM_UNPATCHED=yes if Debian's patches of it leave the headers as they are"
	fi
	mkdir "$work/tree"
	quietly "unpacking $(basename "$upstream")" tar -xf "$upstream" -C "$work/tree" --strip-components=1
	if [ -z "$changes" ]; then
		say "going on without Debian's patches of $debian, which the archive does not have"
		return
	fi
	quietly "unpacking $(basename "$changes")" tar -xf "$changes" -C "$work/tree"
	grep -v '^[[:space:]]*\(#\|$\)' "$work/tree/debian/patches/series" >"$work/series"
	while read -r patch _; do
		quietly "applying $patch" patch -s -p1 -d "$work/tree" -i "$work/tree/debian/patches/$patch"
	done <"$work/series"
}

fetch
unpack
rm -rf "$tree"
mv "$work/tree" "$tree"
quietly "configuring Slurm $installed (takes a minute)" configure
check "$tree" "the tree in"
echo "$package $debian" >"$tree/.aucsched-configured"
rm -rf "$work" "$log"
echo "$tree"
