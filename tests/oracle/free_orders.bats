#!/usr/bin/env bats
# seconds: 45
# Orders that are searched with the placement, beside all orders.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "exact --order free is the best of all placements and orders; no bound of every order is above it" {
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/free_orders.py" 0 6 6
	[[ $output == "0 faults" ]] || { echo "$output"; return 1; }
}

@test "exact proves nothing that is wrong by less than a second where costs are whole seconds and copies are not" {
	# no schedule is below its longest path, 13 s, which is reached
	py '
		import json
		costs = "1212113311123331"
		edges = """0-1:6 1-2:9 2-3:4 0-4:2 1-4:5 1-5:2 4-5:4 1-6:5 4-7:7 4-8:1 1-9:5 2-9:6 0-10:8 2-10:2 3-10:5 9-10:9
			1-11:1 8-11:2 9-11:4 0-12:3 5-12:4 9-12:5 10-12:5 11-12:2 0-13:1 7-13:8 8-13:1 2-14:5 5-14:1 6-14:4 13-14:3 7-15:8 13-15:1"""
		edges = [[int(x) for x in e.replace("-", ":").split(":")] for e in edges.split()]
		longest = [0] * len(costs)
		for v, c in enumerate(costs):
		    longest[v] = int(c) + max([longest[e[0]] for e in edges if e[1] == v], default=0)
		assert max(longest) == 13
		json.dump({"devices": [{"name": d} for d in "abc"], "links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1e5}],
		           "nodes": [{"id": v, "cost_s": int(c)} for v, c in enumerate(costs)],
		           "edges": [dict(zip(("src", "dst", "bytes"), e)) for e in edges]}, open("small.json", "w"))
	'
	json2dag small.json > g.mp
	for evals in 2000 4000 8000; do
		placebase exact --order free --no-contention --evals $evals g.mp -o p.mp
		py 'p = of("p.mp", "place")[0]; assert abs(p["predicted_s"] - 13) < 1e-9 and abs(p["bound_s"] - 13) < 1e-9, p'
	done
}

@test "task graphs of ten tasks on equal processors are proved, whichever their kind" {
	for kind in fork-join in-tree out-tree series-parallel pipeline sparse dense; do
		"$HSDAG_PYTHON" "$ROOT/tests/support/task_graphs.py" "$kind" 10 4 1 1 | json2dag > g.mp
		run -0 placebase exact --order free --no-contention --evals 400000 -v g.mp -o p.mp
		[[ $output == *", proved" ]] || { echo "$kind: $output"; return 1; }
		devsim --no-contention p.mp > r.mp
		py 'p = of("p.mp", "place")[0]; assert p["predicted_s"] == p["bound_s"] == of("r.mp", "run")[0]["lat_s"], p'
	done
}

@test "with copies that wait for each other exact's bound is no less than the best without, nor above what is found" {
	for kind in dense pipeline sparse; do
		"$HSDAG_PYTHON" "$ROOT/tests/support/task_graphs.py" "$kind" 16 3 2 1 | json2dag > g.mp
		placebase exact --order free --no-contention --evals 400000 g.mp -o free.mp
		for order in rank free; do
			placebase exact --order $order --evals 400000 g.mp -o wait.mp
			py '
				free, wait = of("free.mp", "place")[0], of("wait.mp", "place")[0]
				assert free["predicted_s"] == free["bound_s"], free
				assert free["bound_s"] * (1 - 1e-8) <= wait["bound_s"] <= wait["predicted_s"], (free, wait)
			'
		done
	done
}

@test "the best over all orders is not above what a rule's order is proved to reach" {
	for graph in "out-tree 7 100" "out-tree 3 1500"; do
		read -r kind seed evals <<< "$graph"
		"$HSDAG_PYTHON" "$ROOT/tests/support/task_graphs.py" $kind 14 3 5 $seed | json2dag > g.mp
		placebase exact --order free --evals $evals g.mp -o free.mp
		placebase exact --order rank --evals $evals g.mp -o rank.mp
		py 'f, r = of("free.mp", "place")[0], of("rank.mp", "place")[0]; assert f["predicted_s"] <= r["predicted_s"], (f, r)'
	done
}

@test "a search that ends among the orders of a placement proves nothing that a longer one refutes" {
	for graph in "out-tree 1" "sparse 6" "out-tree 7" "out-tree 8"; do
		read -r kind seed <<< "$graph"
		"$HSDAG_PYTHON" "$ROOT/tests/support/task_graphs.py" $kind 9 3 5 $seed | json2dag > g.mp
		placebase exact --order free --evals 100000 g.mp -o long.mp
		for evals in 50 100 300; do
			placebase exact --order free --evals $evals g.mp -o short.mp
			py 's, l = of("short.mp", "place")[0], of("long.mp", "place")[0]; assert s["bound_s"] <= l["predicted_s"] * (1 + 1e-9), (s, l)'
		done
	done
}

@test "dear copies: exact is no worse than other methods, and its bound is not above them" {
	for seed in 121 7; do
		for kind in out-tree in-tree sparse; do
			"$HSDAG_PYTHON" "$ROOT/tests/support/task_graphs.py" $kind 15 4 10 $seed | json2dag > g.mp
			placebase exact --order free --no-contention --evals 400000 g.mp -o exact.mp
			placebase series,heft,cluster,anneal --evals 2000 --no-hints --order free --no-contention g.mp -o other.mp 2> /dev/null
			py '
				exact, other = of("exact.mp", "place")[0], min(p["predicted_s"] for p in of("other.mp", "place"))
				assert exact["predicted_s"] <= other * (1 + 1e-9) and exact["bound_s"] <= other * (1 + 1e-9), (exact, other)
			'
		done
	done
}
