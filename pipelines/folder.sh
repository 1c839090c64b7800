# shellcheck shell=bash disable=SC2154   # place has set devices, objective and model
# folder.sh - the directory that place works in: made, thrown away where nothing came of it, and kept for one search.  What
# is read back from an earlier search must be of the same graph, on the same devices, to the same end: DIR/search says which
# these were, one a line.  Until a search has an answer its own search, checkpoint.mp and curves.tsv have names with a dot in
# front, beside those of the answer that there is.  To be sourced.

# make_folder DIR: $dir, which the stages cannot take for an option; $is_new where it was not there.
make_folder() {
	local why
	dir=$1 is_new=
	[[ $dir != -* ]] || dir=./$dir
	[ -d "$dir" ] || is_new=yes
	why=$(LC_ALL=C mkdir -p "$dir" 2>&1) || die "cannot make the directory '$dir': ${why##*: }; -o another one" 1
	[ -w "$dir" ] || die "cannot write in '$dir'; -o another directory" 1
	# Where anybody may make directories one of another user may hold links that lead elsewhere.
	[ -O "$dir" ] || [ ! -k "$dir/.." ] || die "'$dir' is another user's; -o another directory" 1
}

# What a failure leaves of a new directory is not worth keeping.
discard_folder() { [ -z "$is_new" ] || trap 'phases_exit $? "$BASH_COMMAND"; rm -rf "$dir"' EXIT; }

graph_digest() { recdump -k graph --tsv digest "$1" | tail -n 1; }

# What an earlier answer was; no other one may stand in its place.
forget_answer() { rm -f "$dir"/placement{,.*}.json "$dir"/placement.tsv "$dir"/report.{txt,json,html} "$dir/cases.tsv"; }

# Where those of the search that runs are.
running_search() { checkpoint=$dir/.checkpoint.mp curves=$dir/.curves.tsv; }

# There is an answer: they are its own.
keep_search() {
	local file
	rm -f "$dir/curves.svg"
	for file in checkpoint.mp curves.tsv search; do
		if [ -f "$dir/.$file" ]; then mv "$dir/.$file" "$dir/$file"; else rm -f "$dir/$file"; fi
	done
	checkpoint=$dir/checkpoint.mp curves=$dir/curves.tsv
}

# begin_search DIGEST: from here on the directory is of this search; --resume goes on with what was killed, else with what there is an
# answer of.
begin_search() {
	if [ -z "$resume" ]; then
		rm -f "$dir"/{random,first,proposed}.mp "$checkpoint" "$curves"
	elif [ ! -s "$checkpoint" ] || ! is_search "$dir/.search" "$1"; then
		rm -f "$checkpoint" "$curves"
		[ ! -f "$dir/checkpoint.mp" ] || cp "$dir/checkpoint.mp" "$checkpoint"
		[ ! -f "$dir/curves.tsv" ] || cp "$dir/curves.tsv" "$curves"
	fi
	this_search "$1" > "$dir/.search"
}

# May --resume have something to go on with?
has_search() { [ -s "$dir/search" ] || [ -s "$dir/.search" ]; }
has_checkpoint() { [ -s "$dir/checkpoint.mp" ] || [ -s "$checkpoint" ]; }

# is_search FILE DIGEST: is FILE of a search of that graph, on these devices, to this end?
is_search() { [ "$(head -n 3 "$1" 2> /dev/null)" = "$(this_search "$2" | head -n 3)" ]; }

# this_search DIGEST: what DIR/search has of it.
this_search() { printf '%s\n' "graph $1" "devices ${devices:-those that were found}${pins[*]:+ ${pins[*]}}" "objective $objective${max_error:+, max-error $max_error}" "model $(realpath "$model")"; }

# refuse_other_search DIGEST
refuse_other_search() {
	local now=() there=() other file
	for file in "$dir/search" "$dir/.search"; do
		! is_search "$file" "$1" || return 0
	done
	[ -s "$dir/search" ] && file=$dir/search
	mapfile -t now < <(this_search "$1")
	mapfile -t there < "$file"
	if [ "${now[0]}" = "${there[0]}" ]; then
		other="with ${there[1]} and ${there[2]}, not with ${now[1]} and ${now[2]}"
	elif [ "${now[3]}" = "${there[3]:-}" ]; then
		other="of '$model' as it was, not as it is now with these options"
	else
		other="of ${there[3]:-another model}, not of '$model'"
	fi
	die "'$dir' has a search $other; -o another directory, or leave --resume out" 3
}
