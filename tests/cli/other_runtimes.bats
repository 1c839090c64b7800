#!/usr/bin/env bats
# Where other runtimes put operations: each rule on cases that were computed by hand, or that the runtime itself answered.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cat > chain.py <<-'EOF'
		import json

		def problem(name, devices, nodes, edges=None, **keys):
		    """devices: name and bytes; nodes: name, bytes, and more keys."""
		    doc = {"devices": [{"name": d, "mem_bytes": b} for d, b in devices],
		        "links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
		        "nodes": [{"id": v, "name": n, "mem_bytes": b, "cost_s": 1, **more} for v, (n, b, *x) in enumerate(nodes) for more in [x[0] if x else {}]],
		        "edges": edges if edges is not None else [{"src": v, "dst": v + 1, "bytes": 0} for v in range(len(nodes) - 1)]}
		    json.dump(doc, open(name + ".json", "w"))
	EOF
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# Python that makes problems.
problem() { PYTHONPATH=.:$PYTHONPATH py "		from chain import problem$1"; }

# METHOD NAME DEVICES: the digits of DEVICES are where METHOD puts the operations of NAME.json.
puts() {
	json2dag "$2.json" | placebase --no-hints "$1" -o out.mp
	py "at = ''.join(str(d) for d in array(of('out.mp', 'place')[0]['device'])); assert at == '$3', at"
}

@test "llama-fit: input on the CPU, layers by free memory, else whole layers from the last on" {
	problem '
		nodes = [("embed.op", 10)] + [(f"layers.{i}.mlp.op", 10) for i in range(4)] + [("head.op", 10)]
		for name, a, b in ("even", 100, 100), ("uneven", 60, 20), ("full", 25, 25), ("little", 9, 15):
			problem(name, [("g0", a), ("g1", b), ("cpu", 0)], nodes)
		problem("plain", [("cpu", 0), ("g0", 25)], [(n, 10) for n in "abcd"])'
	# 4 layers and the output are 5: layer i is at i / 5 of all; half of it is that of g0.
	puts llama-fit even 200011
	puts llama-fit uneven 200001
	# 30 bytes are too much for g0: two from the end on g1, two on g0, one is left.
	puts llama-fit full 220011
	puts llama-fit little 222221
	# Without numbers each is a layer, and none the input.
	puts llama-fit plain 0011
}

@test "accelerate-balanced: as accelerate 1.15 answered for these modules" {
	# infer_auto_device_map of get_balanced_memory, no_split_module_classes=["Block"], f32: embed, layers of a and b, head.
	problem '
		for n, (embed, layers, head, gpus) in enumerate([
				(10, 6 * [(4, 4)], 10, [1000, 1000]),
				(10, 6 * [(4, 4)], 10, [120, 120]),
				(30, [(4, 4), (6, 6), (4, 4), (8, 8), (4, 4), (2, 2)], 5, [200, 160, 100]),
				(10, 6 * [(4, 4)], 10, [160]),
				(3, [(9, 1), (1, 9), (12, 12), (4, 4), (20, 4), (2, 2)], 7, [150, 300, 90])]):
			nodes = [("embed", embed)] + [(f"layers.{i}.{x}", w) for i, l in enumerate(layers) for x, w in zip("ab", l)] + [("head", head)]
			problem(f"acc{n}", [(f"g{i}", b) for i, b in enumerate(gpus)] + [("cpu", 100000)],
				[(f"__module.{m}/aten::linear/MatMul", 4 * w) for m, w in nodes])'
	puts accelerate-balanced acc0 00000001111111
	puts accelerate-balanced acc1 00011111122222
	puts accelerate-balanced acc2 11122223333333
	puts accelerate-balanced acc3 00000111111111
	puts accelerate-balanced acc4 00011111133333
}

@test "accelerate-balanced: a name of very many parts takes no memory to speak of" {
	problem '
		problem("deep", [("g0", 1000), ("cpu", 0)], [("a." * 30000 + "x", 10), ("b", 10)])'
	json2dag deep.json > deep.mp
	no_sanitizer
	(ulimit -v 600000; placebase --no-hints accelerate-balanced -o out.mp deep.mp)
}

@test "ort-budget: operations in order cost 1.5 times weights and outputs, until the budget is used" {
	problem '
		edges = [{"src": v, "dst": v + 1, "bytes": 2} for v in range(5)]
		# 1.5 x (10 + 2) = 18 each.
		problem("ort", [("cpu", 0), ("g0", 44), ("g1", 20)], [(n, 10) for n in "abcdef"], edges)
		# b costs 78: whatever is behind it is not taken, however small.
		problem("large", [("cpu", 0), ("g0", 40), ("g1", 20)], [(n, b) for n, b in zip("abcdef", (10, 50, 1, 1, 1, 1))], edges)'
	puts ort-budget ort 112000
	puts ort-budget large 100000
}

@test "hetero-priority: the first device that can, or shares of 1.2 times the weights where memory is short" {
	problem '
		problem("can", [("cpu", 0), ("g0", 0), ("g1", 0)], [("a", 10), ("b", 10, {"cost_s": {"cpu": 1, "g1": 1}}), ("c", 10, {"cost_s": {"cpu": 1}}), ("d", 10)])
		# g0: 30 / 1.2 = 25 of 50 bytes; g1: the same of the 30 that are left.
		problem("short", [("g0", 30), ("g1", 30), ("cpu", 0)], [(n, 10) for n in "abcde"])
		# No processor, and 90 bytes for 80, which take 96: a third on g0, half of what is left on g1.
		problem("alike", [("g0", 30), ("g1", 30), ("g2", 30)], [(str(n), 5) for n in range(16)])
		# What has no limit, and can run nothing, leaves the others their shares: 30 of 90.
		problem("unlimited", [("g", 0), ("g0", 30), ("g1", 60)], [(n, 10, {"cost_s": {"g0": 1, "g1": 1}}) for n in "abcdefgh"])'
	puts hetero-priority can 1201
	puts hetero-priority short 00112
	puts hetero-priority alike 0000011111222222
	puts hetero-priority unlimited 11222222
}

@test "dmda: the least of end and transfers, which count where they are hidden, too" {
	problem '
		cost = lambda a, b: {"cost_s": {"g0": a, "g1": b}}
		# a ends at 1 on g0; b: 3 there, 4 with its transfer; c: 7, 4; d reads what came with c: 7, 5; e, when b ends: 7.5, 5 + 1 + 2.
		problem("ready", [("g0", 0), ("g1", 0)], [("a", 0, cost(1, 3)), ("b", 0, cost(2, 1)), ("c", 0, cost(4, 1)), ("d", 0, cost(4, 1)), ("e", 0, cost(4.5, 1))],
			[{"src": 0, "dst": 1, "bytes": 2}, {"src": 0, "dst": 2, "bytes": 2}, {"src": 0, "dst": 3, "bytes": 2}, {"src": 1, "dst": 4, "bytes": 2}])'
	puts dmda ready 00110
}

@test "rules of other runtimes: less memory where tensors need some, and one line where nothing is legal" {
	problem '
		# Each weighs 10 and makes 10, which is there beside what is read: 3 on g0 hold 30 and make 20.
		edges = [{"src": v, "dst": v + 1, "bytes": 10} for v in range(4)]
		problem("tensors", [("g0", 45), ("cpu", 0)], [(f"h.{n}.op", 10) for n in range(5)], edges)
		problem("none", [("g0", 9), ("cpu", 30)], [(f"h.{n}.op", 10) for n in range(5)])'
	run -0 --separate-stderr placebase -v llama-fit <(json2dag tensors.json) -o out.mp
	[[ "$stderr" == *"llama-fit: with "*" % of the accelerators' memory"* ]] || { echo "$stderr"; return 1; }
	py 'assert "predicted_s" in of("out.mp", "place")[0]'
	for method in llama-fit accelerate-balanced ort-budget hetero-priority; do
		run -0 --separate-stderr placebase --no-hints "$method" <(json2dag none.json) -o out.mp
		[ "${#stderr_lines[@]}" -eq 1 ] && [[ "$stderr" == "placebase: warning: $method: not legal: "* ]] || { echo "$stderr"; return 1; }
	done
}
