#!/bin/sh
# Prints the path of a Go tool of internal/tools, and builds it where it is not built yet:
#
#	$(sh scripts/tool.sh staticcheck) ./...
#
# Vale has a module of its own there, as its dependencies do not go with those of the others.
set -eu

cd "$(dirname "$0")/../internal/tools"
[ ! -f "$1/go.mod" ] || cd "$1"
export GOWORK=off
path=$(${GO:-go} tool -n "$1")
[ -x "$path" ] || { ${GO:-go} tool "$1" --version >/dev/null && path=$(${GO:-go} tool -n "$1"); }
echo "$path"
