#!/usr/bin/env bats
# hsdag-apply: placements in OpenVINO's HETERO or in segments, with outputs as on one device; transformers whose shapes
# are open, with given shapes and without.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	needs_openvino
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# pieces MODEL [IR2DAG-OPTION...] - MODEL.placed with the sets in five pieces on cpu:0 and cpu:1 in turn.
pieces() {
	local m=$1
	shift
	mkdir -p open
	sh "$ROOT/tests/support/models.sh" "$m" . || return 1
	mkdir -p "$m.placed"
	ir2dag "$@" "$m.xml" | placebase random -D cpu:0,cpu:1 -o drawn.mp
	py - "$m.placed/final.mp" <<-'PY'
		records = read("drawn.mp")
		place = first(records, "place")
		n = len(array(place["device"]))
		place["device"] = tensor(np.array([i * 5 // n % 2 for i in range(n)], np.uint16))
		write(sys.argv[1], records)
	PY
	placeout --format affinity -o "$m.placed/placement.json" "$m.placed/final.mp"
}

# applied MODEL [OPTION...] - hsdag-apply takes MODEL.placed.
applied() {
	local m=$1
	shift
	run -0 "$HSDAG_PYTHON" "$ROOT/pipelines/apply" --seconds 0.02 "$@" "$m.xml" "$m.placed"
	echo "$output"
	[[ $output == *"one device (CPU"* && $output == *" of the outputs' scale"* ]]
}

@test "HETERO takes placements of convolution and recurrent networks" {
	local m
	for m in googlenet mobilenet_v3_large mobilenet_v2_tf rnnlm; do
		pieces $m
		applied $m
		[[ $output == *"HETERO: "*" ms, "*" submodels, "*" segments in the placement"* ]]
	done
}

@test "transformers with open shapes: with shapes that are given, which are folded" {
	local m
	for m in open/tiny_bert open/tiny_gpt2 open/tiny_llama; do
		pieces $m --shape 'input_ids=1,8;attention_mask=1,8'
		applied $m --save
		[[ $output == *"HETERO: "*" submodels, "* ]]
		[ -s $m.placed/folded.xml ]
		[ -s $m.placed/folded.bin ]
		py 'd = json.load(open(sys.argv[1])); assert set(d.values()) == {"CPU"}, d' $m.placed/folded.json
	done
}

@test "transformers with open shapes that stay open" {
	local m
	for m in open/tiny_bert open/tiny_gpt2 open/tiny_llama; do
		pieces $m
		applied $m
	done
}

@test "what HETERO refuses, or computes otherwise, runs in segments" {
	pieces rnnlm
	cat > sitecustomize.py <<-'PY'
		import openvino
		compile_model = openvino.Core.compile_model
		def refuse(self, model, device=None, *more):
		    if str(device).startswith("HETERO"):
		        raise RuntimeError("Exception from x.cpp:1:\nHETERO is not here")
		    return compile_model(self, model, device, *more)
		openvino.Core.compile_model = refuse
	PY
	PYTHONPATH=$PWD:$PYTHONPATH applied rnnlm
	[[ $output == *"HETERO: OpenVINO refuses: HETERO is not here"*"segments: "*" ms, "* ]]
	rm sitecustomize.py
}

@test "another tolerance, other devices, and what is wrong" {
	pieces rnnlm
	run -1 "$HSDAG_PYTHON" "$ROOT/pipelines/apply" --seconds 0 --tolerance -1 rnnlm.xml rnnlm.placed
	[[ $output == *"HETERO: other outputs than one device"*"segments: other outputs"* ]]
	applied rnnlm --map cpu:0=CPU,cpu:1=CPU --precision default
	[[ $output == *"devices: cpu:0 on CPU, cpu:1 on CPU"$'\n'* ]]
	run -2 "$HSDAG_PYTHON" "$ROOT/pipelines/apply" rnnlm.xml
	run -2 "$HSDAG_PYTHON" "$ROOT/pipelines/apply" --precision f64 rnnlm.xml rnnlm.placed
	run -3 "$HSDAG_PYTHON" "$ROOT/pipelines/apply" rnnlm.xml nowhere
	[ "$output" = "apply: error: there is no 'nowhere/placement.json'; nowhere is to be a directory that place wrote" ]
	sh "$ROOT/tests/support/models.sh" small_scalar .
	run -3 "$HSDAG_PYTHON" "$ROOT/pipelines/apply" small_scalar.xml rnnlm.placed
	[[ $output == *"names no operation of 'small_scalar.xml'"* ]]
	run -0 "$HSDAG_PYTHON" "$ROOT/pipelines/apply" --help
}

# states MODEL SEED [IR2DAG-OPTION...] - MODEL.placed with a random placement on cpu:0 and cpu:1.
states() {
	local m=$1 seed=$2
	shift 2
	mkdir -p $m.placed
	ir2dag "$@" $m.xml | placebase random --seed "$seed" -D cpu:0,cpu:1 -o $m.placed/final.mp
	placeout --format affinity -o $m.placed/placement.json $m.placed/final.mp
}

@test "variables: outputs of three inferences in a row, with 1, 2 and 4 rows, by HETERO where it can and by segments" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	local m rows
	for m in loop branches decoder; do
		states $m 2
		applied $m --segments
		[[ $output == *"variables: "*" of fixed shapes; 3 inferences in a row are compared"* && $output == *"segments: "*" ms, "* ]]
	done
	[[ $output == *"HETERO: "* ]]
	for rows in 1 2 4; do
		states grows 2 --shape "x=$rows,3,16;beam_idx=$rows"
		applied grows --segments
		[[ $output == *"variables: 2, which grow; 3 inferences in a row are compared"* && $output == *"segments: "*" ms, "* ]]
	done
}

@test "variables: what a model with open shapes lacks is told in one line" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	states grows 2 --shape "x=2,3,16;beam_idx=2"
	run --separate-stderr "$HSDAG_PYTHON" "$ROOT/pipelines/apply" --shape 'x=2,3,16;beam=2' grows.xml grows.placed
	[ "$status" -eq 3 ]
	[[ $stderr == *"--shape: no input 'beam'; did you mean 'beam_idx'? there are beam_idx, x" && ${#stderr_lines[@]} -eq 1 ]]
	run --separate-stderr "$HSDAG_PYTHON" "$ROOT/pipelines/apply" --shape 'x=2,3,16;beam_idx=5' grows.xml grows.placed
	[ "$status" -ne 0 ]
	[[ $output$stderr != *Traceback* ]]
}

@test "operations that longer lengths join go where most of them are" {
	py '
		from importlib.machinery import SourceFileLoader
		apply = SourceFileLoader("apply", os.environ["ROOT"] + "/pipelines/apply").load_module()
		rows = [{"name": n, "set": s} for n, s in (("a", "0"), ("b", "0"), ("c", "0"), ("d", "1"), ("e", "-"), ("unknown", "1"))]
		given = {"a": "x", "b": "y", "c": "y", "d": "x", "e": "x"}
		assert apply.together(given, rows) == {"a": "y", "b": "y", "c": "y", "d": "x", "e": "x"}
	'
}

@test "operations in parts: the model that place wrote with them stands for the one that is named" {
	sh "$ROOT/tests/support/models.sh" googlenet .
	mkdir -p parts.placed
	ir2dag googlenet.xml | dagsplit --axes channels | placebase random -D cpu:0,cpu:1 --draw biased --seed 2 -o parts.placed/final.mp
	placeout --format affinity -o parts.placed/placement.json parts.placed/final.mp
	run --separate-stderr "$HSDAG_PYTHON" "$ROOT/pipelines/apply" --seconds 0.1 googlenet.xml parts.placed
	[ "$status" -eq 3 ]
	[[ $stderr == *"places parts of operations ('"*"there is no 'parts.placed/openvino/model.xml' that has them" && ${#stderr_lines[@]} -eq 1 ]]
	placeout --openvino parts.placed/openvino -o /dev/null parts.placed/final.mp
	run -0 "$HSDAG_PYTHON" "$ROOT/pipelines/apply" --seconds 0.1 googlenet.xml parts.placed
	[[ $output == "operations in parts: "* && $output == *"HETERO: "* ]]
}
