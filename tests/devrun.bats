#!/usr/bin/env bats
# devrun: devices, what it adds to a stream, inputs and outputs, failures. That the numbers it
# computes are right is parity.bats' part; that any order of execution is safe, test_exec.c's.
bats_require_minimum_version 1.5.0

setup_file() {
	export HSDAG_PYTHON B OPENBLAS_NUM_THREADS=1 CORES
	HSDAG_PYTHON=$(realpath -s "${HSDAG_PYTHON:-${B:-build}/venv/bin/python}")
	B=$(realpath "${B:-build}")
	PATH=$B/bin:$PATH
	CORES=$(nproc)
	sh "$BATS_TEST_DIRNAME/models.sh" mobilenet_v3_large rnnlm small_increment_1x3x4x5 \
		"$BATS_FILE_TMPDIR"
	cd "$BATS_FILE_TMPDIR" || return 1
	for m in mobilenet_v3_large rnnlm small_increment_1x3x4x5; do
		ir2dag "$m.xml" > "$m.mp"
	done
	placebase single -D cpu:0 mobilenet_v3_large.mp > one.mp
	placebase single -D cpu:0 small_increment_1x3x4x5.mp > tiny.mp
	placebase random -n 3 --draw uniform -D cpu:0,cpu:1 mobilenet_v3_large.mp > random.mp
}

setup() {
	PATH=$B/bin:$PATH
	cd "$BATS_FILE_TMPDIR" || return 1
}

two_cores() {
	[ "$CORES" -ge 2 ] || skip "needs two cores"
}

# py CODE - Python with read(FILE) -> [[kind, map]], write(FILE, records), tensor(t), runs(FILE)
py() {
	"$HSDAG_PYTHON" - "$1" <<-'PY'
		import sys, textwrap, msgpack, xxhash, numpy as np
		def read(f):
		    return list(msgpack.Unpacker(open(f, "rb"), max_buffer_size=2**30))
		def write(f, records):
		    wire = [msgpack.packb(r) for r in records]
		    end = {"records": len(wire) - 1, "digest": xxhash.xxh64(b"".join(wire[1:])).intdigest()}
		    open(f, "wb").write(b"".join(wire) + msgpack.packb(["end", end]))
		def tensor(t):
		    return np.frombuffer(t["data"], "<" + t["dtype"][0] + str(int(t["dtype"][1:]) // 8)).reshape(t["shape"])
		def runs(f):
		    return [m for k, m in read(f) if k == "run"]
		exec(textwrap.dedent(sys.argv[1]))
	PY
}

@test "--list shows the cores" {
	run -0 devrun --list
	[[ $output == *"cpu "*"core"* ]]
	two_cores
	[[ $output == *"cpu:0 "*"1 core"* ]]
}

@test "device lists: what is wrong is said, with status 2" {
	while read -r list text; do
		run -2 --separate-stderr devrun -o no.mp --probe -D "$list" tiny.mp
		[[ $stderr == *"$text"* ]] || { echo "$list: $stderr"; return 1; }
	done <<-'END'
		gpu:0 unknown device 'gpu:0'
		cpu0 unknown device 'cpu0'
		cpu: not a list of cores
		cpu:1-0 not a list of cores
		cpu:0-x not a list of cores
		cpu:999 core 999 is not there
		cpu:0,cpu:0 twice
		cpu,cpu:0 share cores
		cpu:0,cpu:0-0 share cores
	END
	run -0 devrun --probe --allow-shared -D cpu,cpu:0 -o shared.mp tiny.mp
	run -2 devrun --probe --paired -D cpu tiny.mp
	run -2 devrun --min-runs 5 --max-runs 4 tiny.mp
}

@test "a core and all of PoCL share cores; a core and one unit of it do not" {
	two_cores
	devrun --list | grep -q '^cl:0.0 .*PoCL' || skip "no PoCL"
	run -2 --separate-stderr devrun -o no.mp --probe -D cpu:0,cl:0.0 tiny.mp
	[[ $stderr == *"'cpu:0' and 'cl:0.0' share cores"* ]]
	run -0 --separate-stderr devrun --probe -D cpu:0,cl:0.0:1 -o cl.mp tiny.mp
	while read -r list text; do
		run -2 --separate-stderr devrun -o no.mp --probe -D "$list" tiny.mp
		[[ $stderr == *"device '$list': $text"* ]] || { echo "$list: $stderr"; return 1; }
	done <<-'END'
		cl:9.9 no OpenCL platform 9
		cl:0.99 no device 99
		cl:0.0:99999 no compute unit 99999
	END
	placebase single -D cl:9.9 mobilenet_v3_large.mp > nowhere.mp
	run -3 --separate-stderr devrun -o no.mp nowhere.mp
	[[ $stderr == *"no OpenCL platform 9"* ]]
}

@test "a device that is lost is data, and the rest goes on" {
	two_cores
	devrun --list | grep -q '^cl:0.0 .*PoCL' || skip "no PoCL"
	"${CC:-gcc}" -D_GNU_SOURCE -shared -fPIC -o lost.so "$BATS_TEST_DIRNAME/fail_enqueue.c" -ldl
	(
		placebase single -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp
		placebase random -n 6 --draw uniform -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp
	) > both.mp
	py '
		r = read("both.mp")
		write("lose.mp", r[:2] + [x for x in r if x[0] == "place"] + [x for x in r if x[0] == "place"][:1])
	'
	for n in 0 400; do
		run -0 --separate-stderr env LD_PRELOAD=./lost.so HSDAG_FAIL=clEnqueueNDRangeKernel HSDAG_FAIL_AFTER=$n \
			ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
			devrun --runs 2 -o lost.mp lose.mp
		py '
			x = runs("lost.mp")
			assert len(x) == 9, len(x)
			bad = [m for m in x if not m["ok"]]
			assert bad and all("cl:0.0:1" in m["reason"] and "OUT_OF_RESOURCES" in m["reason"] for m in bad), bad
			assert x[0]["ok"] and x[-1]["ok"] and x[-1]["ref_s"] > 0
			assert not x[-2]["ok"]
		'
	done
	# When nothing is left, that is an error.
	placebase single -D cl:0.0:1 mobilenet_v3_large.mp > lose.mp
	run -1 --separate-stderr env LD_PRELOAD=./lost.so HSDAG_FAIL=clEnqueueNDRangeKernel \
		ASAN_OPTIONS=verify_asan_link_order=0 devrun --runs 2 -o no.mp lose.mp
	[[ $stderr == *"no device is left"*"cl:0.0:1"* ]]
}

@test "a build, an allocation, a transfer that fails on OpenCL is data" {
	two_cores
	devrun --list | grep -q '^cl:0.0 .*PoCL' || skip "no PoCL"
	"${CC:-gcc}" -D_GNU_SOURCE -shared -fPIC -o lost.so "$BATS_TEST_DIRNAME/fail_enqueue.c" -ldl
	placebase single -D cl:0.0:1,cpu:0 mobilenet_v3_large.mp > fail.mp
	for what in clBuildProgram:0 clBuildProgram:1 clCreateBuffer:0 clCreateBuffer:40 clEnqueueMapBuffer:0 \
		clEnqueueWriteBuffer:0 clEnqueueWriteBuffer:99 clEnqueueReadBuffer:0; do
		run -0 --separate-stderr env LD_PRELOAD=./lost.so HSDAG_FAIL=${what%:*} HSDAG_FAIL_AFTER=${what#*:} \
			HSDAG_CL_PINNED=1 ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
			devrun --runs 2 --warmup 0 --no-reference -o failed.mp fail.mp
		WHAT=${what%:*} py '
			import os
			bad, good = runs("failed.mp")
			assert not bad["ok"] and "cl:0.0:1" in bad["reason"] and os.environ["WHAT"] in bad["reason"], bad
			assert good["ok"], good
		'
	done
}

@test "--precision f16: refused where the device lacks it, else near f32" {
	two_cores
	devrun --list | grep -q '^cl:0.0 .*PoCL' || skip "no PoCL"
	placebase single -D cpu:0 mobilenet_v3_large.mp > f32.mp
	placebase single -D cl:0.0:1/precision=f16 mobilenet_v3_large.mp > f16.mp
	run -2 --separate-stderr devrun -D cl:0.0:1 --precision f8 -o no.mp f16.mp
	[[ $stderr == *"f16 or f32"* ]]
	if ! clinfo 2>/dev/null | grep -q cl_khr_fp16; then
		run -2 --separate-stderr devrun -D cl:0.0:1 --precision f16 -o no.mp f16.mp
		[[ $stderr == *"cl:0.0:1/precision=f16"*"cl_khr_fp16"* ]]
	fi
	devrun --runs 1 --no-reference --outputs f32 -o f32run.mp f32.mp
	# The kernels store f16 and compute in f32 where the device has no more.
	HSDAG_CL_HALF=1 devrun -D cl:0.0:1 --precision f16 --runs 1 --no-reference --outputs f16 -o run.mp f16.mp
	py '
		import numpy as np
		a, b = np.load("f32/0.npy"), np.load("f16/0.npy")
		assert runs("run.mp")[0]["ok"]
		off = abs(a - b).max() / abs(a).max()
		assert 1e-5 < off < 2e-2, off
	'
}

@test "--probe adds devs and keeps the rest" {
	dagfeat mobilenet_v3_large.mp > feat.mp
	devrun --probe -D cpu:0 -o probe.mp feat.mp
	py '
		f, p = read("feat.mp"), read("probe.mp")
		assert [k for k, m in p] == ["hdr", "graph", "devs", "feat", "end"]
		assert p[1] == f[1] and p[3] == f[2]
		d = p[2][1]
		assert d["names"] == ["cpu:0"] and d["types"] == ["cpu"]
		assert tensor(d["mask"]).shape == (f[1][1]["n_sets"], 1) and tensor(d["mask"]).min() == 1
		assert tensor(d["mem_bytes"])[0] > 1e8
	'
}

@test "--probe --profile adds what sets and copies take" {
	two_cores
	run -2 devrun --profile -D cpu:0 -o no.mp mobilenet_v3_large.mp
	devrun --probe --profile -D cpu:0,cpu:1 -o profile.mp mobilenet_v3_large.mp
	placebase heft profile.mp | placebase single | devrun --runs 5 -o heft.mp
	py '
		p = read("profile.mp")
		assert [k for k, m in p] == ["hdr", "graph", "devs", "cost", "end"]
		g, d, c = (m for k, m in p[1:4])
		assert c["graph"] == d["graph"] == g["digest"] and c["names"] == d["names"] == ["cpu:0", "cpu:1"]
		x = tensor(c["set_s"])
		assert x.shape == (g["n_sets"], 2) and x.min() >= 0 and x.max() > 1e-5
		assert sorted((l["src"], l["dst"]) for l in d["links"]) == [(0, 1), (1, 0)]
		for l in d["links"]:
			assert l["latency_s"] > 0 and 0 < l["bytes_per_s"] < np.inf, l
			assert l["latency_lo"] <= l["latency_s"] <= l["latency_hi"] and l["bytes_per_s_lo"] <= l["bytes_per_s"] <= l["bytes_per_s_hi"], l
		lo, hi, saved = tensor(c["set_lo"]), tensor(c["set_hi"]), tensor(c["saved_s"])
		assert lo.shape == hi.shape == x.shape and (lo <= x).all() and (x <= hi).all() and (lo < hi).any()
		# Convolutions run with the bias of the set behind them; pairs are of different sets, once each.
		pairs = list(zip(tensor(c["pair_src"]).tolist(), tensor(c["pair_dst"]).tolist()))
		assert len(pairs) > 30 and pairs == sorted(set(pairs)) and all(a != b for a, b in pairs)
		assert saved.shape == (len(pairs), 2) and tensor(c["saved_lo"]).shape == saved.shape
		x = x - np.array([[saved[[p[1] == i for p in pairs], j].sum() for j in (0, 1)] for i in range(len(x))])
		# In context: the sets of a device add up to seconds of a whole inference there, not to milliseconds
		# or to a set; the bound is no measure of speed.
		heft, one, two = runs("heft.mp")
		assert heft["ok"] and heft["source"] == "heft", heft
		for m, s in zip((one, two), x.sum(0)):
			assert m["source"] == "single" and 1 / 300 < s / tensor(m["samples_s"]).min() < 300, (s, m["samples_s"])
	'
}

@test "--probe --profile on OpenCL" {
	two_cores
	devrun --list | grep -q '^cl:0.0 .*PoCL' || skip "no PoCL"
	devrun --probe --profile -D cl:0.0:1,cpu:0 mobilenet_v3_large.mp | placebase single | devrun --runs 5 -o profile.mp
	py '
		p = dict(read("profile.mp"))
		for m, s in zip(runs("profile.mp"), tensor(p["cost"]["set_s"]).sum(0)):
			assert 1 / 300 < s / tensor(m["samples_s"]).min() < 300, (s, m["samples_s"])
		assert len(p["devs"]["links"]) == 2
	'
}

@test "--probe tells which devices have cores in common" {
	two_cores
	devrun --probe --allow-shared -D cpu,cpu:0,cpu:1 -o shares.mp tiny.mp
	devrun --probe -D cpu:0,cpu:1 -o apart.mp tiny.mp
	py '
		assert dict(read("shares.mp"))["devs"]["shares"] == [[0, 1], [0, 2]]
		assert "shares" not in dict(read("apart.mp"))["devs"]
	'
}

@test "--probe finds devices by itself" {
	devrun --probe -o found.mp tiny.mp
	placebase single found.mp | devrun --runs 1 --no-reference -o r.mp
	py 'assert all(m["ok"] for m in runs("r.mp")) and runs("r.mp")'
}

@test "shapes that do not follow from each other are refused, with the layer" {
	py '
		r = read("tiny.mp")[:-1]
		g = r[1][1]
		d = tensor(g["dim"]).copy()
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
			s = tensor(x["samples_s"])
			assert x["ok"] and len(s) >= 6 and s.min() > 0
			assert x["lo_s"] <= x["lat_s"] <= x["hi_s"] and abs(x["lat_s"] - np.median(s)) < 1e-12
			assert x["copies"] > 10 and x["copy_bytes"] > 1000 and x["ref_s"] > 0
			busy, mem = tensor(x["busy_s"]), tensor(x["mem_bytes"])
			assert busy.shape == mem.shape == (2,) and busy.min() > 0 and busy.max() <= s[-1]
			assert 1e5 < mem.min() and mem.max() < 1e8
	'
}

@test "--runs, --paper and --warmup count" {
	devrun --runs 3 -o r3.mp one.mp
	devrun --paper --no-reference -o p.mp one.mp
	py '
		x, = runs("r3.mp")
		assert len(tensor(x["samples_s"])) == 3
		x, = runs("p.mp")
		s = tensor(x["samples_s"])
		assert len(s) == 10 and abs(x["lat_s"] - s[5:].mean()) < 1e-12 and x["ref_s"] == 0
	'
}

@test "the devices of the stream, and -D in their place" {
	two_cores
	devrun --probe -D cpu:1,cpu:0 mobilenet_v3_large.mp | placebase single:cpu:0 | devrun --runs 1 -o r.mp
	py '
		x, = runs("r.mp")
		assert x["ok"] and list(tensor(x["busy_s"]) > 0) == [False, True]
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

@test "the same bits on one core, on two and on all" {
	two_cores
	for p in one random; do
		devrun --runs 2 --no-reference --outputs "bits.$p" "$p.mp" > /dev/null
	done
	placebase single -D cpu mobilenet_v3_large.mp | devrun --runs 2 --no-reference --outputs bits.all > /dev/null
	cmp bits.one/0.npy bits.random/0.npy
	cmp bits.one/0.npy bits.all/0.npy
}

@test "weights that are missing, short, or no file" {
	head -c 1000000 mobilenet_v3_large.bin > short.bin
	run -3 --separate-stderr devrun -o no.mp --weights short.bin one.mp
	[[ $stderr == *"short.bin"*"layer "*"beyond the weights"* ]]
	run -1 --separate-stderr devrun -o no.mp --weights nowhere.bin one.mp
	[[ $stderr == *"nowhere.bin"* ]]
	mkfifo fifo.bin
	for f in fifo.bin . /dev/zero; do
		run -3 --separate-stderr timeout 5 devrun -o no.mp --weights "$f" one.mp
		[[ $stderr == *"regular file"* ]]
	done
	ir2dag "$BATS_TEST_DIRNAME/models/alexnet.xml" > bare.mp
	run -3 --separate-stderr devrun -o no.mp --probe -D cpu:0 bare.mp
	[[ $stderr == *"has no weights file"* ]]
}

@test "an operator that no device can run is named, with its layer, before anything runs" {
	cp small_increment_1x3x4x5.bin nobody.bin
	sed 's/type="Add"/type="Frobnicate"/' small_increment_1x3x4x5.xml > nobody.xml
	ir2dag --any-operator nobody.xml > nobody.mp
	run -3 --separate-stderr devrun -o no.mp --probe -D cpu:0 nobody.mp
	[[ $stderr == *"operator 'Frobnicate"*"layer "*"can run on none of the devices"* ]]
	run -3 --separate-stderr bash -c 'placebase single -D cpu:0 nobody.mp | devrun -o no.mp'
	[[ $stderr == *"operator 'Frobnicate"* ]]
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
	run -1 --separate-stderr timeout 120 bash -c 'set -o pipefail; devrun --runs 100000 one.mp | sleep 0.3'
	[[ $stderr == *"reader"* ]]
}

@test "--paired: candidates and singles in pairs, and the last word" {
	two_cores
	py '
		r = read("random.mp")[:-1]
		best = [["best", {**m, "rank": i, "n_groups": 9, "lat_s": 1.0, "ref_s": 1.0}] for i, (k, m) in enumerate(r[2:])]
		write("best.mp", r[:2] + best)
	'
	devrun --paired --max-seconds 0.1 -o final.mp best.mp
	py '
		r = read("final.mp")
		assert [k for k, m in r] == ["hdr", "graph"] + 3 * ["best"] + 5 * ["run"] + ["best", "end"], [k for k, m in r]
		x = runs("final.mp")
		assert [m["source"] for m in x] == 2 * ["single"] + 3 * ["random"]
		for m in x:
			assert m["ok"] and m["ratio_lo"] <= m["ratio"] <= m["ratio_hi"]
		assert any(m["ratio"] == 1 for m in x[:2])
		f = r[-2][1]
		assert f["final"] and f["reference"] in ("cpu:0", "cpu:1") and f["n_pairs"] >= 8
		assert f["out_cos"] > 0.999999 and f["out_max"] < 1e-5
		single = f["source"] == "single"
		assert f["ratio"] == f["ratio_hi"] == 1 if single else f["ratio_hi"] < 1
		# One placement, one latency: the final rounds are where all rows come from.
		ref = x[("cpu:0", "cpu:1").index(f["reference"])]
		assert ref["ratio"] == 1 and ref["lat_s"] == f["ref_s"] == min(m["lat_s"] for m in x[:2])
		rounds = [len(tensor(m["samples_s"])) for m in x[:2]]
		assert rounds == 2 * [f["n_pairs"]], rounds
		assert sum(m["lat_s"] == f["lat_s"] for m in x) == 1
		assert single == (f["copies"] == 0) and (f["n_groups"] == 1 if single else f["n_groups"] == 9)
	'
	# What it wrote can be judged again.
	devrun --paired --max-seconds 0.1 --candidates 1 -o again.mp final.mp
	recdump --check again.mp
}

@test "--paired: a placement all on one device is that device, and no gain" {
	two_cores
	placebase single -D cpu:0,cpu:1 mobilenet_v3_large.mp > singles.mp
	py '
		r = read("singles.mp")[:-1]
		for d in 0, 1:
			write(f"all{d}.mp", r[:2] + [["best", {**r[2 + d][1], "source": "policy", "rank": 0, "n_groups": 9}]])
	'
	for d in 0 1; do
		devrun --paired --max-seconds 0.1 -o final.mp all$d.mp
		D=$d py '
			import os
			x, d = runs("final.mp"), int(os.environ["D"])
			f = read("final.mp")[-2][1]
			assert f["source"] == "single" and f["reference"] == f["devices"][tensor(f["device"])[0]]
			assert f["ratio"] == f["ratio_lo"] == f["ratio_hi"] == 1 and f["lat_s"] == f["ref_s"] and f["copies"] == 0
			assert x[2]["source"] == "policy" and x[2]["ratio"] == x[d]["ratio"] and x[2]["lat_s"] == x[d]["lat_s"]
		'
	done
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
		assert x["ok"] and 0 < x["lat_s"] and x["ref_s"] > 0 and tensor(x["samples_s"]).min() > 0
	'
}

@test "--support: operators by devices, from a model or a stream" {
	devrun --list | grep -q '^cl:0.0 .*PoCL' || skip "no PoCL"
	devrun --support -D cpu:0,cl:0.0 mobilenet_v3_large.xml > support.txt
	[[ $(head -n 1 support.txt) =~ operator\ +layers\ +cpu:0\ +cl:0.0 ]]
	grep -qE '^Convolution-opset1 +47 +yes +yes$' support.txt
	grep -qE '^187 layers to run .* 0 run nowhere$' support.txt
	devrun --support -D cpu:0,cl:0.0 mobilenet_v3_large.mp | cmp - support.txt
	run -0 devrun --support small_increment_1x3x4x5.xml
	[[ $output == *operator*layers*cpu* ]]
	run -2 devrun --support --probe tiny.mp
	cp small_increment_1x3x4x5.bin odd.bin
	sed 's/type="Add"/type="Frobnicate"/' small_increment_1x3x4x5.xml > odd.xml
	run -3 devrun --support -D cpu:0 odd.xml
	[[ $output =~ Frobnicate-opset1\ +1\ +no ]]
	[[ $output == *"not on cpu:0: "*"layer "*"1 run nowhere"* ]]
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
}

@test "damaged streams are refused in good order" {
	run -0 timeout 300 "$HSDAG_PYTHON" "$BATS_TEST_DIRNAME/fuzz/mutate.py" tiny.mp "${HOSTILE:-60}" "${SEED:-1}" \
		"$B/bin/devrun" --runs 1 --no-reference
}

@test "the k-th allocation fails cleanly" {
	for ((k = 1; k < 4000; k = k * 5 / 4 + 1)); do
		HSDAG_FAIL_ALLOC=$k run timeout 10 devrun --runs 1 --no-reference -o alloc.mp tiny.mp
		[ "$status" -le 3 ] || { echo "k=$k: $status"; return 1; }
	done
}

@test "a full disk is noticed" {
	run -1 --separate-stderr bash -c 'devrun --runs 1 tiny.mp > /dev/full'
	[[ $stderr == *"No space left"* ]]
}
