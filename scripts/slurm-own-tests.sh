#!/bin/sh
# Runs Slurm's own test suite on clusters of stock Slurm and of the same Slurm with the plug-ins, side
# by side, and compares (as root):
#
#	sh scripts/slurm-own-tests.sh [VERSION [SOURCES]]
#
# Without VERSION it is the installed Slurm, of Debian; with it, that of slurm-stock.sh, built of the
# releases in SOURCES. Set in the environment:
#
#	TESTS="test1.1 commands/srun/test_--wait.py"   these, not all
#	BEDS=4     clusters of each kind at once
#	LIMIT=60   seconds for a test; one that has another verdict with the plug-ins than without is
#	           run once more in both, with 3 times as many
#
# All is done in namespaces, below a tmpfs: whatever ends this, no process, mount or file is left
# behind, save build/own-tests/VERSION: `results` has a line TEST KIND VERDICT SECONDS RUN for each run,
# log/ what they printed, and the logs of the daemons. The exit status is 1 if a test that passes with
# stock Slurm does not with the plug-ins, and is not in the table of scripts/own-tests/README.md.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)

say() { echo "slurm-own-tests.sh: $*" >&2; }
die() { say "$*"; exit 1; }

# queue LIMIT RUN: the tests in $work/list, on all beds; they take them one by one.
queue() {
	beds=
	for kind in stock aucsched; do
		cp "$work/list" "$work/queue.$kind"
		bed=0
		while [ $bed -lt "$BEDS" ]; do
			bed=$((bed + 1))
			unshare --mount --pid --net --uts --ipc --fork --kill-child --mount-proc nice -n 5 \
				sh "$here/own-tests/bed.sh" "$kind" "$bed" "$1" "$2" >"$out/log/bed.$kind.$bed.$2" 2>&1 </dev/null &
			beds="$beds $!"
		done
	done
	# shellcheck disable=SC2086
	wait $beds || true
}

# database: a MariaDB for all beds; they reach it through its socket.
database() {
	mkdir -p "$work/db/data" "$work/db/tmp"
	cat >"$work/db/my.cnf" <<END
[mariadbd]
datadir=$work/db/data
tmpdir=$work/db/tmp
socket=$work/db/mysqld.sock
pid-file=$work/db/pid
log-error=$out/log/mariadb
skip-networking
max_connections=1000
innodb_flush_log_at_trx_commit=0
init-file=$work/db/init.sql
END
	echo "GRANT ALL ON *.* TO slurm@localhost IDENTIFIED BY 'suite';" >"$work/db/init.sql"
	touch "$out/log/mariadb"
	chown -R slurm "$work/db" "$out/log/mariadb"
	(cd "$work/db" && runuser -u slurm -- mariadb-install-db --defaults-file="$work/db/my.cnf" --skip-test-db) >"$out/log/mariadb-install" 2>&1 ||
		die "mariadb-install-db failed: $out/log/mariadb-install"
	runuser -u slurm -- mariadbd --defaults-file="$work/db/my.cnf" &
	mariadb=$!
	for _ in $(seq 120); do
		[ ! -S "$work/db/mysqld.sock" ] || return 0
		sleep 0.5
	done
	die "MariaDB does not start: $out/log/mariadb"
}

# all: the names of all tests: of expect, and of Python as below testsuite/python/tests.
all() {
	(cd "$source/testsuite/expect" && ls | grep -E '^test[0-9]+\.[0-9]+$' | sort -V)
	(cd "$source/testsuite/python/tests" && find . -name 'test_*.py' | sed 's|^\./||' | sort)
}

# inside: what is process 1 of the namespaces does.
inside() {
	mount -t tmpfs -o mode=755 own-tests "$work"
	if [ -n "${TESTS:-}" ]; then printf '%s\n' $TESTS; else all; fi >"$work/list"
	say "$(wc -l <"$work/list") tests of Slurm $version, $BEDS clusters of each kind"
	database
	queue "$LIMIT" 1
	sh "$here/own-tests/compare.sh" again "$version" "$out/results" >"$work/list"
	if [ -s "$work/list" ]; then
		say "$(wc -l <"$work/list") of them again"
		queue $((LIMIT * 3)) 2
	fi
	kill $mariadb
	sh "$here/own-tests/compare.sh" report "$version" "$out/results"
}

if [ -n "${OWN_TESTS_INSIDE:-}" ]; then
	inside
	exit
fi

[ "$(id -u)" = 0 ] || die "namespaces and slurmd need root"
case $root in /tmp/* | /run/* | /dev/shm/*) die "$root is hidden from the clusters, which have a /tmp of their own: move the checkout" ;; esac
for set in slurm site own-tests; do (unset SLURM_PREFIX && sh "$here/packages.sh" $set); done
installed=$(sh "$here/slurm-installed.sh" version) || exit 1
version=${1:-$installed}
if [ "$version" != "$installed" ]; then
	[ -n "${2:-}" ] || die "Slurm $version is not installed (that is $installed): SOURCES=DIR names a directory of slurm-VERSION.tar.*"
	stock=$(sh "$here/slurm-stock.sh" "$2" "$version") || exit 1
	version=${stock%% *} stock=${stock#* }
	export SLURM_PREFIX="$stock/slurm" SLURM_SOURCE="$stock/source"
fi
source=$(sh "$here/slurm-source.sh")
[ -d "$source/testsuite/expect" ] || die "$source has no testsuite/expect: releases have it up to 25.05"
make --no-print-directory -C "$root/slurmplugin" all >&2
stock_plugins=$(sh "$here/slurm-installed.sh" plugins)
plugins=$root/build/slurm/$version
slurm=${SLURM_PREFIX:-/usr}
out=$root/build/own-tests/$version
work=$out/work
rm -rf "$out"
mkdir -p "$out/log" "$work"
echo '*' >"$root/build/own-tests/.gitignore"
: "${BEDS:=4}" "${LIMIT:=60}"
export OWN_TESTS_INSIDE=1 version source stock_plugins plugins slurm out work BEDS LIMIT

# Process 1 of the namespaces dies with unshare, and all that is in them with it.
setpriv --pdeathsig KILL unshare --mount --pid --ipc --fork --kill-child --mount-proc sh "$0" &
run=$!
trap 'kill -KILL $run 2>/dev/null; wait $run || true; rmdir "$work"; exit 1' INT TERM HUP
status=0
wait $run || status=$?
rmdir "$work" 2>/dev/null || true
exit $status
