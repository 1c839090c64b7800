#!/usr/bin/env bats
# Models with several lists of shapes: ir2dag --case, --prefill and --decode, and what the stages behind it make of them.
# programs: ir2dag placebase devsim devrun placeout
# seconds: 25
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cd "$BATS_FILE_TMPDIR" || return 1
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	ir2dag speaks.xml --prefill 24 --decode 8 --past 40 --rows 2 -o both.mp
	variables=$(printf ';past_key_values.%s=2,40,16' 0.keypresent.0.key 0.valuepresent.0.value 1.keypresent.1.key 1.valuepresent.1.value)
	ir2dag speaks.xml --shape 'input_ids=2,24;position_ids=2,24;beam_idx=2' -o prefill.mp
	ir2dag speaks.xml --shape "input_ids=2,1;position_ids=2,1;beam_idx=2$variables" -o decode.mp
	for f in both prefill decode; do devsim --probe --spec two-rtx4090 $f.mp -o $f.costs.mp; done
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# check FILE PYTHON - with `stream`, records of FILE as (kind, map), and `tensor`
check() {
	PYTHONPATH=$ROOT/tests/support "$HSDAG_PYTHON" - "$@" <<-'P'
	import sys, msgpack, numpy as np
	def tensor(t): return np.frombuffer(t["data"], "<" + t["dtype"][0] + str(int(t["dtype"][1:]) // 8)).reshape(t["shape"])
	def read(f): return list(msgpack.Unpacker(open(f, "rb"), max_buffer_size=2**30))
	stream = read(sys.argv[1])
	def all_of(kind, of=stream): return [m for k, m in of if k == kind]
	exec(sys.argv[2])
	P
}

@test "phases have the shapes that their names say, and decoding counts for each token" {
	check both.mp '
g, = all_of("graph")
assert [(c["name"], c["weight"], c["tokens"]) for c in g["cases"]] == [("prefill", 1, 48), ("decode", 8, 2)], g["cases"]
def shape(m, name):
    v = g["node_name"].index(name)
    o = tensor(g["out_ptr"])[v]
    return list(tensor(m["dim"])[tensor(m["dim_ptr"])[o]:tensor(m["dim_ptr"])[o + 1]])
assert shape(g, "input_ids") == [2, 24] and shape(g, "beam_idx") == [2]
d = g["cases"][1]
assert shape(d, "input_ids") == [2, 1] and shape(d, "1.key.read") == [2, 40, 16] and shape(d, "1.key.concat") == [2, 41, 16]
'
}

@test "what is not found is told with what was looked for" {
	run -2 --separate-stderr ir2dag "$ROOT/tests/models/nmt2.xml" --prefill 4
	[[ $stderr == *"looked for inputs input_ids or inputs_embeds"*", and found '"* ]]
	xz -dc "$ROOT/tests/models/open/tiny_llama.bin.xz" > tiny_llama.bin
	cp "$ROOT/tests/models/open/tiny_llama.xml" .
	run -2 --separate-stderr ir2dag tiny_llama.xml --prefill 4 --decode 2
	[[ $stderr == *"it has no caches"*"past_key_values"* ]]
	ir2dag tiny_llama.xml --prefill 4 -o one.mp
	run -2 --separate-stderr ir2dag grows.xml --decode 4
	[[ $stderr == *"decode: "*"input 'x' has open dims"*"--case"* ]]
	run -2 --separate-stderr ir2dag speaks.xml --past 4
	run -2 --separate-stderr ir2dag speaks.xml --prefill 4 --case input_ids=1,2
	run -2 --separate-stderr ir2dag grows.xml --case 'x=1,2,16;beam_idx=1:0' --case 'x=1,2,16;beam_idx=1'
	[[ $stderr == *"a weight is a number above 0"* ]]
}

@test "what a placement takes is the sum over cases by weight, in simulation and in each search" {
	for f in both prefill decode; do placebase random -n 20 --seed 4 $f.costs.mp | devsim -o $f.run.mp; done
	check both.run.mp '
both, a, b = all_of("run"), all_of("run", read("prefill.run.mp")), all_of("run", read("decode.run.mp"))
assert len(both) == 20
for x, p, d in zip(both, a, b):
    assert abs(x["lat_s"] / (p["lat_s"] + 8 * d["lat_s"]) - 1) < 1e-12
    assert np.allclose(tensor(x["case_s"]), [p["lat_s"], d["lat_s"]], rtol=1e-12)
    assert abs(x["ref_s"] / (a[0]["ref_s"] + 8 * b[0]["ref_s"]) - 1) < 1e-12
'
	placebase heft,climb,anneal,tabu,genetic,cross-entropy,cluster,lookahead,learned-moves,portfolio --evals 300 --no-hints both.costs.mp | devsim -o all.mp
	check all.mp '
places, runs = all_of("place"), all_of("run")
assert len(places) == len(runs) == 10
for p, r in zip(places, runs):
    assert r["ok"] and abs(p["predicted_s"] / r["lat_s"] - 1) < 1e-12 and "bound_s" not in p
best = min(r["lat_s"] for r in runs)
assert best <= all_of("run", read("both.run.mp"))[0]["ref_s"] and runs[-1]["lat_s"] <= 1.001 * best
'
	run -2 --separate-stderr placebase exact both.costs.mp -o no.mp
	[[ $stderr == *"one list of shapes"* ]]
	run -2 --separate-stderr devsim --machine shared both.run.mp -o no.mp
}

@test "one case can count alone" {
	placebase climb --case 2 both.costs.mp -o two.mp
	placebase climb decode.costs.mp -o alone.mp
	check two.mp '
x, y = all_of("place")[0], all_of("place", read("alone.mp"))[0]
assert tensor(x["device"]).tolist() == tensor(y["device"]).tolist() and abs(x["predicted_s"] / y["predicted_s"] - 8) < 1e-9
'
	run -2 --separate-stderr placebase climb --case 3 both.costs.mp -o no.mp
}

@test "the worst case and a percentile: what counts in simulation, in each search, measured, and in the report" {
	cases=(--case 'x=1,3,16;beam_idx=1;*.cache=1,5,16:16' --case 'x=2,90,16;beam_idx=2;*.cache=2,5,16' --case 'x=2,9,16;beam_idx=2;*.cache=2,5,16:3')
	for over in mean worst p95; do
		ir2dag grows.xml "${cases[@]}" --over $over | devsim --probe --spec two-rtx4090 |
			placebase heft,climb,anneal,portfolio --evals 300 --no-hints | placebase random -n 5 | devsim -o $over.mp
	done
	for over in mean worst p95; do
		check $over.mp '
over = {"mean": 0, "worst": 100, "p95": 95}[sys.argv[1][:-3]]
g, = all_of("graph")
assert g.get("over", 0) == over
for p, r in zip(all_of("place"), all_of("run")):
    c = tensor(r["case_s"])
    assert c[1] > c[2] > c[0]
    want = 0.8 * c[0] + 0.05 * c[1] + 0.15 * c[2] if over == 0 else c[1] if over == 100 else c[2]
    assert abs(r["lat_s"] / want - 1) < 1e-12, (r["lat_s"], want)
    assert "predicted_s" not in p or abs(p["predicted_s"] / want - 1) < 1e-12
best = min(r["lat_s"] for r in all_of("run"))
assert best <= all_of("run")[0]["ref_s"] * (1 + 1e-12)
'
	done
	ir2dag grows.xml "${cases[@]}" --over worst | placebase single -D cpu:0 | devrun run -n 3 -o worst.run.mp
	check worst.run.mp '
for r in [r for r in all_of("run") if r["source"] == "single" and r["ok"]]:
    assert abs(tensor(r["case_s"]).max() / r["lat_s"] - 1) < 1e-9
'
	placeout --format report worst.mp > report
	grep -qE '^worst +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ %  one for each case$' report
	placeout --format json p95.mp | jq -e '.over == "p95"'
	run -2 --separate-stderr placebase heft --objective energy --watts x=1 worst.mp -o no.mp
	[[ $stderr == *"the worst case, or a percentile, is one of latencies"* ]]
	run -2 --separate-stderr ir2dag grows.xml "${cases[@]}" --over worse
	[ "$stderr" = "ir2dag: error: --over 'worse' is not mean, worst or a percentile, as p95" ]
	run -2 --separate-stderr ir2dag speaks.xml --prefill 4 --decode 2 --over worst
	run -2 --separate-stderr ir2dag grows.xml "${cases[@]}" --merge 4
	[ "$stderr" = "ir2dag: error: --merge goes with --shapes" ]
	# The mean bounds no percentile, and ends no search.
	ir2dag grows.xml --case 'x=1,3,16;beam_idx=1;*.cache=1,5,16:96' --case 'x=2,900,16;beam_idx=2;*.cache=2,5,16:4' --over p95 |
		devsim --probe --spec two-rtx4090 | placebase portfolio --evals 300 --no-hints -v 2> said > p95.mp
	grep -qE 'portfolio: .* found it, .*, ([2-9]|[1-9][0-9]+) methods ran' said || { cat said; return 1; }
	run -1 grep 'gap -' said
}

@test "a histogram of lengths: a few cases stand for it, with the weights of what lies between" {
	for n in 9 3 5 4 30 7 90; do printf 'x=2,%s,16;beam_idx=2;*.cache=2,5,16\t%s\n' $n $((100 - n)); done > lengths.tsv
	ir2dag grows.xml --shapes lengths.tsv --merge 3 -v 2> said | devsim --probe --spec two-rtx4090 | placebase heft | devsim -o few.mp
	grep -q '^ir2dag: 7 shapes are merged into 3, between which times are interpolated$' said
	check few.mp '
g, = all_of("graph")
names = [c["name"].split(",")[1] for c in g["cases"]]
assert names[0] == "3" and names[2] == "90" and [c.get("n_between", 0) for c in g["cases"]] == [4, 0, 0], names
all = sum(100 - n for n in (9, 3, 5, 4, 30, 7, 90))
mean = sum((100 - n) * n for n in (9, 3, 5, 4, 30, 7, 90)) / all
assert abs(sum(c["weight"] for c in g["cases"]) - 1) < 1e-12
assert abs(sum(c["weight"] * int(n) for c, n in zip(g["cases"], names)) - mean) < 1e-9
'
	placeout --format report few.mp | grep -q '^shapes: 7, of which 3 are cases; 68 % of the weight lies between these, where times are interpolated, most of it between x=2,3,16;.* and x=2,30,16;'
	ir2dag grows.xml --shapes lengths.tsv --merge 7 -o all.mp
	check all.mp 'assert [c["name"].split(",")[1] for c in all_of("graph")[0]["cases"]] == ["9", "3", "5", "4", "30", "7", "90"]'
	echo '1,2 3 4' > bad.tsv
	run -3 --separate-stderr ir2dag grows.xml --shapes bad.tsv
	[ "$stderr" = "ir2dag: error: 'bad.tsv', line 1: more than shapes and a weight" ]
	printf 'x=2,3,16;beam_idx=2;*.cache=2,5,16\nnonsense\n' > bad.tsv
	run -3 --separate-stderr ir2dag grows.xml --shapes bad.tsv
	[[ $stderr == "ir2dag: error: 'bad.tsv', line 2: "*nonsense* ]] || { echo "$stderr"; return 1; }
	run -1 --separate-stderr ir2dag grows.xml --shapes nowhere.tsv
	run -2 --separate-stderr ir2dag grows.xml --shapes lengths.tsv --case x=1,2,16
}

@test "weights of --case are shares, and devrun measures each" {
	two=cpu:0,cpu:1
	[ "$(nproc)" -ge 2 ] || two=cpu:0
	ir2dag grows.xml --case 'x=1,3,16;beam_idx=1;*.cache=1,5,16' --case 'x=2,9,16;beam_idx=2;*.cache=2,5,16:3' |
		devrun probe --profile --max-seconds 0.1 -D $two -o g.mp
	placebase random,portfolio --evals 100 g.mp | devrun paired --placements --race 1 -o raced.mp
	check raced.mp '
g, = all_of("graph")
assert [c["weight"] for c in g["cases"]] == [0.25, 0.75]
cost, = all_of("cost")
s = [tensor(c["set_s"]) for c in cost["cases"]]
assert np.allclose(np.where(s[0] < 0, -1, 0.25 * s[0] + 0.75 * s[1]), tensor(cost["set_s"]))
runs = [r for r in all_of("run") if r["ok"]]
assert runs
for r in runs:
    c = tensor(r["case_s"])
    assert len(c) == 2 and (c > 0).all() and abs((0.25 * c[0] + 0.75 * c[1]) / r["lat_s"] - 1) < 1e-9
'
	placeout --format report raced.mp > report
	grep -q '^x=2,9,16;beam_idx=2;.* 0.75 .* ms .* ms .* %' report
	placeout --format cases raced.mp > cases.tsv
	[ "$(wc -l < cases.tsv)" -eq 3 ]
	placeout --format json raced.mp > report.json
	py '
import json
t = [line.rstrip("\n").split("\t") for line in open("cases.tsv")][1:]
j = json.load(open("report.json"))["cases"]
assert [[c["name"], c["weight"], c["latency_s"], c["best_s"], c["best"]] for c in j] == [[r[0], *map(float, (r[1], r[3], r[4])), r[5]] for r in t], (t, j)
'
	placeout --format affinity --case 2 raced.mp | grep -q '"0.concat": "cpu:'
	run -3 --separate-stderr devrun run --requests 2 raced.mp -o no.mp
	[[ $stderr == *"one list of shapes"* ]]
}

@test "memory of several lists of shapes is that of the one which needs most, with the work space of devices" {
	at() { echo "x=1,$1,16;beam_idx=1;*.cache=1,5,16"; }
	ir2dag grows.xml --case "$(at 4)" --case "$(at 64):3" | devrun probe --profile --max-seconds 0.05 -D cpu:0 -o several.mp
	ir2dag grows.xml --shape "$(at 64)" | devrun probe --profile --max-seconds 0.05 -D cpu:0 -o long.mp
	# A limit below the work space alone.
	py '
		for name in "several", "long":
		    records = read(name + ".mp")
		    d = first(records, "devs")
		    d["mem_bytes"]["data"] = np.array([60000], "<u8").tobytes()
		    write(name + ".small.mp", records)
	'
	for f in several long several.small long.small; do placebase single --plan $f.json -o /dev/null $f.mp; done
	py '
		plans = {n: json.load(open(n + ".json"))[0] for n in ("several", "long", "several.small", "long.small")}
		peak = plans["long"]["devices"][0]["peak"]
		assert peak > 60000, peak
		for name, p in plans.items():
		    d = p["devices"][0]
		    assert d["peak"] == peak, (name, d)
		    if name.endswith("small"):
		        assert not p["legal"] and d["usable"] == 60000 and p["missing"] == peak - 60000, p
		        assert p["why"] == "needs %d bytes on cpu:0, which has 60000" % peak, p
	'
}
