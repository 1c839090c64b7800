#!/usr/bin/env bats
# placeout in the forms of other runtimes, read back by their rules in Python; --why, beside the schedule itself.
# programs: placeout
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	# A language model's names, as OpenVINO has them: NAME DEVICE, a chain of operations; three layers, the last one divided.
	py '
		layer = ["input_layernorm/aten::mul/Multiply", "self_attn.q_proj/aten::linear/MatMul", "self_attn.k_proj/aten::linear/MatMul",
		  "self_attn.v_proj/aten::linear/MatMul", "self_attn/aten::scaled_dot_product_attention/ScaledDotProductAttention", "self_attn.o_proj/aten::linear/MatMul",
		  "aten::add/Add", "post_attention_layernorm/aten::mul/Multiply", "mlp.gate_proj/aten::linear/MatMul", "mlp.up_proj/aten::linear/MatMul",
		  "mlp.down_proj/aten::linear/MatMul", "aten::add/Add_1"]
		join = lambda i, x: f"__module.model.layers.{i}" + ("/" if x.startswith("aten") else ".") + x
		where = {"__module.model.embed_tokens/aten::embedding/Gather": "cpu"}
		for i in range(12):
			for x in layer:
				where[join(i, x)] = "gpu:0" if i < 10 else "cpu" if i == 10 else "gpu:1" if "mlp" in x else "cpu"
		where["__module.model.norm/aten::mul/Multiply"] = "gpu:1"
		where["__module.lm_head/aten::linear/MatMul"] = "gpu:1"
		where["Reshape_17"] = "cpu"
		names = list(where)
		json.dump({"devices": [{"name": d} for d in ("cpu", "gpu:0", "gpu:1")], "links": [{"src": "*", "dst": "*", "latency_s": 1e-5, "bytes_per_s": 1e9}],
		  "nodes": [{"id": i, "name": n, "cost_s": {"cpu": 3e-3, "gpu:0": 1e-3, "gpu:1": 2e-3}, "out_bytes": 1000} for i, n in enumerate(names)],
		  "edges": [{"src": i, "dst": i + 1} for i in range(len(names) - 1)]}, open("lm.json", "w"))
		json.dump(where, open("lm.where", "w"))
		json.dump({n: ("cpu", "gpu:1")[i % 2] for i, n in enumerate(("layers.1/MatMul", "layers.10/MatMul", "layers.1/MatMul/x", "a,b", "c (d)", "", "same", "e"))}, open("on.where", "w"))
	'
	json2dag lm.json | placebase expert:lm.where > lm.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "device-map: disjoint keys, layers whole, every module on its device, cpu and numbers" {
	run -0 --separate-stderr placeout --format device-map -o map.json lm.mp
	[[ "$stderr" == *"beside a GPU, cpu is where accelerate keeps weights"* ]]
	[[ "$stderr" == *"1 operations have no module in their names: not told"* ]]
	[[ "$stderr" == *"weights that modules share have to be on one device"* ]]
	py '
		m, where = json.load(open("map.json")), json.load(open("lm.where"))
		for a in m:
			assert not any(b != a and (a == "" or b.startswith(a + ".")) for b in m), a
		def device(path):
			hits = [k for k in m if path == k or path.startswith(k + ".") or k == ""]
			assert len(hits) == 1, (path, hits)
			return m[hits[0]]
		number = {"cpu": "cpu", "gpu:0": 0, "gpu:1": 1}
		for name, on in where.items():
			if not name.startswith("__module."): continue
			path = name[9:].split("/")[0]
			if path.startswith("model.layers.11"): continue
			assert device(path) == number[on], (path, device(path), on)
		# the divided layer: cpu has 8 operations without weights of FLOPs, gpu:1 has 3
		assert device("model.layers.11.mlp.up_proj") == device("model.layers.11") == "cpu", m
		assert "model.layers.11" in m and "model.norm" in m and not any(k.startswith("model.layers.0.") for k in m)
	'
	placeout --format device-map --map cpu=disk,gpu:0=3 -o map2.json lm.mp 2> err
	py 'm = json.load(open("map2.json")); assert m["model.embed_tokens"] == "disk" and m["model.layers.0"] == 3 and m["model.norm"] == 1, m'
	# everything on one device is one key
	json2dag lm.json | placebase single:gpu:0 | placeout --format device-map -o one.json 2> err
	py 'assert json.load(open("one.json")) == {"": 0}'
}

@test "device-map of a traced model: every operation's module has one key" {
	ir2dag "$ROOT/tests/models/bert_base.xml" | devsim --probe --spec paper | placebase heft > bert.mp
	placeout --format device-map -o map.json bert.mp 2> err
	placeout --format affinity -o affinity.json bert.mp
	py '
		m = json.load(open("map.json"))
		paths = {n[9:].split("/")[0] for n in json.load(open("affinity.json")) if n.startswith("__module.")}
		leaves = {p for p in paths if not any(q.startswith(p + ".") for q in paths)}
		for p in leaves:
			assert sum(p == k or p.startswith(k + ".") or k == "" for k in m) == 1, p
	'
}

@test "llama-ot: first match, regular expressions, every known tensor to its buffer" {
	run -0 --separate-stderr placeout --format llama-ot -o ot lm.mp
	[[ "$stderr" == *"buffers of weights are told"* ]]
	[ "$(wc -l < ot)" -eq 1 ]
	py '
		import re
		rules = [r.split("=", 1) for r in open("ot").read().strip().split(",")]
		def buffer(t): return next((b for p, b in rules if re.search(p, t)), None)
		kind = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
		  "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
		on = {"cpu": "CPU", "gpu:0": "CUDA0", "gpu:1": "CUDA1"}
		n = 0
		for name, d in json.load(open("lm.where")).items():
			m = re.match(r"__module\.model\.layers\.(\d+)\.([^/]*)/", name)
			t = f"blk.{m[1]}.{kind[m[2]]}.weight" if m and m[2] in kind else {"embed": "token_embd.weight", "norm/": "output_norm.weight", "head/": "output.weight"}.get(
			  "embed" if "embed_tokens" in name else "norm/" if "model.norm/" in name else "head/" if "lm_head/" in name else "")
			if t:
				n += 1
				assert buffer(t) == on[d], (t, buffer(t), d, rules)
		assert n == 12 * 9 + 3 and buffer("blk.120.attn_q.weight") is None and buffer("xblk.1.attn_q.weight") is None
		assert len(rules) < 20, rules
	'
	placeout --format llama-ot --map gpu:0=CPU,gpu:1=RPC[h:1] -o ot lm.mp 2> err
	grep -q 'RPC\[h:1\]' ot
	run -3 placeout --format llama-ot --map gpu:0=a=b lm.mp
	[[ "$output" == *"'a=b' has a ',' or '=', which no buffer's name can have"* ]]
	run -3 placeout --format ort --map 'gpu:0==a(b' lm.mp
	[[ "$output" == *"'=a(b' has one of , ; ( ) =, which no device in a rule can have"* ]]
	# a number has no 0 before it in JSON
	placeout --format device-map --map gpu:0=007,gpu:1=0 -o zero.json lm.mp 2> err
	py 'd = list(json.load(open("zero.json")).values()); assert "007" in d and 0 in d, d'
	# OpenVINO's processor is one, too
	sed 's/"cpu"/"ov:CPU"/g' lm.json > ov.json
	sed 's/"cpu"/"ov:CPU"/g' lm.where > ov.where
	json2dag ov.json | placebase expert:ov.where | placeout --format ort -o ov.ort 2> err
	placeout --format ort -o lm.ort lm.mp 2> err
	cmp ov.ort lm.ort
}

@test "ort: the longest name that a node has in it is its own; what no rule can say is left out" {
	py '
		where = json.load(open("on.where"))
		json.dump({"devices": [{"name": "cpu"}, {"name": "gpu:1"}], "links": [{"src": "*", "dst": "*", "latency_s": 1e-5, "bytes_per_s": 1e9}],
		  "nodes": [{"id": i, "name": n, "cost_s": 1} for i, n in enumerate(where)] + [{"id": 99, "name": "same", "cost_s": 1, "allowed": ["cpu"]}], "edges": []}, open("on.json", "w"))
		json.dump({**{str(i): d for i, d in enumerate(where.values())}, "99": "cpu"}, open("on.ids", "w"))
	'
	json2dag on.json | placebase random -n 1 > r.mp
	py '
		records = read("r.mp")
		where = json.load(open("on.where"))
		for k, m in records:
			if k == "place":
				m["device"] = tensor(np.array([0 if d == "cpu" else 1 for d in where.values()] + [1], np.uint16))
		write("on.mp", records)
	'
	run -0 --separate-stderr placeout --format ort -o ort.json on.mp
	[[ "$stderr" == *"3 operations have no name, or one with , ; ( )"* ]]
	[[ "$stderr" == *"1 names are those of operations on several devices: left out"* ]]
	py '
		import re
		o = json.load(open("ort.json"))
		assert o["left_out"] == 4 and o["graph_optimization_level"] == "ORT_DISABLE_ALL"
		rules = {}
		for part in o["session_config"]["session.name_based_layer_assignment"].split(";"):
			d, names = re.fullmatch(r"\s*([^(]*)\((.*)\)\s*", part).groups()
			for n in names.split(","):
				assert n not in rules
				rules[n] = d
		def device(name): return rules[max((r for r in rules if r in name), key=len)]
		on = {"cpu": "CPUExecutionProvider", "gpu:1": "gpu:0"}
		for name, d in json.load(open("on.where")).items():
			if name and not set(name) & set(",;()") and name != "same":
				assert device(name) == on[d], (name, rules)
		assert "same" not in rules
	'
}

@test "dot: json2dag reads it; operations, edges and devices are those of the placement" {
	json2dag lm.json | placebase expert:lm.where | placeout --format dot -o lm.dot 2> err
	printf 'device a flops 1e9 bandwidth 1e9\n' > one.spec
	json2dag lm.dot --spec one.spec > back.mp
	py '
		import re
		where = json.load(open("lm.where"))
		g = of("back.mp", "graph")[0]
		assert len(g["node_name"]) == len(where) and len(array(g["in_node"])) == len(where) - 1
		text = open("lm.dot").read()
		told = {m[1]: m[2] for m in re.finditer(r"label=\"([^\"]*)\".*?device=\"([^\"]*)\"", text)}
		assert told == where
		crossing = sum(a != b for a, b in zip(list(where.values()), list(where.values())[1:]))
		assert text.count("color=red") == crossing
	'
}

@test "parts of an operation are told where most of it is; models without modules are refused" {
	cp "$ROOT/share/examples/models/branches.xml" m.xml
	irfill m.xml -o m.bin
	ir2dag m.xml | dagsplit --no-auto | devsim --probe --spec paper | placebase parts > parts.mp
	run -0 --separate-stderr placeout --format ort -o ort.json parts.mp
	[[ "$stderr" == *"operations are in parts on several devices; each is told where most of it is"* ]]
	py 'assert "block/0/one" in json.load(open("ort.json"))["session_config"]["session.name_based_layer_assignment"] and "[" not in open("ort.json").read()'
	for f in device-map llama-ot; do
		run -3 placeout --format $f parts.mp
		[[ "${lines[-1]}" == *"no operation's name tells a module of PyTorch"* ]]
	done
	ir2dag "$ROOT/tests/models/bert_base.xml" | devsim --probe --spec paper | placebase single:cpu > bert.mp
	run -3 placeout --format llama-ot bert.mp
	[[ "$output" == *"no module is one of a language model with 'model.layers.N'"* ]]
}

@test "--why: a schedule of another placement, or of other devices, is not told as the answer's" {
	cat > other.json <<-'J'
		{"devices": [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}], "links": [{"src": "*", "dst": "*", "latency_s": 0.5, "bytes_per_s": 1000}],
		 "nodes": [{"id": "p", "cost_s": 1}, {"id": "q", "cost_s": 2}, {"id": "r", "cost_s": 3}], "edges": [{"src": "p", "dst": "r"}, {"src": "q", "dst": "r"}]}
	J
	echo '{"p": "d", "q": "c", "r": "d"}' > there
	json2dag other.json | placebase expert:there | devsim --schedule > other.mp
	py '
		r = read("other.mp")
		def answer(name, devices, device):
		    write(name, r[:-1] + [["best", dict(graph=first(r, "graph")["digest"], rank=0, devices=devices, device=tensor(np.array(device, np.uint16)), source="policy",
		        episode=0, step=0, sample=0, lat_s=1.0, ref_s=1.0, n_groups=3, final=True, reference="a", ratio=1.0, ratio_lo=1.0, ratio_hi=1.0, n_pairs=3,
		        lo_s=1.0, hi_s=1.0, copies=0, copy_bytes=0, out_mse=0.0, out_cos=1.0, out_max=0.0)]])
		answer("same.mp", list("abcd"), [3, 2, 3])
		answer("moved.mp", list("abcd"), [0, 1, 0])
		answer("alone.mp", ["a"], [0, 0, 0])
		answer("renamed.mp", list("dcba"), [3, 2, 3])
	'
	placeout --why r same.mp > told
	grep -q '^r (Node), on d$' told
	grep -q '^  q, on c, there at ' told
	for name in moved alone renamed; do
		placeout --why r $name.mp > told
		grep -q '^r (Node), on a$' told
		grep -q '^What it waits for is not told: the last run with a schedule is of another placement\.$' told
		run -1 grep -E 'starts at|there at|in this run|computes nothing' told
	done
}

@test "--why: a device is busy with what ran before, not with what the same operation does later" {
	echo '{"devices": [{"name": "g"}, {"name": "h"}], "links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1e9}],
		"nodes": [{"id": "a", "cost_s": 1}, {"id": "b", "cost_s": 1}]}' > twice.json
	json2dag twice.json | placebase single:g | devsim --schedule -o twice.mp
	py '
		records = read("twice.mp")
		m = next(m for k, m in records if k == "run" and "schedule" in m)
		t = m["schedule"]
		def column(key, values):
		    t[key] = {"dtype": t[key]["dtype"], "shape": [len(values)], "data": np.array(values, {"u": "<u", "f": "<f"}[t[key]["dtype"][0]] + str(int(t[key]["dtype"][1:]) // 8)).tobytes()}
		column("set", [0, 1, 0])
		column("start_s", [0, 2, 5])
		column("end_s", [1, 3, 6])
		write("twice.mp", [r for r in records if r[0] != "run"] + [["run", m]])
	'
	run -0 placeout --why b twice.mp
	[[ "$output" == *"It starts at 2.000 s: its inputs are there, and g is busy with a until 1.000 s."* ]] || { echo "$output"; false; }
}

@test "--why: times on each device, what an operation waits for, and what waits for it, as the schedule has them" {
	cat > w.json <<-'J'
		{"devices": [{"name": "a"}, {"name": "b"}], "links": [{"src": "*", "dst": "*", "latency_s": 0.5, "bytes_per_s": 1000}],
		 "nodes": [{"id": "p", "cost_s": {"a": 1, "b": 4}, "out_bytes": 1500}, {"id": "q", "cost_s": 2, "out_bytes": 10}, {"id": "other", "cost_s": 5},
		   {"id": "r", "cost_s": {"a": 3, "b": 1}, "out_bytes": 100}, {"id": "s", "cost_s": 1}],
		 "edges": [{"src": "p", "dst": "r"}, {"src": "q", "dst": "r"}, {"src": "r", "dst": "s"}]}
	J
	echo '{"p": "a", "q": "b", "other": "a", "r": "b", "s": "a"}' > where
	json2dag w.json | placebase expert:where | devsim --schedule > w.mp
	# p ends at 1 on a, 2 s of copy: there at 3; q ends at 2 on b
	run -0 placeout --why r w.mp
	[ "$output" = "r (Node), on b
It starts at 3.000 s: the last of its inputs, of p, is there at 3.000 s.
No device computes it in less time.
Its times, as the placement was planned with:
  a                3.000 s
  b                1.000 s  here, in this run 1.000 s
It waits for:
  p, on a, there at 3.000 s, copied, 1.500 kB in 2.000 s
  q, on b, there at 2.000 s, made here
What waits for it:
  s, on a, starts at 6.000 s, copied, 100 B in 600.0 ms" ] || { echo "$output"; false; }
	run -0 placeout --why s w.mp
	[[ "$output" == *"It starts at 6.000 s: its inputs are there at 4.600 s, and a is busy with other until 6.000 s."* ]]
	run -0 placeout --why oth w.mp
	[[ "$output" == "other (Node), on a"* ]]
	run -2 placeout --why x w.mp
	[[ "$output" == *"--why: there is no operation 'x'"* ]]
	json2dag w.json | placebase expert:where | placeout --why r > told
	grep -q 'What it waits for is not told: devsim --schedule and devrun --schedule tell it' told
	ir2dag "$ROOT/tests/models/googlenet.xml" | devsim --probe --spec paper | placebase heft | devsim --schedule > g.mp
	ir2dag "$ROOT/tests/models/googlenet.xml" | dagsplit --no-auto | devsim --probe --spec paper | placebase parts | devsim --schedule > cut.mp
	name=$(py 'print(next(n for n in of("cut.mp", "graph")[0]["whole"]["node_name"] if "conv2/" in n))')
	placeout --why "$name" cut.mp > told
	[ "$(grep -c ', on [cg]pu$' told)" -ge 2 ]
	run -2 placeout --why Relu g.mp
	[[ "$output" == *"--why: 'Relu' is in the names of "*" operations: "* ]]
	# of every operation: what it waits for ends before it starts, beside the schedule's own figures
	py '
		import subprocess
		g, r = of("g.mp", "graph")[0], of("g.mp", "run")[-1]["schedule"]
		s, start = array(g["set"]), dict(zip(array(r["set"]).tolist(), array(r["start_s"])))
		v = next(i for i, n in enumerate(g["node_name"]) if n == "__module.inception3a/aten::cat/Concat")
		t = subprocess.run(["placeout", "--why", g["node_name"][v], "g.mp"], capture_output=True, text=True).stdout
		waits = t.split("It waits for:\n")[1].split("What waits")[0].strip().splitlines()
		assert len(waits) == 4, t
		at = "%.3f" % (start[s[v]] * 1e3)
		assert f"It starts at {at} ms" in t or f"{start[s[v]] * 1e6:.3f} us" in t or f"{start[s[v]] * 1e6:.1f}" in t, (at, t)
	'
}

@test "json: of each operation its device, times on each, what it waits for, copies in and out, as --why and the schedule have them" {
	py '
		import random
		random.seed(3)
		n = 60
		edges = [{"src": random.randrange(max(0, v - 8), v), "dst": v, "bytes": random.randrange(1, 9)} for v in range(1, n) for _ in range(2)]
		edges = list({(e["src"], e["dst"]): e for e in edges}.values())
		doc = {"devices": [{"name": "a"}, {"name": "b"}, {"name": "c"}], "links": [{"src": "*", "dst": "*", "latency_s": 0.5, "bytes_per_s": 4}],
			"nodes": [{"id": v, "name": "op%d" % v, "cost_s": {d: random.randrange(1, 9) for d in "abc" if random.random() < .9 or d == "a"}} for v in range(n)], "edges": edges}
		json.dump(doc, open("w60.json", "w"))
	'
	json2dag w60.json | placebase heft > placed60.mp
	devsim --schedule placed60.mp > run60.mp
	placeout --format json -o all.json run60.mp
	placeout --format json -o plain.json placed60.mp
	for v in 0 7 20 41 59; do placeout --why "op$v" run60.mp > "why$v"; done
	py '
		doc, r = json.load(open("w60.json")), json.load(open("all.json"))
		s = runs("run60.mp")[0]["schedule"]
		device = array(of("placed60.mp", "place")[0]["device"])
		ops = {o["name"]: o for o in r["placed"]}
		assert len(ops) == len(r["placed"]) == r["operations"] == 60
		set_of = {o["set"]: o for o in r["placed"]}
		start, end = {}, {}
		for i, k in enumerate(array(s["set"])):
			start[int(k)], end[int(k)] = array(s["start_s"])[i], array(s["end_s"])[i]
		for node in doc["nodes"]:
			o = ops[node["name"]]
			cost = node["cost_s"]
			assert o["device"] == "abc"[device[o["set"]]], o
			assert o["seconds_on"] == {d: cost.get(d) for d in "abc"} and o["cannot_run_on"] == [d for d in "abc" if d not in cost], o
			assert cost[o["fastest_on"]] == min(cost.values()) and o["fastest_saves_s"] == cost[o["device"]] - min(cost.values()), o
			assert (o["starts_s"], o["ends_s"]) == (start[o["set"]], end[o["set"]]), o
			# What it reads from elsewhere, and what goes elsewhere once for each device.
			read = {(e["src"], e["bytes"]) for e in doc["edges"] if e["dst"] == node["id"] and ops["op%d" % e["src"]]["device"] != o["device"]}
			assert (o["copies_in"], o["bytes_in"]) == (len(read), sum(b for _, b in read)), o
			to = {(ops["op%d" % e["dst"]]["device"], e["bytes"]) for e in doc["edges"] if e["src"] == node["id"]}
			to = [b for d, b in to if d != o["device"]]
			assert (o["copies_out"], o["bytes_out"]) == (len(to), sum(to)), o
			# It starts when what it waits for is there, and not before.
			assert o["starts_s"] == (o["waits_until_s"] if o["waits_for"] != "nothing" else 0), o
		assert sum(o["bytes_out"] for o in ops.values()) == r["measured"][-1]["copied_bytes"]
		for v in 0, 7, 20, 41, 59:
			o, told = ops["op%d" % v], open("why%d" % v).read()
			assert {"nothing": "it waits for nothing", "device": "is busy with %s until" % o["waits_for_operation"], "input": "the last of its inputs, of %s, is there" % o["waits_for_operation"]}[o["waits_for"]] in told, (o, told)
		plain = json.load(open("plain.json"))["placed"]
		assert all("waits_for" not in o and o["seconds_on"] == ops[o["name"]]["seconds_on"] for o in plain) and len(plain) == 60
	'
}

@test "json: one device alone of a graph that was cut: its operations as they were, without times of parts" {
	ir2dag "$ROOT/tests/models/googlenet.xml" | dagsplit --ways 2 | devsim --probe --spec paper | placebase single | devsim --schedule > parts.mp
	placeout --format json -o parts.json parts.mp
	ir2dag "$ROOT/tests/models/googlenet.xml" | devsim --probe --spec paper | placebase single | devsim --schedule > whole.mp
	placeout --format json -o whole.json whole.mp
	py '
		parts, whole = (json.load(open(n + ".json"))["placed"] for n in ("parts", "whole"))
		assert [(o["name"], o["device"]) for o in parts] == [(o["name"], o["device"]) for o in whole] and len(whole) > 100
		assert all(set(o["seconds_on"].values()) == {None} and "waits_for" not in o for o in parts)
		assert any("waits_for" in o for o in whole)
	'
}
