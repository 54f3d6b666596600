#!/bin/sh
# Cross-compiles the library and the plug-ins for arm64, and has Debian's own arm64 slurmctld load
# them, under qemu-aarch64:
#
#	sh scripts/arm64.sh build   into build/arm64/slurm/VERSION
#	sh scripts/arm64.sh         and test: slurmd and clients are those of this machine
#
# The Slurm is Debian's, in the version that is installed here; its arm64 packages are unpacked
# below build/arm64/root, from where the machine's apt sources point, and not installed. The headers
# are those of slurm-source.sh: config.h of arm64 is the same but for optional libraries. As
# root: slurmd starts jobs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
out=$root/build/arm64
foreign=$out/root
triplet=aarch64-linux-gnu
cc=$triplet-gcc

say() { echo "arm64.sh: $*" >&2; }
die() { say "$*"; exit 1; }

cd "$root"
sh "$here/packages.sh" arm64
version=$(sh "$here/slurm-installed.sh" version)
source=$(sh "$here/slurm-source.sh")
debian=$(dpkg-query -W -f '${Version}' slurmctld 2>/dev/null) || die "the installed Slurm is not of Debian packages"
mkdir -p "$out"
echo '*' >"$out/.gitignore"

# apt ARGUMENT...: apt-get for arm64 packages, with lists of its own and nothing installed.
apt() {
	apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::status=/dev/null \
		-o Dir::State::Lists="$out/apt/lists" -o Dir::Cache="$out/apt/cache" -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Languages=none -o Debug::NoLocking=1 "$@" >&2
}

unpack() {
	[ "$(cat "$foreign/.slurm" 2>/dev/null)" != "$debian with clients" ] || return 0
	say "fetching Debian's arm64 packages of Slurm $debian"
	rm -rf "$foreign"
	mkdir -p "$out/apt/lists/partial" "$out/apt/cache/archives/partial" "$foreign"
	apt update
	apt install -y --no-install-recommends --download-only "slurmctld=$debian" "slurm-client=$debian" "slurm-wlm-basic-plugins=$debian"
	for file in "$out"/apt/cache/archives/*.deb; do dpkg-deb -x "$file" "$foreign"; done
	echo "$debian with clients" >"$foreign/.slurm"
}

build() {
	GOARCH=arm64 CGO_ENABLED=1 CC=$cc make -s -C slurmplugin build CC=$cc VERSION="$version" SOURCE="$source" BUILD="$out/slurm" >&2
}

# The test: one slurmctld of arm64, one slurmd.

work=
# stop ends what was started.
stop() {
	for pid in ${node:-} ${controller:-}; do kill "$pid" 2>/dev/null || true; done
	wait || true
	[ -z "$work" ] || rm -rf "$work"
}

# write_conf FILE PLUGINDIR LINE...: slurmctld and the others differ in where their plug-ins are.
write_conf() {
	file=$1 dir=$2
	shift 2
	cat >"$file" <<CONF
ClusterName=arm64
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
AccountingStorageType=accounting_storage/none
DebugFlags=NO_CONF_HASH
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SlurmdTimeout=0
MessageTimeout=60
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
PluginDir=$dir
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$(hostname) Port=$((port + 1)) CPUs=8 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE
CONF
	for line; do echo "$line" >>"$file"; done
}

fail() {
	say "FAILED: $*"
	tail -n 20 "$work/slurmctld.log" >&2
	exit 1
}

# within SECONDS WHAT COMMAND...: until the command is true.
within() {
	left=$1 what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		kill -0 "$controller" 2>/dev/null || fail "slurmctld has ended"
		[ "$left" -gt 0 ] || fail "$what"
		left=$((left - 1))
		sleep 1
	done
}
# submit CORES SECONDS: a job, whose number is $number then.
submit() {
	number=$(sbatch --parsable -n "$1" -o "$work/out.%j" --wrap "uname -m; sleep $2") || fail "sbatch fails"
	case $number in *[!0-9]* | '') fail "sbatch says \"$number\"" ;; esac
}
# submit_foreign: a job by Debian's arm64 sbatch, which loads cli_filter.
submit_foreign() {
	number=$(SLURM_CONF=$work/arm64.conf qemu-aarch64 -strace -L "$foreign" "$foreign/usr/bin/sbatch" --parsable -n 1 -o /dev/null \
		--wrap true 2>"$work/sbatch.out") || fail "arm64's sbatch: $(grep 'sbatch: ' "$work/sbatch.out")"
	grep -q 'open.*/cli_filter_aucsched\.so.* = [0-9]' "$work/sbatch.out" || fail "arm64's sbatch has not loaded cli_filter"
	within 180 "job $number does not end well" done_well "$number"
	say "job $number: submitted by arm64's sbatch, with cli_filter"
}
idle() { sinfo -h -o %t | grep -q '^idle$'; }
running() { [ "$(squeue -h -o %T -j "$1")" = RUNNING ]; }
auctioned() { grep -q "aucsched: started JobId=$1 " "$work/slurmctld.log" || fail "job $1 was not started by the auction"; }
no_errors() { ! grep -i 'aucsched.*\(error\|panic\)' "$work/slurmctld.log" >&2 || fail "errors of the plug-ins"; }
done_well() { scontrol -o show job "$1" | grep -q 'JobState=COMPLETED .*ExitCode=0:0'; }

# first_pass: Slurm's own scheduler looks at the queue once, a few seconds after the start. A job before has
# it do so; those that follow are the auction's.
first_pass() { within 60 "Slurm's own scheduler does not begin" grep -q '\] SchedulerParameters=' "$work/slurmctld.log"; }

begin_controller() {
	: >"$work/slurmctld.log"
	SLURM_CONF=$work/arm64.conf qemu-aarch64 -L "$foreign" "$foreign/usr/sbin/slurmctld-wlm" -D >"$work/slurmctld.out" 2>&1 &
	controller=$!
	within 120 "slurmctld does not answer" scontrol ping
	within 60 "the auction is not on" grep -q "aucsched: on: .*libaucsched.so" "$work/slurmctld.log"
}

run() {
	stock=$(sh "$here/slurm-installed.sh" plugins)
	port=${PORT:-27917}
	work=$(mktemp -d)
	trap stop EXIT
	trap 'exit 1' INT TERM
	mkdir "$work/state" "$work/spool"
	write_conf "$work/arm64.conf" "$out/slurm/$version:$foreign/usr/lib/$triplet/slurm-wlm" JobSubmitPlugins=aucsched CliFilterPlugins=cli_filter/aucsched \
		SchedulerParameters=auc_interval=2,batch_sched_delay=3600,sched_interval=3600,bf_interval=3600
	write_conf "$work/slurm.conf" "$stock"
	export SLURM_CONF="$work/slurm.conf"
	begin_controller
	slurmd -D -N n1 >/dev/null 2>&1 &
	node=$!
	within 120 "the node does not come up" idle
	submit_foreign
	first_pass
	# Three of these fit, and the fourth waits for one of them.
	jobs=
	for cores in 3 3 2 4; do
		submit $cores 15
		jobs="$jobs $number"
	done
	for job in $jobs; do
		within 180 "job $job does not end well" done_well "$job"
		auctioned "$job"
	done
	say "jobs$jobs: started by the auction, and ended well"

	# And once more after a restart, with a job that goes on meanwhile.
	submit 4 600
	long=$number
	within 120 "job $long does not start" running "$long"
	# What slurmd has not heard of yet is requeued, rightly.
	within 120 "the script of job $long does not begin" test -s "$work/out.$long"
	no_errors
	kill "$controller"
	wait "$controller" || true
	begin_controller
	within 60 "job $long is lost" running "$long"
	submit 1 0
	within 120 "job $number does not end well" done_well "$number"
	first_pass
	submit 4 600
	next=$number
	within 120 "job $next does not start" running "$next"
	running "$long" || fail "job $long is not running"
	auctioned "$next"
	scancel "$long" "$next"
	say "restarted: job $long went on, job $next was started"
	grep -m 1 'aucsched: on:' "$work/slurmctld.log"
	no_errors
}

unpack
build
[ "${1:-}" = build ] || run
