#!/bin/sh
# Prints the commit that is checked out, with -changed if files differ from it; nothing where there
# is no Git checkout. Go stamps programs itself, but not in a worktree, nor with -buildvcs=false.
cd "$(dirname "$0")/.." || exit 0
[ -e .git ] && hash=$(git rev-parse HEAD 2>/dev/null) || exit 0
if changes=$(git status --porcelain 2>/dev/null) && [ -z "$changes" ]; then
	echo "$hash"
else
	echo "$hash-changed"
fi
