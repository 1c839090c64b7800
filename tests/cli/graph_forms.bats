#!/usr/bin/env bats
# json2dag: files of others - WfFormat, SAGA, STG, DOT - beside the same problem in the general form; what is refused.
# programs: json2dag
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cat > duo.spec <<-'S'
		device a  flops 1e9  bandwidth 1e9  memory 1e9
		device b  flops 4e9  bandwidth 1e9  watts 5  idle 1
		link a b  latency 1  bandwidth 100
		link b a  latency 2  bandwidth 50
	S
	# One random workflow in each form: SEED FOLDER.  Sizes are all different, so that the general form has the same tensors.
	cat > make.py <<-'P'
		import json, random, sys
		seed, at = int(sys.argv[1]), sys.argv[2] + "/"
		r = random.Random(seed)
		n = r.randint(2, 9)
		seconds = [r.randint(1, 50) for _ in range(n)]
		sizes = iter(r.sample(range(1, 10**6), 999))
		files = []                                   # (maker, size, readers)
		for u in range(n - 1):
		    for _ in range(r.randint(0, 2)):
		        files.append((u, next(sizes), sorted(r.sample(range(u + 1, n), r.randint(1, min(3, n - 1 - u))))))
		order = [(u, v) for u in range(n) for v in range(u + 1, n) if r.random() < .1]     # beside files
		edges = {(u, v) for u, _, readers in files for v in readers} | set(order)
		carry = [(u, v, s) for u, s, readers in files for v in readers]
		carry += [(u, v, 0) for u, v in edges if not any((u, v) == c[:2] for c in carry)]
		carry.sort(key=lambda c: (c[0], c[1], c[2]))
		name = lambda v: "task_%d" % v
		def put(file, x): open(at + file, "w").write(x if isinstance(x, str) else json.dumps(x))
		put("general.json", {"devices": [{"name": "a", "mem_bytes": 1e9}, {"name": "b", "watts": 5, "idle_watts": 1}],
		  "links": [{"src": "a", "dst": "b", "latency_s": 1, "bytes_per_s": 100}, {"src": "b", "dst": "a", "latency_s": 2, "bytes_per_s": 50}],
		  "nodes": [{"id": name(v), "cost_s": {"a": seconds[v], "b": seconds[v] / 4}} for v in range(n)],
		  "edges": [{"src": name(u), "dst": name(v), "bytes": s} for u, v, s in carry]})
		def parents(v): return [name(u) for u, w in sorted(edges) if w == v]
		def children(u): return [name(v) for w, v in sorted(edges) if w == u]
		made = lambda v: ["f%d" % i for i, f in enumerate(files) if f[0] == v]
		read = lambda v: ["f%d" % i for i, f in enumerate(files) if v in f[2]]
		for version in ("1.5", "1.6"):
		    put("wf%s.json" % version, {"name": "w", "schemaVersion": version, "workflow": {
		      "specification": {"tasks": [{"name": "t", "id": name(v), "parents": parents(v), "children": children(v), "inputFiles": read(v) + ["in"], "outputFiles": made(v)} for v in range(n)],
		        "files": [{"id": "f%d" % i, "sizeInBytes": f[1]} for i, f in enumerate(files)] + [{"id": "in", "sizeInBytes": 7}]},
		      "execution": {"makespanInSeconds": 1, "executedAt": "2026-01-01T00:00:00Z", "machines": [{"nodeName": "m"}],
		        "tasks": [{"id": name(v), "runtimeInSeconds": seconds[v], "machines": ["m"]} for v in r.sample(range(n), n)]}}})
		size = lambda f, old: {"size" if old else "sizeInBytes": f}
		for version, old in (("1.3", True), ("1.4", False)):
		    put("wf%s.json" % version, {"name": "w", "schemaVersion": version, "workflow": {"executedAt": "x", "makespan" if old else "makespanInSeconds": 9,
		      "tasks": [{"name": name(v), "id": "ID%07d" % v, "type": "compute", "runtime" if old else "runtimeInSeconds": seconds[v], "parents": parents(v),
		        "files": [{"link": "input", "name": f, **size(files[int(f[1:])][1], old)} for f in read(v)] +
		                 [{"link": "output", "name": f, **size(files[int(f[1:])][1], old)} for f in made(v)]} for v in range(n)]}})
		put("graph.dot", "digraph w {\n" + "".join("  %s [weight=%d]\n" % (name(v), seconds[v]) for v in range(n)) +
		    "".join('  %s -> %s [size="%d"];\n' % (name(u), name(v), s) for u, v, s in carry) + "}\n")
		put("plain.json", {"edges": [(u, v) for u, v in sorted(edges)], "seconds": seconds})
		pred = lambda v: [u + 1 for u, w in sorted(edges) if w == v]
		first, last = [v for v in range(n) if not pred(v)], [u for u in range(n) if not children(u)]
		stg = ["%d" % n, "0 0 0"]
		for v in range(n):
		    p = pred(v) or [0]
		    stg.append(" ".join("%5d" % x for x in [v + 1, seconds[v], len(p)] + p))
		stg.append(" ".join("%5d" % x for x in [n + 1, 0, len(last)] + [u + 1 for u in last]))
		put("graph.stg", "\n".join(stg) + "\n# Proc. time: as it is\n")
		put("tasks.json", {"tasks": [{"name": name(v), "cost": seconds[v] / 3} for v in range(n)],
		  "dependencies": [{"source": name(u), "target": name(v), "size": s / 1e6} for u, v, s in carry]})
	P
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# Python: what a problem is, whatever its tensors are called.
problem='
def problem(f):
    g, d, c = (of(f, k)[0] for k in ("graph", "devs", "cost"))
    name, node, port, ptr, out, dim = g["node_name"], array(g["in_node"]), array(g["in_port"]), array(g["in_ptr"]), array(g["out_ptr"]), array(g["dim"])
    edges = sorted((name[node[i]], name[v], int(dim[out[node[i]] + port[i]])) for v in range(len(name)) for i in range(ptr[v], ptr[v + 1]))
    tensors = sorted((name[node[i]], int(port[i])) for i in range(len(node)))
    costs = {n: array(c["set_s"])[v].tolist() for v, n in enumerate(name)}
    links = sorted((d["names"][l["src"]], d["names"][l["dst"]], l["latency_s"], l["bytes_per_s"]) for l in d["links"])
    return edges, costs, links, d["names"], array(d["mem_bytes"]).tolist(), len(set(tensors))
'

@test "a random workflow in WfFormat 1.3, 1.4, 1.5, 1.6 and in DOT is the same problem as in the general form" {
	for seed in {1..25}; do
		mkdir -p "s$seed"
		"$HSDAG_PYTHON" make.py $seed "s$seed"
		json2dag "s$seed/general.json" -o "s$seed/g.mp"
		for f in wf1.3.json wf1.4.json wf1.5.json wf1.6.json graph.dot; do
			json2dag --spec duo.spec "s$seed/$f" -o "s$seed/$f.mp"
			recdump --check "s$seed/$f.mp"
		done
	done
	py "$problem"'
for f in sys.argv[1:]:
    a, b = problem(os.path.dirname(f) + "/g.mp"), problem(f)
    assert a[:5] == b[:5], (f, a, b)
    assert a[5] <= b[5] <= len(a[0]) and (a[5] == b[5] or f.endswith("dot.mp")), (f, a[5], b[5])
assert len(sys.argv) == 126
' s{1..25}/{wf1.3,wf1.4,wf1.5,wf1.6}.json.mp s{1..25}/graph.dot.mp
}

@test "STG: tasks and dummies, times in units, the order of tasks alone" {
	for seed in {1..10}; do
		mkdir -p "s$seed"
		"$HSDAG_PYTHON" make.py $seed "s$seed"
		json2dag --spec duo.spec --unit 0.5 "s$seed/graph.stg" -o "s$seed/stg.mp"
	done
	py "$problem"'
for folder in sys.argv[1:]:
    p = json.load(open(folder + "/plain.json"))
    edges, costs, links, names, mem, tensors = problem(folder + "/stg.mp")
    n = len(p["seconds"])
    inner = [(int(u) - 1, int(v) - 1) for u, v, b in edges if 0 < int(u) <= n and 0 < int(v) <= n]
    assert sorted(inner) == sorted(map(tuple, p["edges"])) and all(b == 0 for u, v, b in edges)
    assert {int(k): v for k, v in costs.items()} == {0: [0, 0], n + 1: [0, 0], **{i + 1: [s / 2, s / 8] for i, s in enumerate(p["seconds"])}}
' s{1..10}
	# the prototype set: processors behind the number of tasks, no dummy that begins
	printf '2 8\n1 3 0\n2 4 1 1\n3 0 1 2\n# prototype\n' > p.stg
	json2dag -s duo.spec p.stg | placebase single:a | devsim | recdump -k run --tsv lat_s | tail -n 1 > lat
	[ "$(cat lat)" = 7 ]
}

@test "SAGA: cost / speed, size / speed of the edge either way, no edge no exchange; both in one file; sizes keep what is behind the point" {
	mkdir -p s3
	"$HSDAG_PYTHON" make.py 3 s3
	cat > net.json <<-'J'
		{"nodes": [{"name": "x", "speed": 2}, {"name": "y", "speed": 0.5}, {"name": "z", "speed": 1}],
		 "edges": [{"source": "x", "target": "x", "speed": null}, {"source": "x", "target": "y", "speed": 0.25}, {"source": "z", "target": "y", "speed": 0}]}
	J
	json2dag --network net.json s3/tasks.json -o f.mp
	py '
		json.dump({"task_graph": json.load(open("s3/tasks.json")), "network": json.load(open("net.json"))}, open("both.json", "w"))
	'
	json2dag both.json | cmp <(recdump f.mp | tail -n +2) <(json2dag both.json | recdump | tail -n +2)
	py "$problem"'
edges, costs, links, names, mem, tensors = problem("f.mp")
t = json.load(open("s3/tasks.json"))
assert names == ["x", "y", "z"] and [l[:3] for l in links] == [("x", "y", 0), ("y", "x", 0)]
for k in t["tasks"]:
    assert np.allclose(costs[k["name"]], [k["cost"] / 2, k["cost"] / .5, k["cost"]])
scale = links[0][3] / .25
want = sorted((d["source"], d["target"], d["size"]) for d in t["dependencies"])
assert len(want) == len(edges) and all(a[:2] == b[:2] and abs(a[2] - b[2] / scale) < 1e-8 for a, b in zip(want, edges)), (want, edges)
assert tensors == len(edges)
c = of("f.mp", "cost")[0]
assert c["overlap"] and not c["contention"]
'
	# by hand: 4 / 2 on x, 1 / 0.25 to y, 3 / 0.5 there
	cat > two.json <<-'J'
		{"tasks": [{"name": "p", "cost": 4}, {"name": "q", "cost": 3}], "dependencies": [{"source": "p", "target": "q", "size": 1}]}
	J
	echo '{"p": "x", "q": "y"}' > where.json
	json2dag -n net.json two.json | placebase expert:where.json | devsim > r.mp
	py 'assert abs(of("r.mp", "run")[0]["lat_s"] - 12) < 1e-9'
	json2dag --spec duo.spec two.json | placebase single:b | devsim > r.mp
	py 'assert of("r.mp", "run")[0]["lat_s"] == 7 / 4'
}

@test "files of one size are tensors of their own, a file for several is one" {
	cat > w.json <<-'J'
		{"name": "w", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
		  {"name": "p", "id": "p", "parents": [], "children": [], "outputFiles": ["f", "g"]},
		  {"name": "q", "id": "q", "parents": [], "children": [], "inputFiles": ["f"]},
		  {"name": "r", "id": "r", "parents": ["p"], "children": [], "inputFiles": ["f", "g"]}],
		  "files": [{"id": "f", "sizeInBytes": 10}, {"id": "g", "sizeInBytes": 10}]},
		 "execution": {"makespanInSeconds": 1, "executedAt": "x", "tasks": [{"id": "p", "runtimeInSeconds": 1}, {"id": "q", "runtimeInSeconds": 1}, {"id": "r", "runtimeInSeconds": 1}]}}}
	J
	echo '{"p": "a", "q": "b", "r": "b"}' > where.json
	json2dag -s duo.spec w.json | placebase expert:where.json | devsim > r.mp
	# q has no parent but what it reads; f goes once, g once
	py 'r = of("r.mp", "run")[0]; assert r["copies"] == 2 and r["copy_bytes"] == 20, r'
}

@test "DOT: names in quotes, chains, braces, defaults, comments, several attributes; SimGrid's sizes" {
	cat > g.dot <<-'D'
		// one
		# two
		strict digraph "a graph" {
		  rankdir=LR; node [shape=box, weight="2"]; edge [bytes=3]
		  "the \"first\"" [weight=1.5 label=<<b>x</b>>]; a:n -> { b; c:p:ne } -> d:w [color=red][weight=7.2]
		  subgraph cluster_x { edge [bytes=11]; node [time=4]; e -> "d"; "jo" + "in\
		ed" } /* three
		  */ -> f
		  d -> f
		}
	D
	json2dag -s duo.spec g.dot -o f.mp
	py "$problem"'
edges, costs, links, *_ = problem("f.mp")
assert {k: v[0] for k, v in costs.items()} == {"the \"first\"": 1.5, "a": 2, "b": 2, "c": 2, "d": 2, "e": 4, "joined": 4, "f": 2}, costs
assert edges == sorted([("a", "b", 8), ("a", "c", 8), ("b", "d", 8), ("c", "d", 8), ("e", "d", 11), ("e", "f", 3), ("d", "f", 3), ("joined", "f", 3)]), edges
assert of("f.mp", "graph")[0]["name"] == "a graph"
'
	# a strict graph has an edge once, with what is told last; a subgraph has a node once; a graph's own attributes weigh nothing
	echo 'strict digraph { graph [size="8,5"] node [weight=1]; a -> c [bytes=5]; a -> c [bytes=7]; edge [bytes=2]; a -> c; {b b} -> c; subgraph { graph [weight=x] {d b} b } -> a }' > strict.dot
	json2dag -s duo.spec strict.dot -o f.mp
	py "$problem"'
edges, costs, *_ = problem("f.mp")
assert edges == [("a", "c", 7), ("b", "a", 2), ("b", "c", 2), ("d", "a", 2)] and len(costs) == 4, edges
'
	sed 's/strict //' strict.dot > many.dot
	json2dag -s duo.spec many.dot -o f.mp
	py "$problem"'
edges, *_ = problem("f.mp")
assert edges == sorted([("a", "c", 5), ("a", "c", 7), ("a", "c", 2), ("b", "a", 2), ("b", "c", 2), ("d", "a", 2)]), edges
'
	# \\ is a pair, which hides no quote behind it; byte order marks
	printf '\357\273\277digraph { "C:\\\\" [weight=1] "a\\n\\"\\\\\\"" [weight=2] }' > pair.dot
	json2dag -s duo.spec pair.dot -o f.mp
	py 'assert of("f.mp", "graph")[0]["node_name"] == ["C:" + 2 * chr(92), "a" + chr(92) + "n" + chr(34) + 2 * chr(92) + chr(34)], of("f.mp", "graph")[0]["node_name"]'
	printf '\357\273\2772 8\n1 3 0\n2 4 1 1\n' > mark.stg
	json2dag -s duo.spec mark.stg | recdump -k graph --tsv 'node_name[]' > names
	[ "$(tr '\n' ' ' < names)" = '1 2 ' ]
	# what placeout writes of a name that ends in a backslash is read
	printf '%s' '{"devices": [{"name": "a"}], "links": [], "nodes": [{"id": "C:\\", "cost_s": 1}], "edges": []}' > back.json
	json2dag back.json | placebase single:a | placeout --format dot -o back.dot
	run json2dag -s duo.spec back.dot -o f.mp
	[[ "$output" != *'without an end'* ]]
	cat > s.dot <<-'D'
		digraph G { root [size="1e9"]; t [size="2e9", performer="0"]; root -> t [size="100"]; t -> end [size="-1.0"]; end [size="0"]; }
	D
	json2dag -s duo.spec s.dot -o f.mp
	py "$problem"'
edges, costs, *_ = problem("f.mp")
assert edges == [("root", "t", 100), ("t", "end", 0)] and costs == {"root": [1, .25], "t": [2, .5], "end": [0, 0]}, (edges, costs)
'
}

# refused STATUS MESSAGE FILE [OPTION]...: one line, and no stream
refused() {
	run -"$1" bash -c 'json2dag "$@" 2>&1 > out' - "${@:3}"
	[[ ${#lines[@]} -eq 1 && $output == "json2dag: error: "*"$2"* ]] || { echo "$output"; return 1; }
	[ ! -s out ] || ! recdump --check out 2> err
}

@test "options that a form has no use for, or lacks" {
	mkdir -p s1
	"$HSDAG_PYTHON" make.py 1 s1
	refused 2 'a file of form wfformat has no devices; --spec FILE or PRESET gives them' s1/wf1.5.json
	refused 2 'a file of form stg has no devices' s1/graph.stg
	refused 2 'a file of form dot has no devices' s1/graph.dot
	refused 2 'a task graph of SAGA has no devices; --network FILE has its network' s1/tasks.json
	refused 2 '--spec: a file of form general has its devices' s1/general.json --spec duo.spec
	refused 2 '--network goes with form saga, this is dot' s1/graph.dot --network s1/tasks.json --spec duo.spec
	refused 2 '--devices goes with --spec' s1/tasks.json -D a
	refused 2 "--form: there is no form 'stgg'; did you mean 'stg'?" s1/graph.stg --form stgg
	refused 2 '--unit: times of form wfformat are in known units' s1/wf1.4.json -s duo.spec --unit 2
	refused 2 "device 'c' is not in the specification" s1/graph.stg -s duo.spec -D c
	refused 3 "no object 'workflow'" s1/general.json --form wfformat -s duo.spec
	json2dag s1/graph.stg --form stg -s duo.spec -D a:0,a:1,b | recdump -k devs --tsv 'names[]' > names
	[ "$(tr '\n' ' ' < names)" = 'a:0 a:1 b ' ]
}

bad() { printf '%s\n' "$1" > bad; refused 3 "$2" bad -s duo.spec; }
badnet() { printf '%s\n' "$1" > bad; echo '{"tasks": [{"name": "p", "cost": 4}], "dependencies": []}' > t.json; refused 3 "$2" t.json --network bad; }

@test "what is wrong in a file is told with its place" {
	bad '2' "2 tasks" || bad '2' 'not a number of tasks that follow'
	bad $'1\n0 0 0\n1 x 0' 'line 3: not a whole number from 0'
	bad $'1\n0 0 0\n1 2 1\n2 0 0' 'line 3: 0 predecessors, not 1'
	bad $'1\n0 0 0\n1 2 1 7\n2 0 0' 'line 3: there is no predecessor 7'
	bad $'1\n0 0 0\n2 2 0\n2 0 0' 'line 3: task 2 where 1 is to come'
	bad $'1\n0 0 0\n1 2 0\n2 0 0\n3 0 0' 'line 5: one task more than line 1 tells'
	bad $'1\n0 0 0\n1 2 1 2\n2 0 1 1' 'the edges form a circle'
	bad $'3\n0 0 0\n1 2 0\n' '2 tasks, where line 1 tells of 3 and two dummies'
	bad 'digraph { a [weight=1]; a -> b }' "node 'b' has none of cost, time, weight, flops, size"
	bad 'graph { a -- b }' 'an undirected graph'
	bad 'digraph { a -- b }' "line 1: '--' in a directed graph"
	bad $'digraph {\na [weight=x]' "line 2: weight 'x' is no weight"
	bad 'digraph { a [weight=10GB] }' 'a number that goes on with a letter'
	bad 'digraph { a [weight=-1] }' "weight '-1' is no weight"
	bad 'digraph { a -> }' "'}' where a node is to come"
	bad 'digraph { a [weight=1' "the end where an attribute is to come"
	bad 'digraph { a [label="x' 'a text in quotes without an end'
	bad 'digraph { /* ' 'a comment without an end'
	bad 'digraph { node [weight=1] a -> a }' 'the edges form a circle'
	bad 'digraph { node [weight=1] a } digraph { }' 'one graph in a file'
	bad 'digraph { }' 'there is nothing to place'
	bad "digraph $(printf '{%.0s' {1..200})" 'nested deeper than 100'
	bad '{"workflow": {"jobs": []}, "schemaVersion": "1.2"}' 'WfFormat 1.2 has jobs'
	bad '{"workflow": {"tasks": [{"name": "a", "parents": ["b"], "runtimeInSeconds": 1}]}}' "tasks[0]: parents: 'b' is no task"
	bad '{"workflow": {"tasks": [{"name": "a", "parents": ["a"], "runtimeInSeconds": 1}]}}' "parents: 'a' is the task itself"
	bad '{"workflow": {"tasks": [{"name": "a"}]}}' "tasks[0]: no key 'runtimeInSeconds'"
	bad '{"workflow": {"tasks": [{"name": "a", "runtime": 1}, {"name": "a", "runtime": 1}]}}' 'tasks[1]: its name was there before'
	bad '{"workflow": {"tasks": [{"name": "a", "runtime": -1}]}}' "key 'runtime' is negative"
	bad '{"workflow": {"tasks": [{"name": "a", "runtime": 1, "files": [{"name": "f", "link": "both", "size": 1}]}]}}' "link is neither 'input' nor 'output'"
	bad '{"workflow": {"specification": {"tasks": [{"id": "a", "name": "a"}]}}}' "no key 'execution'"
	bad '{"workflow": {"specification": {"tasks": [{"id": "a", "name": "a"}]}, "execution": {"tasks": []}}}' 'execution: tasks[0] is not among its tasks'
	bad '{"workflow": {"specification": {"tasks": [{"id": "a", "inputFiles": ["f"]}]}, "execution": {"tasks": []}}}' "inputFiles: file 'f' is not among the files"
	bad '{"workflow": {"specification": {"tasks": []}, "execution": {"tasks": []}}}' 'there is nothing to place'
	bad '{"tasks": [{"name": "p"}], "dependencies": []}' "tasks[0]: no key 'cost'" || bad '{"tasks": [{"name": "p"}], "dependencies": []}' "cost"
	bad '{"tasks": [{"name": "p", "cost": 1}], "dependencies": [{"source": "p", "target": "q", "size": 1}]}' "dependencies[0]: target: there is no 'q'"
	bad '{"tasks": [{"name": "p", "cost": 1}, {"name": "p", "cost": 1}], "dependencies": []}' 'tasks[1]: its name was there before'
	badnet '{"nodes": [], "edges": []}' 'network: 0 nodes'
	badnet '{"nodes": [{"name": "a", "speed": 1}], "edges": [{"source": "a", "target": "b", "speed": 1}]}' "network: edges[0]: target: there is no 'b'"
	badnet '{"nodes": [{"name": "a", "speed": -1}], "edges": []}' "network: nodes[0]: key 'speed' is negative"
	badnet '[]' 'network: not an object'
	badnet '{' 'not JSON'
	bad '[1]' 'not an object'
	bad '{"nodes": []}' "neither key 'devices'"
	bad '{"nodes": []}' 'nor a digraph (DOT), nor a number of tasks (STG)'
	# the file that is at fault is the one that is named
	printf 'device x flops 1\n' > wrong.spec
	printf 'digraph { a [weight=1] }\n' > bad
	run -3 json2dag bad -s wrong.spec -o out.mp
	[ "$output" = "json2dag: error: wrong.spec, line 1: device 'x' needs flops and bandwidth" ]
	badnet '[]' "'bad': network: not an object"
	badnet '{' "'bad': not JSON"
	badnet '{"nodes": [], "edges": []}' "'bad': network: 0 nodes"
}

@test "files that are cut off, or have other bytes, end with one line" {
	mkdir -p s7
	"$HSDAG_PYTHON" make.py 7 s7
	py '
		import random, subprocess
		r = random.Random(5)
		for f in ("wf1.3.json", "wf1.5.json", "graph.dot", "graph.stg", "tasks.json"):
			whole = open("s7/" + f, "rb").read()
			for i in range(60):
				b = bytearray(whole[:r.randrange(len(whole))] if i % 2 else whole)
				if b and i % 2 == 0:
					for _ in range(r.randint(1, 3)):
						b[r.randrange(len(b))] = r.choice(b"{}[]:,\"0-9 \x00\xff\n#x")
				open("cut", "wb").write(b)
				p = subprocess.run(["json2dag", "cut", "--spec", "duo.spec"], capture_output=True)
				assert p.returncode in (0, 2, 3), (f, i, p)
				assert p.returncode == 0 or p.stderr.count(b"\n") == 1 and p.stderr.startswith(b"json2dag: error: "), p.stderr
	'
}

@test "operators: FLOPs and bytes by each device's roofline, nothing where there is neither; tensors of one source" {
	cat > roof.spec <<-'S'
		device a  flops 10  bandwidth 2  overhead 1
		device b  flops 20  efficiency .5  bandwidth 8  memory 100
		link * *  latency 0  bandwidth 1
	S
	cat > work.json <<-'J'
		{"nodes": [{"id": "x", "flops": 0, "bytes": 0, "mem_bytes": 9}, {"id": "y", "flops": 40, "bytes": 2}, {"id": "z", "flops": 5, "bytes": 16, "allowed": ["a"]},
		           {"id": "told", "cost_s": 3}, {"id": "each", "cost_s": {"b": 7}}],
		 "edges": [{"src": "x", "dst": "y", "bytes": 6}, {"src": "x", "dst": "z", "bytes": 6}, {"src": "x", "dst": "told", "bytes": 6, "tensor": 1}]}
	J
	json2dag --spec roof.spec work.json -o work.mp
	py "$problem"'
edges, costs, links, names, mem, tensors = problem("work.mp")
assert costs == {"x": [0, 0], "y": [5, 4], "z": [9, -1], "told": [3, 3], "each": [-1, 7]}, costs
assert edges == [("x", "told", 6), ("x", "y", 6), ("x", "z", 6)] and tensors == 2 and mem == [0, 100], (edges, tensors, mem)
'
	run -2 json2dag work.json -o x.mp
	[[ $output == *"a file of form operators has no devices; --spec"* ]]
	run -2 json2dag --spec roof.spec <(sed 's/^{/{"devices": [{"name": "a"}], /' work.json) -o x.mp
	[[ $output == *"--spec: a file of form general has its devices"* ]]
	while IFS='|' read -r edit said; do
		run -3 json2dag --spec roof.spec <(sed "$edit" work.json) -o x.mp
		[[ $output == *"$said"* && $(wc -l <<< "$output") = 1 ]] || { echo "$output"; return 1; }
	done <<-'T'
		s/"flops": 40/"flops": -1/|nodes[1]: key 'flops' is negative
		s/"bytes": 2}/"byte": 2}/|nodes[1]: unknown key 'byte'; did you mean 'bytes'?
		s/, "bytes": 2}/}/|nodes[1]: no key 'bytes'
		s/"tensor": 1/"tensor": -1/|edges[2]: key 'tensor'
		s/^{/{"links": [], /|key 'links': the specification has the devices
		s/"allowed": ..a"/"allowed": ["c"/|nodes[2]: allowed: there is no device 'c'
	T
}
