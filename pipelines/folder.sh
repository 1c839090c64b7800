# shellcheck shell=bash disable=SC2154   # place has set devices, objective and model
# folder.sh - the directory that place works in: made, thrown away where nothing came of it, and kept for one search.  What
# is read back from an earlier search must be of the same graph, on the same devices, to the same end: DIR/search says which
# these were, one a line.  To be sourced.

# make_folder DIR: $dir, which the stages cannot take for an option; $is_new where it was not there.
make_folder() {
	local why
	dir=$1 is_new=
	[[ $dir != -* ]] || dir=./$dir
	[ -d "$dir" ] || is_new=yes
	why=$(LC_ALL=C mkdir -p "$dir" 2>&1) || die "cannot make the directory '$dir': ${why##*: }; -o another one" 1
	[ -w "$dir" ] || die "cannot write in '$dir'; -o another directory" 1
}

# What a failure leaves of a new directory is not worth keeping.
discard_folder() { [ -z "$is_new" ] || trap 'phases_end; rm -rf "$dir"' EXIT; }

graph_digest() { recdump -k graph --tsv digest "$1" | tail -n 1; }

# this_search DIGEST: what DIR/search has of it.
this_search() { printf '%s\n' "graph $1" "devices ${devices:-those that were found}" "objective $objective" "model $(realpath "$model")"; }

# refuse_other_search DIGEST
refuse_other_search() {
	local now=() there=() other
	mapfile -t now < <(this_search "$1")
	mapfile -t there < "$dir/search"
	[ "${now[*]:0:3}" != "${there[*]:0:3}" ] || return 0
	if [ "${now[0]}" = "${there[0]}" ]; then
		other="with ${there[1]} and ${there[2]}, not with ${now[1]} and ${now[2]}"
	elif [ "${now[3]}" = "${there[3]:-}" ]; then
		other="of '$model' as it was, not as it is now with these options"
	else
		other="of ${there[3]:-another model}, not of '$model'"
	fi
	die "'$dir' has a search $other; -o another directory, or leave --resume out" 3
}
