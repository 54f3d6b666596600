#!/bin/sh
# Builds the site of docs/ into build/site, with mkdocs and its theme material.
set -eu

cd "$(dirname "$0")/.."
sh scripts/packages.sh mkdocs
mkdocs build --strict --quiet
echo "build/site/index.html"
