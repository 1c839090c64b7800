#!/usr/bin/env bats
# daggroup: what each method emits, and that placebase and gpnembed keep to it.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/googlenet.xml" > g.mp
	dagfeat g.mp | devsim --probe --spec paper > p.mp
	cat > t.json <<-'J'
		{"devices": [{"name": "a"}, {"name": "b"}],
		 "links": [{"src": "*", "dst": "*", "latency_s": 1e-6, "bytes_per_s": 1e9}],
		 "nodes": [{"id": 0, "cost_s": 1, "colocate": "x", "out_bytes": 9}, {"id": 1, "cost_s": {"a": 2}, "out_bytes": 9},
		   {"id": 2, "cost_s": 1, "colocate": "x", "out_bytes": 9}, {"id": 3, "cost_s": {"b": 2}, "out_bytes": 9},
		   {"id": 4, "cost_s": 1, "out_bytes": 9}, {"id": 5, "cost_s": 1, "out_bytes": 9}],
		 "edges": [{"src": 0, "dst": 1}, {"src": 1, "dst": 2}, {"src": 2, "dst": 3}, {"src": 3, "dst": 4}, {"src": 1, "dst": 5}]}
	J
	json2dag t.json > t.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# Python: the groups of a file, with what docs/reference/stream.md says of them; edges between sets.
groups='
def groups(f):
    (m,) = of(f, "group")
    x = array(m["group"])
    first = {g: i for i, g in reversed(list(enumerate(x)))}
    assert sorted(first) == list(range(m["n_groups"])) and [first[g] for g in range(m["n_groups"])] == sorted(first.values())
    assert m["graph"] == of(f, "graph")[0]["digest"]
    return x
def edges(f):
    g = of(f, "graph")[0]
    s, ptr, src = array(g["set"]), array(g["in_ptr"]), array(g["in_node"])
    return {(int(s[u]), int(s[v])) for v in range(len(s)) for u in src[ptr[v]:ptr[v + 1]] if u < len(s) and s[u] != s[v] and 2**32 - 1 not in (s[u], s[v])}
def circles(f):
    x = groups(f)
    e = {(int(x[u]), int(x[v])) for u, v in edges(f) if x[u] != x[v]}
    nodes = set(int(g) for g in x)
    while True:
        free = nodes - {v for u, v in e}
        if not free: return len(nodes)
        nodes -= free
        e = {(u, v) for u, v in e if u in nodes}
'

@test "every method: so many groups, numbered, the same again, without circles when asked" {
	daggroup --list | tail -n +2 | cut -f 1 > methods
	[ "$(wc -l < methods)" -ge 7 ]
	while read -r m; do
		daggroup "$m" --groups 12 p.mp > a.mp
		daggroup "$m" --groups 12 p.mp > b.mp
		cmp a.mp b.mp || { echo "$m answers differently"; return 1; }
		daggroup "$m" --groups 12 --acyclic p.mp > c.mp
		daggroup "$m" --max-size 9 --acyclic p.mp > d.mp
		py "$groups"'
m = sys.argv[1]
n = len(set(groups("a.mp")))
assert n == (of("a.mp", "graph")[0]["n_sets"] if m == "none" else 12), (m, n)
assert circles("c.mp") == 0 and circles("d.mp") == 0, m
assert np.bincount(groups("d.mp")).max() <= 9, m
assert of("a.mp", "group")[0]["method"] == m
assert [k for k, _ in read("a.mp")] == ["hdr", "graph", "feat", "devs", "cost", "group", "end"]
' "$m"
	done < methods
}

@test "groups beyond reason: one, more than sets, caps of one, no costs in the stream" {
	for m in metis metis-recursive scotch random chunks heavy-edge; do
		daggroup $m --groups 1 t.mp > a.mp
		daggroup $m --groups 1000000 t.mp > b.mp
		daggroup $m --max-size 1 p.mp > c.mp
		daggroup $m g.mp > d.mp
		py "$groups"'
n = of("c.mp", "graph")[0]["n_sets"]
assert len(set(groups("b.mp"))) == 5 and len(set(groups("c.mp"))) == n, sys.argv[1]
assert len(set(groups("d.mp"))) == int(np.ceil(np.sqrt(n))), sys.argv[1]
' $m
	done
	run -2 daggroup nonsense p.mp
	run -2 daggroup
	run -2 daggroup metis --groups -1 p.mp
	run -3 daggroup metis /dev/null
	run -3 bash -o pipefail -c 'head -c 5000 p.mp | daggroup metis'
}

@test "sets that share a device stay in one group, which some device can run" {
	for m in metis scotch random chunks heavy-edge none; do
		daggroup $m --groups 2 t.mp > a.mp
		daggroup $m --groups 3 --acyclic t.mp > b.mp
		py "$groups"'
for f in "a.mp", "b.mp":
    x = groups(f)
    assert x[0] == x[2], (sys.argv[1], x)
    assert x[1] != x[3], (sys.argv[1], x)
x = groups("b.mp")
assert x[0] == x[1], "0 and 2 are one group, and 1 is between them"
' $m
	done
}

@test "placebase moves whole groups, gpnembed does not parse" {
	daggroup metis --groups 12 p.mp > a.mp
	for m in random heft m-etf m-sct climb metis scotch mincut anneal; do
		placebase $m --evals 300 a.mp | devsim > r.mp
		py "$groups"'
x = groups("r.mp")
for p in of("r.mp", "place"):
    d = array(p["device"])
    assert all(len(set(d[x == g])) == 1 for g in set(x)), sys.argv[1]
assert all(m["ok"] for m in of("r.mp", "run")), sys.argv[1]
' $m
	done
	gpnembed --steps 2 a.mp > e.mp
	py "$groups"'
for m in of("e.mp", "part"):
    assert m["given"] and (array(m["group"]) == groups("e.mp")).all()
'
}

@test "in a loop every sample keeps to the groups" {
	daggroup chunks --groups 10 p.mp > a.mp
	"$ROOT/pipelines/train" --embed --no-costs a.mp --keep --steps 4 --episodes 3 > r.mp
	"$ROOT/pipelines/train" a.mp --keep --episodes 12 > moves.mp
	for of in r moves; do py "$groups"'
x, n = groups(sys.argv[1]), 0
for p in of(sys.argv[1], "place"):
    d = array(p["device"])
    n += p["source"] in ("policy", "moves")
    assert all(len(set(d[x == g])) == 1 for g in set(x))
assert n >= 10, n
' $of.mp; done
}

@test "groups that no device can run as a whole are taken apart; a group record of another graph is refused" {
	daggroup none t.mp > a.mp
	py '
		r = read("a.mp")
		first(r, "group").update(n_groups=1, group=tensor(np.zeros(6, "<u4")))
		write("one.mp", r)
		first(r, "group")["graph"] = 7
		write("other.mp", r)
	'
	placebase heft one.mp | devsim > r.mp
	py 'assert of("r.mp", "run")[0]["ok"], of("r.mp", "run")'
	run -3 placebase heft other.mp
	[[ "$output" == *"another graph"* ]]
	run -3 gpnembed other.mp
}

@test "groups that no device has the memory for are cut; what must stay together is told" {
	cat > m.json <<-'J'
		{"devices": [{"name": "a", "mem_bytes": 100}, {"name": "b", "mem_bytes": 80}],
		 "links": [{"src": "*", "dst": "*", "latency_s": 1e-6, "bytes_per_s": 1e9}],
		 "nodes": [{"id": 0, "cost_s": 1, "mem_bytes": 40, "colocate": "x"}, {"id": 1, "cost_s": 1, "mem_bytes": 40},
		   {"id": 2, "cost_s": 1, "mem_bytes": 30, "colocate": "x"}, {"id": 3, "cost_s": 1, "mem_bytes": 50}],
		 "edges": [{"src": 0, "dst": 1, "bytes": 0}, {"src": 1, "dst": 2, "bytes": 0}, {"src": 2, "dst": 3, "bytes": 0}]}
	J
	json2dag m.json > m.mp
	for m in metis scotch chunks heavy-edge random; do
		run -0 --separate-stderr daggroup $m --groups 1 m.mp -o a.mp
		[ -z "$stderr" ]
		placebase heft a.mp | devsim -o r.mp
		py "$groups"'
x = groups("a.mp")
assert x[0] == x[2] != x[1] and x[3] != x[0], (sys.argv[1], x)
assert of("r.mp", "run")[0]["ok"], of("r.mp", "run")
' $m
	done
	# 0 and 2 stay together, 1 is between them: 110 bytes
	run -0 --separate-stderr daggroup chunks --groups 1 --acyclic m.mp -o a.mp
	[[ "$stderr" == "daggroup: 1 groups hold more than any device that can run them has, and must stay together" ]]
}

@test "--of: the groups of a part or group record of another stream, cut where they have to be" {
	daggroup --groups 9 metis p.mp > metis.mp
	daggroup --of metis.mp p.mp > same.mp
	py "$groups
assert (groups('metis.mp') == groups('same.mp')).all() and of('same.mp', 'group')[0]['method'] == 'same'"
	# what a grouper drew is another network's grouping
	gpnembed --net hierarchical --groups 12 --no-costs p.mp > drawn.mp
	daggroup --of drawn.mp p.mp | gpnembed --net gpn --hidden 16 --no-costs > out.mp
	py 'a, b = of("drawn.mp", "part")[0], of("out.mp", "part")[0]; assert a["n_groups"] > 1 and b["given"] and (array(a["group"]) == array(b["group"])).all()'
	daggroup none t.mp > none.mp
	daggroup --of none.mp t.mp | recdump -k group --tsv n_groups > n
	[ "$(cat n)" = 5 ]
	run -3 daggroup --of none.mp p.mp -o bad.mp
	[[ $output == *"--of 'none.mp': groups of another graph" ]]
	run -3 daggroup --of p.mp p.mp -o bad.mp
	[[ $output == *"--of 'p.mp': no part and no group record" ]]
	run -2 daggroup -o bad.mp
	[[ $output == *"no METHOD"* ]]
	run -2 daggroup --of metis.mp metis p.mp -o bad.mp
	[ ! -e bad.mp ]
}

@test "--sets: groups become the sets, which features, costs, placements and segments are of" {
	daggroup heavy-edge -g 12 g.mp > a.mp
	daggroup heavy-edge -g 12 --acyclic g.mp > c.mp
	daggroup heavy-edge -g 12 --sets g.mp > s.mp
	py "$groups"'
assert [k for k, _ in read("s.mp")] == ["hdr", "graph", "end"]
old, new = of("c.mp", "graph")[0], of("s.mp", "graph")[0]
assert new["n_sets"] == 12 and new["digest"] != old["digest"]
x, y, z = groups("c.mp"), array(old["set"]), array(new["set"])
placed = y < old["n_sets"]
assert (placed == (z < 12)).all()
assert len({(int(a), int(b)) for a, b in zip(x[y[placed]], z[placed])}) == 12, "one set a group"
assert all(u < v for u, v in edges("s.mp")), "in a topological order"
'
	irfill "$ROOT/tests/models/googlenet.xml" -o w.bin
	dagfeat s.mp | devrun probe --weights w.bin --profile --max-seconds 0.1 -D cpu:0 |
		placebase random -n 2 | devrun --weights w.bin --fuse sets -n 1 > r.mp
	py 'assert all(m["ok"] for m in of("r.mp", "run")) and len(array(of("r.mp", "place")[0]["device"])) == 12'
	run -3 daggroup heavy-edge --sets p.mp -o bad.mp
	[[ $output == *"a record 'feat' is about the sets as they were; --sets goes right behind ir2dag" ]]
	[ ! -e bad.mp ]
}
