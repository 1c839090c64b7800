#!/usr/bin/env bats
# The problems that learned methods are tested on, and the table of what methods make of them.
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

learned() { python3 "$ROOT/tests/bench/learned.py" --cache cache "$@"; }

# problems - a folder of four small ones
problems() {
	mkdir -p "$1"
	for seed in 1 2 3 4; do
		sets doppler ffnn $seed | json2dag -o "$1/$seed.$([ $((seed % 2)) -eq 0 ] && echo dev || echo test).mp"
	done
}

@test "ratios are devsim's, geometric means over HEFT's; intervals are Student's, seeds averaged first" {
	problems set
	run -0 --separate-stderr learned -v -d set -m heft climb@50 --base heft --seeds 1,2 --rows rows.tsv
	[ "${#stderr_lines[@]}" -eq 16 ]
	grep -q '^| heft | 1.000 |$' <<< "$output"
	grep -q '^set: 4 problems$' <<< "$output"
	for p in set/*.mp; do
		placebase heft "$p" | devsim | recdump -k run --tsv lat_s
		for seed in 1 2; do placebase climb --evals 50 --seed $seed "$p" | devsim | recdump -k run --tsv lat_s; done
	done > lat
	# 3.182446 is the 97.5 % quantile of Student's t with 3 degrees of freedom
	awk -F '\t' 'FNR == NR { v = log($1); n++
			if (n % 3 == 1) { heft = v; next }
			d[int((n - 1) / 3)] += (v - heft) / 2; next }
		$2 == "climb@50" { for (i in d) mean += d[i] / 4
			for (i in d) var += (d[i] - mean) ^ 2 / 3
			half = 3.182446305 * sqrt(var / 4)
			bad = ($4 / exp(mean) - 1) ^ 2 > 1e-18 || ($11 - 100 * (exp(mean) - 1)) ^ 2 > 1e-12
			bad += ($12 - 100 * (exp(mean - half) - 1)) ^ 2 > 1e-10 || ($13 - 100 * (exp(mean + half) - 1)) ^ 2 > 1e-10
			seen++ }
		END { exit !(seen == 1 && !bad && mean < 0) }' lat rows.tsv
}

@test "what is in the cache is not run again; another key, seed, SPEC or problem is" {
	problems set
	runs() { learned -v -d set "$@" 2>&1 > /dev/null | wc -l; }
	[ "$(runs -m climb@20)" -eq 8 ]
	[ "$(runs -m climb@20 --base heft)" -eq 0 ]
	[ "$(runs -m climb@20 --key other)" -eq 8 ]
	[ "$(runs -m climb@21)" -eq 4 ]
	[ "$(runs -m climb@20 --seeds 2)" -eq 8 ]
	[ "$(runs -m climb@22 --half dev)" -eq 2 ]
	[ "$(runs -m climb@22 --every 2)" -eq 2 ]      # 1 and 3, which are of the other half
	[ "$(runs -m 'climb@20 --order fifo')" -eq 4 ]
	[ "$(runs -m climb:0.01s --seeds 1,2)" -eq 4 ]  # the clock decides: one seed
	sets giph 21 9 | json2dag -o set/1.test.mp
	[ "$(runs -m climb@20)" -eq 2 ]
}

@test "a method that cannot place is told, and left out of the means; a wrong SPEC stops all" {
	mkdir small
	echo '{"devices": [{"name": "a", "mem_bytes": 5}], "nodes": [{"id": 1, "cost_s": 1, "mem_bytes": 9}]}' |
		json2dag -o small/none.mp
	sets giph 20 1 | json2dag -o small/one.mp
	run -0 --separate-stderr learned -d small -m heft
	grep -q '^| heft | 1.000 (not all) |$' <<< "$output"
	grep -q '^small: 1 problems$' <<< "$output"
	run -1 learned -d small -m nothing@3
	[[ "$output" == *"unknown method 'nothing'"* ]]
	mkdir empty
	run -1 learned -d empty -m heft
	[[ "$output" == *"no problems in 'empty'"* ]]
}

@test "make learned: sets, and the table of the half to judge by" {
	make_learned() {
		env -u MAKEFLAGS -u MAKELEVEL timeout 120 make -s -C "$ROOT" learned B="$B" LEARNED_PROGS= LEARNED_DIR="$PWD/l" \
			COUNT=4 SPECS="heft climb@20 'climb@20 --order fifo'" BASE=heft SEEDS=1 SETS="$1"
	}
	run -0 make_learned "giph doppler"
	[ "$(grep -c JOB <<< "$output")" -eq 8 ]
	grep -q '^| / HEFT | giph | doppler |$' l/learned.md
	grep -q '^giph: 2 problems$' l/learned.md
	[ "$(grep -c '^| climb@20 --order fifo |' l/learned.md)" -eq 3 ]
	[ "$(wc -l < l/learned.tsv)" -eq 7 ]
	run -0 make_learned doppler
	[[ "$output" != *JOB* ]]
}
