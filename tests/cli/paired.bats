#!/usr/bin/env bats
# devrun --paired: candidates and single devices in pairs, and the verdict.
# programs: devrun
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	models mobilenet_v3_large
	ir2dag mobilenet_v3_large.xml --shape 1,3,112,112 | placebase random -n 3 --draw uniform -D cpu:0,cpu:1 > random.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

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
		assert f["ratio"] == f["ratio_hi"] == 1 if single else f["ratio_hi"] < 1 or f["ratio"] < 0.96
		# One placement, one latency: the final rounds are where all rows come from.
		ref = x[("cpu:0", "cpu:1").index(f["reference"])]
		assert ref["ratio"] == 1 and ref["lat_s"] == f["ref_s"] == min(m["lat_s"] for m in x[:2])
		rounds = [len(array(m["samples_s"])) for m in x[:2]]
		assert rounds == 2 * [f["n_pairs"]], rounds
		assert sum(m["lat_s"] == f["lat_s"] for m in x) == 1
		assert single == (f["copies"] == 0) and (f["n_groups"] == 1 if single else f["n_groups"] == 9)
	'
	# The placements instead.
	py '
		r = read("random.mp")[:-1]
		write("both.mp", r + [["best", {**r[2][1], "rank": 0, "n_groups": 9, "lat_s": 1.0, "ref_s": 1.0}]])
	'
	devrun paired --placements --candidates 2 --race 1 --starts 1 -o race.mp both.mp
	py '
		assert [m["source"] for m in runs("race.mp")] == 2 * ["single"] + 2 * ["random"]
		assert of("race.mp", "best")[-1]["final"]
	'
	# What it wrote can be judged again.
	devrun --paired --max-seconds 0.1 --candidates 1 -o again.mp final.mp
	recdump --check again.mp
	py 'assert len(runs("again.mp")) == len(runs("final.mp")) + 3'      # two singles and one candidate
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
		py '
			x, d = runs("final.mp"), int(sys.argv[1])
			f = read("final.mp")[-2][1]
			assert f["source"] == "single" and f["reference"] == f["devices"][array(f["device"])[0]]
			assert f["ratio"] == f["ratio_lo"] == f["ratio_hi"] == 1 and f["lat_s"] == f["ref_s"] and f["copies"] == 0
			assert x[2]["source"] == "policy" and x[2]["ratio"] == x[d]["ratio"] and x[2]["lat_s"] == x[d]["lat_s"]
		' $d
	done
}

@test "--paired: placements are the candidates of a stream without best records" {
	two_cores
	devrun --paired --max-seconds 0.1 --max-runs 8 --candidates 2 -o final.mp random.mp
	py '
		r = read("final.mp")
		assert [k for k, m in r] == ["hdr", "graph"] + 3 * ["place"] + 4 * ["run"] + ["best", "end"], [k for k, m in r]
		x = runs("final.mp")
		assert [(m["source"], m["sample"]) for m in x] == [("single", 0), ("single", 1), ("random", 0), ("random", 1)]
		assert all(m["ok"] and m["ratio"] > 0 for m in x)
		# A best record behind them takes their place.
		one = ["best", {**r[4][1], "source": "policy", "rank": 0, "n_groups": 9}]
		write("both.mp", r[:5] + [one])
	'
	devrun --paired --max-seconds 0.1 --max-runs 8 final.mp | recdump --check
	devrun --paired --max-seconds 0.1 --max-runs 8 -o judged.mp both.mp
	py 'assert [m["source"] for m in runs("judged.mp")] == ["single", "single", "policy"]'
}

@test "--paired: a device that is lost in the last comparison of outputs leaves a verdict" {
	two_cores
	needs_pocl
	make_losing
	placebase single -D cl:0.0:1 mobilenet_v3_large.mp > cl.mp
	py '
		r = read("cl.mp")[:-1]
		write("cl.mp", r[:2] + [["best", {**r[2][1], "rank": 0, "n_groups": 1, "lat_s": 1.0, "ref_s": 1.0}]])
	'
	# How many kernels it runs before it fails: too few leave no verdict, too many a comparison.
	local lo=0 hi=8192 n seen=
	while [ $((hi - lo)) -gt 1 ] && [ "$seen" != lost ]; do
		n=$(((lo + hi) / 2)) seen=none
		run --separate-stderr losing clEnqueueNDRangeKernel:$n devrun --paired --runs 1 -o lost.mp cl.mp
		[ "$status" -ne 0 ] || seen=$(py '
			f = [m for k, m in read("lost.mp") if k == "best"][-1]
			assert f["final"] and ("not_compared" in f) != ("out_mse" in f), f
			print("lost" if "not_compared" in f else "whole")
		')
		if [ "$seen" = whole ]; then hi=$n; else lo=$n; fi
	done
	echo "last: $seen at $n"
	[ "$seen" = lost ]
}

@test "--paired --choose first: the first candidate is the answer, however long it takes" {
	two_cores
	# Alternating devices take far longer than one.
	py '
		r = read("random.mp")[:-1]
		m = dict(r[2][1])
		device = np.arange(len(array(m["device"])), dtype="u2") % 2
		write("slow.mp", r[:2] + [["best", {**m, "device": tensor(device), "rank": 0, "n_groups": 7, "lat_s": 1.0, "ref_s": 1.0}]])
	'
	devrun paired --max-seconds 0.1 -o fastest.mp slow.mp
	devrun paired --max-seconds 0.1 --choose first -o given.mp slow.mp
	py '
		a, b = of("fastest.mp", "best")[-1], of("given.mp", "best")[-1]
		assert a["source"] == "single" and a["ratio"] == 1, a
		assert b["source"] == "random" and b["n_groups"] == 7 and "verdict" not in b and b["copies"] > 0 and b["out_cos"] > 0.999, b
	'
	run -0 placeout --format report given.mp
	[[ $output == *"verdict: "*" times as fast as cpu:"*" pairs)"* ]]
}

@test "--paired: results that are not finite leave a verdict, and the reason why they are not compared" {
	two_cores
	py '
		from tiny_ir import Model
		m = Model("logs")
		x = m.layer("Parameter", "x", "f32", (2, 4))
		m.result(m.layer("Log", "log", "f32", (2, 4), x))
		m.result(m.layer("Exp", "exp", "f32", (2, 4), x))
		m.save()
		os.mkdir("negative")
		np.save("negative/0.npy", np.array([[-1, 1, 1, 1], [1, 1, 0, 1]], "f4"))
	'
	ir2dag logs.xml | placebase random -n 1 --draw uniform -D cpu:0,cpu:1 > logs.mp
	devrun --paired --runs 8 -o whole.mp logs.mp
	devrun --paired --runs 8 --inputs negative -o logs.final.mp logs.mp
	py '
		f = of("logs.final.mp", "best")[-1]
		assert f["final"] and "out_mse" not in f
		assert f["not_compared"].startswith("of 8 values of ") and "2 are not finite" in f["not_compared"], f
		assert of("whole.mp", "best")[-1]["out_mse"] == 0
	'
	run -0 placeout --format report logs.final.mp
	[[ $output == *"outputs: not compared: of 8 values of "*"--inputs DIR"*"verdict: "* ]]
	run -0 placeout --format report whole.mp
	[[ $output != *"not compared"* ]]
}

@test "--race: a stream's costs say what to prepare, and devices are not measured for that; where all the time is over, one candidate is" {
	two_cores
	devrun probe --profile --max-seconds 0.05 -D cpu:0,cpu:1 mobilenet_v3_large.mp | placebase random -n 2 --draw uniform -o two.mp
	# By costs that are not true one of them is far the faster; what devices took would make them alike.
	for fast in 0 1 0 1 0 1; do
		py '
			fast = int(sys.argv[1])
			r = read("two.mp")
			a, b = (m for k, m in r if k == "place")
			d = array(a["device"])
			b["device"] = tensor((1 - d).astype("u2"))
			s = np.full((len(d), 2), 1e-6)
			s[np.arange(len(d)), d if fast else 1 - d] = 1e-2
			c = first(r, "cost")
			for name in "set_s", "set_lo", "set_hi":
				c[name] = tensor(s)
			for name in "pairs", "saved_s", "saved_lo", "saved_hi":
				c.pop(name, None)
			write("lies.mp", r)
		' $fast
		devrun paired --placements --candidates 2 --race 0.0001 --starts 2 -o hurried.mp lies.mp
		py '
			fast, x = int(sys.argv[1]), runs("hurried.mp")
			assert [m["source"] for m in x] == 2 * ["single"] + 2 * ["random"]
			assert x[2 + fast]["ok"] and not x[3 - fast]["ok"] and "no time" in x[3 - fast]["reason"], x[2:]
		' $fast
	done
}

@test "--race: candidates compete for seconds of runs" {
	two_cores
	run -0 timeout 300 devrun paired --race 2 --starts 1 -vv -o race.mp random.mp
	[[ "$output" =~ devrun:\ race:\ [1-9][0-9]*\ placements,\ best\ [0-9.e-]+\ ms\ \([0-9.]+x\) ]]
	py '
		x = runs("race.mp")
		assert [m["source"] for m in x] == 2 * ["single"] + 3 * ["random"]
		f = of("race.mp", "best")[-1]
		assert f["final"] and f["reference"] in ("cpu:0", "cpu:1")
		single = f["source"] == "single"
		assert f["ratio"] == f["ratio_hi"] == 1 if single else f["ratio_hi"] < 1
		# Singles and starts run in any case, the others as there is time.
		assert all(m["ok"] and len(array(m["samples_s"])) > 0 for m in x[:3]), x
		assert f["out_cos"] > 0.999999
	'
	# One that is like an earlier one does not run again; no start for that.
	placebase -D cpu:0,cpu:1 of:random.mp random.mp | devrun --paired --race 4 --starts 2 -o twice.mp
	py '
		x = runs("twice.mp")[2:]
		for a, b in zip(x[:3], x[3:]):
			assert a["ok"] == b["ok"] and a.get("bursts") == b.get("bursts") and a.get("lat_s") == b.get("lat_s"), (a, b)
		assert x[0]["ok"] and x[0]["bursts"] > 0, x[0]
		assert x[0]["start"] and not any(m.get("start") for m in x[2:]), x
		race = of("twice.mp", "best")[-1]["race"]
		assert race["blocks"] > 0 and race["seconds"] > 0 and isinstance(race["settled"], bool), race
	'
	for options in "--race 1" "--paired --starts 1" "--paired --explore"; do
		# shellcheck disable=SC2086
		run -2 devrun $options random.mp
	done
}
