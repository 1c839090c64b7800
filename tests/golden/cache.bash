# cache.bash - where the old build's inputs and texts are kept; loaded with $here set.
# shellcheck shell=bash disable=SC2154

cache=${GOLDEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hsdag-golden}
export PYTHON=${HSDAG_PYTHON:-$here/../../build/venv/bin/python}

# sum FILE... - one checksum of all
sum() { cat "$@" | sha256sum | cut -c1-12; }

# cache_inputs OLD_BIN - sets dir and INPUTS, makes the inputs if they are not there, holds the lock (9)
cache_inputs() {
	dir=$cache/$(sum "$1"/*)-$(sum "$here/inputs" "$here/mutants.py")
	export INPUTS=$dir/inputs
	mkdir -p "$dir"
	exec 9> "$dir/lock"
	flock 9
	[ ! -f "$INPUTS/contents" ] || return 0
	rm -rf "$INPUTS"
	"$here/inputs" "$1" "$INPUTS" > "$dir/log" 2>&1 && return
	cat "$dir/log" >&2
	echo "error: the inputs were not made" >&2
	return 1
}
