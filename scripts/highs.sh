#!/bin/sh
# Finds HiGHS for `go build -tags highs` and prints the PKG_CONFIG_PATH to build with:
#
#	PKG_CONFIG_PATH=$(sh scripts/highs.sh) go build -tags highs ./...
#
# In this order: the HiGHS that pkg-config knows; the distribution's libhighs-dev (as root,
# where the package exists); the static library in the Go module that internal/tools pins, by way of
# a highs.pc written to build/highs. What is printed may be empty. Messages go to stderr;
# the exit status is 1, and nothing is printed, when HiGHS can't be had.
set -eu

module=github.com/bartolsthoorn/gohighs
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$root/build/highs

say() { echo "highs.sh: $*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
die() { say "$*"; exit 1; }

# install PACKAGE...: by apt-get, as root; false where that can't be.
install() {
	have apt-get && [ "$(id -u)" = 0 ] || return 1
	say "apt-get install $*"
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >&2
}

# need WHAT PACKAGE CHECK...: runs CHECK, installs PACKAGE if it fails, or says what is missing.
need() {
	what=$1 package=$2
	shift 2
	"$@" && return
	install "$package" && "$@" && return
	die "$what is missing: install it (Debian and Ubuntu: apt-get install $package)"
}

# linkable NAME: whether the C compiler finds lib NAME (an unknown one is echoed without its directory).
linkable() {
	for suffix in so a dylib tbd; do
		case $(${CC:-cc} -print-file-name="lib$1.$suffix" 2>/dev/null) in */*) return 0 ;; esac
	done
	# macOS keeps its libraries where only its linker looks.
	[ "$(uname -s)" = Darwin ]
}

# known: whether pkg-config knows a HiGHS whose header is where it says; trixie's highs.pc
# names directories of the machine that it was built on.
known() {
	pkg-config --exists highs || return 1
	# shellcheck disable=SC2046
	echo '#include <interfaces/highs_c_api.h>' | "${CC:-cc}" $(pkg-config --cflags highs) -E - >/dev/null 2>&1 && return
	say "pkg-config's HiGHS $(pkg-config --modversion highs) has no header where it says ($(pkg-config --cflags highs))"
	return 1
}

# answer DIR: prints DIR ahead of the caller's own search path.
answer() {
	echo "$1${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
	exit 0
}

platform() {
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) arch=$(uname -m) ;;
	esac
	case $(uname -s) in
	Linux) os=linux cxx=-lstdc++ ;;
	Darwin) os=darwin cxx=-lc++ ;;
	*) os=$(uname -s) cxx= ;;
	esac
}

need pkg-config pkg-config have pkg-config
if known; then
	echo "${PKG_CONFIG_PATH:-}"
	exit 0
fi

version=$(sed -n "s|^[[:space:]]*\(require \)\{0,1\}$module \([^ ]*\).*|\2|p" "$root/internal/tools/go.mod")
[ -n "$version" ] || die "internal/tools/go.mod does not require $module"
stamp="# $module $version, $(uname -s) $(uname -m)"

# Written before, for this version, and the module is still there?
if [ -f "$dir/highs.pc" ] && [ "$(sed -n 1p "$dir/highs.pc")" = "$stamp" ]; then
	[ -f "$(sed -n 's/^library=//p' "$dir/highs.pc")" ] && answer "$dir"
fi

if [ "$(id -u)" = 0 ] && have apt-cache && apt-cache show libhighs-dev >/dev/null 2>&1; then
	if install libhighs-dev && known; then
		echo "${PKG_CONFIG_PATH:-}"
		exit 0
	fi
	say "libhighs-dev can't be used; taking the library of $module instead"
fi

platform
need "a C++ compiler (g++)" g++ have "${CXX:-c++}"
need "the C++ library (libstdc++)" g++ linkable stdc++
need "zlib" zlib1g-dev linkable z
have go || die "go is missing: see https://go.dev/doc/install"

cd "$root/internal/tools"
export GOWORK=off
go mod download "$module" >&2 || die "can't download $module $version"
source=$(go list -m -f '{{.Dir}}' "$module")/internal/highs
library=$source/lib/${os}_$arch/libhighs.a
[ -f "$library" ] || die "$module $version has no library for $os/$arch: install HiGHS >= 1.10 so that pkg-config finds it"

mkdir -p "$dir/include/interfaces"
echo '*' >"$dir/.gitignore"
# lanl/highs includes the header by the name that an installed HiGHS has.
echo '#include <highs_c_api.h>' >"$dir/include/interfaces/highs_c_api.h"
cat >"$dir/highs.pc.new" <<PC
$stamp
library=$library
Name: HiGHS
Description: HiGHS, static, from $module
Version: $(sed -n 's/#define HIGHS_VERSION_[A-Z]* //p' "$source/include/HConfig.h" | paste -sd . -)
Libs: \${library} $cxx -lm -lpthread -lz
Cflags: -I$dir/include -I$source/include
PC
mv "$dir/highs.pc.new" "$dir/highs.pc"
say "using the static library of $module $version"
answer "$dir"
