#!/bin/sh
# Makes a package in build/packages, and prints its path:
#
#	sh scripts/package.sh deb cli      aucsched_VERSION_ARCH.deb: the commands
#	sh scripts/package.sh deb slurm    aucsched-slurm_VERSION+slurmVERSION_ARCH.deb: the plug-ins for one Slurm
#	sh scripts/package.sh rpm cli      the same as RPMs
#	sh scripts/package.sh rpm slurm
#	sh scripts/package.sh tar cli      aucsched-VERSION-linux-ARCH.tar.gz, which needs no library
#	sh scripts/package.sh srpm cli     aucsched-VERSION-1.src.rpm: the sources of the RPM, with all modules
#	sh scripts/package.sh srpm slurm   the same of the plug-ins, for whatever Slurm is where it is rebuilt
#
# The Slurm is that of slurm-installed.sh (SLURM_PREFIX=DIR, SLURM_SOURCE, SLURM_PLUGINS=DIR: see
# package-version.sh). SLURM_PACKAGE names the RPM that a package of plug-ins requires in the very
# version: slurm, or none for a Slurm in a prefix of its own, of which the package then asks slurmctld -V.
# ARCH=arm64 makes the packages of the commands for that, of programs that need no library and are
# without HiGHS. DEBFULLNAME and DEBEMAIL say who makes it, SOURCE_DATE_EPOCH when. PACKAGE_SUFFIX is added to the
# version of aucsched. The same sources give the same bytes.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)

die() { echo "package.sh: $*" >&2; exit 1; }

format=${1:-} part=${2:-}
case $format-$part in
deb-cli | deb-slurm | rpm-cli | rpm-slurm | srpm-cli | srpm-slurm | tar-cli) ;;
*) die "usage: package.sh deb | rpm | srpm cli | slurm, or tar cli" ;;
esac

case ${ARCH:-}-$part in
-*) ;;
amd64-cli | arm64-cli) export GOARCH="$ARCH" ;;
*) die "ARCH=$ARCH: the commands are made for amd64 and arm64, plug-ins for this machine alone" ;;
esac
sh "$here/packages.sh" "${format#s}"
cd "$root"
: "${GO:=go}"
export GO
ask() { sh "$here/package-version.sh" "$1"; }
release=$(ask release)
SOURCE_DATE_EPOCH=$(ask time)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
maintainer="${DEBFULLNAME:-the aucsched authors} <${DEBEMAIL:-root@localhost}>"
name=aucsched version=$release templates=packaging slurm= plugins= stock= prefix= debian=
[ "$part" = cli ] || name=aucsched-slurm templates=slurmplugin/packaging
if [ "$part" = slurm ] && [ "$format" != srpm ]; then
	# Made with Debian's Slurm, an RPM is for one where SchedMD's RPMs put it.
	if [ "$format" = rpm ] && [ -z "${SLURM_PLUGINS:-}" ]; then
		case $(ask stock) in */slurm-wlm) export SLURM_PLUGINS=/usr/lib64/slurm ;; esac
	fi
	slurm=$(ask slurm) plugins=$(ask plugins) stock=$(ask stock) prefix=$(ask prefix)
	version=$release+slurm$slurm
fi

out=$root/build/packages
work=$root/build/package/$format-$part
stage=$work/stage
rm -rf "$work"
umask 022
mkdir -p "$out" "$work"
echo '*' >"$out/.gitignore"

# fill FILE: a template, filled in. A line that is @CHECK@ or @NAMED@ is the script of that name.
fill() {
	sed -e "/^@CHECK@$/{r slurmplugin/packaging/check-slurm" -e 'd;}' -e "/^@NAMED@$/{r slurmplugin/packaging/check-named" -e 'd;}' \
		-e "/^@HINT@$/{r slurmplugin/packaging/hint" -e 'd;}' -e "/^@INSTALL@$/{r $work/install" -e 'd;}' "$1" |
		sed -e "s|@VERSION@|$version|g" -e "s|@RELEASE@|$release|g" -e "s|@NAME@|$name|g" -e "s|@ARCHITECTURE@|${architecture:-}|g" \
			-e "s|@MAINTAINER@|$maintainer|g" -e "s|@SLURM_VERSION@|$slurm|g" -e "s|@DEPENDS_SLURM@|${depends:-}|g" \
			-e "s|@PREFIX@|$prefix|g" -e "s|@PLUGINS@|$plugins|g" -e "s|@STOCK@|$stock|g" -e "s|@STAGE@|$stage|g" \
			-e "s|@DATE@|$(date -R -u -d "@$SOURCE_DATE_EPOCH")|g" -e "s|@SLURM_OF@|${slurm_of:-}|g" -e "s|@LIBRARIES@|${libraries:-}|g" -e "s|@SIZE@|${size:-}|g" \
			-e "s|@GO@|$(sed -n 's/^go //p' go.mod)|g" -e "s|@TIME@|$SOURCE_DATE_EPOCH|g" -e "s|@PART@|$part|g" -e "s|@FILES@|${files:-}|g" \
			-e '/^@EMPTY@$/d' -e '/^Depends: $/d'
}

make_tar() {
	platform=$("$GO" env GOOS)-$("$GO" env GOARCH)
	package=$out/$name-$version-$platform.tar.gz
	mv "$stage" "$work/$name-$version"
	tar -C "$work" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
		-cf - "$name-$version" | gzip -9n >"$package.new"
	mv "$package.new" "$package"
}

# debian_slurm: what the package depends on, if the Slurm is of Debian's packages.
debian_slurm() {
	depends=
	case $stock in /usr/lib/*/slurm-wlm) ;; *) return 0 ;; esac
	debian=$(dpkg-query -W -f '${Version}' slurm-wlm-basic-plugins 2>/dev/null) || die "the Slurm of $stock is not of Debian packages"
	depends="slurmctld (= $debian) \| slurm-client (= $debian) \| slurmd (= $debian), slurm-wlm-basic-plugins (= $debian), "
}

# linked: the packages of the libraries that are linked, into $libraries. The plug-ins find Slurm's symbols in
# the program that loads them; programs for another machine are linked with nothing.
linked() {
	libraries=
	[ "$("$GO" env GOARCH)" = "$("$GO" env GOHOSTARCH)" ] || return 0
	printf 'Source: %s\n\nPackage: %s\nArchitecture: any\nDescription: x\n' "$name" "$name" >"$work/debian/control"
	libraries=$(cd "$work" && find "$stage" -type f \( -path '*/bin/*' -o -name '*.so' \) | sed 's/^/-e/' |
		xargs dpkg-shlibdeps -O ${stock:+"-l$(sh "$here/slurm-installed.sh" plugins)"} 2>"$work/shlibdeps.log" | sed -n 's/^shlibs:Depends=//p')
	[ -n "$libraries" ] || { cat "$work/shlibdeps.log" >&2; die "dpkg-shlibdeps finds no libraries"; }
}

make_deb() {
	architecture=${ARCH:-$(dpkg --print-architecture)}
	debian_slurm
	doc=$stage/usr/share/doc/$name
	sed 's/^$/./; s/^/ /' LICENSE >"$work/bsd"
	fill "$templates/copyright.in" | sed -e "/^@BSD@$/{r $work/bsd" -e 'd;}' >"$doc/copyright"
	fill packaging/changelog.in | gzip -9n >"$doc/changelog.gz"

	mkdir -p "$work/debian" "$stage/DEBIAN"
	linked
	# In kilobytes, whatever the file system takes for them.
	size=$(find "$stage/usr" "$stage$plugins" -type f -printf '%i %s\n' | sort -u | awk '{ kb += int(($2 + 1023) / 1024) } END { print kb }')

	fill "$templates/control.in" >"$stage/DEBIAN/control"
	for script in preinst postinst prerm postrm; do
		[ -f "$templates/$script" ] || continue
		# apt unpacks a new Slurm and its plug-ins in any order: there the dependency alone decides.
		[ "$script" != preinst ] || [ -z "$debian" ] || continue
		fill "$templates/$script" >"$stage/DEBIAN/$script"
		chmod 755 "$stage/DEBIAN/$script"
	done
	(cd "$stage" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | xargs -0 md5sum | sort -k 2) >"$stage/DEBIAN/md5sums"
	package=$out/${name}_${version}_$architecture.deb
	dpkg-deb --root-owner-group --build "$stage" "$package.new" >&2
	mv "$package.new" "$package"
}

# requires: what the package requires of Slurm's.
requires() {
	depends=@EMPTY@
	[ "$prefix" = /usr ] && other=slurm || other=
	other=${SLURM_PACKAGE-$other}
	[ -z "$other" ] || depends="Requires: $other = $slurm\nRequires(pre): $other = $slurm\nOrderWithRequires: $other-slurmctld $other-slurmd"
}

make_rpm() {
	requires
	target=
	case ${ARCH:-} in arm64) target=aarch64 ;; amd64) target=x86_64 ;; esac
	files=$work/files
	sh "$here/package-files.sh" "$name" "$stage" >"$files"
	printf '%%install\nmkdir -p %%{buildroot}\ncp -a %s/. %%{buildroot}/\n' "$stage" >"$work/install"
	fill "$templates/$name.spec.in" >"$work/$name.spec"
	# Nothing of this machine, and no time but that of the sources; zstd with one thread.
	rpmbuild -bb --quiet ${target:+--target "$target"} --define "_topdir $work/rpm" --define "_rpmdir $work/rpms" --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
		--define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
		--define "source_date_epoch_from_changelog 0" --define "debug_package %{nil}" --define "_build_id_links none" \
		--define "__os_install_post %{nil}" --define "_binary_payload w19.zstdio" \
		"$work/$name.spec" >"$work/rpmbuild.log" 2>&1 || { tail -n 30 "$work/rpmbuild.log" >&2; die "rpmbuild fails; all of it is in $work/rpmbuild.log"; }
	made=$(ls "$work"/rpms/*.rpm)
	package=$out/${made##*/}
	mv "$made" "$package"
}

# sources DIR: what Git knows of, or all where there is no Git, and the modules that are linked, as a
# proxy of Go has them: go.sum has their sums.
sources() {
	mkdir -p "$1"
	if [ -e .git ]; then git ls-files -z; else find . -path ./build -prune -o -path ./bin -prune -o -type f -print0; fi |
		xargs -0 sh -c 'for f; do [ ! -f "$f" ] || printf "%s\0" "$f"; done' sh | tar --null -T - -cf - | tar -C "$1" -xf -
	GOMODCACHE=$work/modules GOFLAGS=-modcacherw GOPROXY="file://$("$GO" env GOMODCACHE)/cache/download,$("$GO" env GOPROXY)" \
		"$GO" list -tags highs -deps ./cmd/aucsched ./benchmarks/cmd/aucsched-lab ./invasive/cmd/aucsched-invasive ./cshim >/dev/null
	(cd "$work/modules/cache/download" && find . -path ./sumdb -prune -o -type f ! -name '*.lock' ! -name list -print0 | tar --null -T - -cf -) |
		(mkdir "$1/modules" && tar -C "$1/modules" -xf -)
	# What modes they have here depends on who has checked them out.
	chmod -R u=rwX,go=rX "$1"
}

make_srpm() {
	slurm='%{?slurm_version}' prefix='%{slurm_prefix}' stock='%{slurm_plugins}' plugins='%{slurm_plugins}-aucsched' files=files depends=@EMPTY@
	archive=aucsched-$release
	sources "$work/$archive"
	mkdir "$work/sources"
	tar -C "$work" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
		-cf - "$archive" | gzip -9n >"$work/sources/$archive.tar.gz"
	cp packaging/source-install.in "$work/install"
	cp packaging/source.spec.in "$work/spec.in"
	slurm_of=@EMPTY@
	if [ "$part" = slurm ]; then
		version=$release'%{?slurm_version:+slurm%{slurm_version}}'
		depends='%if 0%{?slurm_package:1}\nRequires: %{slurm_package} = %{slurm_version}\nRequires(pre): %{slurm_package} = %{slurm_version}\nOrderWithRequires: %{slurm_package}-slurmctld %{slurm_package}-slurmd\n%endif'
		slurm_of='export SLURM_PREFIX=%{slurm_prefix} SLURM_PLUGINS=%{slurm_plugins} SLURM_SOURCE=%{?slurm_source}'
		cat slurmplugin/packaging/source.spec.in >>"$work/spec.in"
	fi
	cat "$templates/$name.spec.in" >>"$work/spec.in"
	fill "$work/spec.in" >"$work/sources/$name.spec"
	find "$work/sources" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
	# rpm notes the spec as it is filled in here: without paths of this machine.
	(cd "$work/sources" && rpmbuild -bs --quiet --define "_topdir $work/rpm" --define "_sourcedir ." --define "_srcrpmdir $work/rpms" --define "_builddir /usr/src" --define "_buildrootdir /usr/src" --define "sources_alone 1" \
		--define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
		--define "source_date_epoch_from_changelog 0" --define "_source_payload w9.gzdio" \
		"$name.spec") >"$work/rpmbuild.log" 2>&1 || { tail -n 30 "$work/rpmbuild.log" >&2; die "rpmbuild -bs fails"; }
	made=$(ls "$work"/rpms/*.src.rpm)
	package=$out/${made##*/}
	mv "$made" "$package"
}

if [ "$format" = srpm ]; then
	make_srpm
	rm -rf "$work"
	echo "$package"
	exit
fi
sh "$here/package-stage.sh" "$part" "$stage" "$format"
# The time of all that is older than the sources, or younger, is theirs.
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
"make_$format"
rm -rf "$work"
echo "$package"
