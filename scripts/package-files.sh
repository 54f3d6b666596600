#!/bin/sh
# Prints what rpm has to know of a package that is laid out in DIR: its files, and those directories
# that are its own.
#
#	sh scripts/package-files.sh NAME DIR
set -eu

name=$1
cd "$2"
find . \( -type f -o -type l \) -printf '/%P\n' | sort | sed 's|^\(/usr/share/doc/.*\)|%doc \1|'
find . -type d \( -name "$name" -o -name pkgconfig -o -path '*-aucsched' -o -path './usr/share/fish*' -o -path './usr/share/zsh*' \
	-o -path "*/doc/$name/*" -o -path "*/share/$name/*" \) -printf '%%dir /%P\n' | sort
