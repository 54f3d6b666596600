#!/bin/sh
# go-test.sh FLAGS... -- DIR...: go test of the packages there. SEED=n: those whose tests draw their
# cases (pgregory.net/rapid) draw them by that seed; without, others each time, since tests that
# draw until a case has come up would by one seed draw the same again.
set -eu
flags=
while [ "$1" != -- ]; do flags="$flags $1"; shift; done
shift
drawn= others=
for dir; do
	if grep -qs '"pgregory.net/rapid"' "$dir"/*_test.go; then drawn="$drawn $dir"; else others="$others $dir"; fi
done
code=0
set -x
# shellcheck disable=SC2086 # lists of words
${GO:-go} test $flags $others || code=$?
# shellcheck disable=SC2086
${GO:-go} test $flags $drawn "-rapid.seed=${SEED:-0}" || code=$?
exit "$code"
