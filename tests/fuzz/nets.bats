#!/usr/bin/env bats
# Random networks: what devrun computes is what OpenVINO computes, whichever layouts, fusions and devices there are.
# make fuzz has more of them.
# seconds: 30
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

# With the instructions that most machines have, so that seeds are the same test everywhere; make fuzz takes all.
@test "random networks agree with OpenVINO" {
	HSDAG_CPU_LEVEL=3 ONEDNN_MAX_CPU_ISA=AVX2 run "$HSDAG_PYTHON" "$ROOT/tests/fuzz/nets.py" --bin "$B/bin" --seeds "${NETS:-1-60}" --times 1
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" networks, 0 wrong"* ]]
}

@test "quantised networks that were wrong once are right, in int8" {
	grep -q avx512_vnni /proc/cpuinfo || skip "no VNNI"
	run "$HSDAG_PYTHON" "$ROOT/tests/fuzz/nets.py" --bin "$B/bin" --found --codes --times 2
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" networks, 0 wrong" ]]
}

# Without VNNI two products together have 16 bits, and more may differ.
@test "random quantised networks are what f32 computes, in int8" {
	grep -q avx512_vnni /proc/cpuinfo || skip "no VNNI"
	run "$HSDAG_PYTHON" "$ROOT/tests/fuzz/nets.py" --bin "$B/bin" --codes --seeds "${NETS:-1-60}" --times 1
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" networks, 0 wrong"* ]]
}
