#!/bin/sh
# Checks that no decision has moved: core/testdata/decisions.golden has a hash of all decisions of
# each row. If one has, prints for each row that moved the first decision that differs, as the commit
# that last changed the file decided it and as the checkout does; with COMMIT, as that one decided it.
#
#	sh scripts/golden.sh [COMMIT]
set -eu

cd "$(dirname "$0")/.."
go=${GO:-go} file=core/testdata/decisions.golden
work=$(mktemp -d)
trap 'git worktree remove --force "$work/tree" 2>/dev/null || :; rm -rf "$work"' EXIT
mkdir "$work/old" "$work/new"

# decide DIRECTORY writes the decisions of the checkout in the current directory there.
decide() {
	AUCSCHED_TEST_DECISIONS="$1" "$go" test -count=1 -run '^TestDecisions$' ./core
}

decide "$work/new" >"$work/out" 2>&1 && [ $# = 0 ] && { cat "$work/out"; exit 0; }
[ -n "$(ls "$work/new")" ] || { cat "$work/out" >&2; exit 1; }
commit=${1:-$(git log -1 --format=%h -- "$file")}
echo "golden.sh: deciding as $commit does" >&2
git worktree add --quiet --detach "$work/tree" "$commit"
(cd "$work/tree" && decide "$work/old" >"$work/out" 2>&1) || echo "golden.sh: the hashes of $commit are not its own" >&2
moved=0
for row in $(ls "$work/old" "$work/new" | grep -v : | sort -u); do
	old=$work/old/$row new=$work/new/$row
	! cmp -s "$old" "$new" || continue
	moved=$((moved + 1))
	[ -e "$old" ] && [ -e "$new" ] || { echo "$row: one of the two does not have it"; continue; }
	line=$(awk 'NR == FNR { old[NR] = $0; next } old[FNR] != $0 { exit } END { print FNR }' "$old" "$new")
	echo "$row, decision $line:"
	echo "  $commit: $(sed -n "${line}p" "$old")"
	echo "  now: $(sed -n "${line}p" "$new")"
done
echo "golden.sh: $moved rows moved; if that is intended: $go test ./core -run '^TestDecisions\$' -rewrite" >&2
[ $# = 1 ] && [ "$moved" = 0 ]
