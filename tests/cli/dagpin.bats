#!/usr/bin/env bats
# dagpin: what is pinned by name stays there, in every method, simulated, run and learned.
# programs: dagpin placebase devsim devrun dagsplit
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/googlenet.xml" > g.mp
	dagfeat --paper g.mp | devsim --probe --spec paper > p.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# Python: keeps(STREAM, KINDS, PINS, KEEPS, DEFAULT) - placements that break a rule, by names and globs alone.
rules='
import fnmatch
def named(g, pattern):
    part, whole = array(g["part_of"]) if "whole" in g else None, g.get("whole", {}).get("node_name")
    return {v for v, name in enumerate(g["node_name"]) if fnmatch.fnmatchcase(name, pattern) or
            (whole and part[v] < len(whole) and fnmatch.fnmatchcase(whole[part[v]], pattern))}
def broken(f, kind="place", pins=(), keeps=(), default=None):
    (g,) = of(f, "graph")
    s, bad, n, told = array(g["set"]), [], 0, set()
    placed = {v for v in range(len(s)) if s[v] < g["n_sets"]}
    for m in of(f, kind):
        at = lambda v: m["devices"][array(m["device"])[s[v]]]
        n += 1
        told = set()
        for pattern, devices in pins:
            mine = named(g, pattern) & placed - told
            assert mine, pattern
            told |= mine
            bad += [(m["source"], g["node_name"][v], at(v)) for v in mine if at(v) not in devices]
        for keep in keeps:
            on = {at(v) for pattern in keep for v in named(g, pattern) & placed}
            if len(on) != 1: bad.append((m["source"], keep, on))
        if default:
            sets = {s[v] for v in told}
            bad += [(m["source"], g["node_name"][v], at(v)) for v in placed if s[v] not in sets and at(v) != default]
    assert n, f
    return bad
'

@test "every method of placebase keeps to what is pinned, and together, and so does the simulator" {
	dagpin --pin '*inception3a*=gpu' --pin '*inception4?.branch1*,*maxpool2*=cpu' --keep '*inception5a*,*maxpool3*' p.mp -o q.mp
	placebase heft p.mp -o free.mp
	for method in $(placebase --list | cut -f1 | tail -n +2 | sed 's/:.*//'); do
		case $method in
		single | expert | of | spine) continue ;;     # spine is about dnnpart-latency alone
		replicas)     # the whole model, which no device may have alone
			run -1 placebase replicas q.mp
			[[ $output == *"there are no replicas"* ]]
			continue
			;;
		repeats)     # nothing repeats, and no device may have all; placebase.bats has a graph where much does
			run -1 placebase repeats q.mp
			[[ $output == *"no blocks that repeat are half of the graph, and no single device is legal"* ]]
			continue
			;;
		ideals)     # splits into contiguous pieces: of two devices none keeps to these
			run -1 placebase ideals q.mp
			[[ $output == *"no legal split was found"* ]]
			dagpin --pin '*inception3a*=cpu' --pin '*inception5b*=gpu' p.mp | placebase ideals > ideals.mp
			continue
			;;
		esac
		placebase "$method" --evals 200 --seed 3 q.mp > "m-$method.mp"
		devsim "m-$method.mp" | recdump -k run --tsv ok,reason | tail -n +2 > "m-$method.ok"
		run ! grep -v '^true' "m-$method.ok"
	done
	py "$rules"'
import glob
how = dict(pins=[("*inception3a*", ["gpu"]), ("*inception4?.branch1*", ["cpu"]), ("*maxpool2*", ["cpu"])], keeps=[["*inception5a*", "*maxpool3*"]])
assert broken("free.mp", **how)
files = glob.glob("m-*.mp")
assert len(files) >= 28, files
for f in files:
    assert not broken(f, **how), (f, broken(f, **how))
assert not broken("ideals.mp", pins=[("*inception3a*", ["cpu"]), ("*inception5b*", ["gpu"])])
'
	# what does not keep to it is not legal, whoever made it
	placebase single q.mp | devsim | recdump -k run --tsv ok,reason > singles
	[ "$(grep -c "^false.*cannot run on" singles)" -eq 2 ]
}

@test "exact search under pins finds the best of all placements that keep to them" {
	for seed in 1 2 3 4 5; do
		py '
			import random
			r = random.Random(int(sys.argv[1]))
			n = 7
			json.dump({"devices": [{"name": d} for d in "ab"], "links": [{"src": "*", "dst": "*", "latency_s": 1, "bytes_per_s": 1}],
			  "nodes": [{"id": i, "name": f"n{i}", "out_bytes": r.randint(0, 3), "cost_s": {"a": r.randint(1, 9), "b": r.randint(1, 9)}} for i in range(n)],
			  "edges": [{"src": a, "dst": b} for b in range(n) for a in range(b) if r.random() < .4]}, open("e.json", "w"))
		' $seed
		json2dag e.json | dagpin --pin n2=b --pin 'n[45]=a' --keep n0,n6 > e.mp
		placebase exact e.mp | devsim > found.mp
		py '
			import itertools
			names = [f"n{i}" for i in range(7)]
			for i, where in enumerate(x for x in itertools.product("ab", repeat=7) if x[2] == "b" and x[4] == x[5] == "a" and x[0] == x[6]):
				json.dump(dict(zip(names, where)), open(f"all.{i}.json", "w"))
			assert i == 7
		'
		json2dag e.json > free.mp
		for i in 0 1 2 3 4 5 6 7; do placebase expert:all.$i.json free.mp | devsim | recdump -k run --tsv lat_s | tail -n 1; done | sort -g | head -n 1 > best
		py 'assert abs(of("found.mp", "run")[0]["lat_s"] - float(open("best").read())) < 1e-9' ||
			{ echo "seed $seed"; return 1; }
	done
}

@test "the default device takes what is not pinned, and what it cannot run stays free" {
	dagpin --pin '*inception3a*=gpu' --default cpu p.mp | placebase anneal --evals 300 > d.mp
	py "$rules"'
assert not broken("d.mp", pins=[("*inception3a*", ["gpu"])], default="cpu")
assert len({int(x) for x in array(of("d.mp", "place")[0]["device"])}) == 2
'
	json2dag <<-'J' | dagpin --pin one=b --default a | placebase heft > f.mp
		{"devices": [{"name": "a"}, {"name": "b"}, {"name": "c"}], "links": [{"src": "*", "dst": "*", "latency_s": 1, "bytes_per_s": 1e9}],
		 "nodes": [{"id": 0, "name": "one", "cost_s": 1}, {"id": 1, "name": "two", "cost_s": {"b": 1, "c": 0.5}}, {"id": 2, "name": "three", "cost_s": 1}],
		 "edges": []}
	J
	py 'assert array(of("f.mp", "place")[0]["device"]).tolist() == [1, 2, 0]'
}

@test "the first of several pins counts; a list of devices; a name with letters of a pattern; a set goes where its pinned one goes" {
	cat > n.json <<-'J'
		{"devices": [{"name": "a"}, {"name": "b"}, {"name": "c"}], "links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1e9}],
		 "nodes": [{"id": 0, "name": "x[0]", "cost_s": 1}, {"id": 1, "name": "x0", "cost_s": 1}, {"id": 2, "name": "y,z", "cost_s": 1}, {"id": 3, "name": "w", "cost_s": 1, "colocate": 1},
		   {"id": 4, "name": "v=u", "cost_s": 1, "colocate": 1}, {"id": 5, "name": "é*", "cost_s": 1}],
		 "edges": []}
	J
	json2dag n.json | dagpin --pin 'x[0]=c' --pin 'x*=a' --pin 'y\,z=a,b' --pin 'v=u=b' --pin 'é\*=a' > n.mp
	py '
		m = array(of("n.mp", "devs")[0]["mask"]).tolist()
		# x[0] is a name and a pattern for x0: both are on c
		assert m == [[0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]], m
	'
	json2dag n.json | dagpin --pin 'x0=a' --pin 'x*=b' > n.mp
	py 'assert array(of("n.mp", "devs")[0]["mask"]).tolist()[:2] == [[0, 1, 0], [1, 0, 0]]'
}

@test "what a stream has besides stays: links, watts, keys of others, records of others; twice is the same as once" {
	json2dag <<-'J' > s.mp
		{"devices": [{"name": "a", "watts": 3, "turns": ["b"]}, {"name": "b"}], "links": [{"src": "a", "dst": "b", "latency_s": 1, "bytes_per_s": 2, "port": "p"}],
		 "nodes": [{"id": 0, "name": "n", "cost_s": 1}, {"id": 1, "name": "m", "cost_s": 1}], "edges": []}
	J
	edit s.mp t.mp 'records[1][1]["mine"] = {"k": [1]}; records.append(["other", {"z": 1}])'
	dagpin --pin n=b t.mp -o u.mp
	dagpin --pin n=b u.mp -o v.mp
	same_body u.mp v.mp
	edit t.mp w.mp 'import msgpack; records[1][1]["mask"]["data"] = bytes([0, 1, 1, 1])'
	py '
		a, b = (read(f) for f in ("u.mp", "w.mp"))
		assert {k: sorted(map(str, m.items())) for k, m in a[1:-1]} == {k: sorted(map(str, m.items())) for k, m in b[1:-1]}
		assert of("u.mp", "devs")[0]["mine"] == {"k": [1]} and of("u.mp", "other") == [{"z": 1}]
	'
}

# refused STATUS MESSAGE OPTION...
refused() {
	run -"$1" bash -c 'set -o pipefail; dagpin "$@" p.mp 2>&1 > out | cat' - "${@:3}"
	[[ ${#lines[@]} -eq 1 && $output == "dagpin: error: $2"* ]] || { echo "$output"; return 1; }
}

@test "patterns that match nothing, devices that are not there, pins that contradict, are one line" {
	name=$(recdump -k graph --tsv 'node_name[]' p.mp | grep 'maxpool1')
	refused 2 "--pin: 'nothing*' matches no operation" --pin 'nothing*=cpu'
	refused 2 "--pin: '${name}x' matches no operation; did you mean '$name'?" --pin "${name}x=cpu"
	refused 2 "--pin: 'nothing' matches no operation" --pin '*maxpool1*,nothing=cpu'
	refused 2 "--keep: 'nothing' matches no operation" --keep '*maxpool1*,nothing'
	refused 2 "--pin: there is no device 'tpu'; did you mean 'cpu'? here are cpu, gpu" --pin '*=tpu'
	refused 2 "--default: there is no device 'tpu'" --default tpu
	for text in x x= ; do refused 2 "--pin takes PATTERN=DEVICE, not '$text'" --pin "$text"; done
	refused 2 "--pin ',x=cpu': an empty pattern" --pin ',x=cpu'
	refused 2 "--keep 'x,,y': an empty pattern" --keep 'x,,y'
	refused 2 "--default: no device" --default ''
	run -2 bash -c "dagpin --keep '*maxpool*' --pin '*maxpool1*=cpu' --pin '*maxpool2*=gpu' p.mp 2>&1 > out"
	[[ $output == *"maxpool1"*" and '"*"maxpool2"*"' share a device, and are pinned to different ones" ]]
	json2dag <<-'J' > c.mp
		{"devices": [{"name": "a"}, {"name": "b"}], "links": [], "edges": [],
		 "nodes": [{"id": 0, "name": "n", "cost_s": {"a": 1}}, {"id": 1, "name": "m", "cost_s": {"b": 1}}]}
	J
	run -3 bash -c 'dagpin --pin n=b c.mp 2>&1 > out'
	[ "$output" = "dagpin: error: 'n' cannot run where it is pinned" ]
	run -3 bash -c 'dagpin --keep n,m c.mp 2>&1 > out'
	[ "$output" = "dagpin: error: no device can run all that --keep 'n,m' holds together" ]
	run -3 bash -c 'dagpin --pin "*=a" g.mp 2>&1 > out'
	[[ $output == "dagpin: error: no devs in the input; devrun probe, devsim --probe and json2dag make them" ]]
	edit c.mp x.mp 'del records[0]'
	run -3 bash -c 'dagpin --pin "*=a" x.mp 2>&1 > out'
	[[ $output == *"a devs record before its graph" ]]
	edit c.mp x.mp 'records[1][1]["graph"] += 1'
	run -3 bash -c 'dagpin --pin "*=a" x.mp 2>&1 > out'
	[[ $output == *"devices of another graph" ]]
}

@test "a pattern of constants alone says where they are" {
	ir2dag --const drop "$ROOT/tests/models/googlenet.xml" | devsim --probe --spec paper > drop.mp
	constant=$(py 'g = of("drop.mp", "graph")[0]; print(next(n for n, s in zip(g["node_name"], array(g["set"])) if s >= g["n_sets"]))')
	run -2 bash -c "dagpin --pin '$constant=cpu' drop.mp 2>&1 > out"
	[ "$output" = "dagpin: error: --pin: '$constant' matches only constants, which are where they are read" ]
}

@test "a learner's placements, groups of daggroup and a single file of parameters keep to it" {
	dagpin --pin '*inception3a*=gpu' --pin '*maxpool2*=cpu' --keep '*inception5a*,*maxpool3*' p.mp -o q.mp
	loop q.mp learned.mp
	daggroup metis -g 12 q.mp | placebase anneal --evals 200 > grouped.mp
	py "$rules"'
how = dict(pins=[("*inception3a*", ["gpu"]), ("*maxpool2*", ["cpu"])], keeps=[["*inception5a*", "*maxpool3*"]])
assert not broken("learned.mp", "best", **how) and not broken("grouped.mp", **how)
'
}

@test "sets that run nothing go where they are pinned" {
	cp "$ROOT"/tests/models/small_increment_1x3x4x5.* .
	ir2dag --no-colocate small_increment_1x3x4x5.xml | devsim --probe --spec paper > ip.mp
	name=$(py 'g = of("ip.mp", "graph")[0]; print(next(n for n, t in zip(g["node_name"], array(g["type"])) if g["types"][t] == "Parameter"))')
	for d in "cpu gpu" "gpu cpu"; do
		read -r at rest <<< "$d"
		dagpin --pin "$name=$at" --default "$rest" ip.mp | placebase heft,anneal --evals 20 > i2.mp
		py "$rules"'
assert not broken("i2.mp", pins=[(sys.argv[1], [sys.argv[2]])], default=sys.argv[3]), broken("i2.mp", pins=[(sys.argv[1], [sys.argv[2]])], default=sys.argv[3])
' "$name" "$at" "$rest"
	done
}

@test "devrun runs nothing that is not where it is pinned, and its answer keeps to it" {
	two_cores
	cp "$ROOT/share/examples/models/branches.xml" m.xml
	irfill m.xml -o m.bin
	ir2dag m.xml | devrun probe -D cpu:0,cpu:1 > m.mp
	dagpin --pin "block/0/*=cpu:1" --pin "block/1/*=cpu:0" m.mp > mp.mp
	placebase random -n 3 m.mp > wild.mp
	placebase random -n 3 --seed 2 mp.mp > tame.mp
	placebase of:wild.mp tame.mp | devrun --min-runs 1 --max-seconds 0.01 > ran.mp
	placebase of:wild.mp tame.mp | devrun paired --min-runs 1 --max-seconds 0.01 > final.mp
	py "$rules"'
how = dict(pins=[("block/0/*", ["cpu:1"]), ("block/1/*", ["cpu:0"])])
r = of("ran.mp", "run")
assert [x["ok"] for x in r] == [True] * 3 + [False] * 3, [(x["ok"], x.get("reason")) for x in r]
assert all("may not run on" in x["reason"] for x in r[3:])
final = [m for m in of("final.mp", "best") if m.get("final")]
assert final
singles = [x for x in of("final.mp", "run") if x["source"] == "single"]
assert singles and not any(x["ok"] for x in singles)
assert not broken("final.mp", "best", **how)
'
}

@test "operations in parts: what is pinned or kept together stays whole, and parts obey when they are there already" {
	cp "$ROOT/share/examples/models/branches.xml" m.xml
	irfill m.xml -o m.bin
	ir2dag m.xml > whole.mp
	dagsplit --no-auto whole.mp > parts.mp
	devsim --probe --spec paper whole.mp > costs.mp
	edit costs.mp nocost.mp 'records = [r for r in records if r[0] != "cost"]'
	dagpin --pin 'block/0/*=cpu' --keep 'block/2/one,block/2/three' nocost.mp | dagsplit --no-auto > kept.mp
	py '
		cut = {f: {g["whole"]["node_name"][w] for w, p in zip(array(g["part_of"]), array(g["part"])) if w < len(g["whole"]["node_name"]) and p < 2**32 - 1}
		       for f in ("parts.mp", "kept.mp") for g in of(f, "graph")}
		block = lambda f, i: {n for n in cut[f] if n.startswith(f"block/{i}/")}
		assert block("parts.mp", 0) and block("parts.mp", 1) and {"block/2/one", "block/2/three"} <= cut["parts.mp"], cut
		assert not block("kept.mp", 0) and block("kept.mp", 1) == block("parts.mp", 1), block("kept.mp", 0)
		assert not {"block/2/one", "block/2/three"} & cut["kept.mp"]
	'
	devsim --probe --spec paper parts.mp | dagpin --pin 'block/0/*=cpu' --pin 'block/1/three=gpu' --keep block/3/one > pp.mp
	placebase random,anneal --evals 100 pp.mp > placed.mp
	py "$rules"'
assert len(named(of("placed.mp", "graph")[0], "block/1/three")) >= 2
assert not broken("placed.mp", pins=[("block/0/*", ["cpu"]), ("block/1/three", ["gpu"])], keeps=[["block/3/one"]])
'
}
