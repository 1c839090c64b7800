#!/usr/bin/env bats
# pipelines/place: from a model to its report, screened by simulation; what it forwards; what it refuses at once.  Signals
# and failures: place_failures.bats.
# seconds: 100
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	two_cores
	export PLACE=$ROOT/pipelines/place
	cp "$ROOT/tests/models/"small_summator.* .
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

on_terminal() { "$HSDAG_PYTHON" "$ROOT/tests/support/on_terminal.py" "$@"; }

@test "--screen: of what the policy draws only the best by simulation are measured" {
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	run -0 timeout 600 "$PLACE" m.xml -D cpu:0,cpu:1 --profile 0.1 --budget 60 --episodes 2 --screen 25 --random 1 --from none
	[[ "$output" == *"screening: 50 draws simulated, the best 1 of each 25 measured"* ]]
	[[ "$output" == *"verdict: "* ]]
	cd m.placed || return 1
	for f in input starts result final; do recdump --check $f.mp; done
	py '
		u = of("result.mp", "update")
		assert [m["ok"] + m["failed"] for m in u] == [1, 1], u
		graph, place = first(read("input.mp"), "graph"), json.load(open("placement.json"))
		names = graph.get("whole", graph)["node_name"]     # one device alone runs whole operations
		assert set(place) in (set(names), set(graph["node_name"])) and set(place.values()) <= {"cpu:0", "cpu:1"}
		assert of("final.mp", "best")[-1]["final"]
	'
}

@test "without --screen all draws are measured; it goes on from its checkpoint" {
	args="small_summator.xml --devices=cpu:0,cpu:1 --profile 0.05 --budget=60 --random 0 --from none"
	# shellcheck disable=SC2086
	run -0 timeout 300 "$PLACE" $args --episodes 2
	[[ "$output" != *screening* && "$output" != *random* ]]
	# shellcheck disable=SC2086
	run -0 timeout 300 "$PLACE" $args --episodes 3 --resume
	py '
		u = of("small_summator.placed/result.mp", "update")
		assert [(m["episode"], m["ok"] + m["failed"]) for m in u] == [(1, 1), (2, 1), (3, 1)], u
		# What was found when goes on, too.
		rows = list(csv.DictReader(open("small_summator.placed/curves.tsv"), delimiter="\t"))
		assert [(r["model"], r["method"], r["seed"]) for r in rows] == [("small_summator", "default", "1")] * len(rows)
		assert [int(r["evaluation"]) for r in rows] == list(range(1, len(rows) + 1)) and len(rows) >= 3, rows
		t = [float(r["seconds"]) for r in rows]
		assert t == sorted(t) and t[0] > 0
		lat = [float(r["latency"]) for r in rows]
		assert np.allclose([float(r["best"]) for r in rows], np.minimum.accumulate(lat))
	'
	grep -q '<svg' small_summator.placed/curves.svg
	# What cannot be written is told before the search.
	# shellcheck disable=SC2086
	run -2 timeout 300 "$PLACE" $args -o mapped --map cpu:0=A,cpu:7=B
	[[ "$output" == *"there is no device 'cpu:7'"* ]]
	[ ! -e mapped ]
	# shellcheck disable=SC2086
	run -2 timeout 300 "$PLACE" $args -o missing -D cpu:0,cpu:999
	[[ "$output" == *"core 999 is not there; devrun --list shows the cores (devrun)"* && ! -e missing ]]
}

@test "what is pinned stays there: starts, races, the learner; patterns that match nothing end it before it measures" {
	cp "$ROOT/share/examples/models/branches.xml" b.xml
	printf 'pin block/0/*=cpu:1\npin block/1/*=cpu:0\nkeep block/2/one,block/3/three\n' > pins.conf
	run -0 timeout 300 "$PLACE" b.xml -D cpu:0,cpu:1 --budget 8 --config pins.conf --now hetero-priority,dmda -o raced
	[[ $output == *"cpu:0 alone"*"may not run on cpu:0"*"cpu:1 alone"*"may not run on cpu:1"* ]]
	[[ $output == *"now: hetero-priority "*" ms, dmda "*" ms, as predicted"* ]]
	run -0 timeout 300 "$PLACE" b.xml -D cpu:0,cpu:1 --budget 20 --profile 0.1 --episodes 3 --random 1 --from none --screen 5 --whole -o learned \
		--pin 'block/0/*=cpu:1' --pin 'block/1/*=cpu:0' --keep 'block/2/one,block/3/three'
	py '
		for dir in ("raced", "learned"):
			for f in ("result", "final"):
				streams = read(f"{dir}/{f}.mp")
				g = first(streams, "graph")
				name, s = g["node_name"], array(g["set"])
				if "whole" in g:
					name = [g["whole"]["node_name"][w] if w < 2**32 - 1 else n for n, w in zip(name, array(g["part_of"]))]
				ok = {(m["source"], m["episode"], m["step"], m["sample"]) for k, m in streams if k == "run" and m["ok"]}
				for k, m in streams:
					if k not in ("place", "best") or (k == "place" and (m["source"], m["episode"], m["step"], m["sample"]) not in ok):
						continue
					on = [m["devices"][i] for i in array(m["device"])]
					where = lambda start: {on[s[v]] for v in range(len(s)) if name[v].startswith(start) and s[v] < g["n_sets"]}
					assert where("block/0/") == {"cpu:1"} and where("block/1/") == {"cpu:0"}, (dir, f, k, m["source"])
					assert len({on[s[v]] for v in range(len(s)) if name[v] in ("block/2/one", "block/3/three")}) == 1
			p = json.load(open(f"{dir}/placement.json"))
			assert {d for n, d in p.items() if n.startswith("block/0/")} == {"cpu:1"}
			assert {d for n, d in p.items() if n.startswith("block/1/")} == {"cpu:0"}
	'
	for args in "--pin nothing*=cpu:0" "--pin block/0/*=cpu:9" "--keep nothing --whole" "--default cl:9" "--pin nothing"; do
		# shellcheck disable=SC2086
		run -2 timeout 60 "$PLACE" b.xml -D cpu:0,cpu:1 -o none $args
		[[ ${#lines[@]} -le 2 && "${lines[-1]}" == "place: error: --"* && ! -e none ]] || { echo "$args: $output"; return 1; }
	done
}

@test "what it refuses, before it measures" {
	run -2 "$PLACE"
	[[ "$output" == *"no model; see place --help"* ]]
	run -1 "$PLACE" nothing.xml
	echo '<net/>' > m.xml
	for args in "--now there" "--screen x" "--screen -1" "--budget fast" "--from there" "--recipe other" "--episodes 1.5" "--seed" "--what"; do
		# shellcheck disable=SC2086
		run -2 "$PLACE" m.xml -o no.placed $args
		[[ "$output" == "place: error: "* ]]
	done
	[ ! -e no.placed ]
	run -0 "$PLACE" --help-all
	[[ "$output" == *"--screen N"* ]]
	# One screen, of options that the whole text has.
	run -0 "$PLACE" --help
	[[ "$output" == *"--budget S "*" seconds for all that follows the reading of the model"$'\n'* && "$output" != *"--screen N"* ]]
	[ "$(wc -l <<< "$output")" -le 24 ]
	for p in train calibrate; do
		run -0 "$ROOT/pipelines/$p" --help
		[[ "${lines[-1]}" == "$p --help-all has all "*" options, and the rest." ]]
		[ "$(grep -c '^ *-.*   *[^ ]' <<< "$output")" -ge 8 ]
		[ "$(wc -l <<< "$output")" -le 24 ]
		run -0 "$ROOT/pipelines/$p" --help-all
		[[ "$output" == *"--help-all      this text"* ]]
	done
}

@test "every network that has a recipe searches by it" {
	local net
	for net in rnn hierarchical placeto; do
		run -0 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --random 0 --budget 5 --episodes 1 --net $net -o by.$net
		[[ "$output" == *"verdict: "* ]]
		run -0 recdump -k params --tsv net,recipe by.$net/result.mp
		[ "$(sort -u <<< "$output")" = "$net"$'\t'"$net" ]
	done
}

@test "what the stages can do: shapes, inputs, limits, networks" {
	local args="--profile 0.05 --random 0 --episodes 1"
	# A model of dynamic shape.
	sed 's/shape="1,1"/shape="?,1"/; s/<dim>1<\/dim>/<dim>-1<\/dim>/' small_summator.xml > open.xml
	cp small_summator.bin open.bin
	mkdir -p in
	py 'np.save("in/0.npy", np.ones((1, 1), "f4"))'
	# shellcheck disable=SC2086
	run -0 "$PLACE" small_summator.xml $args -D cpu:0,cpu:0-1 --allow-shared --shape 1,1 --inputs in -m cpu:0=1M \
		--net mlp --params none --threads 1 --timeout 100 --any-operator --weights small_summator.bin -o forwards
	[[ "$output" == *"time: model "*"profile "*"search "*"comparison "* ]]
	py '
		chain = {x["program"]: " ".join(x["args"]) for f in ("result", "final")
		         for x in first(read("forwards/%s.mp" % f), "hdr")["chain"]}
		for program, args in {"ir2dag": ["--shape 1,1", "--any-operator", "--weights small_summator.bin"],
		                      "dagfeat": ["--threads 1"], "gpnembed": ["--net mlp", "--params none", "--threads 1"],
		                      "reinforce": ["--threads 1"],
		                      "devrun": ["--inputs in", "--memory cpu:0=1M", "--allow-shared", "--timeout 100"]}.items():
			for a in args:
				assert a in chain[program], (program, a, chain[program])
	'
	run -0 "$PLACE" --version
	[[ "$output" == "place (hsdag) "* ]]
	run -0 "$PLACE" -h
	[[ "$output" == *"--shape SHAPES"* ]]
}

# A network of one Relu as ONNX writes it, relu.onnx.
onnx_model() {
	py '
		def field(n, x):
			if isinstance(x, int):
				return bytes([n << 3, x])
			x = x.encode() if isinstance(x, str) else b"".join(x) if isinstance(x, list) else x
			return bytes([n << 3 | 2, len(x)]) + x
		def value(name):
			return [field(1, name), field(2, [field(1, [field(1, 1), field(2, [field(1, [field(1, d)]) for d in (2, 3)])])])]
		node = [field(1, "x"), field(2, "y"), field(3, "relu"), field(4, "Relu")]
		graph = [field(1, node), field(2, "g"), field(11, value("x")), field(12, value("y"))]
		open("relu.onnx", "wb").write(field(1, 8) + field(7, graph) + field(8, [field(1, ""), field(2, 13)]))
	'
}

@test "ONNX is converted where the path's Python has OpenVINO" {
	needs_openvino
	onnx_model
	local path=${HSDAG_PYTHON%/*}:$PATH
	run -0 env PATH="$path" "$PLACE" relu.onnx -D cpu:0,cpu:1 --profile 0.05 --random 0 --episodes 1
	[[ "$output" == *"placement: relu.placed/placement.json"* ]]
	grep -q '<net name="relu"' relu.placed/relu.xml
	[ "$(tr -d '\n' < relu.placed/placement.json)" = '{"relu": "cpu:0"}' ] || grep -q '"relu": "cpu:1"' relu.placed/placement.json
	head -c 20 relu.onnx > bad.onnx
	run -1 env PATH="$path" "$PLACE" bad.onnx
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "place: error: 'bad.onnx': "*"(convert.py)" ]]
	[ ! -e bad.placed ]
	# OpenVINO's converter is not let near what tells its maker of each use.
	mkdir -p watched/openvino_telemetry home
	echo 'open("told", "w").close()' > watched/openvino_telemetry/__init__.py
	PYTHONPATH=$PWD/watched HOME=$PWD/home run -0 "$HSDAG_PYTHON" "$ROOT/pipelines/convert.py" relu.onnx quiet.xml
	[ ! -e told ]
	[ -z "$(ls -A home)" ]
	[ -s quiet.xml ]
}

# What converters fuse, split and leave out: nodes.onnx.
onnx_nodes() {
	py '
		def varint(x):
			return bytes([x]) if x < 128 else bytes([x & 127 | 128]) + varint(x >> 7)
		def field(n, x):
			if isinstance(x, int):
				return varint(n << 3) + varint(x)
			x = x.encode() if isinstance(x, str) else b"".join(x) if isinstance(x, list) else x
			return varint(n << 3 | 2) + varint(len(x)) + x
		def value(name, *dims):
			return [field(1, name), field(2, [field(1, [field(1, 1), field(2, [field(1, [field(1, d)]) for d in dims])])])]
		def weights(name, *dims):
			return [field(1, d) for d in dims] + [field(2, 1), field(8, name), field(9, np.random.default_rng(1).random(dims, np.float32).tobytes())]
		def node(kind, name, inputs, outputs, **ints):
			attributes = [field(5, [field(1, k), field(3, v), field(20, 2)]) for k, v in ints.items()]
			return [field(1, i) for i in inputs] + [field(2, o) for o in outputs] + ([field(3, name)] if name else []) + [field(4, kind)] + attributes
		nodes = [node("Conv", "stem/conv", ["x", "cw"], ["c"]), node("BatchNormalization", "stem/bn", ["c", "s", "b", "m", "v"], ["n"]),
			node("Relu", "stem/relu", ["n"], ["r"]), node("GlobalAveragePool", "", ["r"], ["pooled"]), node("Flatten", "head/flatten", ["pooled"], ["f"]),
			node("Gemm", "head/gemm", ["f", "gw", "gb"], ["g"], transB=1), node("Identity", "head/same", ["g"], ["h"]), node("HardSwish", "head/last", ["h"], ["y"])]
		tensors = [weights("cw", 8, 3, 3, 3)] + [weights(n, 8) for n in "sbmv"] + [weights("gw", 8, 8), weights("gb", 8)]
		graph = [field(1, n) for n in nodes] + [field(2, "g")] + [field(5, t) for t in tensors] + [field(11, value("x", 1, 3, 8, 8)), field(12, value("y", 1, 8))]
		open("nodes.onnx", "wb").write(field(1, 8) + field(7, graph) + field(8, [field(1, ""), field(2, 14)]))
	'
}

@test "ONNX: placement.json, report and page have the names of its nodes, fused, split and left out ones too" {
	needs_openvino
	onnx_nodes
	local path=${HSDAG_PYTHON%/*}:$PATH
	run -0 env PATH="$path" "$PLACE" nodes.onnx -D cpu:0,cpu:1 --profile 0.05 --budget 5 --random 0
	py '
		nodes = ["stem/conv", "stem/bn", "stem/relu", "pooled", "head/flatten", "head/gemm", "head/same", "head/last"]
		placed = json.load(open("nodes.placed/placement.json"))
		assert list(placed) == nodes and set(placed.values()) <= {"cpu:0", "cpu:1"}, placed
		ir = json.load(open("nodes.placed/placement.ir.json"))
		types = {o["name"]: o["type"] for o in json.load(open("nodes.placed/report.json"))["placed"]}
		assert types["stem/conv"] == "Convolution" and types["head/last"] == "HSwish" and types["pooled"] == "ReduceMean", types
		made = dict(l.rstrip("\n").split("\t") for l in open("nodes.placed/nodes.names.tsv"))
		assert list(made) == nodes and types[made["head/gemm"]] == "MatMul" and made["head/same"] in ("head/gemm", "head/same"), made
		assert all(placed[n] == ir[o] for n, o in made.items()), (placed, ir)
		# Whatever computes is called as a node, or as a node and what it is of it.
		assert all(o in nodes or o.rsplit("/", 1)[0] in nodes for o in types if types[o] not in ("Parameter", "Result")), types
		assert all(json.dumps(n)[1:-1] in open("nodes.placed/report.html").read() for n in ("stem/conv", "head/last"))
	'
	# Another placement, of the same stream: each node where the operation is.
	placebase random --seed 3 nodes.placed/input.mp | placeout -f affinity --names nodes.placed/nodes.names.tsv -o named.json
	placebase random --seed 3 nodes.placed/input.mp | placeout -f affinity -o plain.json
	py '
		made = dict(l.rstrip("\n").split("\t") for l in open("nodes.placed/nodes.names.tsv"))
		named, plain = json.load(open("named.json")), json.load(open("plain.json"))
		assert named == {n: plain[o] for n, o in made.items()} and len(set(named.values())) == 2, named
	'
	[[ $(placeout --why head/same --names nodes.placed/nodes.names.tsv nodes.placed/final.mp) == head/gemm* ]]
	echo 'one' > bad.tsv
	run -3 --separate-stderr placeout -f affinity --names bad.tsv nodes.placed/final.mp
	[ "$stderr" = "placeout: error: --names: 'bad.tsv', line 1: not NAME, a tab, OPERATION" ]
	printf 'a\tnowhere\n' > none.tsv
	run -0 --separate-stderr placeout -f affinity --names none.tsv nodes.placed/final.mp
	[ "$stderr" = "placeout: warning: --names: the model has no operation for 1 names" ]
}

@test "ONNX without OpenVINO: the command is named, and no directory is made" {
	onnx_model
	mkdir -p none
	printf '#!/bin/sh\nexit 1\n' > none/python3
	chmod +x none/python3
	cp none/python3 none/python
	rm -rf relu.placed
	run -1 env -u VIRTUAL_ENV PATH="$PWD/none:$PATH" "$PLACE" relu.onnx
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"pip install openvino"*"ovc 'relu.onnx'"* ]]
	[ ! -e relu.placed ]
}

@test "a small budget: the starts race, and the report tells what they should have taken and took" {
	local row
	run -0 timeout 300 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --budget 5 --random 7 -o quick
	[[ "$output" == *"verdict: "*"random: 7 drawn, "*"time: model "*"starts "*"comparison "* ]]
	[[ ! "$output" =~ search\ [0-9] ]]
	[[ "$output" == *"left out: "*"20 s"*"60 s"* ]]
	for row in 'cpu:0 alone' 'cpu:1 alone' heft climb lookahead-rank cluster learned-moves portfolio; do
		grep -Eq "^$row[^ ]* +(([0-9.]+ ms +){2}[0-9.]+x +[0-9]+ +[0-9]+|as [^ ]+( alone)?)( +<)?\$" quick/report.txt
	done
	grep -Eq '^race: [0-9.]+ s, [0-9]+ blocks, [0-9]+ of them disturbed; ' quick/report.txt
	grep -Eq '^more time: (more runs would not|may) change ' quick/report.txt
	# All were measured beside each other: to one reference.
	py '
		x = [m for m in runs("quick/final.mp") if m["ok"]]
		assert len({m["ref_s"] for m in x}) == 1, x
		assert all(abs(m["lat_s"] / m["ref_s"] - m["ratio"]) < 1e-6 for m in x), x
		assert all(m["bursts"] >= 1 for m in x) and sum(m["start"] for m in x) >= 8
		assert all(m["predicted_s"] > 0 for m in x)
		race = of("quick/final.mp", "best")[-1]["race"]
		assert race["blocks"] > 0 and race["noise"] >= 0 and 0 <= race["disturbed"] <= race["blocks"]
	'
}

@test "what a large model's profile leaves of the budget is planned anew" {
	plan() {
		bash -ec 'left() { echo "$left"; }
			eval "$(sed -n "/^within()/p; /^plan_what_is_left()/,/^}/p" "$PLACE")"
			phases_done=3 screen=25 skips_search=
			plan_what_is_left
			echo "$proposals, $skips_search, $screen, $phases_done"'
	}
	[ "$(budget=60 left=18 may_skip=yes has_proposals= proposals=4 plan)" = '0, yes, 0, 6' ]
	[ "$(budget=60 left=0 may_skip=yes has_proposals= proposals=4 plan)" = '0, yes, 0, 6' ]
	[ "$(budget=60 left=40 may_skip=yes has_proposals= proposals=4 plan)" = '4, , 25, 3' ]
	[ "$(budget=100 left=45 may_skip=yes has_proposals= proposals=4 plan)" = '4, yes, 0, 4' ]
	[ "$(budget=60 left=18 may_skip= has_proposals=2 proposals=2 plan)" = '2, , 25, 3' ]
	[ "$(budget=0 left=0 may_skip=yes has_proposals= proposals=4 plan)" = '4, , 25, 3' ]
}

@test "--plan: memory of each device before anything runs; --plan-only ends there, and says what is missing" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/llm.py" llm --layers 2 --past 16
	run -0 --separate-stderr timeout 60 "$PLACE" llm.xml -D cpu:0,cpu:1 -m cpu:0=1300K,cpu:1=1300K --headroom 10% --plan plan.json --plan-only -o planned
	[ -z "$output" ]
	[ ! -e planned ]
	py '
		*single, heft = json.load(open("plan.json"))
		assert [p["legal"] for p in single] == [False, False] and heft["legal"], heft
		for d in heft["devices"]:
			assert (d["memory"], d["headroom"], d["usable"]) == (1331200, 133120, 1198080) and d["peak"] <= d["usable"], d
	'
	run -1 --separate-stderr timeout 60 "$PLACE" llm.xml -D cpu:0,cpu:1 -m cpu:0=900K,cpu:1=800K --plan - --plan-only -o planned
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" =~ "place: error: nothing fits: at least "([0-9]+)" bytes are missing"$ ]]
	[ ! -e planned ]
	echo "$output" > plan.json
	MISSING=${BASH_REMATCH[1]} py 'assert any(p["missing"] == int(os.environ["MISSING"]) and p["largest"][0]["bytes"] > 500000 for p in json.load(open("plan.json")) if "needs" in p)'
	run -2 --separate-stderr "$PLACE" llm.xml --plan-only
	[ "$stderr" = "place: error: --plan-only goes with --plan FILE" ]
	run -2 --separate-stderr "$PLACE" llm.xml --headroom 200%
	[[ "$stderr" == "place: error: --headroom: '200%' is neither "* ]]
}

@test "a model that no device holds: placed within the limits, its outputs compared, or refused with what is missing" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/llm.py" llm --layers 2 --past 16
	run -0 timeout 300 "$PLACE" llm.xml -D cpu:0,cpu:1 -m cpu:0=1300K,cpu:1=1300K --budget 5 --random 7 -o limits
	[[ "$output" == *"verdict: no single device can run the model; this placement can"* ]]
	grep -Eq '^cpu:0 alone +cannot run: .* needs [0-9]+ bytes and has 1331200$' limits/report.txt
	grep -Eq '^this placement +[0-9.]+ ms +([0-9.]+ \.\. [0-9.]+|-) +- +- +[0-9]+ +[0-9.]+ +[0-9.e+-]+ +1\.000000$' limits/report.txt
	grep -Eq '^memory: cpu:0 [01]\.[0-9] of 1\.3 MB, cpu:1 [01]\.[0-9] of 1\.3 MB$' limits/report.txt
	py '
		best = of("limits/final.mp", "best")[-1]
		ran = [m for m in runs("limits/final.mp") if m["ok"]]
		assert ran and all((array(m["mem_bytes"]) <= 1331200).all() for m in ran), ran
		assert best["out_mse"] < 1e-8 and best["reference"] == "", best
	'
	run -1 --separate-stderr timeout 300 "$PLACE" llm.xml -D cpu:0,cpu:1 -m cpu:0=700K,cpu:1=1300K --budget 5 -o none
	[[ "$stderr" == "place: error: no placement can fit: "*" MB too little (devrun)" ]]
}

@test "searches that run side by side: a signal ends the wait for them no sooner than they end" {
	cd "$BATS_TEST_TMPDIR"
	cat > waits <<-EOF
		. "$ROOT/pipelines/compete.sh"
		trap : TERM
		(trap "" TERM; until [ -e heard ]; do sleep 0.05; done; sleep 0.3; echo all > found; exit 5) & job=\$!
		(sleep 0.3; kill -TERM \$\$; touch heard) &
		status=0
		compete_wait \$job || status=\$?
		echo "\$(cat found), \$status"
	EOF
	[ "$(bash waits)" = 'all, 5' ]
}

@test "a first race, proposals on costs that fit it, a search that is screened by them, the last race" {
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	run -0 timeout 300 "$PLACE" m.xml -D cpu:0,cpu:1 --profile 0.1 --budget 20 --proposals 2 --episodes 2 --screen 4 -o fitted
	[[ "$output" == *"screening: "*" draws simulated"*"time: model "*", first race "*", proposals "*", search "*", comparison "* ]]
	py '
		assert len(of("fitted/proposed.mp", "place")) == 2
		assert all(m["predicted_s"] > 0 for m in of("fitted/proposed.mp", "place"))
		final = [m for m in of("fitted/final.mp", "best") if m.get("final")]
		assert len(final) == 2, final
		first, last = runs("fitted/first.mp"), runs("fitted/final.mp")[len(runs("fitted/first.mp")):]
		for a, b in zip(first, last):
			assert b["ok"] != bool(a.get("out")) or "no time" in b.get("reason", ""), (a, b)
	'
	grep -Eq '^search: [0-9]+ s, [1-9][0-9]* placements measured in [12] episodes' fitted/report.txt
}

@test "a short budget: a first race for what it foretells, without proposals; none where only the last one has time" {
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	run -0 timeout 300 "$PLACE" m.xml -D cpu:0,cpu:1 --profile 0.1 --budget 12 -o short
	[[ "$output" == *"first race "*", comparison "* && "$output" != *", proposals "* ]]
	[ ! -e short/proposed.mp ]
	recdump -k place --tsv predicted_s short/final.mp > told
	placebase single short/input.mp | placebase of:short/first.mp | devsim --fit short/first.mp --predict |
		recdump -k place --tsv predicted_s > foretold
	[ "$(grep -c . told)" -gt 4 ]
	[ -z "$(grep . told | sort -u | grep -vxFf foretold)" ]
	run -0 timeout 300 "$PLACE" m.xml -D cpu:0,cpu:1 --profile 0.1 --budget 5 -o shorter
	[[ "$output" != *"first race "* ]]
	[ ! -e shorter/first.mp ]
}

@test "progress: a phase that takes longer says what it does" {
	# In a log, a line after ten seconds.
	bash -c '. "$1"; talk() { echo "devrun: race: 3 placements, best 2 ms (1.50x)" >&2; sleep 12; }
		work() { phases_begin p . 1; run_phase talk talk 11; phases_end; }; phases_face work' p "$ROOT/pipelines/phases.sh" > talked 2>&1 3>&- &
	local log=$!
	run -0 on_terminal "" "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --budget 7 --episodes 900000 --random 1 -o shown
	[[ "$output" =~ \[4/5\]\ search\ [2-5]/[2-5]\ s,\ [1-9][0-9]*\ placements,\ best\ [0-9.e-]+\ ms\ \([0-9.]+x\) ]]
	# Not of what is over in no time.
	[[ "$output" != *"[1/5]"* ]]
	# How a race stands, after two seconds.
	[[ "$(sed -n 's/^devrun: race: //p' shown/log)" == [1-9]*" placements, best "* ]]
	# The answer ends with what it means.
	[[ "$(grep -v '^status ' <<< "$output" | tail -n 1)" == "Use "*.* ]]
	wait $log
	output=$(< talked)
	echo "$output"
	[[ "$output" =~ ^p:\ \[1/1\]\ talk\ 1[0-9]/11\ s,\ 3\ placements,\ best\ 2\ ms\ \(1.50x\)$ ]]
}

@test "on a terminal a few lines are redrawn in place: phase, time, how the best stands, devices" {
	export LC_ALL=C.UTF-8 TERM=xterm
	cat > work.sh <<-'S'
		. "$1"
		talk() {
			for x in 1.00 1.50 2.00; do
				echo "devrun: race: 3 placements, best 2 ms (${x}x), shares 40 60" >&2
				sleep 1.3
			done
			echo "a: warning: beware" >&2
			sleep 1.5
		}
		work() {
			phases_begin p . 1
			phases_budget 10
			phases_devices cpu:0 'cpu:1'
			run_phase talk talk 11
			phases_end
			echo done
		}
		phases_face work
	S
	# Side by side, as they do not compute.
	at_work() {
		local to=$1
		shift
		mkdir "$to"
		cp work.sh "$to"
		(cd "$to" && "$@" work.sh "$ROOT/pipelines/phases.sh") > "$to.shown" 2>&1 3>&- &
	}
	at_work redrawn on_terminal "" bash
	at_work plain on_terminal "" env NO_COLOR=1 LC_ALL=C bash
	at_work dumb on_terminal "" env TERM=dumb bash
	at_work piped bash
	local job
	for job in $(jobs -p); do wait "$job"; done
	output=$(< redrawn.shown)
	[[ "$output" == *$'\e[1m[1/1] talk '[2-5]"/11 s, 3 placements, best 2 ms (2.00x)"$'\e[0m\e[K\n  time  █'*" 0:0"[2-5]" of 0:10, "[5-8]" s left"* ]]
	[[ "$output" == *$'\n  best  1.00x \e[32m▁'*$'█\e[0m 2.00x\e[K\n  on    cpu:0 \e[32m████████\e[0m 40 %   cpu:1 \e[32m████████████\e[0m 60 %\e[K\e[J'* ]]
	# It goes up as many lines as it has drawn, and nothing is left of it at the end.
	[[ "$output" == *$'\e[3A\r\e[?7l'* && "$output" == *$'\e[3A\r\e[J''a: warning: beware'* ]]
	[[ "$output" == *$'\e[3A\r\e[J''done'* ]]
	output=$(< plain.shown)
	[[ "$output" == *"  best  1.00x _"*"# 2.00x"*"on    cpu:0 ######## 40 %   cpu:1 ############ 60 %"* ]]
	[[ ! "$output" =~ $'\e'\[[0-9\;]*m ]]
	# What is no terminal, or a dumb one, gets no escapes.
	output=$(< dumb.shown)
	[[ "$output" == *"beware"*"done"* && "$output" != *$'\e'* ]]
	output=$(< piped.shown)
	[ "$output" = "a: warning: beware"$'\n'"done" ]
}

@test "another objective: what is handed over has the least of it, the report a column" {
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	[ -f m.bin ] || irfill m.xml -o m.bin
	local args="-D cpu:0,cpu:1 --profile 0.1 --random 0 --budget 30"
	# shellcheck disable=SC2086
	run -0 --separate-stderr "$PLACE" m.xml $args --objective memory --episodes 60 -o least
	grep -qE "cosine +memory +gain$" <<< "$output"
	[[ "$output" =~ this\ placement\ .*\ MB\ +1\.[5-9][0-9]+x ]]
	[[ "$output" == *" placements simulated in 60 episodes"*"objective: memory "*" times as good as the best single device"* ]]
	py '
		final, value = of("least/final.mp", "best")[-1], runs("least/values.mp")
		assert [m["source"] for m in value][:2] == ["single", "single"] and len(value) == 3
		assert value[2]["value"] < 0.7 * min(m["value"] for m in value[:2])
		assert final["final"] and len(set(array(final["device"]))) == 2
		best = [m for m in of("least/result.mp", "best") if m["rank"] == 0][0]
		assert list(array(best["device"])) == list(array(final["device"]))
	'
	# A gain in memory that costs time says how much.
	py '
		r = read("least/final.mp")
		for b in (m for k, m in r if k == "best"):
			b.update(ratio=2.0, ratio_lo=1.9, ratio_hi=2.1)
		write("slow.mp", r[:-1])
	'
	run -0 placeout --format advice --objective memory --values least/values.mp slow.mp
	[[ "$output" == "Use this placement: it is 1."*" times as good in memory "*" An inference takes 2.00 times as long as on cpu:"[01]" alone."* ]] || { echo "$output"; return 1; }
	# What these devices do not have, and what is none, are told before the search.
	# shellcheck disable=SC2086
	run -2 "$PLACE" m.xml $args --objective energy -o other
	[[ "$output" == "place: error: no watts for device 'cpu:0'"*"--watts"* ]]
	[ ! -e other/starts.mp ]
	# shellcheck disable=SC2086
	run -0 "$PLACE" m.xml $args --objective energy --watts cpu=40/10 --episodes 5 -o other
	[[ "$output" == *"objective: energy "*" J by simulation"* ]]
	run -2 "$PLACE" m.xml --objective memory --screen 5
	[[ "$output" == "place: error: --screen goes with latency"* ]]
}

@test "throughput: requests a second are measured, and the verdict is about them" {
	cp "$ROOT/tests/models/mobilenet_v3_large.xml" m.xml
	[ -f m.bin ] || irfill m.xml -o m.bin
	run -0 --separate-stderr "$PLACE" m.xml -D cpu:0,cpu:1 --profile 0.1 --random 0 --objective 'throughput,latency<=1000s' --requests 3 --episodes 5 -o rates
	grep -qE "^ +a request +95 % interval.* at once +95 % within$" <<< "$output"
	[[ "$output" == *"in flight: 3 requests at once, "*" a second"*"95 % of them up to "* ]]
	[[ "$output" == *"verdict: 95 % of the requests within 16 min 40 s "* && "$output" != *"was not measured"* ]]
	py '
		final, raced = of("rates/final.mp", "best")[-1], runs("rates/final.mp")
		assert final["in_flight"]["requests"] == 3 and final["in_flight"]["limit_s"] == 1000 and final["lat_s"] > 0
		ran = [m for m in raced if m["ok"] and "bursts" in m]
		assert len(ran) >= 2 and all(m["in_flight"]["requests"] == 3 for m in ran), raced
		# Seconds a request, not of a run of many: that of a device alone is about what one inference takes there.
		assert all(0.2 < m["in_flight"]["p50_s"] / (3 * m["lat_s"]) < 5 for m in ran if m["source"] == "single"), ran
		told = json.load(open("rates/report.json"))["in_flight"]
		assert told["requests"] == 3 and abs(told["a_second"] * final["lat_s"] - 1) < 1e-6, told
	'
	run -2 "$PLACE" m.xml --objective 'throughput,latency<=5' -o no.limit
	[[ "$output" == "place: error: objective 'throughput,latency<=5': 'latency<=5' is no time above 0 in s, ms or us, as in latency<=50ms" && ! -e no.limit ]]
	run -2 "$PLACE" m.xml --requests 3
	[[ "$output" == "place: error: --requests goes with --objective throughput"* ]]
	run -2 "$PLACE" m.xml --objective throughput --requests 1
	[[ "$output" == "place: error: --requests: there are two at least"* ]]
}

@test "results that are not finite leave the answer, and an open shape names the option" {
	py '
		from tiny_ir import Model
		m = Model("logs")
		m.result(m.layer("Log", "log", "f32", (2, 4), m.layer("Parameter", "x", "f32", (2, 4))))
		m.save()
		os.makedirs("negative", exist_ok=True)
		np.save("negative/0.npy", -np.ones((2, 4), "f4"))
		m = Model("open")
		m.result(m.layer("Exp", "exp", "f32", (-1, 4), m.layer("Parameter", "x", "f32", (-1, 4))))
		m.save()
	'
	local args="-D cpu:0,cpu:1 --profile 0.05 --random 0 --episodes 1"
	# shellcheck disable=SC2086
	run -0 "$PLACE" logs.xml $args --inputs negative
	[[ "$output" == *"outputs: not compared: of 8 values of "*" 8 are not finite "*"verdict: "* ]]
	[ -f logs.placed/placement.json ]
	# shellcheck disable=SC2086
	run -0 "$PLACE" logs.xml $args
	[[ "$output" != *"not compared: of"* ]]
	# shellcheck disable=SC2086
	run -3 "$PLACE" open.xml $args
	[[ "$output" == "place: error: input without a static shape: 'x' f32[-1,4]; give it with --shape "* ]]
	# shellcheck disable=SC2086
	run -0 "$PLACE" open.xml $args --shape x=3,4
}
