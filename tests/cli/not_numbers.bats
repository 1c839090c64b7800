#!/usr/bin/env bats
# What is not a number stays so: activations that are fused with convolutions and products, and the same unfused.
# programs: devrun
# seconds: 10
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	py - <<< 'import nan_nets; nan_nets.write()'
	local n
	for n in heads acts fused; do ir2dag $n.xml -o $n.mp || return 1; done
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# outputs DEVICE MODEL INPUTS DIRECTORY
outputs() {
	placebase single -D "$1" "$2.mp" | devrun --no-reference --runs 1 --warmup 0 -i "$3" --outputs "$4" -o run.mp -
}

# agrees DEVICE TOLERANCE - fused, and one after another
agrees() {
	rm -rf heads acts fused between && mkdir between
	outputs "$1" heads in heads
	mv heads/*.npy between/
	outputs "$1" acts between acts
	outputs "$1" fused in fused
	py - "$2" <<-'PY'
		import nan_nets
		bad = nan_nets.not_numbers("acts", "fused", float(sys.argv[1]))
		print("\n".join(bad))
		sys.exit(bool(bad))
	PY
}

@test "in planes" { HSDAG_PIXELS=0 agrees cpu:0 1e-5; }
@test "in pixels" { HSDAG_PIXELS=1 agrees cpu:0 1e-5; }
@test "on all cores, as it is chosen" { agrees cpu 1e-5; }
@test "in bf16" {
	devrun probe -D cpu:0/precision=bf16 -o probed.mp heads.mp || skip "built without oneDNN"
	HSDAG_BF16_PRODUCTS=1 HSDAG_PIXELS=1 agrees cpu:0/precision=bf16 3e-2
}
@test "on int8 devices, where nothing is quantised" {
	devrun probe -D cpu:0/precision=int8 -o probed.mp heads.mp || skip "built without oneDNN"
	HSDAG_PIXELS=1 agrees cpu:0/precision=int8 1e-5
}
@test "by kernels for other processors" {
	local level
	for level in 1 3; do
		HSDAG_CPU_LEVEL=$level HSDAG_PIXELS=0 agrees cpu:0 1e-5
		HSDAG_CPU_LEVEL=$level HSDAG_PIXELS=1 agrees cpu:0 1e-5
	done
}
