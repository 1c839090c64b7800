#!/usr/bin/env bats
# calibrate: the pipeline on a small model, and what it stands on: placements of every quality, runs in
# rounds, parts of a stream, slowdown.  The statistics are runstat's.
# seconds: 50
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export PIPELINES=$ROOT/pipelines
	models mobilenet_v3_large
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "variety: distinct, reproducible, every quality, single devices first" {
	devsim --probe mobilenet_v3_large.mp -o p.mp
	placebase variety -n 60 --evals 300 p.mp > v.mp
	placebase variety -n 60 --evals 300 p.mp | cmp - v.mp
	py '
		v = of("v.mp", "place")
		assert len({array(m["device"]).tobytes() for m in v}) == len(v) == 60
		k = len(v[0]["devices"])
		assert [m["source"] for m in v[:k]] == ["single"] * k
		s = np.array([m["predicted_s"] for m in v])
		assert 30 <= (s <= 1.5 * s.min()).sum() <= 55, s / s.min()
		assert len({m["source"] for m in v}) >= 6, {m["source"] for m in v}
	'
}

@test "devrun --only runs a part of a stream, --rounds one burst of each a round" {
	two_cores
	devrun --probe -D cpu:0,cpu:1 mobilenet_v3_large.mp | placebase random -n 6 | devrun --only 2-3,6 --rounds 3 -o only.mp
	py '
		assert len(of("only.mp", "place")) == 6
		r = runs("only.mp")
		assert [m["sample"] for m in r] == [1, 2, 5] and all(m["ok"] and m["ref_s"] > 0 for m in r), r
		assert all(array(m["samples_s"]).shape == (3,) for m in r)
	'
	for bad in 0 3-1 a 1,,2 -1 1, 1-2x; do
		run -2 devrun --only="$bad" only.mp
	done
	# Short loops beside each run: of both devices, which are cores; per run, device and kind.
	devrun --only 2-3 --rounds 3 --pulse --no-reference only.mp -o pulse.mp
	py '
		assert "pulse_s" not in runs("only.mp")[0]
		for r in runs("pulse.mp")[3:]:
			assert array(r["pulse_s"]).shape == (3, 2, 2) and (array(r["pulse_s"]) > 0).all(), r["pulse_s"]
	'
	[ "$(runstat runs pulse.mp | tail -n 1 | cut -f 15 | tr , '\n' | grep -c .)" -eq 12 ]
	run -2 devrun --pulse only.mp
	[[ "$output" == *"--pulse goes with --rounds"* ]]
	# Rounds are planned by the costs of the stream, which are to be about its graph.
	devsim --probe -D cpu:0,cpu:1 mobilenet_v3_large.mp --spec desktop-cpu | placebase random -n 2 -o costs.mp
	devrun --rounds 1 --no-reference costs.mp -o /dev/null
	py '
		records = read("costs.mp")
		first(records, "cost")["graph"] += 1
		write("other.mp", records)
	'
	run -3 devrun --rounds 1 other.mp
	[[ "$output" == *"cost record"*"another graph"* ]]
}

@test "devrun --profile --again: the mean with earlier profiles; PoCL does not compute while it copies" {
	two_cores
	devrun --probe --profile --max-seconds 0.2 -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp -o one.mp
	py '
		records = read("one.mp")
		c, d = first(records, "cost"), first(records, "devs")
		assert c["profiles"] == 1 and c["contention"] and not c["overlap"], c["overlap"]
		# As if three profiles had been taken on a machine a hundred times as slow, one saving between strangers.
		c["profiles"], c["slowdown"] = 3, 40.0
		for key in ("set_s", "set_lo", "set_hi"):
			c[key] = tensor(np.where(array(c[key]) > 0, 100 * array(c[key]), array(c[key])))
		for key in ("saved_s", "saved_lo", "saved_hi"):
			c[key] = tensor(np.vstack([np.full((1, 2), 8.0), array(c[key])]))
		pair = (int(array(c["pair_src"])[0]), 0) if len(array(c["pair_src"])) else (1, 0)
		for key, end in zip(("pair_src", "pair_dst"), pair):
			c[key] = tensor(np.r_[end, array(c[key])].astype("u4"))
		d["links"][0]["latency_s"] *= 100
		write("slow.mp", records)
	'
	devrun --probe --profile --again --max-seconds 0.2 -D cpu:0,cl:0.0:1 slow.mp -o mean.mp
	py '
		one, mean = (first(read(f), "cost") for f in ("one.mp", "mean.mp"))
		assert mean["profiles"] == 4 and 30 <= mean["slowdown"] < 31, mean["slowdown"]
		a, b = array(one["set_s"]), array(mean["set_s"])
		ratio = np.median(b[a > 1e-6] / a[a > 1e-6])
		assert 100 ** 0.75 / 2 < ratio < 100 ** 0.75 * 2, ratio
		k = [(int(x), int(y)) for x, y in zip(array(mean["pair_src"]), array(mean["pair_dst"]))]
		assert k == sorted(set(k))
		saved = array(mean["saved_s"])[k.index((int(array(one["pair_src"])[0]), 0) if len(array(one["pair_src"])) else (1, 0))]
		assert (abs(saved - 6) < 0.1).all(), saved
		assert len(of("mean.mp", "devs")) == len(of("mean.mp", "cost")) == 1
	'
	run -2 devrun --probe --again -D cpu:0,cl:0.0:1 slow.mp
	run -3 devrun --probe --profile --again -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp
	[[ "$output" == *"no earlier profile"* ]]
	run -3 devrun --probe --profile --again -D cpu:1,cl:0.0:1 --allow-shared slow.mp
	[[ "$output" == *"other devices"* ]]
}

@test "devsim: slowdown lengthens what devices compute at the same time, beside all of it" {
	ir2dag "$ROOT/tests/models/inception_v3.xml" | devsim --probe | placebase random -n 5 -o a.mp
	py '
		records = read("a.mp")
		cost = first(records, "cost")
		cost["set_s"] = tensor(np.tile(array(cost["set_s"])[:, :1], 2))
		for l in first(records, "devs")["links"]:
			l["latency_s"] = 0.0
			l["bytes_per_s"] = 1e15
		write("a.mp", records)
		cost["slowdown"] = 0.5
		write("b.mp", records)
		cost["beside"] = 0.25
		write("d.mp", records)
		cost["slowdown"] = -1.0
		write("c.mp", records)
	'
	devsim a.mp -o ra.mp
	devsim b.mp -o rb.mp
	devsim d.mp -o rd.mp
	# One set alone on the second device: of beside, nearly no more than what counts at once.
	py '
		records = read("d.mp")
		first(records, "place")["device"] = tensor(np.eye(1, len(array(first(records, "place")["device"])), 200).astype("u2")[0])
		write("one.mp", records)
		first(records, "cost")["beside"] = 0.0
		write("one_a.mp", records)
	'
	devsim one.mp -o r_one.mp
	devsim one_a.mp -o r_one_a.mp
	py '
		a, b = runs("r_one_a.mp")[0], runs("r_one.mp")[0]
		assert (array(a["busy_s"]) > 0).all() and 1.1 < b["lat_s"] / a["lat_s"] < 1.11, (a, b)
	'
	py '
		for a, b in zip(runs("ra.mp"), runs("rb.mp")):
			more = max(0, array(a["busy_s"]).sum() - a["lat_s"])
			assert abs(b["lat_s"] - a["lat_s"] - 0.5 * more) < 1e-12 * b["lat_s"], (a, b)
		for b, d in zip(runs("rb.mp"), runs("rd.mp")):
			busy = array(b["busy_s"])
			most = 1 + 0.25 * (0.4 + 0.6 * min(1, 2 * (1 - busy.max() / busy.sum())))
			assert abs(d["lat_s"] - (most if (busy > 0).all() else 1) * b["lat_s"]) < 1e-12 * d["lat_s"], (b, d)
		assert any(b["lat_s"] > a["lat_s"] for a, b in zip(runs("ra.mp"), runs("rb.mp")))
	'
	run -3 devsim c.mp -o no.mp
	[[ "$output" == *"slowdown"* ]]
}

@test "devsim: idle time never pays, whatever slowdown a cost record has" {
	# q on b waits for a tensor of r; p on a does not. The slower the link, the less p and q are at once.
	waits() {
		json2dag -o w.mp <<-J
			{"devices": [{"name": "a"}, {"name": "b"}],
			 "links": [{"src": "*", "dst": "*", "latency_s": $1, "bytes_per_s": 1e18}],
			 "nodes": [{"id": "r", "cost_s": 0.5, "out_bytes": 1}, {"id": "p", "cost_s": 4}, {"id": "q", "cost_s": 4}],
			 "edges": [{"src": "r", "dst": "q"}]}
		J
		py '
			records = read("w.mp")
			first(records, "cost")["slowdown"] = float(sys.argv[1])
			write("w.mp", records)
		' "$2"
		placebase "expert:$PWD/w.json" w.mp | devsim | recdump -k run --tsv lat_s | tail -n 1
	}
	echo '{"r": "a", "p": "a", "q": "b"}' > w.json
	for slowdown in 0.5 1 1.5 3; do
		for latency in 0 1 2 3 4 5; do waits $latency $slowdown; done > w.$slowdown
		sort -gc w.$slowdown
	done
	# Half of what is at once costs as much again; devices that share everything take the sum of their times.
	[ "$(head -n 1 w.0.5)" = 6.5 ]
	[ "$(head -n 1 w.1)" = 8.5 ]
	[ "$(tail -n 1 w.1)" = 9.5 ]
	cmp w.1 w.1.5
	cmp w.1 w.3
}

@test "the pipeline, and going on where it was interrupted" {
	two_cores
	cal() { "$PIPELINES/calibrate" mobilenet_v3_large.xml -D cpu:0,cpu:1 -n 9 --rounds 5 --seconds 4 --chunk 3 --evals 50 -o cal; }
	run -0 --separate-stderr cal
	[[ "$output" == *"Spearman's rank correlation, all"* && "$output" == *"worst"* && "$output" == *"odd against even passes"* ]]
	[[ "$stderr" == *"9 placements in passes, "*"5 rounds in all"* ]]
	[[ "$stderr" == *"pass 2, call 2 of 2: "*" of 9 placements (all), 3 rounds"* && "$stderr" != *"pass 3"* ]]
	py '
		rows = list(csv.DictReader(open("cal/placements.tsv"), delimiter="\t"))
		assert len(rows) == 9 and len({r["placement"] for r in rows}) == 9
		assert all(float(r["predicted_s"]) > 0 and float(r["fastest_s"]) > 0 for r in rows)
		assert all(float(r["fastest_raw_s"]) <= float(r["mean_raw_s"]) for r in rows)
		# Two devices and two others in every call, the rest dealt anew in each of the passes.
		assert sorted(r["runs"] for r in rows) == ["12"] * 4 + ["6"] * 5, rows
		assert {r["common"] for r in rows if r["source"] == "single"} == {"1"}
		assert open("cal/report.md").read().startswith("| mobilenet_v3_large on cpu:0,cpu:1 |")
		c = first(read("cal/profile.mp"), "cost")
		assert c["order"] == "improved" and c["slowdown"] >= 0 and c["beside"] >= 0
	'
	# Nothing is measured again; what is missing is.
	cp cal/placements.tsv before.tsv
	run -0 --separate-stderr cal
	[[ "$stderr" != *"call 1"* && "$stderr" != *"profiling mobilenet"* ]]
	cmp cal/placements.tsv before.tsv
	rm cal/measured.02.001.mp
	run -0 --separate-stderr cal
	[[ "$stderr" == *"pass 2, call 1 of 2: "* && "$stderr" != *"call 2"* ]]
}

@test "what is wrong is said" {
	run -2 "$PIPELINES/calibrate"
	[[ "$output" == *"no model"* ]]
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml
	[[ "$output" == *"no devices"* ]]
	run -1 "$PIPELINES/calibrate" nothing.xml -D cpu:0
	[[ "$output" == *"cannot read 'nothing.xml'"* ]]
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml -D cpu:0 -n 3
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml -D cpu:0 --chunk x
	[[ "$output" == *"--chunk takes a whole number"* ]]
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml -D gpu:7 -o other
	mkdir -p other && echo else > other/settings
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml -D cpu:0 -o other
	[[ "$output" == *"other settings"* ]]
}
