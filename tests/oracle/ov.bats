#!/usr/bin/env bats
# ov: devices: OpenVINO's plugins run segments beside other devices, its own choices are one device
# name, and whatever fails is a message or a record.
# seconds: 60
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export HSDAG_OPENVINO
	HSDAG_OPENVINO=$("$HSDAG_PYTHON" -c 'import openvino, os; print(os.path.dirname(openvino.__file__))')
	models googlenet rnnlm nmt2 tensor_iterator lstm_stateful
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# ran DEVICES MODEL METHOD... - the placement of METHOD runs, and gives OpenVINO's outputs.
ran() {
	local devices=$1 m=$2
	shift 2
	rm -rf in out
	placebase "$@" -D "$devices" "$m.mp" > place.mp || return 1
	devrun --no-reference --runs 2 --allow-shared -D "$devices" --save-inputs in --outputs out -o ran.mp place.mp || return 1
	py - "$m" <<-'PY'
		import glob
		assert all(r["ok"] for r in runs("ran.mp")), [r.get("reason") for r in runs("ran.mp")]
		inputs = [np.load(f"in/{i}.npy") for i in range(len(glob.glob("in/*.npy")))]
		kept = f"{sys.argv[1]}.wanted.npz"
		old = np.load(kept) if os.path.exists(kept) else {}
		if not all(f"in{i}" in old and np.array_equal(old[f"in{i}"], x) for i, x in enumerate(inputs)):
		    # OpenVINO's answers, once for a model and its inputs.
		    import openvino as ov, segments
		    wanted = list(segments.load(ov.Core(), f"{sys.argv[1]}.xml")(inputs).values())
		    np.savez(kept, **{f"in{i}": x for i, x in enumerate(inputs)}, **{f"out{i}": w for i, w in enumerate(wanted)})
		    old = np.load(kept)
		n = sum(name.startswith("out") for name in old)
		assert n > 0
		for i in range(n):
		    g, w = np.load(f"out/{i}.npy"), old[f"out{i}"]
		    assert g.shape == w.shape, (g.shape, w.shape)
		    error = float(np.abs(g.astype(np.float64) - w).max()) / (float(np.abs(w).max()) or 1)
		    assert error <= 1e-4, error
	PY
}

# fails/libopenvino_c.so: what $HSDAG_OPENVINO_FAILS names fails.
failing_library() {
	mkdir -p fails
	"${CC:-gcc}" -D_GNU_SOURCE -w -shared -fPIC -o fails/libopenvino_c.so "$ROOT/tests/support/fail_openvino.c" \
		-Wl,--no-as-needed "$HSDAG_OPENVINO"/libs/libopenvino_c.so.* -Wl,-rpath,"$HSDAG_OPENVINO/libs"
}

# googlenet's sets in five pieces on two devices in turn.
pieces() {
	placebase random -D "$1,$2" googlenet.mp > drawn.mp
	py - <<-'PY'
		records = read("drawn.mp")
		place = first(records, "place")
		n = len(array(place["device"]))
		place["device"] = tensor(np.array([i * 5 // n % 2 for i in range(n)], np.uint16))
		write("pieces.mp", records)
	PY
	cat pieces.mp
}

# googlenet in a few pieces on two OpenVINO cores, cut.mp; what it gives without a cache, cut/0.npy.
cut_googlenet() {
	two_cores
	failing_library
	rm -rf cache
	export HSDAG_CACHE=$PWD/cache
	pieces ov:CPU:0 ov:CPU:1 > cut.mp
	HSDAG_CACHE=off devrun --no-reference --runs 1 --outputs cut -o cut.out.mp cut.mp
}

# run_cut FAILS [STREAM] - the placement of STREAM (cut.mp), while OpenVINO's FAILS fails, gives the same outputs.
run_cut() {
	rm -rf cut.out
	HSDAG_OPENVINO_FAILS=$1 devrun --openvino fails --no-reference --runs 1 --outputs cut.out -o cut.out.mp "${2:-cut.mp}" || return 1
	py - <<-'PY'
		assert runs("cut.out.mp")[0]["ok"], runs("cut.out.mp")[0]["reason"]
		a, b = np.load("cut/0.npy"), np.load("cut.out/0.npy")
		assert float(np.abs(a - b).max()) <= 1e-5 * float(np.abs(a).max())
	PY
}

@test "a model alone on ov:CPU gives OpenVINO's outputs" {
	local m
	for m in googlenet rnnlm nmt2 tensor_iterator; do
		ran ov:CPU:0 $m single
	done
}

@test "random placements between OpenVINO and our cores" {
	two_cores
	ran ov:CPU:0,cpu:1 googlenet random --draw uniform --seed 2
	ran ov:CPU:0,cpu:1 nmt2 random --draw biased --seed 4
}

@test "two OpenVINO devices, and one beside OpenCL" {
	two_cores
	ran ov:CPU:0,ov:CPU:1 googlenet random --draw uniform --seed 5
	needs_pocl
	ran ov:CPU:0,cl:0.0:1 googlenet random --draw uniform --seed 6
}

@test "every node a model of its own: --fuse none" {
	placebase single -D ov:CPU:0 googlenet.mp | devrun --fuse none --no-reference --runs 1 --outputs each -o each.mp
	placebase single -D ov:CPU:0 googlenet.mp | devrun --no-reference --runs 1 --outputs whole -o whole.mp
	run -0 py - <<-'PY'
		a, b = np.load("each/0.npy"), np.load("whole/0.npy")
		assert float(np.abs(a - b).max()) <= 1e-4 * float(np.abs(b).max())
		assert runs("each.mp")[0]["ok"]
	PY
}

@test "OpenVINO that decides by itself is one device name" {
	local d
	for d in ov:HETERO:CPU:0 ov:AUTO:CPU:0 ov:AUTO; do
		ran $d googlenet single
	done
}

@test "options: threads, precision, OpenVINO's own properties" {
	ran ov:CPU/threads=1 googlenet single
	ran ov:CPU:0/streams=1/precision=f32/SNIPPETS_MODE=DISABLE googlenet single
	placebase single -D ov:CPU:0/precision=bf16 googlenet.mp | devrun --no-reference --runs 1 -o bf16.mp
	placebase single -D ov:CPU:0/precision=default googlenet.mp | devrun --no-reference --runs 1 -o default.mp
	run -0 py - <<< 'assert all(runs(f)[0]["ok"] for f in ("bf16.mp", "default.mp"))'
}

@test "names that are wrong are refused before anything runs" {
	local name text
	while read -r name text; do
		run -2 --separate-stderr devrun --probe -D "$name" -o none.mp googlenet.mp
		[[ $stderr == *"$text"* && ! -s none.mp ]] || { echo "$name: $stderr"; return 1; }
	done <<-'END'
		ov:cpu not a device of OpenVINO
		ov: not a device of OpenVINO
		ov:CPU:0-x not a list of cores
		ov:CPU:99999 core 99999 is not there
		ov:CPU/threads=0 'threads=0' is not an option
		ov:CPU/precision=f64 'precision=f64' is not an option
		ov:CPU/fast option 'fast' has no value
		ov:HETERO:gpu+CPU is not a list of devices
		ov:GPU.77 OpenVINO has no device 'GPU.77' here; it has
		ov:HETERO:CPU+NPU.9 OpenVINO has no device 'NPU.9'
		ov:CPU:0,ov:CPU:0 listed twice
	END
	run -1 --separate-stderr devrun --probe -D ov:CPU:0/NO_SUCH=1 -o none.mp googlenet.mp
	[[ $stderr == *"CPU does not take NO_SUCH=1"* ]]
}

@test "variables begin anew with every inference, or are kept: as on cpu devices, alone and split" {
	two_cores
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	local m keep
	for m in loop branches decoder; do
		ir2dag $m.xml | devrun probe -D cpu:0,ov:CPU:0,ov:CPU:1 > $m.v.mp
		for keep in "" --keep-state; do
			rm -rf v.in v.cpu v.ov v.both
			placebase single:cpu:0 $m.v.mp | devrun -n 3 --warmup 0 $keep --save-inputs v.in --outputs v.cpu -o r.mp
			placebase single:ov:CPU:0 $m.v.mp | devrun -n 3 --warmup 0 $keep -i v.in --outputs v.ov -o r.mp
			placebase random --seed 2 $m.v.mp | devrun -n 3 --warmup 0 $keep -i v.in --outputs v.both -o r.mp
			py - <<-'PY'
				a, b, c = (np.load(f"v.{d}/0.npy") for d in ("cpu", "ov", "both"))
				assert np.abs(a).max() > 0 and np.abs(a - b).max() < 1e-5 and np.abs(a - c).max() < 1e-5
			PY
			cp v.cpu/0.npy "$m.third$keep.npy"
		done
		run -1 cmp -s "$m.third.npy" "$m.third--keep-state.npy"
	done
	ir2dag --split-variables loop.xml | devrun probe -D ov:CPU:0,ov:CPU:1 | placebase -n 4 random | devrun -n 1 --warmup 0 -o r.mp
	recdump -k run r.mp > r.txt
	grep -q "variable 'v' is read and assigned in several segments, and OpenVINO keeps it in one" r.txt
}

@test "dynamic shapes mask the device, variables do not" {
	two_cores
	run -0 --separate-stderr devrun --probe -D ov:CPU:0,cpu:1 -o masked.mp lstm_stateful.mp
	run -0 py - <<-'PY'
		r = read("masked.mp")
		g, mask = first(r, "graph"), array(first(r, "devs")["mask"])
		sets, types = array(g["set"]), [g["types"][t] for t in array(g["type"])]
		for v, t in enumerate(types):
		    if sets[v] < len(mask):
		        assert mask[sets[v], 1] and (mask[sets[v], 0] or t not in ("ReadValue", "Assign")), t
	PY
}

@test "without OpenVINO: a message that says what to do, and everything else works" {
	mkdir -p empty
	run -2 --separate-stderr devrun --openvino empty --probe -D ov:CPU googlenet.mp
	[[ $stderr == *"no libopenvino_c.so in 'empty' (--openvino)"* ]]
	HSDAG_OPENVINO=empty run -2 --separate-stderr devrun --probe -D ov:CPU googlenet.mp
	[[ $stderr == *"no libopenvino_c.so in 'empty' (HSDAG_OPENVINO)"* ]]
	HSDAG_OPENVINO=empty run -0 devrun --list
	[[ $output == *"cpu:0 "* || $output == *"cpu "* ]]
	[[ $output != *"ov:"* ]]
	placebase single -D cpu:0 googlenet.mp | HSDAG_OPENVINO=empty devrun --no-reference --runs 1 -o alone.mp
	run -0 py - <<< 'assert runs("alone.mp")[0]["ok"]'
}

@test "--openvino finds the library in a package, a venv, its own directory" {
	local dir
	for dir in "$HSDAG_OPENVINO" "$HSDAG_OPENVINO/libs" "$("$HSDAG_PYTHON" -c 'import sys; print(sys.prefix)')"; do
		HSDAG_OPENVINO='' run -0 devrun --openvino "$dir" --list
		[[ $output == *"ov:CPU "*"OpenVINO 20"* ]]
	done
}

@test "a library that is another one, or no library" {
	mkdir -p other broken
	echo 'int ov_free(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -x c -o other/libopenvino_c.so -
	run -1 --separate-stderr devrun --openvino other --probe -D ov:CPU googlenet.mp
	[[ $stderr == *"libopenvino_c.so' has no ov_get_error_info; OpenVINO 2023.1 or newer has it"* ]]
	echo nonsense > broken/libopenvino_c.so.1
	run -1 --separate-stderr devrun --openvino broken --probe -D ov:CPU googlenet.mp
	[[ $stderr == *"cannot load 'broken/libopenvino_c.so.1'"* ]]
}

@test "a plugin that does not compile, or an inference that fails, is a record with the reason" {
	two_cores
	failing_library
	placebase single -D cpu:1,ov:CPU:0 googlenet.mp > both.mp
	run -0 --separate-stderr devrun --openvino fails --runs 1 -o fine.mp both.mp
	HSDAG_OPENVINO_FAILS=compile run -0 --separate-stderr devrun --openvino fails --runs 1 -o compile.mp both.mp
	HSDAG_OPENVINO_FAILS=infer run -0 --separate-stderr devrun --openvino fails --runs 1 -o infer.mp both.mp
	run -0 py - <<-'PY'
		assert [r["ok"] for r in runs("fine.mp")] == [True, True]
		for f, text in (("compile.mp", "OpenVINO does not compile the segment: the plugin does not like it"),
		                ("infer.mp", "inference failed")):
		    a, b = runs(f)
		    assert a["ok"] and not b["ok"] and text in b["reason"], b
	PY
}

@test "what was compiled is kept: a second process compiles nothing, and other weights are other segments" {
	cut_googlenet
	run_cut nothing
	run_cut compile
	# On one core alone, a segment that both cores share.
	placebase single -D ov:CPU:0 googlenet.mp | devrun --no-reference --runs 1 -o one.mp
	placebase single -D ov:CPU:1 googlenet.mp > other.mp
	run_cut compile other.mp
	py 'b = bytearray(open("googlenet.bin", "rb").read()); b[len(b) // 2] ^= 1; open("other.bin", "wb").write(b)'
	HSDAG_OPENVINO_FAILS=compile devrun --openvino fails --weights other.bin --no-reference --runs 1 -o other.out.mp cut.mp
	HSDAG_OPENVINO_FAILS=compile HSDAG_CACHE=off devrun --openvino fails --no-reference --runs 1 -o off.out.mp cut.mp
	pieces ov:CPU:0/SNIPPETS_MODE=DISABLE ov:CPU:1/SNIPPETS_MODE=DISABLE |
		HSDAG_OPENVINO_FAILS=compile devrun --openvino fails --no-reference --runs 1 -o set.out.mp
	run -0 py - <<-'PY'
		for f in "other.out.mp", "off.out.mp", "set.out.mp":
		    assert not runs(f)[0]["ok"] and "does not compile" in runs(f)[0]["reason"], f
	PY
}

@test "files of the cache that are damaged, or that the plugin does not take, are made again" {
	cut_googlenet
	run_cut nothing
	local file files
	files=(cache/*)
	[ "${#files[@]}" -ge 4 ]
	truncate -s 100 "${files[0]}"
	: > "${files[1]}"
	printf XXXX | dd of="${files[2]}" bs=1 seek=2000 conv=notrunc status=none
	run_cut nothing
	for file in "${files[@]}"; do [ -s "${file%.*}.new" ] || [ -s "${file%.*}.used" ]; done
	run_cut compile
	run_cut import
	run_cut compile
}

@test "two processes fill one cache at once" {
	cut_googlenet
	local one two
	devrun --no-reference --runs 1 -o one.mp cut.mp & one=$!
	devrun --no-reference --runs 1 -o two.mp cut.mp & two=$!
	wait $one
	wait $two
	run -0 py - <<< 'assert runs("one.mp")[0]["ok"] and runs("two.mp")[0]["ok"]'
	run -1 grep -v '^[0-9a-f]\{32\}[.]\(new\|used\)$' <(ls cache)
	run_cut compile
}

@test "the cache has a limit, a place, and says when these are no good" {
	cut_googlenet
	HSDAG_CACHE_SIZE=18M run_cut nothing
	[ "$(du -bs cache | cut -f 1)" -le 21000000 ]
	[ -n "$(ls cache)" ]
	HSDAG_CACHE_SIZE=1K run_cut nothing
	HSDAG_CACHE='' XDG_CACHE_HOME=$PWD/xdg run -0 devrun --probe -D ov:CPU -o none.mp googlenet.mp
	[ -d xdg/hsdag ]
	HSDAG_CACHE='' XDG_CACHE_HOME='' HOME=$PWD/home run -0 devrun --probe -D ov:CPU -o none.mp googlenet.mp
	[ -d home/.cache/hsdag ]
	HSDAG_CACHE='' XDG_CACHE_HOME='' HOME=/dev/null run -0 devrun --probe -D ov:CPU -o none.mp googlenet.mp
	HSDAG_CACHE_SIZE=some run -2 --separate-stderr devrun --probe -D ov:CPU googlenet.mp
	[[ $stderr == *"HSDAG_CACHE_SIZE: 'some' is not a size"* ]]
	HSDAG_CACHE=googlenet.mp run -1 --separate-stderr devrun --probe -D ov:CPU googlenet.mp
	[[ $stderr == *"HSDAG_CACHE: cannot use 'googlenet.mp'"* ]]
	mkdir -m 777 shared
	HSDAG_CACHE=shared run -1 --separate-stderr devrun --probe -D ov:CPU googlenet.mp
	[[ $stderr == *"HSDAG_CACHE: others may write in 'shared'"*"chmod go-w"* ]]
}

@test "a profile has operations that others take in without a time, and boundaries of segments in the links" {
	devrun probe --profile --max-seconds 0.05 -D cpu:0,ov:CPU:0 -o costs.mp googlenet.mp
	run -0 py - <<-'PY'
		c, d = first(read("costs.mp"), "cost"), first(read("costs.mp"), "devs")
		s = array(c["set_s"])[:, 1]
		assert (s < 1e-3 * s.max()).sum() > 20 and s.sum() > 0
		assert not array(c["saved_s"])[:, 1].any()
		# A segment occupies the core that both compute on, while it brings a tensor into its layout; at least a fiftieth of
		# what is guessed for a byte is left.
		assert not c["overlap"] and "copy_holds" not in c
		assert len(d["links"]) == 2
		for l in d["links"]:
		    assert l["latency_s"] > 0 and 1 / l["bytes_per_s"] >= 0.999 * 0.25e-9 / 50, l
	PY
	[ "$(nproc)" -ge 2 ] || return 0
	devrun probe --profile --max-seconds 0.05 -D cpu:0,ov:CPU:1 -o costs.mp googlenet.mp
	run -0 py 'c = first(read("costs.mp"), "cost"); assert not c["overlap"] and array(c["copy_holds"]).tolist() == [[0, 2], [1, 0]]'
}

@test "a product has its own time, although OpenVINO names it after the bias that it takes in" {
	py - <<-'PY'
		import openvino as ov
		from openvino import opset13 as op
		rng = np.random.default_rng(1)
		y = x = op.parameter([64, 256], np.float32, name="x")
		for k in range(3):
		    y = op.matmul(y, op.constant(rng.standard_normal((256, 256), np.float32)), False, False, name=f"product{k}")
		    y = op.relu(op.add(y, op.constant(rng.standard_normal((1, 256), np.float32)), name=f"bias{k}"))
		ov.save_model(ov.Model([y], [x], "biases"), "biases.xml", compress_to_fp16=False)
	PY
	ir2dag biases.xml | devrun probe --profile --max-seconds 0.1 -D ov:CPU:0 -o biases.mp
	py '
		graph, cost = first(read("biases.mp"), "graph"), first(read("biases.mp"), "cost")
		s, names, sets = array(cost["set_s"])[:, 0], list(graph["node_name"]), array(graph["set"])
		of_set = lambda name: s[sets[names.index(name)]]
		for k in range(3):
		    product, bias = of_set(f"product{k}"), of_set(f"bias{k}")
		    assert 0 < product and bias < product / 5, (k, product, bias)
	'
	# Two LSTMSequence with drawn names run for one of both directions: their time is the model's node's, not the product's behind it.
	py - <<-'PY'
		import openvino as ov
		from openvino import opset13 as op
		rng, w = np.random.default_rng(1), lambda *s: op.constant(rng.standard_normal(s, np.float32) / 8)
		x, state = op.parameter([1, 16, 64], np.float32, name="x"), op.constant(np.zeros((1, 2, 64), np.float32))
		y = op.lstm_sequence(x, state, state, op.constant(np.array([16])), w(2, 256, 64), w(2, 256, 64), w(2, 256), 64, "bidirectional", name="both")
		y = op.matmul(op.transpose(y.output(0), op.constant([0, 2, 1, 3])), w(64, 8), False, False, name="product")
		y = op.softmax(op.add(y, w(1, 1, 8)), 3)
		ov.save_model(ov.Model([op.result(y)], [x], "both"), "both.xml", compress_to_fp16=False)
	PY
	ir2dag both.xml | devrun probe --profile --max-seconds 0.1 -D ov:CPU:0 -o both.mp
	py '
		graph, cost = first(read("both.mp"), "graph"), first(read("both.mp"), "cost")
		s, names, sets = array(cost["set_s"])[:, 0], list(graph["node_name"]), array(graph["set"])
		both, product = (s[sets[names.index(name)]] for name in ("both", "product"))
		assert both > s.sum() * 0.6 and both > 4 * product, (both, product, s.sum())
	'
}
