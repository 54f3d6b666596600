#!/bin/sh
# The tests, in parts:
#
#	sh scripts/test.sh quick   without those that take long
#	sh scripts/test.sh pure    all that need no C library
#	sh scripts/test.sh race    those with goroutines, HiGHS or C, under the race detector
#	sh scripts/test.sh all     lint, pure and race, and those with a real Slurm
#
# ONCE=1: pure leaves out what race does as well. SLURM=no: all does without Slurm.
# SLURM_SOURCES=DIR: all also tries the newest release of Slurm there.
set -eu

cd "$(dirname "$0")/.."
go=${GO:-go}
all='./... ./benchmarks/... ./invasive/...'

# packages prints the directories of all; another module below this directory has its own tests.
packages() { $go list -f '{{.Dir}}' $all | sed "s|^$PWD|.|"; }

# racy prints the packages that start goroutines or tests beside each other, solve with HiGHS, or
# have C.
racy() {
	grep -rlE --include='*.go' \
		'^[[:space:]]*go [A-Za-z_.]+\(|\.Go\(func|t\.Parallel\(\)|/(benchmarks/highs|internal/capi)"|^package highs' . |
		xargs -n1 dirname | sort -u | grep -xF "$(packages)"
}

# whole prints those of them of which no test is left out under the race detector.
whole() {
	for p in $(racy); do
		grep -qE 'race\.(Slow|Skip|Allocates)' "$p"/*_test.go 2>/dev/null || echo "$p"
	done
}

# kubernetes tests how aucsched-kube sees a cluster: its module is not in go.work, and has much to download.
kubernetes() (
	cd adapters/kubernetes
	export GOWORK=off
	$go mod download k8s.io/api k8s.io/component-helpers || {
		echo "make: going on without k8s.io: the model of adapters/kubernetes is not tested" >&2
		exit 0
	}
	$go test ./model
)

case "${1:-}" in
quick) CGO_ENABLED=0 AUCSCHED_QUICK=1 $go test $all ;;
pure)
	export CGO_ENABLED=0
	$go build $all
	packages=$all
	[ -z "${ONCE:-}" ] ||
		packages=$(packages | grep -vxF "$(whole)")
	$go test -timeout 30m $packages
	kubernetes
	;;
race) CGO_ENABLED=1 sh scripts/with-highs.sh $go test -timeout 30m -race $(racy) ;;
all)
	make=${MAKE:-make}
	[ "${SLURM:-}" = no ] || sh scripts/packages.sh metrics ||
		echo "make: going on without promtool: the rules for alerts are not tested" >&2
	sh scripts/packages.sh pages ||
		echo "make: going on without chromium: no browser looks at the pages" >&2
	sh scripts/highs.sh >/dev/null || : # packages are installed by one at a time
	if [ "${SLURM:-}" = no ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "make: the plug-ins were left out: a Slurm of their own needs root and Debian's packages" >&2
		exec $make ONCE=1 lint test-pure test-race
	fi
	sh scripts/beside.sh "$make ONCE=1 lint test-pure test-race" "$make emulate-quick test-slurm"
	if [ -z "${SLURM_SOURCES:-}" ]; then
		echo "make: newer Slurms than the installed one were left out: SLURM_SOURCES=DIR names their releases" >&2
	else
		$make slurm-matrix SOURCES="$SLURM_SOURCES" VERSIONS=newest QUICK=1
	fi
	;;
*) echo "test.sh: which tests? quick, pure, race or all" >&2; exit 2 ;;
esac
