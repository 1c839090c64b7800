#!/usr/bin/env bats
# placebase: what each method emits, from which devices and costs.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/inception_v3.xml" > g.mp
	devsim --probe g.mp > p.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "single: every device, or the one that is named" {
	placebase single p.mp > a.mp
	placebase single:gpu p.mp > b.mp
	py '
		a, b = of("a.mp", "place"), of("b.mp", "place")
		assert [set(array(m["device"])) for m in a] == [{0}, {1}] and [m["sample"] for m in a] == [0, 1]
		assert len(b) == 1 and b[0]["devices"][array(b[0]["device"])[0]] == "gpu" and b[0]["source"] == "single"
	'
	run -2 placebase single:tpu p.mp
	[[ "$output" == *"there is no device 'tpu'"* ]]
}

@test "cluster: no worse than HEFT, better where copies are dear, the same on any number of threads" {
	python3 "$ROOT/tests/support/families.py" lstm 120 3 5 | json2dag > lstm.mp
	for i in p lstm; do
		placebase heft "$i.mp" | devsim > a.mp
		placebase cluster -t 1 "$i.mp" -o b.mp
		cmp <(recdump -k place b.mp) <(placebase cluster -t 3 "$i.mp" | recdump -k place)
		devsim b.mp -o d.mp
		py '
			a, d = (of(f"{x}.mp", "run")[0]["lat_s"] for x in "ad")
			assert d <= (0.9 if sys.argv[1] == "lstm" else 1) * a, (a, d)
		' "$i"
	done
}

@test "priced: devices whose time is dear are left to those that need them, the same on any number of threads" {
	# Layers of three operations that take 1 s on a and 2 on b, and three that take 2 and 1: each where it is fast, a
	# layer takes 3 s.  Where each ends first it takes 4 (a a b, then b a b).
	py '
		print(json.dumps({"devices": [{"name": "a"}, {"name": "b"}],
			"links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
			"nodes": [{"id": v, "cost_s": {"a": 1, "b": 2} if v % 6 < 3 else {"a": 2, "b": 1}} for v in range(120)],
			"edges": [{"src": u, "dst": v, "bytes": 0} for v in range(6, 120) for u in range(v // 6 * 6 - 6, v // 6 * 6)]}))
	' | json2dag > apart.mp
	python3 "$ROOT/tests/support/families.py" lstm 120 3 5 | json2dag > lstm.mp
	placebase heft --no-hints apart.mp | devsim -o a.mp
	placebase priced apart.mp | devsim -o b.mp
	placebase priced --evals 3 lstm.mp -o c.mp
	cmp <(recdump -k place c.mp) <(placebase priced --evals 3 -t 3 lstm.mp | recdump -k place)
	cmp <(placebase priced lstm.mp | recdump -k place) <(placebase priced -t 3 lstm.mp | recdump -k place)
	py '
		heft, priced = (of(f"{x}.mp", "run")[0]["lat_s"] for x in "ab")
		assert abs(heft - 80) < 1e-9 and abs(priced - 60) < 1e-9, (heft, priced)
	'
	run -0 placebase -v priced --evals 3 lstm.mp -o c.mp
	[[ "$output" == *"priced: 3 list schedules, value "*" with weight "* ]]
}

@test "list schedules: what is left when the budget is over goes to one device, and it says so" {
	for method in heft heft-apart peft cpop contention m-topo lookahead lookahead-rank; do
		run -0 --separate-stderr placebase $method --budget 1e-9 -v p.mp -o b.mp
		[[ "$stderr" == *"to one device, the budget being spent"* ]]
		placebase $method --budget 100 p.mp -o c.mp
		placebase $method p.mp -o d.mp
		py '
			b, c, d = (array(of(f"{x}.mp", "place")[0]["device"]) for x in "bcd")
			assert len(set(b.tolist())) == 1 and c.tobytes() == d.tobytes() and len(set(c.tolist())) > 1
		'
	done
}

@test "repeats: layers that are alike are found in any order of the nodes and searched once; pins and sets that stay together hold" {
	# 24 layers: split, 8 experts of two operations each, join, norm; 4 devices, each of which holds a third of it all.
	py '
		import random
		nodes, edges, last = [{"id": "in", "cost_s": 1, "out_bytes": 4}], [], "in"
		for l in range(24):
			def node(name, s, after, mem=0):
				nodes.append({"id": f"{name}.{l}", "name": f"{name}.{l}", "cost_s": s, "out_bytes": 4, "mem_bytes": mem})
				edges.extend({"src": u, "dst": f"{name}.{l}"} for u in after)
				return f"{name}.{l}"
			split = node("split", 2, [last])
			last = node("norm", 1, [node("join", 1, [node(f"b{e}", 3, [node(f"a{e}", 4, [split], 10)]) for e in range(8)])])
		nodes.append({"id": "out", "cost_s": 5, "out_bytes": 4})
		edges.append({"src": last, "dst": "out"})
		for name in "ordered", "shuffled":
			json.dump({"devices": [{"name": f"d{i}", "mem_bytes": 800} for i in range(4)],
				"links": [{"src": "*", "dst": "*", "latency_s": 0.25, "bytes_per_s": 100}], "nodes": nodes, "edges": edges}, open(f"{name}.json", "w"))
			random.Random(5).shuffle(nodes)
	'
	for form in ordered shuffled; do
		json2dag $form.json | dagpin --pin 'join.3=d2' --keep 'a0.5,a1.6' > $form.mp
		run -0 bash -c "json2dag $form.json | placebase repeats:plain --evals 200 -v -o whole.mp"
		[[ $output =~ ([0-9]+)" of 458 tasks were searched, "([0-9]+)" of 24 blocks" ]]
		[ "${BASH_REMATCH[2]}" -lt 24 ]
		[ "${BASH_REMATCH[1]}" -eq $((458 - 19 * (24 - BASH_REMATCH[2]))) ]
		run -0 placebase repeats:plain --evals 200 -v $form.mp -o r.$form.mp
		# The pin is in layer 3: those behind it are alike.  A layer has 19 tasks.
		[[ $output =~ ([0-9]+)" of 458 tasks were searched, "([0-9]+)" of 20 blocks" ]]
		[ "${BASH_REMATCH[2]}" -lt 20 ]
		[ "${BASH_REMATCH[1]}" -eq $((458 - 19 * (20 - BASH_REMATCH[2]))) ]
		cmp <(recdump -k place r.$form.mp) <(placebase repeats:plain --evals 200 -t 3 $form.mp | recdump -k place)
		placebase heft --no-hints $form.mp | devsim > h.mp
		devsim r.$form.mp > s.mp
		py '
			(h,), (s,) = of("h.mp", "run"), of("s.mp", "run")
			assert s["ok"] and s["lat_s"] < 1.001 * h["lat_s"], (s["lat_s"], h["lat_s"])
		'
	done
	run -0 placebase repeats -v p.mp -o r.mp     # inception_v3 has none
	[[ $output == *"repeats: no blocks that repeat are half of the graph: the best single device"* ]]
}

@test "a budget that is over before a method begins: each hands over a legal placement, and searches search nothing" {
	for method in $(placebase --list | cut -f1 | tail -n +2); do
		case $method in
		expert:* | of:* | spine) continue ;;
		esac
		run -0 --separate-stderr timeout 60 placebase "${method%%:*}" --budget 1e-9 -v p.mp -o b.mp
		[[ "$stderr" == *"bounds: "*" kinds left out"* ]]
		[[ ! "$stderr" =~ ([0-9]+)" evaluations" || ${BASH_REMATCH[1]} -le 3 ]] || { echo "$method: $stderr"; return 1; }
		[ "$method" = replicas ] || py 'assert all(p["predicted_s"] > 0 for p in of("b.mp", "place")) and of("b.mp", "place")'
	done
	run -0 --separate-stderr placebase anneal --budget 100 --evals 50 -v p.mp -o b.mp
	[[ "$stderr" == *" 50 evaluations"* && "$stderr" != *"left out"* ]]
}

@test "series, mincut, ideals and repairs: what there is no time for, or are too many kinds of devices for, says so" {
	mkdir -p spent
	cd spent || return 1
	"$HSDAG_PYTHON" "$ROOT/tests/support/growth.py" chain 300 4 > chain.json
	json2dag chain.json -o chain.mp
	"$HSDAG_PYTHON" "$ROOT/tests/support/growth.py" random 60 300 | json2dag -o kinds.mp
	placebase single chain.mp -o single.mp
	run -0 --separate-stderr placebase series --budget 1e-9 -v chain.mp -o b.mp
	[[ $stderr == *"series: the budget is spent: the best single device"* ]]
	run -0 --separate-stderr placebase mincut --budget 1e-9 -v chain.mp -o c.mp
	[[ $stderr == *", 0 cuts"* ]]
	py '
		least = min(p["predicted_s"] for p in of("single.mp", "place"))
		b, c = (of(f"{x}.mp", "place")[0] for x in "bc")
		assert b["predicted_s"] == least and len(set(array(b["device"]).tolist())) == 1, (b["predicted_s"], least)
		assert c["predicted_s"] > 0
	'
	run -0 --separate-stderr placebase series -v chain.mp -o d.mp
	[[ $stderr != *spent* ]]
	py 'assert of("d.mp", "place")[0]["predicted_s"] < min(p["predicted_s"] for p in of("single.mp", "place"))'
	run -0 --separate-stderr placebase ideals --budget 1 -v kinds.mp -o e.mp
	[[ $stderr == *"ideals: devices of too many kinds to count how many of each are used: the best single device"* ]]
	# Without a device that holds them all packings are left out, and no single one is legal: what comes closest is told.
	py '
		p = json.load(open("chain.json"))
		for d in p["devices"]: d["mem_bytes"] = 82000
		json.dump(p, open("tight.json", "w"))
	'
	json2dag tight.json -o tight.mp
	placebase mincut tight.mp -o f.mp
	py 'assert of("f.mp", "place")[0]["predicted_s"] > 0'
	run -0 --separate-stderr placebase mincut --budget 1e-9 -v tight.mp -o g.mp
	[[ $stderr == *"no legal placement found"* ]]
}

@test "a bound that the budget has cut short is one, and no higher than the whole" {
	placebase heft p.mp -o a.mp
	placebase heft --budget 1e-9 p.mp -o b.mp
	placebase heft --budget 1000 p.mp -o c.mp
	py '
		a, b, c = (of(f"{x}.mp", "place")[0]["bound_s"] for x in "abc")
		assert 0 <= b < a == c, (a, b, c)
	'
}

@test "random: distinct, reproducible, seeded" {
	placebase random -n 40 p.mp > a.mp
	placebase random -n 40 p.mp > b.mp
	placebase random -n 40 --seed 2 p.mp > c.mp
	cmp a.mp b.mp
	py '
		a, c = of("a.mp", "place"), of("c.mp", "place")
		all_of = {array(m["device"]).tobytes() for m in a + c}
		assert len(all_of) == 80 and [m["sample"] for m in a] == list(range(40))
		share = [array(m["device"]).mean() for m in a]
		assert all(0.4 < s < 0.6 for s in share[1::2]) and not all(0.3 < s < 0.7 for s in share[0::2]), share
	'
}

@test "of: the placements of another stream, with their sources and devices" {
	placebase random -n 3 p.mp | placebase heft | placebase heft -o several.mp
	py '
		r = read("several.mp")
		for k, m in r:
			if k == "place" and m["source"] == "heft":      # other numbers of the same devices
				m["devices"] = m["devices"][::-1]
				m["device"] = tensor(1 - array(m["device"]))
		write("several.mp", r[:-1])
	'
	placebase single:gpu p.mp | placebase of:several.mp > a.mp
	py '
		a, b = of("a.mp", "place"), of("several.mp", "place")
		assert [m["source"] for m in a] == ["single"] + 3 * ["random"] + 2 * ["heft"]
		assert [m["sample"] for m in a[1:]] == list(range(5)) and all(m["devices"] == a[0]["devices"] for m in a)
		assert (array(a[4]["device"]) == 1 - array(b[3]["device"])).all()
		assert a[0]["sample"] == a[0]["devices"].index("gpu")
	'
	# A single device has its own number, wherever it stands: reports tell by it whose run it is.
	placebase heft p.mp | placebase single:gpu -o late.mp
	placebase of:late.mp p.mp > a.mp
	py '
		heft, single = of("a.mp", "place")
		assert single["source"] == "single" and single["sample"] == single["devices"].index("gpu") == 1, single
		assert heft["sample"] == 0, heft
	'
	run -3 placebase of:p.mp p.mp
	[[ "$output" == *"'p.mp': it has no placements"* ]]
	devsim --probe --spec desktop-cpu,integrated-gpu g.mp | placebase heft -o else.mp
	run -3 placebase of:else.mp p.mp
	[[ "$output" == *"'else.mp': there is no device 'igpu'"* ]]
	run -1 placebase of:nothing.mp p.mp
	run -2 placebase of p.mp
}

@test "random needs no costs; a tiny graph has few placements" {
	placebase random -n 3 -D x,y,z g.mp > a.mp
	py 'assert [len(set(array(m["device"]))) for m in of("a.mp", "place")][1] == 3'
	ir2dag "$ROOT/tests/models/small_summator.xml" | placebase random -n 1000 -D x,y > a.mp
	py '
		p = of("a.mp", "place")
		assert len({array(m["device"]).tobytes() for m in p}) == len(p) == 2 ** len(array(p[0]["device"])), len(p)
	'
}

@test "climb and heft beat the best single device here" {
	placebase climb --evals 1500 p.mp | devsim > c.mp
	placebase heft p.mp | devsim > h.mp
	placebase random -n 1500 p.mp | devsim > r.mp
	py '
		c, h, r = (of(f, "run") for f in ("c.mp", "h.mp", "r.mp"))
		assert len(c) == len(h) == 1 and c[0]["source"] == "climb" and h[0]["source"] == "heft"
		assert c[0]["lat_s"] < 0.9 * c[0]["ref_s"] and h[0]["lat_s"] < 0.95 * h[0]["ref_s"]
		assert c[0]["lat_s"] < min(m["lat_s"] for m in r)
	'
	run -0 --separate-stderr placebase climb --evals 20 -v p.mp -o /dev/null
	[[ "$stderr" == *"climb: 20 evaluations"* ]]
}

# Four tensors leave a at 1 s, each takes 2 s over the link; what reads one takes 3 s on a, 1 s on b.
@test "contention: copies that wait for each other cost time, which HEFT does not see" {
	py '
		import json
		reads = [{"id": i, "cost_s": {"a": 3, "b": 1}} for i in (1, 2, 3, 4)]
		json.dump({"devices": [{"name": "a"}, {"name": "b"}],
			   "links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1000}],
			   "nodes": [{"id": 0, "cost_s": {"a": 1}}] + reads,
			   "edges": [{"src": 0, "dst": i, "bytes": 2000 + i} for i in (1, 2, 3, 4)]}, open("star.json", "w"))'
	json2dag star.json > star.mp
	for m in heft contention; do
		placebase $m star.mp | devsim > $m.out.mp
	done
	py '
		heft, contention = (of(m + ".out.mp", "run")[0]["lat_s"] for m in ("heft", "contention"))
		assert abs(contention - 7) < 1e-9 and heft > 8, (heft, contention)'
}

@test "what runs nothing is beside what makes or reads it, and costs nothing unless a record says so" {
	ir2dag "$ROOT/tests/models/nmt2.xml" | devsim --probe | placebase m-topo | devsim -o free.mp
	py '
		r = read("free.mp")[:-1]
		g, cost, device = first(r, "graph"), first(r, "cost"), array(first(r, "place")["device"])
		sets, kind = array(g["set"]), np.array(g["types"])[array(g["type"])]
		placed = sets != 2**32 - 1
		runs_something = ~np.isin(kind, ["Parameter", "Result", "Reshape", "Squeeze", "Unsqueeze"])
		idle = ~np.isin(np.arange(g["n_sets"]), sets[placed & runs_something])
		assert idle.sum() > 10 and set(device) == {0, 1}
		first_in, n = array(g["in_node"])[array(g["in_ptr"])[:-1].clip(max=len(array(g["in_node"])) - 1)], 0
		for v in np.flatnonzero(np.isin(kind, ["Reshape", "Squeeze", "Unsqueeze"]) & idle[sets]):
		    made_in = sets[first_in[v]]
		    assert idle[made_in] or device[sets[v]] == device[made_in], v
		    n += device[sets[v]]
		assert n > 0
		cost["set_s"] = tensor(array(cost["set_s"]) + 1e-3 * idle[:, None])
		write("dear.mp", [x for x in r if x[0] != "run"])
		open("idle", "w").write(str(idle.sum()))
	'
	devsim dear.mp -o dear.run.mp
	py '
		free, dear = of("free.mp", "run")[0], of("dear.run.mp", "run")[0]
		more = array(dear["busy_s"]).sum() - array(free["busy_s"]).sum()
		assert np.isclose(more, 1e-3 * int(open("idle").read())), more
	'
}

@test "what takes no time is predicted to take none" {
	echo '{"devices": [{"name": "a"}, {"name": "b"}], "nodes": [{"id": 1, "cost_s": 0}]}' | json2dag -o zero.mp
	placebase heft zero.mp -o a.mp
	placebase heft -O throughput zero.mp -o b.mp
	py '
		a, b = (of(f, "place")[0] for f in ("a.mp", "b.mp"))
		assert a["predicted_s"] == a["bound_s"] == 0 and "bound_value" not in a and "predicted_value" not in a
		assert b["predicted_s"] == b["predicted_value"] == b["bound_value"] == 0 and "bound_s" not in b
	'
}

@test "devices: --devices before the stream before --spec" {
	placebase single -D gpu p.mp > a.mp
	placebase heft --spec desktop-cpu,datacenter-gpu g.mp > b.mp
	py '
		assert of("a.mp", "place")[0]["devices"] == ["gpu"]
		assert of("b.mp", "place")[0]["devices"] == ["cpu", "gpu"]
	'
	run -2 placebase heft -D cpu,gpu g.mp
	[[ "$output" == *"no costs"* ]]
	run -2 placebase random g.mp
	[[ "$output" == *"no devices"* ]]
}

@test "the stream passes, and what is refused" {
	placebase single p.mp > a.mp
	py '
		a, p = read("a.mp"), read("p.mp")
		assert a[1:4] == p[1:4] and [k for k, m in a] == ["hdr", "graph", "devs", "cost", "place", "place", "end"]
	'
	run -2 placebase nonsense p.mp
	run -2 placebase singles p.mp
	run -2 placebase random -n 0 p.mp
	run -2 placebase
	run -3 placebase single /dev/null
	run -3 bash -o pipefail -c 'head -c 5000 p.mp | placebase single'
	run -1 bash -c 'placebase single p.mp > /dev/full'
}

@test "refine starts from HEFT, ends no later, and depends on the seed alone" {
	run -0 --separate-stderr placebase refine --evals 1500 -v p.mp -o r.mp
	[[ "$stderr" =~ refine:\ ([0-9.e-]+)\ s\ from\ HEFT\'s\ ([0-9.e-]+)\ s ]]
	py - "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" <<-'PY'
		assert 0 < float(sys.argv[1]) < float(sys.argv[2]), sys.argv
	PY
	placebase refine --evals 1500 p.mp -o again.mp
	recdump -fk place r.mp > once.txt
	recdump -fk place again.mp | cmp - once.txt
	placebase refine --evals 1 p.mp | recdump -fk place > start.txt
	placebase heft p.mp | recdump -fk place > heft.txt
	sed 's/refine/heft/' start.txt | cmp - heft.txt
	grep -q '"device": ' heft.txt once.txt
}

@test "portfolio: no worse than what it runs, the same on any number of threads, named after the finder" {
	placebase portfolio --evals 4000 p.mp -o a.mp
	placebase portfolio --evals 4000 -t 3 p.mp -o b.mp
	recdump -fk place a.mp > a.txt
	recdump -fk place b.mp | cmp - a.txt
	for m in heft peft lookahead lookahead-rank learned-policy; do placebase "$m" p.mp -o "$m.mp"; done
	py '
		a = of("a.mp", "place")
		others = [m["predicted_s"] for f in ("heft", "peft", "lookahead", "lookahead-rank", "learned-policy") for m in of(f + ".mp", "place")]
		assert len(a) == 1 and a[0]["source"].startswith("portfolio:"), a
		assert a[0]["bound_s"] <= a[0]["predicted_s"] <= min(others), (a[0]["predicted_s"], others)
	'
	run -0 timeout 60 placebase portfolio --budget 0.3 p.mp -o c.mp
	run -0 timeout 60 placebase portfolio --budget 1e-9 p.mp -o d.mp
	placebase single p.mp | devsim -o s.mp
	py '
		least = min([m["lat_s"] for m in runs("s.mp")] + [of("heft.mp", "place")[0]["predicted_s"]])
		for f in "c.mp", "d.mp":
			(m,) = of(f, "place")
			assert m["predicted_s"] <= least * (1 + 1e-12)
	'
}

@test "portfolio: objectives, and a problem without an answer" {
	placebase portfolio --evals 1500 --objective memory p.mp -o m.mp
	placebase portfolio --evals 1500 p.mp -o l.mp
	placebase single p.mp -o s.mp
	devsim --objective memory m.mp > mr.mp
	devsim l.mp > lr.mp
	py '
		m, l = of("mr.mp", "run")[0], of("lr.mp", "run")[0]
		assert max(array(m["mem_bytes"])) <= max(array(l["mem_bytes"])) and l["lat_s"] <= m["lat_s"], (m, l)
	'
	echo '{"devices": [{"name": "a", "mem_bytes": 5}, {"name": "b", "mem_bytes": 5}], "links": [],
	       "nodes": [{"id": 1, "cost_s": 1, "mem_bytes": 6}], "edges": []}' | json2dag - -o none.mp
	run -1 placebase portfolio --evals 100 none.mp -o x.mp
	[[ "$output" == *"no legal placement was found"* ]]
}

@test "portfolio: look-ahead and the learned policy where little time is left for much; plain: nothing learned" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/placement_sets.py" doppler llama-layer 107 | json2dag -o wide.mp
	placebase lookahead-rank wide.mp -o rank.mp
	placebase learned-policy wide.mp -o policy.mp
	placebase heft wide.mp -o heft.mp
	placebase portfolio --evals 20 wide.mp -o all.mp
	run -0 --separate-stderr placebase portfolio:plain --evals 4000 -v wide.mp -o plain.mp
	[[ $stderr != *learned* ]]
	py '
		least = {f: of(f + ".mp", "place")[0]["predicted_s"] for f in ("rank", "policy", "heft", "all")}
		assert least["all"] <= min(least["rank"], least["policy"]) < least["heft"], least
	'
	run -2 --separate-stderr placebase portfolio:learned wide.mp
	[[ $stderr == *"portfolio:plain"* ]]
}

@test "ideals: thousands of free nodes around one go with it at once" {
	cd "$BATS_TEST_TMPDIR" || return 1
	py '
		n = 8000
		v = [{"id": i, "cost_s": 0 if i < n else i - n + 1} for i in range(n + 3)]
		e = [{"src": i, "dst": n, "bytes": 4} for i in range(n)] + [{"src": n + i, "dst": n + i + 1, "bytes": 100} for i in range(2)]
		json.dump({"devices": [{"name": "a"}, {"name": "b"}], "links": [
			{"src": "*", "dst": "*", "latency_s": 1e-6, "bytes_per_s": 1e9}], "nodes": v, "edges": e}, open("hub.json", "w"))
	'
	json2dag hub.json -o hub.mp
	run -0 --separate-stderr prlimit --cpu=8 "$B/bin/placebase" ideals --objective throughput hub.mp -v -o x.mp
	[[ "$stderr" == *"ideals: 3, no placement below 3 (load), gap 0.00 %"* ]] || { echo "$stderr"; return 1; }
}

# turns SECONDS-ON-BOTH N - N tasks of 1 s on a or b, of so many on `both`, which takes turns with them.
turns() {
	py '
		on = dict(zip(("a", "b", "both"), (1, 1, float(sys.argv[1]))))
		json.dump({"devices": [{"name": "a"}, {"name": "b"}, {"name": "both", "turns": ["a", "b"]}],
		           "nodes": [{"id": i, "name": f"n{i}", "type": "A", "cost_s": on} for i in range(int(sys.argv[2]))], "edges": [],
		           "links": [{"src": "*", "dst": "*", "latency_s": 1e-3, "bytes_per_s": 1e9}]}, sys.stdout)
	' "$@" | json2dag
}

@test "bounds know that devices which take turns do not compute at once" {
	turns 0.6 10 | placebase heft -v -o h.mp 2> note
	grep -q 'no placement below [45][.0-9]* s (turns)' note
	py 'assert 4.99 < of("h.mp", "place")[0]["bound_s"] <= 5, of("h.mp", "place")[0]["bound_s"]'
	# Where it pays, everything is on both: five tasks of 0.4 s there, one after the other.
	turns 0.4 10 | placebase exact --budget 5 -o e.mp
	py '
		p = of("e.mp", "place")[0]
		assert 3.99 < p["bound_s"] <= p["predicted_s"] * (1 + 1e-9) and abs(p["predicted_s"] - 4) < 1e-6, (p["bound_s"], p["predicted_s"])
	'
}

@test "bounds of operations in parts: by a specification, of the graph before it was cut, else of sets" {
	printf 'device %s flops 1e11 bandwidth 1e10 overhead 1e-6\n' a b > two.spec
	echo 'link * * latency 1e-5 bandwidth 1e10' >> two.spec
	ir2dag "$ROOT/tests/models/googlenet.xml" -o whole.mp
	dagsplit --no-auto whole.mp -o cut.mp
	for i in whole cut; do
		devsim --probe --spec two.spec "$i.mp" -o "$i-p.mp"
		placebase heft,single -v "$i-p.mp" -o "$i-h.mp" 2> "$i.note"
		placebase heft,single "$i.mp" --spec two.spec -o "$i-s.mp"
	done
	grep -q '^placebase: operations in parts: no placement below 0.[0-9e-]* s (load)' cut.note
	py '
		w, c, s, t = (of(f"{x}.mp", "place") for x in ("whole-h", "cut-h", "whole-s", "cut-s"))
		one = min(p["predicted_s"] for p in w if p["source"] == "single")
		load, wait = w[0]["bound_parts_s"], w[0]["bound_parts_wait_s"]
		assert all((p["bound_parts_s"], p["bound_parts_wait_s"]) == (load, wait) for p in w + c + s + t)
		# Two alike do half each; what they do is cut further than whole operations, and costs more than that.
		assert abs(load - one / 2) < 1e-6 * one and load <= wait < w[0]["bound_s"], (load, wait, one)
		assert wait < c[0]["predicted_s"] < w[0]["predicted_s"]
	'
	# 3 and 8 us of each operation: without them the path would be .54 of the best single device.
	ir2dag "$ROOT/tests/models/mobilenet_v3_large.xml" | devsim --probe --spec paper | placebase single -o paper.mp
	py '
		p = of("paper.mp", "place")
		share = p[0]["bound_parts_wait_s"] / min(m["predicted_s"] for m in p)
		assert 0.80 < share < 0.82, share
	'
	# Costs that no specification says: of sets; of a graph that is cut they do not say what it took as a whole.
	for i in whole cut; do
		devsim --machine shared,seed=2 --true-costs "$i-p.mp" | placebase heft -v -o "$i-t.mp" 2> "$i.note"
	done
	grep -q '^placebase: sets in parts: no placement below' whole.note
	devsim --machine shared,seed=2 whole-h.mp | devsim --refit -o refit.mp
	py 'assert ["flops_per_s" in m for m in of("refit.mp", "cost")] == [True, False]'
	run -1 grep 'in parts' cut.note
	py '
		w, c = (of(f"{x}-t.mp", "place")[0] for x in ("whole", "cut"))
		assert 0 < w["bound_parts_s"] < w["bound_s"] and w["bound_parts_of"] == "sets" and "bound_parts_s" not in c
	'
	turns 2 3 | placebase heft -v -o x.mp 2> note
	grep -q '^placebase: sets in parts: no placement below 1.[45][0-9]* s (load)$' note
	turns 2 3 | placebase heft -v -O throughput -o x.mp 2> note
	run -1 grep 'in parts' note
}

@test "what costs were computed from: refused where it is out of range" {
	py '
		r = read("p.mp")
		first(r, "cost")["overhead_s"] = tensor(np.array([1e-6, -1e-6]))
		write("bad.mp", r)
	'
	run -3 placebase heft bad.mp
	[[ $output == *"cost record: flops_per_s, bytes_per_s or overhead_s is out of range"* ]]
}

@test "m-sct starts nothing on a device that has to wait for its turn" {
	turns 1.2 4 | placebase m-sct -o m.mp
	py '
		p = of("m.mp", "place")[0]
		assert abs(p["predicted_s"] - 2) < 1e-6, (p["predicted_s"], array(p["device"]))
	'
}

@test "progress: from the third second on, on a terminal alone" {
	run -0 placebase portfolio --budget 3 p.mp -o /dev/null
	[ -z "$output" ]
	run -0 script -qec 'placebase portfolio --budget 3 p.mp -o /dev/null' /dev/null
	[[ $output == *"placebase: portfolio, 2 of 3 s"* ]]
}

@test "lookahead-rank: a task of many inputs is judged by all that are placed, as one of few" {
	# The same with inputs that are read twice over: twins beyond the limit change nothing but how they are counted.
	py '
		import json, subprocess
		def run(n):
			names = ["a", "b", "c"]
			nodes = [{"id": i, "cost_s": {d: 1 + (i * 7 + j * 3) % 5 for j, d in enumerate(names)}, "out_bytes": 1 + i % 4}
			         for i in range(n)]
			edges = [{"src": i, "dst": n - 1} for i in range(n - 1)]
			p = {"devices": [{"name": d} for d in names], "links": [{"src": "*", "dst": "*", "latency_s": 0.5, "bytes_per_s": 2}],
			     "nodes": nodes, "edges": edges}
			json.dump(p, open("fan.json", "w"))
			subprocess.run("json2dag fan.json | placebase lookahead-rank | devsim > fan.mp", shell=True, check=True)
			return of("fan.mp", "run")[0]["lat_s"] / n
		few, many = run(32), run(320)        # 31 inputs and 319
		assert many < 1.1 * few, (few, many)
	'
}

@test "many devices: a run begins as the first one did, whatever the runs before it have left" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/growth.py" random 60 100 | json2dag > many.mp
	placebase random -n 4 many.mp > four.mp
	for rules in "" --no-contention --no-overlap "--no-contention --no-overlap"; do
		placebase of:four.mp four.mp | devsim $rules > twice.mp
		py '
			lat = [r["lat_s"] for r in of("twice.mp", "run")]
			assert len(lat) == 8 and lat[:4] == lat[4:] and len(set(lat)) == 4, lat
		'
		# A search, which breaks runs off, ends with what its placement takes.
		placebase climb --evals 300 $rules many.mp -o climbed.mp
		devsim $rules climbed.mp > alone.mp
		py '
			assert abs(of("climbed.mp", "place")[-1]["predicted_s"] - of("alone.mp", "run")[-1]["lat_s"]) < 1e-12
		'
	done
}

# A fork and its join on three equal devices: 28 is the best of list schedules by rank, 27 of all.
forkjoin() {
	json2dag <<- 'E'
		{"devices": [{"name": "p0"}, {"name": "p1"}, {"name": "p2"}],
		 "links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
		 "nodes": [{"id": 0, "cost_s": 8}, {"id": 1, "cost_s": 6}, {"id": 2, "cost_s": 7}, {"id": 3, "cost_s": 6},
		           {"id": 4, "cost_s": 4}, {"id": 5, "cost_s": 6}, {"id": 6, "cost_s": 3}, {"id": 7, "cost_s": 2}],
		 "edges": [{"src": 0, "dst": 1, "bytes": 5}, {"src": 0, "dst": 2, "bytes": 8}, {"src": 0, "dst": 3, "bytes": 8},
		           {"src": 0, "dst": 4, "bytes": 6}, {"src": 0, "dst": 5, "bytes": 7}, {"src": 0, "dst": 6, "bytes": 8},
		           {"src": 1, "dst": 7, "bytes": 4}, {"src": 2, "dst": 7, "bytes": 2}, {"src": 3, "dst": 7, "bytes": 4},
		           {"src": 4, "dst": 7, "bytes": 5}, {"src": 5, "dst": 7, "bytes": 4}, {"src": 6, "dst": 7, "bytes": 5}]}
	E
}

@test "a proof says of what: of every order, or of the order rule" {
	forkjoin > fork.mp
	for rule in rank improved fifo; do
		run -0 --separate-stderr placebase exact --order $rule --no-contention -v fork.mp -o rule.mp
		[[ "$stderr" == *"exact: 28 s, no placement below 27 s (series), gap 3.57 %; for this order rule ($rule) none below 28 s, gap 0.00 %"* ]]
		[[ "$stderr" == *"28, proved for this order rule" ]]
	done
	run -0 --separate-stderr placebase portfolio --evals 60000 --no-contention -v fork.mp -o port.mp
	[[ "$stderr" == *"bound 27 (28 for this order rule)"* ]]
	run -0 --separate-stderr placebase exact --order free --no-contention -v fork.mp -o free.mp
	[[ "$stderr" == *"exact: 27 s, no placement below 27 s (series), gap 0.00 %"* && "$stderr" == *"27, proved" ]]
	run -0 --separate-stderr placebase portfolio --order free --evals 60000 --no-contention -v fork.mp -o port.mp
	[[ "$stderr" == *"27 s, no placement below 27 s (series), gap 0.00 %"* && "$stderr" == *"value 27, bound 27, "* ]]
	py '
		rule, free = of("rule.mp", "place")[0], of("free.mp", "place")[0]
		assert rule["bound_rule_s"] == 28 and 26.99 < rule["bound_s"] <= 27 and "order" not in rule, rule
		assert free["bound_s"] == free["predicted_s"] == 27 and "bound_rule_s" not in free, free
		assert sorted(array(free["order"])) == list(range(8))
	'
}

@test "a placement keeps the order that it brings, whatever --order says" {
	forkjoin | placebase exact --order free --no-contention > free.mp
	for rule in rank fifo improved free; do
		devsim --no-contention --order $rule --schedule free.mp | recdump -k run --full > told
		grep -q '"lat_s": 27,' told
	done
	placebase of:free.mp --no-contention free.mp -o again.mp
	py '
		free = of("free.mp", "place")[0]
		assert of("again.mp", "place")[-1]["order"] == free["order"]
		p, m = dict(free), read("free.mp")
		bad = np.array(array(p["order"]), "u4")

		def written(name, order):
			write(name, [r for r in m if r[0] != "place"] + [["place", {**p, "order": tensor(order)}]])
		written("twice.mp", np.array([0, 1, 1], "u4"))
		written("far.mp", np.array([0, 99], "u4"))
		written("long.mp", np.arange(9, dtype="u4"))
		written("signed.mp", np.array([0, 1], "i4"))
		# One that no graph allows: what reads comes behind what it reads.
		written("back.mp", bad[::-1].copy())
		written("few.mp", bad[:2])
		written("none.mp", bad[:0])
	'
	for bad in twice far long signed; do
		run -3 devsim --no-contention $bad.mp -o none
		[[ "$output" == *"place record"*"'order'"* ]] || { echo "$output"; return 1; }
	done
	for good in back few none; do
		devsim --no-contention $good.mp -o $good.run
		py "assert of('$good.run', 'run')[-1]['lat_s'] >= 27"
	done
}

@test "searches take the order with the placement: anneal, climb, portfolio" {
	forkjoin > fork.mp
	for copies in --no-contention --contention; do
		for method in "anneal --evals 4000" "climb --evals 4000" "portfolio --evals 40000" heft; do
			# shellcheck disable=SC2086
			placebase $method --order free $copies fork.mp | devsim $copies > free.mp
			py '
				p, r = of("free.mp", "place")[0], of("free.mp", "run")[0]
				assert p["predicted_s"] == r["lat_s"] and sorted(array(p["order"])) == list(range(8)), (p, r)
				assert sys.argv[1:] != ["anneal --evals 4000", "--no-contention"] or r["lat_s"] == 27, r
			' "$method" "$copies"
		done
	done
	placebase anneal --order free --evals 4000 -t 3 fork.mp -o three.mp
	placebase anneal --order free --evals 4000 fork.mp -o one.mp
	py 'p, q = of("three.mp", "place")[0], of("one.mp", "place")[0]; assert p == q, (p, q)'
}

# Chains of four tasks of 1 s, whose copies take 10 s, on two equal devices.
chains() {
	py - "$1" <<- 'E' | json2dag
		n, k = int(sys.argv[1]), 2
		print(json.dumps({"devices": [{"name": f"p{i}"} for i in range(k)],
			"links": [{"src": "*", "dst": "*", "latency_s": 10, "bytes_per_s": 1e9}],
			"nodes": [{"id": v, "cost_s": 1, "mem_bytes": 1} for v in range(4 * n)],
			"edges": [{"src": v, "dst": v + 1, "bytes": 0} for v in range(4 * n) if v % 4 < 3]}))
	E
}

@test "a heuristic that is worse than one device, or than layers, says so" {
	chains 1 > one.mp
	run -0 --separate-stderr placebase m-topo one.mp -o out.mp
	[ "$stderr" = "placebase: warning: m-topo: 14 s is worse than p0 alone (4 s)" ]
	chains 2 > two.mp
	run -0 --separate-stderr placebase m-topo two.mp -o out.mp
	[ "$stderr" = "placebase: warning: m-topo: 15 s is worse than p0 alone (8 s) and contiguous layers (4 s)" ]
	run -0 --separate-stderr placebase single,layers,heft,anneal --evals 100 two.mp -o out.mp
	[ "$stderr" = "" ]
	py '
		p = {m["source"]: m for m in of("out.mp", "place")}
		assert p["layers"]["predicted_s"] == 4 and list(array(p["layers"]["device"])) == 4 * [0] + 4 * [1], p
	'
}

@test "layers: one piece for each device, equal by time or by memory, within its memory" {
	py '
		doc = {"devices": [{"name": "a"}, {"name": "b", "mem_bytes": 0}, {"name": "c"}],
			"links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
			"nodes": [{"id": v, "cost_s": s, "mem_bytes": m} for v, (s, m) in enumerate(
				[(4, 1), (4, 1), (4, 1), (4, 1), (2, 9), (2, 9), (2, 9), (2, 1)])],
			"edges": [{"src": v, "dst": v + 1, "bytes": 0} for v in range(7)]}
		json.dump(doc, open("l.json", "w"))
		doc["devices"][1]["mem_bytes"] = 2
		json.dump(doc, open("small.json", "w"))
	'
	json2dag l.json > l.mp
	json2dag small.json > small.mp
	placebase layers l.mp > time.mp
	placebase layers:memory l.mp > memory.mp
	placebase layers small.mp > small_time.mp
	py '
		def at(f): return list(array(of(f, "place")[0]["device"]))
		# 24 s in three: 8, 8, 8.  32 bytes in three, none above 13: 4 + 9, 9, 9 + 1.
		assert at("time.mp") == [0, 0, 1, 1, 2, 2, 2, 2], at("time.mp")
		assert at("memory.mp") == [0, 0, 0, 0, 0, 1, 2, 2], at("memory.mp")
		assert at("small_time.mp") == [0, 0, 1, 1, 2, 2, 2, 2], at("small_time.mp")
	'
	run -2 placebase layers:size l.mp -o none
	[[ "$output" == *"layers are equal by time or memory, not 'size'"* ]]
}

@test "cluster without limits tries fewer schedules of a large graph, and tells" {
	py '
		print(json.dumps({"devices": [{"name": "a"}, {"name": "b"}],
			"links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
			"nodes": [{"id": v, "cost_s": 1} for v in range(5000)],
			"edges": [{"src": v, "dst": v + 1, "bytes": 1} for v in range(4999)]}))
	' | json2dag > long.mp
	run -0 placebase -v cluster long.mp -o out.mp
	[[ "$output" == *"cluster: 39 list schedules, "*"; so few for the size of the graph, --evals or --budget has more"* ]] || { echo "$output"; return 1; }
	run -0 placebase -v cluster --evals 48 long.mp -o out.mp
	[[ "$output" == *"cluster: 48 list schedules, "* && "$output" != *"so few"* ]]
}

@test "placebase --plan: weights once, tensors at their peak, room without headroom, as JSON" {
	# Weights of 10, 20 and 30 bytes; a makes 4 for b, which makes 6 for c on another device.
	py '
		print(json.dumps({"devices": [{"name": "g", "mem_bytes": 50}, {"name": "cpu"}],
			"links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
			"nodes": [{"id": v, "name": n, "mem_bytes": m, "cost_s": {d: 1}} for v, (n, m, d) in enumerate([("a", 10, "g"), ("b", 20, "g"), ("c", 30, "cpu")])],
			"edges": [{"src": 0, "dst": 1, "bytes": 4}, {"src": 1, "dst": 2, "bytes": 6}]}))
	' | json2dag > abc.mp
	placebase heft,single --headroom 10% --plan plan.json abc.mp -o out.mp
	placebase heft --headroom 10B,g=10B --plan - abc.mp -o out.mp > less.json
	py '
		heft, *single = json.load(open("plan.json"))
		assert heft["source"] == "heft" and heft["legal"] and heft["predicted_s"] == 9, heft
		# While b runs the 4 of a and its own 6 are there; c has a copy of 6.
		def w(name, size): return {"name": name, "kind": "weights", "bytes": size}
		assert heft["missing"] == 0 and heft["devices"] == [
			{"device": "g", "memory": 50, "headroom": 5, "usable": 45, "weights": 30, "stored": 30, "inputs": 0, "variables": 0,
			 "tensors": 10, "workspace": 0, "work": 0, "peak": 40, "free": 5, "largest": [w("b", 20), w("a", 10)]},
			{"device": "cpu", "memory": None, "headroom": 0, "usable": None, "weights": 30, "stored": 30, "inputs": 0, "variables": 0,
			 "tensors": 6, "workspace": 0, "work": 0, "peak": 36, "free": None, "largest": [w("c", 30)]}], heft
		assert [(p["source"], p["legal"], "devices" in p) for p in single] == 2 * [("single", False, False)] and "cpu" in single[1]["why"], single
		less, = json.load(open("less.json"))
		assert less["legal"] and less["devices"][0]["usable"] == 40 and less["devices"][0]["free"] == 0, less
	'
	run -0 --separate-stderr placebase heft --headroom g=30% --plan less.json abc.mp -o out.mp
	py 'p, = json.load(open("less.json")); assert not p["legal"] and p["missing"] == 5 and p["devices"][0]["free"] == -5, p' || { cat less.json; return 1; }
	for bad in 100 100% -1 5x '' g= =3 g=1,,2 gg=10% inf g=1e40; do
		run -2 --separate-stderr placebase heft --headroom "$bad" abc.mp -o out.mp
		[[ "$stderr" == "placebase: error: --headroom: "* && ${#stderr_lines[@]} -eq 1 ]] || { echo "$bad: $stderr"; return 1; }
	done
}

@test "placebase --plan where nothing fits: by how much, and the largest pieces" {
	py '
		print(json.dumps({"devices": [{"name": "g", "mem_bytes": 30}, {"name": "h", "mem_bytes": 20}],
			"links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
			"nodes": [{"id": v, "name": "v%d" % v, "mem_bytes": 10 + v, "cost_s": 1} for v in range(6)],
			"edges": [{"src": v, "dst": v + 1, "bytes": 0} for v in range(5)]}))
	' | json2dag > six.mp
	run -1 --separate-stderr placebase heft --plan six.json six.mp -o six_placed.mp
	[ ! -e six_placed.mp ]
	py '
		p, = json.load(open("six.json"))
		assert p["source"] == "heft" and not p["legal"] and p["why"], p
		assert (p["needs"], p["usable"], p["missing"]) == (75, 50, 25), p
		assert [(x["name"], x["bytes"]) for x in p["largest"]] == [("v%d" % v, 10 + v) for v in (5, 4, 3, 2, 1)], p
	'
	# Without costs there is nothing to tell; no file is left.
	run -2 --separate-stderr placebase single -D cpu:0 --plan never.json g.mp -o never.mp
	[ "$stderr" = "placebase: error: --plan: nothing tells what placements need; it goes with --spec, or with costs in the stream" ]
	[ ! -e never.json ]
	[ ! -e never.mp ]
}

@test "memory: scratch grows with tensors (workspace), variables stay, --headroom of one device decides" {
	printf 'device a flops 1e9 bandwidth 1e9 memory 1e9 workspace 0.5\ndevice b flops 1e9 bandwidth 1e9\nlink * * latency 0 bandwidth 1e9\n' > w.spec
	ir2dag "$ROOT/tests/models/lstm_stateful.xml" > lstm.mp
	placebase single --spec w.spec --plan now.json lstm.mp -o out.mp
	devsim --probe --spec w.spec lstm.mp | placebase single --plan recorded.json | devsim > run.mp
	py '
		a, b = json.load(open("now.json"))
		a, b = a["devices"][0], b["devices"][1]
		assert json.load(open("recorded.json")) == json.load(open("now.json"))
		assert a["tensors"] == b["tensors"] > 0 and a["workspace"] == a["tensors"] // 2 and b["workspace"] == 0, (a, b)
		assert a["peak"] == b["peak"] + a["workspace"] == sum(a[x] for x in ("weights", "inputs", "variables", "tensors", "workspace")), (a, b)
		assert int(array(runs("run.mp")[0]["mem_bytes"])[0]) == a["peak"], a
		# What is read and assigned: the shapes of all ReadValue, as the file has them.
		import math, xml.etree.ElementTree as ET
		layers = ET.parse(os.environ["ROOT"] + "/tests/models/lstm_stateful.xml").getroot().iter("layer")
		size = lambda l: math.prod(int(d.text) for d in l.find("output").iter("dim"))
		assert a["variables"] == sum(4 * size(l) for l in layers if l.get("type") == "ReadValue") > 0, a
		open("free", "w").write(str(1000000000 - a["peak"]))
	'
	placebase single --spec w.spec --headroom "a=$(cat free)B" lstm.mp | devsim --spec w.spec --headroom "a=$(cat free)B" > fits.mp
	placebase single --spec w.spec lstm.mp | devsim --spec w.spec --headroom "a=$(($(cat free) + 1))B" > not.mp
	py 'assert runs("fits.mp")[0]["ok"] and not runs("not.mp")[0]["ok"] and runs("not.mp")[1]["ok"]'
}
