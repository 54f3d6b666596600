#!/bin/sh
# Runs a command in which go builds HiGHS in, or without it where HiGHS can't be had:
#
#	sh scripts/with-highs.sh go test ./...
if highs=$(sh "$(dirname "$0")/highs.sh"); then
	export PKG_CONFIG_PATH="$highs" GOFLAGS="${GOFLAGS:-} -tags=highs"
else
	echo "make: going on without HiGHS; the native solver needs no C library" >&2
fi
set -x
exec "$@"
