#!/bin/sh
# Lays out what a package installs below DIR:
#
#	sh scripts/package-stage.sh cli DIR FORMAT     the commands, for deb, rpm or tar
#	sh scripts/package-stage.sh slurm DIR FORMAT   the plug-ins for one Slurm, for deb or rpm
#
# Those of tar need no library of the system: they are linked without C, and so without HiGHS.
# SLURM_PREFIX and SLURM_SOURCE are those of slurm-installed.sh and slurm-source.sh. SLURM_PLUGINS=DIR
# is where the machines that get the package have Slurm's plug-ins, if elsewhere than here.
# The time of what is made is SOURCE_DATE_EPOCH.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)

die() { echo "package-stage.sh: $*" >&2; exit 1; }

[ $# = 3 ] || die "usage: package-stage.sh cli | slurm DIR deb | rpm | tar"
part=$1 stage=$2 format=$3
case $stage in /*) ;; *) die "$stage: not from the root" ;; esac
: "${GO:=go}"
umask 022
cd "$root"
release=$(sh "$here/package-version.sh" release)

# licences DIR FILE...: into DIR the licences of what these programs and libraries are linked with.
licences() {
	to=$1
	shift
	mkdir -p "$to"
	install -m 644 "$("$GO" env GOROOT)/LICENSE" "$to/go"
	"$GO" version -m "$@" | awk '$1 == "dep" && $2 !~ "^github.com/aucsched/" { print $2 }' | sort -u |
		while read -r module; do
			source=$("$GO" list -m -f '{{.Dir}}' "$module")
			for file in "$source"/LICENSE* "$source"/LICENCE* "$source"/COPYING* "$source"/NOTICE* "$source"/THIRD_PARTY*; do
				[ ! -f "$file" ] || install -m 644 "$file" "$to/$(echo "$module" | tr / _)_$(basename "$file")"
			done
		done
}

# programs DIR: the commands; $tags is "-tags highs" if HiGHS is in them.
programs() {
	tags= cgo=1
	# Those for another machine are linked without C as well.
	if [ "$format" = tar ] || [ "$("$GO" env GOARCH)" != "$("$GO" env GOHOSTARCH)" ]; then
		cgo=0
	elif highs=$(sh "$here/highs.sh"); then
		tags="-tags highs"
		export PKG_CONFIG_PATH="$highs"
	fi
	mode=pie
	[ $cgo = 1 ] || mode=default
	# Without Go's build ID, in which paths of this machine have a part.
	# shellcheck disable=SC2086
	CGO_ENABLED=$cgo "$GO" build -trimpath -buildmode=$mode \
		-ldflags "-s -w -buildid= -X github.com/aucsched/aucsched/internal/version.stamp=$(sh "$here/commit.sh")" $tags -o "$1/" \
		./cmd/aucsched ./benchmarks/cmd/aucsched-lab ./invasive/cmd/aucsched-invasive
}

# completion SHELL FILE: has the shell complete the words of aucsched.
completion() {
	mkdir -p "$(dirname "$2")"
	"$own/aucsched" completion "$1" >"$2"
}

stage_cli() {
	usr=/usr zsh=zsh/vendor-completions
	[ "$format" != rpm ] || zsh=zsh/site-functions
	[ "$format" != tar ] || usr=
	share=$stage$usr/share
	doc=$share/doc/aucsched
	mkdir -p "$stage$usr/bin" "$share/man/man1" "$doc" "$stage$usr/lib/systemd/system"
	programs "$stage$usr/bin"
	# The pages are written by programs that run here.
	own=$stage$usr/bin
	[ "$("$GO" env GOOS)/$("$GO" env GOARCH)" = "$("$GO" env GOHOSTOS)/$("$GO" env GOHOSTARCH)" ] || {
		own=$root/build/package/own
		GOOS='' GOARCH='' CGO_ENABLED=0 "$GO" build -o "$own/" ./cmd/aucsched ./benchmarks/cmd/aucsched-lab ./invasive/cmd/aucsched-invasive
	}
	for program in aucsched aucsched-lab aucsched-invasive; do "$own/$program" man-pages "$share/man/man1"; done
	[ "$format" = tar ] || gzip -9n "$share"/man/man1/*.1
	completion bash "$share/bash-completion/completions/aucsched"
	completion zsh "$share/$zsh/_aucsched"
	completion fish "$share/fish/vendor_completions.d/aucsched.fish"
	install -m 644 packaging/*.service "$stage$usr/lib/systemd/system/"
	# Programs copy these, or name their directory.
	mkdir -p "$share/aucsched/malleable"
	for file in c/aucsched_malleable.c c/aucsched_malleable.h fortran/aucsched_malleable.f90 python/aucsched_malleable.py; do
		install -m 644 "invasive/malleable/$file" "$share/aucsched/malleable/"
	done
	cp -R README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE docs "$doc/"
	mkdir "$doc/invasive"
	cp -R invasive/docs "$doc/invasive/"
	rm -rf "$doc"/docs/*.py "$doc"/docs/schemas/*.go "$doc"/docs/assets
	chmod -R u=rwX,go=rX "$doc"
	licences "$doc/licenses" "$stage$usr"/bin/*
	[ -z "$tags" ] || install -m 644 packaging/HiGHS-LICENSE.txt "$doc/licenses/HiGHS"
}

stage_slurm() {
	plugins=$(sh "$here/package-version.sh" plugins)
	doc=$stage/usr/share/doc/aucsched-slurm
	mkdir -p "$doc" "$stage/usr/include" "$stage${plugins%/*}/pkgconfig"
	make -s -C slurmplugin install DESTDIR="$stage" DIRECTORY="$plugins" GO="$GO" >&2
	# Without what only a debugger reads; Go's own tables for backtraces stay.
	"${STRIP:-strip}" --strip-unneeded "$stage$plugins"/*.so
	install -m 644 cshim/aucsched.h "$stage/usr/include/aucsched.h"
	sed -e 's|@PREFIX@|/usr|' -e "s|@VERSION@|$release|" -e "s|^libdir=.*|libdir=$plugins|" \
		cshim/aucsched.pc.in >"$stage${plugins%/*}/pkgconfig/aucsched.pc"
	install -m 644 LICENSE "$doc/"
	install -m 644 slurmplugin/LICENSE "$doc/LICENSE.plug-ins"
	licences "$doc/licenses" "$stage$plugins"/libaucsched*.so
}

case $part in
cli | slurm) stage_$part ;;
*) die "$part: a package is cli or slurm" ;;
esac
