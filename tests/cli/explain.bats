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
		last = op.convolution(padded, weights(32, 32, 3, 3), [1, 1], [0, 0], [0, 0], [1, 1], name="last")
		flat = op.reshape(last, np.array([32, 400]), False, name="flat")
		ov.save_model(ov.Model([op.result(flat)], [x], "m"), "m.xml", compress_to_fp16=False)
		thin = op.parameter([1, 4, 40, 30], np.float32, name="x")
		y = thin
		for i in range(3):
		    y = op.relu(op.group_convolution(y, weights(4, 1, 1, 7, 7), [1, 1], [3, 3], [3, 3], [1, 1], name="thin%d" % i))
		ov.save_model(ov.Model([op.result(y)], [thin], "thin"), "thin.xml", compress_to_fp16=False)
	PY
	ir2dag m.xml | placebase single -D cpu:0 -o p.mp
	ir2dag thin.xml | placebase single -D cpu:0 -o thin.mp
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

# explained FILE [NAME=VALUE...] - what devrun says of the steps of FILE
explained() {
	local file=$1
	shift
	env "$@" HSDAG_EXPLAIN=1 "$B/bin/devrun" run -D cpu:0 --runs 1 --warmup 0 --no-reference "$file" 2>&1 > /dev/null
}

@test "explain: every step says what it is and why its output lies so" {
	run -0 explained p.mp
	[[ $output == *"'first' (Convolution) + ReLU: convolution in NHWC, f32, "*"output 0 NHWC where it stays on the device: all that reads it likes it so, and its part of the graph is modelled to cost 0."* ]]
	[[ $output == *"'deep' (GroupConvolution): convolution in NHWC, f32, depthwise rows; "* ]]
	[[ $output == *"(Pad) + Convolution: Pad folded into the convolution; convolution in NHWC, f32, "*"; output 0 plain: layer "*" 'flat' (Reshape) reads it so"* ]]
}

@test "explain: where NHWC is off, steps are plain kernels" {
	run -0 explained p.mp HSDAG_PIXELS=0
	[[ $output == *"'deep' (GroupConvolution): plain kernels"* ]]
	[[ $output != *NHWC* ]]
}

@test "explain: nothing is said unless it is asked for" {
	run -0 env HSDAG_EXPLAIN= "$B/bin/devrun" run -D cpu:0 --runs 1 --warmup 0 --no-reference -o /dev/null p.mp
	[ -z "$output" ]
}

@test "explain: convolutions of fewer channels than a vector has are plain, as NHWC is modelled to cost more" {
	run -0 explained thin.mp
	[[ $output == *"'thin0' (GroupConvolution) + ReLU: plain kernels"*"; output 0 plain: NHWC is modelled to cost its part of the graph 3.36 times as much"* ]]
	[[ $output != *"convolution in NHWC"* ]]
	run -0 explained thin.mp HSDAG_PIXELS=1
	[[ $output == *"'thin0' (GroupConvolution) + ReLU: convolution in NHWC"* ]]
}

# save NAME - what a python program on standard input makes of x, as NAME.xml, placed on cpu:0 of all precisions
save() {
	"$HSDAG_PYTHON" - "$1" <<-PY
		import sys, numpy as np, openvino as ov
		import openvino.opset13 as op
		f = lambda v: op.constant(np.float32(v))
		i64 = lambda *v: op.constant(np.array(v, np.int64))
		quantised = lambda v, top=2: op.fake_quantize(v, f(-top), f(top * 127 / 128), f(-top), f(top * 127 / 128), 256)
		draw = np.random.default_rng(1).integers
		weights = lambda *s: op.multiply(op.convert(op.constant(draw(-127, 128, s).astype(np.int8)), "f32"), f(0.01))
		conv = lambda v, o, i, k: op.convolution(v, weights(o, i, k, k), [1, 1], [k // 2] * 2, [k // 2] * 2, [1, 1])
		$(cat)
		ov.save_model(ov.Model([op.result(y)], [x], "m"), sys.argv[1] + ".xml", compress_to_fp16=False)
	PY
}

# steps_of NAME DEVICE - what devrun says of its steps there
steps_of() {
	ir2dag "$1.xml" | placebase single -D "$2" |
		HSDAG_EXPLAIN=1 "$B/bin/devrun" run -D "$2" --runs 1 --warmup 0 --no-reference -o /dev/null 2>&1
}

@test "explain: RMS normalisation in nodes is one step, whatever lies before it" {
	save rms <<-'PY'
		x = y = op.parameter([1, 20, 64], np.float32)
		for _ in range(3):
		    v = op.add(op.reduce_mean(op.power(y, f(2)), i64(-1), True), f(1e-5))
		    v = op.multiply(op.multiply(y, op.divide(f(1), op.sqrt(v))), op.constant(np.ones(64, np.float32)))
		    y = op.add(y, op.matmul(v, op.constant(np.ones([64, 64], np.float32)), False, False))
	PY
	run -0 steps_of rms cpu:0
	[ "$(grep -c "(Power) + ReduceMean, Add, Sqrt, Divide, Multiply, Multiply: RMS normalisation" <<< "$output")" -eq 3 ]
}

@test "explain: blocks of pixels stay in NHWC, and in int8 codes" {
	save blocks <<-'PY'
		x = op.parameter([1, 16, 8, 8], np.float32)
		y = op.depth_to_space(quantised(conv(quantised(x), 64, 16, 3)), "depth_first", 2)
		y = op.space_to_depth(quantised(conv(y, 16, 16, 3)), "blocks_first", 2)
		y = op.tile(quantised(conv(y, 32, 64, 3)), i64(1, 1, 1, 2))
		y = conv(y, 16, 32, 1)
	PY
	run -0 steps_of blocks cpu:0
	[ "$(grep -c ": blocks of pixels in NHWC, or, as its tensors lie, plain kernels; output 0 NHWC" <<< "$output")" -eq 2 ]
	run -0 steps_of blocks cpu:0/precision=int8
	[ "$(grep -c ": convolution in NHWC, int8" <<< "$output")" -eq 4 ]
}

@test "explain: rows of images are cut and joined in NHWC, and in int8 as codes" {
	save rows <<-'PY'
		x = op.parameter([1, 16, 12, 8], np.float32)
		cut = lambda v, a, b, axis: op.slice(v, i64(a), i64(b), i64(1), i64(axis))
		y = quantised(conv(quantised(x), 24, 16, 3))
		for axis, n in (2, 12), (3, 8):
		    parts = [cut(y, 0, n // 2 + 1, axis), cut(y, n // 2 - 1, n, axis)]
		    parts = [quantised(conv(p, 24, 24, 3)) for p in parts]
		    parts = [cut(parts[0], 0, n // 2, axis), cut(parts[1], 1, n // 2 + 1, axis)]
		    y = op.concat(parts, axis - 4)
		y = op.concat(list(op.variadic_split(y, i64(2), i64(5, 7)).outputs())[::-1], 2)
		y = conv(y, 16, 24, 1)
	PY
	for device in cpu:0 cpu:0/precision=bf16 cpu:0/precision=int8; do
		run -0 steps_of rows $device
		[ "$(grep -cE "(Slice|Concat|VariadicSplit)\): rows of pixels in NHWC, or, as its tensors lie, plain kernels; output 0 NHWC" <<< "$output")" -eq 12 ]
	done
	[ "$(grep -c ": convolution in NHWC, int8" <<< "$output")" -eq 6 ]
}

@test "explain: rows of tokens and of heads stay as they are" {
	save tokens <<-'PY'
		x = op.parameter([1, 20, 64], np.float32)
		half = lambda v, a, b: op.slice(v, i64(a), i64(b), i64(1), i64(3))
		heads = lambda: op.transpose(op.reshape(op.matmul(x, op.constant(np.ones([64, 64], np.float32)), False, False), i64(1, 20, 4, 16), False), i64(0, 2, 1, 3))
		turned = lambda v: op.add(op.multiply(v, f(.5)), op.multiply(op.concat([op.multiply(half(v, 8, 16), f(-1)), half(v, 0, 8)], 3), f(.5)))
		y = op.matmul(turned(heads()), turned(heads()), False, True)
	PY
	run -0 steps_of tokens cpu:0/precision=bf16
	[[ $output != *"rows of pixels"* ]]
}
