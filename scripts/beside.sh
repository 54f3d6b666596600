#!/bin/sh
# Runs two commands at a time, and fails if either does:
#
#	sh scripts/beside.sh 'BEHIND' 'BEFORE'
#
# BEFORE, which waits a lot, has the processors first: BEHIND takes what it leaves, and is printed
# when both have ended.
set -u

out=$(mktemp)
nice -n 19 sh -c "$1" >"$out" 2>&1 &
behind=$!
trap 'rm -f "$out"' EXIT
trap 'kill $behind 2>/dev/null; exit 130' INT TERM

sh -c "$2"
before=$?
wait $behind
code=$?
cat "$out"
[ $before = 0 ] && [ $code = 0 ]
