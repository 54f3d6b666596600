#!/bin/sh
# Builds stock Slurms of their releases, once each, for tests:
#
#	sh scripts/slurm-stock.sh SOURCES [VERSION]...
#
# SOURCES is a directory of Slurm's releases, slurm-VERSION.tar.* or unpacked as slurm-VERSION.
# VERSION may be a series (23.02), of which the newest is taken, or "newest", that of all; without
# it the newest of each series is. Each is built in build/slurm-stock/VERSION, or below
# AUCSCHED_STOCK=DIR, which checkouts may share:
#
#	VERSION/source    its tree, configured
#	VERSION/slurm     what is installed of it, a SLURM_PREFIX
#
# A version a line is printed, with its directory, newest first. What no test needs is left out:
# documentation, slurmrestd, all but the newest of the data parsers. JOBS=N compilers run at once
# (2). Messages go to stderr; the exit status is 1 if one can't be built: it is left out.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
base=${AUCSCHED_STOCK:-$root/build/slurm-stock}

say() { echo "slurm-stock.sh: $*" >&2; }
die() { say "$*"; exit 1; }

sources=${1:-}
[ -n "$sources" ] || die "usage: slurm-stock.sh SOURCES [VERSION]..."
[ -d "$sources" ] || die "$sources is no directory"
shift
case $base in /*) ;; *) base=$PWD/$base ;; esac

# there: the versions in $sources, one a line, newest first.
there() {
	for path in "$sources"/slurm-[0-9]*; do
		[ -d "$path" ] || case $path in *.tar.*) ;; *) continue ;; esac
		name=$(basename "$path")
		name=${name#slurm-}
		echo "${name%.tar.*}"
	done | sort -u -t. -k1,1nr -k2,2nr -k3,3nr
}

# wanted VERSION...: those of them that are named, or the newest of each series.
wanted() {
	[ $# -gt 0 ] || { there | awk -F. '!seen[$1 "." $2]++'; return; }
	for name; do
		[ "$name" != newest ] || { there | head -n 1; continue; }
		found=$(there | awk -v name="$name" '$0 == name || index($0, name ".") == 1 { print; exit }')
		[ -n "$found" ] || die "there is no Slurm $name in $sources"
		echo "$found"
	done
}

# unpack VERSION TREE
unpack() {
	mkdir -p "$2"
	if [ -d "$sources/slurm-$1" ]; then
		cp -R "$sources/slurm-$1/." "$2"
	else
		tar -xf "$(ls "$sources/slurm-$1".tar.* | head -n 1)" -C "$2" --strip-components=1
	fi
}

# build VERSION: into $base/VERSION. configure notes the paths: it is built where it stays.
build() {
	mkdir -p "$base/$1"
	unpack "$1" "$base/$1/source" && cd "$base/$1/source" || return 1
	# -O1: it is compiled once and run for minutes.
	CFLAGS="-O1 -g0 -pipe" ./configure --prefix="$base/$1/slurm" --sysconfdir=/etc/slurm --enable-multiple-slurmd \
		--disable-debug --disable-static --disable-slurmrestd --disable-x11 --disable-sview --disable-dependency-tracking \
		--with-munge --without-rdkafka --without-hdf5 --without-pmix --without-ucx --without-ofed || return 1
	makefile=src/plugins/data_parser/Makefile
	[ ! -f $makefile ] || sed -i 's/^SUBDIRS = .* \(v[0-9.]*\)$/SUBDIRS = \1/' $makefile || return 1
	make -j"${JOBS:-2}" -C src && make -C src install && make install-pkgincludeHEADERS
}

# built VERSION: it is there, whoever has to build it. Two checkouts don't build one at once.
built() {
	[ ! -f "$base/$1/done" ] || return 0
	mkdir -p "$base"
	exec 9>"$base/$1.lock"
	flock 9
	[ ! -f "$base/$1/done" ] || return 0
	say "building Slurm $1 (takes some minutes)"
	rm -rf "${base:?}/$1"
	(build "$1") >"$base/$1.log" 2>&1 || {
		tail -n 20 "$base/$1.log" >&2
		say "Slurm $1 can't be built; all of it is in $base/$1.log"
		return 1
	}
	find "$base/$1/source/src" -name '*.o' -o -name '*.lo' -o -name '*.a' | xargs rm -f
	touch "$base/$1/done"
}

versions=$(wanted "$@") || exit 1
[ -n "$versions" ] || die "there is no slurm-VERSION in $sources"
[ -n "${AUCSCHED_STOCK:-}" ] || { mkdir -p "$base" && echo '*' >"$base/.gitignore"; }
bad=0
for version in $versions; do
	if built "$version" 9>&-; then echo "$version $base/$version"; else bad=1; fi
done
exit $bad
