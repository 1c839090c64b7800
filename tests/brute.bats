#!/usr/bin/env bats
# Methods of placebase beside all placements of small problems, for every objective.
bats_require_minimum_version 1.5.0
load common.bash

setup_file() { common_setup_file; }

@test "exact is the best of all placements; no bound is above it; portfolio is no worse than one device or HEFT" {
	run -0 "$HSDAG_PYTHON" -u "$BATS_TEST_DIRNAME/brute.py" 200 209 exact "portfolio --budget 0.1" "anneal --evals 2000" mincut
	echo "$output"
}
