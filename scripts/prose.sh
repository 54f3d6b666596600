#!/bin/sh
# Checks the prose of all pages with Vale, by the rules in .vale.
set -eu

cd "$(dirname "$0")/.."
vale=$(sh scripts/tool.sh vale) || {
	command -v "${CC:-cc}" >/dev/null && exit 1
	echo "prose: there is no C compiler to build Vale with; prose was not checked" >&2
	exit 0
}
find . -name '*.md' -not -path '*/testdata/*' -not -path './bin/*' -not -path './build/*' -not -path '*/.*/*' |
	sort | xargs "$vale" --output=line >&2
