#!/bin/sh
# Fuzzes every Fuzz function below the directories that are named, for FUZZTIME each, one after the
# other, and prints how many inputs each has tried. It fails if one fails, or has tried fewer than
# FUZZFLOOR a second: then it doesn't fuzz. FUZZMEM (KB of address space a process) and FUZZJOBS
# (processes at once) bound the memory: what takes more is a finding, and not the machine's end.
#
#	FUZZTIME=10m sh scripts/fuzz.sh ./internal/engine ./internal/window
set -u
cd "$(dirname "$0")/.." || exit 1
go=${GO:-go} time=${FUZZTIME:-60s} floor=${FUZZFLOOR:-5} mem=${FUZZMEM:-4000000} jobs=${FUZZJOBS:-2}
[ $# -gt 0 ] || set -- .
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT INT TERM
status=0
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' "$@" | xargs -n1 dirname | sort -u); do
	$go test -c -o "$out/none" "./$dir" || { status=1; continue; } # without a bound: the linker may take more
	for f in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go); do
		echo "$dir $f"
		(
			ulimit -v "$mem"
			GOMEMLIMIT=$((mem / 4))KiB $go test -run '^$' -fuzz "^$f\$" -fuzztime "$time" -fuzzminimizetime 20x \
				-parallel "$jobs" "./$dir" 2>&1
			echo $? >"$out/code"
		) | tee "$out/log"
		ended=ok
		[ "$(cat "$out/code")" = 0 ] || ended=FAILED status=1
		# fuzz: elapsed: 1m3s, execs: 2696 (182/sec), ...
		awk -v floor="$floor" -v what="$dir $f" -v ended="$ended" '
			/elapsed: .*execs: / { t = $3; n = $5 }
			function seconds(t, s) {
				if (match(t, /[0-9]+h/)) s += 3600 * substr(t, RSTART, RLENGTH - 1)
				if (match(t, /[0-9]+m/)) s += 60 * substr(t, RSTART, RLENGTH - 1)
				if (match(t, /[0-9]+s/)) s += substr(t, RSTART, RLENGTH - 1)
				return s
			}
			END {
				s = seconds(t); rate = n / (s > 0 ? s : 1)
				if (ended == "ok" && rate < floor) ended = "TOO FEW"
				printf "%-60s %10d %9.1f  %s\n", what, n, rate, ended
			}' "$out/log" >>"$out/table"
	done
done
printf '\n%-60s %10s %9s\n' target executions 'a second'
cat "$out/table"
! grep -q 'TOO FEW$' "$out/table" || status=1
exit $status
