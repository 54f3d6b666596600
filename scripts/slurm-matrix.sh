#!/bin/sh
# Tests the plug-ins with stock Slurms of many versions, and prints what each passed:
#
#	sh scripts/slurm-matrix.sh SOURCES [VERSION]...
#
# SOURCES and VERSION are as in slurm-stock.sh, which builds those that are not built yet. For each
# the plug-ins are compiled, then linked and their symbols looked up in that Slurm, then tested
# on clusters of it: a smoke test, and unless QUICK=1 their parts alone and the suite: with SHORT=1
# the part of it that make test runs. SMOKE is the argument -run of go test, as the Makefile has it.
# Logs are in build/slurm-matrix, VERSION.STEP.log. The exit status is 1 if anything fails.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
logs=$root/build/slurm-matrix
cd "$root"
mkdir -p "$logs"
echo '*' >"$logs/.gitignore"

: "${SMOKE:?names tests, as the argument -run of go test}"
: "${SHORT:=}"
: "${QUICK:=}"

say() { echo "slurm-matrix.sh: $*" >&2; }

[ "$(id -u)" = 0 ] || { say "a cluster needs root: slurmd starts jobs as their users"; exit 1; }
sh scripts/packages.sh stock

rows=$logs/rows
: >"$rows"
bad=0

# plugins TARGET: makes it in slurmplugin.
plugins() { make --no-print-directory -j"${JOBS:-2}" -C slurmplugin "$1"; }

# counted LOG: how many tests passed, failed and were skipped.
counted() {
	awk '/^--- PASS/ { p++ } /^--- FAIL/ { f++ } /^--- SKIP/ { s++ } END { printf "%d/%d/%d", p, f, s }' "$1"
}

# bed LOG ARGUMENT...: tests on clusters. With -p 1 the log grows as they run.
bed() {
	log=$1
	shift
	PATH="$SLURM_PREFIX/sbin:$SLURM_PREFIX/bin:$PATH" AUCSCHED_SLURM_TEST=1 \
		"${GO:-go}" test -count=1 -v -p 1 -parallel 6 -timeout "${TIMEOUT:-60m}" "$@" ./internal/test/slurmtest/... >"$log" 2>&1 </dev/null
}

# step NAME COMMAND...: adds its outcome to the row.
step() {
	name=$1
	shift
	began=$(date +%s)
	log=$logs/$version.$name.log
	result=yes
	if [ "$1" = bed ]; then
		shift
		bed "$log" "$@" || result=no
		grep -q '^--- PASS' "$log" || result=no # no test is no pass
		result="$result $(counted "$log")"
	else
		"$@" >"$log" 2>&1 </dev/null || result=no
	fi
	took=$(($(date +%s) - began))
	case $result in
	no*)
		bad=1
		grep -E ' (error|fatal error): |undefined|lack|^ *--- FAIL' "$log" | sort -u | head -n 40 >&2 || true
		say "Slurm $version: $name fails; all of it is in build/slurm-matrix/$version.$name.log"
		;;
	*) say "Slurm $version: $name: $result, $took s" ;;
	esac
	row="$row | $result"
	case $result in no*) return 1 ;; esac
}

# tried: all steps for $version, as far as they make sense.
tried() {
	step compiles plugins objects || return 0
	step links plugins all || return 0
	step smoke bed -run "$SMOKE" || true
	[ -z "$QUICK" ] || return 0
	step parts plugins check || true
	step suite bed ${SHORT:+-short} || true
}

stocks=$(sh scripts/slurm-stock.sh "$@") || bad=1
while read -r version dir <&3; do
	row="| $version"
	SLURM_PREFIX=$dir/slurm SLURM_SOURCE=$dir/source
	export SLURM_PREFIX SLURM_SOURCE
	tried
	echo "$row" >>"$rows"
done 3<<END
$stocks
END

echo "| Slurm | compiles | links, has the symbols | smoke: pass/fail/skip | parts | suite: pass/fail/skip |"
echo "|---|---|---|---|---|---|"
awk -F'|' '{ n = NF; line = $0; for (; n < 7; n++) line = line " |" ; print line " |" }' "$rows"
exit $bad
