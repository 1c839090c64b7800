#!/usr/bin/env bats
# devsim: what it adds to a stream, that it answers every placement, always with the same bytes,
# and what it refuses.  That the simulation is right is test_sim.c's and test_place.c's part.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/googlenet.xml" > g.mp
	devsim --probe g.mp > p.mp
	placebase random -n 6 p.mp > r.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# change FILE CODE - a new stream FILE from r.mp, whose records without `end` CODE changes
change() {
	py "r = read('r.mp')[:-1]; $2; write('$1', r)"
}

@test "--probe adds devs and cost, and keeps the rest" {
	py '
		g, p = read("g.mp"), read("p.mp")
		assert [k for k, m in p] == ["hdr", "graph", "devs", "cost", "end"], p
		assert p[1] == g[1]
		devs, cost = p[2][1], p[3][1]
		assert devs["names"] == cost["names"] == ["cpu", "gpu"] and devs["types"] == ["model"] * 2
		assert array(devs["mask"]).min() == 1 and len(devs["links"]) == 2
		s = array(cost["set_s"])
		assert s.shape == (g[1][1]["n_sets"], 2) and s.min() == 0 and s.max() > 1e-5, s.max()
	'
}

@test "--devices chooses, and NAME:X is one more of a kind" {
	devsim --probe -D cpu:0,cpu:1,gpu g.mp > three.mp
	py '
		d = [m for k, m in read("three.mp") if k == "devs"][0]
		assert d["names"] == ["cpu:0", "cpu:1", "gpu"] and len(d["links"]) == 6, d["links"]
	'
	run -2 devsim --probe -D tpu g.mp
	[[ "$output" == *"device 'tpu' is not in the specification"* ]]
}

@test "a run follows each place, within the same stream" {
	devsim r.mp > x.mp
	py '
		x = read("x.mp")
		assert [k for k, m in x] == ["hdr", "graph", "devs", "cost"] + ["place", "run"] * 6 + ["end"]
		for (_, p), (_, r) in zip(x[4:-1:2], x[5:-1:2]):
		    assert all(p[f] == r[f] for f in ("graph", "episode", "step", "sample", "source"))
		    assert r["ok"] and r["lo_s"] == r["lat_s"] == r["hi_s"] == array(r["samples_s"])[0]
		    assert array(r["busy_s"]).max() <= r["lat_s"] and r["copies"] > 0 and r["copy_bytes"] > 0
		    assert array(r["mem_bytes"]).min() > 0
	'
	run -0 recdump --check x.mp
}

@test "ref_s is the best single device" {
	placebase single p.mp | devsim > x.mp
	py '
		r = runs("x.mp")
		assert len(r) == 2 and all(m["ref_s"] == min(n["lat_s"] for n in r) for m in r)
		assert all(m["copies"] == 0 for m in r)
		cost = array([m for k, m in read("p.mp") if k == "cost"][0]["set_s"])
		assert np.allclose([m["lat_s"] for m in r], cost.sum(0))
	'
}

@test "costs can come from the placement's end of the pipe" {
	placebase random -n 3 -D gpu,cpu g.mp | devsim --spec paper > x.mp
	placebase random -n 3 -D gpu,cpu p.mp | devsim > y.mp
	py 'assert [m["lat_s"] for m in runs("x.mp")] == [m["lat_s"] for m in runs("y.mp")]'
	run -2 bash -o pipefail -c 'placebase random -D gpu,cpu g.mp | devsim'
	[[ "$output" == *"no costs; give --spec"* ]]
}

@test "what neighbours save counts where they are together" {
	py '
		r = read("r.mp")[:-1]
		g = r[1][1]
		cost = [m for k, m in r if k == "cost"][0]
		sets = array(g["set"]).astype(int)
		ptr, source = array(g["in_ptr"]), array(g["in_node"])
		pairs = sorted({(int(sets[u]), int(sets[v])) for v in range(len(sets)) for u in source[ptr[v]:ptr[v + 1]]
		                if u < 2**32 - 1 and sets[u] < 2**32 - 1 and sets[v] < 2**32 - 1 and sets[u] != sets[v]})
		x = array(cost["set_s"])
		b = max((p for p in pairs), key=lambda p: x[p[1]].min())
		t = lambda a, d: {"dtype": d, "shape": list(np.shape(a)), "data": np.array(a, "<" + d[0] + str(int(d[1:]) // 8)).tobytes()}
		cost.update(pair_src=t([b[0]], "u32"), pair_dst=t([b[1]], "u32"), saved_s=t([[x[b[1], 0] / 2, 0]], "f64"))
		for k, m in r:
			if k == "place":
				d = np.zeros(g["n_sets"], "<u2")
				d[b[0]] = m["sample"] % 2
				d[b[1]] = m["sample"] // 2 % 2
				m["device"]["data"] = d.tobytes()
		open("pair", "w").write("%.17g" % (x[b[1], 0] / 2))
		write("saved.mp", r)
	'
	py 'r = read("saved.mp")[:-1]; [m.pop(k) for _, m in r for k in ("pair_src", "pair_dst", "saved_s") if k in m]; write("plain.mp", r)'
	devsim saved.mp > saved.run.mp
	devsim plain.mp > plain.run.mp
	py '
		s = float(open("pair").read())
		less = [b["busy_s"] for b in runs("plain.run.mp")], [b["busy_s"] for b in runs("saved.run.mp")]
		for i, (a, b) in enumerate(zip(*less)):
			a, b = array(a), array(b)
			# Both on the first device: its work is less by what they save.  Anywhere else: nothing.
			assert abs(a[0] - b[0] - (s if i % 4 == 0 else 0)) < 1e-12 and a[1] == b[1], (i, a, b, s)
	'
	change bad.mp 'c = [m for k, m in r if k == "cost"][0]; c["pair_src"] = c["pair_dst"] = {"dtype": "u32", "shape": [1], "data": b"\xff" * 4}; c["saved_s"] = {"dtype": "f64", "shape": [1, 2], "data": bytes(16)}'
	run -3 devsim bad.mp
	[[ "$output" == *"pair 0 is of sets that the graph does not have"* ]]
}

@test "the same bytes every time, from file and pipe" {
	devsim r.mp > a.mp
	devsim - < r.mp > b.mp
	cat r.mp | devsim -o c.mp
	py 'assert read("a.mp")[1:] == read("b.mp")[1:] == read("c.mp")[1:]'
	devsim r.mp > b.mp
	cmp a.mp b.mp
}

@test "--fixed: a latency for each placement and seed" {
	change f.mp 'r = [x for x in r if x[0] not in ("devs", "cost")]; r.append(["place", {**r[-1][1], "sample": 99}])'
	devsim --fixed f.mp > a.mp
	devsim --fixed f.mp > b.mp
	devsim --fixed --seed 2 f.mp > c.mp
	cmp a.mp b.mp
	py '
		a, c = ([m["lat_s"] for m in runs(f)] for f in ("a.mp", "c.mp"))
		assert len(a) == 7 and len(set(a)) == 6 and a[5] == a[6], a
		assert not set(a) & set(c) and all(1e-3 <= s < 2e-3 for s in a + c)
		assert all(0 < m["ref_s"] < 2e-3 for m in runs("a.mp"))
	'
}

@test "--noise: seeded, around the prediction" {
	placebase random -n 300 p.mp > n.mp
	devsim n.mp > a.mp
	devsim --noise 0.1 n.mp > b.mp
	devsim --noise 0.1 --seed 2 n.mp > c.mp
	py '
		a, b, c = (np.log([m["lat_s"] for m in runs(f)]) for f in ("a.mp", "b.mp", "c.mp"))
		assert abs((b - a).mean()) < 0.02 and abs((b - a).std() - 0.1) < 0.02, ((b - a).mean(), (b - a).std())
		assert abs(np.corrcoef(b - a, c - a)[0, 1]) < 0.2
	'
}

@test "--op-noise: seeded, an own factor for each set, by which everything is scheduled" {
	devsim --schedule r.mp > a.mp
	devsim --schedule --op-noise 0.1 r.mp > b.mp
	devsim --schedule --op-noise 0.1 r.mp > c.mp
	devsim --schedule --op-noise 0.1 --seed 2 r.mp > d.mp
	cmp b.mp c.mp
	py '
		factor = {}
		for f in "abd":
			factor[f] = []
			for a, b in zip(runs("a.mp"), runs(f + ".mp")):
				a, s = a["schedule"], b["schedule"]
				assert array(a["set"]).tolist() == array(s["set"]).tolist()
				x, y = (array(m["end_s"]) - array(m["start_s"]) for m in (a, s))
				factor[f] += np.log(y[x > 0] / x[x > 0]).tolist()
				assert f == "a" or b["lo_s"] < b["lat_s"] < b["hi_s"]
				assert np.isclose(b["lat_s"], array(s["end_s"]).max())
		a, b, d = (np.array(factor[f]) for f in "abd")
		assert not a.any() and abs(b.std() - 0.1) < 0.01 and abs(b.mean()) < 0.01, (b.std(), b.mean())
		assert abs(np.corrcoef(b, d)[0, 1]) < 0.1
	'
}

@test "--schedule, links, period and energy agree with each other" {
	devsim --schedule r.mp > x.mp
	py '
		x = read("x.mp")
		devs, cost = first(x, "devs"), array(first(x, "cost")["set_s"])
		watts, idle = array(devs["watts"]), array(devs["idle_watts"])
		link = {(l["src"], l["dst"]): l for l in devs["links"]}
		for (_, p), (_, r) in zip(x[4:-1:2], x[5:-1:2]):
			s, dev = r["schedule"], array(p["device"]).astype(int)
			sets, start, end = (array(s[k]) for k in ("set", "start_s", "end_s"))
			assert end.max() == r["lat_s"] and len(set(sets)) == len(sets)
			busy = np.zeros(2)
			for d in (0, 1):
				mine = np.argsort(start[dev[sets] == d], kind="stable")
				b, e = start[dev[sets] == d][mine], end[dev[sets] == d][mine]
				assert (b[1:] >= e[:-1] - 1e-15).all()
				busy[d] = (e - b).sum()
			assert np.allclose(busy, array(r["busy_s"])) and np.allclose(end - start, cost[sets, dev[sets]])
			src, dst, size = (array(s["copy_" + k]).astype(int) for k in ("src", "dst", "bytes"))
			took = array(s["copy_end_s"]) - array(s["copy_start_s"])
			assert len(src) == r["copies"] and size.sum() == r["copy_bytes"]
			assert (dev[array(s["copy_set"])] == src).all()
			load = list(busy)
			for i, (a, b) in enumerate(zip(array(r["link_src"]), array(r["link_dst"]))):
				mine = (src == a) & (dst == b)
				assert mine.sum() == array(r["link_copies"])[i] > 0 and size[mine].sum() == array(r["link_bytes"])[i]
				l = link[a, b]
				t = l["latency_s"] * mine.sum() + size[mine].sum() / l["bytes_per_s"]
				assert np.isclose(t, took[mine].sum()) and np.isclose(t, array(r["link_busy_s"])[i])
				load.append(t)
			assert array(r["link_copies"]).sum() == r["copies"] and np.isclose(r["period_s"], max(load))
			j = (busy * watts + (r["lat_s"] - busy) * idle).sum() + size.sum() * 1e-10
			assert np.isclose(r["energy_j"], j) and "value" not in r, (r["energy_j"], j)
	'
	run -2 devsim --schedule --model dnnpart-latency r.mp
	run -2 devsim --schedule --fixed r.mp
}

@test "--objective: what is minimised, and its reference" {
	placebase single p.mp > s.mp
	for o in throughput energy memory latency=2,throughput=3,energy=0.01,memory=1e-12; do
		devsim --objective $o r.mp > x.mp
		devsim --objective $o s.mp > y.mp
		py '
			weight = {"latency": 0, "throughput": 0, "energy": 0, "memory": 0}
			weight.update((a.split("=") + [1])[:2] for a in sys.argv[1].split(","))
			def value(r):
				m = r["lat_s"], r["period_s"], r["energy_j"], array(r["mem_bytes"]).max()
				return sum(float(w) * float(x) for w, x in zip(weight.values(), m))
			best = min(map(value, runs("y.mp")))
			for r in runs("x.mp"):
				assert np.isclose(r["value"], value(r)) and np.isclose(r["ref_value"], best), r
		' $o
	done
	devsim --objective latency r.mp > x.mp
	py 'assert all("value" not in r for r in runs("x.mp"))'
	change bare.mp '[m.pop(k) for n, m in r if n == "devs" for k in ("watts", "idle_watts")]'
	run -2 devsim --objective energy bare.mp
	[[ $output == *"no watts for device 'cpu'"* ]]
	devsim --objective energy --watts cpu=10/1,gpu=100 bare.mp > x.mp
	py '
		for r in runs("x.mp"):
			b = array(r["busy_s"])
			assert np.isclose(r["value"], 10 * b[0] + (r["lat_s"] - b[0]) + 100 * b[1] + 1e-10 * r["copy_bytes"])
	'
	# A device that draws nothing, when that is said.
	devsim --objective energy --watts cpu=0,gpu=100 bare.mp > x.mp
	py '
		for r in runs("x.mp"):
			assert np.isclose(r["value"], 100 * array(r["busy_s"])[1] + 1e-10 * r["copy_bytes"])
	'
	for o in speed latency,latency latency=-1 latency=0 latency=x '' latency, =1; do
		run -2 devsim --objective "$o" r.mp
	done
	run -2 devsim --objective energy --model dnnpart-latency r.mp
	run -2 devsim --objective energy --watts cpu=fast bare.mp
	run -2 --separate-stderr devsim --watts cpu=10,gqu=100 bare.mp
	[[ $stderr == *"there is no device 'gqu'"* ]]
	for w in cpu cpu= =3 cpu=1, '' cpu=1/2/3; do
		run -2 devsim --watts "$w" bare.mp
		[[ $output == *"is not NAME=BUSY"* ]]
	done
	# Names with commas and '=', and what is in front of a colon; the longest wins.
	echo '{"devices": [{"name": "cpu:0-3,5"}, {"name": "cl:0.0:1"}, {"name": "cl:0.0/precision=f16"}], "links": [],
	       "nodes": [{"id": 1, "cost_s": 1}], "edges": []}' | json2dag | placebase single -o named.mp
	devsim --objective energy --watts cl=9,cpu:0-3,5=65/10,cl:0.0=7/2,cl:0.0/precision=f16=3/1 named.mp > x.mp
	py 'assert [r["value"] for r in runs("x.mp")] == [65 + 2 + 1, 7 + 10 + 1, 3 + 10 + 2]'
}

@test "specifications join: both directions, more of a kind, watts" {
	devsim --probe --spec desktop-cpu,datacenter-gpu -D cpu:0,cpu:1,gpu g.mp > j.mp
	py '
		d = first(read("j.mp"), "devs")
		assert sorted((l["src"], l["dst"]) for l in d["links"]) == [(a, b) for a in range(3) for b in range(3) if a != b]
		assert all(l["bytes_per_s"] == (2.5e10 if 2 in (l["src"], l["dst"]) else 1e10) for l in d["links"])
		assert (array(d["watts"]) == [105, 105, 400]).all() and (array(d["idle_watts"]) > 0).all()
	'
	printf 'device a flops 1e12 bandwidth 1e11\ndevice b flops 1e12 bandwidth 1e11 wats 3\n' > wrong.spec
	run -3 devsim --probe --spec paper,wrong.spec g.mp
	[[ $output == *"wrong.spec, line 2: unknown key 'wats'"* ]]
	printf 'device a flops 1e12 bandwidth 1e11\nlink a:1 cpu:0 latency 0 bandwidth 1\nlink a b latency 0 bandwidth 1\n' > wrong.spec
	run -3 devsim --probe --spec paper,wrong.spec g.mp
	[[ $output == *"wrong.spec, line 3: no device 'b' is described"* ]]
	printf 'link cpu cpu latency 0 bandwidth 1 port bus\nport gpu bus in 3\n' > wrong.spec
	run -3 devsim --probe --spec desktop-cpu,wrong.spec g.mp
	[[ $output == *"wrong.spec, line 2: no device 'gpu' is described"* ]]
	sed -i 's/port gpu bus/port cpu bsu/' wrong.spec
	run -3 devsim --probe --spec desktop-cpu,wrong.spec g.mp
	[[ $output == *"wrong.spec, line 2: no link has port 'bsu'; did you mean 'bus'?"* ]]
}

@test "ports of a record that cannot be" {
	local at damage=('d["ports"] = 1' 'd["ports"] = [1]' 'd["ports"] = [{"device": 9, "name": "net"}]'
		'd["ports"] = [{"device": 0}]' 'd["ports"] = [{"device": 0, "name": ""}]'
		'd["ports"] = [{"device": 0, "name": "net", "in_bytes_per_s": -1}]'
		'd["ports"] = [{"device": 0, "name": str(i)} for i in range(65)]' 'd["links"][0]["port"] = 3')
	local told=('ports is not a list' 'port 0 is not a map' "port 0: key 'device'" "port 0: no key 'name'" 'port 0: its port has no name'
		'port 0: impossible rate' 'port 64: more than 64 names of ports' "link 0: key 'port'")
	for at in "${!damage[@]}"; do
		change odd.mp "d = r[2][1]; ${damage[at]}"
		run -3 bash -c 'devsim odd.mp > /dev/null'
		[[ $output == *"devs: ${told[at]}"* ]] || { echo "$at: $output"; return 1; }
	done
	# a port that no link has, and no rate, say nothing
	change odd.mp 'r[2][1]["ports"] = [{"device": 0, "name": "net", "out_bytes_per_s": 1}]'
	devsim odd.mp > x.mp
	change plain.mp pass
	devsim plain.mp > y.mp
	py 'assert [m["lat_s"] for m in runs("x.mp")] == [m["lat_s"] for m in runs("y.mp")]'
}

@test "ports of a specification are in the records, and share a device's bandwidth" {
	printf '%s\n' 'device x flops 1e12 bandwidth 1e11' 'link * * latency 1e-5 bandwidth 1e9' > free.spec
	sed 's/^link.*/& port net/' free.spec > ports.spec
	{ cat ports.spec; echo 'port x:0 net out 5e8'; } > slow.spec
	for s in free ports slow; do devsim --probe --spec $s.spec -D x:0,x:1,x:2 g.mp > $s.mp; done
	py '
		free, ports, slow = (first(read(f + ".mp"), "devs") for f in ("free", "ports", "slow"))
		assert "ports" not in ports and "ports" not in free and "port" not in free["links"][0]
		assert all(l["port"] == "net" for l in ports["links"] + slow["links"])
		assert slow["ports"] == [{"device": 0, "name": "net", "out_bytes_per_s": 5e8}]
		assert [l["bytes_per_s"] for l in slow["links"]] == [5e8, 5e8] + [1e9] * 4, slow["links"]
	'
	run -0 recdump -k devs ports.mp
	[[ $output == *'"port": "net"'* ]]
	# by the records and by the specification itself
	placebase random --seed 3 ports.mp > placed.mp
	py 'write("mine.mp", [x for x in read("placed.mp")[:-1] if x[0] not in ("devs", "cost")])'
	for s in free ports slow; do
		devsim --spec $s.spec mine.mp > told.mp
		placebase random --seed 3 $s.mp | devsim > read.mp
		py 'a, b = runs("told.mp")[-1], runs("read.mp")[-1]; assert a["lat_s"] == b["lat_s"] and a["period_s"] == b["period_s"], (a, b)'
		cp read.mp run_$s.mp
	done
	devsim --no-contention placed.mp > loose.mp
	py '
		free, ports, slow, loose = (runs(f)[-1] for f in ("run_free.mp", "run_ports.mp", "run_slow.mp", "loose.mp"))
		assert loose["lat_s"] < free["lat_s"] < ports["lat_s"] < slow["lat_s"], (free, ports, slow)
		# a pipeline waits for the way in or out that carries most
		load = [[0] * 3, [0] * 3]
		for s, d, b in zip(*(array(ports["link_" + x]) for x in ("src", "dst", "bytes"))):
			load[0][s] += b / 1e9
			load[1][d] += b / 1e9
		assert np.isclose(ports["period_s"], max(max(load[0]), max(load[1]), array(ports["busy_s"]).max())), ports
		assert ports["period_s"] > free["period_s"]
	'
}

@test "what a device cannot hold or run is a reason, not a failure" {
	printf 'device cpu flops 1e12 bandwidth 1e11 memory 1000\ndevice gpu flops 1e12 bandwidth 1e11\nlink * * latency 0 bandwidth 1e10\n' > tiny.spec
	change plain.mp 'r = [x for x in r if x[0] != "devs"]'
	devsim --spec tiny.spec plain.mp > x.mp
	py '
		for m in runs("x.mp"):
		    assert not m["ok"] and "bytes on cpu, which has 1000" in m["reason"], m
		    assert "lat_s" not in m
	'
	change mask.mp 'd = r[2][1]; d["mask"]["data"] = b"\x01\x00" * (len(d["mask"]["data"]) // 2)'
	devsim mask.mp > x.mp
	py 'assert all(not m["ok"] and "cannot run on gpu" in m["reason"] for m in runs("x.mp"))'
	change link.mp 'r[2][1]["links"] = r[2][1]["links"][:1]'
	devsim link.mp > x.mp
	py 'assert all(not m["ok"] and "there is no link" in m["reason"] for m in runs("x.mp"))'
}

@test "weights in few bits take the memory, and the time to read, that they have as stored" {
	printf 'device d flops 1e15 bandwidth 1e11\nlink * * latency 0 bandwidth 1e10\n' > one.spec
	for w in f16 f8e4m3; do
		"$HSDAG_PYTHON" "$ROOT/tests/bench/giant_model.py" tiny decode $w.xml --sparse --welem $w --past 8
		ir2dag $w.xml | devsim --probe --spec one.spec | placebase single | devsim -o $w.mp
	done
	py '
		f16, f8 = (runs(f + ".mp")[0] for f in ("f16", "f8e4m3"))
		weights = 1000 * 256 * 2 + 3 * (256 * 256 * 2 + 64 * 256 * 2 + 3 * 512 * 256)
		saved = array(f16["mem_bytes"])[0] - array(f8["mem_bytes"])[0]
		assert abs(int(saved) - weights) < 1000, (saved, weights)
		# the embedding is read by rows
		assert np.isclose(f16["lat_s"] - f8["lat_s"], (weights - 1000 * 256) / 1e11, rtol=0.02), (f16["lat_s"], f8["lat_s"])
	'
}

@test "weights in types that a device keeps are as large as stored there, others as they are widened" {
	"$HSDAG_PYTHON" "$ROOT/tests/bench/giant_model.py" tiny decode k.xml --sparse --elem f32 --welem f16 --past 8
	"$HSDAG_PYTHON" "$ROOT/tests/bench/giant_model.py" tiny decode k8.xml --sparse --elem f32 --welem f8e4m3 --past 8
	printf 'device %s flops 1e15 bandwidth 1e11 %s\n' d1 '' d2 'keeps all' d3 'keeps none' d4 'keeps f8e4m3,u8' > keep.spec
	echo 'link * * latency 0 bandwidth 1e10' >> keep.spec
	for w in k k8; do
		ir2dag $w.xml | devsim --probe --spec keep.spec > $w.mp
		placebase single $w.mp | devsim -o $w.recorded.mp
		placebase single $w.mp | devsim --spec keep.spec -o $w.told.mp
	done
	py '
		# Two matrices of 256 x 256, two of 64 x 256 and three of 512 x 256 in each of three layers, and an embedding and a head of 1000 x 256.
		n = 2 * 1000 * 256 + 3 * (2 * 256 * 256 + 2 * 64 * 256 + 3 * 512 * 256)
		for stream in "recorded", "told":
			f16, f8 = ([int(array(r["mem_bytes"])[i]) for i, r in enumerate(runs(f"{w}.{stream}.mp"))] for w in ("k", "k8"))
			wide = f16[0]
			assert [wide - x for x in f16] == [0, 2 * n, 0, 0], (f16, n)
			assert [wide - x for x in f8] == [3 * n, 3 * n, 0, 3 * n], (f8, n)
	'
	# What a record says in words is read as strictly.
	ir2dag k.xml | devsim --probe --spec keep.spec,fused -o fused.mp
	for key in fuses peaks keeps; do
		py "
			r = read('fused.mp')
			for k, m in r:
				if k == 'cost':
					m['$key'] = ['moon'] * 4
			write('moon.mp', r)
		"
		run -3 --separate-stderr placebase heft moon.mp
		[[ $stderr == *"cost: $key: 'moon' is no"* ]] || { echo "$stderr"; return 1; }
	done
	printf 'device d flops 1 bandwidth 1 keeps u8,what\n' > bad.spec
	run -3 --separate-stderr devsim --probe --spec bad.spec k.mp
	[[ "$stderr" == *"bad.spec, line 1: keeps: 'what' is no type"* ]]
}

@test "contention and overlap can be switched off" {
	devsim r.mp > a.mp
	devsim --no-contention r.mp > b.mp
	devsim --no-overlap r.mp > c.mp
	devsim --order fifo r.mp > d.mp
	py '
		a, b, c, d = ([m["lat_s"] for m in runs(f)] for f in ("a.mp", "b.mp", "c.mp", "d.mp"))
		assert sum(b) < sum(a) < sum(c) and a != d
	'
}

@test "copy_holds of the cost record: which devices a copy occupies, whatever their order" {
	change off.mp 'c = first(r, "cost"); c["contention"], c["overlap"] = True, False'
	for holds in 0,0,0,0 0,1,2,0 0,2,1,0 0,3,3,0; do
		change "$holds.mp" "c = first(r, 'cost'); c['contention'], c['overlap'] = True, False; \
			c['copy_holds'] = tensor(np.array([$holds], 'u1').reshape(2, 2))"
		devsim "$holds.mp" > "x$holds.mp"
	done
	devsim off.mp > xoff.mp
	devsim --no-overlap 0,1,2,0.mp > xnone.mp
	devsim r.mp > a.mp
	placebase of:0,1,2,0.mp -D gpu,cpu 0,1,2,0.mp | devsim > turned.mp
	py '
		def lat(f): return [round(m["lat_s"], 12) for m in runs(f)]
		on, off = lat("a.mp"), lat("xoff.mp")
		assert lat("x0,0,0,0.mp") == on and lat("x0,3,3,0.mp") == off == lat("xnone.mp")
		some = lat("x0,1,2,0.mp"), lat("x0,2,1,0.mp")
		assert some[0] != some[1] and all(sum(on) < sum(s) < sum(off) for s in some), (on, off, some)
		assert lat("turned.mp")[-6:] == some[0], (lat("turned.mp"), some)
	'
	change bad.mp 'c = first(r, "cost"); c["contention"], c["overlap"] = True, False; c["copy_holds"] = tensor(np.array([[0, 4], [1, 0]], "u1"))'
	run -3 devsim bad.mp
	[[ $output == *"cost record: copy_holds: 0 to 3"* ]]
}

@test "unknown records pass, streams may follow one another" {
	change u.mp 'r.insert(1, ["odd", {"a": [1, 2.5, None]}]); r.append(["odder", {}])'
	cat u.mp r.mp | devsim > x.mp
	py '
		x = read("x.mp")
		assert x[1] == ["odd", {"a": [1, 2.5, None]}] and [k for k, m in x].count("end") == 2
		assert [k for k, m in x].count("run") == 12
	'
}

@test "what it refuses" {
	change a.mp 'r = [x for x in r if x[0] != "graph"]'
	run -3 devsim a.mp
	[[ "$output" == *"before its graph"* ]]
	change a.mp 'r[-1][1]["graph"] += 1'
	run -3 devsim a.mp
	[[ "$output" == *"about another graph"* ]]
	change a.mp 'r.insert(2, r[1])'
	run -3 devsim a.mp
	[[ "$output" == *"a second graph"* ]]
	change a.mp 'd = r[-1][1]["device"]; d["data"] = b"\xff\xff" + d["data"][2:]'
	run -3 devsim a.mp
	[[ "$output" == *"set 0 is on device 65535 of 2"* ]]
	change a.mp 'd = r[-1][1]["device"]; d["data"] = d["data"][2:]; d["shape"][0] -= 1'
	run -3 devsim a.mp
	change a.mp 'r[-1][1]["devices"] = ["cpu", "cpu"]'
	run -3 devsim a.mp
	change a.mp 'r[-1][1]["devices"] = ["cpu", "tpu"]'
	run -3 devsim a.mp
	[[ "$output" == *"no costs for device 'tpu'"* ]]
	change a.mp 'r[3][1]["set_s"]["shape"][1] = 1; r[3][1]["set_s"]["data"] = r[3][1]["set_s"]["data"][::2]'
	run -3 devsim a.mp
	run -2 devsim -D cpu r.mp
	run -2 devsim --probe --fixed g.mp
	run -2 devsim --spec nowhere r.mp
	run -3 devsim --probe --spec r.mp g.mp
	run -3 devsim /dev/null
	run -1 bash -c 'devsim r.mp > /dev/full'
}

@test "truncated and damaged streams" {
	size=$(stat -c %s r.mp)
	for n in 0 1 7 100 $((size / 2)) $((size - 40)) $((size - 1)); do
		run -3 bash -o pipefail -c "head -c $n r.mp | timeout 60 devsim"
	done
	py '
		import random
		random.seed(1)
		whole = bytearray(open("r.mp", "rb").read())
		for n in range(40):
		    b = bytearray(whole)
		    b[random.randrange(300, len(b))] ^= 1 << random.randrange(8)
		    open("flip.%d" % n, "wb").write(b)
	'
	for n in {0..39}; do
		run -3 timeout 60 devsim "flip.$n"
	done
}

@test "links that copies share, and media: three copies on a bus, by hand" {
	local made='[("a", 4096), ("b", 2560), ("c", 8704)]'
	# As in tests/unit/test_flows.c: a bus of 6 KB/s, the first link has 1 of it, the others 4.
	py "
		kb = 1024
		link = lambda d, r: {'src': 'h', 'dst': d, 'latency_s': 0, 'bytes_per_s': r * kb, 'media': ['bus']}
		json.dump({'devices': [{'name': n} for n in 'habc'], 'links': [link('a', 1), link('b', 4), link('c', 4)],
		    'media': [{'name': 'bus', 'bytes_per_s': 6 * kb}],
		    'nodes': [{'id': 'm' + d, 'cost_s': {'h': 0}, 'out_bytes': b} for d, b in $made] +
		             [{'id': d, 'cost_s': {d: 0}} for d, _ in $made],
		    'edges': [{'src': 'm' + d, 'dst': d} for d, _ in $made]}, open('bus.json', 'w'))
	"
	ends() { # STREAM WANT: ends of the copies to a, b, c
		py "
			r = runs('$1')[-1]['schedule']
			e = dict(zip(array(r['copy_dst']).tolist(), array(r['copy_end_s']).tolist()))
			assert [e[d] for d in (1, 2, 3)] == $2, e
		"
	}
	json2dag bus.json | placebase heft > placed.mp
	devsim --schedule placed.mp > bus.mp
	ends bus.mp '[4, 1, 2.5]'
	py 'r = runs("bus.mp")[-1]; assert r["period_s"] == 4 and r["lat_s"] == 4, r'
	py 'd = first(read("bus.mp"), "devs"); assert d["media"] == [{"name": "bus", "bytes_per_s": 6144}] and d["links"][0]["media"] == ["bus"], d'
	devsim --no-contention --schedule placed.mp > loose.mp
	ends loose.mp '[4, .625, 2.125]'
	json2dag bus.json | placebase exact,portfolio --budget 0.1 | devsim > x.mp
	py 'assert [r["lat_s"] for r in runs("x.mp")] == [4, 4]'
}

@test "shared links of specifications and records; what cannot be" {
	printf '%s\n' 'device x*3 flops 1e12 bandwidth 1e11' 'medium bus bandwidth 1.5e9' > base.spec
	{ cat base.spec; echo 'link * * latency 1e-5 bandwidth 1e9'; } > plain.spec
	sed '$s/$/ contention fcfs/' plain.spec > fcfs.spec
	sed '$s/$/ contention none/' plain.spec > none.spec
	sed '$s/$/ contention shared/' plain.spec > shared.spec
	sed '$s/$/ media bus/' plain.spec > bus.spec
	for s in plain fcfs none shared bus; do
		devsim --probe --spec $s.spec g.mp | placebase random -n 5 --seed 3 > $s.mp
		devsim $s.mp > read.mp
		py "write('mine.mp', [x for x in read('$s.mp') if x[0] not in ('devs', 'cost')])"
		devsim --spec $s.spec mine.mp > told.mp
		py 'a, b = ([(m["lat_s"], m["period_s"]) for m in runs(f)] for f in ("told.mp", "read.mp")); assert a == b, (a, b)'
		mv read.mp run_$s.mp
	done
	devsim --no-contention plain.mp > run_loose.mp
	py '
		plain, fcfs, none, shared, bus, loose = ([m["lat_s"] for m in runs("run_%s.mp" % s)] for s in "plain fcfs none shared bus loose".split())
		assert plain == fcfs and none == loose and min(bus) > 0
		assert sum(none) < sum(shared) < sum(bus), (none, shared, bus)
		d = first(read("plain.mp"), "devs")
		assert "contention" not in d["links"][0]
	'
	local at line=('link x x latency 0 bandwidth 1 contention fair' 'link x x latency 0 bandwidth 1 media bsu' 'medium bus bandwidth 1'
		'link x x latency 0 bandwidth 1 media bus contention fcfs' 'medium net' 'link x:0 x:1 latency 0 bandwidth 1 media bus,'
		$'link x:0 x:1 latency 0 bandwidth 1 port p\nlink x:1 x:0 latency 0 bandwidth 1 port p contention shared')
	local told=("'fair' is no contention of a link" "no medium 'bsu' is described above; did you mean 'bus'?" "medium 'bus' is described twice"
		'a link with media is shared' "medium 'net' needs bandwidth" "no medium '' is described above" "port 'p': some of its links are shared")
	for at in "${!line[@]}"; do
		{ cat plain.spec; echo "${line[at]}"; } > wrong.spec
		run -3 devsim --probe --spec wrong.spec g.mp
		[[ $output == *"${told[at]}"* ]] || { echo "$at: $output"; return 1; }
	done
	local damage=('d["media"] = 1' 'd["media"] = [1]' 'd["media"] = [{"name": "bus"}]' 'd["media"] = 2 * [{"name": "bus", "bytes_per_s": 1}]'
		'd["links"][0]["media"] = ["x"]' 'd["links"][0]["media"] = 3' 'd["links"][0]["contention"] = "fair"')
	told=('media is not a list' 'medium 0 is not a map' "medium 0: no key 'bytes_per_s'" 'medium 1: impossible rate' "link 0: its medium 'x' is not among media"
		"link 0: key 'media'" "link 0: 'fair' is no contention")
	for at in "${!damage[@]}"; do
		change odd.mp "d = r[2][1]; ${damage[at]}"
		run -3 bash -c 'devsim odd.mp > /dev/null'
		[[ $output == *"devs: ${told[at]}"* ]] || { echo "$at: $output"; return 1; }
	done
}
