#!/bin/sh
# tests/support/models.sh NAME... DIR - put NAME.xml and a full NAME.bin into DIR: what the
# repository keeps of the weights, and seeded values for the rest.
# B names the build directory.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 2 ] || { echo "usage: $0 NAME... DIR" >&2; exit 2; }
for dir; do :; done
mkdir -p "$dir"
tmp=$dir/.partial.$$
trap 'rm -f "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
while [ $# -gt 1 ]; do
	# Whole at once: another job may be reading it.
	cp "$here/models/$1.xml" "$tmp"
	mv "$tmp" "$dir/$1.xml"
	"${B:-$here/../build}/bin/irfill" "$here/models/$1.xml" -o "$dir/$1.bin"
	shift
done
