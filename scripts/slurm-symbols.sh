#!/bin/sh
# Checks that stock Slurm has all that plug-ins refer to, and that slurmplugin/symbols.txt tells of it:
#
#	sh scripts/slurm-symbols.sh PLUGIN.so...
#
# Slurm opens its plug-ins lazily: a name that is missing would end slurmctld at the first
# call of it. Client commands load cli_filter plug-ins, and select plug-ins too in
# some versions: those have libslurmfull alone.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
slurmctld=$(sh "$here/slurm-installed.sh" slurmctld)
library=$(sh "$here/slurm-installed.sh" plugins)/libslurmfull.so

die() { echo "slurm-symbols.sh: $*" >&2; exit 1; }

for tool in nm readelf; do
	command -v $tool >/dev/null || die "$tool is missing (Debian: apt-get install binutils)"
done
command -v ldd >/dev/null || die "ldd is missing (Debian: apt-get install libc-bin)"
[ -f "$library" ] || die "$library is missing"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# defined FILE...: the dynamic symbols that they offer.
defined() { nm -D --defined-only "$@" | awk 'NF == 3 { sub("@.*", "", $3); print $3 }' | sort -u; }

# sanitizers FILE: those of the sanitizers' runtime that it is linked with, if any. The runtime takes
# the place of many functions of libc, and gives no versions.
sanitizers() {
	for runtime in $(ldd "$1" | awk '$1 ~ /^lib(a|ub)san[.]/ && $3 ~ /^[/]/ { print $3 }'); do
		defined "$runtime"
	done | sort -u
}

# wanted FILE: those that it refers to without a version, as libc's have one, and
# without the optional ones of the C compiler's start files.
wanted() {
	nm -D --undefined-only "$1" | awk '$2 !~ /@/ && $2 !~ /^(__gmon_start__|__cxa_finalize|_ITM_.*|__asan_.*|__ubsan_.*)$/ { print $2 }' | sort -u
}

# at_load FILE: those of them that must be there as soon as the file is opened: all but
# functions that are only called, and weak ones.
at_load() {
	nm -D --undefined-only "$1" | awk '$1 ~ /^[wv]$/ { print $2 }' | sort -u >"$tmp/weak"
	readelf -rW "$1" | awk '$3 ~ /^R_/ && $3 !~ /_JUMP_SLOT?$/ && $5 ~ /^[A-Za-z_]/ && $5 !~ /@/ { print $5 }' | sort -u >"$tmp/load"
	wanted "$1" | comm -12 - "$tmp/load" | comm -23 - "$tmp/weak"
}

defined "$library" >"$tmp/client"
defined "$library" "$slurmctld" >"$tmp/controller"
[ -s "$tmp/client" ] || die "nm finds no symbols in $library"

# The names of the table in slurmplugin/symbols.txt, as patterns.
sed -n 's/^| //p' "$here/../slurmplugin/symbols.txt" | sed 's/ |.*//' |
	grep -o '`[^`]*`' | tr -d '`' | sed 's/[*]/.*/; s/.*/^&$/' >"$tmp/told"
[ -s "$tmp/told" ] || die "slurmplugin/symbols.txt has no table of what is used of Slurm"

bad=0
# report PLUGIN WHERE WHAT: complains about the names on standard input, if any.
report() {
	names=$(tr '\n' ' ')
	[ -z "$names" ] && return
	echo "slurm-symbols.sh: $1: $2 $3: $names" >&2
	bad=1
}

for plugin; do
	[ -f "$plugin" ] || die "$plugin is missing"
	name=$(basename "$plugin")
	host=controller
	case $name in cli_filter_*) host=client ;; esac
	sanitizers "$plugin" >"$tmp/sanitizers"
	wanted "$plugin" | comm -23 - "$tmp/$host" | comm -23 - "$tmp/sanitizers" >"$tmp/missing"
	report "$name" "$slurmctld and $library lack" "what it refers to" <"$tmp/missing"
	wanted "$plugin" | comm -23 - "$tmp/sanitizers" | grep -v -f "$tmp/told" >"$tmp/missing" || :
	report "$name" "slurmplugin/symbols.txt lacks" "what it refers to" <"$tmp/missing"
	case $name in select_*)
		at_load "$plugin" | comm -23 - "$tmp/client" | comm -23 - "$tmp/sanitizers" >"$tmp/missing"
		report "$name" "client commands lack" "what must be there when it is loaded" <"$tmp/missing"
		;;
	esac
	# The host's would win over the plug-in's own.
	defined "$plugin" | comm -12 - "$tmp/$host" >"$tmp/both"
	report "$name" "Slurm has" "its own names too" <"$tmp/both"
done
exit $bad
