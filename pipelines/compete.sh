# shellcheck shell=bash
# compete.sh - from measured costs and starts to a placement that has won a race: a first race, costs that fit what it
# measured, proposals that are good by many draws of these, the learner's search, the last race.  To be sourced.
#
# Whoever sources it has the functions
#   stage COMMAND...            run it, a program of a pipeline
#   race SECONDS ARGUMENTS...   devrun paired --placements --race, or its like on a machine that is played
#   measure                     devrun, or its like: of the search
#   taken                       seconds since the phase began, of the time that a budget is of; 0 on a machine that is played
#   cut_short WHAT              there is no time for that
# and the variables
#   compete_dir    files come and go there: first.mp, pool.mp, proposed.mp, result.mp, final.mp
#   compete_input  the stream with features and costs
#   compete_starts, compete_others   streams with placements that others must beat, and with more of them
#   compete_seed
#   compete_last   an array: options of the last race
#   compete_variety_s   seconds in which placements of every quality are looked for; empty: as many as they take
#   compete_within seconds of the proposals, all draws of costs together; empty: as many as they take

# What is done, and how much of it; callers may say otherwise before they begin.
: "${compete_variety:=12}"     # placements of every quality that the costs are fitted to, besides the starts; 0: none
: "${compete_draws:=2}"        # of fitted costs, on which to search, besides the most likely ones
: "${compete_judges:=16}"      # draws by which proposals are judged; 0: the most likely costs alone
: "${compete_proposals:=4}"    # of all that are kept
: "${compete_screen:=0}"       # the learner draws so many times as many; those run that should be the fastest; 0: all run

count_places() { recdump --tsv :kind "$1" | grep -c -e '^place' -e '^best' || true; }

# The placements of other streams as well, where they have any.
add() {
	if [ $# -eq 0 ]; then
		cat
	elif [ -f "$1" ] && [ "$(count_places "$1")" -gt 0 ]; then
		stage placebase "of:$1" | add "${@:2}"
	else
		add "${@:2}"
	fi
}

# Single devices come first, then the starts: what others must surely beat.
compete_count_starts() {
	echo $(($(count_places "$compete_starts") + $(placebase single "$compete_input" | count_places -)))
}

# What SECONDS leave, a third of them in any case.
compete_rest() { awk -v s="$1" -v t="$(taken)" 'BEGIN { print (s - t > s / 3 ? s - t : s / 3) }'; }

# A program that ends with the time of the proposals; status 124 then.
compete_bounded() {
	if [ -z "${compete_within:-}" ]; then
		stage "$@"
	else
		timeout --foreground "$(awk -v s="$compete_within" -v t="$(taken)" 'BEGIN { print (s - t > 0.05 ? s - t : 0.05) }')" "$@"
	fi
}

# compete_first SECONDS: first.mp, a race of all starts and of what the costs are fitted to besides.  That is found by ranks: orders as
# of plans took 5 s for 5,000 sets, which were the race's.
compete_first() {
	local field=$compete_dir/field.mp
	stage placebase single "$compete_input" | add "$compete_starts" "$compete_others" |
		if [ "$compete_variety" -gt 0 ]; then
			stage placebase variety -n "$compete_variety" --order rank --evals 200 --seed "$compete_seed" \
				${compete_variety_s:+--budget "$compete_variety_s"}
		else
			cat
		fi > "$field" || return
	rm -f "$compete_dir/fit.mp"
	race "$(compete_rest "$1")" --starts "$(compete_count_starts)" -o "$compete_dir/first.mp" < "$field"
}

# The first race with what fits it, where that was found: what takes --fit need not find it again.
compete_fitted() {
	if [ -f "$compete_dir/fit.mp" ]; then echo "$compete_dir/fit.mp"; else echo "$compete_dir/first.mp"; fi
}

# What a portfolio of SECONDS finds on draw I of the fitted costs: found.I.mp, unless the time is over before.
compete_search() {
	# A phase's shells stay until their programs have ended.
	[ -z "${in_phase:-}" ] || trap : TERM HUP
	compete_bounded devsim --refit --draw "$1" --seed "$compete_seed" "$compete_dir/fit.mp" -o "$compete_dir/found.$1.costs" &&
		compete_bounded placebase portfolio --budget "$2" --seed "$compete_seed" "$compete_dir/found.$1.costs" \
			-o "$compete_dir/found.$1.mp"
}

# The status of a job, once it has ended: a signal that the shell answers ends the wait, and not the job.
compete_wait() {
	local status
	while :; do
		status=0
		wait "$1" || status=$?
		kill -0 "$1" 2> /dev/null || return "$status"
	done
}

# proposed.mp, of what ran and what was found.
compete_judge() {
	local pool=$compete_dir/found.pool judged=$compete_dir/found.judged
	stage placebase "of:$compete_dir/first.mp" "$compete_input" | add "$compete_dir"/found.*.mp > "$pool" &&
		compete_bounded devsim --fit "$(compete_fitted)" --draws "$compete_judges" --seed "$compete_seed" "$pool" -o "$judged" &&
		stage topk -k "$compete_proposals" -o "$compete_dir/proposed.mp" "$judged"
}

# compete_propose SECONDS: proposed.mp, what is the fastest in the mean over draws of the fitted costs: among what ran
# and what portfolios of so many seconds find on some of these draws, side by side.  Where time is short, draws are left out, or
# all of it: there is no proposed.mp then.
compete_propose() {
	local i one status=0 jobs=() lost=0
	rm -f "$compete_dir"/found.*
	compete_bounded devsim --refit "$compete_dir/first.mp" -o "$compete_dir/fit.mp" || status=$?
	for ((i = 0; i <= compete_draws && status == 0; i++)); do
		compete_search "$i" "$1" &
		jobs+=($!)
	done
	for i in "${jobs[@]}"; do
		one=0
		compete_wait "$i" || one=$?
		if [ "$one" -eq 124 ]; then lost=$((lost + 1)); elif [ "$one" -ne 0 ]; then status=$one; fi
	done
	if [ "$status" -eq 0 ] && [ "$lost" -le "$compete_draws" ]; then
		[ "$lost" -eq 0 ] || cut_short "$lost of $((compete_draws + 1)) searches"
		compete_judge || status=$?
	elif [ "$status" -eq 0 ]; then
		status=124
	fi
	rm -f "$compete_dir"/found.*
	[ "$status" -eq 124 ] || return "$status"
	rm -f "$compete_dir/proposed.mp"
	cut_short proposals
}

# compete_final SECONDS: final.mp, the last race, of all that may win.  What they should take is told by the costs that fit
# the first race, where there was one, for all alike; what they took there counts.
compete_final() {
	local base=$compete_dir/first.mp field=$compete_dir/field.mp
	if [ -f "$base" ]; then
		add "$compete_dir/proposed.mp" "$compete_dir/result.mp" < "$base" |
			stage devsim --fit "$(compete_fitted)" --predict
	else
		stage placebase single "$compete_input" | add "$compete_starts" "$compete_others" "$compete_dir/result.mp"
	fi > "$field" || return
	race "$(compete_rest "$1")" "${compete_last[@]}" --starts "$(compete_count_starts)" -o "$compete_dir/final.mp" < "$field"
}
