#!/usr/bin/env bats
# ops: every operator kernel of the CPU and the OpenCL device against OpenVINO, one model per family of
# generated cases (parity_op.py), through ir2dag and devrun.
# seconds: 60
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	has_openvino || return 0
	"$HSDAG_PYTHON" "$ROOT/tests/oracle/parity_op.py" gen "$BATS_FILE_TMPDIR"
}

# families NAME... - run each family's model once, on DEVICES or cpu:0, and compare their results, all in one Python:
# numpy takes longer to load than the results of a family to compare
families() {
	needs_openvino
	local dir f devices=${DEVICES:-cpu:0}
	for f; do
		dir=$BATS_FILE_TMPDIR/$f
		"$B/bin/ir2dag" "$dir/model.xml" |
			"$B/bin/placebase" single -D "$devices" |
			"$B/bin/devrun" -D "$devices" --runs 1 --warmup 0 --no-reference --inputs "$dir/in" --outputs "$dir/out" \
				-o "$dir/run.mp"
	done
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/parity_op.py" compare "$BATS_FILE_TMPDIR" "$@"
}

@test "element-wise, one input" { families unary; }
@test "element-wise, two inputs, broadcasting" { families binary; }
@test "comparisons, logic, Select" { families compare; }
@test "FakeQuantize and conversions" { families quantize; }
@test "reductions" { families reduce; }
@test "matrix products, attention, products in groups" { families matmul grouped; }
@test "convolutions" { families convolution; }
@test "transposed convolutions" { families deconvolution; }
@test "pooling" { families pooling; }
@test "normalisations" { families norm; }
@test "movement of elements, slices, padding" { families move; }
@test "gather and scatter" { families indexed; }
@test "Interpolate" { families resize; }
@test "recurrent cells and sequences" { families recurrent; }

@test "NonMaxSuppression, MatrixNms, MulticlassNms" { families suppression rotated; }
@test "PriorBox, DetectionOutput" { families priors detection; }
@test "regions of interest, RegionYolo, ReorgYolo" { families regions yolo; }
@test "GridSample, Einsum" { families sample einsums einsum_types; }
@test "searches, bags of embeddings, CTC" { families search embedding ctc; }
@test "Fourier transforms, random numbers" { families fourier random; }
@test "patches, deformable convolution, adaptive maxima, inverses" { families patches walks; }
@test "proposals of regions" { families proposals detectron; }

@test "grids: windows, paddings, roundings" { families windows; }
@test "grids: broadcasting, axes, normalisations" { families broadcasts reductions norms; }
@test "grids: integers, 64 bits, conversions" { families integers rounded folded wide double conversions; }
@test "grids: slices, indices" { families slices indices; }
@test "grids: what hardly any model has" { families rarities; }
@test "element types that kernels do not compute in, types of few bits" { families adapted few_bits to_few_bits; }
@test "grids: sizes from which on kernels go other ways" { families sizes; DEVICES=cpu families sizes; }

@test "all cores compute the same results" {
	DEVICES=cpu families convolution matmul norm
}

@test "the kernels for other processors agree too" {
	for level in 1 3; do
		HSDAG_CPU_LEVEL=$level families unary matmul convolution pooling
	done
}

@test "pictures wider than a vector: by all kernels alike, within one of BT.601" {
	mkdir -p "$BATS_FILE_TMPDIR/picture" && cd "$BATS_FILE_TMPDIR/picture" || return 1
	py - <<-'PY'
		from tiny_ir import Model
		for name in ("NV12toRGB", "I420toBGR"):
		    m = Model(name)
		    x = m.layer("Parameter", "x", "u8", (1, 60, 74, 1))
		    m.result(m.layer(name, "picture", "u8", (1, 40, 74, 3), x, opset="opset8"))
		    m.save()
		np.save("0.npy", np.random.default_rng(2).integers(0, 256, (1, 60, 74, 1), dtype=np.uint8))
	PY
	mkdir -p in && mv 0.npy in/
	for name in NV12toRGB I420toBGR; do
		for level in 1 4; do
			ir2dag $name.xml | placebase single -D cpu:0 |
				HSDAG_CPU_LEVEL=$level devrun --no-reference --runs 1 --inputs in --outputs $name.$level -o run.mp
		done
		cmp $name.1/0.npy $name.4/0.npy
	done
	py - <<-'PY'
		data = np.load("in/0.npy").astype(np.float64).ravel()
		y, chroma = data[:40 * 74].reshape(40, 74), data[40 * 74:]
		for name in ("NV12toRGB", "I420toBGR"):
		    u, v = chroma.reshape(20, 37, 2).transpose(2, 0, 1) if name[0] == "N" else chroma.reshape(2, 20, 37)
		    u, v = (np.kron(c - 128, np.ones((2, 2))) for c in (u, v))
		    c = 1.164 * (y - 16)
		    rgb = np.stack([c + 1.596 * v, c - 0.391 * u - 0.813 * v, c + 2.018 * u], -1).clip(0, 255)
		    off = np.abs(np.load(name + ".4/0.npy")[0].astype(np.float64) - (rgb if name[0] == "N" else rgb[..., ::-1]))
		    assert off.max() <= 0.51, (name, off.max())
	PY
}

# opencl NAME... - families on an OpenCL device, what it cannot run on the CPU
opencl() {
	local f dir
	needs_pocl
	two_cores
	needs_openvino
	for f; do
		dir=$BATS_FILE_TMPDIR/$f
		"$B/bin/ir2dag" "$dir/model.xml" | "$B/bin/devrun" --probe -D cpu:0,cl:0.0:1 |
			"$B/bin/placebase" single:cl:0.0:1 > "$dir/any.mp"
		"$HSDAG_PYTHON" "$ROOT/tests/oracle/place_where.py" "$dir/any.mp" "$dir/cl.mp"
		"$B/bin/devrun" --runs 1 --warmup 0 --no-reference --inputs "$dir/in" --outputs "$dir/out" \
			-o "$dir/run.mp" "$dir/cl.mp"
	done
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/parity_op.py" compare "$BATS_FILE_TMPDIR" "$@"
}

@test "OpenCL: element-wise, comparisons, FakeQuantize, conversions" { opencl unary binary compare quantize; }
@test "OpenCL: products and convolutions" { opencl matmul convolution deconvolution pooling; }
@test "OpenCL: reductions, normalisations, recurrent cells" { opencl reduce norm recurrent; }
@test "OpenCL: movement, gather and scatter, Interpolate" { opencl move indexed resize; }
@test "OpenCL: what it does not have runs on the CPU" { opencl patches rarities; }
@test "OpenCL: the kernels for GPUs agree too" {
	# PoCL takes a minute to optimise these for a processor, which they are not made for.
	HSDAG_CL_SHAPE=gpu HSDAG_CL_PINNED=1 POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable opencl matmul convolution pooling norm recurrent
}

@test "the comparison notices a wrong result" {
	needs_openvino
	cp -r "$BATS_FILE_TMPDIR/reduce" "$BATS_TEST_TMPDIR/reduce"
	"$HSDAG_PYTHON" - "$BATS_TEST_TMPDIR/reduce/out/3.npy" <<-'PY'
		import sys, numpy as np
		a = np.load(sys.argv[1])
		a.ravel()[0] *= 1.001
		np.save(sys.argv[1], a)
	PY
	run -1 "$HSDAG_PYTHON" "$ROOT/tests/oracle/parity_op.py" compare "$BATS_TEST_TMPDIR" reduce
}
