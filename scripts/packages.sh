#!/bin/sh
# Installs what a part of the project needs, on Debian as root; otherwise says what is missing:
#
#	sh scripts/packages.sh build    to compile the plug-ins
#	sh scripts/packages.sh source   to make Debian's source tree of its Slurm
#	sh scripts/packages.sh stock    to build a Slurm of its release
#	sh scripts/packages.sh slurm    to run a Slurm of one's own
#	sh scripts/packages.sh site     to run one that keeps accounts: slurmdbd and MariaDB
#	sh scripts/packages.sh own-tests  to run Slurm's own test suite
#	sh scripts/packages.sh deb      to make a package (rpm, tar: of that kind)
#	sh scripts/packages.sh arm64    to compile for arm64, and to run that
#	sh scripts/packages.sh metrics  to test metrics and the rules for alerts
#	sh scripts/packages.sh mpi      to build and run MPI programs
#	sh scripts/packages.sh pages    to look at pages of HTML in a browser
#	sh scripts/packages.sh peers    to set other solvers beside ours
#	sh scripts/packages.sh mkdocs   to build the site of docs/
#
# With SLURM_PREFIX=DIR in the environment Slurm is there, and none is installed.
#
# Daemons that Debian would start with their packages are kept from starting, and are not
# enabled: a cluster of slurmtest brings its own.
set -eu

say() { echo "packages.sh: $*" >&2; }
die() { say "$*"; exit 1; }

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# A line is PACKAGE and how to see that it is there: a program, a file (with /), or one of
# Slurm's plug-ins.
build="gcc gcc
libc6-dev /usr/include/stdio.h
make make
binutils nm"
source="$build
dpkg-dev dpkg-source
patch patch
tar tar
xz-utils xz
libmunge-dev /usr/include/munge.h"
stock="$build
tar tar
xz-utils xz
pkgconf pkg-config
libmunge-dev /usr/include/munge.h
libmariadb-dev mariadb_config
libhwloc-dev /usr/include/hwloc.h
libjson-c-dev /usr/include/json-c/json.h
libdbus-1-dev /usr/include/dbus-1.0/dbus/dbus.h
libhttp-parser-dev /usr/include/http_parser.h
libyaml-dev /usr/include/yaml.h
libpam0g-dev /usr/include/security/pam_appl.h
libreadline-dev /usr/include/readline/readline.h"
slurm="munge munged
slurmctld slurmctld
slurmd slurmd
slurm-client sbatch
slurm-wlm-basic-plugins PLUGINS"
# MariaDB's programs alone: the package mariadb-server would make them a service of the system.
site="slurmdbd slurmdbd
slurm-client sacctmgr
slurm-wlm-mysql-plugin PLUGINS/accounting_storage_mysql.so
mariadb-server-core mariadbd
mariadb-client-core my_print_defaults"
own_tests="$build
$source
expect expect
python3-pytest pytest-3
python3-pexpect /usr/lib/python3/dist-packages/pexpect/__init__.py
python3-requests /usr/lib/python3/dist-packages/requests/__init__.py
sudo sudo
perl perl
procps pkill
libslurm-dev /usr/include/slurm/slurm.h"
deb="dpkg dpkg-deb
dpkg-dev dpkg-shlibdeps
gzip gzip"
rpm="rpm rpmbuild
binutils strip
zstd zstd"
tar="tar tar
gzip gzip"
arm64="$source
gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
libc6-dev-arm64-cross /usr/aarch64-linux-gnu/lib/crt1.o
qemu-user qemu-aarch64
$slurm"

metrics="prometheus promtool"

mpi="openmpi-bin ompi-server
libopenmpi-dev mpicc"

pages="chromium chromium"

peers="coinor-cbc cbc
glpk-utils glpsol"

mkdocs="mkdocs mkdocs
mkdocs-material /usr/share/mkdocs/themes/material"

is_there() {
	case $1 in
	PLUGINS) sh "$(dirname "$0")/slurm-installed.sh" plugins >/dev/null 2>&1 ;;
	PLUGINS/*) plugins=$(sh "$(dirname "$0")/slurm-installed.sh" plugins 2>/dev/null) && [ -e "$plugins/${1#PLUGINS/}" ] ;;
	/*) [ -e "$1" ] ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

missing() {
	echo "$1" | while read -r package sign; do
		is_there "$sign" || printf '%s ' "$package"
	done
}

policy=/usr/sbin/policy-rc.d

# restore: puts back what answered before whether services may start.
restore() {
	rm -f $policy
	[ ! -e $policy.aucsched ] || mv $policy.aucsched $policy
}

# install PACKAGE...: without starting any service.
install() {
	trap restore EXIT
	trap 'exit 1' INT TERM
	[ ! -e $policy ] || [ -e $policy.aucsched ] || mv $policy $policy.aucsched
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
	# Lists that are empty are those of an image that was cleaned.
	ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || apt-get -q update >&2
	say "apt-get install $*"
	DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@" >&2
}

case ${1:-} in
build) wanted=$build ;;
source) wanted=$source ;;
stock) wanted=$stock ;;
slurm) wanted=$slurm ;;
site) wanted=$site ;;
own-tests) wanted=$own_tests ;;
deb) wanted=$deb ;;
rpm) wanted=$rpm ;;
tar) wanted=$tar ;;
arm64) wanted=$arm64 ;;
metrics) wanted=$metrics ;;
mpi) wanted=$mpi ;;
pages) wanted=$pages ;;
peers) wanted=$peers ;;
mkdocs) wanted=$mkdocs ;;
*) die "usage: packages.sh build | source | stock | slurm | site | own-tests | deb | rpm | tar | arm64 | metrics | mpi | pages | peers | mkdocs" ;;
esac

[ -z "${SLURM_PREFIX:-}" ] || wanted=$(echo "$wanted" | grep -v '^slurm')
packages=$(missing "$wanted")
[ -n "$packages" ] || exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 ||
	die "missing: ${packages}(Debian and Ubuntu, as root: apt-get install $packages)"
# shellcheck disable=SC2086
install $packages || die "can't install $packages"
# Not at the next boot either.
for unit in munge slurmctld slurmd slurmdbd prometheus; do
	case " $packages" in *" $unit "*) ;; *) continue ;; esac
	if [ -d /run/systemd/system ]; then
		systemctl disable "$unit" >/dev/null 2>&1 || true
	elif command -v update-rc.d >/dev/null 2>&1; then
		update-rc.d "$unit" disable >/dev/null 2>&1 || true
	fi
done
packages=$(missing "$wanted")
[ -z "$packages" ] || die "still missing: $packages"
