#!/bin/sh
# Checks all prose with Vale by the rules in .vale: pages, Go doc of the public packages, comments of
# the sources, and strings that users read. The texts of all but pages are in build/prose.
set -eu

cd "$(dirname "$0")/.."
go=${GO:-go}
vale=$(sh scripts/tool.sh vale) || {
	command -v "${CC:-cc}" >/dev/null && exit 1
	echo "prose: there is no C compiler to build Vale with; prose was not checked" >&2
	exit 0
}
rm -rf build/prose
mkdir -p build/prose
for package in core nodeset bids ipmodel ipmodel/native simulate; do
	# The comments of `go doc`: those of fields, the indented ones of names, and that of the package.
	$go doc -all "./$package" | awk '
		/^[A-Z]+$/ { names = 1 }
		/^[ \t]+\/\/ / { sub(/^[ \t]+\/\/ /, ""); print; next }
		/^    [^ \t]/ { sub(/^ +/, ""); if (names) print; else print ""; next }
		/^[A-Z"#(]/ && !names { print; next }
		/^[a-z]/ && !names && !/^package / { print; next }
		{ print "" }' >"build/prose/$(echo "$package" | tr / -).md"
done
$go run ./benchmarks/cmd/prosetext build/prose/src \
	core nodeset bids ipmodel simulate internal cmd cshim slurmplugin examples
find build/prose/src -name '*.md' | sort | xargs "$vale" --output=line |
	awk -F: -v OFS=: '{ sub(/^build\/prose\/src\//, ""); sub(/\.md$/, "", $1); $2 = int(($2 + 1) / 2); print; bad = 1 } END { exit bad }' >&2
find . -name '*.md' -not -path '*/testdata/*' -not -path './bin/*' -not -path './build/[!p]*' -not -path './build/p[!r]*' -not -path './build/prose/src/*' -not -path '*/.*/*' |
	sort | xargs "$vale" --output=line >&2
