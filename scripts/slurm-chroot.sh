#!/bin/sh
# Runs a command in a Debian of another release, with this checkout in /aucsched:
#
#	sh scripts/slurm-chroot.sh trixie make -C slurmplugin
#
# The release is installed once by debootstrap (as root) into build/chroot-SUITE, or into
# CHROOT=DIR, from where the machine's own apt sources point. In it the checkout is
# read-only save for build/, which is the chroot's own, /aucsched/build. Go and its modules
# are the machine's.
#
# Mounts are made in a mount namespace, and processes run in a process namespace: however the
# command ends, neither outlives it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)

say() { echo "slurm-chroot.sh: $*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

PATH=$PATH:/usr/sbin:/sbin
suite=${1:-}
[ -n "$suite" ] && [ $# -ge 2 ] || die "usage: slurm-chroot.sh SUITE COMMAND..."
case $suite in *[!a-z]*) die "$suite: a suite is the name of a Debian release, such as bookworm" ;; esac
shift
chroot=${CHROOT:-$root/build/chroot-$suite}

[ "$(id -u)" = 0 ] || die "a chroot needs root"
have go || die "go is missing: see https://go.dev/doc/install"
unshare --mount --pid --fork true 2>/dev/null || die "namespaces can't be made here (a container?): it takes a machine, or a container with CAP_SYS_ADMIN"

# archives: a line "URI SUITE" for each archive in the machine's apt sources.
archives() {
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -f "$file" ] && sed -n 's/^[[:space:]]*deb[[:space:]]\{1,\}\(\[[^]]*\][[:space:]]*\)\{0,1\}\([^[:space:]]\{1,\}\)[[:space:]]\{1,\}\([^[:space:]]\{1,\}\).*/\2 \3/p' "$file"
	done
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] && awk -v RS= '{
			uris = suites = ""; on = 1
			n = split($0, lines, "\n")
			for (i = 1; i <= n; i++) {
				value = lines[i]; sub("^[^:]*:[ \t]*", "", value)
				if (lines[i] ~ "^URIs:") uris = value
				if (lines[i] ~ "^Suites:") suites = value
				if (lines[i] ~ "^Types:" && value !~ "(^| )deb( |$)") on = 0
				if (lines[i] ~ "^Enabled:" && value ~ "no") on = 0
			}
			if (!on) next
			nu = split(uris, u, " "); ns = split(suites, s, " ")
			for (i = 1; i <= nu; i++) for (j = 1; j <= ns; j++) print u[i], s[j]
		}' "$file"
	done
	return 0
}

# archive NAME: the URI of the machine's archive NAME, if it has one.
archive() { archives | awk -v name="$1" '$2 == name { print $1; exit }'; }

# bootstrap: the release into $chroot.
bootstrap() {
	if ! have debootstrap; then
		have apt-get || die "debootstrap is missing"
		say "apt-get install debootstrap"
		DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends debootstrap >&2
	fi
	mine=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release | tr -d '"')
	uri=$(archive "${mine:-none}")
	[ -n "$uri" ] || die "the apt sources of this machine name no archive of its own release ${mine:-(none)}; $suite can't be fetched from there"
	rm -rf "$chroot.new"
	mkdir -p "$(dirname "$chroot")"
	say "debootstrap $suite (takes a minute or two)"
	debootstrap --variant=minbase "$suite" "$chroot.new" "$uri" >"$chroot.log" 2>&1 || {
		tail -n 20 "$chroot.log" >&2
		die "debootstrap failed; all of it is in $chroot.log"
	}
	for part in "" -updates -security; do
		uri=$(archive "$mine$part")
		[ -z "$uri" ] || echo "deb $uri $suite$part main"
	done >"$chroot.new/etc/apt/sources.list"
	# How the machine reaches its archive: proxies, time-outs and the like.
	for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
		[ -f "$file" ] && grep -q '^[[:space:]]*Acquire' "$file" && cp "$file" "$chroot.new/etc/apt/apt.conf.d/"
	done
	mkdir -p "$chroot.new/etc/ssl/certs"
	[ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$chroot.new/etc/ssl/certs/"
	printf '#!/bin/sh\nexit 101\n' >"$chroot.new/usr/sbin/policy-rc.d"
	chmod 755 "$chroot.new/usr/sbin/policy-rc.d"
	# The lists are of debootstrap's one archive.
	rm -rf "$chroot.new/var/lib/apt/lists/"* "$chroot" "$chroot.log"
	mv "$chroot.new" "$chroot"
}

[ -d "$chroot/usr" ] || bootstrap
cp -L /etc/resolv.conf /etc/hosts "$chroot/etc/"
(cd "$root" && go mod download && cd internal/tools && GOWORK=off go mod download github.com/bartolsthoorn/gohighs) || say "go mod download failed; going on with the modules that are there"

AUCSCHED_CHROOT=$chroot AUCSCHED_ROOT=$root AUCSCHED_GOROOT=$(cd "$root" && go env GOROOT) AUCSCHED_MODULES=$(cd "$root" && go env GOMODCACHE)
export AUCSCHED_CHROOT AUCSCHED_ROOT AUCSCHED_GOROOT AUCSCHED_MODULES
# shellcheck disable=SC2016
exec unshare --mount --pid --fork --kill-child --propagation private sh -euc '
	to=$AUCSCHED_CHROOT
	mkdir -p "$to/aucsched" "$to/aucsched.build" "$to/usr/local/go" "$to/root/go/pkg/mod"
	# Who makes a mount namespace in there needs / to be a mount.
	mount --bind "$to" "$to"
	mount -t proc proc "$to/proc"
	mount --rbind /sys "$to/sys"
	mount --rbind /dev "$to/dev"
	mount -o bind,ro "$AUCSCHED_GOROOT" "$to/usr/local/go"
	mount -o bind,ro "$AUCSCHED_MODULES" "$to/root/go/pkg/mod"
	mount --bind "$AUCSCHED_ROOT" "$to/aucsched"
	mkdir -p "$to/aucsched/build"
	mount -o remount,bind,ro "$to/aucsched"
	mount --bind "$to/aucsched.build" "$to/aucsched/build"
	unset AUCSCHED_CHROOT AUCSCHED_ROOT AUCSCHED_GOROOT AUCSCHED_MODULES SLURM_SOURCE SLURM_CONF GOROOT GOFLAGS GOCACHE GOMODCACHE GOPATH
	export HOME=/root LC_ALL=C GOFLAGS=-buildvcs=false GOTOOLCHAIN=local GOPROXY=off
	export PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	# This shell is process 1 in there, and takes away orphans that have ended.
	status=0
	chroot "$to" sh -c "cd /aucsched && exec \"\$@\"" sh "$@" || status=$?
	exit $status
' sh "$@"
