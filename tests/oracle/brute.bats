#!/usr/bin/env bats
# Methods of placebase beside all placements of small problems, for every objective.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

@test "exact is the best of all placements; no bound is above it; portfolio is no worse than one device or HEFT" {
	run -0 "$HSDAG_PYTHON" -u "$ROOT/tests/oracle/brute.py" 200 210 exact "portfolio --budget 1" "anneal --evals 2000" mincut spine ideals
	echo "$output"
}

@test "searches that have a budget alone use it: better than HEFT, from which they begin" {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$HSDAG_PYTHON" "$ROOT/tests/support/families.py" lstm 100 3 1 | json2dag -o g.mp
	for m in heft "anneal --budget 2" "tabu --budget 2" "local-search --budget 2 -t 2"; do
		# shellcheck disable=SC2086
		placebase $m g.mp -o "${m%% *}.mp"
	done
	py '
		heft, *other = (of(f + ".mp", "place")[0]["predicted_s"] for f in ("heft", "anneal", "tabu", "local-search"))
		assert max(other) < heft, (heft, other)
	'
}

@test "exact has no node whose bounds take many times the budget" {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$HSDAG_PYTHON" "$ROOT/tests/support/families.py" layered 2500 128 1 | json2dag -o wide.mp
	# 128 bounds of 0.3 s each.
	run -0 timeout 30 placebase exact --budget 2 wide.mp -o e.mp
	run -0 devsim e.mp -o r.mp
}
