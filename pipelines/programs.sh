# shellcheck shell=bash disable=SC2034   # whoever sources it uses them
# programs.sh - what scripts of this folder begin with: where they are, through a symlink, too, and where the programs are, in
# a checkout or installed.  To be sourced; it sets
#   program   the name by which the script was called (installed: hsdag-place)
#   here      this folder
#   bin       the programs: of the build $B, else of the checkout, else of the installed tree; PATH has both folders
# and has the functions print_version, recipe_for, put_whole and those of clock.sh
program=${0##*/}
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
bin=${B:-$here/../build}/bin
[ -d "$bin" ] || bin=$here/../../../bin     # installed: PREFIX/share/hsdag/pipelines
PATH=$bin:$here:$PATH
# shellcheck source=pipelines/clock.sh
. "$here/clock.sh"

print_version() { devrun --version | sed "1s/^devrun/$program/"; }

# recipe_for NET PARAMS - the recipe where none is named: the one of the network's name, where there is one, else the one that the
# parameters in the file PARAMS were trained by, else default
recipe_for() {
	local recipe=
	if [ -n "$1" ] && gpnembed --recipe "$1" --help > /dev/null 2>&1; then
		recipe=$1
	elif [ -n "$2" ] && [ "$2" != none ]; then
		recipe=$(recdump --kind params --tsv recipe "$2" 2> /dev/null | grep . | tail -n 1) || recipe=
	fi
	echo "${recipe:-default}"
}

# put_whole FROM TO: a copy that takes its name when it is whole; what was there stays until then.
put_whole() {
	if [ -e "$2" ] && [ ! -f "$2" ]; then
		cat "$1" > "$2"     # a pipe, a device
	elif ! cp "$1" "$2.new" || ! mv "$2.new" "$2"; then
		rm -f "$2.new"
		return 1
	fi
}
