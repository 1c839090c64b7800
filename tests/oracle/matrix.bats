#!/usr/bin/env bats
# A slice of `make matrix`: operators by element types (matrix.py), some with shapes that are found while the model runs.
# seconds: 20
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

slice() {
	needs_openvino
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/matrix.py" "$B/bin" "$BATS_TEST_TMPDIR/m" "$@"
}

@test "bytes" { slice --types u8 --shapes static --every 9; }
@test "ranks that are found while the model runs" { slice --types f32 --shapes static,ranks --every 23; }

@test "integers where a kernel reads real numbers are refused" {
	slice --types u8 --shapes static --ops adaptivemaxpool,reorgyolo,generateproposals
	[[ $output == *" 3 refused"* ]]
}

@test "the least and greatest integers, and nothing, on an OpenCL device" {
	needs_pocl
	slice --types i8,u8,i64,u64,f32 --shapes static --device cl:0.0 --ops add,divide,mod,floormod,bitwiseleftshift,reducesum,reducel2,less,matmul
	[[ $output == *" refused"* ]]
}
