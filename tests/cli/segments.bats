#!/usr/bin/env bats
# placeout --segments: OpenVINO loads the files one after another and gives the whole model's
# outputs; --format check: what splits segments, and what forbids a placement.
# programs: placeout
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	sh "$ROOT/tests/support/models.sh" googlenet rnnlm mobilenet_v2_tf inception_ssd tensor_iterator loop_2d_add \
		lstm_stateful small_scalar small_passthrough_string small_dummy_fp64 .
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# placed MODEL [DRAW] - single and random placements of MODEL.xml over three devices, as MODEL.single
# and MODEL.N with their segments: many if drawn uniform, fewer if biased.
placed() {
	local m=$1 k
	ir2dag "$m.xml" | devsim --probe -D cpu:0,cpu:1,gpu > "$m.mp"
	placebase single:gpu "$m.mp" | placeout --segments "$m.single" -o /dev/null
	for k in 1 2; do
		placebase random --draw "${2:-uniform}" --seed "$k" "$m.mp" | placeout --segments "$m.$k" -o /dev/null
	done
}

@test "segments run one after another give the model's outputs: convolutions" {
	placed googlenet
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/segments.py" googlenet.xml googlenet.{single,1,2}
	[[ ${lines[0]} == "googlenet: 1 segments"* ]]
	[[ $output =~ googlenet:\ [0-9][0-9]+\ segments ]]
}

@test "... recurrence unrolled, shapes of tensors elsewhere, detection, version 10" {
	local m
	for m in rnnlm inception_ssd mobilenet_v2_tf; do
		placed "$m" biased
		run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/segments.py" "$m.xml" "$m".{single,1}
	done
}

@test "... bodies, scalars, strings, dynamic shapes" {
	local m
	for m in tensor_iterator loop_2d_add small_scalar small_passthrough_string small_dummy_fp64; do
		placed "$m"
		run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/segments.py" "$m.xml" "$m".{single,1,2}
	done
}

@test "... an If with constants in its bodies, a name that XML escapes, a constant as a result" {
	py - <<-'PY'
		import openvino as ov
		from openvino import opset13 as op
		def body(k):
		    a, b = (op.parameter([2, 3], np.float32, name=n) for n in "ab")
		    w = op.constant(np.full((2, 3), float(k), np.float32))
		    results = [op.result(op.add(op.multiply(a, w), b)), op.result(op.subtract(a, w))]
		    return ov.Model(results, [a, b], f"body{k}"), a, b, *results
		x, y = op.parameter([2, 3], np.float32, name="x"), op.parameter([2, 3], np.float32, name="y, with \"a\" & <comma>")
		node = op.if_op(op.greater(op.reduce_sum(x, np.array([0, 1]), False), op.constant(np.float32(0))).output(0))
		t, ta, tb, t1, t2 = body(3)
		e, ea, eb, e1, e2 = body(5)
		node.set_then_body(t)
		node.set_else_body(e)
		node.set_input(x.output(0), ta, ea)
		node.set_input(y.output(0), tb, eb)
		first, second = node.set_output(t1, e1), node.set_output(t2, e2)
		c = op.constant(np.arange(4, dtype=np.float32))
		model = ov.Model([op.result(op.add(op.relu(first), x)), op.result(op.tanh(second)), op.result(c)], [x, y], "if")
		ov.serialize(model, "choice.xml", "choice.bin")
	PY
	placed choice
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/segments.py" choice.xml choice.{single,1,2}
	[[ ${lines[0]} == "choice: 2 segments"* ]]
}

@test "a segment's .bin has the constants that it reads, once each" {
	ir2dag googlenet.xml | devsim --probe -D cpu:0,cpu:1,gpu | placebase random --draw uniform |
		placeout --segments own -o /dev/null
	run -0 py - <<-'PY'
		import os, xml.etree.ElementTree as xml
		index = json.load(open("own/index.json"))
		assert index["devices"] == ["cpu:0", "cpu:1", "gpu"]
		assert {s["device"] for s in index["segments"]} == set(index["devices"])
		for s in index["segments"]:
		    path = "own/" + s["file"]
		    ranges = {(int(d.get("offset")), int(d.get("size"))) for d in xml.parse(path).iter("data") if d.get("offset")}
		    assert os.path.getsize(path[:-3] + "bin") == s["weights_bytes"]
		    used = sum(n for _, n in ranges)
		    assert used <= s["weights_bytes"] < used + 64 * (len(ranges) + 1), (path, used)
		    for x in s["inputs"]:
		        assert x["segment"] < index["segments"].index(s)
		whole = os.path.getsize("googlenet.bin")
		split = sum(s["weights_bytes"] for s in index["segments"])
		assert 0.9 * whole < split < 1.2 * whole, (split, whole)
	PY
	# Two constants at one place in the model's .bin.
	py - <<-'PY'
		import openvino as ov
		from openvino import opset13 as op
		x = op.parameter([512], np.float32, name="x")
		a, b = (op.constant(np.arange(512, dtype=np.float32)) for _ in "ab")
		ov.serialize(ov.Model([op.result(op.multiply(op.add(x, a), b))], [x], "twice"), "twice.xml", "twice.bin")
		assert os.path.getsize("twice.bin") == 2048
	PY
	ir2dag twice.xml | devsim --probe -D gpu | placebase single | placeout --segments twice -o /dev/null
	[ "$(cat twice/*.bin | wc -c)" -lt 2200 ]
}

@test "a directory that is not empty, a .bin that is missing or short: refused" {
	ir2dag tensor_iterator.xml | devsim --probe -D cpu:0,gpu | placebase single:cpu:0 > one.mp
	mkdir -p full && touch full/file
	run -1 --separate-stderr placeout --segments full one.mp
	[[ $stderr == *"'full' is not empty"* && -z $output ]]
	truncate -s 16 short.bin
	run -3 --separate-stderr placeout --segments short --weights short.bin one.mp
	[[ $stderr == *"holds 16 bytes, too few for the constants"* && ! -e short/index.json ]]
	run -1 --separate-stderr placeout --segments missing --weights none.bin one.mp
	[[ $stderr == *"none.bin"* ]]
	run -1 --separate-stderr placeout --segments nowhere/at/all one.mp
	[[ $stderr == *"cannot make the directory 'nowhere/at/all'"* ]]
}

@test "check: a path that leaves a device and comes back splits its segment, and is told" {
	py - <<-'PY'
		import openvino as ov
		from openvino import opset13 as op
		x = op.parameter([4], np.float32, name="x")
		a = op.relu(x, name="a")
		b = op.tanh(a, name="b")
		c = op.add(a, b, name="c")
		d = op.sigmoid(c, name="d")
		ov.serialize(ov.Model([op.result(d)], [x], "back"), "back.xml", "back.bin")
	PY
	ir2dag --no-colocate back.xml | devsim --probe -D cpu:0,gpu > back.mp
	placebase single:cpu:0 back.mp > back.single.mp
	py - <<-'PY'
		r = read("back.single.mp")[:-1]
		g, p = first(r, "graph"), first(r, "place")
		names, sets = g["node_name"], array(g["set"])
		device = array(p["device"]).copy()
		device[:] = 0
		device[sets[names.index("b")]] = 1
		p["device"] = tensor(device)
		p["devices"] = ["cpu:0", "gpu"]
		write("back.placed.mp", r)
	PY
	run -0 placeout -f check back.placed.mp
	[[ $output == *"cpu:0: 3 operations in 2 segments, of 1 connected pieces, split 1 times"* ]]
	[[ $output == *"segment 2 of cpu:0 begins anew at 'c': 'a' of segment 0 feeds it, and also 'b' on gpu, which it waits for"* ]]
	[[ $output == *"cpu:0 -> gpu: 1 tensors"*"gpu -> cpu:0: 1 tensors"* ]]
	[[ ${lines[-1]} == "the placement can be carried out" ]]
	placeout --segments back.d -o /dev/null back.placed.mp
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/segments.py" back.xml back.d
	[[ $output == "back: 3 segments"* ]]
}

@test "check: a set where it cannot run, a variable in two segments: status 3 and why" {
	ir2dag tensor_iterator.xml | devsim --probe -D cpu:0,gpu | placebase single:cpu:0 > masked.mp
	py - <<-'PY'
		r = read("masked.mp")[:-1]
		d = first(r, "devs")
		mask = array(d["mask"]).copy()
		mask[:, 0] = 0
		d["mask"] = tensor(mask)
		write("masked.mp", r)
	PY
	run -3 --separate-stderr placeout -f check masked.mp
	[[ $output == *"problem: cpu:0 cannot run set "*" ("* && ${lines[-1]} == "the placement cannot be carried out" ]]
	[[ $stderr == *"cannot be carried out"* ]]
	ir2dag --split-variables lstm_stateful.xml | devsim --probe -D cpu:0,gpu > state.mp
	placebase single:cpu:0 state.mp | placeout -f check > /dev/null
	placebase random --seed 3 state.mp > state.r.mp
	run -3 --separate-stderr placeout -f check state.r.mp
	[[ $output == *"problem: variable 'id"*"is read in segment"*"and assigned in segment"* ]]
	run -3 --separate-stderr placeout --segments state.d -o /dev/null state.r.mp
	[[ $stderr == *"of the model's variables are used in several segments ('id"*"--split-variables"* && ! -e state.d ]]
}

@test "what reads and assigns a variable is one set, and one segment: any placement can be carried out, and keeps state" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	local m k
	for m in loop branches decoder grows lstm_stateful; do
		ir2dag "$m.xml" | devsim --probe -D cpu:0,cpu:1,gpu > "$m.mp"
		for k in 1 2 3; do
			placebase random --draw uniform --seed $k "$m.mp" > "$m.r.mp"
			placeout -f check "$m.r.mp" > /dev/null
			placeout --segments "$m.$k" -o /dev/null "$m.r.mp"
		done
		run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/segments.py" --steps 3 "$m.xml" "$m".{1,2,3}
	done
	[[ $output =~ lstm_stateful:\ [0-9]+\ segments ]]
	ir2dag --stats loop.xml > stats
	grep -q "co-located	|V|	4	" stats      # Parameter, the loop, Result; a constant that two of its products read
}

@test "with open lengths the shape of a cache that grows is no constant" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	ir2dag counts.xml --shape 'x=2,?,16;beam_idx=2' > counts.mp
	placebase single -D cpu:0 counts.mp | placeout --segments counts.single -o /dev/null
	for k in 1 2; do
		placebase random -D cpu:0,cpu:1 --draw uniform --seed $k counts.mp | placeout --segments counts.$k -o /dev/null
	done
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/segments.py" --steps 3 counts.xml counts.{single,1,2}
	# A cache whose length was given keeps it; without open lengths the first inference is what counts.
	ir2dag counts.xml --shape 'x=2,?,16;beam_idx=2;cache=2,8,16' > given.mp
	ir2dag counts.xml --shape 'x=2,3,16;beam_idx=2' > first.mp
	py '
		def cache(f):
			g = of(f, "graph")[0]
			at, first, dim = (array(g[k]) for k in ("out_ptr", "dim_ptr", "dim"))
			o = at[g["node_name"].index("beam")]
			return tuple(dim[first[o]:first[o + 1]])
		assert [cache(f) for f in ("counts.mp", "given.mp", "first.mp")] == [(2, -1, 16), (2, 8, 16), (2, 0, 16)]
	'
}
