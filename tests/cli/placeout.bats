#!/usr/bin/env bats
# placeout: which placement it takes, the four formats, and that OpenVINO takes the affinity.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/resnet50.xml" | devsim --probe -D cpu:0,1,gpu > probe.mp
	placebase random -n 4 probe.mp > place.mp
	py - <<-'PY'
		r = read("place.mp")[:-1]
		g, p = first(r, "graph"), first(r, "place")
		n = g["n_sets"]
		def best(name, device, **keys):
		    m = dict(graph=g["digest"], rank=0, devices=["cpu:0,1", "gpu"], device=tensor(np.array(device, np.uint16)),
		             source="policy", episode=3, step=1, sample=0, lat_s=0.01, ref_s=0.012, n_groups=7)
		    m.update(keys)
		    return ["best", m]
		final = dict(final=True, reference="gpu", ratio=0.8, ratio_lo=0.75, ratio_hi=0.85, n_pairs=30, lo_s=0.009,
		             hi_s=0.011, copies=4, copy_bytes=1000000, out_mse=1e-9, out_cos=0.999, out_max=1e-5)
		def run(source, sample, **keys):
		    m = dict(graph=g["digest"], episode=0, step=0, sample=sample, source=source, ok=True, lat_s=0.02, lo_s=0.019,
		             hi_s=0.021, ref_s=0.0125, copies=0, copy_bytes=0)
		    m.update(keys)
		    return ["run", m]
		half = [int(s >= n // 2) for s in range(n)]
		one, other = best("a", [0] * n), best("b", [1] * n)
		write("best.mp", r + [best("c", half), best("d", [1] * n, rank=1)])
		write("final.mp", r + [["update", {"ok": 20, "failed": 2}], ["update", {"ok": 20, "failed": 0}], run("single", 0, ratio=1.6, ratio_lo=1.5, ratio_hi=1.7),
		                       run("single", 1, lat_s=0.0125, lo_s=0.012, hi_s=0.013, ratio=1.0, ratio_lo=1.0, ratio_hi=1.0), run("random", 5, lat_s=0.001),
		                       best("e", half, ref_s=0.0125, **final), one])
		write("int8.mp", r + [run("single", 0, ratio=1.6, ratio_lo=1.5, ratio_hi=1.7), best("e", [1] * n, ref_s=0.0125, **{**final, "out_max": 0.0123, "out_of": "cpu:0,1"})])
		write("alone.mp", r + [run("single", 0, ok=False, reason="no\x1bkernel"), best("f", [1] * n, **final)])
		write("random.mp", r[:1] + [run("random", i, lat_s=0.05 - 0.01 * i, copies=9, copy_bytes=5) for i in range(3)])
	PY
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "a graph that has another one's digest does not take its place" {
	cd "$BATS_FILE_TMPDIR"
	ir2dag "$ROOT/tests/models/googlenet.xml" -o other.mp
	py '
		r = read("place.mp")[:-1]
		other = first(read("other.mp"), "graph")
		write("twin.mp", r + [["graph", {**other, "digest": first(r, "graph")["digest"]}]])
	'
	run -3 placeout --format tsv twin.mp
	[[ $output == *"is a second graph; one graph at a time, please" ]]
}

@test "affinity covers every operation, constants beside what reads them" {
	placeout --format affinity --map cpu:0,1=CPU,gpu=GPU.1 place.mp > a.json
	run -0 py - <<-'PY'
		r = read("place.mp")
		g = first(r, "graph")
		p = [m for k, m in r if k == "place"][-1]
		a = json.load(open("a.json"))
		assert set(a) == set(g["node_name"]) and set(a.values()) == {"CPU", "GPU.1"}
		s, d, ptr, src = (array(x) for x in (g["set"], p["device"], g["in_ptr"], g["in_node"]))
		n, consts = len(s), set(array(g["const_node"]))
		reads = {v: [w for w in range(n) if v in src[ptr[w]:ptr[w + 1]]] for v in range(n)}
		feeds = {v: src[ptr[v]:ptr[v + 1]] for v in range(n)}
		fixed = set()
		for v in range(n):
		    if v in consts or (len(feeds[v]) and all(u in fixed for u in feeds[v])):
		        fixed.add(v)
		for v in range(n):
		    where = a[g["node_name"][v]]
		    assert where == (a[g["node_name"][reads[v][0]]] if v in fixed else ["CPU", "GPU.1"][d[s[v]]])
	PY
	placeout --literal --format affinity place.mp > a.json
	run -0 py - <<-'PY'
		r = read("place.mp")
		g, p = first(r, "graph"), [m for k, m in r if k == "place"][-1]
		s, d = array(g["set"]), array(p["device"])
		a = json.load(open("a.json"))
		assert all(a[g["node_name"][v]] == ["cpu:0,1", "gpu"][d[s[v]]] for v in range(len(s)))
	PY
}

@test "operations in no set are covered too" {
	ir2dag --constants fold "$ROOT/tests/models/resnet50.xml" > folded.mp
	devsim --probe -D cpu,gpu folded.mp | placebase random -n 1 | placeout -f affinity > a.json
	run -0 py - <<-'PY'
		g = first(read("folded.mp"), "graph")
		assert (array(g["set"]) == 2**32 - 1).sum() > 100
		assert set(json.load(open("a.json"))) == set(g["node_name"])
	PY
}

@test "names: escaped in JSON, shared ones warned of" {
	run -0 py - <<-'PY'
		r = read("place.mp")
		g, p = first(r, "graph"), [m for k, m in r if k == "place"][-1]
		s, d = array(g["set"]), array(p["device"])
		fixed = set(array(g["const_node"]))
		relu = [v for v in range(len(s)) if g["types"][array(g["type"])[v]] == "ReLU"]
		a = next(v for v in relu if d[s[v]] == 0)
		b = next(v for v in relu if d[s[v]] == 1)
		g["node_name"][0] = 'a "quoted"\\ name\twith\nlines, é and \x01'
		g["node_name"][a] = g["node_name"][b] = "twin"
		write("names.mp", r)
	PY
	placeout -f affinity names.mp > a.json 2> err
	run -0 cat err
	[[ $output == *"warning: operations on "*" share the name 'twin'; all of them go to "* ]]
	[ "$(wc -l < err)" -eq 1 ]
	placeout -f tsv names.mp > a.tsv
	run -0 py - <<-'PY'
		a = json.load(open("a.json"))
		assert 'a "quoted"\\ name\twith\nlines, é and \x01' in a and a["twin"] in ("cpu:0,1", "gpu")
		rows = [l.split("\t") for l in open("a.tsv", encoding="utf-8").read().split("\n")[:-1]]
		assert all(len(r) == len(rows[0]) for r in rows)
		assert rows[1][2] == r'a "quoted"\\ name\twith\nlines, é and \x01', rows[1]
	PY
}

@test "which placement: final before rank 0 before place" {
	placeout -f table place.mp | grep -q '^Model.*237 sets, [0-9]* segments$'
	placeout -f table best.mp | grep -q '237 sets, 7 groups, [0-9]* segments$'
	placeout -f table best.mp | grep -q '^latency: 10.000 ms$'
	placeout -f affinity final.mp > final.json
	placeout -f affinity best.mp > best.json
	cmp final.json best.json
	run -3 --separate-stderr placeout probe.mp
	[[ $stderr == *"no placement in 'probe.mp'"* ]]
}

@test "copies are those that the simulator makes" {
	placeout -f table place.mp | sed -n 's/^copies between devices: \([0-9]*\) tensors, \([0-9.]*\) MB$/\1 \2/p' > ours
	devsim place.mp > sim.mp
	run -0 py - <<-'PY'
		m = [m for k, m in read("sim.mp") if k == "run"][-1]
		n, mb = open("ours").read().split()
		assert m["copies"] == int(n) and abs(m["copy_bytes"] / 1e6 - float(mb)) < 1e-3 and int(n) > 10
	PY
}

@test "table and TSV add up" {
	placeout -f tsv best.mp > t.tsv
	placeout -f table best.mp > t.txt
	run -0 py - <<-'PY'
		rows = list(csv.DictReader(open("t.tsv"), delimiter="\t"))
		g = first(read("best.mp"), "graph")
		assert [r["name"] for r in rows] == g["node_name"] and [int(r["set"]) for r in rows] == list(array(g["set"]))
		text = open("t.txt").read()
		line = next(l for l in text.splitlines() if l.startswith("gpu ")).split()
		assert int(line[3]) == sum(r["device"] == "gpu" for r in rows)
		assert abs(float(line[4]) - sum(float(r["flops"]) for r in rows if r["device"] == "gpu") / 1e9) < 1e-3
		assert len(text.split("operations\n")[-1].splitlines()) == g["n_sets"]
	PY
}

@test "report: of a simulated placement, and how far it is from the bound" {
	ir2dag "$ROOT/tests/models/small_summator.xml" | devsim --probe --spec paper | placebase heft | devsim > sim.mp
	placeout -f report sim.mp > r.txt
	py '
		p, m = of("sim.mp", "place")[0], of("sim.mp", "run")[0]
		text = open("r.txt").read()
		assert "%.3f ms" % (1e3 * m["lat_s"]) in text, text
		assert "than %.3f ms, a gap of %.2f %%" % (1e3 * p["bound_s"], 100 * (1 - p["bound_s"] / m["lat_s"])) in text, text
		assert "verdict: simulated" in text and "not measured" not in text, text
	'
}

@test "report: what operations in parts cannot beat" {
	ir2dag "$ROOT/tests/models/mobilenet_v3_large.xml" | devsim --probe --spec paper | placebase heft | devsim > sim.mp
	placeout -f report sim.mp > r.txt
	placeout -f json sim.mp > r.json
	placeout -f html sim.mp > r.html
	py '
		p, text, page = of("sim.mp", "place")[0], open("r.txt").read(), open("r.html").read()
		load, wait = p["bound_parts_s"], p["bound_parts_wait_s"]
		assert p["bound_parts_of"] == "operations" and 0 < load < wait < p["bound_s"]
		assert "bound of operations in parts: %.3f ms however they are cut, %.3f ms where each waits" % (1e3 * load, 1e3 * wait) in text, text
		told = json.load(open("r.json"))["placement"]
		assert told["bound_parts_of"] == "operations" and abs(told["bound_parts_s"] / load - 1) < 1e-6, told
		assert abs(told["bound_parts_wait_s"] / wait - 1) < 1e-6, told
		assert "; of operations in parts " in page and " however they are cut, " in page
		r = read("sim.mp")
		first(r, "place")["bound_parts_of"] = "layers"
		write("bad.mp", r)
	'
	run -3 placeout -f report bad.mp
	[[ $output == *"bound_parts_of: operations or sets"* ]]
}

@test "report: singles, random, this placement, the verdict" {
	placeout -f report --map gpu=GPU --random random.mp --search-seconds 61.7 final.mp > r.txt
	cat r.txt
	grep -q '^cpu:0,1 alone  *20.000 ms .* 0.625x ' r.txt
	grep -q '^GPU alone  *12.500 ms .* 1.000x ' r.txt
	grep -q '^best of 3 random  *30.000 ms  *19.000 .. 21.000 ' r.txt
	grep -q '^this placement  *10.000 ms  *9.000 .. 11.000  *1.250x  *7  *4  *1.000  *1.0e-09  *0.999000$' r.txt
	grep -q '^search: 62 s, 42 placements measured in 2 episodes$' r.txt
	grep -q '^verdict: 1.250 times as fast as GPU alone (95 % interval 1.176 to 1.333, 30 pairs)$' r.txt
	placeout -f report alone.mp > r.txt
	grep -qF 'cannot run: no\033kernel' r.txt || grep -qF 'cannot run: no\x1bkernel' r.txt
	grep -q '^verdict: gpu alone; no placement that was tried beats it for certain$' r.txt
	placeout -f report best.mp | grep -q '^verdict: not compared in pairs'
}

@test "report: all placements of a stream without an answer, and which one it is about" {
	placebase heft probe.mp | placebase random -n 3 | devsim > several.mp
	placeout -f report several.mp > several.txt
	cat several.txt
	py '
		text = open("several.txt").read()
		ran = [m for m in of("several.mp", "run") if m["source"] != "single"]
		assert len(ran) == 4
		for i, m in enumerate(ran):
		    row = "%s %d.%d.%d" % (m["source"], m["episode"], m["step"], m["sample"])
		    line = next(l for l in text.splitlines() if l.startswith(row))
		    assert "%.3f ms" % (1e3 * m["lat_s"]) in line and line.endswith("<") == (i == 3), line
		assert "this placement is the last of 4" in text
	'
	# One alone needs no list, nor does an answer.
	placebase heft probe.mp | devsim | placeout -f report > one.txt
	placeout -f report final.mp > answer.txt
	[ "$(grep -c '^placements ' one.txt answer.txt | paste -sd' ')" = "one.txt:0 answer.txt:0" ]
}

@test "report: another objective than the latency has no verdict about the latency alone" {
	py '
		r = read("final.mp")[:-1]
		write("values.mp", [[k, {**m, "value": 0.004 + 0.001 * i, "ref_value": 0.004}] if k == "run" else [k, m] for i, (k, m) in enumerate(r)])
	'
	run -0 placeout -f report --objective throughput final.mp
	[[ $output == *"verdict: throughput was not measured, and no simulation tells it; of the latency: 1.250 times as fast as gpu alone"* ]]
	run -0 placeout -f report --objective throughput --values values.mp final.mp
	echo "$output"
	[[ $output == *"verdict: throughput "*" times as good as the best single device's, by simulation on measured costs; it was not measured, only the latency was: 1.250 times"* ]]
}

@test "report: a verdict is what the record says, and nothing else is made of it" {
	py '
		r = read("alone.mp")[:-1]
		race = {"blocks": 9, "disturbed": 0, "seconds": 2.5, "noise": 0.1, "drift": 0.1, "settled": True}
		def told(name, **verdict):
		    write(name, r[:-1] + [["best", {**r[-1][1], "source": "single", "ratio": 1.0, "ratio_lo": 1.0, "ratio_hi": 1.0, "race": race, "verdict": verdict}]])
		told("v1.mp", says="single")
		told("v2.mp", says="undecided", rival="heft", rival_sample=0, ratio=0.8, ratio_lo=0.5, ratio_hi=1.25, more_s=12.0)
		told("v3.mp", says="undecided", rival="single", rival_sample=0, ratio=1.25, ratio_lo=0.0, ratio_hi=125.0, more_s=0.0)
		told("v4.mp", says="undecided", rival="heft", rival_sample=0, ratio=0.8, ratio_lo=0.64, ratio_hi=0.9, more_s=600.0)
		for w in "few", "interval", "restless", "surprise", "seldom", "another", "moon":
		    told("v4%s.mp" % w, says="undecided", rival="heft", rival_sample=0, ratio=0.8, ratio_lo=0.64, ratio_hi=0.9, more_s=0.0, why=w)
		told("v5.mp", says="undecided")
		told("v6.mp", says="maybe")
		gpu = next(m for k, m in read("final.mp") if k == "run" and m["source"] == "single" and m["sample"] == 1)
		both = [["run", {**gpu, "sample": i, "ratio": 1.0, "ratio_lo": 1.0, "ratio_hi": 1.0}] for i in (0, 1)]
		final = next(m for k, m in read("v5.mp") if k == "best" and m.get("final"))
		write("v7.mp", [x for x in r[:-1] if x[0] != "run" or x[1]["source"] != "single"] + both + [["best", final]])
		def loaded(name, average, others):
		    load = {"cores": 2, "average": average, "others": others}
		    write(name, r[:-1] + [["best", {**r[-1][1], "load": load}]])
		loaded("l1.mp", 9.75, 1.6)
		loaded("l2.mp", 1.9, 1.6)
		loaded("l3.mp", 2.6, 0.1)
	'
	verdict() { placeout -f report "$1" | sed -n 's/^verdict: //p'; }
	[ "$(verdict v1.mp)" = "gpu alone is the fastest of all that ran" ]
	[ "$(verdict v2.mp)" = "cannot tell: heft looked best (1.250 times as fast, 95 % interval 0.800 to 2.000), not surely faster than gpu alone, which is kept; to tell may take 12 s more" ]
	[ "$(verdict v3.mp)" = "cannot tell: gpu alone looked best, and as fast may be cpu:0,1 alone (0.800 times as fast, in too few runs for an interval)" ]
	[ "$(verdict v4.mp)" = "cannot tell: heft looked best (1.250 times as fast, 95 % interval 1.111 to 1.562), not surely faster than gpu alone, which is kept; to tell may take 10 minutes more" ]
	while IFS=: read -r why text; do
		[[ $(verdict "v4$why.mp") == *"1.111 to 1.562), not surely faster than gpu alone, which is kept; $text" ]]
		[[ $(placeout -f json "v4$why.mp") == *"\"why\": \"$why\""* ]]
	done <<- END
		few:one of them ran too seldom undisturbed
		interval:to be sure, the interval is taken half as wide again
		restless:whether that lasts, 2.5 s on a machine as restless do not tell
		surprise:so far from what was predicted, 2.5 s do not tell
		seldom:another device ran too seldom to be compared with it
		another:the race chose another one, which is not surely faster
	END
	run -3 --separate-stderr placeout -f report v4moon.mp
	[[ $stderr == *"verdict: why: 'moon' is no rule"* ]]
	[ "$(verdict v5.mp)" = "cannot tell: gpu alone looked best, and nothing else has run" ]
	[ "$(verdict v7.mp)" = "cannot tell: gpu or cpu:0,1 alone looked best, and nothing else has run" ]
	run -3 --separate-stderr placeout -f report v6.mp
	[[ $stderr == *"verdict: 'maybe' is none"* ]]
	# More that wanted to run than there are cores is said first, and nothing where all of it was this program.
	run -0 placeout -f report l1.mp
	[[ $output == "load: 9.8 on 2 cores in the last minute, of which other programs used 1.6 while this was measured"* ]]
	placeout -f report l2.mp > l2.txt
	placeout -f report l3.mp > l3.txt
	run -1 grep -h load: l2.txt l3.txt
	# The page and the object say it, too, and the reference by the name that it is given.
	placeout -f html l1.mp | grep -q '<dt>load</dt><dd>9.8 on 2 cores in the last minute'
	placeout -f html l2.mp > l2.html
	run -1 grep '<dt>load' l2.html
	placeout -f json --map gpu=GPU.1 l1.mp -o l1.json
	placeout -f json --map cpu:0,1=CPU v3.mp -o v3.json
	py '
		r, v = json.load(open("l1.json")), json.load(open("v3.json"))
		assert r["load"] == {"cores": 2, "average": 9.75, "others": 1.6} and v["load"]["cores"] is None, (r["load"], v["load"])
		assert r["verdict"]["reference"] == "GPU.1" and "GPU.1 alone" in r["verdict"]["text"], r["verdict"]
		assert v["verdict"]["rival"] == "single" and v["placement"]["devices"][v["verdict"]["rival_sample"]]["name"] == "CPU"
	'
}

@test "wrong options and input" {
	run -2 --separate-stderr placeout --map cpu=CPU place.mp
	[[ $stderr == *"--map: there is no device 'cpu'; did you mean 'cpu:0,1'? here are cpu:0,1, gpu"* ]]
	run -2 placeout --map gpu place.mp
	run -2 placeout --map gpu= place.mp
	run -2 --separate-stderr placeout --map gpu=A,=B place.mp
	[[ $stderr == *"--map: there is no device ''"* ]]
	# A name may have a '='.
	placebase single -D cl:0.0,cl:0.0/precision=f16 place.mp |
		placeout -f affinity --map cl:0.0=B,cl:0.0/precision=f16=A > x.json
	py 'assert set(json.load(open("x.json")).values()) == {"A"}'
	run -2 placeout --format xml place.mp
	run -1 placeout no-such-file
	run -1 placeout -o /dev/full place.mp
	run -3 placeout /dev/null
	for n in 1 1000 30000 $(($(stat -c %s place.mp) - 1)); do
		head -c "$n" place.mp > cut.mp
		run -3 placeout -o cut.txt cut.mp
		[ ! -e cut.txt ]
	done
	run -0 py - <<-'PY'
		r = read("place.mp")
		g, p = first(r, "graph"), first(r, "place")
		p["graph"] += 1
		write("other.mp", r)
		p["graph"] -= 1
		p["device"] = tensor(array(p["device"]) + np.uint16(2))
		write("range.mp", r)
		write("early.mp", [m for m in r if m[0] != "graph"])
		g2 = dict(g, digest=g["digest"] + 1)
		write("second.mp", r[:-1] + [["graph", g2]])
	PY
	for f in other range early second; do
		run -3 placeout "$f.mp"
	done
	"$HSDAG_PYTHON" "$ROOT/tests/fuzz/mutate.py" final.mp 40 1 "$B/bin/placeout" -f report > log 2>&1 ||
		{ cat log; return 1; }
}

@test "OpenVINO splits a real model as the affinity says, with the same outputs" {
	needs_openvino
	"$ROOT/tests/support/models.sh" mobilenet_v3_large .
	ir2dag mobilenet_v3_large.xml | devsim --probe -D cpu,gpu | placebase random -n 1 |
		placeout -f affinity --map cpu=CPU,gpu=CPUB > m.json
	run -0 timeout 200 "$HSDAG_PYTHON" "$ROOT/tests/oracle/affinity.py" mobilenet_v3_large.xml m.json
	echo "$output"
	[[ $output == *"subgraphs "* ]]
}

@test "trace: the schedule of the last run, sets and copies on rows that do not overlap" {
	cd "$BATS_TEST_TMPDIR"
	ir2dag "$ROOT/tests/models/googlenet.xml" | devsim --probe | placebase random -n 2 -o r.mp
	for o in "" --no-contention; do
		devsim --schedule $o r.mp -o s.mp
		placeout --format trace --map cpu=CPU s.mp > t.json
		py '
			r = of("s.mp", "run")[-1]
			e = json.load(open("t.json"))["traceEvents"]
			row = {x["tid"]: x["args"]["name"] for x in e if x["name"] == "thread_name"}
			x = [m for m in e if m["ph"] == "X"]
			first = min(row)
			sets = [m for m in x if m["tid"] < first + 2]
			assert [row[first], row[first + 1]] == ["CPU", "gpu"] and {row[i] for i in row if i > first + 1} == {"CPU to gpu", "gpu to CPU"}
			assert len(sets) == len(array(r["schedule"]["set"])) and len(x) - len(sets) == r["copies"]
			assert np.isclose(max(m["ts"] + m["dur"] for m in x), 1e6 * r["lat_s"])
			assert sum(m["args"]["bytes"] for m in x if m["tid"] > first + 1) == r["copy_bytes"]
			import trace_rules
			assert trace_rules.problems("t.json") == []
			flows = [m for m in e if m["ph"] == "s"]
			assert len(flows) > 0.9 * r["copies"] > 10, (len(flows), r["copies"])
		'
	done
	# What a clock gave: steps that overlap by its tick, some at once, some that took no time.
	py '
		r = read("s.mp")
		for k, m in r:
			if k == "run" and "schedule" in m:
				s = m["schedule"]
				start, end = array(s["start_s"]).copy(), array(s["end_s"]).copy()
				start[1::3] -= 1.5e-9
				end[::7] += 1e-9
				end[5::11] = start[5::11]
				start[4::40] -= 1e-5
				s["start_s"], s["end_s"] = tensor(np.maximum(start, 0)), tensor(np.maximum(end, np.maximum(start, 0)))
		write("o.mp", r)
	'
	placeout --format trace o.mp > o.json
	py '
		import trace_rules
		assert trace_rules.problems("o.json") == []
		e = json.load(open("o.json"))["traceEvents"]
		names = [m["args"]["name"] for m in e if m["name"] == "thread_name"]
		assert names.count("cpu") > 1 or names.count("gpu") > 1, names     # what overlaps by more has a row of its own
	'
	run -3 placeout --format trace r.mp
	[[ $output == *"no run with a schedule; devrun --schedule and devsim --schedule tell"* ]]
}

@test "json: one object with what the report says, also of names that JSON and the terminal must be kept from" {
	cd "$BATS_TEST_TMPDIR"
	ir2dag "$ROOT/tests/models/googlenet.xml" | devsim --probe --spec paper | placebase random -n 6 |
		devsim --machine wild,seed=26 --paired --race 2 -o raced.mp
	placeout --format json --phases 'model 0.4 s, first race 4.2 s (given 5, without probes), end 1 s' -o r.json raced.mp
	run -0 placeout --format report raced.mp
	py '
		r, text = json.load(open("r.json")), sys.argv[1]
		assert r["format"] == 1 and r["answer"] == "final" and r["operations"] > 100
		assert "verdict: " + r["verdict"]["text"] in text and r["verdict"]["says"] in ("gain", "single", "undecided"), r["verdict"]
		for m in r["measured"]:
		    if m["kind"] == "single" and m["ran"]:
		        line = next(x for x in text.split("\n") if x.startswith(m["device"] + " alone"))
		        assert "%.3f ms" % (m["latency_s"] * 1e3) in line and "%.3fx" % m["speedup"] in line, (m, line)
		        low, high = m["latency_interval_s"]
		        assert low <= m["latency_s"] <= high
		assert [m["kind"] for m in r["measured"]][-1] == "placement"
		assert sum(d["sets"] for d in r["placement"]["devices"]) == r["placement"]["sets"]
		assert len(r["raced"]) > 3 and r["race"]["blocks"] > 0
		assert [(p["name"], p["seconds"], p["note"]) for p in r["phases"]] == [
		    ("model", 0.4, None), ("first race", 4.2, "given 5, without probes"), ("end", 1, None)], r["phases"]
	' "$output"
	# A placement that nobody ran.
	ir2dag "$ROOT/tests/models/googlenet.xml" | placebase single -D 'a"b' | placeout --format json -o r.json
	py '
		r = json.load(open("r.json"))
		assert r["verdict"]["says"] == "untold" and r["placement"]["devices"][0]["name"] == "a\"b", r
		assert r["measured"][-1]["latency_s"] is None and r["race"]["seconds"] is None and r["phases"] == []
	'
}

@test "where the reference computes in less than f32: whose outputs its are compared with" {
	placeout --format report int8.mp > int8.txt
	grep -qx "outputs: compared with those of cpu:0,1, which computes in f32; at most 1.2 % of their scale off" int8.txt || { cat int8.txt; return 1; }
	placeout --format report final.mp > f32.txt
	run ! grep "^outputs: " f32.txt
	placeout --format json int8.mp | grep -q '"of": "cpu:0,1"'
	placeout --format json final.mp | grep -q '"of": "gpu"'
}
