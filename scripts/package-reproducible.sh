#!/bin/sh
# Tests that the same sources give the same packages: copies them into two directories, whose
# names are of different length, makes all packages in both, and compares these byte by byte:
#
#	sh scripts/package-reproducible.sh [FORMAT PART]...   such as: deb slurm
#
# Modes of files and times of the copies differ. The Slurm is that of package.sh. With KEEP=DIR what
# differs is kept there.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)

say() { echo "package-reproducible.sh: $*" >&2; }

cd "$root"
[ $# != 0 ] || set -- tar cli deb slurm rpm slurm deb cli rpm cli srpm cli srpm slurm
base=$(mktemp -d)
trap 'chmod -R u+w "$base"; rm -rf "$base"' EXIT
trap 'exit 1' INT TERM
SOURCE_DATE_EPOCH=$(sh "$here/package-version.sh" time)
SLURM_SOURCE=$(sh "$here/slurm-source.sh")
export SOURCE_DATE_EPOCH SLURM_SOURCE

# copy DIR: the sources that Git knows of, as they are now.
copy() {
	mkdir -p "$1"
	git ls-files -z | xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh | tar --null -T - -cf - | tar -C "$1" -mxf -
}

a=$base/one b=$base/another/directory
copy "$a"
(umask 027 && copy "$b")

bad=0
while [ $# -ge 2 ]; do
	for dir in "$a" "$b"; do
		sh "$dir/scripts/package.sh" "$1" "$2" >"$dir.path" 2>"$dir.log" || { tail -n 30 "$dir.log" >&2; say "$1 $2 can't be made"; exit 1; }
	done
	one=$(tail -n 1 "$a.path") other=$(tail -n 1 "$b.path")
	if cmp "$one" "$other" >&2; then
		echo "the same: ${one##*/} $(sha256sum <"$one" | cut -c 1-16)"
	else
		say "${one##*/} differs"
		bad=1
		[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP/one" "$KEEP/another" && cp "$one" "$KEEP/one/" && cp "$other" "$KEEP/another/"; }
	fi
	shift 2
done
exit $bad
