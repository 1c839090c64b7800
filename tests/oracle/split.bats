#!/usr/bin/env bats
# Random networks cut by dagsplit, beside as they are: devrun on a core and on two, OpenVINO on the IR of the parts.
# seconds: 12
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	needs_openvino
	two_cores
}

@test "every rule on random shapes: parts compute what the whole does" {
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/split.py" --seeds "${SPLIT:-1-10}" --openvino
	echo "$output"
}
