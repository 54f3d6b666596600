#!/bin/sh
# One cluster, in namespaces of its own, and tests on it until the queue is empty:
#
#	bed.sh stock|aucsched NUMBER LIMIT RUN
#
# slurm-own-tests.sh starts it, and sets version, source, slurm, stock_plugins, plugins, out and work.
set -u

here=$(cd "$(dirname "$0")" && pwd)
kind=$1 bed=$2 limit=$3 run=$4
name=$kind$bed
nodes=6

# The machine's files, whose changes go to the tmpfs: tests change /etc, /usr and /tmp at will.
if [ -z "${OWN_TESTS_BED:-}" ]; then
	top=$work/$name.$run
	mkdir -p "$top/up" "$top/work" "$top/root"
	mount -t overlay -o "lowerdir=/,upperdir=$top/up,workdir=$top/work" bed "$top/root"
	mount -t proc proc "$top/root/proc"
	mount --rbind /sys "$top/root/sys"
	mount --rbind /dev "$top/root/dev"
	for dir in run tmp dev/shm; do mount -t tmpfs -o mode=1777 bed "$top/root/$dir"; done
	mkdir -p "$top/root/run/mysqld"
	mount --bind "$work/db" "$top/root/run/mysqld"
	mount --bind "$out" "$top/root$out"
	mount --bind "$work" "$top/root$work"
	export OWN_TESTS_BED=1
	exec chroot "$top/root" sh "$here/bed.sh" "$@"
fi

export PATH="$slurm/sbin:$slurm/bin:/usr/sbin:/usr/bin:/sbin:/bin" LC_ALL=C.UTF-8 HOME=/root kind name nodes
unset SLURM_PREFIX SLURM_SOURCE OWN_TESTS_INSIDE MAKEFLAGS MAKELEVEL MAKEOVERRIDES
bedlog=$out/log/$name
mkdir -p /bed/state /bed/spool /bed/home "$bedlog"
export bedlog

machine() {
	hostname suite
	ip link set lo up
	# The C library looks up no address where the loopback is all there is.
	ip addr add 10.9.9.1/32 dev lo
	printf '127.0.0.1 localhost\n10.9.9.1 suite\n' >/etc/hosts
	usermod --home /bed/home --shell /bin/bash slurm
	id suiteuser >/dev/null 2>&1 || useradd --no-create-home --home-dir /tmp --shell /bin/bash suiteuser
	printf 'Defaults !secure_path\nDefaults env_keep += "PATH"\nslurm ALL=(ALL:ALL) NOPASSWD: ALL\n' >/etc/sudoers.d/slurm
	chmod 440 /etc/sudoers.d/slurm
	# Programs of tests are linked with what the plug-ins are.
	if [ "$slurm" = /usr ]; then
		ln -sfn "$stock_plugins" /usr/lib/slurm
	else # some tests call Slurm's commands without a path, in an environment of their own
		ln -sfn "$slurm"/bin/* /usr/bin/
		ln -sfn "$slurm"/sbin/* /usr/sbin/
	fi
	mkdir -p /run/munge /run/slurm /var/log/munge
	head -c 128 /dev/urandom >/etc/munge/munge.key
	chown munge /etc/munge/munge.key /run/munge /var/log/munge
	chmod 700 /var/log/munge
	chmod 755 /run/munge
	chmod 400 /etc/munge/munge.key
	runuser -u munge -- munged --force
	chown -R slurm "$bedlog" /bed/state /bed/home /run/slurm
	chmod 755 /bed /bed/spool
}

# suite: Slurm's tests, and where they find what they test.
suite() {
	cp -r "$source/testsuite" /bed/testsuite
	printf 'set slurm_dir "%s"\nset src_dir "%s"\nset build_dir "%s"\nset partition "main"\nset testsuite_user "suiteuser"\nset mpicc "/usr/bin/none"\nset testsuite_log_level 5\n' \
		"$slurm" "$source" "$source" >/bed/testsuite/expect/globals.local
	printf 'SlurmSourceDir=%s\nSlurmBuildDir=%s\nSlurmInstallDir=%s\nSlurmConfigDir=/etc/slurm\nSlurmTestUser=suiteuser\n' \
		"$source" "$source" "$slurm" >/bed/testsuite/testsuite.conf
	chown -R slurm /bed/testsuite
}

# until_so SECONDS COMMAND...: waits for it to succeed.
until_so() {
	left=$1
	shift
	while ! "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 1
	done
}

reservations() { scontrol -o show reservation | sed -n 's/^ReservationName=\([^ ]*\) .*/\1/p'; }
all_idle() { [ "$(sinfo -h -t idle -o %D)" = $nodes ]; }
no_jobs() { [ -z "$(squeue -h -a)" ]; }
up() { scontrol ping | grep -q 'is UP'; }
a_slurmd() { pgrep -f "slurmd -N $1\$" >/dev/null || slurmd -N "$1"; }

daemons() {
	up || runuser -u slurm -- slurmctld
	until_so 60 up
	for n in $(seq $nodes); do a_slurmd "n$n"; done
}

accounts() {
	runuser -u slurm -- slurmdbd
	until_so 120 sacctmgr -n show cluster
	sacctmgr -i add cluster site
	sacctmgr -i add account base
	sacctmgr -i add user slurm,suiteuser,root account=base
	sacctmgr -i modify user slurm,root set adminlevel=admin
}

configure() {
	rm -rf /etc/slurm
	cp -r /bed/etc /etc/slurm
	chown -R slurm /etc/slurm
}

# afresh: daemons with the configuration as it was, whatever a test has made of both.
afresh() {
	pkill -KILL 'slurmctld|slurmd$'
	until_so 20 sh -c '! pgrep "slurmctld|slurmd\$"'
	configure
	sacctmgr -n show cluster >/dev/null 2>&1 || runuser -u slurm -- slurmdbd
	daemons
	until_so 40 all_idle
}

# tidy: a cluster as the next test wants it; what was amiss is printed.
tidy() {
	pkill -KILL 'expect|pytest|srun|salloc|sbatch|sattach'
	if ! up; then
		echo "slurmctld was down"
		afresh
	elif ! diff -r /bed/etc /etc/slurm >/dev/null; then
		echo "configuration was changed"
		afresh
	fi
	if ! no_jobs; then
		scancel --user=slurm
		scancel --user=suiteuser
		scancel --user=root
		until_so 30 no_jobs || { echo "jobs stayed"; afresh; }
	fi
	# A test that was ended leaves them: the tests behind it would find no idle node.
	for reservation in $(reservations); do
		echo "reservation $reservation stayed"
		scontrol delete "reservation=$reservation" || afresh
	done
	all_idle && return
	for n in $(seq $nodes); do
		a_slurmd "n$n"
		scontrol update nodename="n$n" state=resume 2>/dev/null
	done
	until_so 20 all_idle || { echo "nodes not idle: $(sinfo -h -o '%N %T' | tr '\n' ' ')"; afresh; }
}

# take: the next test of the queue, which all beds of the kind have in common.
take() {
	exec 9>>"$work/lock.$kind"
	flock 9
	head -n 1 "$work/queue.$kind"
	sed -i 1d "$work/queue.$kind"
	exec 9>&-
}

# verdict STATUS: of one run. A test of expect that is skipped ends with a status that is negative.
verdict() {
	case $test:$1 in
	*:124 | *:137) echo TIMEOUT ;;
	*.py:0) if tail -n 1 "$log" | grep -q passed; then echo PASS; else echo SKIP; fi ;;
	*.py:5) echo SKIP ;;
	*:0) echo PASS ;;
	*) if [ "$1" -gt 127 ]; then echo SKIP; else echo FAIL; fi ;;
	esac
}

# try_one TEST: its verdict is a line of results.
try_one() {
	test=$1
	log=$out/log/$(echo "$test" | tr / %).$kind.$run
	began=$(date +%s)
	case $test in
	*.py) set -- python pytest-3 -p no:cacheprovider -rA "tests/$test" ;;
	*) set -- expect expect "$test" ;;
	esac
	dir=$1
	shift
	status=0
	(cd "/bed/testsuite/$dir" && HOME=/bed/home exec timeout -k 5 "$limit" runuser -u slurm -- "$@") >"$log" 2>&1 </dev/null || status=$?
	echo "$test $kind $(verdict $status) $(($(date +%s) - began)) $run" >>"$out/results"
	note=$(tidy 2>/dev/null | tr '\n' ';')
	[ -z "$note" ] || echo "$name: after $test: $note" >>"$out/log/notes"
}

machine
suite
mkdir -p /bed/etc
(cd /bed/etc && sh "$here/conf.sh")
configure
accounts
daemons
until_so 120 all_idle || { echo "$name: no cluster"; sinfo; exit 1; }
while test=$(take) && [ -n "$test" ]; do try_one "$test"; done
