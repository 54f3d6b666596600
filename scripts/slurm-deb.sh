#!/bin/sh
# Makes the Debian package aucsched-slurm for the installed Slurm, in build/deb, and prints its
# path. DEBFULLNAME and DEBEMAIL say who makes it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
packaging=$root/slurmplugin/packaging

die() { echo "slurm-deb.sh: $*" >&2; exit 1; }

sh "$here/packages.sh" deb
cd "$root"
slurm=$(sh "$here/slurm-installed.sh" version)
stock=$(sh "$here/slurm-installed.sh" plugins)
debian=$(dpkg-query -W -f '${Version}' slurm-wlm-basic-plugins 2>/dev/null) ||
	die "the installed Slurm is not of Debian packages"
case $stock in /usr/lib/*/slurm-wlm) ;; *) die "$stock is not where Debian's Slurm has its plug-ins" ;; esac
plugins=${stock%/*}/slurm-wlm-aucsched
library=${stock%/*}
release=$(sed -n 's/^const Number = "\(.*\)"$/\1/p' internal/version/version.go)
[ -n "$release" ] || die "internal/version/version.go names no version"
version=$release+slurm$slurm
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-the aucsched authors} <${DEBEMAIL:-root@localhost}>"
# The same sources give the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

out=$root/build/deb
stage=$out/stage
doc=$stage/usr/share/doc/aucsched-slurm
rm -rf "$stage"
umask 022
mkdir -p "$stage/DEBIAN" "$doc" "$stage/usr/bin" "$stage/usr/include" "$stage$library/pkgconfig" "$stage/usr/share/man/man1"

make -s -C slurmplugin install DESTDIR="$stage" >&2
# Without what only a debugger reads; Go's own tables for backtraces stay.
strip --strip-unneeded "$stage$plugins"/*.so
tags=
if highs=$(sh "$here/highs.sh"); then
	tags="-tags highs"
	export PKG_CONFIG_PATH="$highs"
fi
# shellcheck disable=SC2086
go build -trimpath -buildmode=pie \
	-ldflags "-s -w -X github.com/aucsched/aucsched/internal/version.stamp=$(sh "$here/commit.sh")" $tags -o "$stage/usr/bin/" \
	./cmd/aucsched ./benchmarks/cmd/aucsched-lab ./invasive/cmd/aucsched-invasive
install -m 644 cshim/aucsched.h "$stage/usr/include/aucsched.h"
sed -e 's|@PREFIX@|/usr|' -e "s|@VERSION@|$release|" -e "s|^libdir=.*|libdir=$plugins|" \
	cshim/aucsched.pc.in >"$stage$library/pkgconfig/aucsched.pc"
for program in "$stage"/usr/bin/*; do "$program" man-pages "$stage/usr/share/man/man1"; done
gzip -9n "$stage"/usr/share/man/man1/*.1
# completion SHELL FILE: has the shell complete the words of aucsched.
completion() {
	mkdir -p "$(dirname "$stage/usr/share/$2")"
	"$stage/usr/bin/aucsched" completion "$1" >"$stage/usr/share/$2"
}
completion bash bash-completion/completions/aucsched
completion zsh zsh/vendor-completions/_aucsched
completion fish fish/vendor_completions.d/aucsched.fish

for file in README.md docs/slurm.md docs/slurm-install.md docs/invasive.md docs/invasive-slurm.md; do
	[ ! -f "$file" ] || install -m 644 "$file" "$doc/"
done

# The licences of what is linked in: Go itself, the modules, HiGHS.
mkdir "$doc/licenses"
install -m 644 "$(go env GOROOT)/LICENSE" "$doc/licenses/go"
[ -z "$tags" ] || install -m 644 "$packaging/HiGHS-LICENSE.txt" "$doc/licenses/HiGHS"
go version -m "$stage"/usr/bin/* "$stage$plugins/libaucsched.so" | awk '$1 == "dep" && $2 !~ "^github.com/aucsched/" { print $2 }' | sort -u |
	while read -r module; do
		source=$(go list -m -f '{{.Dir}}' "$module")
		for file in "$source"/LICENSE* "$source"/LICENCE* "$source"/COPYING* "$source"/NOTICE* "$source"/THIRD_PARTY*; do
			[ ! -f "$file" ] || install -m 644 "$file" "$doc/licenses/$(echo "$module" | tr / _)_$(basename "$file")"
		done
	done

# fill FILE: a template of packaging/, filled in.
fill() {
	sed -e "s|@VERSION@|$version|g" -e "s|@ARCHITECTURE@|$architecture|g" -e "s|@MAINTAINER@|$maintainer|g" \
		-e "s|@SLURM_VERSION@|$slurm|g" -e "s|@SLURM@|$debian|g" -e "s|@PLUGINS@|$plugins|g" -e "s|@STOCK@|$stock|g" \
		-e "s|@DATE@|$(date -R -u -d "@$SOURCE_DATE_EPOCH")|g" -e "s|@LIBRARIES@|${libraries:-}|g" -e "s|@SIZE@|${size:-}|g" "$packaging/$1"
}

sed 's/^$/./; s/^/ /' LICENSE >"$out/bsd"
fill copyright.in | sed -e "/^@BSD@$/{r $out/bsd" -e 'd;}' >"$doc/copyright"
fill changelog.in | gzip -9n >"$doc/changelog.gz"

# What is linked: the plug-ins find Slurm's symbols in the program that loads them.
mkdir -p "$out/debian"
printf 'Source: aucsched-slurm\n\nPackage: aucsched-slurm\nArchitecture: any\nDescription: x\n' >"$out/debian/control"
libraries=$(cd "$out" && dpkg-shlibdeps -O "-l$stock" $(printf -- '-e %s ' "$stage"/usr/bin/*) "$stage$plugins"/*.so 2>"$out/shlibdeps.log" |
	sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || { cat "$out/shlibdeps.log" >&2; die "dpkg-shlibdeps finds no libraries"; }
size=$(du -sk --exclude=DEBIAN "$stage" | cut -f1)

fill control.in >"$stage/DEBIAN/control"
for script in postinst prerm; do
	fill $script >"$stage/DEBIAN/$script"
	chmod 755 "$stage/DEBIAN/$script"
done
(cd "$stage" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k 2) >"$stage/DEBIAN/md5sums"

package=$out/aucsched-slurm_${version}_$architecture.deb
rm -f "$out"/aucsched-slurm_*.deb
dpkg-deb --root-owner-group --build "$stage" "$package" >&2
rm -rf "$stage" "$out/debian" "$out/bsd" "$out/shlibdeps.log"
echo "$package"
