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
trap 'rm -f "$tmp" "$tmp.xml"' EXIT
trap 'exit 1' HUP INT TERM
while [ $# -gt 1 ]; do
	name=$1
	shift
	# Whole at once: another job may be reading it.
	cp "$here/models/$name.xml" "$tmp.xml"
	mv "$tmp.xml" "$dir/$name.xml"
	partial=none
	if [ -f "$here/models/$name.partial.xz" ]; then
		partial=$tmp
		xz -dc "$here/models/$name.partial.xz" >"$tmp"
	elif [ -f "$here/models/$name.bin.xz" ]; then
		partial=$tmp
		xz -dc "$here/models/$name.bin.xz" >"$tmp"
	elif [ -f "$here/models/$name.bin" ]; then
		partial=$here/models/$name.bin
	fi
	"${B:-$here/../build}/bin/irfill" "$dir/$name.xml" --partial "$partial" -o "$dir/$name.bin"
done
