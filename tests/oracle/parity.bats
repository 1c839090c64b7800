#!/usr/bin/env bats
# What devrun computes against OpenVINO's CPU plugin in f32 (parity.py): every model on a mixture
# of a core and a unit of PoCL, and some on each device alone, on all cores, and on two cores.
# seconds: 60
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	needs_openvino
}

# parity MODEL DEVICES[@SEED]...
parity() {
	local model=$1 cases=()
	shift
	cd "$BATS_FILE_TMPDIR" || return 1
	sh "$ROOT/tests/support/models.sh" "$model" .
	for d; do
		case $d in
		*cl:*) has_pocl || continue ;;
		*cpu:1*) [ "$(nproc)" -ge 2 ] || continue ;;
		esac
		cases+=("$model@$d")
	done
	timeout 300 "$HSDAG_PYTHON" "$ROOT/tests/oracle/parity.py" --bin "$B/bin" --dir . --work work "${cases[@]}"
	rm -rf "$model.bin" work
}

@test "resnet50" { parity resnet50 cpu:0,cl:0.0:1-1@1; }
@test "inception_v3" { parity inception_v3 cpu:0,cl:0.0:1-1@3; }
@test "googlenet" { parity googlenet cpu:0,cl:0.0:1-1@4 cl:0.0 cpu:0,cpu:1@2; }
@test "mobilenet_v3_large" { parity mobilenet_v3_large cpu:0,cl:0.0:1-1@5 cl:0.0 cpu:0; }
@test "bert_base" { parity bert_base cpu:0,cl:0.0:1-1@6 cpu; }
@test "rnnlm" { parity rnnlm cpu:0,cl:0.0:1-1@8 cpu:0,cpu:1@9; }
@test "nmt2" { parity nmt2 cpu:0,cl:0.0:1-1@10 cpu:0,cpu:1@11 cl:0.0; }
