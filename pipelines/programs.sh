# shellcheck shell=bash disable=SC2034   # whoever sources it uses them
# programs.sh - what scripts of this folder begin with: where they are, through a symlink, too, and where the programs are, in
# a checkout or installed.  To be sourced; it sets
#   program   the name by which the script was called (installed: hsdag-place)
#   here      this folder
#   bin       the programs: of the build $B, else of the checkout, else of the installed tree; PATH has both folders
# and has the functions print_help, print_version, meant, meant_option, check_model, recipe_for, put_whole and those of clock.sh
program=${0##*/}
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
bin=${B:-$here/../build}/bin
[ -d "$bin" ] || bin=$here/../../../bin     # installed: PREFIX/share/hsdag/pipelines
[ ! -d "$bin" ] || bin=$(cd "$bin" && pwd)     # the same from whatever directory a script works in
PATH=$bin:$here:$PATH
# shellcheck source=pipelines/clock.sh
. "$here/clock.sh"

# print_help COMMAND...: the end of --help, which COMMAND prints.
print_help() {
	"$@" || { echo "$program: error: cannot write standard output" >&2; exit 1; }
	exit
}

print_version() { devrun --version | sed "1s/^devrun/$program/"; }

# help_screen OPTION...: one screen of what the function usage has: these options, and where the rest is.
help_screen() { usage | awk -v names="$*" -v program="$program" -f "$here/screen.awk"; }

# meant NAME WORD...: "; did you mean 'WORD'?" where one of them is near, else nothing.
meant() { printf '%s\n' "${@:2}" | name=$1 awk -f "$here/near.awk"; }

# The same of an option, among those of the function usage.
meant_option() {
	local options
	mapfile -t options < <(usage | grep -oE '^ *(-[a-zA-Z], )?--[a-z][a-z-]+' | grep -oE -e '--.*')
	meant "${1%%=*}" "${options[@]}"
}

# check_model FILE: is it a file that may be a model?  Else an error (die) that says which may be meant.
check_model() {
	local models=() files
	if [ -d "$1" ]; then
		mapfile -t models < <(find "$1" -maxdepth 1 \( -name '*.xml' -o -name '*.onnx' -o -name '*.pdmodel' -o -name '*.tflite' -o -name '*.pb' \) | sort)
		die "'$1' is a directory, not a model's file; $([ ${#models[@]} -gt 0 ] && echo "did you mean '${models[0]}'?" ||
			echo 'there is none in it: .xml, .onnx, .pb, .tflite or .pdmodel')" 1
	elif [ ! -e "$1" ]; then
		files=("$(dirname -- "$1")"/*.{xml,onnx,pb,tflite,pdmodel})
		mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '/\*\.')     # no such file
		[[ $1 == */* ]] || files=("${files[@]#./}")
		die "cannot read '$1': no such file$(meant "$1" "${files[@]}")" 1
	elif [ ! -f "$1" ] || [ ! -r "$1" ]; then
		die "cannot read '$1': $([ -f "$1" ] && echo 'permission denied' || echo 'it is no regular file')" 1
	elif [ ! -s "$1" ]; then
		die "'$1' is empty; a download or an export may have ended early" 3
	elif [[ $1 == *.bin ]] && [ -f "${1%.bin}.xml" ]; then
		die "'$1' holds weights; the model is '${1%.bin}.xml'" 3
	fi
}

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
	local new to=$2
	if [ -e "$to" ] && [ ! -f "$to" ]; then
		cat "$1" > "$to"     # a pipe, a device
		return
	fi
	[ ! -L "$to" ] || to=$(readlink -f "$to")
	new=$(mktemp -- "$(dirname -- "$to")/.new.XXXXXX") || return
	if ! cat "$1" > "$new" || ! chmod "$(printf %o $((0666 & ~0$(umask))))" "$new" || ! mv -- "$new" "$to"; then
		rm -f "$new"
		return 1
	fi
}
