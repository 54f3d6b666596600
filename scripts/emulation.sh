#!/bin/sh
# Builds what an emulation needs beside the installed Slurm, vclock.so, vslurmd, vsubmit
# and plugins/site_factor_age.so, and prints the directory that holds them:
#
#	dir=$(sh scripts/emulation.sh)
#
# The directory is build/emulation/VERSION; what is newer there than its sources stays.
# The headers are those of scripts/slurm-source.sh, of Slurm 22.05 to 24.11. Messages go to stderr; the exit status is
# 1, and nothing is printed, when something can't be built.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
clock=$root/benchmarks/emulation/vclock
nodes=$root/benchmarks/emulation/nodes/vslurmd
submit=$root/benchmarks/emulation/nodes/vsubmit
age=$root/benchmarks/emulation/age

say() { echo "emulation.sh: $*" >&2; }
die() { say "$*"; exit 1; }

sh "$here/packages.sh" build >&2 || exit 1
version=$(sh "$here/slurm-installed.sh" version) || exit 1
plugins=$(sh "$here/slurm-installed.sh" plugins) || exit 1
case $version in 2[2-4].*) ;; *) die "the emulation's nodes are written for Slurm 22.05 to 24.11, and this is $version" ;; esac
out=$root/build/emulation/$version
mkdir -p "$out/plugins"

cc=${CC:-cc}
flags="-std=gnu11 -g -O2 -Wall -Wextra -Werror -pthread -ffile-prefix-map=$root=."

# stale FILE SOURCE...: whether a source is newer than the file, or there is none.
stale() {
	[ -f "$1" ] || return 0
	[ -z "$(find "$@" -prune -newer "$1" -print)" ] || return 0
	return 1
}

# compile FILE ARGUMENT...: all or nothing. A running process may have the old file mapped.
compile() {
	file=$1
	shift
	say "$(basename "$file")"
	"$cc" "$@" -o "$file.$$" >&2 || { rm -f "$file.$$"; die "$(basename "$file") can't be compiled"; }
	mv "$file.$$" "$file"
}

if stale "$out/vclock.so" "$clock/vclock.h" "$clock"/preload/*.[ch] "$here/emulation.sh"; then
	# shellcheck disable=SC2086
	compile "$out/vclock.so" $flags -fPIC -shared -fvisibility=hidden "$clock"/preload/*.c -ldl
fi

# with_slurm FILE ARGUMENT...: compiles with Slurm's headers, which are not written for -Wextra.
with_slurm() {
	file=$1
	shift
	source=$(sh "$here/slurm-source.sh") || exit 1
	# shellcheck disable=SC2086
	compile "$file" $flags -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
		-ffile-prefix-map="$source"=slurm -DHAVE_CONFIG_H -D_GNU_SOURCE= -I"$source" -I"$source/slurm" "$@"
}

# What replaces a function of libslurmfull has to be seen by it: -rdynamic.
if stale "$out/vslurmd" "$nodes"/*.[ch] "$here/emulation.sh" "$plugins/libslurmfull.so"; then
	with_slurm "$out/vslurmd" -rdynamic "$nodes"/*.c -L"$plugins" -lslurmfull -Wl,-rpath,"$plugins" -lm
fi

if stale "$out/vsubmit" "$submit"/*.c "$here/emulation.sh" "$plugins/libslurmfull.so"; then
	with_slurm "$out/vsubmit" "$submit"/*.c -L"$plugins" -lslurmfull -Wl,-rpath,"$plugins"
fi

# What it uses of Slurm is slurmctld's own.
if stale "$out/plugins/site_factor_age.so" "$age"/*.c "$here/emulation.sh" "$plugins/libslurmfull.so"; then
	with_slurm "$out/plugins/site_factor_age.so" -fPIC -shared "$age"/*.c
fi
echo "$out"
