#!/usr/bin/env bats
# Dynamic shapes: given with ir2dag --shape, or found while running.
bats_require_minimum_version 1.5.0
load ../support/common.bash
load dynop.bash

setup_file() { dynop_setup_file; }
setup() { dynop_setup; }

@test "given shapes make a static graph" {
	agrees image/x=2,3,8,10 image/x=1,3,6,6 'dynamic_iterator/x=2,7,5;h=2,1,5'
	ir2dag --stats --shape 2,3,8,10 "$BATS_FILE_TMPDIR/image.xml" | grep -qx $'tensors.*\tdynamic\t0'
	ir2dag --stats --shape "x=2,7,5" --shape "h[2,1,5]" "$BATS_FILE_TMPDIR/dynamic_iterator.xml" |
		grep -qx $'tensors.*\tdynamic\t0'
}

@test "a condition on shapes is decided before the run" {
	agrees if_by_shape/x=5,4 if_by_shape/x=2,4
	ir2dag --stats --shape 2,4 "$BATS_FILE_TMPDIR/if_by_shape.xml" | grep -qx $'tensors.*\tdynamic\t0'
}

@test "sizes that depend on values are found while running" {
	agrees selection/x=3,6 selection/x=5,6/1/2 by_value
}

@test "a static model takes another batch" {
	needs_openvino
	agrees 'forward/x=2,4,5;h=2,1,5' if_shapes/x=7,4
}

@test "results of dynamic shape have their real one in the index" {
	needs_openvino
	ir2dag --shape 3,6 "$BATS_FILE_TMPDIR/selection.xml" | placebase single -D cpu:0 |
		devrun -n 1 --warmup 0 --outputs out -o r.mp
	run -0 cut -f 3 out/index.tsv
	[[ $output == *"i64[2,"*"f32["*",7]"*"f32[7]"*"i64[2]"* ]]
	[[ $output != *-1* ]]
}

@test "ranks that the file leaves open are found while running" {
	needs_openvino
	shapes=$("$HSDAG_PYTHON" "$ROOT/tests/oracle/open_rank.py" gen open)
	for how in single "random -n 2"; do
		rm -rf open/out
		# shellcheck disable=SC2086
		ir2dag --shape "$shapes" open/model.xml | placebase $how -D cpu:0,cpu:1 |
			devrun --allow-shared --no-reference --warmup 0 -n 1 -i open/in --outputs open/out -o r.mp
		run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/open_rank.py" compare open
	done
}

@test "inputs without a shape are named, with the option" {
	needs_openvino
	run -3 --separate-stderr bash -c "ir2dag '$BATS_FILE_TMPDIR/dynamic_iterator.xml' | placebase single -D cpu:0 | devrun -o r.mp"
	[[ $stderr == *"inputs without a static shape: 'x' f32[-1,-1,5], 'h' f32[-1,1,5]; give theirs with --shape NAME=1,3,... (of ir2dag or place)"* ]]
	devrun --support -D cpu:0 "$BATS_FILE_TMPDIR/dynamic_iterator.xml" > s.txt
	grep -q '^TensorIterator-opset1 .*yes' s.txt
}

@test "--shape: usage" {
	needs_openvino
	m=$BATS_FILE_TMPDIR/dynamic_iterator.xml
	for s in "" "x=" "x=1,,2" "x=1,a" "x=1;x=2" "x[1" "1,2;x=3"; do
		run --separate-stderr ir2dag --shape "$s" "$m" -o g.mp
		[ "$s" = "x=" ] || [ "$status" = 2 ]
	done
	run -2 --separate-stderr ir2dag --shape "y=1" "$m" -o g.mp
	[[ $stderr == *"no input or variable 'y'; the inputs are 'x', 'h'"* ]]
	run -3 --separate-stderr ir2dag --shape "x=1,2,6;h=1,1,5" "$m" -o g.mp
	[[ $stderr == *"with these shapes: layer "*"MatMul"* ]]
	rm -f lone.bin
	cp "$BATS_FILE_TMPDIR/image.xml" lone.xml
	run -3 --separate-stderr ir2dag --shape 1,3,4,4 lone.xml -o g.mp
	[[ $stderr == *"--shape needs the weights file: layer "* ]]
}

@test "devices with memory of their own say so" {
	needs_openvino
	[ -n "$(devrun --list | grep '^cl:')" ] || skip "no OpenCL device"
	ir2dag --shape 3,6 "$BATS_FILE_TMPDIR/selection.xml" -o g.mp
	devrun --support -D cpu:0,cl:0.0 g.mp > s.txt
	grep -q "dynamic shape" s.txt
}
