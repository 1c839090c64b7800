#!/usr/bin/env bats
# HSDAG_EXPLAIN: what each step is, and why its tensors lie as they do.
# programs: ir2dag devrun placebase
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	"$HSDAG_PYTHON" - <<-'PY'
		import numpy as np, openvino as ov
		import openvino.opset13 as op
		draw = np.random.default_rng(1).standard_normal
		weights = lambda *s: op.constant(draw(s).astype(np.float32))
		x = op.parameter([1, 16, 20, 20], np.float32, name="x")
		narrow = op.relu(op.convolution(x, weights(32, 16, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1], name="first"))
		deep = op.group_convolution(narrow, weights(32, 1, 1, 5, 5), [1, 1], [2, 2], [2, 2], [1, 1], name="deep")
		padded = op.pad(deep, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), "constant")
		last = op.convolution(padded, weights(8, 32, 3, 3), [1, 1], [0, 0], [0, 0], [1, 1], name="last")
		flat = op.reshape(last, np.array([8, 400]), False, name="flat")
		ov.save_model(ov.Model([op.result(flat)], [x], "m"), "m.xml", compress_to_fp16=False)
	PY
	ir2dag m.xml | placebase single -D cpu:0 -o p.mp
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

# explained [NAME=VALUE...] - what devrun says of m.xml's steps
explained() {
	env "$@" HSDAG_EXPLAIN=1 "$B/bin/devrun" run -D cpu:0 --runs 1 --warmup 0 --no-reference p.mp 2>&1 > /dev/null
}

@test "explain: every step says what it is and why its output lies so" {
	run -0 explained
	[[ $output == *"'first' (Convolution) + ReLU: convolution in NHWC, f32, "*"output 0 NHWC where it stays on the device"* ]]
	[[ $output == *"'deep' (GroupConvolution): convolution in NHWC, f32, depthwise rows; "* ]]
	[[ $output == *"(Pad) + Convolution: Pad folded into the convolution; convolution in NHWC, f32, "*"; output 0 plain: layer "*" 'flat' (Reshape) reads it so"* ]]
}

@test "explain: where NHWC is off, steps are plain kernels" {
	run -0 explained HSDAG_PIXELS=0
	[[ $output == *"'deep' (GroupConvolution): plain kernels"* ]]
	[[ $output != *NHWC* ]]
}

@test "explain: nothing is said unless it is asked for" {
	run -0 env HSDAG_EXPLAIN= "$B/bin/devrun" run -D cpu:0 --runs 1 --warmup 0 --no-reference -o /dev/null p.mp
	[ -z "$output" ]
}
