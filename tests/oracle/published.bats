#!/usr/bin/env bats
# List heuristics on the examples of the papers that they come from: the makespans that are printed
# there, and where tasks go.  instances/ has the graphs; their links carry any number of copies at once.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	for i in topcuoglu2002 arabnejad2014; do
		json2dag "$ROOT/tests/instances/$i.json" -o $i.mp
	done
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# takes STREAM METHOD SECONDS PLACES - the method's own schedule, and the processor of each task in order;
# a dot is any
takes() {
	run -0 placebase -v "$2" "$1.mp" -o out.mp
	[[ $output == *"its own schedule takes $3 s"* ]] || { echo "$2: $output"; return 1; }
	py '
		import re
		order, p = of("out.mp", "graph")[0]["node_name"], of("out.mp", "place")[0]
		on = dict(zip(order, 1 + array(p["device"])))
		got = "".join(str(on[f"T{i}"]) for i in range(1, 11))
		assert re.fullmatch(sys.argv[1], got), got
	' "$4"
}

@test "Topcuoglu, Hariri and Wu 2002, figures 2 and 3: HEFT 80, CPOP 86" {
	takes topcuoglu2002 heft 80 3132323122
	takes topcuoglu2002 cpop 86 22......22      # the critical path: T1, T2, T9, T10
}

@test "Arabnejad and Barbosa 2014, figures 1 and 3: PEFT 122, lookahead 127, HEFT 133" {
	takes arabnejad2014 peft 122 1.........
	takes arabnejad2014 lookahead 127 ..........
	takes arabnejad2014 heft 133 2.........
}

@test "the simulator repeats the schedule of figure 3(a) of 2002" {
	placebase heft topcuoglu2002.mp | devsim --schedule -o out.mp
	py '
		name, s = of("out.mp", "graph")[0]["node_name"], of("out.mp", "run")[0]["schedule"]
		at = {name[i]: (a, b) for i, a, b in zip(array(s["set"]), array(s["start_s"]), array(s["end_s"]))}
		assert [at[f"T{i}"] for i in range(1, 11)] == [
			(0, 9), (27, 40), (9, 28), (18, 26), (28, 38), (26, 42), (38, 49), (57, 62), (56, 68), (73, 80)], at
	'
}

@test "HEFT and CPOP, beside the same sections written again, on graphs of the literature and with ties" {
	"$HSDAG_PYTHON" "$ROOT/tests/oracle/refheft.py" 40 2 5
}
