#!/bin/sh
# Checks that files of the plug-ins form no circle, by what their objects define and refer to:
#
#	sh scripts/slurm-circles.sh OBJECT.o...
#
# A file may call only those below it, so that each can be read, and tested, without those above.
set -eu

die() { echo "slurm-circles.sh: $*" >&2; exit 1; }

for tool in nm tsort; do
	command -v $tool >/dev/null || die "$tool is missing (Debian: apt-get install binutils coreutils)"
done
[ $# -gt 0 ] || die "no objects"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Lines FILE TYPE SYMBOL; a file is named as its source is.
for object; do
	nm -g "$object" >"$tmp/symbols" || die "nm cannot read $object"
	awk -v file="$(basename "$object" .o).c" '{ print file, $(NF - 1), $NF }' "$tmp/symbols"
done >"$tmp/all"

# Lines USER OWNER, a call each. Entry points such as init() are Slurm's to call.
awk '$2 == "U" { user[NR] = $1; symbol[NR] = $3; next }
	$3 ~ /^auc_/ { owner[$3] = $1 }
	END { for (i in user) if (symbol[i] in owner) print user[i], owner[symbol[i]] }' \
	"$tmp/all" | sort -u >"$tmp/calls"
[ -s "$tmp/calls" ] || die "no calls between the objects"

# tsort names the members of each circle, in the order in which they call each other.
LC_ALL=C tsort <"$tmp/calls" >/dev/null 2>"$tmp/said" && exit 0
echo "slurm-circles.sh: files form a circle:" >&2
awk 'function out() { if (names != "") print "\t" names " -> " first; names = "" }
	$2 == "-:" { out(); next }
	names == "" { names = first = $2; next }
	{ names = names " -> " $2 }
	END { out() }' "$tmp/said" >&2
exit 1
