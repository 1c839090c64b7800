# shellcheck shell=bash disable=SC2086,SC2154,SC2317   # $brief, $paper and $resume are words or nothing; place has set the others
# stages.sh - the pipelines of place, one function each: from the model to its graph, costs, starts, the search, the last
# comparison, and the files that tell of it.  To be sourced.  What they use of the options place has read and planned;
# their programs are stages (phases.sh), files come and go in $dir.

# ---- the model and what its sets take ----

# The model's graph; what has to be made on the way, of another framework's model or for want of weights, goes to XML and
# WEIGHTS.  Seeded weights: times are the same.
read_graph() {
	if [ -n "$python" ]; then
		stage "$python" "$here/convert.py" "$model" "$1" || return
	elif [ "$weights" = "$dir/weights.bin" ]; then
		stage irfill "$xml" --seed "$seed" -o "$2" || return
	fi
	stage ir2dag "$1" --weights "$2" "${shapes[@]}" "${reading[@]}" |
		if [ -n "$pieces" ]; then stage daggroup heavy-edge -g "$pieces" --sets; else cut_into_parts; fi
}

# What --pin, --keep and --default say, in a stream with devices.
pin() { if [ ${#pins[@]} -gt 0 ]; then stage dagpin "${pins[@]}"; else cat; fi; }

# Is the rate of requests what counts, with a limit of latency or without?
by_rate() { case $objective in throughput | throughput,latency\<=* | latency\<=*,throughput) ;; *) false ;; esac; }

# Where several devices are placed on: operations in a part for each that computes at once with the others.  On unlike devices a
# brief profile decides; cores of one processor are alike.  Limits of memory (parts of rows each need all weights), segments that
# OpenVINO compiles, what reproduces a paper, and objectives that know no latency are about whole operations.
cut_into_parts() {
	local probe=(devrun probe ${devices:+-D "$devices"} "${running[@]}")
	if [ -n "$whole$memory" ] || [[ $objective != *latency* ]] || by_rate || [ "$recipe" = paper ] || [[ $devices =~ ov: ]]; then
		cat
		return
	fi
	cat > "$dir/.uncut.mp"
	# What is wrong with devices or model is told where costs are measured.
	if ! "${probe[@]}" -o "$dir/.probed.mp" "$dir/.uncut.mp" 2> /dev/null; then
		cat "$dir/.uncut.mp"
	elif recdump -k devs --tsv 'types[]' "$dir/.probed.mp" | grep -q '^cl$'; then
		stage "${probe[@]}" --profile --max-seconds 0.3 "$dir/.uncut.mp" | pin | stage dagsplit --if-possible
	else
		pin < "$dir/.probed.mp" | stage dagsplit --if-possible
	fi
	rm -f "$dir"/.uncut.mp "$dir"/.probed.mp
}

# With its features.  Patterns that match nothing are told before costs are measured.
read_model() {
	read_graph "$xml" "$weights" | stage dagfeat $paper ${threads:+--threads "$threads"} -o "$dir/graph.mp" || return
	[ ${#pins[@]} -eq 0 ] ||
		stage devrun probe ${devices:+-D "$devices"} "${running[@]}" "$dir/graph.mp" | stage dagpin "${pins[@]}" -o /dev/null
}

# Beside what is there, which stays as it is: --resume of another model changes nothing.
read_beside() {
	if [ -n "$python" ]; then
		read_graph "$dir/.new.xml" "$dir/.new.bin"
	elif [ "$weights" = "$dir/weights.bin" ]; then
		read_graph "$xml" "$dir/.new.bin"
	else
		read_graph "$xml" "$weights"
	fi > "$dir/.new.mp"
}

# What the model needs of the devices' memory, as if all were equally fast: each alone, and a placement that keeps to the limits.
plan_memory() {
	local status=0
	stage devrun probe ${devices:+-D "$devices"} "${running[@]}" "$dir/graph.mp" | pin > "$dir/.plan.mp" || return
	{
		recdump -k devs --tsv 'names[]' "$dir/.plan.mp" | sed 's/.*/device & flops 1e11 bandwidth 1e10 overhead 1e-6/'
		echo 'link * * latency 1e-5 bandwidth 1e10'
	} > "$dir/.plan.spec"
	placebase single,heft --no-hints --spec "$dir/.plan.spec" --plan "$dir/.plan.json" -o "$dir/.placed.mp" "$dir/.plan.mp" || status=$?
	[ -s "$dir/.plan.json" ] || return "$status"
	rm -f "$dir"/.plan.{mp,spec} "$dir/.placed.mp"
}

# The devices: what each can run, and how fast.
measure_costs() {
	local probe=(devrun probe --profile ${max_error:+--reduced} --max-seconds "$profile" ${devices:+-D "$devices"} "${running[@]}" "$dir/graph.mp")
	if [ ${#pins[@]} -gt 0 ]; then
		stage "${probe[@]}" | stage dagpin "${pins[@]}" -o "$dir/input.mp"
	else
		stage "${probe[@]}" -o "$dir/input.mp"
	fi
}

# With a limit of error, and devices in less than f32: which sets may run in less, by errors that are measured; whatever is tried
# later keeps to it.  What was measured is in precision.mp, the two that are the fastest of it within the limit in mixed.mp: one may
# be all in f32.
mix_precisions() {
	stage devrun mixed --max-error "$max_error" --max-seconds "$given" --path "$dir/precision.mp" "${running[@]}" -o "$dir/.mixed.mp" "$dir/input.mp" || return
	mv "$dir/.mixed.mp" "$dir/input.mp"
	stage topk -k 2 --distinct -o "$dir/mixed.mp" "$dir/precision.mp" || return
	[ "$(count_places "$dir/mixed.mp")" -gt 0 ] || rm "$dir/mixed.mp"
}

# A name that --map cannot know, and an objective that these costs do not have, are told now, not after the search.
check_answer() {
	stage placebase single "$dir/input.mp" |
		if [ "$objective" = latency ]; then cat; else stage devsim "${judging[@]}"; fi |
		stage placeout ${map:+--map "$map"} -o /dev/null
}

# ---- the search ----

# Seconds of the budget that are left; a share of them, at most 40.
left() {
	local now_us
	read_clock
	awk -v b="$budget" -v us=$((now_us - budget_began)) 'BEGIN { l = b - us / 1e6; print (l > 0 ? l : 0) }'
}
share_of_left() { awk -v l="$(left)" -v b="$budget" -v s="$1" 'BEGIN { x = b > 0 ? s * l : 10; print (x > 40 ? 40 : x) }'; }

# Of random placements those that should be the fastest run beside the others.
draw_random() {
	[ "$random" -gt 0 ] || return 0
	if [ "$(left_for_starts)" = 0 ]; then
		rm -f "$dir/random.mp"
		cut_short random
		return 0
	fi
	stage placebase random -n "$random" --seed "$seed" "$dir/input.mp" | stage devsim | stage topk -k 3 -o "$dir/random.mp"
}

# Seconds that starts may still take: they end when three tenths of the budget are over, whatever the profile took of them.  With a
# budget of 0 all that they want.
left_for_starts() { awk -v l="$(left)" -v b="$budget" 'BEGIN { s = l - 0.7 * b; print (b == 0 ? 1e9 : s > 0 ? s : 0) }'; }

# start SECONDS METHOD...: one more start, or none where the method has no answer, or the starts have had their time; HEFT, which is
# given no seconds, in any case.
start() {
	local seconds=$1 budgeted=() name
	shift
	name=$1
	if [ "$seconds" != 0 ]; then
		seconds=$(awk -v s="$seconds" -v l="$(left_for_starts)" 'BEGIN { print (s < l ? s : l) }')
		if awk -v s="$seconds" 'BEGIN { exit !(s < 0.02) }'; then
			cut_short "$name"
			return 0
		fi
		budgeted=(--budget "$seconds")
	fi
	if placebase --no-hints "$@" "${budgeted[@]}" --seed "$seed" "${judging[@]}" -o "$dir/more.mp" "$dir/starts.mp"; then
		mv "$dir/more.mp" "$dir/starts.mp"
	else
		rm -f "$dir/more.mp"
	fi
}

# What the search starts from: methods on the measured costs.  They are candidates like those of the learner,
# and what the answer must not be slower than.
make_starts() {
	local seconds turns
	turns=$(recdump -k devs --tsv turns "$dir/input.mp" | tail -n 1 | grep 1 || true)     # some devices take turns
	seconds=$(awk -v b="$budget" 'BEGIN { s = b / 20; print (s < 0.25 ? 0.25 : s > 5 ? 5 : s) }')
	cp "$dir/input.mp" "$dir/starts.mp"
	if [ "$from" != none ]; then
		[ -z "$turns" ] || start 0 heft-apart
		start 0 heft
	fi
	if [ "$from" != none ] && [ "$from" != heft ]; then
		# What finds the best ones comes first, where there is no time for all.
		start "$seconds" portfolio
		[ -z "$turns" ] || start "$seconds" portfolio --apart
		start "$seconds" climb --evals 2000
		start "$seconds" lookahead-rank
		start "$seconds" cluster --evals 120
		[ "$objective" != latency ] || start "$seconds" learned-moves --evals 500
	elif [ "$from" = heft ]; then
		start "$seconds" climb --evals 2000
	fi
	make_case_starts "$seconds"
	[ ! -f "$dir/mixed.mp" ] || stage placebase "of:$dir/mixed.mp" -o "$dir/more.mp" "$dir/starts.mp" || return
	[ ! -f "$dir/mixed.mp" ] || mv "$dir/more.mp" "$dir/starts.mp"
	[ ! -f "$from" ] || stage placebase "expert:$from" -o "$dir/more.mp" "$dir/starts.mp" || return
	[ ! -f "$from" ] || mv "$dir/more.mp" "$dir/starts.mp"
	[ -z "$now" ] || start 0 "$now"
	[ "$objective" != latency ] || draw_random
}

# What other runtimes would do, by the costs that the search began with; `raced` has what was measured.
what_they_have_now() {
	recdump -k place --tsv source,predicted_s "$dir/starts.mp" | awk -F'\t' -v now="$now" '
		BEGIN { n = split(now, method, ",") }
		NR > 1 { took[$1] = $2 }
		END {
			for (i = 1; i <= n; i++) {
				sub(/:.*/, "", method[i])
				s = took[method[i]]
				list = list (i > 1 ? ", " : "") method[i] (s > 0 ? sprintf(" %.3f ms", 1000 * s) : " has no legal placement")
			}
			print "now: " list ", as predicted"
		}'
}

# Of several models that are wanted so often a second (--rate): what the answer does of it.  A time is that of all of them together, or
# with requests in flight what is between two.
tell_rates() {
	recdump -k best --tsv lat_s "$1" | tail -n 1 | awk -v names="$rate_names" -v wanted="$rate_wanted" -v counts="$rate_counts" -v unit="$rate_unit" '{
		n = split(names, name, " ")
		split(wanted, rate, " ")
		split(counts, copies, " ")
		for (i = 1; i <= n; i++) {
			asked = asked (i > 1 ? ", " : "") name[i] " " rate[i]
			each = each (i > 1 ? " and " : "") copies[i]
		}
		share = 1 / ($1 * unit)
		printf "rates: %s a second are wanted; an inference is %s of them, every %.3f ms one is needed, and one takes %.3f ms: %s, %.3g times what is wanted\n",
			asked, each, 1000 / unit, 1000 * $1, (share >= 1 ? "kept" : "not kept"), share
	}'
}

# make_case_starts SECONDS: with several lists of shapes, what is the best for each alone; what all take is predicted by `of`.
make_case_starts() {
	local i seconds only=$dir/.case.mp
	[ "$from" != none ] || return 0
	for ((i = 1; i <= ${#case_names[@]}; i++)); do
		seconds=$(awk -v s="$1" -v l="$(left_for_starts)" 'BEGIN { print (s < l ? s : l) }')
		if awk -v s="$seconds" 'BEGIN { exit !(s < 0.02) }'; then
			cut_short "case $i"
		elif placebase --no-hints portfolio --case "$i" --budget "$seconds" --seed "$seed" -o "$only" "$dir/input.mp" &&
			placebase "of:$only" -o "$dir/more.mp" "$dir/starts.mp"; then
			mv "$dir/more.mp" "$dir/starts.mp"
		fi
	done
	rm -f "$only" "$dir/more.mp"
}

# A race (compete.sh).
race() {
	stage devrun paired -vv --placements --candidates 1000 --min-runs 3 --max-seconds 0.1 ${max_error:+--max-error "$max_error"} \
		"${running[@]}" "${racing_with[@]}" --race "$@"
}

# What costs that fit the first race say of placements; without one, the measured costs.
simulate() {
	if [ -f "$dir/first.mp" ]; then stage devsim --fit "$(compete_fitted)"; else stage devsim "${judging[@]}"; fi
}

# Runs the placements of an episode.  With --screen the policy draws more, and devsim and topk choose those that
# devrun runs.  Another objective is simulated.
measure() {
	if [ "$objective" != latency ]; then
		stage devsim "${judging[@]}"
	elif [ "$screen" -gt 0 ]; then
		simulate | stage topk -k $steps | stage devrun $brief "${running[@]}" "${exploring[@]}"
	else
		stage devrun $brief "${running[@]}" "${exploring[@]}"
	fi
}

# A first race, and what it lets hope for: shares of the seconds that are left.
first_race() {
	local racing_with=("${exploring[@]}" ${pieces:+--explore}) compete_variety_s=
	# An eighth of the time: what these are is less than how often all run.
	[ "$budget" = 0 ] || compete_variety_s=$(awk -v s="$given" 'BEGIN { print (s > 0.8 ? s / 8 : 0.1) }')
	compete_first "$given"
}
propose() {
	compete_within=$([ "$budget" = 0 ] || echo "$given")
	compete_propose "$(awk -v l="$(left)" -v b="$budget" 'BEGIN { s = b > 0 ? l / 30 : 1; print (s < 0.2 ? 0.2 : s > 5 ? 5 : s) }')"
}

# The loop: gpnembed embeds and groups, placepolicy places, devrun runs, reinforce learns and sends new parameters
# back through a FIFO.
search() {
	stage gpnembed --recipe "$recipe" --seed "$seed" ${params:+--params "$params"} ${net:+--net "$net"} \
		${threads:+--threads "$threads"} --params-from "$loop" "$starts" |
		stage placepolicy --seed "$seed" -n "$draws" |
		measure |
		stage tabstat curve --more --to "$curves" --model "$name" --method "$recipe" --seed "$seed" |
		stage reinforce -vv --recipe "$recipe" --steps $steps --samples 1 "${learning[@]}" --params-to "$loop" --seconds "$searching" \
			${threads:+--threads "$threads"} --episodes "$episodes" --checkpoint "$checkpoint" \
			$resume -o "$found"
}

# What a search that failed has found: reinforce reads its checkpoint, has had its episodes, and ends.
recover() { resume=--resume episodes=1 starts=$dir/input.mp search; }

# What stands for a search where there is none: the start that should be the fastest.
find_best_start() { placebase single "$dir/starts.mp" | devsim | topk -k 1 -o "$found"; }

# ---- the answer ----

# Requests in flight, with a limit of latency the most of them: two for each device.
in_flight() { echo "${requests:-$((2 * ${#names[@]} > 2 ? 2 * ${#names[@]} : 2))}"; }

# The model on each device that computes at once with the others, where that is legal and there are requests for all of them.
replicas() {
	local out=$dir/.replicas.mp
	# Through a file: what fails may have handed on half of its input.
	if placebase --no-hints replicas -o "$out" "$dir/input.mp" 2>> "$dir/log"; then
		cat "$out"
		rm "$out"
	else
		cat "$dir/input.mp"
	fi
}
has_replicas() { placeout --format tsv --replica 2 -o /dev/null "$1" 2> /dev/null; }

# The race: what the search found, where it began and single devices compete for runs, and the answer is not surely
# slower than any of them.  Of another objective than latency the best is the answer, however long it takes.
compare() {
	local n
	if [ "$objective" = latency ]; then
		compete_final "$racing"
		return
	fi
	if by_rate; then
		local racing_with=(--requests "$(in_flight)" --objective "$objective") compete_starts=$dir/.rivals.mp status=0
		compete_last=()
		replicas | add "$dir/starts.mp" > "$compete_starts"
		compete_final "$racing" || status=$?
		rm "$compete_starts"
		return "$status"
	fi
	n=$(placebase single "$dir/input.mp" | count_places -)
	stage devrun paired --schedule --choose first --candidates 1 --min-runs 3 \
		--max-seconds "$(awk -v r="$racing" -v n=$((n + 1)) 'BEGIN { print r / 20 / n }')" \
		"${running[@]}" -o "$dir/final.mp" "$dir/result.mp"
}

# write_cases STREAM: with several lists of shapes what each takes, and for each the placement, of those that raced, that is the best
# for it alone: placement.NAME.json, NAME the phase, or case1, case2, ...
write_cases() {
	local i name
	rm -f "$dir"/placement.{prefill,decode,case[0-9]*}.json "$dir/cases.tsv"     # not those of replicas
	[ ${#case_names[@]} -gt 0 ] || return 0
	placeout --format cases -o "$dir/cases.tsv" "$1"
	for ((i = 1; i <= ${#case_names[@]}; i++)); do
		name=${case_names[i - 1]}
		[[ $name =~ ^[a-z]+$ ]] || name=case$i
		placeout --format affinity --case "$i" ${map:+--map "$map"} -o "$dir/placement.$name.json" "$1"
	done
}

# The objective's values, simulated: of the placement that a stream ends with, and of single devices.  Of a limit of latency
# nobody simulates what was measured.
simulate_values() {
	local by=()
	[[ $objective != *\<=* ]] || return 0
	! by_rate || by=(--requests "$(in_flight)")
	if has_replicas "$1"; then
		placebase single "$dir/input.mp" | placebase replicas
	else
		placeout --format affinity -o "$dir/.answer.json" "$1"
		placebase single "$dir/input.mp" | placebase "expert:$dir/.answer.json"
		rm "$dir/.answer.json"
	fi | devsim "${judging[@]}" "${by[@]}" -o "$dir/values.mp"
}

# What a longer budget would have had besides more runs.
what_time_left_out() {
	local out=''
	[ "$proposals" -gt 0 ] || [ -n "$has_proposals" ] || out=' proposals on fitted costs (20 s)'
	[ -z "$skips_search" ] || out+="${out:+,} the search by learning (60 s)"
	[ -z "$out" ] || echo "left out:$out, for want of time"
}

# write_openvino STREAM: the pair that OpenVINO takes, and what runs it.  Where it cannot be written, the rest stands.
write_openvino() {
	local why
	rm -rf "$dir/.openvino" "$dir/openvino"
	if why=$(placeout --openvino "$dir/.openvino" --replica 1 ${map:+--map "$map"} -o /dev/null "$1" 2>&1) &&
		cp "$here/use.py" "$dir/.openvino/"; then
		[ -z "${invented:-}" ] || sed -i "1i import sys\nprint('use.py: the .bin of this model was missing; its weights here are made up, and so are the outputs', file=sys.stderr)" \
			"$dir/.openvino/use.py"
		mv "$dir/.openvino" "$dir/openvino"
	else
		rm -rf "$dir/.openvino"
		say "'$dir/openvino' could not be written: ${why#placeout: error: }" || true
	fi
}

# tell_also STREAM: told, options of placeout for what else there is to tell of its answer.
tell_also() {
	told=()
	[ "$1" = "$dir/result.mp" ] || told+=(--search "$dir/result.mp")
	[ ! -f "$dir/precision.mp" ] || told+=(--precision "$dir/precision.mp")
	[ "$objective" = latency ] || told+=(--objective "$objective")
	[ "$objective" = latency ] || [[ $objective = *\<=* ]] || told+=(--values "$dir/values.mp")
}

# The columns of the terminal that the answer goes to, 40 or more; nothing where it goes elsewhere.
columns() {
	local size
	[ -n "$on_terminal" ] && size=$(stty size <&"$on_terminal" 2> /dev/null) && [ "${size#* }" -ge 40 ] && echo "${size#* }" || true
}

# show_report STREAM: report.txt; on a terminal with a table that fits it, and lines that break between words.
show_report() {
	local width told report
	width=$(columns)
	if [ -z "$width" ]; then
		cat "$dir/report.txt"
		return
	fi
	tell_also "$1"
	report=(placeout --format report "${told[@]}" ${search:+--search-seconds "$search"} "$1")
	{
		COLUMNS=$width "${report[@]}"
		tail -n +$(($(COLUMNS='' "${report[@]}" | wc -l) + 1)) "$dir/report.txt"     # what place has to add
	} | fold -s -w "$width"
}

# advise STREAM: what the answer means.
advise() {
	local told
	tell_also "$1"
	echo
	placeout --format advice "${told[@]}" ${map:+--map "$map"} "$1" |
		if [ -n "$(columns)" ]; then fold -s -w "$(columns)"; else cat; fi
}

# write_placements STREAM: placement.json, and placement.N.json of replica N, if there are any.  Of an .onnx in its own names, and
# placement.ir.json in those of the IR that was made of it, where some operations come of one node, or of several.
write_placements() {
	local i=2 told=(--format affinity ${map:+--map "$map"})
	rm -f "$dir"/placement.[0-9]*.json "$dir/placement.ir.json"
	if [ -n "$python" ] && [ -s "${xml%.xml}.names.tsv" ]; then
		placeout "${told[@]}" --replica 1 -o "$dir/placement.ir.json" "$1"
		told+=(--names "${xml%.xml}.names.tsv")
	fi
	placeout "${told[@]}" --replica 1 -o "$dir/placement.json" "$1"
	while placeout "${told[@]}" --replica "$i" -o "$dir/placement.$i.json" "$1" 2> /dev/null; do
		i=$((i + 1))
	done
}

# write_results STREAM: the placement that a stream ends with.  Nothing comes between.
write_results() (
	local told
	[ "$objective" = latency ] || simulate_values "$1"
	tell_also "$1"
	write_placements "$1"
	placeout --format tsv --replica 1 -o "$dir/placement.tsv" "$1"
	COLUMNS='' placeout --format report "${told[@]}" ${search:+--search-seconds "$search"} -o "$dir/.report.txt" "$1"
	if [ "$screen" -gt 0 ]; then
		n=$(recdump -k update "$dir/result.mp" | wc -l)
		printf 'screening: %d draws simulated, the best %d of each %d measured\n' \
			$((n * steps * screen)) $steps $((steps * screen)) >> "$dir/.report.txt"
	fi
	if [ "$random" -gt 3 ] && [ "$1" = "$dir/final.mp" ] && [ -f "$dir/random.mp" ]; then
		echo "random: $random drawn, and those measured that should be the fastest" >> "$dir/.report.txt"
	fi
	[ -z "$now" ] || what_they_have_now >> "$dir/.report.txt"
	[ ${#rates[@]} -eq 0 ] || tell_rates "$1" >> "$dir/.report.txt"
	[ -z "${invented:-}" ] || echo "weights: made up, as '$invented' is missing; times are the model's, outputs are not" >> "$dir/.report.txt"
	[ -z "$may_skip" ] || what_time_left_out >> "$dir/.report.txt"
	echo "time: $(phases_took)" >> "$dir/.report.txt"
	mv "$dir/.report.txt" "$dir/report.txt"     # whole
	placeout --format json "${told[@]}" ${search:+--search-seconds "$search"} ${map:+--map "$map"} --phases "$(phases_took)" -o "$dir/report.json" "$1"
	[ ! -f "$curves" ] || told+=(--curve "$curves")
	# Single devices and starts, simulated, to be chosen beside the answer.
	if placebase single "$dir/starts.mp" 2>> "$dir/log" | devsim --schedule -o "$dir/.beside.mp" 2>> "$dir/log"; then
		told+=(--beside "$dir/.beside.mp")
	fi
	placeout --format html "${told[@]}" ${search:+--search-seconds "$search"} -o "$dir/report.html" "$1"
	rm -f "$dir/.beside.mp"
	# What was found when.
	if [ -f "$curves" ] && tabstat curves "$curves" > "$dir/.points" 2>> "$dir/log" &&
		[ "$(wc -l < "$dir/.points")" -gt 1 ] &&
		tabstat plot --title "$name: what the search ran" "$dir/.points" > "$dir/.curves.svg"; then
		mv "$dir/.curves.svg" "$dir/curves.svg"
	fi
	rm -f "$dir/.points" "$dir/.curves.svg"
)
