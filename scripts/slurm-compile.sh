#!/bin/sh
# Compiles the plug-ins for other versions of Slurm than the installed one, and says for which
# it works:
#
#	sh scripts/slurm-compile.sh SOURCES [VERSION]...
#
# SOURCES is a directory of Slurm's releases, slurm-VERSION.tar.* or unpacked as slurm-VERSION, of
# which all are taken unless versions are named (23.02 stands for every 23.02.x). They are unpacked
# and configured in build/slurm-compile, once. Nothing is linked or run: that every symbol is there,
# and means what it did, is not looked at. The exit status is 1 if one fails.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
base=$root/build/slurm-compile

say() { echo "slurm-compile.sh: $*" >&2; }
die() { say "$*"; exit 1; }

sources=${1:-}
[ -n "$sources" ] || die "usage: slurm-compile.sh SOURCES [VERSION]..."
[ -d "$sources" ] || die "$sources is no directory"
shift
sh "$here/packages.sh" build >&2
mkdir -p "$base"
echo '*' >"$base/.gitignore"

# there: the versions in $sources, one a line.
there() {
	for path in "$sources"/slurm-[0-9]*; do
		[ -d "$path" ] || case $path in *.tar.*) ;; *) continue ;; esac
		name=$(basename "$path")
		name=${name#slurm-}
		echo "${name%.tar.*}"
	done | sort -u
}

# wanted VERSION...: those of them that are named.
wanted() {
	[ $# -gt 0 ] || { there; return; }
	for name; do
		found=$(there | awk -v name="$name" '$0 == name || index($0, name ".") == 1')
		[ -n "$found" ] || die "there is no Slurm $name in $sources"
		echo "$found"
	done
}

# configured VERSION: its tree in $base, configured there, as configure notes the path.
configured() {
	tree=$base/slurm-$1
	[ ! -f "$tree/.aucsched-configured" ] || return 0
	rm -rf "$tree"
	mkdir "$tree"
	if [ -d "$sources/slurm-$1" ]; then
		cp -R "$sources/slurm-$1/." "$tree"
	else
		tar -xf "$(ls "$sources/slurm-$1".tar.* | head -n 1)" -C "$tree" --strip-components=1
	fi || return 1
	say "configuring Slurm $1"
	(cd "$tree" && ./configure >configure.out 2>&1) || {
		tail -n 5 "$tree/configure.out" >&2
		return 1
	}
	touch "$tree/.aucsched-configured"
}

versions=$(wanted "$@") || exit 1
[ -n "$versions" ] || die "there is no slurm-VERSION in $sources"
bad=0
for version in $versions; do
	if configured "$version" && make --no-print-directory -k -C "$root/slurmplugin" objects BUILD="$base" \
		VERSION="objects-$version" SOURCE="$base/slurm-$version" >"$base/$version.log" 2>&1; then
		echo "Slurm $version: compiles"
	else
		bad=1
		[ ! -f "$base/$version.log" ] || grep -E ' (error|fatal error): ' "$base/$version.log" | sort -u | head -n 40 >&2 || true
		echo "Slurm $version: fails; all of it is in build/slurm-compile"
	fi
done
exit $bad
