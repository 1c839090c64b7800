#!/usr/bin/env bats
# The problems that learned methods are tested on.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }
setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

sets() { python3 "$ROOT/tests/support/placement_sets.py" "$@"; }

@test "a set has two halves, sizes of all kinds, and the same bytes each time" {
	sets --list > list
	[ "$(wc -l < list)" -eq 120 ]
	[ "$(cut -d ' ' -f 1,2 list | sort -u | wc -l)" -eq 120 ]
	[ "$(grep -c '^giph .*\.dev ' list)" -eq 30 ]
	[ "$(grep -c '^doppler .*\.test ' list)" -eq 30 ]
	sets giph 40 7 > a.json
	sets giph 40 7 | cmp - a.json
	run -1 cmp a.json <(sets giph 40 8)
}

@test "its problems have a schedule: every task has a device, all devices exchange data" {
	for args in "giph 20 1" "giph 300 2" "doppler chainmm 3" "doppler ffnn 4" "doppler llama-block 5" "doppler llama-layer 6"; do
		# shellcheck disable=SC2086
		sets $args > p.json
		json2dag p.json > p.mp
		placebase random -n 3 p.mp | devsim | recdump -k run --tsv ok > ok
		[ "$(grep -c true ok)" -eq 3 ]
		python3 - $args <<-'PY'
			import json, sys
			p, k = json.load(open("p.json")), 20
			n = len(p["nodes"])
			if sys.argv[1] == "giph":
			    assert n == int(sys.argv[2]) and len(p["devices"]) == 20, n
			    assert min(len(v["cost_s"]) for v in p["nodes"]) >= 2
			    assert min(len(v["cost_s"]) for v in p["nodes"]) < 20
			else:
			    k = len(p["devices"])
			    assert 100 <= n <= 900 and k in (4, 8), (n, k)
			    assert p["options"]["contention"]
			assert len(p["links"]) == k * (k - 1)
		PY
	done
	run -1 sets doppler nothing 1
	[[ "$output" == *"placement_sets.py - "* ]]
}
