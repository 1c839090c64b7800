#!/usr/bin/env bats
# Replicas of a model for requests in flight: placements of several rows, from placebase to placeout.
# programs: placebase devsim devrun placeout
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	models mobilenet_v3_large
	two=cpu:0,cpu:1
	[ "$(nproc)" -ge 2 ] || two=cpu:0,cpu:0/precision=bf16
	printf '%s\n' 'device d*3 flops 1e11 bandwidth 2e10 overhead 1e-6 memory 1e9' 'group m*1 d' \
		'within m latency 1e-6 bandwidth 1e10' > three.spec
	devsim --probe -s three.spec mobilenet_v3_large.mp > sim.mp
	placebase replicas sim.mp > three.mp
	devrun probe --profile --max-seconds 0.05 -D $two mobilenet_v3_large.mp > real.mp
	placebase replicas real.mp > two.mp || placebase single real.mp > two.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "one row for each device that can hold the model, and simulated side by side they take their share of the time" {
	py '
		(p,) = of("three.mp", "place")
		assert not array(p["device"]).any() and p["source"] == "replicas"
		rows = array(p["replicas"])
		assert rows.shape[0] == 2 and (rows[0] == 1).all() and (rows[1] == 2).all()
	'
	placebase single sim.mp | devsim --requests 6 > one.mp
	devsim --requests 6 three.mp > all.mp
	devsim --requests 5 three.mp > five.mp
	py '
		one, (all,), (five,) = runs("one.mp"), runs("all.mp"), runs("five.mp")
		s = one[0]["lat_s"]
		# No link is used, and the devices are equal: three at once.  Five in flight: two, two and one, each device has work.
		assert abs(all["lat_s"] / (s / 3) - 1) < 1e-9, (all["lat_s"], s)
		assert all["copies"] == 0 and abs(five["lat_s"] / (s / 3) - 1) < 0.02, five["lat_s"]
		assert abs(array(all["busy_s"]) / (s / 3) - 1).max() < 1e-9
		# Two of the six are on each device: weights once, tensors twice.
		alone = array(one[0]["mem_bytes"])[0]
		here = array(all["mem_bytes"])
		assert (here < alone).all() and (here > alone / 6).all(), (alone, here)
	'
}

@test "unlike devices: the faster one begins anew more often, and all work to the end" {
	printf '%s\n' 'device fast flops 8e11 bandwidth 1.6e11 overhead 0 memory 1e9 watts 100' \
		'device slow flops 1e11 bandwidth 2e10 overhead 0 memory 1e9 watts 50' 'link fast slow latency 1e-6 bandwidth 1e10' > unlike.spec
	devsim --probe -s unlike.spec mobilenet_v3_large.mp > unlike.mp
	placebase single unlike.mp | placebase replicas | devsim --requests 4 > ran.mp
	py '
		fast, slow, both = (m["lat_s"] for m in runs("ran.mp"))
		assert abs(slow / fast - 8) < 1e-6, (fast, slow)
		assert abs(both / (1 / (1 / fast + 1 / slow)) - 1) < 0.02, (fast, slow, both)
		# Each of them works all the time.
		assert abs(array(runs("ran.mp")[2]["busy_s"]) / both - 1).max() < 0.02
	'
	# The joules of a request: the faster one has more of them.
	placebase replicas unlike.mp | devsim --requests 4 --objective energy > joules.mp
	py '
		(r,) = runs("joules.mp")
		busy = array(r["busy_s"])
		assert abs(r["value"] / (100 * busy[0] + 50 * busy[1]) - 1) < 1e-6, (r["value"], busy)
	'
}

@test "no objective of throughput is better than that of all loads even, and replicas reach it" {
	placebase portfolio --evals 2000 --objective throughput sim.mp | devsim --requests 6 --objective throughput > best.mp
	devsim --requests 6 --objective throughput three.mp > all.mp
	py '
		(best,), (all,) = runs("best.mp"), runs("all.mp")
		assert all["value"] == all["lat_s"] and all["lat_s"] <= best["lat_s"] * (1 + 1e-9), (all, best)
	'
}

@test "a limit of latency: the most requests that keep it, and what keeps none has its latency for a value" {
	s=$(placebase single sim.mp | devsim | recdump -k run --tsv lat_s | head -n 1)
	for by in 0.5 1.5 2.5; do
		o="throughput,latency<=$(awk -v s="$s" -v by=$by 'BEGIN { printf "%.9gus", 1e6 * s * by }')"
		placebase single sim.mp | placebase replicas | devsim --requests 6 --objective "$o" > limit$by.mp
		placebase anneal --evals 200 --objective "$o" sim.mp > found$by.mp 2> said
		if [ $by = 0.5 ]; then grep -q 'anneal: takes .* ms, beyond the limit of ' said; else [ ! -s said ]; fi
	done
	py '
		s = runs("limit0.5.mp")[0]["lat_s"]
		def told(by): return [(m["in_flight"]["requests"], round(m["in_flight"]["p95_s"] / s, 6), round(m["value"] / s, 6), round(m["ref_value"] / s, 6))
			for m in (runs(f"limit{by}.mp")[i] for i in (0, 3))]
		assert told(1.5) == [(1, 1, 1, 1), (3, 1, 0.333333, 1)], told(1.5)
		# Two on a device wait for each other, and gain nothing.
		assert told(2.5) == [(2, 2, 1, 1), (6, 2, 0.333333, 1)], told(2.5)
		# Nothing keeps it: one at a time, or one for each row.
		assert told(0.5) == [(1, 1, 1, 1), (3, 1, 1, 1)], told(0.5)
		assert abs(runs("limit1.5.mp")[0]["in_flight"]["limit_s"] / (1.5 * s) - 1) < 1e-6
		found = {by: of(f"found{by}.mp", "place")[0] for by in ("0.5", "1.5", "2.5")}
		assert found["0.5"]["predicted_value"] == found["0.5"]["predicted_s"]
		for by in ("1.5", "2.5"):
			p = found[by]
			assert p["predicted_s"] <= float(by) * s and p["predicted_value"] < s / 2, (p["predicted_s"] / s, p["predicted_value"] / s)
	'
	run -2 --separate-stderr devsim --objective 'throughput,latency<=5' sim.mp
	[ "$stderr" = "devsim: error: objective 'throughput,latency<=5': 'latency<=5' is no time above 0 in s, ms or us, as in latency<=50ms" ]
}

@test "devrun: a limit that everything keeps, and one that nothing keeps, of which no rate is claimed" {
	for l in 1000s 1us; do
		o="throughput,latency<=$l"
		devrun paired --placements --race 0.5 --requests 2 --objective "$o" two.mp > race$l.mp
		placeout --format report --objective "$o" race$l.mp > report$l
		placeout --format json --objective "$o" race$l.mp > report$l.json
		placeout --format advice --objective "$o" race$l.mp > advice$l
	done
	py '
		import json
		def flight(f): return [m["in_flight"] for kind in ("run", "best") for m in of(f, kind) if "in_flight" in m]
		many, one = flight("race1000s.mp"), flight("race1us.mp")
		assert {f["requests"] for f in many} == {2} and {f["limit_s"] for f in many} == {1000}, many
		assert {f["requests"] for f in one} == {1} and {f["limit_s"] for f in one} == {1e-6}, one
		j = json.load(open("report1us.json"))
		assert j["objective"] == "throughput" and j["in_flight"]["limit_s"] == 1e-6 and j["in_flight"]["requests"] == 1, j
		assert [r["requests"] for r in j["raced"]] == [1] * len(j["raced"]) and all(r["p95_s"] > 1e-6 for r in j["raced"]), j["raced"]
		assert j["measured"][-1]["p95_s"] == j["in_flight"]["p95_s"] == min(m["p95_s"] for m in j["measured"] if m["ran"])
	'
	grep -q '^ *a request .* at once   95 % within$' report1us
	grep -q '^verdict: nothing that ran has 95 % of its requests within 1 µs; this takes least, up to .* ms, at .* a second$' report1us
	grep -q '^Nothing that was found keeps the limit' advice1us
	grep -q '^verdict: 95 % of the requests within 16 min 40 s (up to .*), 2 at a time: ' report1000s
	run ! grep -q 'a second$\|times as fast' advice1us
	run -2 --separate-stderr devrun paired --choose first --requests 2 --objective 'throughput,latency<=1s' two.mp
	[[ $stderr == "devrun: error: --choose first takes the first candidate whatever it takes: no limit of latency goes with it" ]]
	run -2 --separate-stderr devrun paired --objective 'throughput,latency<=1s' two.mp
	[[ $stderr = *"devrun measures throughput with --requests 2 or more, else the latency" ]]
	run -2 --separate-stderr devrun paired --requests 2 --objective 'throughput,latency<=1h' two.mp
	[ "$stderr" = "devrun: error: objective 'throughput,latency<=1h': 'latency<=1h' is no time above 0 in s, ms or us, as in latency<=50ms" ]
}

@test "place: where replicas are not possible the stream is handed on once" {
	devsim --probe -s three.spec -D d:1 mobilenet_v3_large.mp > input.mp
	[ "$(stat -c %s input.mp)" -gt 65536 ]
	# shellcheck source=/dev/null
	(dir=. && . "$ROOT/pipelines/stages.sh" && replicas > out.mp)
	cmp input.mp out.mp
	grep -q 'there are no replicas' log
	cp sim.mp input.mp
	(dir=. && . "$ROOT/pipelines/stages.sh" && replicas > out.mp)
	cmp <(recdump -k place out.mp) <(recdump -k place three.mp)
}

@test "too few requests, a device without room, programs that know one row: said so" {
	devsim three.mp | recdump -k run --tsv reason | grep -qx '3 replicas, and 1 request in flight'
	devsim --requests 2 three.mp | recdump -k run --tsv reason | grep -qx '3 replicas, and 2 requests in flight'
	run -3 placepolicy three.mp
	run -3 placeout --format trace three.mp
	run -1 placebase replicas -D d:1 sim.mp
	[[ "$output" == *"the whole model fits on 1 of the devices that compute at once: there are no replicas"* ]]
}

@test "each request has the outputs of one device, whichever replica it came to" {
	[ "$(recdump -k place --tsv replicas two.mp | grep -c .)" -gt 0 ] || skip "one core"
	placebase single real.mp > single.mp
	devrun run --requests 4 -n 1 --no-reference --seed 3 --outputs all -o r.mp two.mp
	for i in 0 1 2 3; do
		devrun -n 1 --no-reference --seed $((3 + i)) --outputs alone -o s.mp single.mp
		cmp alone/0.npy all/$i/0.npy
	done
	devrun -n 1 --no-reference -o r.mp two.mp
	recdump -k run --tsv reason r.mp | grep -qx '2 replicas, and 1 request in flight'
}

@test "the answer: both replicas, and the file of each" {
	[ "$(recdump -k place --tsv replicas two.mp | grep -c .)" -gt 0 ] || skip "one core"
	devrun paired --requests 2 --choose first --min-runs 2 --max-seconds 0.05 -o final.mp two.mp
	py '
		(b,) = of("final.mp", "best")
		assert array(b["replicas"]).shape[0] == 1 and b["in_flight"]["requests"] == 2
		assert b["out_max"] < 1e-6, b
	'
	placeout --format report final.mp | grep -qx 'replicas: 2, between which requests take turns: cpu:0, cpu:1'
	placeout --format html final.mp | grep -q '<dt>replicas</dt><dd>2, between which'
	placeout --format json final.mp > report.json
	py 'assert json.load(open("report.json"))["in_flight"]["replicas"] == 2'
	run -0 --separate-stderr placeout --format affinity final.mp
	[[ "$stderr" == *"the answer has 2 replicas, and this is the first of them"* ]]
	placeout --format affinity --replica 2 final.mp > second.json
	py '
		second = json.load(open("second.json"))
		assert second and set(second.values()) == {"cpu:1"}
	'
	run -2 placeout --format affinity --replica 3 final.mp
	[[ "$output" == "placeout: error: --replica: the answer has 2" ]]
}
