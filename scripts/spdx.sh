#!/bin/sh
# usage: spdx.sh [--check] [DIRECTORY]
#
# Gives each .go, .c and .h file that has none its SPDX line: GPL-2.0-or-later below a directory
# whose LICENSE is the GNU General Public License, BSD-3-Clause elsewhere. Generated files are
# left alone. With --check nothing is written, and the status is 1 if a line is missing or wrong.
set -eu

check=no
if [ "${1-}" = --check ]; then
	check=yes
	shift
fi
cd "${1:-$(dirname "$0")/..}"

# Directories under the GPL, one a line, with a slash at the end.
gpl=$(find . -name LICENSE -not -path './.git/*' -not -path './build/*' -exec grep -l 'GNU GENERAL PUBLIC' {} + |
	sed -e 's|LICENSE$||' || true)

# licence FILE: the licence of FILE's directory.
licence() {
	for dir in $gpl; do
		case "$1" in "$dir"*) echo GPL-2.0-or-later && return ;; esac
	done
	echo BSD-3-Clause
}

# add FILE LINE: puts LINE first, or second where the first is for the system's loader.
add() {
	new=$(mktemp "$1.XXXXXX")
	awk -v line="$2" '
		NR == 1 && /^#!/ { print; print line; print ""; next }
		NR == 1 { print line; print "" }
		{ print }' "$1" >"$new"
	cat "$new" >"$1" # keeps the file and its mode
	rm -f "$new"
}

bad=0 missing=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find . \( -name .git -o -name bin -o -name build \) -prune -o \
	-type f \( -name '*.go' -o -name '*.c' -o -name '*.h' \) -print | LC_ALL=C sort >"$list"
while IFS= read -r file; do
	top=$(sed 10q "$file")
	case "$top" in *"Code generated "*" DO NOT EDIT."*) continue ;; esac
	want="SPDX-License-Identifier: $(licence "$file")"
	first=$(printf '%s\n' "$top" | awk 'NR == 1 && /^#!/ { next } { print; exit }')
	case "$first" in *"$want"*) continue ;; esac
	case "$top" in *SPDX-License-Identifier:*)
		echo "$file: its SPDX line does not stand first, or is not: $want" >&2
		bad=1
		continue
		;;
	esac
	if [ $check = yes ]; then
		missing=$((missing + 1))
		[ $missing -gt 10 ] || echo "$file: no SPDX line: run sh scripts/spdx.sh" >&2
		bad=1
		continue
	fi
	case "$file" in
	*.go) add "$file" "// $want" ;;
	*) add "$file" "/* $want */" ;;
	esac
done <"$list"
[ $missing -le 10 ] || echo "spdx.sh: and $((missing - 10)) files more" >&2
exit $bad
