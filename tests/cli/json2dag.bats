#!/usr/bin/env bats
# json2dag: cost graphs in JSON, the schedules that follow from them, and what is refused.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cat > small.json <<-'J'
		{"name": "small",
		 "devices": [{"name": "a", "mem_bytes": 1000}, {"name": "b", "type": "gpu"}],
		 "links": [{"src": "*", "dst": "*", "latency_s": 1, "bytes_per_s": 10},
		           {"src": "a", "dst": "b", "latency_s": 2, "bytes_per_s": 10}],
		 "nodes": [{"id": "z", "cost_s": {"a": 1, "b": 2}, "out_bytes": 30, "mem_bytes": 100},
		           {"id": 7, "name": "x", "cost_s": 4, "out_bytes": 5},
		           {"id": 8, "cost_s": {"a": 3, "b": 1}, "allowed": ["b"], "extra": 1},
		           {"id": "first", "cost_s": 0.5}],
		 "edges": [{"src": "z", "dst": 7}, {"src": "z", "dst": 8}, {"src": "z", "dst": 8},
		           {"src": 7, "dst": 8, "bytes": 50}, {"src": "first", "dst": "z", "bytes": 20}]}
	J
	json2dag small.json -o small.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# refused JSON MESSAGE - status 3, and what it says
refused() {
	run -3 json2dag <<< "$1"
	[[ $output == *"$2"* ]] || { echo "$output"; return 1; }
}

@test "nodes in topological order, sizes, masks, links and costs" {
	run -0 recdump --check small.mp
	py '
		g, d, c = (of("small.mp", k)[0] for k in ("graph", "devs", "cost"))
		assert g["node_name"] == ["first", "z", "x", "8"] and list(array(g["id"])) == [3, 0, 7, 8], g
		assert list(array(g["in_node"])) == [0, 1, 1, 1, 2] and list(array(g["dim"])) == [20, 30, 50, 0]
		assert d["names"] == ["a", "b"] and d["types"] == ["model", "gpu"] and list(array(d["mem_bytes"])) == [1000, 0]
		assert array(d["mask"]).tolist() == [[1, 1], [1, 1], [1, 1], [0, 1]] and "together" not in d
		assert [(l["src"], l["dst"], l["latency_s"]) for l in d["links"]] == [(0, 1, 2), (1, 0, 1)]
		assert array(c["set_s"]).tolist() == [[.5, .5], [1, 2], [4, 4], [-1, 1]]
		assert list(array(c["set_mem"])) == [0, 100, 0, 0] and c["contention"] and c["overlap"] and c["order"] == "rank"
	'
}

@test "the schedule, by hand" {
	# first 0 .. 0.5, z .. 1.5 on a; z is copied to b: 2 + 3 s, .. 6.5; x .. 5.5 on a, copied 2 + 5 s, after
	# z on the same link: 6.5 .. 13.5; 8 ends at 14.5
	cat > where.json <<< '{"first": "a", "z": "a", "x": "a", "8": "b"}'
	placebase expert:where.json small.mp | devsim > run.mp
	placebase expert:where.json small.mp | devsim --no-contention > free.mp
	py '
		r, f = of("run.mp", "run")[0], of("free.mp", "run")[0]
		assert r["ok"] and r["lat_s"] == 14.5 and r["copies"] == 2 and r["copy_bytes"] == 80, r
		assert f["lat_s"] == 13.5, f
		# a: 100 for z, and most while x runs: z (to its copy at 6.5) and the 50 of x; b: both copies
		assert list(array(r["mem_bytes"])) == [100 + 30 + 50, 30 + 50], array(r["mem_bytes"])
	'
}

@test "keys that may be others are refused, others are ignored" {
	while IFS='|' read -r json said; do
		refused "$json" "$said"
	done <<-'T'
	{"devices": [{"name": "a", "mem_byte": 5}], "nodes": [{"id": 1, "cost_s": 1}]}|devices[0]: unknown key 'mem_byte'; did you mean 'mem_bytes'?
	{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1, "alowed": []}]}|nodes[0]: unknown key 'alowed'; did you mean 'allowed'?
	{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1}], "edegs": []}|unknown key 'edegs'; did you mean 'edges'?
	{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1}], "options": {"overlaps": true}}|options: unknown key 'overlaps'; did you mean 'overlap'?
	{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1}, {"id": 2, "cost_s": 1}], "edges": [{"src": 1, "dst": 2, "byte": 7}]}|edges[0]: unknown key 'byte'; did you mean 'bytes'?
	T
	json2dag <<< '{"devices": [{"name": "a", "colour": "red"}], "nodes": [{"id": 1, "cost_s": 1, "comment": "x"}], "author": "me"}' | recdump --check
}

@test "devices that take turns: one waits for the other, and a period has room for both" {
	turns='{"devices": [{"name": "a"}, {"name": "b"}, {"name": "both", "turns": ["a", "b"]}],
		"links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1e9}],
		"nodes": [{"id": 0, "cost_s": 2}, {"id": 1, "cost_s": 3}, {"id": 2, "cost_s": {"a": 4, "b": 4, "both": 2}}], "edges": []}'
	json2dag <<< "$turns" > turns.mp
	echo '{"0": "a", "1": "b", "2": "both"}' > turned.json
	placebase expert:turned.json turns.mp | devsim --schedule > run.mp
	py '
		d, r = of("run.mp", "devs")[0], of("run.mp", "run")[0]
		assert array(d["turns"]).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
		# a and b beside each other, both behind or before them
		assert r["lat_s"] == 5 and r["period_s"] == 5 and r["busy_s"] is not None, r
	'
	refused "${turns/\"b\"]/\"c\"]}" "devices[2]: turns: there is no device '"'c'"'"
	refused "${turns/\"b\"]/\"both\"]}" "devices[2]: turns: '"'both'"' is the device itself"
	refused "$(sed 's/"turns": \[[^]]*\]/"turns": 7/' <<< "$turns")" "devices[2]"
}

@test "links that share ports: one copy after the other leaves a device" {
	cat > ports.json <<-'J'
		{"devices": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
		 "links": [{"src": "*", "dst": "*", "latency_s": 1, "bytes_per_s": 10, "port": "net"}],
		 "ports": [{"device": "a", "name": "net", "out_bytes_per_s": 5}, {"device": "*", "name": "net", "out_bytes_per_s": 20}],
		 "nodes": [{"id": 1, "name": "from", "cost_s": 2, "out_bytes": 10}, {"id": 2, "name": "one", "cost_s": 3}, {"id": 3, "name": "two", "cost_s": 4}],
		 "edges": [{"src": 1, "dst": 2}, {"src": 1, "dst": 3}]}
	J
	json2dag ports.json -o ports.mp
	echo '{"from": "a", "one": "b", "two": "c"}' > ways.json
	placebase expert:ways.json ports.mp | devsim > run.mp
	placebase expert:ways.json ports.mp | devsim --no-contention > free.mp
	# from 0 .. 2; its copy to b leaves 2 .. 4, is there at 5, one .. 8; that to c leaves 4 .. 6, is there at 7, two .. 11
	py '
		r, f, d = of("run.mp", "run")[0], of("free.mp", "run")[0], of("ports.mp", "devs")[0]
		assert r["lat_s"] == 11 and f["lat_s"] == 9 and r["period_s"] == 4, (r, f)
		assert [p["device"] for p in d["ports"]] == [0, 1, 2] and [p["out_bytes_per_s"] for p in d["ports"]] == [5, 20, 20], d
	'
	refused "$(sed 's/"name": "net", "out/"name": "nte", "out/' ports.json)" 'ports[0]: no link has the port that it names'
	refused "$(sed 's/"out_bytes_per_s": 5/"out_bytes_per_s": 0/' ports.json)" 'ports[0]: out_bytes_per_s is 0 or next to it'
	refused "$(sed 's/"device": "a"/"device": "d"/' ports.json)" "ports[0]: device: there is no device 'd'"
	refused "$(sed 's/"port": "net"/"port": ""/' ports.json)" 'links[0]: port: an empty name'
}

@test "a placer that knows of contention knows of ports" {
	py '
		devices = [{"name": d} for d in "abcd"]
		link = {"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 10, "port": "net"}
		nodes = [{"id": 0, "cost_s": 2, "out_bytes": 30}] + [{"id": i, "cost_s": 4} for i in range(1, 5)]
		doc = {"devices": devices, "links": [link], "nodes": nodes, "edges": [{"src": 0, "dst": i} for i in range(1, 5)]}
		json.dump(doc, open("fan.json", "w"))
	'
	for m in heft contention; do json2dag fan.json | placebase $m | devsim > fan_$m.mp; done
	# 0 .. 2; heft: one stays, 6, three go elsewhere, which takes 3 s each, one after the other: 9, 12, 15;
	# contention: two stay, 10, two go: 9, 12
	py 'assert runs("fan_heft.mp")[0]["lat_s"] == 15 and runs("fan_contention.mp")[0]["lat_s"] == 12, runs("fan_contention.mp")'
}

@test "options, no links, co-location and memory decide what is legal" {
	sed 's/"edges"/"options": {"contention": false, "order": "fifo"}, "edges"/' small.json > o.json
	json2dag o.json | placebase expert:where.json | devsim > run.mp
	py 'assert of("run.mp", "run")[0]["lat_s"] == 13.5'
	sed '/"src"/!b; /"dst": "b"/d; s/"links": .*/"links": [],/' small.json > l.json
	json2dag l.json | placebase expert:where.json | devsim > run.mp
	py 'r = of("run.mp", "run")[0]; assert not r["ok"] and "no link" in r["reason"], r'
	sed 's/"id": 7,/"id": 7, "colocate": "c",/; s/"id": 8,/"id": 8, "colocate": "c",/' small.json > c.json
	json2dag c.json -o c.mp
	placebase expert:where.json c.mp | devsim > run.mp
	py 'r = of("run.mp", "run")[0]; assert not r["ok"] and "shares a device" in r["reason"], r'
	for m in peft cpop lookahead m-topo m-etf greedy-memory anneal exact; do
		placebase $m c.mp | devsim > run.mp
		py 'r = of("run.mp", "run")[0]; assert r["ok"], r'
	done
	sed 's/1000/120/' small.json | json2dag | placebase expert:where.json | devsim > run.mp
	py 'r = of("run.mp", "run")[0]; assert not r["ok"] and r["unlimited_s"] == 14.5 and "180 bytes on a, which has 120" in r["reason"], r'
}

@test "who cannot be placed is named" {
	echo '{"devices": [{"name": "a"}, {"name": "b"}], "nodes": [{"id": "first", "cost_s": {"a": 1}}, {"id": "x", "cost_s": {"b": 1}}, {"id": "last", "cost_s": {"b": 1}}], "edges": [{"src": "first", "dst": "last"}]}' |
		json2dag -o apart.mp
	for m in heft m-topo m-etf m-sct; do
		run -1 placebase "$m" apart.mp -o none.mp
		[[ $output == *"no device can take set 2 ('last')"* ]]
	done
	echo '{"devices": [{"name": "a"}, {"name": "b"}], "nodes": [{"id": 1, "cost_s": 1}, {"id": "x", "cost_s": {}}]}' |
		json2dag -o odd.mp
	for m in greedy-memory heft; do
		run -1 placebase "$m" odd.mp -o none.mp
		[[ $output == *"no device can take set 1 ('x'): none is left that can run it and has room"* ]]
	done
}

@test "a person names nodes by their ids where names are shared" {
	cat > shared.json <<-'E'
		{"devices": [{"name": "a"}, {"name": "b"}], "links": [{"src": "*", "dst": "*", "latency_s": 1, "bytes_per_s": 10}],
		 "nodes": [{"id": 1, "name": "mul", "cost_s": 1}, {"id": 2, "name": "mul", "cost_s": 1}, {"id": 3, "name": "add", "cost_s": 1}],
		 "edges": [{"src": 1, "dst": 3}, {"src": 2, "dst": 3}]}
	E
	echo '{"1": "b", "2": "a", "add": "b"}' > by_id.json
	json2dag shared.json | placebase expert:by_id.json > x.mp
	py 'assert list(array(of("x.mp", "place")[0]["device"])) == [1, 0, 1]'
}

@test "with costs, single, random and a person's placement have the bound beside them, too" {
	echo '{"mul": "a", "add": "b"}' > by_name.json
	json2dag shared.json -o shared.mp
	for m in single:b random expert:by_name.json; do
		placebase "$m" shared.mp | tee x.mp | devsim > r.mp
		py '
			p, m = of("x.mp", "place")[0], of("r.mp", "run")[0]
			assert p["predicted_s"] == m["lat_s"] and 2 - 1e-9 < p["bound_s"] <= m["lat_s"], p
		'
	done
}

@test "what is not a problem is refused" {
	refused '' 'not JSON at line 2'
	refused '{"devices": [' 'not JSON'
	refused '[1]' 'not an object'
	refused '{"nodes": []}' "neither key 'devices'"
	refused '{"devices": [{"name": "a"}, {"name": "a"}], "nodes": []}' "devices[1]: name 'a'"
	refused '{"devices": [], "nodes": []}' '0 devices'
	refused '{"devices": [{"name": "a"}], "nodes": [{"cost_s": 1}]}' "nodes[0]: key 'id'"
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1}, {"id": 1, "cost_s": 1}]}' 'nodes[1]: its id'
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": -1}]}' "key 'cost_s' is negative"
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1e999}]}' 'not JSON'
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1}]}' "no key 'cost_s'"
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1, "allowed": ["b"]}]}' "no device 'b'"
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": {"a": 1, "b": 1}}]}' "nodes[0]: cost_s: there is no device 'b'"
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1, "out_bytes": 1e30}]}' '2^62'
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1, "mem_bytes": 4e18}, {"id": 2, "cost_s": 1, "mem_bytes": 4e18}]}' '2^62 bytes together'
	refused '{"devices": [{"name": "a"}], "nodes": [], "edges": [{"src": 1, "dst": 1}]}' "edges[0]: 'src'"
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1}], "edges": [{"src": 1, "dst": 1}]}' 'circle'
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "id": 2, "cost_s": 1}]}' 'duplicate'
	refused '{"devices": [{"name": "a"}], "links": [{"src": "a", "dst": "c"}], "nodes": []}' "no device 'c'"
	refused "$(printf '[%.0s' {1..3000})$(printf ']%.0s' {1..3000})" 'parsing depth'
	refused '{"devices": [{"name": "a"}], "nodes": []}' "'nodes' is empty"
	refused '{"devices": [{"name": "a", "watts": -1}], "nodes": []}' "devices[0]: key 'watts' is negative"
	refused '{"maxFPGAs": 1, "maxCPUs": 1}' "no key 'nodes'"
	refused '{"maxFPGAs": 0, "maxCPUs": 0, "nodes": []}' '0 devices'
	refused '{"maxFPGAs": 1, "maxCPUs": 1, "nodes": [{"id": 1}]}' "nodes[0]: no key 'cpuLatency'"
	run -1 json2dag /nonexistent
	run -3 json2dag /dev/null
	run -1 bash -c 'json2dag small.json > /dev/full'
}

@test "ids are integers of 64 bits and texts; colours any values; null is what is not there" {
	py '
		big = 2**63 - 1
		ids = [-5, big - 1, 7, big, 8, -2**63, -2**63 + 1, "", "0", 0, "a b", "é😀", str(big)]
		nodes = [{"id": i, "cost_s": 1, "out_bytes": 3, "name": None, "mem_bytes": None} for i in ids]
		for v, c in zip(nodes, [1, 1.0, "1", [1, {"a": 2}], [1, {"a": 2}], True, True, None, None, 1.5, "", 2**62, 2**62]):
			v["colocate"] = c
		doc = {"devices": [{"name": "a", "mem_bytes": None}, {"name": "b", "mem_bytes": 1e30}], "links": None, "nodes": nodes,
		       "edges": [{"src": a, "dst": b, "bytes": None} for a, b in zip(ids, ids[1:])],
		       "options": {"contention": None, "order": None}, "more": [2**60, [[[[[[]] * 40]]]]]}
		open("ids.json", "w").write("\ufeff" + json.dumps(doc))
	'
	json2dag ids.json -o ids.mp
	py '
		g, d = of("ids.mp", "graph")[0], of("ids.mp", "devs")[0]
		big = 2**63 - 1
		assert g["node_name"] == ["-5", str(big - 1), "7", str(big), "8", str(-2**63), str(-2**63 + 1), "", "0", "0", "a b", "é😀", str(big)]
		assert list(array(g["in_node"])) == list(range(12)) and list(array(d["mem_bytes"])) == [0, 0] and d["links"] == []
		t = list(array(d["together"]))
		pairs = {(a, b) for a in range(13) for b in range(a) if t[a] == t[b]}
		assert pairs == {(1, 0), (4, 3), (6, 5), (12, 11)}, pairs
	'
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 9999999999999999999, "cost_s": 1}]}' 'too big integer'
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 9223372036854775807, "cost_s": 1}, {"id": 9223372036854775807, "cost_s": 1}]}' 'nodes[1]: its id was there before'
	for id in 1.5 null true '[]'; do
		refused '{"devices": [{"name": "a"}], "nodes": [{"id": '"$id"', "cost_s": 1}]}' "neither an integer nor a text"
	done
	refused '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "cost_s": 1e200}]}' 'more than 1e+100'
	refused '{"devices": [{"name": "a"}], "links": [{"src": "a", "dst": "a", "latency_s": 0, "bytes_per_s": 1e-200}], "nodes": []}' 'bytes_per_s is 0'
}

@test "watts and joules of a problem" {
	sed 's/"mem_bytes": 1000/"watts": 10, "idle_watts": 1/; s/"latency_s": 2/"j_per_byte": 0.5, "latency_s": 2/' small.json > w.json
	json2dag w.json | placebase expert:where.json | devsim --watts b=4 --objective energy > run.mp
	# a is busy for 5.5 of 14.5 s, b for 1; 80 bytes go from a to b
	py 'r = of("run.mp", "run")[0]; assert r["value"] == r["energy_j"] == 55 + 9 + 4 + 40, r'
}

@test "100,000 nodes" {
	py '
		import random
		r = random.Random(3)
		n = 100000
		json.dump({"devices": [{"name": d} for d in "ab"], "links": [{"src": "*", "dst": "*", "latency_s": 1e-5, "bytes_per_s": 1e9}],
		           "nodes": [{"id": str(i), "cost_s": {"a": 1, "b": r.random()}, "out_bytes": 9} for i in range(n)],
		           "edges": [{"src": str(r.randrange(max(0, i - 50), i)), "dst": str(i)} for i in range(1, n)]}, open("big.json", "w"))
	'
	timeout 60 bash -o pipefail -c 'json2dag big.json | placebase random | devsim | recdump -k run --tsv ok > big.txt'
	[ "$(cat big.txt)" = true ]
}

@test "damaged JSON never breaks it" {
	py '
		import random, subprocess
		text = open("small.json", "rb").read()
		draw = random.Random(1)
		for i in range(int(os.environ.get("HOSTILE", 60))):
			b = bytearray(text)
			for _ in range(draw.randint(1, 4)):
				at = draw.randrange(len(b))
				b[at:at + draw.choice((0, 1, 1, 9))] = draw.choice((b"", b"-", b"1e308", b"[", b"}", b"\xff", b"null", b"\"a\"", b"0"))
			p = subprocess.run(["json2dag", "-o", "x.mp"], input=bytes(b), capture_output=True)
			assert p.returncode in (0, 3), (p, bytes(b))
			assert p.returncode == 0 or p.stderr.startswith(b"json2dag: error: "), p.stderr
	'
}

@test "exact, on ten tasks whose copies queue" {
	sed 's/"contention": false/"contention": true/' "$ROOT/tests/instances/topcuoglu2002.json" > ten.json
	json2dag ten.json -o ten.mp
	run -0 placebase -v exact --evals 30000 ten.mp -o out.mp
	[[ $output == *"exact: 75 s, no placement below 73 s (series)"*"for this order rule (rank) none below 75 s"* ]] || { echo "$output"; return 1; }
}

@test "bytes that could not be counted, in a stream" {
	py '
		r = read("small.mp")
		first(r, "cost")["set_mem"] = tensor(np.full(4, 2**61, "<u8"))
		write("huge.mp", r)
	'
	run -3 placebase single huge.mp -o x.mp
	[[ "$output" == *"set_mem or move_s of set 2 is out of range"* ]]
}
