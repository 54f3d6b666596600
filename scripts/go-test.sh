#!/bin/sh
# go-test.sh FLAGS... -- DIR...: go test of the packages there. Those whose tests draw their cases
# (pgregory.net/rapid) draw them by a seed that is the commit's: each commit is tried with other
# cases, and whoever tests it again sees the same. SEED=n: by that seed (0: another each time).
set -eu
flags=
while [ "$1" != -- ]; do flags="$flags $1"; shift; done
shift
[ -n "${SEED:-}" ] || SEED=$(printf %d "0x$(git rev-parse --short=12 HEAD 2>/dev/null || echo 1)")
drawn= others=
for dir; do
	if grep -qs '"pgregory.net/rapid"' "$dir"/*_test.go; then drawn="$drawn $dir"; else others="$others $dir"; fi
done
code=0
set -x
# shellcheck disable=SC2086 # lists of words
${GO:-go} test $flags $others || code=$?
# shellcheck disable=SC2086
${GO:-go} test $flags $drawn "-rapid.seed=$SEED" || code=$?
exit "$code"
