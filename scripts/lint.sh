#!/bin/sh
# All linters: make lint.
set -eu

cd "$(dirname "$0")/.."
go=${GO:-go}
all='./... ./benchmarks/... ./invasive/...'
bad=$(gofmt -l .)
[ -z "$bad" ] || { echo "gofmt would change: $bad" >&2; exit 1; }
for module in . benchmarks invasive; do # each has its requirements without the others
	(cd $module && GOWORK=off $go list -deps -test ./... >/dev/null)
done
sh scripts/spdx.sh --check
$go run ./benchmarks/cmd/docscheck
sh scripts/prose.sh
$go run ./benchmarks/cmd/census -budget benchmarks/cmd/census/budget.txt .
sh scripts/with-highs.sh $go vet $all
sh scripts/with-highs.sh "$(sh scripts/tool.sh staticcheck)" $all
code=0
out=$("$(sh scripts/tool.sh govulncheck)" $all 2>&1) || code=$?
case "$out" in
*"fetching vulnerabilities"*) echo "make: govulncheck can't reach its database and was left out" >&2 ;;
*) echo "$out"; exit $code ;;
esac
