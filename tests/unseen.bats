#!/usr/bin/env bats
# Instances that nobody developed with, small ones: what they showed stays mended.
bats_require_minimum_version 1.5.0
load common.bash

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
