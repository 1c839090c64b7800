#!/usr/bin/env bats
# Random networks: what devrun computes is what OpenVINO computes, whichever layouts, fusions and devices there are.
# make fuzz has more of them.
# seconds: 20
# programs: devrun ir2dag
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	needs_openvino
}

@test "networks that were wrong once are right" {
	run "$HSDAG_PYTHON" "$ROOT/tests/fuzz/nets.py" --bin "$B/bin" --found --how default,pixels,planes,threads
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" networks, 0 wrong" ]]
}

@test "random networks agree with OpenVINO" {
	run "$HSDAG_PYTHON" "$ROOT/tests/fuzz/nets.py" --bin "$B/bin" --seeds "${NETS:-1-150}" --times 1
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" networks, 0 wrong"* ]]
}
