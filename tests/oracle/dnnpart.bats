#!/usr/bin/env bats
# The cost models of dnn-partitioning: the values that its authors' programs give, and what
# the methods find there.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	mkdir latency throughput expert
	for f in "$ROOT"/tests/dnnpart/*/*.xz; do
		d=$(basename "$(dirname "$f")") m=$(basename "$f" .json.xz)
		xz -dc "$f" > "$d/$m.json"
		[ "$d" = expert ] || json2dag "$d/$m.json" -o "$d/$m.mp"
	done
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# value WHICH MODEL METHOD... - ms to three digits, "over" behind it when it needs too much memory
value() {
	local which=$1 model=$2
	shift 2
	placebase "$@" "$model.mp" --model "dnnpart-$which" 2>/dev/null | devsim --model "dnnpart-$which" > run.mp
	py '
		for m in of("run.mp", "run"):
			s = m["lat_s"] if m["ok"] else m["unlimited_s"]
			print("%.3f%s" % (1000 * s, "" if m["ok"] else " over"))
	'
}

@test "latency: CPU only" {
	for x in bert24:924.060 gnmt:1824.350 inceptionv3:1952.770 resnet50:1874.550 bert3_op:1099.934; do
		[ "$(value latency latency/"${x%:*}_inference" single:cpu:0)" = "${x#*:}" ] || { echo "$x"; return 1; }
	done
}

@test "latency: human experts, with their memory" {
	for x in "bert24 111.937" "gnmt 293.403 over" "inceptionv3 865.519 over" "resnet50 1014.927 over"; do
		[ "$(value latency latency/"${x%% *}_inference" expert:expert/"${x%% *}_inference.json")" = "${x#* }" ] ||
			{ echo "$x"; return 1; }
	done
	placebase expert:expert/gnmt_inference.json latency/gnmt_inference.mp | devsim --model dnnpart-latency > run.mp
	py 'r = of("run.mp", "run")[0]; assert r["reason"] == "needs 754940160 bytes on acc:5, which has 629145600", r'
}

@test "throughput: one accelerator, human experts" {
	for x in bert24_inference:92.406 bert24_training:217.813 gnmt_inference:182.563 gnmt_training:520.453 \
		inceptionv3_inference:310.969; do
		[ "$(value throughput throughput/"${x%:*}" single:acc:0)" = "${x#*:}" ] || { echo "$x"; return 1; }
	done
	for x in bert24:20.084 gnmt:46.208 inceptionv3:102.482 resnet50:43.918; do
		[ "$(value throughput throughput/"${x%:*}_inference" expert:expert/"${x%:*}_inference.json")" = "${x#*:}" ] ||
			{ echo "$x"; return 1; }
	done
}

@test "a split of the forward nodes is one of the training graph" {
	placebase expert:expert/inceptionv3_inference.json throughput/inceptionv3_training.mp |
		devsim --model dnnpart-throughput > run.mp
	py 'r = of("run.mp", "run")[0]; assert r["ok"] and r["lat_s"] > 0.1, r'
}

@test "latency of BERT-24: the optimum, proved" {
	placebase exact --evals 40000 --model dnnpart-latency latency/bert24_inference.mp > x.mp
	py '
		p = of("x.mp", "place")[0]
		assert abs(p["predicted_s"] - 0.1002185) < 1e-9 and p["bound_s"] >= p["predicted_s"] * (1 - 1e-9), p
	'
}

@test "latency of ResNet-50 and Inception: the optimum, proved along their spines" {
	for x in resnet50:1.1568813 inceptionv3:1.1865481; do
		placebase spine --model dnnpart-latency "latency/${x%:*}_inference.mp" > x.mp
		py '
			p = of("x.mp", "place")[0]
			assert abs(p["predicted_s"] - float(sys.argv[1])) < 1e-7 and p["bound_s"] >= p["predicted_s"] * (1 - 1e-8), p
		' "${x#*:}"
	done
	run -2 placebase spine --model dnnpart-throughput latency/resnet50_inference.mp
}

@test "annealing comes near the best known, within memory" {
	run -0 value latency latency/gnmt_inference anneal --evals 60000
	py 'assert float(sys.argv[1]) < 260, sys.argv' "$output"
	run -0 value throughput throughput/bert24_inference anneal --evals 60000
	py 'assert float(sys.argv[1]) < 18.5, sys.argv' "$output"
}

@test "the portfolio is as good as the best that the authors found" {
	run -0 value latency latency/gnmt_inference portfolio --evals 150000
	py 'assert float(sys.argv[1]) < 232, sys.argv' "$output"
	run -0 value throughput throughput/gnmt_inference portfolio --evals 150000
	py 'assert float(sys.argv[1]) < 31.79, sys.argv' "$output"
	run -0 value latency latency/resnet50_inference portfolio --evals 20000
	[ "$output" = 1156.881 ]
}

@test "training: backward nodes without a colour are folded onto the forward half, too" {
	py '
		n = 12
		v = [{"id": i, "supportedOnFpga": 1, "cpuLatency": 90, "fpgaLatency": 10 + 10 * (i >= n), "isBackwardNode": i >= n,
		      "size": 1} for i in range(2 * n)]
		for i in range(0, n, 4):
			v[i]["colorClass"] = v[2 * n - 1 - i]["colorClass"] = i
		e = [(i, i + 1) for i in range(2 * n - 1)] + [(i, 2 * n - 1 - i) for i in range(n - 1)]
		json.dump({"maxSizePerFPGA": 100, "maxFPGAs": 3, "maxCPUs": 1, "nodes": v, "edges": [
			{"sourceId": a, "destId": b, "cost": 5 if "colorClass" in v[a] else 60} for a, b in e]}, open("fold.json", "w"))
	'
	json2dag fold.json -o fold.mp
	[ "$(value throughput fold ideals)" = 220.000 ]
}

@test "a wide block: its bound gives up before it takes long" {
	py '
		import random
		r = random.Random(5)
		v = [{"id": i, "supportedOnFpga": 1, "cpuLatency": r.uniform(1, 90), "fpgaLatency": r.uniform(1, 9),
		      "isBackwardNode": 0, "size": r.randint(1, 50)} for i in range(40)]
		v[1].update(cpuLatency=1e4, size=300)
		e = [{"sourceId": a, "destId": b, "cost": 1 + a % 7} for m in range(1, 39) for a, b in ((0, m), (m, 39))]
		json.dump({"maxSizePerFPGA": 200, "maxFPGAs": 2, "maxCPUs": 1, "nodes": v, "edges": e}, open("wide.json", "w"))
	'
	json2dag wide.json -o wide.mp
	run -0 prlimit --cpu=6 "$B/bin/placebase" heft --model dnnpart-latency wide.mp -o x.mp
	py 'p = of("x.mp", "place")[0]; assert 10 < p["bound_s"] < p["predicted_s"], p'
}

@test "sizes are rounded up, the memory that there is down" {
	cat > half.json <<-'E'
		{"maxSizePerFPGA": 25.9, "maxFPGAs": 1, "maxCPUs": 1, "edges": [],
		 "nodes": [{"id": 0, "cpuLatency": 9, "fpgaLatency": 1, "size": 12.5}, {"id": 1, "cpuLatency": 9, "fpgaLatency": 1, "size": 13}]}
	E
	run -0 bash -o pipefail -c 'json2dag half.json | placebase single:acc:0 2>/dev/null |
		devsim --model dnnpart-latency | recdump -k run'
	[[ $output == *"needs 26 bytes on acc:0, which has 25"* ]]
}

@test "the models need their costs" {
	run -3 bash -o pipefail -c "ir2dag $ROOT/tests/models/small_summator.xml | devsim --probe | placebase single |
		devsim --model dnnpart-latency"
	[[ $output == *"no move_s"* ]]
}

@test "damaged streams of these problems" {
	placebase anneal --evals 8 latency/bert24_inference.mp > placed.mp
	for c in "latency/bert24_inference.mp placebase anneal --evals 80" "placed.mp devsim"; do
		# shellcheck disable=SC2086
		set -- $c
		run -0 timeout 300 "$HSDAG_PYTHON" "$ROOT/tests/fuzz/mutate.py" "$1" "${HOSTILE:-30}" 1 "$B/bin/$2" "${@:3}" \
			--model dnnpart-latency
	done
}
