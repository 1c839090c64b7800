#!/usr/bin/env bats
# devrun paired --max-error: what computes less exactly is shown, and is never the answer.
# programs: devrun placeout devsim
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cd "$BATS_FILE_TMPDIR" || return 1
	"$HSDAG_PYTHON" "$ROOT/tests/support/sensitive_net.py"
	bf16=cpu:0/precision=bf16
	ir2dag sensitive.xml > net.mp
	devrun probe --profile --max-seconds 0.02 -D cpu:0,$bf16 net.mp > probed.mp
	placebase single probed.mp > singles.mp
	# All in bf16 but the product that subtracts what is nearly equal, and that one alone in bf16.
	py '
		graph, mixed, bad = first(read("singles.mp"), "graph"), {}, {}
		sets = array(graph["set"])
		for n, s in zip(graph["node_name"], sets):
			it = s == sets[graph["node_name"].index("sensitive")]
			mixed[n] = "cpu:0" if it else "cpu:0/precision=bf16"
			bad[n] = "cpu:0/precision=bf16" if it else "cpu:0"
		json.dump(mixed, open("mixed.json", "w"))
		json.dump(bad, open("bad.json", "w"))
	'
	placebase expert:mixed.json,expert:bad.json singles.mp > both.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

race() { timeout 100 devrun paired --placements --race 0.5 --max-error "$@"; }

@test "a small limit leaves f32 alone, one in between the mixed placement, a large one all; each has its error" {
	for e in 0.0001 0.02 1; do race $e -o $e.mp both.mp; done
	py '
		def errors(name):
			assert all(m["ok"] == (m["error"] <= float(name[:-3])) for m in runs(name)), runs(name)
			assert all(m["ok"] or m["reason"].startswith("beyond the limit of error: outputs are ") for m in runs(name))
			return {(m["source"], m["sample"]): m["error"] for m in runs(name)}
		all_three = [errors(e + ".mp") for e in ("0.0001", "0.02", "1")]
		assert all_three[0] == all_three[1] == all_three[2]
		x = all_three[0]
		f32, bf16, mixed, bad = x["single", 0], x["single", 1], x["expert", 0], x["expert", 1]
		assert f32 == 0 and 1e-4 < mixed < 0.01 and 0.02 < bad < 1 and 0.02 < bf16 < 1, x
		for e in "0.0001", "0.02", "1":
			(b,) = of(e + ".mp", "best")
			assert b["error"] <= b["max_error"] == float(e) and b["error_of"] == "cpu:0", b
	'
	placeout --format report 0.02.mp > report.txt
	grep -q '^error: .* of the outputs. scale from those in f32 (cpu:0), of 0.02 that are allowed$' report.txt
	grep -q '^verdict: .*; outputs are .* of their scale from those in f32, within 0.02$' report.txt
	grep -qE '^cpu:0/precision=bf16 alone +out: error 0\.[0-9]+, beyond the limit$' report.txt
	placeout --format json 0.02.mp > report.json
	placeout --format html 0.02.mp | grep -q '<dt>error</dt><dd>.* of 0.02 that are allowed</dd>'
	py '
		r = json.load(open("report.json"))
		o, raced = r["outputs"], r["raced"]
		assert o["error"] <= o["max_error"] == 0.02 and o["error_of"] == "cpu:0"
		beyond = {(v["source"], v["sample"]): v["beyond_max_error"] for v in raced}
		assert beyond == {("single", 0): False, ("single", 1): True, ("expert", 0): False, ("expert", 1): True}, raced
		assert all((v["error"] > 0.02) == v["beyond_max_error"] and (v["latency_s"] is None) == v["beyond_max_error"] for v in raced)
	'
}

@test "the error is what NumPy makes of the outputs, on given inputs" {
	py '
		import os
		os.makedirs("given", exist_ok=True)
		np.save("given/0.npy", np.linspace(-2, 2, 4 * 256, dtype=np.float32).reshape(4, 256))
	'
	race 1 --inputs given -o given.mp both.mp
	for d in cpu:0 cpu:0/precision=bf16; do
		placebase single -D $d net.mp | devrun run -n 1 --inputs given --outputs "out.${d##*=}" -o ran.mp
	done
	py '
		a, b = np.load("out.bf16/0.npy").astype(float), np.load("out.cpu:0/0.npy").astype(float)
		want = np.abs(a - b).max() / np.abs(b).max()
		got = [m["error"] for m in runs("given.mp") if m["source"] == "single"]
		assert got[0] == 0 and abs(got[1] / want - 1) < 1e-6, (got, want)
	'
}

@test "without a device in f32 all cores tell the error; nothing within the limit is an error" {
	placebase single -D cpu:0/precision=bf16 net.mp > reduced.mp
	race 1 -o all.mp reduced.mp
	py '
		(b,) = of("all.mp", "best")
		assert b["error_of"] == "cpu" and 0.02 < b["error"] < 1, b
	'
	run -1 --separate-stderr race 0.0001 -o no.mp reduced.mp
	[[ $stderr == "devrun: error: no placement is within --max-error 0.0001: the least error is 0."* ]]
	[ ! -e no.mp ]
}

@test "rounds and requests in flight keep to it" {
	timeout 100 devrun paired --placements --max-seconds 0.05 --max-error 0.02 -o rounds.mp both.mp
	timeout 100 devrun paired --placements --race 3 --max-error 0.02 --requests 2 -o flight.mp both.mp
	for f in rounds flight; do
		py '
			x = {(m["source"], m["sample"]): m for m in runs(sys.argv[1])}
			left = {k for k, m in x.items() if m.get("reason", "").startswith("beyond the limit of error: ")}
			assert left == {("single", 1), ("expert", 1)} and x["single", 0]["ok"], x
			# On a busy machine there may be no time for all.
			assert x["expert", 0]["ok"] or x["expert", 0]["reason"] == "there was no time to run it", x
			assert of(sys.argv[1], "best")[-1]["error"] <= 0.02
		' $f.mp
	done
}

@test "what misses a limit of latency is not called beyond the one of error" {
	race 0.02 -o late.mp both.mp
	py '
		said = "beyond the limit: 95 % of its requests take up to 3.6 ms, more than 3 ms"
		records = read("late.mp")
		late = [m for k, m in records if k == "run" and not m["ok"] and m["reason"].startswith("beyond the limit of error: ")]
		assert late
		for m in late:
		    m["reason"] = said
		write("late.mp", records)
	'
	placeout --format report -o late.txt late.mp
	run ! grep "out: error" late.txt
	placeout --format json -o late.json late.mp
	py 'assert not any(r["beyond_max_error"] for r in json.load(open("late.json"))["raced"])'
}

@test "a single device that may not have everything has an error all the same" {
	dagpin --pin sensitive=cpu:0 probed.mp | placebase expert:mixed.json > pinned.mp
	race 0.02 -o pinned.race.mp pinned.mp
	py '
		x = {(m["source"], m["sample"]): m for m in runs("pinned.race.mp")}
		assert not x["single", 1]["ok"] and "beyond the limit" in x["single", 1]["reason"] and x["single", 1]["error"] > 0.02, x
		assert x["expert", 0]["ok"]
	'
}

@test "without a limit nothing is told but how far a mixed answer is" {
	timeout 100 devrun paired --placements --choose first --candidates 1 --max-seconds 0.05 -o free.mp <(
		placebase expert:mixed.json probed.mp)
	py '
		(b,) = [m for m in of("free.mp", "best")]
		assert "error" not in b and not any("error" in m for m in runs("free.mp")), b
	'
	placeout --format report free.mp | grep -q '^outputs: compared with those of cpu:0.*; at most 0\.[0-9]* % of their scale off$'
}

@test "what is no limit, and where there are no outputs" {
	for e in -1 nan inf x '' 1e7; do
		run -2 --separate-stderr devrun paired --max-error "$e" both.mp
		[[ $stderr == "devrun: error: --max-error: "* ]]
	done
	run -2 --separate-stderr devrun --max-error 1 both.mp
	[[ $stderr == "devrun: error: --max-error goes with --paired" ]]
	run -2 --separate-stderr devsim --machine quiet --paired --max-error 1 both.mp
	[[ $stderr == "devsim: error: --max-error: a machine that is simulated or played computes no outputs; devrun paired has it" ]]
	run -2 --separate-stderr "$ROOT/pipelines/compete" --max-error 1
	[[ $stderr == *"--max-error: a machine that is played computes no outputs"* ]]
}

@test "a record with an error that is none" {
	race 1 -o good.mp both.mp
	py '
		r = read("good.mp")[:-1]
		def wrong(name, kind, **keys):
			out = [[k, {**m, **keys}] if k == kind else [k, m] for k, m in r]
			write(name, out)
		wrong("below.mp", "best", error=-1.0)
		wrong("text.mp", "run", error="much")
		write("alone.mp", [[k, {a: v for a, v in m.items() if a != "max_error"}] for k, m in r])
	'
	for f in below text alone; do
		run -3 --separate-stderr placeout --format report $f.mp
		[[ $stderr == "placeout: error: "*error* ]]
	done
}
