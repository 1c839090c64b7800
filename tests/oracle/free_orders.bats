#!/usr/bin/env bats
# seconds: 30
# Orders that are searched with the placement, beside all orders.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "exact --order free is the best of all placements and orders; no bound of every order is above it" {
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/free_orders.py" 0 10 6
	[[ $output == "0 faults" ]] || { echo "$output"; return 1; }
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

@test "dear copies: exact is no worse than other methods, and its bound is not above them" {
	for seed in 121 7 8; do
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
