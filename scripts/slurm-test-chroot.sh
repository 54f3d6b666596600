#!/bin/sh
# Tests the plug-ins with the Slurm of another Debian release, in a chroot:
#
#	sh scripts/slurm-test-chroot.sh trixie [ARGUMENT OF go test]...
#
# Everything is built there too: a library built against a newer libc would not load.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
suite=${1:-}
[ -n "$suite" ] || { echo "usage: slurm-test-chroot.sh SUITE [ARGUMENT OF go test]..." >&2; exit 1; }
shift
exec sh "$here/slurm-chroot.sh" "$suite" sh scripts/slurm-test.sh "$@"
