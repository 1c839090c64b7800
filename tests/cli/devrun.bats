#!/usr/bin/env bats
# devrun: what it adds to a stream, inputs and outputs, what it refuses. That the numbers it
# computes are right is parity.bats' part; that any order of execution is safe, test_exec.c's.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	models mobilenet_v3_large rnnlm small_increment_1x3x4x5
	placebase single -D cpu:0 mobilenet_v3_large.mp > one.mp
	placebase single -D cpu:0 small_increment_1x3x4x5.mp > tiny.mp
	placebase random -n 3 --draw uniform -D cpu:0,cpu:1 mobilenet_v3_large.mp > random.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "shapes that do not follow from each other are refused, with the layer" {
	py '
		r = read("tiny.mp")[:-1]
		g = r[1][1]
		d = array(g["dim"]).copy()
		d[[i for i, x in enumerate(d) if x == 5][-1]] = 5000
		g["dim"]["data"] = d.tobytes()
		keys = list(g)
		head = keys[:keys.index("digest")]
		g["digest"] = xxhash.xxh64(b"".join(msgpack.packb(k) + msgpack.packb(g[k]) for k in head)).intdigest()
		r[2][1]["graph"] = g["digest"]
		write("lie.mp", r)
	'
	run -3 --separate-stderr devrun -o no.mp lie.mp
	[[ $stderr == *"layer "*"(Add)"* ]]
}

@test "every placement gets a run record" {
	two_cores
	devrun --max-seconds 0.3 -o r.mp random.mp
	py '
		r = read("r.mp")
		assert [k for k, m in r] == ["hdr", "graph"] + 3 * ["place"] + 3 * ["run", ] + ["end"], [k for k, m in r]
		places, got = r[2:5], runs("r.mp")
		for (_, p), x in zip(places, got):
			assert [p[k] for k in ("graph", "episode", "step", "sample", "source")] == \
			       [x[k] for k in ("graph", "episode", "step", "sample", "source")]
			s = array(x["samples_s"])
			assert x["ok"] and len(s) >= 6 and s.min() > 0
			assert x["lo_s"] <= x["lat_s"] <= x["hi_s"] and s.min() / 5 < x["lat_s"] < 5 * s.max()
			assert x["copies"] > 10 and x["copy_bytes"] > 1000 and x["ref_s"] > 0
			busy, mem = array(x["busy_s"]), array(x["mem_bytes"])
			assert busy.shape == mem.shape == (2,) and busy.min() > 0 and busy.max() <= s[-1]
			assert 1e5 < mem.min() and mem.max() < 1e8
	'
}

@test "copies are those that devsim counts: inputs, results and views are wherever they are read" {
	two_cores
	devrun --probe -D cpu:0,cpu:1 rnnlm.mp | placebase random -n 3 -o rnnlm.random.mp
	py '
		r = read("rnnlm.random.mp")[:-1]
		g = first(r, "graph")
		sets, kind = array(g["set"]), np.array(g["types"])[array(g["type"])]
		free = np.isin(kind, ["Parameter", "Result", "Reshape", "Squeeze", "Unsqueeze"])
		busy = np.isin(np.arange(g["n_sets"]), sets[~free & (sets != 2**32 - 1)])
		assert busy.any() and not busy.all()
		place = dict(first(r, "place"), sample=3, device=tensor((~busy).astype("u2")))
		write("rnnlm.random.mp", r + [["place", place]])
	'
	printf '%s\n' "device cpu flops 1e11 bandwidth 2e10" "link cpu cpu latency 1e-6 bandwidth 1e10" > two.spec
	for m in rnnlm.random random; do
		devsim --spec two.spec "$m.mp" -o sim.mp
		devrun --runs 1 --warmup 0 "$m.mp" -o real.mp
		py '
			a, b = ([(r["copies"], r["copy_bytes"]) for r in runs(f)] for f in ("sim.mp", "real.mp"))
			assert a == b and len(a) == 3 + (sys.argv[1] != "random"), (a, b)
			assert a[0][0] > 0 and (len(a) == 3 or a[3] == (0, 0)), a
		' "$m"
	done
}

@test "a placement that brings an order runs in it" {
	two_cores
	models googlenet
	placebase random -n 1 --draw uniform -D cpu:0,cpu:1 googlenet.mp > some.mp
	py '
		import random
		r, rng = read("some.mp"), random.Random(1)
		g, places = first(r, "graph"), []
		of, ptr, src = array(g["set"]), array(g["in_ptr"]), array(g["in_node"])
		n = g["n_sets"]
		before = [set() for _ in range(n)]
		for v in range(len(of)):
			for u in src[ptr[v]:ptr[v + 1]]:
				if u < len(of) and of[v] < n and of[u] < n and of[u] != of[v]:
					before[of[v]].add(int(of[u]))
		for sample in range(3):
			done, order = set(), []
			while len(order) < n:
				s = rng.choice([s for s in range(n) if s not in done and before[s] <= done])
				done.add(s)
				order.append(s)
			places.append(["place", {**first(r, "place"), "sample": sample, "order": tensor(np.array(order, "u4"))}])
		write("ordered.mp", [x for x in r if x[0] not in ("place", "end")] + places + [x for x in r if x[0] == "end"])
	'
	devrun run --fuse none --schedule -n 1 --warmup 0 ordered.mp > ran.mp
	py '
		places, ran, differ = of("ordered.mp", "place"), of("ran.mp", "run"), set()
		for p, r in zip(places, ran):
			at = {int(s): i for i, s in enumerate(array(p["order"]))}
			on, sets, start = array(p["device"]), array(r["schedule"]["set"]), array(r["schedule"]["start_s"])
			for d in (0, 1):
				mine = [int(s) for t, s in sorted(zip(start, sets)) if on[s] == d]
				assert mine == sorted(mine, key=at.get) and len(mine) > 10, mine
				differ.add(tuple(mine))
		assert len(differ) > 3, len(differ)
	'
}

@test "--runs, --paper and --warmup count" {
	devrun --runs 3 -o r3.mp one.mp
	devrun --paper --no-reference -o p.mp one.mp
	py '
		x, = runs("r3.mp")
		assert len(array(x["samples_s"])) == 3
		x, = runs("p.mp")
		s = array(x["samples_s"])
		assert len(s) == 10 and abs(x["lat_s"] - s[5:].mean()) < 1e-12 and x["ref_s"] == 0
	'
}

@test "busy times are those of the run alone, on OpenCL too" {
	two_cores
	needs_pocl
	placebase single -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp | devrun --rounds 1 -o r.mp
	py '
		x, y = runs("r.mp")
		assert list(array(x["busy_s"]) > 0) == [True, False] and list(array(y["busy_s"]) > 0) == [False, True]
		assert array(y["busy_s"])[1] < 1.05 * y["lat_s"]
	'
}

@test "the devices of the stream, and -D in their place" {
	two_cores
	devrun --probe -D cpu:1,cpu:0 mobilenet_v3_large.mp | placebase single:cpu:0 | devrun --runs 1 -o r.mp
	py '
		x, = runs("r.mp")
		assert x["ok"] and list(array(x["busy_s"]) > 0) == [False, True]
	'
	run -3 --separate-stderr devrun -o no.mp -D cpu:1 --runs 1 one.mp
	[[ $stderr == *"places on 'cpu:0', which is not among the devices"* ]]
}

@test "inputs come from the seed, go to files and come back" {
	devrun --runs 1 --no-reference --seed 5 --save-inputs in --outputs out1 one.mp > /dev/null
	devrun --runs 1 --no-reference --seed 6 --inputs in --outputs out2 one.mp > /dev/null
	devrun --runs 1 --no-reference --seed 6 --outputs out3 one.mp > /dev/null
	cmp out1/0.npy out2/0.npy
	run ! cmp -s out1/0.npy out3/0.npy
	cmp out1/index.tsv out2/index.tsv
	py '
		x, y = np.load("in/0.npy"), np.load("out1/0.npy")
		assert x.shape == (1, 3, 224, 224) and x.dtype == np.float32 and -1 <= x.min() < -0.99 and 0.99 < x.max() < 1
		assert y.shape == (1, 1000) and np.isfinite(y).all() and y.std() > 0
		assert open("in/index.tsv").read().split("\t")[::2] == ["0.npy", "f32[1,3,224,224]\n"]
		np.save("in/0.npy", x[:, :, :100])
	'
	run -3 --separate-stderr devrun -o no.mp --inputs in one.mp
	[[ $stderr == *"its shape is (1, 3, 100, 224), but the model wants (1, 3, 224, 224)"* ]]
	py 'np.save("in/0.npy", np.zeros((1, 3, 224, 224)))'
	run -3 --separate-stderr devrun -o no.mp --inputs in one.mp
	[[ $stderr == *"its type is "*"f8"*"the model wants '<f4'"* ]]
	head -c 1000 out1/0.npy > in/0.npy
	run -3 devrun -o no.mp --inputs in one.mp
	rm in/index.tsv in/0.npy
	run -1 --separate-stderr devrun -o no.mp --inputs in one.mp
	[[ $stderr == *"cannot read 'in/0.npy'"* ]]
}

@test "integers that a Gather reads stay in its range" {
	placebase single -D cpu:0 rnnlm.mp | devrun --runs 1 --no-reference --save-inputs ids > /dev/null
	py '
		x = np.load("ids/0.npy")
		assert x.dtype.kind == "i" and x.min() >= 0 and 100 < x.max() < 10000 and len(set(x.flat)) > 5, x
	'
}

@test "inputs are drawn like what they stand for: masks, positions, lengths, sizes, what a Log reads" {
	py '
		from tiny_ir import Model
		m = Model("roles")
		x = m.layer("Parameter", "x", "f32", (2, 4))
		inf, axis = m.const("inf", "f32", np.float32(-np.inf)), m.const("axis", "i64", np.int64(0))
		table = m.const("table", "f32", np.ones((7, 3), "f4"))
		def mask(name, elem="boolean"):
			return m.layer("Parameter", name, elem, (2, 4))
		def select(name, *of):
			m.result(m.layer("Select", name, "f32", (2, 4), *of))
		keeps = m.layer("Convert", "keeps", "boolean", (2, 4), mask("attention_mask", "i64"), destination_type="boolean")
		select("s1", keeps, x, inf)
		select("s2", mask("dropped"), inf, x)
		select("s3", m.layer("LogicalNot", "not", "boolean", (2, 4), mask("kept")), inf, x)
		m.result(mask("key_padding_mask"))
		m.result(m.layer("Add", "add", "f32", (2, 4), x, mask("extended_mask", "f32")))
		m.result(mask("weight_mask", "f32"))
		for name in "position_ids", "ids":
			index = m.layer("Parameter", name, "i64", (2, 4))
			m.result(m.layer("Gather", "of_" + name, "f32", (2, 4, 3), table, index, axis))
		far = m.layer("Parameter", "far", "i32", (2, 4))   # by way of two nodes, beside a reader that says nothing
		m.result(m.layer("Add", "more", "i32", (2, 4), far, far))
		wide = m.layer("Convert", "wide", "i64", (2, 4), far, destination_type="i64")
		whole = m.layer("ReduceSum", "whole", "i64", (1, 1), wide, m.const("both", "i64", np.int64([0, 1])), keep_dims="true")
		m.result(whole)
		m.result(m.layer("Gather", "of_far", "f32", (2, 4, 1), m.const("few", "f32", np.ones(3, "f4")),
			m.layer("Unsqueeze", "one", "i64", (2, 4, 1), wide, m.const("last", "i64", np.int64([2]))), axis))
		beam = m.layer("Parameter", "beam_idx", "i32", (2,))
		m.result(m.layer("Gather", "beams", "f32", (2, 4), x, beam, axis))
		for kind in "Log", "Sqrt":
			m.result(m.layer(kind, kind.lower(), "f32", (2, 4), m.layer("Parameter", "of_" + kind, "f32", (2, 4))))
		m.result(m.layer("Parameter", "feature_lengths", "i64", (2,)))
		steps = m.layer("Parameter", "steps", "i32", (2,))
		m.result(m.layer("ReverseSequence", "reverse", "f32", (2, 4), x, steps, batch_axis=0, seq_axis=1))
		m.result(m.layer("Parameter", "image", "u8", (1, 3, 8, 6)))
		m.result(m.layer("Parameter", "im_info", "f32", (1, 3)))
		m.save()
	'
	ir2dag roles.xml | placebase single -D cpu:0 | devrun --runs 1 --no-reference --save-inputs roles --outputs done > /dev/null
	py '
		x = {n: np.load("roles/" + f) for f, n, t in csv.reader(open("roles/index.tsv"), delimiter="\t")}
		for name in "attention_mask", "kept", "weight_mask":
			assert (x[name] == 1).all(), name
		for name in "dropped", "key_padding_mask", "extended_mask":
			assert (x[name] == 0).all(), name
		assert x["position_ids"].tolist() == [[0, 1, 2, 3]] * 2 and x["beam_idx"].tolist() == [0, 1]
		assert x["ids"].max() < 7 and len(set(x["ids"].flat)) > 2
		assert x["far"].max() < 3 and len(set(x["far"].flat)) == 3
		assert x["of_Log"].min() > 0 and x["of_Sqrt"].min() > 0 and x["x"].min() < 0
		assert x["feature_lengths"].tolist() == [4, 4] and x["steps"].tolist() == [4, 4]
		assert x["image"].max() > 200 and x["im_info"].tolist() == [[8, 6, 1]]
		for f, n, t in csv.reader(open("done/index.tsv"), delimiter="\t"):
			assert np.isfinite(np.load("done/" + f).astype(float)).all(), n
	'
}

@test "the same bits on one core, on two and on all" {
	two_cores
	for p in one random; do
		devrun --runs 2 --no-reference --outputs "bits.$p" "$p.mp" > /dev/null
	done
	placebase single -D cpu mobilenet_v3_large.mp | devrun --runs 2 --no-reference --outputs bits.all > /dev/null
	py '
		one, random, all_of = (np.load(f"bits.{n}/0.npy") for n in ("one", "random", "all"))
		assert abs(one - random).max() <= 1e-5 * abs(one).max() and abs(one - all_of).max() <= 1e-5 * abs(one).max()
		if "avx512bw" in open("/proc/cpuinfo").read():   # elsewhere the order of oneDNN depends on the size of slices
			assert (one == random).all() and (one == all_of).all()
	'
}

@test "weights that are missing, short, or no file" {
	head -c 1000000 mobilenet_v3_large.bin > short.bin
	run -3 --separate-stderr devrun -o no.mp --weights short.bin one.mp
	[[ $stderr == *"short.bin"*"layer "*"beyond the weights"* ]]
	run -1 --separate-stderr devrun -o no.mp --weights nowhere.bin one.mp
	[[ $stderr == *"nowhere.bin"* ]]
	mkfifo fifo.bin
	for f in fifo.bin . /dev/zero; do
		run -3 --separate-stderr timeout 60 devrun -o no.mp --weights "$f" one.mp
		[[ $stderr == *"regular file"* ]]
	done
	ir2dag "$ROOT/tests/models/alexnet.xml" > bare.mp
	run -3 --separate-stderr devrun -o no.mp --probe -D cpu:0 bare.mp
	[[ $stderr == *"has no weights file"* ]]
}

@test "records out of place" {
	py '
		r = read("tiny.mp")[:-1]
		p = r[2][1]
		write("other.mp", r[:2] + [["place", {**p, "graph": p["graph"] ^ 1}]])
		write("early.mp", [r[0], r[2], r[1]])
		write("twice.mp", r[:2] + r[1:])
		write("none.mp", r[:1])
		write("keep.mp", r[:2] + [["news", {"a": 1}]] + r[2:] + [["more", {"b": [2]}]])
		write("devs.mp", r[:2] + [["place", {**p, "devices": ["nonesuch"]}]])
	'
	run -3 --separate-stderr devrun -o no.mp other.mp
	[[ $stderr == *"about another graph"* ]]
	run -3 --separate-stderr devrun -o no.mp early.mp
	[[ $stderr == *"before its graph"* ]]
	run -3 --separate-stderr devrun -o no.mp twice.mp
	[[ $stderr == *"second graph"* ]]
	run -3 --separate-stderr devrun -o no.mp --probe -D cpu none.mp
	[[ $stderr == *"no graph"* ]]
	run -3 --separate-stderr devrun -o no.mp devs.mp
	[[ $stderr == *"unknown device 'nonesuch'"* ]]
	[ ! -e no.mp ]
	devrun --runs 1 -o kept.mp keep.mp
	py 'assert [k for k, m in read("kept.mp")] == ["hdr", "graph", "news", "place", "more", "run", "end"]'
	cat tiny.mp keep.mp | devrun --runs 1 > cat.mp
	recdump --check cat.mp
	py 'assert len(runs("cat.mp")) == 2'
}

@test "every prefix of a stream is refused" {
	n=$(stat -c %s tiny.mp)
	for ((c = 0; c < n; c += n / 12 + 1)); do
		head -c "$c" tiny.mp > cut.mp
		run -3 devrun --runs 1 -o out.mp cut.mp
		[ ! -e out.mp ]
	done
}

@test "episodes are measured when they end, before episode_end goes on" {
	py '
		r = read("tiny.mp")[:-1]
		place = lambda e, s: ["place", {**r[2][1], "episode": e, "step": s}]
		episode = lambda e: [["episode", {"episode": e, "steps": 2}], place(e, 0), place(e, 1), ["episode_end", {"episode": e}]]
		write("loop.mp", r[:2] + episode(1) + episode(2))
	'
	devrun --runs 1 -o looped.mp loop.mp
	py '
		one = ["episode", "place", "place", "run", "run", "episode_end"]
		assert [k for k, m in read("looped.mp")] == ["hdr", "graph"] + one + one + ["end"]
		assert [(m["episode"], m["step"]) for m in runs("looped.mp")] == [(1, 0), (1, 1), (2, 0), (2, 1)]
	'
}

@test "a reader that vanishes ends devrun, however many runs are left" {
	# The inputs are written just before the runs begin; until then the output is read.
	run -1 --separate-stderr timeout 60 bash -c 'set -o pipefail; devrun -v --runs 100000 --save-inputs begun one.mp | {
		cat <&0 > /dev/null &
		until [ -s begun/index.tsv ]; do sleep 0.05; done
		sleep 0.3
		kill $!
	}'
	[[ $stderr == *"devrun: the reader of the output has gone"* && $stderr != *"error: "* ]]
}

@test "a model with nothing to compute takes some time" {
	cat > nothing.xml <<-'END'
		<net name="nothing" version="11"><layers>
		<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
		<output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
		<layer id="1" name="y" type="Result" version="opset1">
		<input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input></layer>
		</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>
	END
	ir2dag nothing.xml | placebase single -D cpu:0 | devrun --runs 3 -o nothing.mp
	py '
		x, = runs("nothing.mp")
		assert x["ok"] and 0 < x["lat_s"] and x["ref_s"] > 0 and array(x["samples_s"]).min() > 0
	'
}

@test "--boundaries writes what crosses devices" {
	two_cores
	devrun --runs 1 --no-reference --boundaries across --outputs out -o across.mp random.mp
	py '
		run = runs("across.mp")[-1]
		lines = [l.rstrip("\n").split("\t") for l in open("across/index.tsv")]
		assert len(lines) == run["copies"], (len(lines), run["copies"])
		size = 0
		for file, name, shape, layer, port, device in lines:
		    x = np.load("across/" + file)
		    size += x.nbytes
		    assert device in ("cpu:0", "cpu:1") and int(port) == 0 and int(layer) >= 0 and name
		    assert np.isfinite(x).all() and x.std() > 0, name
		assert size == run["copy_bytes"]
	'
	# More files than may be open at once.
	[ "$(wc -l < across/index.tsv)" -gt 30 ]
	(ulimit -n 40; devrun --runs 1 --no-reference --boundaries across2 -o /dev/null random.mp)
	cmp across/index.tsv across2/index.tsv
}

@test "damaged streams are refused in good order" {
	run -0 timeout 300 "$HSDAG_PYTHON" "$ROOT/tests/fuzz/mutate.py" tiny.mp "${HOSTILE:-60}" "${SEED:-1}" \
		"$B/bin/devrun" --runs 1 --no-reference
}

@test "the k-th allocation fails cleanly" {
	for ((k = 1; k < 4000; k = k * 5 / 4 + 1)); do
		HSDAG_FAIL_ALLOC=$k run timeout 60 devrun --runs 1 --no-reference -o alloc.mp tiny.mp
		[ "$status" -le 3 ] || { echo "k=$k: $status"; return 1; }
	done
}

@test "a full disk is noticed" {
	run -1 --separate-stderr bash -c 'devrun --runs 1 tiny.mp > /dev/full'
	[[ $stderr == *"No space left"* ]]
}

@test "every verb has a page of at most 64 lines of 80 columns, --help-all has the verbs" {
	devrun --help-all > help.txt
	for verb in list support probe run paired mixed; do
		grep -q "^  $verb " help.txt
		grep -q "devrun $verb" help.txt
		devrun "$verb" --help-all > page.txt
		[ "$(devrun "$verb" --help | wc -l)" -le 24 ]
		grep -q "^Usage: devrun $verb " page.txt
		[ "$(wc -l < page.txt)" -le 64 ]
		[ "$(wc -L < page.txt)" -le 80 ]
	done
	[ "$(wc -l < help.txt)" -le 50 ]
	[ "$(wc -L < help.txt)" -le 80 ]
	run -1 grep -e --rounds page.txt
}

@test "a verb does what its option does" {
	two_cores
	devrun list > a
	devrun --list > b
	cmp a b
	devrun list -D cpu:0,cpu:0/precision=bf16 > c
	grep -q '^cpu:0  *cpu .* 1 core$' c
	grep -q '^cpu:0/precision=bf16 .*; .*bf16' c
	[ "$(wc -l < c)" -eq 2 ]
	run -2 --separate-stderr devrun list -D cpu:0,nonsense
	devrun support -D cpu:0 one.mp > a
	devrun --support -D cpu:0 one.mp > b
	cmp a b
	devrun probe -D cpu:0,cpu:1 --allow-shared one.mp > a.mp
	devrun --probe -D cpu:0,cpu:1 --allow-shared one.mp > b.mp
	devrun run --runs 1 --no-reference --outputs verb -o r.mp one.mp
	devrun --runs 1 --no-reference --outputs option -o s.mp one.mp
	cmp verb/0.npy option/0.npy
	devrun paired --max-seconds 0.1 -o p.mp tiny.mp
	py '
		after_hdr = lambda f: [(k, m) for k, m in read(f) if k not in ("hdr", "end")]
		assert after_hdr("a.mp") == after_hdr("b.mp") and "devs" in dict(after_hdr("a.mp"))
		assert [k for k, m in after_hdr("r.mp")] == [k for k, m in after_hdr("s.mp")]
		assert runs("r.mp")[0]["ok"]
		assert first(read("p.mp"), "best")["final"]
	'
}

@test "a verb takes its own options only" {
	run -2 --separate-stderr devrun list one.mp
	[[ $stderr == *"unexpected argument 'one.mp'; see devrun list --help" ]]
	run -2 --separate-stderr devrun probe --paired one.mp
	[[ $stderr == "devrun: error: unknown option '--paired'; see devrun probe --help" ]]
	run -2 --separate-stderr devrun support --runs 1 one.mp
	run -2 --separate-stderr devrun paired --no-reference one.mp
	run -2 --separate-stderr devrun probe --again one.mp
	[[ $stderr == *"--again goes with --profile" ]]
	run -2 --separate-stderr devrun --probe --paired one.mp
	[[ $stderr == *"exclude each other" ]]
	run -2 --separate-stderr devrun --nonsense
	[[ $stderr == "devrun: error: unknown option '--nonsense'; see devrun --help" ]]
}

@test "a file that is called like a verb is read as ./list, behind --, or behind an option" {
	cp one.mp list
	for file in "./list" "-- list"; do
		devrun $file > r.mp
		py 'assert len(runs("r.mp")) == 1'
	done
	devrun --runs 1 list > r.mp
	py 'assert len(runs("r.mp")) == 1'
	rm list
}

@test "run --joules: energy of an inference by a recorded folder, or why there is none" {
	mkdir -p cap/intel-rapl:0
	echo 5000000 > cap/intel-rapl:0/max_energy_range_uj
	echo 1000 > cap/intel-rapl:0/energy_uj
	ir2dag "$ROOT/tests/models/small_increment_1x3x4x5.xml" | placebase single -D cpu:0 > one.mp
	HSDAG_POWERCAP=$PWD/cap run -0 devrun run --joules --runs 3 --no-reference -o still.mp one.mp
	py 'm, = runs("still.mp"); assert m["ok"] and m["joules"] == 0, m'
	# A counter that goes on while it runs.
	(
		for ((i = 0; i < 400; i++)); do
			echo $((1000 + 1000 * i)) > cap/next
			mv cap/next cap/intel-rapl:0/energy_uj
			sleep 0.02
		done
	) &
	local counter=$!
	HSDAG_POWERCAP=$PWD/cap run -0 devrun run --joules --runs 3 --no-reference -o counted.mp one.mp
	kill "$counter"
	py 'm, = runs("counted.mp"); assert 0 < m["joules"] < 1, m'
	placeout -f report counted.mp | grep -qE '^energy: [0-9.e-]+ J an inference'
	rm cap/intel-rapl:0/max_energy_range_uj
	HSDAG_POWERCAP=$PWD/cap run -1 --separate-stderr devrun run --joules -o none.mp one.mp
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "devrun: error: energy cannot be measured here: cannot read '"* ]]
	HSDAG_POWERCAP=$PWD/nowhere run -1 --separate-stderr devrun run --joules -o none.mp one.mp
	[[ "$stderr" == "devrun: error: energy cannot be measured here: cannot read '"* ]]
	run -2 devrun run --joules --rounds 3 one.mp
}

@test "a constant whose dims only its value tells is read by what draws from it" {
	cd "$BATS_FILE_TMPDIR"
	py '
		from tiny_ir import Model
		m = Model("open_const")
		x = m.layer("Parameter", "x", "f32", (1, 4))
		where = m.layer("NonZero", "where", "i64", (1, -1), m.const("ones", "f32", np.ones(3, "f4")), output_type="i64", opset="opset3")
		weights = m.layer("Convert", "weights", "f32", (1, -1), where, destination_type="f32")     # 0 1 2
		draw = m.layer("Multinomial", "draw", "i64", (1, 4), weights, m.const("n", "i32", np.array(4, "i4")), convert_type="i64",
		               with_replacement="true", log_probs="false", global_seed="3", op_seed="5", opset="opset13")
		drawn = m.layer("Convert", "drawn", "f32", (1, 4), draw, destination_type="f32")
		m.result(m.layer("Multiply", "product", "f32", (1, 4), drawn, x, auto_broadcast="numpy"))
		m.save()
		os.mkdir("open_in")
		np.save("open_in/0.npy", np.ones((1, 4), "f4"))
	'
	ir2dag open_const.xml | placebase single -D cpu:0 | devrun run -n 1 --warmup 0 --no-reference -i open_in --outputs open_out -o open.mp
	py 'y = np.load("open_out/0.npy"); assert y.shape == (1, 4) and set(y.ravel()) <= {1, 2}, y'
}
