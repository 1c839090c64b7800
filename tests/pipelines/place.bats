#!/usr/bin/env bats
# pipelines/place: from a model to its report, screened by simulation; what it refuses at once.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	two_cores
	export PLACE=$ROOT/pipelines/place
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "--screen: of what the policy draws only the best by simulation are measured" {
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	run -0 timeout 600 "$PLACE" m.xml -D cpu:0,cpu:1 --profile 0.1 --budget 60 --episodes 2 --screen 25 --random 1 --from none
	[[ "$output" == *"screening: 50 draws simulated, the best 1 of each 25 measured"* ]]
	[[ "$output" == *"verdict: "* ]]
	cd m.placed || return 1
	for f in input start result final; do recdump --check $f.mp; done
	py '
		u = of("result.mp", "update")
		assert [m["ok"] + m["failed"] for m in u] == [1, 1], u
		graph, place = first(read("input.mp"), "graph"), json.load(open("placement.json"))
		assert set(place) == set(graph["node_name"]) and set(place.values()) <= {"cpu:0", "cpu:1"}
		assert of("final.mp", "best")[-1]["final"]
	'
}

@test "without --screen all draws are measured; it goes on from its checkpoint" {
	cp "$ROOT/tests/models/"small_summator.* .
	args="small_summator.xml --devices=cpu:0,cpu:1 --profile 0.05 --budget=60 --random 0 --from none"
	# shellcheck disable=SC2086
	run -0 timeout 300 "$PLACE" $args --episodes 2
	[[ "$output" != *screening* && "$output" != *random* ]]
	# shellcheck disable=SC2086
	run -0 timeout 300 "$PLACE" $args --episodes 3 --resume
	py '
		u = of("small_summator.placed/result.mp", "update")
		assert [(m["episode"], m["ok"] + m["failed"]) for m in u] == [(1, 1), (2, 1), (3, 1)], u
	'
	# What cannot be written is told before the search.
	# shellcheck disable=SC2086
	run -2 timeout 300 "$PLACE" $args -o mapped --map cpu:0=A,cpu:7=B
	[[ "$output" == *"'cpu:7' is no device"* ]]
	[ -e mapped/input.mp ] && [ ! -e mapped/result.mp ]
}

@test "what it refuses, before it measures" {
	run -2 "$PLACE"
	[[ "$output" == *"no model; see place --help"* ]]
	run -1 "$PLACE" nothing.xml
	echo '<net/>' > m.xml
	for args in "--screen x" "--screen -1" "--budget fast" "--from there" "--recipe other" "--episodes 1.5" "--seed" "--what"; do
		# shellcheck disable=SC2086
		run -2 "$PLACE" m.xml -o no.placed $args
		[[ "$output" == "place: error: "* ]]
	done
	[ ! -e no.placed ]
	run -0 "$PLACE" --help
	[[ "$output" == *"--screen N"* ]]
}
