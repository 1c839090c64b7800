#!/usr/bin/env bats
# placeout --openvino: a model and affinities for exactly its operations that HETERO takes; use.py of place runs them.
# programs: placeout
# seconds: 15
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	needs_openvino
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# pair MODEL [SHAPES] - the pair of a random placement on two devices, in MODEL.pair, is as it should be.
pair() {
	mkdir -p open
	rm -rf "$1.pair"
	[ -f "$1.xml" ] || sh "$ROOT/tests/support/models.sh" "$1" .
	ir2dag "$1.xml" ${2:+--shape "$2"} | placebase random -D cpu:0,cpu:1 --draw biased --seed 3 |
		placeout --openvino "$1.pair" --map cpu:0=CPU,cpu:1=CPU2 -o /dev/null
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/openvino_pair.py" "$1.xml" "$1.pair" "${2:-}" "${3---strict}"
	echo "$output"
}

@test "HETERO takes convolutions, loops, version 10, transformers with shapes that are given" {
	pair mobilenet_v2_tf
	pair loop_2d_add
	pair open/tiny_llama 'input_ids=1,8;attention_mask=1,8'
	[[ $output == *" segments, error "* ]]
}

@test "... an open batch; where shapes stay open as a whole the segments run" {
	py - <<-'PY'
		import openvino as ov
		from openvino import opset13 as op
		x = op.parameter([-1, 4, 8], np.float32, name="x")
		rng = np.random.default_rng(1)
		y = op.relu(op.matmul(x, op.constant(rng.standard_normal((8, 8), np.float32)), False, False))
		n = op.gather(op.shape_of(y), op.constant(np.array([0])), op.constant(np.int64(0)))
		y = op.reshape(y, op.concat([n, op.constant(np.array([32]))], 0), False)
		y = op.tanh(op.add(op.matmul(y, op.constant(rng.standard_normal((32, 5), np.float32)), False, False), op.constant(np.float32(1))))
		ov.save_model(ov.Model([y], [x], "batch"), "batch.xml", compress_to_fp16=False)
	PY
	pair batch
	pair open/tiny_gpt2 '' ''
}

@test "... names that occur twice, names that are empty, constants that both devices read, in few bits, too" {
	py - <<-'PY'
		import openvino as ov, re
		from openvino import opset13 as op
		x = op.parameter([2, 8], np.float32, name="x")
		rng = np.random.default_rng(1)
		w = op.multiply(op.subtract(op.convert(op.constant(rng.integers(-128, 127, (8, 8)).astype(np.int8)), "f32"),
		    op.constant(np.float32(3))), op.constant(np.float32(.01)))
		half = op.convert(op.constant(rng.standard_normal((8, 8)).astype(np.float16)), "f32")
		lengths = op.multiply(op.constant(np.array([2, 1])), op.constant(np.array([2, 4])))     # made of constants: 4, 4
		y = x
		for k in range(6):
		    y = op.tanh(op.matmul(op.matmul(y, w, False, False), half, False, True))
		    a, b = op.variadic_split(y, op.constant(1), lengths).outputs()
		    y = op.concat([b, op.relu(a)], 1)
		ov.save_model(ov.Model([y, op.add(y, op.constant(np.float32(1)))], [x], "names"), "unique.xml", compress_to_fp16=False)
		text, k = open("unique.xml").read(), 0
		def name(m):
		    global k
		    k += 1
		    return f'<layer id="{m[1]}" name="{["same", "", "other"][k % 3]}" type="{m[3]}"' if m[3] not in ("Parameter", "Result") else m[0]
		open("names.xml", "w").write(re.sub(r'<layer id="(\d+)" name="([^"]*)" type="(\w+)"', name, text))
		os.rename("unique.bin", "names.bin")
	PY
	pair names
	py 'n = json.load(open("names.pair/affinity.json")); assert "same" in n and "" not in n and set(n.values()) == {"CPU", "CPU2"}, n'
	grep -q 'element_type="i8"' names.pair/model.xml     # weights stay in few bits
}

@test "constants that are computed for OpenVINO do not add up in memory" {
	! ldd "$B/bin/placeout" | grep -q libasan || skip "sanitized programs take all addresses"
	py '
		import openvino as ov
		from openvino import opset13 as op
		x = op.parameter([1, 4], np.float32, name="x")
		v = op.broadcast(op.constant(np.array([0.5], np.float32)), op.constant(np.array([4 << 20])))
		for k in range(30):     # 16 MiB each
		    v = op.relu(v)
		y = op.add(x, op.reduce_sum(v, op.constant(np.array([0])), True))
		ov.save_model(ov.Model([y], [x], "chain"), "chain.xml", compress_to_fp16=False)
	'
	ir2dag chain.xml | placebase single -D cpu:0 -o chain.mp
	(ulimit -v 450000; placeout --openvino chain.pair -o /dev/null chain.mp)
	[ "$(grep -c '<layer ' chain.pair/model.xml)" -eq 4 ]     # one constant stands for all of them
}

@test "devices have OpenVINO's names; what is one device there is one, and the report says so" {
	sh "$ROOT/tests/support/models.sh" googlenet .
	ir2dag googlenet.xml | placebase random -D cpu:0,cpu:1,cpu,cl:0.0,cl:1.0,ov:GPU.1,ov:CPU:0 --draw uniform -o many.mp
	placeout --openvino many -o /dev/null many.mp
	py 'd = set(json.load(open("many/affinity.json")).values()); assert d == {"CPU", "GPU.0", "GPU.1"}, d'
	run -0 placeout --format report many.mp
	[[ $output == *$'\nOpenVINO: cpu:0, cpu:1, cpu, ov:CPU:0 are one device there, CPU: HETERO gains nothing between them; '* ]]
	[[ $output == *$'\nOpenVINO: cl:1.0, ov:GPU.1 are one device there, GPU.1: '* ]]
	ir2dag googlenet.xml | placebase random -D cpu:0,cpu:1 -o cores.mp
	run -0 placeout --format report cores.mp
	[[ $output == *"cpu:0, cpu:1 are one device there, CPU: HETERO gains nothing by this placement; "* ]]
	# Variables on several of its devices: said before somebody tries; not where these are one, nor without variables.
	ir2dag "$ROOT/tests/models/lstm_stateful.xml" > variables.mp
	local said='OpenVINO: HETERO (2026.4) refuses most placements of models with variables'
	run -0 bash -c 'placebase random -D cpu:0,ov:GPU variables.mp | placeout --format report'
	[[ $output == *"$said"* ]]
	run -0 bash -c 'placebase random -D cpu:0,cpu:1 variables.mp | placeout --format report'
	[[ $output != *"$said"* ]]
	run -0 bash -c 'placebase single -D ov:GPU variables.mp | placeout --format report'
	[[ $output != *"$said"* ]]
	run -0 placeout --format report --map cpu:0=CPU,cpu:1=GPU cores.mp
	[[ $output != *OpenVINO* ]]
	run -1 placeout --openvino many -o /dev/null cores.mp
	[[ $output == "placeout: error: directory 'many' is not empty" ]]
	json2dag "$ROOT/tests/instances/topcuoglu2002.json" | placebase single -o json.mp
	run -3 placeout --openvino json -o /dev/null json.mp
	[[ $output == *"does not come from OpenVINO IR"* ]]
}

@test "place leaves the pair, and use.py runs it" {
	two_cores
	pair batch
	run -0 timeout 100 "$ROOT/pipelines/place" batch.xml --shape 3,4,8 -D cpu:0,cpu:1 --budget 5
	[[ $output == *"in OpenVINO: python batch.placed/openvino/use.py"* ]]
	py 'p = [p["name"] for p in json.load(open("batch.placed/report.json"))["phases"]]; assert p[:2] == ["model", "profile"] and p[-1] == "comparison", p'
	py 'np.save("x.npy", np.random.default_rng(2).standard_normal((3, 4, 8), np.float32))'
	run -0 "$HSDAG_PYTHON" batch.placed/openvino/use.py x.npy
	py '
		import openvino as ov
		y = next(iter(ov.Core().compile_model("batch.xml", "CPU")([np.load("x.npy")]).values()))
		words = sys.argv[1].replace("[", " ").replace("]", " ").replace(")", ") ").split(")")
		assert "(3, 5" in words[0], sys.argv
		assert np.allclose([float(w) for w in words[1].split()], y.ravel()[:4], atol=1e-2), (words, y)
	' "$output"
	# What HETERO refuses runs in segments.
	cat > sitecustomize.py <<-'PY'
		import openvino
		compile_model = openvino.Core.compile_model
		def refuse(self, model, device=None, *more):
		    if str(device).startswith("HETERO"):
		        raise RuntimeError("Exception from x.cpp:1:\nnot here")
		    return compile_model(self, model, device, *more)
		openvino.Core.compile_model = refuse
	PY
	local whole=$output
	PYTHONPATH=$PWD:$PYTHONPATH run -0 "$HSDAG_PYTHON" batch.placed/openvino/use.py x.npy
	rm sitecustomize.py
	[[ $output == "HETERO refuses: not here"$'\n'"$whole" ]]
}

# used DIR STEPS - use.py's outputs of STEPS inferences in a row of DIR, of which the k-th has the files in/k.*.npy, are
# those of grows.xml.
used() {
	cp "$ROOT/pipelines/use.py" "$1"
	# shellcheck disable=SC2046   # names without blanks
	run -0 "$HSDAG_PYTHON" "$1/use.py" $(ls in/*.npy | head -$((2 * $2)))
	py '
		import re
		import openvino as ov
		request = ov.Core().compile_model("grows.xml", "CPU").create_infer_request()
		rows = [x for x in re.sub(r"\n +", " ", sys.argv[1]).splitlines() if "(2, " in x]
		assert len(rows) == int(sys.argv[2]), sys.argv
		for k, row in enumerate(rows):
		    y = next(iter(request.infer([np.load(f"in/{k}.0.npy"), np.load(f"in/{k}.1.npy")]).values()))
		    assert str(y.shape) in row, (row, y.shape)
		    got = [float(w) for w in row.split(")")[1].strip(" []").split()]
		    assert np.allclose(got, y.ravel()[:4], atol=2e-2), (k, row, y.ravel()[:4])
	' "$output" "$2"
}

@test "variables: use.py makes several inferences in a row where lengths are open, and says so where they are not" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	mkdir -p in
	py 'r = np.random.default_rng(4)
for k, n in enumerate((3, 1, 1)):
    np.save(f"in/{k}.0.npy", r.standard_normal((2, n, 16), np.float32))
    np.save(f"in/{k}.1.npy", np.array([1, 0] if k else [0, 1], np.int32))'
	ir2dag --shape 'x=2,?,16;beam_idx=2' grows.xml | placebase random -D cpu:0,cpu:1 -o open.mp
	run -0 placeout --openvino grows.open -o /dev/null open.mp
	[ -z "$output" ]
	used grows.open 3
	[[ $output != *grow* ]]
	# Two devices, in HETERO or, where that refuses, in segments.
	placeout --openvino grows.two --map cpu:0=CPU,cpu:1=GPU -o /dev/null open.mp
	run -0 placeout --segments grows.segments -o /dev/null open.mp
	[ -z "$output" ]
	cat > sitecustomize.py <<-'PY'
		import openvino
		compile_model = openvino.Core.compile_model
		def refuse(self, model, device=None, *more):
		    if str(device).startswith("HETERO"):
		        raise RuntimeError("not here")
		    return compile_model(self, model, device, *more)
		openvino.Core.compile_model = refuse
	PY
	PYTHONPATH=$PWD:$PYTHONPATH used grows.two 3
	rm sitecustomize.py
	[[ $output == "HETERO refuses: not here"* ]]
	# Fixed lengths: the first inference is right, and placeout and use.py say that no other one is.
	ir2dag --shape 'x=2,3,16;beam_idx=2' grows.xml | placebase random -D cpu:0,cpu:1 -o fixed.mp
	run -0 placeout --openvino grows.fixed -o /dev/null fixed.mp
	[[ $output == *"'grows.fixed' is right for the first inference after a reset only: variables grow (2; '0.cache' is read with the shape 2,0,16, and assigned 2,3,16); ir2dag --shape with '?'"* ]]
	run -0 placeout --segments grows.files -o /dev/null fixed.mp
	[[ $output == *"'grows.files' is right for the first inference after a reset only"* ]]
	used grows.fixed 1
	[[ $output == "variables grow, but the inputs' lengths are fixed here"* ]]
	# shellcheck disable=SC2046
	run -1 "$HSDAG_PYTHON" grows.fixed/use.py $(ls in/*.npy)
	[[ $output == "use.py: variables grow"* && ${#lines[@]} -eq 1 ]]
	run -1 "$HSDAG_PYTHON" grows.open/use.py in/0.0.npy
	[[ $output == "use.py: the model has 2 inputs; that many files are wanted"* ]]
	# What keeps its shape needs no word.
	ir2dag decoder.xml | placebase random -D cpu:0,cpu:1 -o decoder.mp
	run -0 placeout --segments decoder.files -o /dev/null decoder.mp
	[ -z "$output" ]
}

@test "several lists of shapes: one model with open lengths, and use.py runs each in the placement that is the fastest there" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	rm -rf in
	mkdir in
	py 'r = np.random.default_rng(4)
for k, n in enumerate((4, 20, 40, 64, 80, 4)):
    np.save(f"in/{k}.0.npy", r.standard_normal((2, n, 16), np.float32))
    np.save(f"in/{k}.1.npy", np.array([k % 2, 1], np.int32))'
	at() { echo "x=2,$1,16;beam_idx=2;*.cache=2,0,16"; }
	ir2dag grows.xml --case "$(at 4)" --case "$(at 64)" | placebase random -n 2 --draw biased --seed 3 -D cpu:0,cpu:1 |
		devrun run -n 2 --allow-shared --no-reference -o ran.mp
	written_times ran.mp cases.mp short long
	placeout --openvino cases --map cpu:0=CPU,cpu:1=GPU -o /dev/null cases.mp
	used cases 6
	[ "$(grep -o ': placement.*' <<< "$output")" = ": placement 2 (short)
: placement 2 (short)
: placement 1 (long)
: placement 1 (long)
: placement 1 (long)
: placement 2 (short)" ]
	run -1 cmp -s cases/affinity.json cases/placement.2/affinity.json
	placeout --openvino one --map cpu:0=CPU,cpu:1=CPU -o /dev/null cases.mp
	[ "$(find cases one -name '*.bin')" = "$(printf '%s\n' {cases,one}/model.bin)" ]
	# Weights are there once; what is one device is one placement.
	[ "$(wc -c < cases/model.bin)" -eq "$(wc -c < one/model.bin)" ]
	[ ! -e one/placement.2 ]
	jq -e '[.cases[], .ranges[], .otherwise | .placement] | unique == [1]' one/shapes.json
	placeout --openvino second --case 1 -o /dev/null cases.mp
	[ ! -e second/shapes.json ]
}

@test "a placement that parts a variable: the report says that OpenVINO does not run it" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	ir2dag --split-variables decoder.xml | placebase random -D cpu:0,cpu:1 --draw uniform -o parted.mp
	run -0 placeout --format report parted.mp
	[[ $output == *$'\nvariables: this placement parts what reads and what assigns 2 of them (\'1.cache\', ...): devrun and libhsdag-run run it, OpenVINO does not; ir2dag without --split-variables '* ]]
	placeout --format json -o parted.json parted.mp
	py 'assert json.load(open("parted.json"))["placement"]["parted_variables"] == 2'
	ir2dag decoder.xml | placebase random -D cpu:0,cpu:1 --draw uniform -o whole.mp
	run -0 placeout --format report whole.mp
	[[ $output != *variables:* ]]
	placeout --format json -o whole.json whole.mp
	py 'assert json.load(open("whole.json"))["placement"]["parted_variables"] == 0'
}
