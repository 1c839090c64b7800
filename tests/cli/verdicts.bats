#!/usr/bin/env bats
# What reports of races claim, on machines that are played: tests/bench/verdicts.py, of which `make verdicts` runs thousands.
# seconds: 8
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

@test "no verdict contradicts its table, and what is said to be sure is true" {
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/bench/verdicts.py" --trials 60
	echo "$output"
	[[ $output == *"60 races, 0 contradict their tables"*"undecided: "* ]]
}

@test "a race of a few bursts: the best single device as measured, or nothing is told" {
	cd "$BATS_TEST_TMPDIR"
	ir2dag "$ROOT/tests/models/googlenet.xml" | devsim --probe --spec paper | placebase random -n 6 > g.mp
	for a in "26 0.2" "1 0.01"; do
		read -r seed race <<< "$a"
		devsim --machine "wild,seed=$seed,noise=0.5" --paired --race "$race" g.mp > f.mp
		run -0 placeout --format report f.mp
		echo "$output"
		[[ $output == *"verdict: cannot tell: "* ]]
		py '
			runs, best = of("f.mp", "run"), of("f.mp", "best")[-1]
			single = {m["sample"]: m["lat_s"] for m in runs if m["source"] == "single"}
			assert len(single) == 2 and best["source"] == "single" and best["sample"] == min(single, key=single.get), (single, best)
			assert best["reference"] == first(read("f.mp"), "devs")["names"][best["sample"]]
			assert all(m["lo_s"] == 0 for m in runs if m["ok"] and m["bursts"] < 2), runs
		'
	done
}

@test "races that were judged wrongly once: a gain that none is, another device that was faster" {
	# A GPU that is slow for all of a race, while its bursts agree; three devices; two devices in few bursts.
	for trial in 500085 500174 500920 501344; do
		run -0 "$HSDAG_PYTHON" "$ROOT/tests/bench/verdicts.py" --trials 1 --first $trial -v
		echo "$output"
		[[ $output == *"1 races, 0 contradict their tables"*"gain: 0, wrong 0"* ]]
	done
}
