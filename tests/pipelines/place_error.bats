#!/usr/bin/env bats
# pipelines/place --max-error: what is handed over is as exact as was asked for.
# programs: place
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cd "$BATS_FILE_TMPDIR" || return 1
	export PLACE=$ROOT/pipelines/place
	"$HSDAG_PYTHON" "$ROOT/tests/support/sensitive_net.py"
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "the answer keeps the limit, and the report says so" {
	run -0 timeout 200 "$PLACE" sensitive.xml -D cpu:0,cpu:0/precision=bf16 --budget 5 --random 0 --max-error 0.02 -o kept
	[[ $output == *"error: "*" of the outputs' scale from those in f32 (cpu:0), of 0.02 that are allowed"* ]]
	[[ $output == *"cpu:0/precision=bf16 alone"*"out: error 0.08"* ]]
	py '
		o = json.load(open("kept/report.json"))["outputs"]
		assert o["error"] <= o["max_error"] == 0.02, o
	'
}

@test "lower precisions are offered by itself, and a mixed placement races and keeps the limit" {
	export HSDAG_BF16_PRODUCTS=1
	run -0 timeout 200 "$PLACE" sensitive.xml -D cpu:0 --budget 5 --random 0 --max-error 0.02 -o offered
	py '
		assert first(read("offered/input.mp"), "devs")["names"] == ["cpu:0", "cpu:0/precision=bf16"]
		# Nothing that was tried later puts the product with the error in bf16.
		g = first(read("offered/final.mp"), "graph")
		it = array(g["set"])[g["node_name"].index("sensitive")]
		for p in of("offered/starts.mp", "place") + of("offered/final.mp", "place"):
			assert p["devices"][array(p["device"])[it]] == "cpu:0" or p["source"] == "single", p["source"]
		raced = runs("offered/final.mp")
		assert all(m["error"] <= 0.02 for m in raced if m["ok"]), raced
		alone = [m for m in raced if m["source"] == "single" and m["sample"] == 1]
		assert alone and not any(m["ok"] for m in alone) and max(m.get("error", 0) for m in alone) > 0.02, alone
		j = json.load(open("offered/report.json"))
		assert j["outputs"]["error"] <= 0.02 and len(j["time_for_error"]) >= 2
		assert any(v["source"] == "mixed-precision" for v in j["raced"]), j["raced"]
	'
	[[ $output == *"time for error"*"beyond the limit"*"within the limit"* ]]
	[[ $output == *"time: model "*", precisions "* ]]
}

@test "where nothing keeps it there is no placement, nor an earlier one" {
	mkdir -p none && echo '{}' > none/placement.json
	run -1 timeout 200 "$PLACE" sensitive.xml -D cpu:0/precision=bf16 --budget 5 --random 0 --max-error 0.001 -o none
	[[ $output == *"place: error: no placement is within --max-error 0.001: the least error is 0.085 (devrun)"* ]]
	[ ! -e none/placement.json ]
	[ ! -e none/openvino ]
}

@test "no limit of simulated objectives, of models without weights, and what is no number" {
	run -2 "$PLACE" sensitive.xml --max-error 0.01 --objective memory
	[[ $output == "place: error: --max-error goes with objectives that are measured: latency, throughput" ]]
	cp sensitive.xml bare.xml
	run -3 timeout 60 "$PLACE" bare.xml -D cpu:0 --max-error 0.01
	[[ $output == "place: error: --max-error is about what the model computes, and its weights 'bare.bin' are missing; --weights FILE" ]]
	[ ! -e bare.placed ]
	run -2 "$PLACE" sensitive.xml --max-error ''
	[[ $output == "place: error: --max-error: "* ]]
	run -2 "$PLACE" sensitive.xml --max-error few
	[[ $output == "place: error: --max-error: 'few' is not a number" ]]
}
