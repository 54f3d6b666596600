#!/bin/sh
# Checks the prose of all pages with Vale, by the rules in .vale. A file of .vale/pending, "COUNT
# FILE", may have that many faults until it is rewritten: the counts only shrink. --lower lowers
# them to what there is now.
set -eu

cd "$(dirname "$0")/.."
pending=.vale/pending
vale=$(sh scripts/tool.sh vale) || {
	command -v "${CC:-cc}" >/dev/null && exit 1
	echo "prose: there is no C compiler to build Vale with; prose was not checked" >&2
	exit 0
}
faults=$(find . -name '*.md' -not -path '*/testdata/*' -not -path './bin/*' -not -path './build/*' \
	-not -path '*/.*/*' | sed 's|^\./||' | sort | xargs "$vale" --no-exit --output=line)
if [ "${1:-}" = --lower ]; then
	printf '%s\n' "$faults" | awk -F: 'FILENAME == ARGV[1] { split($0, p, " "); most[p[2]] = p[1]; next }
		$1 in most { n[$1]++ }
		END { for (f in n) print (n[f] < most[f] ? n[f] : most[f]), f }' "$pending" - |
		sort -k1nr -k2 >"$pending.new"
	mv "$pending.new" "$pending"
	exit 0
fi
printf '%s\n' "$faults" | awk -F: 'FILENAME == ARGV[1] { split($0, p, " "); most[p[2]] = p[1]; next }
	$1 != "" { n[$1]++; text[$1] = text[$1] $0 "\n" }
	END {
		for (f in n) if (n[f] > most[f]) {
			printf "%s", text[f]
			if (f in most) printf "%s: %d faults, more than the %d of .vale/pending\n", f, n[f], most[f]
			bad = 1
		}
		for (f in most) if (n[f] < most[f]) less = 1
		if (!bad && less) print "prose: there are fewer faults; sh scripts/prose.sh --lower lowers .vale/pending"
		exit bad
	}' "$pending" - >&2
