#!/usr/bin/env bats
# Instances that nobody developed with, small ones: what they showed stays mended.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "bounds know what has no room: a colour class larger than an accelerator runs on a CPU" {
	cat > big.json <<-'E'
		{"maxFPGAs": 2, "maxCPUs": 2, "maxSizePerFPGA": 100, "nodes": [
		{"id": 7, "cpuLatency": 4, "fpgaLatency": 1, "size": 60, "colorClass": 1},
		{"id": 3, "cpuLatency": 5, "fpgaLatency": 1, "size": 60, "colorClass": 1},
		{"id": 9, "cpuLatency": 5, "fpgaLatency": 1, "size": 60}],
		"edges": [{"sourceId": 7, "destId": 3, "cost": 1}, {"sourceId": 3, "destId": 9, "cost": 0.5}]}
	E
	for m in latency:10.5 throughput:9; do
		json2dag big.json | placebase portfolio --budget 20 --model "dnnpart-${m%:*}" -o out.mp
		py '
			p = of("out.mp", "place")[0]
			assert abs(p["predicted_s"] - p["bound_s"]) < 1e-12 and abs(p["bound_s"] * 1e3 - float(sys.argv[1])) < 1e-9, p
		' "${m#*:}"
	done
}

@test "heuristics hand over what is legal: copies that fill a device, accelerators that wait for each other" {
	cat > full.json <<-'E'
		{"devices": [{"name": "slow"}, {"name": "a", "mem_bytes": 100}, {"name": "b", "mem_bytes": 100}],
		"links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1e9}],
		"nodes": [{"id": 1, "cost_s": {"slow": 9, "a": 1, "b": 1}, "out_bytes": 60, "mem_bytes": 30},
		{"id": 2, "cost_s": {"slow": 9, "a": 1, "b": 1}, "out_bytes": 60, "mem_bytes": 30},
		{"id": 3, "cost_s": {"slow": 9, "a": 1, "b": 1}, "mem_bytes": 30}],
		"edges": [{"src": 1, "dst": 3}, {"src": 2, "dst": 3}]}
	E
	cat > circle.json <<-'E'
		{"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 100, "nodes": [
		{"id": 0, "cpuLatency": 90, "fpgaLatency": 2, "size": 9, "colorClass": 0},
		{"id": 1, "cpuLatency": 90, "fpgaLatency": 2, "size": 9, "colorClass": 1},
		{"id": 2, "cpuLatency": 90, "fpgaLatency": 2, "size": 9, "colorClass": 1},
		{"id": 3, "cpuLatency": 90, "fpgaLatency": 2, "size": 9, "colorClass": 0}],
		"edges": [{"sourceId": 0, "destId": 2, "cost": 0}, {"sourceId": 1, "destId": 3, "cost": 0}]}
	E
	for m in heft refine greedy-memory peft cpop lookahead m-topo m-etf mincut metis scotch; do
		for p in full:schedule circle:dnnpart-latency; do
			json2dag "${p%:*}.json" | placebase "$m" --model "${p##*:}" 2>err -o out.mp || { cat err; false; }
			devsim out.mp --model "${p##*:}" -o run.mp
			py 'r = of("run.mp", "run")[0]; assert r["ok"], (sys.argv, r["reason"])' "$m" "$p"
		done
	done
}

@test "names of devices, watts and methods that cannot be are told" {
	json2dag "$ROOT/tests/instances/topcuoglu2002.json" -o g.mp
	printf 'device \xe9 flops 1e12 bandwidth 1e10\n' > latin.spec
	printf 'device * flops 1e12 bandwidth 1e10\n' > star.spec
	run -3 devsim --probe --spec latin.spec g.mp
	[[ $output == *'line 1'*'not UTF-8'* ]]
	run -3 devsim --probe --spec star.spec g.mp
	[[ $output == *'line 1'*'it stands for any'* ]]
	for w in P1=x P1=-1 P1=nan P1=3/x P1=3,P2=1/-2; do
		run -2 devsim --probe --watts "$w" g.mp
	done
	run -2 placebase heft:3 g.mp
	[[ $output == *"'heft' takes nothing after a colon"* ]]
	run -2 placebase single: g.mp
	[[ $output == *"it goes as 'single:DEVICE'"* ]]
}

@test "variety goes on where HEFT finds no way; an answer that is not legal is told without -v" {
	cat > oneway.json <<-'E'
		{"devices": [{"name": "a"}, {"name": "b"}],
		"links": [{"src": "a", "dst": "b", "latency_s": 0, "bytes_per_s": 1e9}],
		"nodes": [{"id": 0, "cost_s": {"a": 2, "b": 1}}, {"id": 1, "cost_s": {"a": 1}, "out_bytes": 5},
		{"id": 2, "cost_s": {"a": 2, "b": 1}}], "edges": [{"src": 0, "dst": 1}]}
	E
	json2dag oneway.json | placebase variety -n 5 | devsim -o run.mp
	py 'r = of("run.mp", "run"); assert sorted(m["lat_s"] for m in r) == [3, 5] and all(m["ok"] for m in r), r'

	sed 's/"maxCPUs": 1/"maxCPUs": 0/; s/"size": 9, "colorClass": 1/"size": 99, "colorClass": 1/' circle.json > none.json
	json2dag none.json -o none.mp
	for m in anneal climb mincut metis; do
		placebase "$m" --model dnnpart-throughput --evals 50 none.mp 2>err -o out.mp
		[[ $(< err) == *"warning: $m: not legal: needs "* ]] || { cat err; false; }
		py 'assert "predicted_s" not in of("out.mp", "place")[0]'
	done
	placebase single --model dnnpart-throughput none.mp 2>err >/dev/null
	[ ! -s err ]
}

@test "exact without an answer says whether there is none or none was found" {
	cat > tight.json <<-'E'
		{"devices": [{"name": "a", "mem_bytes": 170}, {"name": "b", "mem_bytes": 170}, {"name": "c", "mem_bytes": 50}],
		"links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1e9}],
		"nodes": [{"id": 1, "cost_s": 1, "mem_bytes": 60}, {"id": 2, "cost_s": 1, "mem_bytes": 60},
		{"id": 3, "cost_s": 1, "mem_bytes": 60}, {"id": 4, "cost_s": 1, "mem_bytes": 60},
		{"id": 5, "cost_s": 1, "mem_bytes": 60}, {"id": 6, "cost_s": 1, "mem_bytes": 20}]}
	E
	json2dag tight.json -o tight.mp
	run -1 placebase exact --evals 1 tight.mp -o out.mp
	[[ "$output" == *"no legal placement was found"* ]]
	run -1 placebase exact tight.mp -o out.mp
	[[ "$output" == *"there is no legal placement"* ]]
}

@test "linear programmes in little memory: an answer or a message, and an end" {
	! ldd "$(command -v placebase)" | grep -q asan || skip "sanitizers want all addresses"
	json2dag "$ROOT/tests/instances/topcuoglu2002.json" -o g.mp
	for kb in 100000 160000; do
		run -0 bash -c "ulimit -v $kb; env -u OPENBLAS_NUM_THREADS timeout 20 placebase m-sct g.mp -o out.mp"
	done
}
