#!/usr/bin/env bats
# devrun's devices: their names, what they can run and how fast, what happens when one fails.
# programs: devrun
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	models mobilenet_v3_large small_increment_1x3x4x5
	placebase single -D cpu:0 small_increment_1x3x4x5.mp > tiny.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "--list shows the cores" {
	run -0 devrun --list
	[[ $output == *"cpu "*"core"* ]]
	two_cores
	[[ $output == *"cpu:0 "*"1 core"* ]]
}

@test "an OpenCL library that several .icd files name is listed once" {
	needs_pocl
	local lib
	lib=$(awk '{print $1; exit}' /etc/OpenCL/vendors/pocl*.icd) && [ -n "$lib" ] || skip "no .icd of PoCL"
	mkdir -p vendors
	echo "$lib" > vendors/a.icd
	echo "$lib" > vendors/b.icd
	[ "$(OCL_ICD_VENDORS=$PWD/vendors OPENCL_VENDOR_PATH=$PWD/vendors devrun --list | grep -c '^cl:')" = "$(devrun --list | grep -c '^cl:0')" ]
	run -2 env OCL_ICD_VENDORS="$PWD/vendors" OPENCL_VENDOR_PATH="$PWD/vendors" devrun probe -D cl:1.0 tiny.mp -o no.mp
	[[ $output == *"no OpenCL platform 1; there are 1"* ]]
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
		cpu:5000 core 5000 is not there
		cpu:999 core 999 is not there
		ov:CPU:1-0 not a list of cores
		ov:CPU:0- not a list of cores
		cpu:0,cpu:0 twice
	END
	run -2 devrun --probe --paired -D cpu tiny.mp
	run -2 devrun --min-runs 5 --max-runs 4 tiny.mp
}

@test "a core and all of PoCL share cores; a core and one unit of it do not" {
	two_cores
	needs_pocl
	run -2 --separate-stderr devrun -o no.mp --probe -D cpu:0,cl:0.0 tiny.mp
	[[ $stderr == *"'cpu:0' and 'cl:0.0' share cores, cannot take turns"* ]]
	devrun --probe --allow-shared -D cpu:0,cl:0.0 -o shared.mp tiny.mp
	py 'd = of("shared.mp", "devs")[0]; assert d["shares"] == [[0, 1]] and "turns" not in d, d'
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
	needs_pocl
	make_losing
	(
		placebase single -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp
		placebase random -n 6 --draw uniform -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp
	) > both.mp
	py '
		r = read("both.mp")
		write("lose.mp", r[:2] + [x for x in r if x[0] == "place"] + [x for x in r if x[0] == "place"][:1])
	'
	for n in 0 400; do
		run -0 --separate-stderr losing clEnqueueNDRangeKernel:$n devrun --runs 2 -o lost.mp lose.mp
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
	run -1 --separate-stderr losing clEnqueueNDRangeKernel devrun --runs 2 -o no.mp lose.mp
	[[ $stderr == *"no device is left"*"cl:0.0:1"* ]]
}

@test "a build, an allocation, a transfer that fails on OpenCL is data" {
	two_cores
	needs_pocl
	make_losing
	placebase single -D cl:0.0:1,cpu:0 mobilenet_v3_large.mp > fail.mp
	for what in clBuildProgram:0 clBuildProgram:1 clCreateBuffer:0 clCreateBuffer:40 clEnqueueMapBuffer:0 \
		clEnqueueWriteBuffer:0 clEnqueueWriteBuffer:99 clEnqueueReadBuffer:0; do
		HSDAG_CL_PINNED=1 run -0 --separate-stderr losing "$what" devrun --runs 2 --warmup 0 --no-reference -o failed.mp fail.mp
		py '
			bad, good = runs("failed.mp")
			assert not bad["ok"] and "cl:0.0:1" in bad["reason"] and sys.argv[1] in bad["reason"], bad
			assert good["ok"], good
		' "${what%:*}"
	done
}

@test "--precision f16: refused where the device lacks it, else near f32" {
	two_cores
	needs_pocl
	ir2dag mobilenet_v3_large.xml --shape 1,3,112,112 -o less.mp
	placebase single -D cpu:0 less.mp > f32.mp
	placebase single -D cl:0.0:1/precision=f16 less.mp > f16.mp
	run -2 --separate-stderr devrun -D cl:0.0:1 --precision f8 -o no.mp f16.mp
	[[ $stderr == *"f16, bf16 or f32"* ]]
	if ! clinfo 2>/dev/null | grep -q cl_khr_fp16; then
		run -2 --separate-stderr devrun -D cl:0.0:1 --precision f16 -o no.mp f16.mp
		[[ $stderr == *"cl:0.0:1/precision=f16"*"cl_khr_fp16"* ]]
	fi
	devrun --runs 1 --no-reference --outputs f32 -o f32run.mp f32.mp
	# The kernels store f16 and compute in f32 where the device has no more.  PoCL takes a minute to optimise them for a
	# processor, which they are not made for.
	HSDAG_CL_HALF=1 POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable devrun -D cl:0.0:1 --precision f16 --runs 1 --warmup 0 --no-reference --outputs f16 -o run.mp f16.mp
	py '
		import numpy as np
		a, b = np.load("f32/0.npy"), np.load("f16/0.npy")
		assert runs("run.mp")[0]["ok"]
		off = abs(a - b).max() / abs(a).max()
		assert 1e-5 < off < 2e-2, off
	'
}

@test "OpenCL in bf16: refused where there are no matrix units, else products near f32" {
	two_cores
	needs_pocl
	run -2 --separate-stderr devrun list -D cl:0.0:1/precision=bf17
	[[ $stderr == *"/precision=f16 or /precision=bf16"* ]]
	run -2 --separate-stderr devrun list -D cl:0.0:1/precision=bf16
	[[ $stderr == *"cl:0.0:1/precision=bf16"*"no products in bf16"*"compute capability 8.0"* ]]
	ir2dag mobilenet_v3_large.xml --shape 1,3,112,112 -o less.mp
	placebase single -D cl:0.0:1/precision=bf16 less.mp > b16.mp
	run -2 --separate-stderr devrun -D cl:0.0:1 --precision bf16 -o no.mp b16.mp
	[[ $stderr == *"cl:0.0:1/precision=bf16"*"no products in bf16"* ]]
	# The kernels round to bf16 and multiply item by item where the device has no more.
	export HSDAG_CL_BF16=1 POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
	run -0 devrun list -D cl:0.0:1/precision=bf16
	[[ $output == "cl:0.0:1/precision=bf16 "* ]]
	placebase single -D cpu:0 less.mp | devrun --runs 1 --no-reference --outputs near32 -o run.mp
	devrun -D cl:0.0:1 --precision bf16 --runs 1 --warmup 0 --no-reference --outputs near16 -o run.mp b16.mp
	py '
		import numpy as np
		a, b = np.load("near32/0.npy"), np.load("near16/0.npy")
		assert runs("run.mp")[0]["ok"]
		off = abs(a - b).max() / abs(a).max()
		assert 1e-3 < off < 3e-2, off
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
		assert array(d["mask"]).shape == (f[1][1]["n_sets"], 1) and array(d["mask"]).min() == 1
		assert array(d["mem_bytes"])[0] > 1e8
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
		x = array(c["set_s"])
		assert x.shape == (g["n_sets"], 2) and x.min() >= 0 and x.max() > 1e-5
		assert sorted((l["src"], l["dst"]) for l in d["links"]) == [(0, 1), (1, 0)]
		for l in d["links"]:
			assert l["latency_s"] > 0 and 0 < l["bytes_per_s"] < np.inf, l
			assert l["latency_lo"] <= l["latency_s"] <= l["latency_hi"] and l["bytes_per_s_lo"] <= l["bytes_per_s"] <= l["bytes_per_s_hi"], l
		lo, hi, saved = array(c["set_lo"]), array(c["set_hi"]), array(c["saved_s"])
		assert lo.shape == hi.shape == x.shape and (lo <= x).all() and (x <= hi).all() and (lo < hi).any()
		# Convolutions run with the bias of the set behind them; pairs are of different sets, once each.
		pairs = list(zip(array(c["pair_src"]).tolist(), array(c["pair_dst"]).tolist()))
		assert len(pairs) > 30 and pairs == sorted(set(pairs)) and all(a != b for a, b in pairs)
		assert saved.shape == (len(pairs), 2) and array(c["saved_lo"]).shape == saved.shape
		# In context: the sets of a device add up to seconds of a whole inference there, not to milliseconds
		# or to a set; the bound is no measure of speed.
		heft, one, two = runs("heft.mp")
		assert heft["ok"] and heft["source"] == "heft", heft
		for m, s in zip((one, two), x.sum(0)):
			assert m["source"] == "single" and 1 / 300 < s / array(m["samples_s"]).min() < 300, (s, m["samples_s"])
	'
}

@test "--probe --profile of a slow model: a run or two on each device, and no probes" {
	py '
		from tiny_ir import Model
		m, n = Model("slow"), 1500
		x = m.layer("Parameter", "x", "f32", (n, n))
		for i in range(3):
			y = m.layer("MatMul", f"product{i}", "f32", (n, n), x, x, transpose_a="false", transpose_b="false")
			m.result(m.layer("Relu", f"relu{i}", "f32", (n, n), y))
		m.save()
	'
	ir2dag slow.xml -o slow.mp
	devrun probe --profile --max-seconds 0.0001 -D cpu:0,cpu:1 -o hurried.mp slow.mp
	py '
		def cost(f):
			p = dict(read(f))["cost"]
			return [array(p[x]) for x in ("set_s", "set_lo", "set_hi")]
		s, lo, hi = cost("hurried.mp")
		ran = s[:, 0] > 0
		assert ran.sum() >= 3 and (s[ran] > 0).all(), s
		# Of one run nobody knows what another one takes.
		assert np.allclose(lo[ran] / s[ran], 0.5) and np.allclose(hi[ran] / s[ran], 1.5), (s, lo, hi)
		# The second core runs once, and has its times from the first.
		assert np.ptp(s[ran, 1] / s[ran, 0]) < 1e-9, s
	'
	placebase single hurried.mp | devsim -o told.mp
	py 'assert [m["ok"] for m in runs("told.mp")] == [True, True]'
}

@test "--probe --profile on OpenCL" {
	two_cores
	needs_pocl
	devrun --probe --profile -D cl:0.0:1,cpu:0 mobilenet_v3_large.mp | placebase single | devrun --runs 5 -o profile.mp
	py '
		p = dict(read("profile.mp"))
		for m, s in zip(runs("profile.mp"), array(p["cost"]["set_s"]).sum(0)):
			assert 1 / 300 < s / array(m["samples_s"]).min() < 300, (s, m["samples_s"])
		assert len(p["devs"]["links"]) == 2
	'
}

@test "--probe tells which devices have cores in common, and take turns unless told otherwise" {
	two_cores
	devrun --probe --allow-shared -D cpu,cpu:0,cpu:1 -o shares.mp tiny.mp
	devrun --probe -D cpu,cpu:0,cpu:1 -o turns.mp tiny.mp
	devrun --probe -D cpu:0,cpu:1 -o apart.mp tiny.mp
	py '
		shares, turns, apart = (dict(read(f))["devs"] for f in ("shares.mp", "turns.mp", "apart.mp"))
		assert shares["shares"] == turns["shares"] == [[0, 1], [0, 2]] and "shares" not in apart
		assert array(turns["turns"]).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
		assert "turns" not in shares and "turns" not in apart
	'
}

@test "devices that take turns: results are the same, and nothing computes at once" {
	two_cores
	devrun --probe --profile --max-seconds 0.1 -D cpu:0,cpu:1,cpu -o turns.mp mobilenet_v3_large.mp
	placebase single:cpu turns.mp | devrun -n 1 --no-reference --outputs one -o one.mp
	placebase random -n 6 turns.mp -o six.mp
	devrun -n 1 --no-reference --schedule --outputs many -o ran.mp six.mp
	devsim --schedule six.mp -o simulated.mp
	py '
		for f, slack in ("simulated.mp", 0), ("ran.mp", 20e-6):
		    for place, run in zip(of(f, "place"), of(f, "run")):
		        assert run["ok"], run
		        x = run["schedule"]
		        dev = array(place["device"])[array(x["set"])]
		        start, end = array(x["start_s"]), array(x["end_s"])
		        wide = dev == 2
		        assert wide.any() and not wide.all()
		        for s, e in zip(start[wide], end[wide]):
		            at_once = (start[~wide] < e - slack) & (s < end[~wide] - slack)
		            assert not at_once.any(), (f, s, e)
		a, b = np.load("one/0.npy"), np.load("many/0.npy")
		assert np.abs(a - b).max() < 1e-4 * np.abs(a).max()
	'
	# HEFT and searches keep to it, too: no core is busy for longer than all takes.
	placebase heft turns.mp | placebase climb --evals 500 | devsim --schedule -o starts.mp
	py '
		for place, run in zip(of("starts.mp", "place"), of("starts.mp", "run")):
		    x = run["schedule"]
		    dev = array(place["device"])[array(x["set"])]
		    took = array(x["end_s"]) - array(x["start_s"])
		    for core in 0, 1:
		        assert took[(dev == core) | (dev == 2)].sum() <= run["lat_s"] * 1.0001
	'
}

@test "--apart places on the devices that compute at once" {
	two_cores
	devrun --probe --profile --max-seconds 0.05 -D cpu,cpu:1,cpu:0 -o turns.mp tiny.mp
	placebase heft --apart turns.mp | placebase random --apart -n 2 -o cores.mp
	py '
		made = [m for m in of("cores.mp", "place") if m["source"] != "single"]
		assert len(made) == 3
		for m in made:
		    assert m["devices"] == ["cpu", "cpu:1", "cpu:0"] and m["source"] in ("heft-apart", "random-apart"), m
		    assert 0 not in array(m["device"]), m
	'
	placebase heft --apart -D cpu,cpu:0 turns.mp -o one.mp
	py 'm = of("one.mp", "place")[-1]; assert m["devices"] == ["cpu", "cpu:0"] and len(set(array(m["device"]).tolist())) == 1'
	devrun --probe -D cpu:0,cpu:1 tiny.mp | placebase random --apart -o both.mp
	py 'assert of("both.mp", "place")[-1]["devices"] == ["cpu:0", "cpu:1"]'
}

@test "turns that are not symmetric, or of a device with itself, are refused" {
	two_cores
	devrun --probe -D cpu,cpu:0 -o turns.mp tiny.mp
	py '
		for i, bad in enumerate(([0, 1, 0, 0], [1, 1, 1, 0], [0, 2, 2, 0])):
		    r = read("turns.mp")
		    dict(r)["devs"]["turns"]["data"] = bytes(bad)
		    write("bad%d.mp" % i, r)
	'
	for i in 0 1 2; do
		run -3 placebase random bad$i.mp -o none.mp
		[[ $output == *"devs: turns: 0 or 1, the same both ways, and 0 of a device with itself"* ]]
	done
}

@test "--probe finds devices by itself" {
	two_cores
	devrun --probe -o found.mp tiny.mp
	placebase single found.mp | devrun --runs 1 --no-reference -o r.mp
	py 'assert all(m["ok"] for m in runs("r.mp")) and runs("r.mp")'
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

@test "--support: operators by devices, from a model or a stream" {
	needs_pocl
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

@test "a quantised model: without a list there is all cores in int8 too, and outputs are compared with those in f32" {
	cd "$BATS_TEST_TMPDIR" && "$HSDAG_PYTHON" "$ROOT/tests/support/int8_nets.py"
	names() { ir2dag "$1" | devrun probe "${@:2}" | recdump -k devs --tsv 'names[]' | paste -sd,; }
	model=$(printf '%s\n' *.xml | head -n 1)
	plain=$(names "$ROOT/tests/models/small_increment_1x3x4x5.xml")
	[ "$(names "$model")" = "$plain,cpu/precision=int8" ]
	[ "$(names "$model" -D cpu:0)" = "cpu:0" ]
	[ "$(names "$model" --precision bf16)" = "${plain//,/\/precision=bf16,}/precision=bf16" ]
	ir2dag "$model" | devrun probe -D cpu:0,cpu:0/precision=int8 | placebase single | devrun paired --placements --min-runs 1 --max-seconds 0.1 -o final.mp
	py '
		(b,) = [m for m in of("final.mp", "best") if m.get("final")]
		assert b.get("out_of", "") == ("" if b["reference"] == "cpu:0" else "cpu:0"), b
	'
}
