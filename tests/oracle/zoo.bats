#!/usr/bin/env bats
# Models of kinds that tests/models does not have (zoo.py), against OpenVINO: on all cores, on
# OpenCL as far as it can, and on random placements over three devices.
# seconds: 25
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	needs_openvino
	"$HSDAG_PYTHON" "$ROOT/tests/oracle/zoo.py" llm llm-u4 llm-i8 quantized detector control unet \
		"$BATS_FILE_TMPDIR"
}

# zoo MODEL - three random placements, and what runs where
zoo() {
	cd "$BATS_FILE_TMPDIR" || return 1
	timeout 300 "$HSDAG_PYTHON" "$ROOT/tests/oracle/parity.py" --bin "$B/bin" --work "work.$1" --random 3 \
		--no-plugin "$1.xml"
}

@test "a language model with variables and run-time lengths" { zoo llm; }
@test "its weights as u4 with zero points" { zoo llm-u4; }
@test "its weights as i8" { zoo llm-i8; }
@test "a quantised network" { zoo quantized; }
@test "a detector, whose boxes are counted while running" { zoo detector; }
@test "a Loop with an If in it" { zoo control; }
@test "transposed convolutions, Interpolate, TopK" { zoo unet; }

@test "--support: every operator runs somewhere" {
	cd "$BATS_FILE_TMPDIR" || return 1
	for m in quantized control unet; do
		run -0 "$B/bin/devrun" --support -D cpu "$m.xml"
		[[ $output == *", 0 run nowhere"* ]]
	done
}
