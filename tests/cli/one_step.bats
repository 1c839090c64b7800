#!/usr/bin/env bats
# Groups of nodes that passes (lib/device/group) make one step: the same ones on cores and on OpenCL devices, with OpenVINO's values.
# programs: ir2dag devrun placebase
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cat > nets.py <<-'PY'
		import sys, numpy as np, openvino as ov
		import openvino.opset13 as op
		draw = np.random.default_rng(1).standard_normal
		const = lambda *s: op.constant((draw(s) / 3).astype(np.float32))
		def conv(x, w, pad, strides=(1, 1)):
		    make = op.group_convolution if len(w) > len(x.shape) else op.convolution
		    return make(x, const(*w), list(strides), [pad] * len(strides), [pad] * len(strides), [1] * len(strides))
		def pad(x, begin, end):
		    return op.pad(x, np.array([0, 0] + begin), np.array([0, 0] + end), "constant")
		def save(name, x, *results):
		    model = ov.Model([op.result(y) for y in results], [x], name)
		    ov.save_model(model, name + ".xml", compress_to_fp16=name == "half")
		    draws = (draw(x.shape) * 2).astype(np.float32)
		    np.save(name + ".npy", draws)
		    run = ov.Core().compile_model(name + ".xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
		    np.savez(name + ".npz", **{str(i): v for i, v in enumerate(run([draws]).values())})
		def network(name):
		    x = op.parameter([2, 6, 9, 11], np.float32, name="x")
		    a = op.relu(conv(pad(x, [1, 2], [2, 1]), (6, 6, 3, 3), 0, (2, 2)))
		    b = op.add(op.add(conv(a, (6, 6, 1, 1), 0), const(1, 6, 1, 1)), op.add(conv(a, (6, 6, 3, 3), 1), const(1, 6, 1, 1)))
		    b = op.relu(op.add(op.multiply(a, const(1, 6, 1, 1)), b))
		    c = op.sigmoid(op.add(conv(b, (6, 1, 1, 5, 5), 2), conv(b, (6, 1, 1, 3, 3), 1)))
		    save(name, x, c)
		network("full")
		network("half")
		# One channel: constants that are added are numbers.
		x = op.parameter([1, 1, 8, 8], np.float32, name="x")
		y = op.add(op.add(conv(x, (1, 1, 3, 3), 1), const(1, 1, 1, 1)), op.add(conv(x, (1, 1, 1, 1), 0), const(1, 1, 1, 1)))
		save("narrow", x, op.tanh(y))
		# Two alike but for their weights.
		x = y = op.parameter([1, 4, 6, 6], np.float32, name="x")
		for i in range(2):
		    y = op.relu(op.add(conv(y, (4, 4, 3, 3), 1), conv(y, (4, 4, 1, 1), 0)))
		save("twice", x, y)
		# Windows in three dims.
		x = op.parameter([1, 2, 5, 6, 7], np.float32, name="x")
		save("cube", x, op.relu(conv(pad(x, [1, 1, 0], [1, 0, 1]), (3, 2, 3, 3, 3), 0, (1, 1, 1))))
		# Others read what would be gone.
		x = op.parameter([1, 4, 8, 8], np.float32, name="x")
		p, w = pad(x, [1, 1], [1, 1]), conv(x, (4, 4, 1, 1), 0)
		save("shared", x, op.relu(conv(p, (4, 4, 3, 3), 0)), op.abs(p), op.abs(w), op.add(w, conv(x, (4, 4, 3, 3), 1)))
	PY
	"$HSDAG_PYTHON" nets.py
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

# steps DEVICE NET [OPTION...] - what devrun says of its steps; its outputs are OpenVINO's
steps() {
	local device=$1 net=$2
	shift 2
	ir2dag "$net.xml" | placebase single -D "$device" -o p.mp
	rm -rf in out
	mkdir in
	cp "$net.npy" in/0.npy
	HSDAG_EXPLAIN=1 devrun run -D "$device" --runs 2 --warmup 0 --no-reference -i in --outputs out -o r.mp "$@" p.mp 2>&1
	py - "$net" <<-'PY'
		want = np.load(sys.argv[1] + ".npz")
		assert len(want) > 0
		for k in want:
		    far = np.abs(np.load("out/%s.npy" % k) - want[k]).max() / np.abs(want[k]).max()
		    assert far < 1e-5, (sys.argv[1], k, far)
	PY
}

# count TEXT - in $output
count() {
	grep -cF -- "$1" <<< "$output" || true
}

folded="Pad folded into the convolution; "
merged="convolutions that are added up, as one; "

# every DEVICE - all of it, there
every() {
	local net
	for net in full half; do
		run -0 steps "$1" "$net"
		[ "$(count explain:)/$(count "$folded")/$(count "$merged")" = 3/1/2 ]
		[[ $output == *"(GroupConvolution) + GroupConvolution, Add, Sigmoid: $merged"* ]]
	done
	run -0 steps "$1" full --fuse none
	[ "$(count "$folded")$(count "$merged")" = 00 ]
	run -0 steps "$1" narrow
	[ "$(count "$merged")" = 1 ]
	run -0 steps "$1" twice
	[ "$(count "$merged")" = 2 ]
	run -0 steps "$1" cube
	[[ $output == *"(Pad) + Convolution, ReLU: $folded"* ]]
	run -0 steps "$1" shared
	[ "$(count "$folded")$(count "$merged")" = 00 ]
}

@test "Pads and branches that add up are one step on cores" {
	every cpu:0
}

@test "Pads and branches that add up are one step on OpenCL devices, of either shape" {
	needs_pocl
	every cl:0.0
	HSDAG_CL_SHAPE=gpu every cl:0.0
	run -0 steps cl:0.0 full
	[[ $output == *"(Pad) + Convolution, ReLU: ${folded}kernels "* ]]
	[[ $output == *"(Multiply) + Convolution, Add, Convolution, Add, Add, Add, ReLU: ${merged}kernels "* ]]
}
