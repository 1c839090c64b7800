#!/bin/bash
# fill.sh DIR MODEL... - print the path of each MODEL.xml with a .bin beside it: a name is a model
# of tests/models, filled into DIR; a path without .bin is copied to DIR and filled.
# B names the build directory.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
B=${B:-build}
dir=$1
shift
mkdir -p "$dir"
for m; do
	if [ "${m%.xml}" = "$m" ]; then
		[ -f "$dir/$m.bin" ] && [ -f "$dir/$m.xml" ] || B=$B "$here/../tests/models.sh" "$m" "$dir"
		echo "$dir/$m.xml"
	elif [ -f "${m%.xml}.bin" ]; then
		echo "$m"
	else
		name=$(basename "$m" .xml)
		[ "$m" -ef "$dir/$name.xml" ] || cp "$m" "$dir/$name.xml"
		[ -f "$dir/$name.bin" ] || "$B/bin/irfill" "$dir/$name.xml" -o "$dir/$name.bin"
		echo "$dir/$name.xml"
	fi
done
