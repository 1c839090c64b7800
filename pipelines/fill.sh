#!/bin/bash
# fill.sh DIR [MODEL]... - print the path of each MODEL.xml with a .bin beside it: a name is a model
# of tests/models, filled into DIR; a path without .bin is copied to DIR and filled.  Without MODEL:
# all of tests/models that have weights of their own.  B names the build directory.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
B=${B:-build}
dir=$1
shift
mkdir -p "$dir"
if [ $# -eq 0 ]; then
	set -- "$here"/../tests/models/*.partial.xz
	set -- "${@##*/}"
	set -- "${@%.partial.xz}"
fi
for m; do
	[[ $m != -* ]] || m=./$m
	if [ "${m%.xml}" = "$m" ]; then
		ours=$here/../tests/models/$m.xml
		[ -f "$ours" ] || {
			echo "fill.sh: error: no model '$m' in tests/models; a path ends in .xml" >&2
			exit 2
		}
		[ -f "$dir/$m.bin" ] && cmp -s "$ours" "$dir/$m.xml" ||
			B=$B "$here/../tests/support/models.sh" "$m" "$dir"
		echo "$dir/$m.xml"
	elif [ -f "${m%.xml}.bin" ]; then
		echo "$m"
	else
		name=$(basename "$m" .xml)
		if ! cmp -s "$m" "$dir/$name.xml"; then
			cp "$m" "$dir/.$name.$$"
			mv "$dir/.$name.$$" "$dir/$name.xml"
			rm -f "$dir/$name.bin"
		fi
		[ -f "$dir/$name.bin" ] || "$B/bin/irfill" "$dir/$name.xml" -o "$dir/$name.bin"
		echo "$dir/$name.xml"
	fi
done
