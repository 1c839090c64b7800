#!/usr/bin/env bats
# pipelines/place when a signal comes, or a program fails: what it keeps, what it says, its status.
# seconds: 50
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	two_cores
	export PLACE=$ROOT/pipelines/place
	cp "$ROOT/tests/models/"small_summator.* .
	# Kept at it until something ends it; what the search has said is in the log.
	export LONG="-D cpu:0,cpu:1 --profile 0.05 --budget 200 --episodes 900000 --random 1"
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

on_terminal() { "$HSDAG_PYTHON" "$ROOT/tests/support/on_terminal.py" "$@"; }

# whole DIR - DIR has a placement of the model, written whole, and nothing of the loop is left
whole() {
	[ ! -e "$1/.loop" ]
	recdump --check "$1/result.mp"
	py '
		place = json.load(open(sys.argv[1] + "/placement.json"))
		assert set(place.values()) <= {"cpu:0", "cpu:1"} and place
	' "$1"
	grep -q '^verdict: ' "$1/report.txt"
	grep -q ">Graph</h2>" "$1/report.html"     # no timeline, where nothing was measured step by step
}

@test "a signal in the search keeps the best so far, whichever it is: Ctrl-C, SIGTERM, a lost terminal" {
	local sig
	for sig in int term all hup; do    # all: as when a job is cancelled
		# shellcheck disable=SC2086
		run -0 on_terminal "sig.$sig/log:episode>$sig" "$PLACE" small_summator.xml $LONG -o sig.$sig
		if [ $sig != hup ]; then
			[[ "$output" == *"place: interrupted; keeping the best so far"*"verdict: "*"status 0" ]]
		fi
		whole sig.$sig
		recdump --check sig.$sig/final.mp
	done
}

@test "a search that fails on the way keeps the best so far" {
	local output
	# shellcheck disable=SC2086
	run -0 on_terminal "killed/log:episode>devrun" "$PLACE" small_summator.xml $LONG -o killed
	[[ "$output" == *"place: error: devrun ended with status 137, signal KILL"*"place: the search ended there; keeping the best so far"*"verdict: "*"status 1" ]]
	[ "$(grep -c 'error: ' <<< "$output")" -eq 1 ]
	whole killed
	recdump --check killed/final.mp
}

@test "what is killed before there is a checkpoint leaves the best start, compared; --resume then says that there is none" {
	local output
	# A reinforce that is killed as soon as its loop is open.
	mkdir -p killed-at-once/bin
	ln -s "$B"/bin/* killed-at-once/bin/
	rm killed-at-once/bin/reinforce
	cat > killed-at-once/bin/reinforce <<-E
		#!/bin/bash
		while [ \$# -gt 0 ] && [ "\$1" != --params-to ]; do shift; done
		[ \$# -eq 0 ] || { exec 3> "\$2"; kill -KILL \$\$; }
	E
	chmod +x killed-at-once/bin/reinforce
	# shellcheck disable=SC2086
	B=$PWD/killed-at-once run -0 on_terminal "first/nothing:>int" "$PLACE" small_summator.xml $LONG -o first
	[[ "$output" == *"place: error: reinforce ended with status 137, signal KILL"*"place: the search ended there; keeping the best so far"*"verdict: "*"status 1" ]]
	[ "$(grep -c 'error: ' <<< "$output")" -eq 1 ]
	[ ! -e first/checkpoint.mp ]
	whole first
	recdump --check first/final.mp
	run -0 timeout 300 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --budget 60 --random 0 --episodes 1 --resume -o first
	[[ "$output" == *"place: --resume: 'first' has no checkpoint; the search begins anew"* ]]
	[ "$(grep -c 'no checkpoint' <<< "$output")" -eq 1 ]
	[ -e first/checkpoint.mp ]
	run -0 timeout 300 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --budget 60 --random 0 --episodes 2 --resume -o first
	[[ "$output" != *"no checkpoint"* ]]
}

@test "a signal in the comparison leaves the search's answer" {
	# Its comparison takes seconds.
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	[ -f m.bin ] || irfill m.xml -o m.bin
	# shellcheck disable=SC2086
	run -0 on_terminal "late/log:episode>int late/report.txt:time>int" "$PLACE" m.xml $LONG -o late
	[[ "$output" == *"place: interrupted; the placement is the search's best, not compared"*"status 0" ]]
	whole late
	grep -q '^verdict: not compared in pairs' late/report.txt
	[ ! -e late/final.mp ]
}

@test "two signals at once, when the search has found nothing: the best start; one alone: the same, compared" {
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	[ -f m.bin ] || irfill m.xml -o m.bin
	# shellcheck disable=SC2086
	run -0 on_terminal "twice/.loop:>int then:0.1>int" "$PLACE" m.xml $LONG -o twice
	[[ "$output" == *"place: interrupted; keeping the best so far"*"verdict: "*"status 0" ]]
	whole twice
	# A second one that comes when the comparison has just ended skips nothing.
	[[ -e twice/final.mp || "$output" == *"the search's best, not compared"*"verdict: not compared in pairs"* ]]
	# shellcheck disable=SC2086
	run -0 on_terminal "once/.loop:>int" "$PLACE" small_summator.xml $LONG -o once
	[[ "$output" == *"place: interrupted; keeping the best so far"*"verdict: "*"status 0" ]]
	whole once
	recdump --check once/final.mp
	# Later, too.
	# shellcheck disable=SC2086
	run -0 on_terminal "later/log:episode>term then:0.15>int" "$PLACE" small_summator.xml $LONG -o later
	[[ "$output" == *"status 0" && ( -e later/final.mp || "$output" == *"the search's best, not compared"* ) ]]
	whole later
	# No start, no placement.
	# shellcheck disable=SC2086
	run -0 on_terminal "none/.loop:>int then:0.15>int" "$PLACE" m.xml $LONG --from none -o none
	[[ "$output" == *"place: interrupted"*"status "@(0|130) ]]
	[[ "$output" == *"status 130" || -e none/placement.json ]]
}

@test "a signal before there is a placement: one line, and 128 + its number" {
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	[ -f m.bin ] || irfill m.xml -o m.bin
	local sig
	for sig in int:130 term:143; do
		run -0 on_terminal "early/graph.mp:>${sig%:*}" "$PLACE" m.xml -D cpu:0,cpu:1 --profile 20 -o early
		[[ "$output" == *"place: interrupted before there was a placement (in: "@(model|profile)")"*"status ${sig#*:}" ]]
		[ "$(grep -c : <<< "$output")" -eq 1 ]
		[ ! -e early/placement.json ]
		rm -rf early
	done
}

@test "no signal is lost, whenever it comes; what kills the shell that faces the terminal ends the search in order" {
	local i
	for i in 0.4 0.6 0.8 1; do
		# shellcheck disable=SC2086
		run -0 on_terminal "after:$i>int" "$PLACE" small_summator.xml $LONG -o any
		[[ "$output" == *"place: interrupted"* ]]
	done
	# shellcheck disable=SC2086
	run -0 on_terminal "gone/log:episode>kill" "$PLACE" small_summator.xml $LONG -o gone
	until flock gone/.lock true; do sleep 0.1; done
	whole gone
}

@test "a command between two phases that fails without a word is named" {
	mkdir -p silent/bin
	printf '#!/bin/sh\nexit 1\n' > silent/bin/mkfifo
	chmod +x silent/bin/mkfifo
	PATH=$PWD/silent/bin:$PATH run -1 --separate-stderr "$PLACE" small_summator.xml -D cpu:0,cpu:1 --budget 1 --objective memory -o silent/dir
	[ "$stderr" = "place: error: 'mkfifo \"\$loop\"' failed with status 1 (in or behind: starts)" ]
}

@test "a failure is told once, by its first cause, with its status" {
	local args="-D cpu:0,cpu:1 --profile 0.05 --random 0 --budget 5"
	# shellcheck disable=SC2086
	mkdir empty
	# shellcheck disable=SC2086
	run -1 "$PLACE" small_summator.xml $args --inputs empty -o fails
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "place: error: input 'input': cannot read 'empty/0.npy'"*"(devrun)" ]]
	# shellcheck disable=SC2086
	run -2 "$PLACE" small_summator.xml -D cpu:0,cpu:0 --random 0 -o fails
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"listed twice (devrun)" ]]
	# In the middle of the loop: its other programs end, too, those behind the first without a word.
	cp small_summator.xml good.xml
	cp small_summator.bin good.bin
	# shellcheck disable=SC2086
	run -0 "$PLACE" good.xml $args --episodes 1 -o loop
	py '
		r = read("loop/checkpoint.mp")
		write("embed.mp", [x for x in r if x[0] != "params" or x[1]["block"] != "policy"][:1] + [x for x in r if x[0] == "params" and x[1]["block"] == "embed"])
	'
	# shellcheck disable=SC2086
	run -3 "$PLACE" small_summator.xml $args --params embed.mp --recipe paper -o fails
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "place: error: "*"(gpnembed)" ]]
	[ "$(grep -c '^gpnembed: error: ' fails/log)" -eq 1 ]
	run -1 grep "^placepolicy: error: \|^devrun: error: " fails/log
	# A warning is passed on, and an error that nobody died of is not.
	run -0 bash -c '. "$1"; talk() { echo "a: warning: beware" >&2; echo "a: error: never mind" >&2; }
		work() { phases_begin p . 1; run_phase talk talk; phases_end; }; phases_face work' - "$ROOT/pipelines/phases.sh"
	[ "$output" = "a: warning: beware" ]
	# Whoever speaks first.
	run -2 bash -c '. "$1"; phases_program=p phases_dir=. phases_log=said phase=search
		printf "%s\n" "placepolicy: error: truncated input '"'-'"': no end record" "devrun: error: empty input '"'-'"'; expected a stream" \
			"gpnembed: error: truncated input '"'x/.loop'"': no" \
			"reinforce: error: truncated input '"'c.mp'"'" > said
		printf "%s\n" "3 placepolicy" "2 reinforce" > .failed
		phase_failed' - "$ROOT/pipelines/phases.sh"
	[ "$output" = "p: error: truncated input 'c.mp' (reinforce)" ]
	run -1 bash -c '. "$1"; phases_program=p phases_dir=/dev/null phases_log=said phase=search; : > said
		phase_failed' - "$ROOT/pipelines/phases.sh"
	[ "$output" = "p: error: cannot write in '"'/dev/null'"': no space is left, or it may not be written" ]
	run -1 bash -c '. "$1"; phases_program=p phases_dir=. phases_log=said phase=search; echo Killed > said
		echo 137 devrun > .failed; phase_failed' - "$ROOT/pipelines/phases.sh"
	[ "$output" = "p: error: devrun ended with status 137, signal KILL; it said last: Killed" ]
	# A directory that was made for nothing goes.
	echo '<net/>' > bad.xml
	run -3 "$PLACE" bad.xml --weights small_summator.bin -o nothing
	[ "${#lines[@]}" -eq 1 ]
	[ ! -e nothing ]
}
