#!/usr/bin/env bats
# devsim beside a second simulator, which was written from the description of the forms alone.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "random problems: makespans, schedules, copies, links, memory, energy; dnn-partitioning's models" {
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/against_refsim.py" 0 100
	[[ $output =~ ([0-9]+)\ placements && ${BASH_REMATCH[1]} -gt 1500 ]]
}

@test "the second simulator by itself: a published schedule" {
	cat > where.json <<< '{"T1": "P3", "T2": "P1", "T3": "P3", "T4": "P2", "T5": "P3", "T6": "P2", "T7": "P3",
		"T8": "P1", "T9": "P2", "T10": "P2"}'
	"$HSDAG_PYTHON" "$ROOT/tests/oracle/refsim.py" "$ROOT/tests/instances/topcuoglu2002.json" where.json > run.json
	py 'r = json.load(open("run.json")); assert r["makespan_s"] == 80 and r["busy_s"] == [18, 43, 49], r'
}
