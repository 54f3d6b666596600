#!/bin/sh
# Tests deb and RPM beside a slurmctld that runs, in a chroot of this machine's own Debian release:
#
#	sh scripts/package-test.sh
#
# Packages of two versions are made here, and what is done with them is in
# package-test-inside.sh. The RPMs find a stand-in for what Debian's packages have: Slurm, the C
# library. As root; CHROOT as in slurm-chroot.sh. TESTS="source deb split rpm dnf prefix load" for
# some of it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release | tr -d '"')
chroot=${CHROOT:-$root/build/chroot-$suite}

die() { echo "package-test.sh: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || die "a chroot needs root"
cd "$root"
sh "$here/slurm-chroot.sh" "$suite" sh -c '(for program in slurmctld slurmd sbatch pgrep rpm dnf createrepo_c; do command -v $program >/dev/null || exit 1; done) ||
	{ apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends slurmctld slurmd slurm-client slurm-wlm-basic-plugins procps rpm dnf createrepo-c; }' >&2
inside=$chroot/aucsched.build/package-test
rm -rf "$inside"
mkdir -p "$inside"

# make_packages FORMAT DIR: both packages of the version that PACKAGE_SUFFIX makes of it.
make_packages() {
	mkdir -p "$inside/$2"
	for part in cli slurm; do
		file=$(sh "$here/package.sh" "$1" $part | tail -n 1)
		cp "$file" "$inside/$2/"
	done
}

# stand_in NAME VERSION FILE...: an RPM that provides all that these need, and Slurm's of that version.
stand_in() {
	name=$1 version=$2
	shift 2
	{
		printf 'Name: %s\nVersion: %s\nRelease: 1\nSummary: stand-in\nLicense: none\nBuildArch: noarch\n' "$name" "$version"
		[ $# = 0 ] || rpm -qpR "$@" 2>/dev/null | grep -v -e '^rpmlib(' -e '^slurm ' -e '^aucsched ' -e '^/' | sort -u | sed 's/^/Provides: /'
		[ $# = 0 ] || echo 'Provides: /bin/sh'
		printf '\n%%description\nIn place of packages of the system.\n\n%%files\n'
	} >"$inside/$name.spec"
	rpmbuild -bb --quiet --define "_topdir $inside/rpmbuild" --define "_rpmdir $inside/stand-ins" --define "_build_name_fmt %%{NAME}-%%{VERSION}.rpm" "$inside/$name.spec" >&2
}

# wrong_version: the plug-ins as a Slurm of another version would have them: each notes its own.
wrong_version() {
	version=$(sh "$here/package-version.sh" slurm)
	mkdir -p "$inside/wrong"
	cp "build/slurm/$version"/*.so "$inside/wrong/"
	for file in "$inside"/wrong/*_*.so "$inside"/wrong/sched_*.so; do
		at=$(readelf -sW --dyn-syms "$file" | awk '$8 == "plugin_version" { print $2; exit }')
		[ -n "$at" ] || die "$file has no plugin_version"
		# The section of constants lies in the file where it lies in memory.
		printf '\000\002\027' | dd of="$file" bs=1 seek=$((0x$at)) conv=notrunc 2>/dev/null
	done
}

# rebuilt: the source RPMs, rebuilt without a network, have the files of the RPMs, and require the same. What is
# of HiGHS is not compared: a rebuild has it where it is installed.
rebuilt() {
	rm -rf "$inside/rebuilt"
	slurm_source=$(sh "$here/slurm-source.sh")
	for part in cli slurm; do
		file=$(sh "$here/package.sh" srpm $part | tail -n 1)
		unshare --net rpmbuild --rebuild --quiet --nodeps --define "_topdir $inside/rebuilt" --define "go $(command -v go)" \
			--define "slurm_plugins /usr/lib64/slurm" --define "slurm_source $slurm_source" "$file" >"$inside/rebuilt.log" 2>&1 ||
			{ tail -n 30 "$inside/rebuilt.log" >&2; die "$file can't be rebuilt"; }
	done
	for file in "$inside"/rpm-1/*.rpm; do
		other=$(ls "$inside"/rebuilt/RPMS/*/"${file##*/}") || die "${file##*/} was not rebuilt"
		for what in list requires; do
			# What the commands require depends on whether HiGHS is in them.
			case $what-${file##*/} in requires-aucsched-[0-9]*) continue ;; esac
			rpm -qp --$what "$file" | grep -v -e '/doc/aucsched/licenses/' -e '^rpmlib(' >"$inside/one"
			rpm -qp --$what "$other" | grep -v -e '/doc/aucsched/licenses/' -e '^rpmlib(' >"$inside/other"
			diff "$inside/one" "$inside/other" >&2 || die "rebuilt, ${file##*/} has another $what"
		done
	done
	echo "package-test: the source RPMs are rebuilt without a network: $(cd "$inside/rebuilt/RPMS" && ls ./*/* | tr '\n' ' ')"
}

: "${TESTS:=source deb split rpm dnf prefix load}"
for format in deb rpm; do
	make_packages $format $format-1
	PACKAGE_SUFFIX=+2 make_packages $format $format-2
	SLURM_PLUGINS=/opt/slurm/lib/slurm sh "$here/package.sh" $format slurm >"$inside/path"
	mkdir -p "$inside/$format-prefix"
	mv "$(tail -n 1 "$inside/path")" "$inside/$format-prefix/"
done
stand_in system 1 "$inside"/rpm-1/*.rpm "$inside"/rpm-prefix/*.rpm
stand_in slurm "$(sh "$here/package-version.sh" slurm)"
mv "$inside"/stand-ins/slurm-*.rpm "$inside/slurm-right.rpm"
stand_in slurm 99.05.1
mv "$inside"/stand-ins/slurm-*.rpm "$inside/slurm-wrong.rpm"
mv "$inside"/stand-ins/system-*.rpm "$inside/system.rpm"
wrong_version
inside_tests=
for test in $TESTS; do
	if [ "$test" = source ]; then rebuilt; else inside_tests="$inside_tests $test"; fi
done
# shellcheck disable=SC2086
[ -z "$inside_tests" ] || sh "$here/slurm-chroot.sh" "$suite" sh scripts/package-test-inside.sh $inside_tests
