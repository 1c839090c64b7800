#!/usr/bin/env bats
# train_step.py, what torch2dag makes of a traced network: stages, schedules of pipelines, recomputation, microbatches. Without PyTorch:
# the networks are made here, or were traced before (tests/instances/train_*.json). What traces is tested by `make torch-check`.
# programs: json2dag torch2dag
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	# Layers that are all alike: forward one product, backward two, each of 100 FLOPs; activations of 10 bytes, weights of 40.
	cat > even.py <<-'P'
		import json, os, sys
		sys.path.insert(0, os.environ["ROOT"] + "/pipelines")
		from train_step import *
		def even(layers, weight=40):
		    ops, params, grads, last = [Op("x", "input", out_bytes=10)], {}, {}, "x"
		    for i in range(layers):
		        w, f = f"w{i}", f"f{i}"
		        params[w] = (w, weight)
		        ops.append(Op(f, "mm", flops=100, bytes=1, out_bytes=10, reads=[(last, 10, 0)], params=[w], block=str(i // 2)))
		        last = f
		    ops.append(Op("t", "input", BACKWARD, out_bytes=10))
		    g = "t"
		    for i in reversed(range(layers)):
		        w, f, d, x = f"w{i}", f"f{i}", f"d{i}", f"f{i - 1}" if i else "x"
		        ops.append(Op(w + "g", "mm", BACKWARD, of=f, flops=100, bytes=1, out_bytes=weight, reads=[(g, 10, 0), (x, 10, 0)]))
		        ops.append(Op(d, "mm", BACKWARD, of=f, flops=100, bytes=1, out_bytes=10, reads=[(g, 10, 0)], params=[w]))
		        grads[w] = (w + "g", weight, 0)
		        g = d
		    return Traced(ops, params, grads)
		# The problem dag.json: stage s is on device g:(s % ranks).
		def pipeline(layers, ranks, chunks, microbatches, schedule, optimizer="adam", how="none", weight=40):
		    t = even(layers, int(weight))
		    cut_into_stages(t, ranks * chunks, 1)
		    if how != "none":
		        recompute(t, how)
		    dag = build(t, "even", optimizer, microbatches, ranks, chunks, schedule, [f"g:{r}" for r in range(ranks)])
		    json.dump(dag, open("dag.json", "w"))
		    with open("even.spec", "w") as f:
		        f.write(f"device g*{ranks}  flops 100  bandwidth 1e30\nlink g g  latency 0  bandwidth 1e30\n")
		if __name__ == "__main__":
		    a = sys.argv
		    pipeline(int(a[1]), int(a[2]), int(a[3]), int(a[4]), a[5], *a[6:])
	P
	export ROOT
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# step LAYERS DEVICES CHUNKS MICROBATCHES SCHEDULE [OPTIMIZER [RECOMPUTE [WEIGHTS]]] - run.mp: the step on its devices
step() {
	"$HSDAG_PYTHON" even.py "$@"
	json2dag --spec even.spec dag.json | placebase heft --no-hints | devsim > run.mp
}

@test "bubbles of an even pipeline are (p - 1) / (m + p - 1) of the time, interleaved (p - 1) / (v m + p - 1)" {
	while read -r layers p v m schedule; do
		step $layers $p $v $m $schedule
		py '
			layers, p, v, m = map(int, sys.argv[1:5])
			r = of("run.mp", "run")[0]
			assert r["ok"], r
			bubble = 1 - layers * 3 * m / (p * r["lat_s"])       # each device computes layers / p products of forward, twice as many of backward
			assert abs(bubble - (p - 1) / (v * m + p - 1)) < 1e-9, (sys.argv, bubble)
		' $layers $p $v $m
	done <<-'T'
	8 4 1 8 gpipe
	8 4 1 8 1f1b
	4 4 1 3 1f1b
	16 8 1 5 1f1b
	12 3 1 1 1f1b
	8 4 2 8 interleaved
	12 3 4 6 interleaved
	8 2 2 2 interleaved
	T
}

@test "1F1B keeps activations of as many microbatches as there are stages to the end, GPipe of all" {
	peaks='
		r, d = of("run.mp", "run")[0], of("run.mp", "devs")[0]
		print(*[int(b) for b in array(r["mem_bytes"])])
	'
	step 4 4 1 8 gpipe none none 1
	py "$peaks" > gpipe
	step 4 4 1 8 1f1b none none 1
	py "$peaks" > one
	cat gpipe one
	py '
		gpipe, one = ([int(x) for x in open(f).read().split()] for f in ("gpipe", "one"))
		# of stage s > 0, what came from the stage before for each microbatch that is under way, and of one more, which came ahead
		for s in range(1, 4):
		    assert gpipe[s] - one[s] == 10 * (8 - (4 - s) - 1), (gpipe, one)
	'
}

@test "a device does its tasks in the order of the schedule, by the papers' figures" {
	py '
		import os
		sys.path.insert(0, os.environ["ROOT"] + "/pipelines")
		from train_step import order_of
		text = lambda *a: " ".join(f"{p[0].upper()}{m + 1}" for s, m, p in order_of(*a))
		# PipeDream-flush, as in Narayanan et al. 2021, figure 4 top: 4 devices, 8 microbatches
		assert text("1f1b", 0, 4, 1, 8) == "F1 F2 F3 F4 B1 F5 B2 F6 B3 F7 B4 F8 B5 B6 B7 B8"
		assert text("1f1b", 3, 4, 1, 8) == "F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7 F8 B8"
		assert text("gpipe", 2, 4, 1, 3) == "F1 F2 F3 B1 B2 B3"
		# figure 4 bottom: the last device begins 1 2 3 4, then 1 of its second chunk, and at once backward of it
		order = order_of("interleaved", 3, 4, 2, 8)
		assert order[:6] == [(3, 0, "forward"), (3, 1, "forward"), (3, 2, "forward"), (3, 3, "forward"), (7, 0, "forward"), (7, 0, "backward")]
		for r in range(4):
		    assert sorted(order_of("interleaved", r, 4, 2, 8)) == sorted((s, m, p) for s in (r, r + 4) for m in range(8) for p in ("forward", "backward"))
	'
}

@test "recomputation: what is computed again, when, and what it saves" {
	for how in none block all; do
		"$HSDAG_PYTHON" - $how <<-'P'
			import sys, json
			sys.path.insert(0, ".")
			from even import *
			t = even(8)
			if sys.argv[1] != "none": recompute(t, sys.argv[1])
			json.dump(build(t, "even", "none"), open("dag.json", "w"))
		P
		echo 'device g  flops 100  bandwidth 1e30' > one.spec
		json2dag --spec one.spec dag.json | placebase single | devsim > run.mp
		py 'r = of("run.mp", "run")[0]; print(r["lat_s"], int(array(r["mem_bytes"])[0]), sum(n["id"].endswith(".again") for n in json.load(open("dag.json"))["nodes"]))'
	done > said
	# 24 products; blocks of two layers: the first of each again; all: but the last layer, which backward reads nothing of.
	# Memory at its most: weights 320, and with all kept x, t and 7 activations as backward begins, with blocks the 3 between them
	cat said
	py '
		none, block, all_ = ([float(x) for x in l.split()] for l in open("said"))
		assert none[0] == 24 and block[0] == 28 and all_[0] == 31, (none, block, all_)
		assert none[2] == 0 and block[2] == 4 and all_[2] == 7
		assert block[1] < none[1], (none, block)
	'
}

@test "microbatches sum up gradients beside the parameter, whose update waits for all who read it" {
	py '
		import os
		sys.path.insert(0, os.environ["ROOT"] + "/pipelines"); sys.path.insert(0, ".")
		from even import *
		dag = build(even(2), "even", "adam", 3)
		node = {n["id"]: n for n in dag["nodes"]}
		into = lambda id: sorted((e["src"], e["bytes"]) for e in dag["edges"] if e["dst"] == id)
		assert into("accumulate:w1@1") == [("w1g@0", 40), ("w1g@1", 40)] and into("accumulate:w1@2") == [("accumulate:w1@1", 40), ("w1g@2", 40)]
		assert into("adam:w1") == [("accumulate:w1@2", 40)] + sorted((f"{o}@{m}", 0) for o in ("d1", "f1") for m in range(3)) + [("w1", 0)]
		assert node["w1"]["mem_bytes"] == 120 and node["adam:w1"]["bytes"] == 7 * 40      # two moments
		same = [n["id"] for n in dag["nodes"] if n.get("colocate") == node["w1"]["colocate"]]
		assert sorted(same) == sorted(["w1", "adam:w1", "accumulate:w1@1", "accumulate:w1@2"] + [f"{o}@{m}" for o in ("d1", "f1") for m in range(3)])
	'
}

@test "torch2dag: as many devices as stages, each once; told without PyTorch" {
	for devices in a,a,b a,a a,b,c a; do
		run -2 "$HSDAG_PYTHON" "$ROOT/pipelines/torch2dag" net.py --training --stages 2 --devices $devices
		[[ $output == "torch2dag: error: --devices: "*" for 2 stages" ]]
	done
}

@test "what torch2dag traced: a GPT that no device holds is placed, a pipeline has its bubbles" {
	printf 'device gpu*4  flops 1e12  bandwidth 1e11  overhead 1e-6  memory 200e3\nlink gpu gpu  latency 1e-6  bandwidth 1e10\n' > tiny.spec
	json2dag "$ROOT/tests/instances/train_gpt.json" --spec tiny.spec | placebase single:gpu:0,anneal --evals 3000 --no-hints | devsim > run.mp
	printf 'device gpu*2  flops 1e9  bandwidth 1e30\nlink gpu gpu  latency 0  bandwidth 1e30\n' > even.spec
	json2dag "$ROOT/tests/instances/train_even.json" --spec even.spec | placebase climb --evals 100 --no-hints | devsim > even.mp
	py '
		one, four = of("run.mp", "run")
		assert not one["ok"] and four["ok"] and max(array(four["mem_bytes"])) <= 200e3, (one, four)
		# four layers of 64 x 64, 512 rows in four microbatches, two products backward
		even = of("even.mp", "run")[0]
		work = 3 * 4 * 2 * 512 * 64 * 64 / 1e9 / 2
		assert abs(1 - work / even["lat_s"] - 1 / 5) < 1e-9, even
	'
}
