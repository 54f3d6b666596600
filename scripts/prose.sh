#!/bin/sh
# Checks the prose of all pages, and of the Go doc of the public packages, with Vale by the rules in
# .vale. The text of the latter is in build/prose.
set -eu

cd "$(dirname "$0")/.."
vale=$(sh scripts/tool.sh vale) || {
	command -v "${CC:-cc}" >/dev/null && exit 1
	echo "prose: there is no C compiler to build Vale with; prose was not checked" >&2
	exit 0
}
mkdir -p build/prose
for package in core nodeset bids ipmodel ipmodel/native simulate; do
	# The comments of `go doc`: those of fields, the indented ones of names, and that of the package.
	go doc -all "./$package" | awk '
		/^[A-Z]+$/ { names = 1 }
		/^[ \t]+\/\/ / { sub(/^[ \t]+\/\/ /, ""); print; next }
		/^    [^ \t]/ { sub(/^ +/, ""); if (names) print; else print ""; next }
		/^[A-Z"#(]/ && !names { print; next }
		/^[a-z]/ && !names && !/^package / { print; next }
		{ print "" }' >"build/prose/$(echo "$package" | tr / -).md"
done
find . -name '*.md' -not -path '*/testdata/*' -not -path './bin/*' -not -path './build/[!p]*' -not -path './build/p[!r]*' -not -path '*/.*/*' |
	sort | xargs "$vale" --output=line >&2
