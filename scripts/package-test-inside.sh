#!/bin/sh
# What package-test.sh does in its chroot: a cluster of one slurmctld and one slurmd goes through the
# life of a package, and says after each step what it saw. The first thing that is not as it
# should be ends it.
#
#	sh scripts/package-test-inside.sh deb split rpm dnf prefix load
set -eu

packages=/aucsched/build/package-test
base=$(mktemp -d /var/tmp/package-test.XXXXXX)
chmod 755 "$base" # apt reads packages in it as another user
conf=/etc/slurm/slurm.conf
port=${PORT:-27817}
format= plugins= stock=

log() { echo "package-test: ${format:+$format: }$*"; }
fail() {
	log "FAILED: $*"
	tail -n 15 "$base/slurmctld.log" "$base/out" 2>/dev/null || true
	exit 1
}

# emptied: nothing is left of what came before. The directory stays: nobody else can have its name.
emptied() { find $base -mindepth 1 -delete; }

# within SECONDS WHAT COMMAND...: until the command is true.
within() {
	left=$(($1 * 2)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $left -gt 0 ] || fail "$what"
		left=$((left - 1))
		sleep 0.5
	done
}

# The cluster.

# write_conf LINE...: slurm.conf without, or with, the lines of the plug-ins.
write_conf() {
	cat >$conf <<CONF
ClusterName=packages
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$base/state
SlurmdSpoolDir=$base/spool
SlurmctldPidFile=$base/slurmctld.pid
SlurmdPidFile=$base/slurmd.pid
SlurmctldLogFile=$base/slurmctld.log
SlurmdLogFile=$base/slurmd.log
AccountingStorageType=accounting_storage/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SlurmdTimeout=0
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$(hostname) Port=$((port + 1)) CPUs=64 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE
CONF
	for line; do echo "$line" >>$conf; done
}

write_on() {
	write_conf "PluginDir=$plugins:$stock" JobSubmitPlugins=aucsched CliFilterPlugins=cli_filter/aucsched \
		SchedulerParameters=auc_interval=1,batch_sched_delay=3600,sched_interval=3600,bf_interval=3600
}

# ended PID: ends it, by force if it takes long.
ended() {
	kill "$1" 2>/dev/null || true
	seconds=0
	while [ $seconds -lt 30 ] && grep -qs '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status"; do
		sleep 1
		seconds=$((seconds + 1))
	done
	kill -9 "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

controller=
begin_controller() {
	: >"$base/slurmctld.log"
	slurmctld -D >/dev/null 2>&1 &
	controller=$!
	within 30 "slurmctld does not answer" scontrol ping
	alive
}
end_controller() {
	[ -n "$controller" ] || return 0
	ended "$controller"
	controller=
}
alive() { kill -0 "$controller" 2>/dev/null || fail "slurmctld has ended"; }
restart() { end_controller; begin_controller; within 30 "the node is not back" idle; }
idle() { sinfo -h -o %t | grep -q '^\(idle\|mix\|alloc\)$'; }

node=
begin_cluster() {
	emptied
	mkdir -p $base/state $base/spool /etc/slurm
	begin_controller
	slurmd -D -N n1 >/dev/null 2>&1 &
	node=$!
	within 30 "the node does not come up" idle
}
end_cluster() {
	scancel -u root 2>/dev/null || true
	sleep 1
	end_controller
	[ -z "$node" ] || ended "$node"
	node=
}

# submit OPTION...: a job that runs on, and its number.
submit() {
	number=$(sbatch --parsable "$@" -n1 -o /dev/null --wrap 'sleep 3600' 2>$base/out) || fail "sbatch: $(cat $base/out)"
	case $number in *[!0-9]* | '') fail "sbatch says \"$number\"" ;; esac
	echo "$number"
}
running() { [ "$(squeue -h -j "$1" -o %T)" = RUNNING ]; }
auctioned() { grep -q "aucsched: started JobId=$1 " $base/slurmctld.log; }
on() { grep -q "aucsched: on: .*libaucsched.so" $base/slurmctld.log; }

# held: that all jobs of $jobs are still running, under the same slurmctld.
jobs=
held() {
	alive
	for job in $jobs; do running "$job" || fail "$1: job $job is not running"; done
}

# started: one more job, by the auction.
started() {
	job=$(submit)
	within 30 "$1: job $job does not start" running "$job"
	auctioned "$job" || fail "$1: job $job was not started by the auction"
	jobs="$jobs $job"
}

# mapped WHAT: what of libaucsched.so the engine has: a file that is there, or one that was replaced.
mapped() {
	maps=/proc/$(pgrep -P "$controller" -x aucsched-engine)/maps
	case $1 in
	replaced) grep -q "$plugins/libaucsched.so.*(deleted)$" "$maps" ;;
	there) grep -q "$plugins/libaucsched.so$" "$maps" ;;
	esac || fail "the engine's libaucsched.so is not $1"
}

# said WORDS: that the last command said them.
said() { grep -q -e "$1" $base/out || fail "these words are missing: $1"; }
# refused WHAT COMMAND...: that the command fails.
refused() {
	what=$1
	shift
	if "$@" >$base/out 2>&1; then fail "$what was not refused"; fi
}
# quietly COMMAND...: that it does not.
quietly() { "$@" >$base/out 2>&1 || fail "$*"; }

# Packages.

deb_apt() { DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@"; }
deb_install() { deb_apt install --allow-downgrades $packages/"$1"/*.deb; }
deb_remove() { deb_apt remove aucsched-slurm; }
deb_purge() { deb_apt purge aucsched-slurm aucsched; }
deb_version() { dpkg-query -W -f '${Version}' aucsched-slurm 2>/dev/null; }
deb_wrong() {
	rm -rf $base/wrong
	dpkg-deb -R $packages/deb-1/aucsched-slurm_*.deb $base/wrong
	sed -i '/^Depends:/s/(= 2[^)]*)/(= 99.05.1-1)/g' $base/wrong/DEBIAN/control
	dpkg-deb -b $base/wrong $base/wrong.deb >/dev/null
	refused "a package for another Slurm" deb_apt install $packages/deb-1/aucsched_*.deb $base/wrong.deb
	said "99.05.1-1"
	grep -m1 99.05.1 $base/out >$base/refused
}

# old_package FILE: the plug-ins and the commands in one package, as before the commands had their own. It is
# made of the new ones, with what the old one said of itself.
old_package() {
	rm -rf $base/cli $base/old
	dpkg-deb -R $packages/deb-1/aucsched_*.deb $base/cli
	dpkg-deb -R $packages/deb-1/aucsched-slurm_*.deb $base/old
	cp -a $base/cli/usr/bin $base/old/usr/
	for part in man bash-completion zsh fish; do cp -a $base/cli/usr/share/$part $base/old/usr/share/; done
	sed -i '/^Depends:/s/aucsched (= [^)]*), //' $base/old/DEBIAN/control
	(cd $base/old && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
	dpkg-deb --root-owner-group -b $base/old "$1" >/dev/null
}
by_dpkg_at_once() { dpkg -i $packages/deb-1/*.deb; }
by_dpkg_in_turn() { dpkg -i $packages/deb-1/aucsched_*.deb && dpkg -i $packages/deb-1/aucsched-slurm_*.deb; }
by_apt() { deb_install deb-1; }

# A package that is refused does not keep rpm from installing the one before it.
rpm_install() { rpm -U --oldpackage --replacepkgs $packages/"$1"/*.rpm; }
rpm_remove() { rpm -e aucsched-slurm; }
rpm_purge() { rpm -e aucsched-slurm aucsched; }
rpm_version() { rpm -q --qf '%{VERSION}' aucsched-slurm; }
rpm_wrong() { rpms_wrong rpm_install rpm-1; }
# rpms_wrong INSTALL...: a Slurm of another version is there, then the right one again.
rpms_wrong() {
	quietly rpm -U --replacepkgs $packages/slurm-wrong.rpm
	refused "a package for another Slurm" "$@"
	said "slurm = 22"
	grep -m1 'slurm = 22' $base/out >$base/refused
	quietly rpm -U --oldpackage $packages/slurm-right.rpm
}

# dnf, from directories that are repositories: DIR is one's name.
dnf_from() {
	dir=$1
	shift
	dnf -y --disablerepo='*' --repofrompath="packages,$packages/$dir" --enablerepo=packages --nogpgcheck --releasever=1 \
		--setopt=reposdir=/dev/null --setopt=cachedir=$base/dnf --setopt=packages.metadata_expire=0 "$@"
}
dnf_install() {
	dir=rpm-${1#dnf-}
	if ! rpm -q aucsched-slurm >/dev/null; then
		dnf_from "$dir" install aucsched-slurm
	elif [ "$dir" = rpm-2 ]; then
		dnf_from "$dir" upgrade
	else
		dnf_from "$dir" downgrade aucsched aucsched-slurm
	fi
}
# Without the option it removes the commands as well, which nobody needs then, also where the plug-ins stay.
dnf_remove() { dnf_from rpm-1 remove --noautoremove aucsched-slurm; }
dnf_purge() { dnf_from rpm-1 remove aucsched-slurm aucsched; }
dnf_version() { rpm_version; }
dnf_wrong() { rpms_wrong dnf_install dnf-1; }

pkg() { step=$1; shift; "${format}_$step" "$@"; }

# files: all that there is, but what packages' tools and the cluster itself write; of /etc, where users, units and
# cron's jobs are, what is in the files as well.
files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path $base -o -path /var/cache -o -path /var/lib/apt \
		-o -path /var/lib/dpkg -o -path /var/lib/rpm -o -path /var/lib/dnf -o -path /root/.rpmdb -o -path /var/log -o -path '/aucsched*' \) -prune -o -print | sort
	find /etc -path /etc/slurm -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
}

# life: all of it, with a cluster that runs.
life() {
	write_conf
	begin_cluster
	files >$base/before
	pkg wrong
	log "a package for another Slurm is refused: $(cat $base/refused)"
	jobs=$(submit)
	within 30 "a job of stock Slurm does not start" running "$jobs"

	quietly pkg install $format-1
	held install
	[ ! -e "/proc/$controller/maps" ] || ! grep -q aucsched "/proc/$controller/maps" || fail "slurmctld has the plug-ins too early"
	first=$(pkg version)
	log "installed $first: job $jobs runs on, nothing else has changed"

	write_on
	restart
	within 20 "the auction is not on" on
	held "switched on"
	started "switched on"
	mapped there
	log "switched on by a restart: jobs $jobs run, the last one by the auction"

	for to in 2 1; do
		before=$controller
		waiting=$(submit --begin=now+8)
		quietly pkg install $format-$to
		[ "$before" = "$controller" ] || fail "slurmctld was restarted"
		held "version $to"
		mapped replaced
		started "version $to, not loaded yet"
		within 40 "job $waiting, which waited meanwhile, does not start" running "$waiting"
		jobs="$jobs $waiting"
		log "$(pkg version) in place of the other: slurmctld goes on with the replaced file, and starts jobs"
		restart
		within 20 "the auction is not on" on
		held "version $to, restarted"
		started "version $to, restarted"
		mapped there
		log "restarted: jobs $jobs run"
	done
	[ "$(pkg version)" = "$first" ] || fail "version $(pkg version) after the downgrade"

	refused "removal while slurm.conf names it" pkg remove
	said "slurm.conf still names aucsched"
	log "removal is refused: $(grep -m1 'still names' $base/out)"
	said "PluginDir=$plugins"
	[ -e "$plugins/libaucsched.so" ] || fail "the plug-ins are gone"
	held "refused removal"
	started "refused removal"
	# The same by a file that slurm.conf includes.
	grep aucsched $conf >/etc/slurm/plugins.conf
	sed -i '/aucsched/d' $conf
	echo "Include plugins.conf" >>$conf
	refused "removal while a file of slurm.conf names it" pkg remove
	said "plugins.conf still names aucsched"
	rm /etc/slurm/plugins.conf

	write_conf
	restart
	held "switched off"
	quietly pkg purge
	held purge
	files >$base/after
	# What slurm.conf is, the test has written.
	if ! diff $base/before $base/after >$base/out; then fail "files are left behind, or missing"; fi
	log "switched off and removed: jobs $jobs run; no file is left"
	end_cluster
}

life_deb() {
	format=deb
	stock=$(dirname /usr/lib/*/slurm-wlm/select_cons_tres.so) plugins=$(dirname /usr/lib/*/slurm-wlm/select_cons_tres.so)-aucsched
	life
}

# life_split: one package becomes two, in all the ways that there are.
life_split() {
	format=deb
	emptied
	write_conf
	files >$base/before
	for way in by_dpkg_at_once by_dpkg_in_turn by_apt; do
		old_package $base/old.deb
		quietly dpkg -i $base/old.deb
		[ "$(dpkg -S /usr/bin/aucsched)" = "aucsched-slurm: /usr/bin/aucsched" ] || fail "the old package has no commands"
		quietly $way
		for file in /usr/bin/aucsched /usr/share/man/man1/aucsched.1.gz /usr/share/bash-completion/completions/aucsched; do
			[ "$(dpkg -S $file)" = "aucsched: $file" ] || fail "$way: $file is of $(dpkg -S $file 2>&1)"
		done
		quietly aucsched --version
		quietly dpkg --verify aucsched aucsched-slurm
		[ ! -s $base/out ] || fail "$way: files are not those of the packages"
		quietly deb_purge
		files >$base/after
		if ! diff $base/before $base/after >$base/out; then fail "$way: files are left behind, or missing"; fi
		log "one package became two, $way; no file is left of them"
	done
}

life_rpm() { life_rpms rpm; }
life_dnf() { life_rpms dnf; }

# life_rpms FORMAT: the packages are those of rpm, and so is where they are.
life_rpms() {
	format=$1 stock=/usr/lib64/slurm plugins=/usr/lib64/slurm-aucsched
	mkdir -p /usr/lib64
	ln -sfn "$(dirname /usr/lib/*/slurm-wlm/select_cons_tres.so)" $stock
	quietly rpm -U --replacepkgs $packages/system.rpm
	[ $format != dnf ] || for dir in rpm-1 rpm-2; do quietly createrepo_c -q $packages/$dir; done
	life
	rpm -e system slurm
	rm $stock
}

# A Slurm that no package knows of: the package itself asks for its version.
life_prefix() {
	mkdir -p /opt/slurm/sbin
	rpm -U --replacepkgs $packages/system.rpm
	for format in deb rpm; do
		printf '#!/bin/sh\necho slurm 23.02.8\n' >/opt/slurm/sbin/slurmctld
		chmod 755 /opt/slurm/sbin/slurmctld
		mkdir -p $packages/$format-both
		cp $packages/$format-prefix/* $packages/$format-1/aucsched[-_]0* $packages/$format-both/
		refused "a package for another Slurm" pkg install $format-both
		said "/opt/slurm/sbin/slurmctld is of 23.02.8"
		log "in a prefix: $(grep -m1 'this package is for' $base/out)"
		version=$(slurmctld -V)
		printf '#!/bin/sh\necho %s\n' "$version" >/opt/slurm/sbin/slurmctld
		quietly pkg install $format-both
		[ -e /opt/slurm/lib/slurm-aucsched/libaucsched.so ] || fail "nothing is in /opt/slurm/lib/slurm-aucsched"
		write_conf
		quietly pkg purge
		[ ! -e /opt/slurm/lib/slurm-aucsched ] || fail "/opt/slurm/lib/slurm-aucsched is left"
		log "in a prefix: installed and removed where slurmctld -V says $version"
	done
	format=
	rpm -e system
	rm -rf /opt/slurm
}

# Plug-ins of another version, by hand: slurmctld says so.
life_load() {
	format=
	emptied
	mkdir -p $base/state $base/spool
	stock=$(dirname /usr/lib/*/slurm-wlm/select_cons_tres.so) plugins=$packages/wrong
	write_on
	refused "the load of plug-ins for another Slurm" timeout 20 slurmctld -D
	grep "Incompatible Slurm plugin $plugins/" $base/slurmctld.log >$base/out || fail "slurmctld says nothing of versions"
	log "slurmctld itself: $(sed -n '1s/^\[[^]]*\] //p' $base/out)"
}

trap 'end_cluster >/dev/null 2>&1; rm -rf $base $conf' EXIT
# What an interrupted run has left.
mkdir -p /etc/slurm
write_conf
deb_purge >/dev/null 2>&1 || true
for package in aucsched-slurm aucsched system slurm; do rpm -e $package >/dev/null 2>&1 || true; done
for test; do "life_$test"; done
format=
log "all as it should be"
