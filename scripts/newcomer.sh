#!/bin/sh
# A newcomer's first steps: types what docs/tutorials/first-window.md begins with, and `make run`, in
# an empty directory, with a clone of this repository's last commit.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cd "$dir"
awk -v from="-q file://$top aucsched" '
	/^```bash/ { block = 1; next }
	/^```/ { exit(!block) }
	block { sub("https://[^ ]*", from); print }' "$top/docs/tutorials/first-window.md" >typed.sh
(set -ex; . "$dir/typed.sh"; make run; aucsched --version; test -z "$(git status --porcelain)")
