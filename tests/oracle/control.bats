#!/usr/bin/env bats
# Operators with bodies and variables: TensorIterator, Loop, If, ReadValue, Assign.
# seconds: 20
bats_require_minimum_version 1.5.0
load ../support/common.bash
load dynop.bash

setup_file() { dynop_setup_file; }
setup() { dynop_setup; }

@test "TensorIterator: slices along an axis, forwards and backwards, in parts" {
	agrees forward reverse parts reverse_parts outermost
}
@test "Loop: a trip count, a condition, both, neither known before" {
	agrees loop loop_until loop_endless loop_input loop_sliced
}
@test "Loop without iterations: with a false condition its outputs are empty, as the file says; without trips initial" {
	needs_openvino
	local m                        # OpenVINO's plugin does not compile them
	for m in loop_never loop_zero; do
		ir2dag "$BATS_FILE_TMPDIR/$m.xml" | placebase single -D cpu:0 |
			devrun -n 1 --warmup 0 --save-inputs in.$m --outputs out.$m -o r.mp
		[ "$(recdump -k run --tsv ok r.mp)" = true ]
	done
	[ "$(cut -f 3 out.loop_never/index.tsv)" = $'f32[0,4]\nf32[0]' ]
	cmp in.loop_zero/0.npy out.loop_zero/0.npy
}
@test "If: both branches, also when they make other shapes" {
	agrees if//1/1 if_shapes//1/1 if//1/2 if_shapes//1/2 if//1/3 if_shapes//1/3
}
@test "If: a condition has one element, in any shape; of several or none it is refused" {
	agrees if_many/c=1/1/1 if_many/c=1/1/2
	ir2dag --shape c=2 "$BATS_FILE_TMPDIR/if_many.xml" | placebase single -D cpu:0 -o p.mp
	refuses "its condition has 2 elements; it must have one"
	ir2dag --shape c=0 "$BATS_FILE_TMPDIR/if_many.xml" | placebase single -D cpu:0 -o p.mp
	refuses "its condition has 0 elements; it must have one"
}
@test "If in TensorIterator in Loop" { agrees nested; }

@test "variables begin anew with every inference, or are kept" {
	agrees state state//3 state3 state3//3 state_grows//3
}

@test "variables keep their values within a placement only" {
	needs_openvino
	ir2dag "$BATS_FILE_TMPDIR/state.xml" | placebase single -D cpu:0 -o p.mp
	devrun -n 1 --warmup 0 --keep-state --save-inputs in --outputs once -o r.mp p.mp
	devrun -n 4 --warmup 2 --outputs again -i in -o r.mp p.mp
	devrun -n 4 --warmup 2 --keep-state --outputs kept -i in -o r.mp p.mp
	cmp once/0.npy again/0.npy
	run -1 cmp -s once/0.npy kept/0.npy
}

@test "a variable that changes its shape asks for an open one" {
	needs_openvino
	ir2dag "$BATS_FILE_TMPDIR/state_grows.xml" --shape 'x=1,3;v=0,3' | placebase single -D cpu:0 -o p.mp
	devrun -n 1 --warmup 0 -o r.mp p.mp
	devrun -n 3 --keep-state --no-reference -o r.mp p.mp
	recdump r.mp > r.txt
	grep "a variable that changes its shape needs a graph that leaves it open" r.txt
}

@test "a variable takes a given shape, filled with zeros" {
	needs_openvino
	ir2dag "$BATS_FILE_TMPDIR/state_grows.xml" --shape 'v*=5,3' | placebase single -D cpu:0 |
		devrun -n 1 --warmup 0 --outputs out -o r.mp
	run -0 cut -f 3 out/index.tsv
	[ "$output" = $'f32[6,3]\nf32[5,3]' ]
}

@test "real files with a TensorIterator and with variables run" {
	for m in tensor_iterator lstm_stateful; do
		cp "$ROOT/tests/models/$m.xml" .
		irfill $m.xml -o $m.bin
		ir2dag $m.xml | placebase single -D cpu:0 | devrun -n 1 --warmup 0 --outputs out -o r.mp
		[ "$(recdump -k run --tsv ok r.mp)" = true ]
	done
}

# edit NAME SED... - a copy of a model with its text changed, ready to place, as p.mp
edit() {
	sed "${@:2}" "$BATS_FILE_TMPDIR/$1.xml" > bad.xml
	cp "$BATS_FILE_TMPDIR/$1.bin" bad.bin
	ir2dag bad.xml | placebase single -D cpu:0 -o p.mp
}

# refuses TEXT - p.mp cannot run: a run record (status 0) or a message (status 1: no device is left) says why
refuses() {
	local status=0
	rm -f r.mp
	timeout 60 devrun -n 1 --warmup 0 -o r.mp p.mp 2> err.txt || status=$?
	case $status in
	0) recdump -k run --tsv ok,reason r.mp | grep ^false > err.txt ;;
	1) [ ! -e r.mp ] ;;
	*) cat err.txt; return "$status" ;;
	esac
	grep -F -- "$1" err.txt
}

@test "port maps that make no sense are refused with the layer" {
	needs_openvino
	edit forward 's/stride="1"/stride="0"/'
	refuses "a stride of 0"
	edit forward 's/axis="1"/axis="7"/'
	refuses "axis 7 of a tensor of rank 3"
	edit forward 's/part_size="1"/part_size="4"/'
	refuses "does not divide a dim of 6"
	edit forward 's/start="0"/start="-9"/'
	refuses "does not divide a dim of 6"
	edit forward '/<input external_port_id="1"/d'
	refuses "no input goes to Parameter"
	edit forward '/<output external_port_id="3"/d'
	refuses "comes from no Result"
}

@test "a loop that never ends, or needs more memory than there is, is refused" {
	needs_openvino
	"$HSDAG_PYTHON" - "$BATS_FILE_TMPDIR" <<-'PY'
		import re, sys, numpy as np
		d = sys.argv[1]
		for name, trip in (("never", -1), ("huge", 1 << 40)):
		    raw = bytearray(open(f"{d}/loop.bin", "rb").read())
		    at = raw.find(np.int64(5).tobytes())
		    raw[at:at + 8] = np.int64(trip).tobytes()
		    open(f"{d}/{name}.bin", "wb").write(raw)
		    text = re.sub(r"<dim>5</dim>", "<dim>-1</dim>", open(f"{d}/loop.xml").read())
		    open(f"{d}/{name}.xml", "w").write(text)
	PY
	edit never ''
	refuses "it never ends"
	edit huge ''
	refuses "bytes of memory needed; the machine has"
}

# ends NAME OPTION TEXT - the run of a model ends by itself, and TEXT says why
ends() {
	needs_openvino
	ir2dag "$BATS_FILE_TMPDIR/$1.xml" | placebase single -D cpu:0 -o p.mp
	run -1 --separate-stderr timeout 100 devrun -n 1 $2 -o r.mp p.mp
	[[ $stderr == *"$3"* ]]
}

@test "--timeout ends loops that do not" {
	for m in forever forever_inside; do
		ends $m "--timeout 0.3" "an inference has not ended after 0.3 s; --timeout allows more"
	done
}

@test "a loop whose output outgrows the memory ends" {
	no_sanitizer
	ulimit -v 3000000
	ends forever_more "" "bytes of memory needed; the machine has"
	[[ $stderr == *"device 'cpu:0': layer "*"(Loop): output 0: "* ]]
}
