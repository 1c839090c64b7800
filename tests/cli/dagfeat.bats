#!/usr/bin/env bats
# dagfeat: the features of real models, the encodings, what passes through, what is refused.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	for m in resnet50 inception_v3 bert_base tensor_iterator if_body; do
		ir2dag "$ROOT/tests/models/$m.xml" > "$m.mp"
	done
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "mean one-hot type and index have the published widths" {
	while read -r model sets columns; do
		dagfeat --paper --features type,position "$model.mp" > f.mp
		run -0 py - f.mp <<-'PY'
			f = first(read(sys.argv[1]), "feat")
			x = array(f["x"])
			assert f["encoding"] == "paper" and len(f["columns"]) == x.shape[1]
			assert abs(x[:, :-1].sum(1) - 1).max() < 1e-6
			assert (x[:, -1] == range(len(x))).all()
			print(*x.shape)
		PY
		[ "$output" = "$sets $columns" ] || { echo "$model: $output"; return 1; }
	done <<-'T'
		resnet50 237 12
		inception_v3 435 17
		bert_base 759 26
	T
}

@test "all graphs have the same columns in the fixed encoding" {
	for m in resnet50 bert_base if_body; do
		dagfeat "$m.mp" > "f-$m.mp"
	done
	run -0 py - <<-'PY'
		f = [first(read("f-%s.mp" % m), "feat") for m in ("resnet50", "bert_base", "if_body")]
		assert f[0]["columns"] == f[1]["columns"] == f[2]["columns"]
		assert len(set(f[0]["columns"])) == len(f[0]["columns"])
		for m in f:
		    x = array(m["x"])
		    assert np.isfinite(x).all() and abs(x).max() < 2, abs(x).max()
	PY
}

@test "--paper has the features of the paper" {
	dagfeat --paper if_body.mp > f.mp
	dagfeat --paper --features type,shape,in_degree,out_degree,fractal,position if_body.mp > g.mp
	dagfeat --features paper if_body.mp > h.mp
	run -0 py - <<-'PY'
		f, g, h = (first(read(n + ".mp"), "feat") for n in "fgh")
		assert f == g
		assert not [c for c in h["columns"] if c.startswith(("sin", "cos", "log_", "constant", "depth"))]
	PY
}

@test "values that can be worked out by hand" {
	dagfeat --features all resnet50.mp > f.mp
	run -0 py - <<-'PY'
		r = read("f.mp")
		g, f = first(r, "graph"), first(r, "feat")
		x = {c: v for c, v in zip(f["columns"], array(f["x"]).T)}
		s, types = array(g["set"]), array(g["type"])
		n = g["n_sets"]
		ptr, src = array(g["in_ptr"]), array(g["in_node"])
		edges = {(s[src[i]], s[v]) for v in range(len(s)) for i in range(ptr[v], ptr[v + 1])}
		edges = {(a, b) for a, b in edges if a != b}
		for c in range(n):
		    members = np.flatnonzero(s == c)
		    for t in range(len(g["types"])):
		        assert abs(x["type=" + g["types"][t]][c] - (types[members] == t).mean()) < 1e-6
		    d = sum(b == c for a, b in edges)
		    name = str(d) if d <= 4 else "5-8" if d <= 8 else "9-16" if d <= 16 else "17+"
		    assert x["in_degree=" + name][c] == 1
		assert sum(x[k].sum() for k in x if k.startswith("in_degree")) == n
		assert abs(x["position"] - np.arange(n) / (n - 1)).max() < 1e-6
		last = np.flatnonzero(s == n - 1)[-1]
		assert abs(x["constant"].sum() - 110 / 2) < 3          # 110 constants, most with a Convert
		assert x["depth_source"].max() == x["depth_sink"].max() == 1
		assert x["log_flops"].max() > 0.6 and x["log_const_bytes"].max() > 0.6
	PY
}

@test "features can be chosen and left out" {
	dagfeat --features fractal,in_degree resnet50.mp | recdump -k feat --tsv columns | grep -q '^in_degree=0,.*,fractal$'
	dagfeat --features all,-type,-sinusoid resnet50.mp | recdump -k feat --tsv 'columns[]' > out
	grep -qx dim0 out
	run -1 grep -e type= -e sin0 out
	dagfeat --features -fractal resnet50.mp | recdump -k feat --tsv 'columns[]' > out
	grep -q ^type= out
	run -1 grep -x fractal out
	dagfeat --features sinusoid --d-pos 6 resnet50.mp | recdump -k feat --tsv columns | grep -q ',sin2,cos2$'
	run -2 dagfeat --features type,colour resnet50.mp
	[[ $stderr$output == *"unknown feature 'colour'"* ]]
	run -2 dagfeat --features type,-type resnet50.mp
	run -2 dagfeat --d-pos 7 resnet50.mp
}

@test "results do not depend on threads, nor on file or pipe" {
	dagfeat -t 1 bert_base.mp > a.mp
	dagfeat -t 3 < bert_base.mp > b.mp
	run -0 py - <<-'PY'
		a, b = read("a.mp"), read("b.mp")
		assert a[1:] == b[1:]
	PY
}

@test "the fractal dimension is that of the definition" {
	dagfeat --paper --features fractal inception_v3.mp > u.mp
	dagfeat --paper --features fractal --directed inception_v3.mp > d.mp
	dagfeat --paper --features fractal --radius-cap 4 inception_v3.mp > c.mp
	run -0 py - <<-'PY'
		def dimension(rows, cap=10**9):
		    out = []
		    for v in range(len(rows)):
		        seen, front, n = {v}, [v], []
		        while front and len(n) < cap:
		            front = list({w for u in front for w in rows[u]} - seen)
		            seen |= set(front)
		            if front:
		                n.append(len(seen) - 1)
		        out.append(np.polyfit(np.log(np.arange(1, len(n) + 1)), np.log(n), 1)[0] if len(n) > 1 else 0)
		    return np.array(out)
		r = read("u.mp")
		g = first(r, "graph")
		s, ptr, src = array(g["set"]), array(g["in_ptr"]), array(g["in_node"])
		along, both = [set() for _ in range(g["n_sets"])], [set() for _ in range(g["n_sets"])]
		for v in range(len(s)):
		    for i in range(ptr[v], ptr[v + 1]):
		        a, b = s[src[i]], s[v]
		        if a != b:
		            along[a].add(b); both[a].add(b); both[b].add(a)
		for f, want in (("u", dimension(both)), ("d", dimension(along)), ("c", dimension(both, 4))):
		    got = array(first(read(f + ".mp"), "feat")["x"])[:, 0]
		    assert abs(got - want).max() < 1e-5, f
	PY
}

@test "other records and unknown keys pass through; several graphs and streams" {
	run -0 py - <<-'PY'
		a, b = read("resnet50.mp"), read("if_body.mp")
		first(a, "graph")["colour"] = "red"
		write("two.mp", a[:1] + [["note", {"x": [1, {"y": None}]}]] + a[1:-1] + b[1:-1] + [["note", {"z": 2}]])
	PY
	cat two.mp if_body.mp | dagfeat > out.mp
	recdump --check out.mp
	run -0 py - <<-'PY'
		r = read("out.mp")
		assert [k for k, m in r] == ["hdr", "note", "graph", "feat", "graph", "feat", "note", "end", "hdr", "graph", "feat", "end"]
		assert r[2][1]["colour"] == "red" and r[1][1] == {"x": [1, {"y": None}]}
		assert r[3][1]["graph"] == r[2][1]["digest"] and r[5][1]["graph"] == r[4][1]["digest"]
		assert r[5][1]["x"] == r[10][1]["x"]
		assert [c["program"] for c in r[0][1]["chain"]] == ["ir2dag", "dagfeat"]
	PY
}

# Writes NAME.mp: the graph of resnet50.mp with devs, links and costs of five made-up devices.  scale: of
# all times; order: of the devices; edit: code about `records`.
cost_stream() {
	run -0 py - "$@" <<-'PY'
		name, scale, order = sys.argv[1], float(sys.argv[2]), [int(i) for i in sys.argv[3]]
		records, r, k = read("resnet50.mp"), np.random.default_rng(1), 5
		g = first(records, "graph")
		names, place = ["d%d" % i for i in range(k)], {d: i for i, d in enumerate(order)}
		set_s = r.uniform(1, 9, (g["n_sets"], k)) * r.uniform(1, 9, (g["n_sets"], 1))
		set_s[r.random(set_s.shape) < 0.2] = -1
		set_s[:, 0] = abs(set_s[:, 0])
		link = {(a, b): r.uniform(1, 5, 2) for a in range(k) for b in range(k) if a != b and (a, b) != (0, 4)}
		mem = r.integers(1 << 28, 1 << 30, k).astype("u8")
		devs = {"names": [names[d] for d in order], "types": ["model"] * k, "mem_bytes": tensor(mem[order]),
		        "links": [{"src": place[a], "dst": place[b], "latency_s": l * scale, "bytes_per_s": 1e5 * w / scale}
		                  for (a, b), (l, w) in link.items()]}
		cost = {"graph": g["digest"], "names": devs["names"],
		        "set_s": tensor(np.where(set_s < 0, -1, set_s * scale)[:, order])}
		records = records[:-1] + [["devs", devs], ["note", {"x": 1}], ["cost", cost], ["note", {"x": 2}]]
		exec(sys.argv[4] if len(sys.argv) > 4 else "")
		write(name + ".mp", records)
	PY
}

@test "costs: neither the unit of time nor the order of devices matters" {
	cost_stream c 1 01234
	cost_stream slow 1024 01234
	cost_stream reversed 1 43210
	cost_stream mixed 0.125 20413
	for s in c slow reversed mixed; do
		dagfeat --features all,costs $s.mp > f-$s.mp
	done
	run -0 py - <<-'PY'
		f = {s: first(read("f-%s.mp" % s), "feat") for s in ("c", "slow", "reversed", "mixed")}
		assert all(f[s] == f["c"] for s in f)
		x = array(f["c"]["x"])[:, f["c"]["columns"].index("cost_mean"):]
		assert x.shape[1] == 12 and np.isfinite(x).all() and x.min() >= 0 and x.max() <= 1
		assert (x.max(0) > x.min(0)).all()
	PY
}

@test "costs: of what the records say, by the definition" {
	cost_stream c 1 01234
	dagfeat --features costs c.mp > f.mp
	run -0 py - <<-'PY'
		r = read("f.mp")
		f, s = first(r, "feat"), array(first(r, "cost")["set_s"])
		x = dict(zip(f["columns"], array(f["x"]).T.astype("f8")))
		runs = x["cost_can"] > 0          # constants run nothing
		n = np.where(s < 0, np.nan, s)
		mean, least, most = np.nanmean(n, 1), np.nanmin(n, 1), np.nanmax(n, 1)
		for name, want in (("mean", mean / mean[runs].mean()), ("least", least / mean), ("most", most / mean),
		                   ("spread", np.nanstd(n, 1) / mean)):
		    assert abs(x["cost_" + name] - want / (1 + want))[runs].max() < 1e-6, name
		assert abs(x["cost_can"] - (s >= 0).mean(1))[runs].max() < 1e-6 and 0 < runs.sum() < len(runs)
		assert x["cost_up"].max() == 1 and (abs(x["cost_up"] + x["cost_down"] + x["cost_slack"] - 1)[runs] < 1e-6).all()
		assert (x["cost_optimistic"] <= x["cost_up"]).all() and (x["cost_slack"][runs] < 1e-6).sum() > 10
	PY
}

@test "costs: behind devs and cost, everything passes; without them one clear line" {
	cost_stream c 1 01234
	cost_stream late 1 01234 'records[2], records[4] = records[4], records[2]'
	cost_stream before 1 01234 'records.insert(1, records.pop(2))'
	cost_stream unlinked 1 01234 'del devs["links"]'
	cost_stream alone 1 01234 'records = [r for r in records if r[0] != "devs"]'
	cost_stream none 1 01234 'records = [r for r in records if r[0] != "cost"]'
	cost_stream other 1 01234 'cost["graph"] ^= 1'
	for s in c late before unlinked alone; do
		dagfeat --features all,costs $s.mp > f-$s.mp
		recdump --check f-$s.mp
	done
	cat c.mp late.mp | dagfeat --features costs > two.mp
	dagfeat --features all c.mp > all.mp
	dagfeat --features all resnet50.mp > plain.mp
	run -0 py - <<-'PY'
		f = {s: read("f-%s.mp" % s) for s in ("c", "late", "before", "unlinked", "alone")}
		assert [k for k, m in f["c"]] == ["hdr", "graph", "devs", "note", "cost", "feat", "note", "end"]
		assert [k for k, m in f["late"]] == ["hdr", "graph", "cost", "note", "devs", "feat", "note", "end"]
		assert [r for r in f["c"][1:-1] if r[0] != "feat"] == read("c.mp")[1:-1]
		x = {s: first(f[s], "feat") for s in f}
		assert x["c"] == x["late"] == x["before"]
		for s, zero in (("unlinked", ["cost_copy"]), ("alone", ["cost_copy", "cost_limit"])):
		    for c in "cost_copy", "cost_limit", "cost_mem":
		        assert array(x[s]["x"])[:, x[s]["columns"].index(c)].any() == (c not in zero), (s, c)
		assert [k for k, m in read("two.mp")].count("feat") == 2
		a, p = read("all.mp"), read("plain.mp")
		assert first(a, "feat") == first(p, "feat") and [k for k, m in a][:3] == ["hdr", "graph", "feat"]
		n = len(first(a, "feat")["columns"])
		assert x["c"]["columns"][:n] == first(a, "feat")["columns"]
	PY
	run -3 --separate-stderr dagfeat --features all,costs -o no.mp none.mp
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"no cost record"*"devsim --probe"* ]]
	[ ! -e no.mp ]
	run -3 --separate-stderr dagfeat --features all,costs -o no.mp other.mp
	[[ $stderr == *"another graph"* ]]
}

@test "costs: behind devsim --probe, and any network takes them" {
	devsim --probe --spec paper if_body.mp | dagfeat --features all,costs > f.mp
	for net in gpn mlp; do
		gpnembed --net $net --no-costs f.mp | placepolicy --greedy | devsim | recdump -k run | grep -q '"ok": true'
	done
}

@test "input without a graph, cut or damaged, is refused" {
	run -0 py - <<-'PY'
		write("none.mp", read("resnet50.mp")[:1] + [["note", {}]])
		r = read("resnet50.mp")
		first(r, "graph")["in_node"]["data"] = b"\xf0" * len(first(r, "graph")["in_node"]["data"])
		write("bad.mp", r)
	PY
	run -3 --separate-stderr dagfeat none.mp
	[[ $stderr == *"without a graph"* ]]
	run -3 --separate-stderr dagfeat bad.mp
	[[ $stderr == *"in_node"* ]]
	run -3 dagfeat /dev/null
	for n in 1 100 1000 20000 $(($(stat -c %s resnet50.mp) - 1)); do
		head -c "$n" resnet50.mp > cut.mp
		run -3 dagfeat -o out-cut.mp cut.mp
		[ ! -e out-cut.mp ]
	done
	run -1 dagfeat no-such-file
	run -1 dagfeat -o /dev/full resnet50.mp
}

@test "mutated streams never crash it" {
	"$HSDAG_PYTHON" "$ROOT/tests/fuzz/mutate.py" if_body.mp 60 1 "$B/bin/dagfeat" -t 1 > log 2>&1 || { cat log; return 1; }
	devsim --probe --spec paper if_body.mp > costs.mp
	"$HSDAG_PYTHON" "$ROOT/tests/fuzz/mutate.py" costs.mp 40 1 "$B/bin/dagfeat" -t 1 --features costs > log 2>&1 || { cat log; return 1; }
}

@test "every failing allocation ends in order" {
	for k in 1 2 5 10 20 40 80 160 320; do
		HSDAG_FAIL_ALLOC=$k run dagfeat -t 1 -o alloc.mp if_body.mp
		[ "$status" -eq 0 ] || [ "$status" -eq 1 ]
	done
}

@test "exact fractal dimensions of a chain of 10^5 are refused, with what to do" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/growth.py" chain 100000 1 | json2dag > chain.mp
	run -2 --separate-stderr dagfeat -t 1 --radius-cap 0 chain.mp -o refused.mp
	[[ $stderr =~ "exact fractal dimensions of 100000 sets would take minutes; --radius-cap "([0-9]+)" is what" ]]
	[ "${BASH_REMATCH[1]}" -gt 1000 ]
	[ ! -e refused.mp ]
	# Two hops are few for everybody.
	run -0 dagfeat -t 1 --radius-cap 2 chain.mp -o few.mp
	# What is asked for by name is done, and 0 is the same where it is done.
	"$HSDAG_PYTHON" "$ROOT/tests/support/growth.py" chain 3000 1 | json2dag > short.mp
	dagfeat -t 1 --radius-cap 0 short.mp | recdump -k feat -f > a
	dagfeat -t 1 --radius-cap 3000 short.mp | recdump -k feat -f > b
	cmp a b
}
