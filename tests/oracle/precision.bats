#!/usr/bin/env bats
# How far bf16 and int8 are from f32, with OpenVINO's own distance at the same precision as the yardstick.
# programs: devrun
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export HSDAG_OPENVINO
	HSDAG_OPENVINO=$("$HSDAG_PYTHON" -c 'import openvino, os; print(os.path.dirname(openvino.__file__))')
	models googlenet
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# outputs DEVICE DIRECTORY MODEL
outputs() {
	placebase single -D "$1" "$3.mp" | devrun --no-reference --runs 1 --outputs "$2" -o "$2.mp" -
}

needs_onednn() {
	devrun probe -D cpu:0/precision=bf16 -o probed.mp googlenet.mp 2> said || {
		grep -q 'without oneDNN' said
		skip "built without oneDNN"
	}
}

# no_farther FACTOR EXACT OURS THEIRS
no_farther() {
	py '
		exact, ours, theirs = (np.load(d + "/0.npy").astype(np.float64).ravel() for d in sys.argv[2:])
		off = [float(np.linalg.norm(x - exact) / np.linalg.norm(exact)) for x in (ours, theirs)]
		assert off[0] <= float(sys.argv[1]) * off[1] + 1e-6 and off[1] < 0.3, off
	' "$@"
}

@test "bf16 is no farther from f32 than OpenVINO's bf16" {
	needs_onednn
	outputs cpu:0 f32 googlenet
	HSDAG_BF16_PRODUCTS=1 outputs cpu:0/precision=bf16 ours googlenet
	outputs ov:CPU:0/precision=bf16 theirs googlenet
	no_farther 1.2 f32 ours theirs
	outputs cpu:0/precision=bf16 as_is googlenet
	no_farther 1.2 f32 as_is theirs
}

@test "int8 is no farther from FakeQuantize in f32 than OpenVINO's int8" {
	needs_onednn
	"$HSDAG_PYTHON" "$ROOT/tests/bench/quantize.py" googlenet.xml quantized.xml
	ir2dag quantized.xml -o quantized.mp
	outputs cpu:0 as_written quantized
	outputs cpu:0/precision=int8 codes quantized
	outputs ov:CPU:0 their_codes quantized
	no_farther 1.2 as_written codes their_codes
	py 'assert (np.load("as_written/0.npy") != np.load("codes/0.npy")).any()'
}
