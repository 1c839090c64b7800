#!/usr/bin/env bats
# dagsplit: options, messages, what parts are called, that results stay, and that all stages take a graph of parts.
# seconds: 6
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	models googlenet
	cp "$ROOT/tests/models/small_summator."* .
	ir2dag small_summator.xml -o summator.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

refused() {   # STATUS MESSAGE ARG... - one line
	run "-$1" --separate-stderr dagsplit "${@:3}" -o none.mp
	[[ $stderr == "dagsplit: error: "*"$2"* && $stderr != *$'\n'* ]] || { echo "$stderr"; return 1; }
	[ ! -e none.mp ]
}

@test "shares, axes and ways that make no sense: one line, status 2" {
	refused 2 "--shares: 0 is" --shares 0,8 googlenet.mp
	refused 2 "--shares" --shares 4,-4 googlenet.mp
	refused 2 "--shares" --shares 4,, googlenet.mp
	refused 2 "--shares" --shares 4,x googlenet.mp
	refused 2 "--shares: one share alone" --shares 8 googlenet.mp
	refused 2 "--shares: 2 of them for --ways 3" --ways 3 --shares 4,4 googlenet.mp
	refused 2 "--axes: no axis 'row'; did you mean 'rows'?" --axes row googlenet.mp
	refused 2 "--axes: no axis ''" --axes rows, googlenet.mp
	refused 2 "--ways" --ways 1 googlenet.mp
	refused 2 "--min-gain" --min-gain 101 googlenet.mp
}

@test "devices of a specification: a part for each, by speed; one alone cuts nothing" {
	for d in a b; do echo "device $d flops $([ $d = a ] && echo 3 || echo 1)e11 bandwidth $([ $d = a ] && echo 3 || echo 1)e10 overhead 1e-6"; done > uneven.spec
	echo "link * * latency 5e-6 bandwidth 1e10" >> uneven.spec
	run -0 --separate-stderr dagsplit --spec uneven.spec --axes rows --no-auto googlenet.mp -o uneven.mp
	py '
		import re
		g = of("uneven.mp", "graph")[0]
		first = [m for m in (re.search(r"\[rows (\d+)\.\.(\d+) of 112\]$", n) for n in g["node_name"]) if m]
		assert first and {int(m[2]) + 1 for m in first if m[1] == "0"} <= {82, 84, 86}, [m[0] for m in first]
	'
	head -n 1 uneven.spec > one.spec
	refused 2 "--spec: 1 devices for 1 parts" --spec one.spec googlenet.mp
	refused 2 "--spec: 2 devices for 3 parts" --spec uneven.spec --ways 3 googlenet.mp
	refused 2 "'none' is neither a preset nor a readable file" --spec none googlenet.mp
}

# What parts take, part k on device k, in microseconds.
parts_us() { devsim --probe --spec unlike.spec "$1" | placebase parts | devsim | recdump -k run --tsv lat_s | awk '{ printf "%d\n", $1 * 1e6 }'; }

@test "what each operation takes on each device: shares of each chain, better than any for all; devs and cost end here" {
	printf '%s\n' "device a flops 4e11 bandwidth 1e10 overhead 1e-7" "device b flops 1e11 bandwidth 4e10 overhead 1e-7" \
		"link * * latency 1e-7 bandwidth 1e12" > unlike.spec
	ir2dag "$ROOT/tests/models/alexnet.xml" -o alexnet.mp
	devsim --probe --spec unlike.spec alexnet.mp -o unlike.mp
	dagsplit unlike.mp -o chains.mp
	py '
		assert [r for r in ("devs", "cost") if of("chains.mp", r)] == []
		c = of("chains.mp", "graph")[0]["cut"]
		share = array(c["share"]).reshape(-1, 2)
		used = {int(r) for r, axis in zip(array(c["share_of"]), array(c["axis"])) if axis != -1}
		assert used == {0, 1} and (share.sum(1) == 32).all() and len(share) == 2, share
	'
	best=$(for k in 4 8 12 16 20 24 28; do dagsplit --spec unlike.spec --joins once --shares $k,$((32 - k)) alexnet.mp -o one.mp; parts_us one.mp; done | sort -n | head -n 1)
	[ "$(parts_us chains.mp)" -lt "$best" ]
	devsim --probe --spec unlike.spec chains.mp | placebase single:a -o placed.mp
	dagsplit --rejoin placed.mp | recdump --check
	refused 2 "--spec: the stream tells of devices" --spec unlike.spec unlike.mp
	refused 2 "--ways: 2 devices of the stream compute at once" --ways 3 unlike.mp
	refused 2 "--shares: 2 devices of the stream compute at once" --shares 1,2,3 unlike.mp
}

@test "devices without costs: a part for each that computes at once with the others" {
	devrun probe -D cpu,cpu:0,cpu:1 googlenet.mp -o three.mp
	dagsplit three.mp -o by_devices.mp
	devrun probe -D cpu,cpu:0,cpu:1 by_devices.mp | placebase parts -o placed.mp
	py '
		g, p = of("placed.mp", "graph")[0], of("placed.mp", "place")[0]
		part, sets, at = array(g["part"]), array(g["set"]), array(p["device"])
		assert {(int(part[v]), p["devices"][at[sets[v]]]) for v in range(len(part)) if part[v] < 2 and sets[v] < g["n_sets"]} == {(0, "cpu:0"), (1, "cpu:1")}
	'
	dagsplit --ways 2 googlenet.mp -o by_ways.mp
	cmp <(recdump -k graph by_devices.mp) <(recdump -k graph by_ways.mp)
	devrun probe -D cpu googlenet.mp -o all.mp
	refused 3 "1 devices of the stream compute at once; parts are for 2 to 64" all.mp
	dagsplit --if-possible all.mp -o whole.mp
	cmp <(recdump -k graph whole.mp) <(recdump -k graph googlenet.mp)
}

@test "a placement of whole operations: all their parts are where the operation is" {
	devrun probe -D cpu:0,cpu:1 googlenet.mp | placebase random --seed 2 | placeout --format affinity -o whole.json
	dagsplit googlenet.mp | devrun probe -D cpu:0,cpu:1 | placebase expert:whole.json -o parts.mp
	py '
		import json
		said = json.load(open("whole.json"))
		g, p = of("parts.mp", "graph")[0], of("parts.mp", "place")[0]
		names, sets, at = g["whole"]["node_name"], array(g["set"]), array(p["device"])
		seen = 0
		for v, w in enumerate(array(g["part_of"])):
			if w != 2**32 - 1 and sets[v] < g["n_sets"] and names[w] in said:
				assert p["devices"][at[sets[v]]] == said[names[w]], g["node_name"][v]
				seen += 1
		assert seen > 200 and len(set(said.values())) == 2, seen
	'
	echo '{"nothing": "cpu:0"}' > nothing.json
	run -3 --separate-stderr placebase expert:nothing.json parts.mp
	[[ $stderr == *"has no operation 'nothing'"* && ${#stderr_lines[@]} -eq 1 ]]
}

@test "what cannot be cut: one line, status 3; what is not worth it passes, with a warning" {
	refused 3 "no operation of 'summator' can be cut into 2 parts" summator.mp
	refused 3 "no operation of 'Model12' can be cut into 2 parts along heads" --axes heads googlenet.mp
	dagfeat googlenet.mp -o feat.mp
	refused 3 "a record 'feat' is about the graph as it was; dagsplit goes behind ir2dag, or behind devrun probe --profile" feat.mp
	run -0 --separate-stderr dagsplit --min-gain 99 googlenet.mp -o same.mp
	[[ $stderr == *"warning: nothing of 'Model12' is worth cutting"* ]]
	py '
		a, b = (of(f, "graph")[0] for f in ("googlenet.mp", "same.mp"))
		assert a == b
	'
}

@test "parts have the operation's name and range, joins its name; ends stay" {
	dagsplit --axes rows --no-auto googlenet.mp -o rows.mp
	run -0 --separate-stderr dagsplit -vv --axes channels --shares 5,3 --no-auto googlenet.mp -o channels.mp
	[[ $stderr == *"(Convolution): channels, 64 in 2 parts"* && $stderr == *"operations in parts, "* ]]
	py '
		import re
		def graph(f): return of(f, "graph")[0]
		def types(g): return [g["types"][i] for i in array(g["type"])]
		whole, rows, channels = graph("googlenet.mp"), graph("rows.mp"), graph("channels.mp")
		(first,) = [n for n, t in zip(whole["node_name"], types(whole)) if t == "Convolution"][:1]
		assert first + " [rows 0..55 of 112]" in rows["node_name"] and first + " [rows 56..111 of 112]" in rows["node_name"]
		assert first + " [channels 0..39 of 64]" in channels["node_name"] and first + " [channels 40..63 of 64]" in channels["node_name"]
		for f in (rows, channels):
		    assert [(n, t) for n, t in zip(f["node_name"], types(f)) if t in ("Parameter", "Result")] == \
		           [(n, t) for n, t in zip(whole["node_name"], types(whole)) if t in ("Parameter", "Result")]
		    joins = [n for n, t in zip(f["node_name"], types(f)) if t == "Concat" and " [" not in n]
		    assert joins and set(joins) <= set(whole["node_name"])
		    assert len(set(array(f["id"]))) == len(f["node_name"])
		# All convolutions of channels are two, and weights are ranges of bytes: no Slice at all.
		n = types(whole).count("Convolution")
		assert types(channels).count("Convolution") == 2 * n and types(channels).count("Slice") == 0
		assert array(channels["const_bytes"]).sum() < array(whole["const_bytes"]).sum() + 4096
	'
}

@test "sets are made as ir2dag made them" {
	for o in "--constants keep" "--constants drop" "--constants fold" --no-colocate; do
		# shellcheck disable=SC2086
		ir2dag $o googlenet.xml -o g.mp
		dagsplit g.mp -o c.mp
		py '
			whole, cut = (of(f, "graph")[0] for f in ("g.mp", "c.mp"))
			s = array(cut["set"])
			t = [cut["types"][i] for i in array(cut["type"])]
			consts = [x != 2**32 - 1 for x, k in zip(s, t) if k == "Const"]
			assert all(consts) if sys.argv[1] in ("--constants keep", "--no-colocate") else not any(consts)
			if sys.argv[1] == "--no-colocate": assert len(s) == cut["n_sets"]
			if sys.argv[1] == "--constants fold": assert not [k for x, k in zip(s, t) if k == "Convert" and x != 2**32 - 1]
		' "$o"
	done
}

@test "results are those of the whole, in any number of parts" {
	devrun probe -D cpu:0 googlenet.mp | placebase single | devrun -n 1 --no-reference --outputs whole -o r.mp
	for o in "" "--ways 3" "--shares 1,3 --no-auto --axes rows" "--no-auto --axes rows --halo again" "--no-auto --axes sum" "--axes channels"; do
		# shellcheck disable=SC2086
		dagsplit $o googlenet.mp | devrun probe -D cpu:0 | placebase single | devrun -n 1 --no-reference --outputs cut -o r.mp
		py '
			a, b = (np.load(d + "/0.npy") for d in ("whole", "cut"))
			assert a.shape == b.shape and np.abs(a - b).max() <= 2e-6 * np.abs(a).max(), sys.argv[1]
		' "$o"
		rm -r cut
	done
}

@test "all stages take a graph of parts; as IR it is that graph" {
	dagsplit googlenet.mp | dagfeat | devsim --probe --spec paper -o probed.mp
	placebase heft probed.mp | devsim -o ran.mp
	py 'assert runs("ran.mp")[0]["ok"]'
	gpnembed --steps 1 probed.mp | placepolicy | devsim | reinforce -o learned.mp
	placeout --format report learned.mp > report
	placeout --format affinity --map cpu=CPU,gpu=GPU --openvino placed ran.mp > affinity.json
	ir2dag placed/model.xml -o again.mp
	py '
		cut, again = ([g["node_name"][i] for i in range(len(g["node_name"])) if " [" in g["node_name"][i]]
		              for g in (of(f, "graph")[0] for f in ("ran.mp", "again.mp")))
		assert cut and set(cut) <= set(again)
	'
	devrun probe -D cpu:0 again.mp | placebase single | devrun -n 1 --no-reference --outputs again -o r.mp
	devrun probe -D cpu:0 googlenet.mp | placebase single | devrun -n 1 --no-reference --outputs first -o r.mp
	py '
		a, b = (np.load(d + "/0.npy") for d in ("first", "again"))
		assert np.abs(a - b).max() <= 2e-6 * np.abs(a).max()
	'
}

@test "a graph of parts is cut again; its constants need no other file" {
	dagsplit --axes channels --no-auto googlenet.mp | dagsplit --axes rows --no-auto | devrun probe -D cpu:0 | placebase single |
		devrun -n 1 --no-reference --outputs twice -o r.mp
	devrun probe -D cpu:0 googlenet.mp | placebase single | devrun -n 1 --no-reference --outputs once -o r.mp
	py '
		a, b = (np.load(d + "/0.npy") for d in ("once", "twice"))
		assert np.abs(a - b).max() <= 2e-6 * np.abs(a).max()
	'
	cp googlenet.bin longer.bin
	head -c 100000 /dev/zero >> longer.bin
	dagsplit googlenet.mp | devrun probe -D cpu:0 | placebase single -o s.mp
	run -3 --separate-stderr devrun -n 1 --weights longer.bin s.mp -o r.mp
	[[ $stderr == *"longer.bin' hold "*"behind which constants of the graph record lie"* ]]
}

@test "a language model in 4 bits: columns and heads, in pairs with what sums behind; weights stay packed" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/llm.py" llm --layers 2 --past 16
	ir2dag llm.xml -o llm.mp
	run -0 --separate-stderr dagsplit -vv --no-auto llm.mp -o cut.mp
	[[ $stderr == *"q_proj/MatMul_0' (MatMul): columns, "* && $stderr == *"ScaledDotProductAttention_0' (ScaledDotProductAttention): heads, 8 in 2 parts"* ]]
	[[ $stderr == *"o_proj/MatMul_3' (MatMul): sum, "* ]]
	py '
		g = of("cut.mp", "graph")[0]
		t = [g["types"][i] for i in array(g["type"])]
		ptr, src = array(g["in_ptr"]), array(g["in_node"])
		out, elem = array(g["out_ptr"]), [g["elems"][i] for i in array(g["out_elem"])]
		# Nothing is taken from weights of several codes in a byte but whole bytes of the file.
		assert not [v for v in range(len(t)) if t[v] == "Slice" and elem[out[src[ptr[v]]]] in ("u4", "i4")]
		assert [v for v in range(len(t)) if t[v] == "Const" and elem[out[v]] == "u4" and "/0.." in g["node_name"][v]]
	'
	devrun probe -D cpu:0 llm.mp | placebase single | devrun -n 1 --no-reference --outputs all -o r.mp
	devrun probe -D cpu:0 cut.mp | placebase single | devrun -n 1 --no-reference --outputs parts -o r.mp
	py '
		import os
		names = sorted(n for n in os.listdir("all") if n.endswith(".npy"))
		for n in names:
		    a, b = (np.load(d + "/" + n) for d in ("all", "parts"))
		    assert np.abs(a - b).max() <= 2e-6 * np.abs(a).max(), n
		assert len(names) == 5
	'
}

@test "parts that are all on one device run as the model before it was cut" {
	run_all() { devrun probe -D cpu:0,cpu:1 "$1.mp" | placebase "$2" -o placed.mp; devrun -n 1 --seed 3 --outputs "$1.$3" placed.mp -o run.mp; recdump -k run --tsv steps,copies run.mp; }
	dagsplit googlenet.mp -o cut.mp
	whole=$(run_all googlenet single:cpu:1 one) || return 1
	[ "$(run_all cut single:cpu:1 one)" = "$whole" ]
	cmp googlenet.one/0.npy cut.one/0.npy
	# Apart they are parts.
	[ "$(run_all cut random apart)" != "$(run_all googlenet random apart)" ]
	# A graph that is cut twice was whole before the first time.
	dagsplit cut.mp --axes rows -o twice.mp
	[ "$(run_all twice single:cpu:1 one)" = "$whole" ]
	# A race compares with the model, not with its parts.
	devrun probe --profile --max-seconds 0.1 -D cpu:0,cpu:1 cut.mp | placebase random -n 1 |
		devrun paired --placements --schedule --race 0.5 -o final.mp
	recdump -k best final.mp > /dev/null
}

@test "a whole that is none: one line, status 3" {
	py '
		recs = read("cut.mp")
		for k, m in recs:
			if k == "graph":
				m["whole"] = {**m["whole"], "set": m["set"]}
		write("bad.mp", [[k, m] for k, m in recs])
	'
	run -3 --separate-stderr devrun probe -D cpu:0 bad.mp -o none.mp
	[[ $stderr == *"key 'whole'"* && ${#stderr_lines[@]} -eq 1 ]]
	py '
		recs = read("cut.mp")
		for k, m in recs:
			if k == "graph":
				of = array(m["part_of"]).copy()
				of[np.flatnonzero(of != 2**32 - 1)[0]] = len(m["whole"]["node_name"])
				m["part_of"] = tensor(of)
		write("bad.mp", [[k, m] for k, m in recs])
	'
	run -3 --separate-stderr devrun probe -D cpu:0 bad.mp -o none.mp
	[[ $stderr == *"key 'part_of': "*" is not one of "* && ${#stderr_lines[@]} -eq 1 ]]
}

@test "the report: how many operations several devices compute, and what each does of their work" {
	dagsplit --axes channels --shares 3,1 --no-auto googlenet.mp | devrun probe -D cpu:0,cpu:1 | placebase single:cpu:0 -o one.mp
	py '
		recs = read("one.mp")
		g, place = first(recs, "graph"), first(recs, "place")
		of, types = array(g["part_of"]), [g["types"][t] for t in array(g["type"])]
		sets, device, seen = array(g["set"]), np.zeros(g["n_sets"], np.uint16), {}
		names = g["whole"]["node_name"]
		for v, w in enumerate(of):
			if w != 2**32 - 1:
				assert g["node_name"][v].startswith(names[w] + " ["), (g["node_name"][v], names[w])
				seen.setdefault(w, []).append(v)
				if len(seen[w]) == 2 and sets[v] < g["n_sets"] and types[v] == "Convolution":
					device[sets[v]] = 1
		place["device"] = tensor(device)
		write("apart.mp", recs)
	'
	placeout --format report apart.mp -o apart.txt
	grep -q "^in parts: several devices compute [1-9][0-9]* of [1-9][0-9]* operations that are cut; of their work 75 % on cpu:0, 25 % on cpu:1$" apart.txt || { cat apart.txt; return 1; }
	placeout --format report one.mp -o one.txt
	run ! grep "^in parts" one.txt
	[[ $(placeout --format json one.mp) == *'"operations_cut": null, "operations_apart": null'* ]]
}

machine() {   # GROUPS SIZE MEMORY - fast links within a group, slow ones between
	local i j n=$(($1 * $2))
	for ((i = 0; i < n; i++)); do echo "device g$i flops 1e11 bandwidth 1e11 overhead 1e-6 memory $3"; done
	echo "link * * latency 1e-6 bandwidth 1e10"
	for ((i = 0; i < n; i++)); do
		for ((j = 0; j < n; j++)); do
			[ $((i == j || i / $2 != j / $2)) = 1 ] || echo "link g$i g$j latency 1e-6 bandwidth 1e11"
		done
	done
}

@test "devices with memories of their own: each its joins, sums by ranges, between groups once" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/llm.py" prompt --layers 2 --tokens 32
	machine 2 2 0 > four.spec
	ir2dag prompt.xml -o prompt.mp
	dagsplit --spec four.spec --no-auto --axes columns,heads,sum prompt.mp -o cut.mp
	devsim --probe --spec four.spec cut.mp | placebase parts -o placed.mp
	py '
		import re
		g = of("cut.mp", "graph")[0]
		names, part = g["node_name"], array(g["part"])
		none = 2**32 - 1
		for v, n in enumerate(names):
			if m := re.search(r"/for part (\d+)$", n): assert part[v] == int(m[1]), n
		t = [g["types"][i] for i in array(g["type"])]
		sums = [v for v, n in enumerate(names) if " [sum " in n and t[v] == "Add"]
		relays = [v for v, n in enumerate(names) if "/to group " in n]
		assert sums and relays
		ptr, src = array(g["in_ptr"]), array(g["in_node"])
		for v in sums:
			a, b = (part[u] // 2 for u in src[ptr[v]:ptr[v + 1]])
			inner = " in group " in names[v]
			# Within a group all that is added is of that group; only sums of groups cross.
			assert a == b == part[v] // 2 if inner else {a, b} == {0, 1}, names[v]
		for v in relays:
			u = src[ptr[v]]
			assert part[u] // 2 != part[v] // 2 and part[u] % 2 == part[v] % 2, names[v]
		# Whatever comes to a join for one part from the other group comes through a relay.
		for v, n in enumerate(names):
			if "/for part " in n and t[v] == "Concat":
				assert {part[u] // 2 for u in src[ptr[v]:ptr[v + 1]] if part[u] != none} <= {part[v] // 2}, n
		p, sets = of("placed.mp", "place")[0], array(g["set"])
		for v in range(len(names)):
			if part[v] != none and sets[v] < g["n_sets"]:
				assert p["devices"][array(p["device"])[sets[v]]] == "g%d" % part[v], names[v]
	'
	# A result in parts stays in parts: what joins it is no task, and nothing is copied for it.
	devsim --schedule placed.mp -o ran.mp
	py '
		g, r, c = of("ran.mp", "graph")[0], of("ran.mp", "run")[0], of("ran.mp", "cost")[0]
		t, sets = [g["types"][i] for i in array(g["type"])], array(g["set"])
		ptr, src = array(g["in_ptr"]), array(g["in_node"])
		joins = [src[ptr[v]] for v in range(len(t)) if t[v] == "Result" and t[src[ptr[v]]] == "Concat"]
		assert joins and not set(sets[joins]) & set(array(r["schedule"]["set"])) and not array(c["set_s"])[sets[joins]].any()
	'
	refused 2 "--joins each: how far devices are from each other comes from --spec" --joins each prompt.mp
	dagsplit --spec four.spec --joins once --no-auto --axes sum prompt.mp -o once.mp
	py 'assert not [n for n in of("once.mp", "graph")[0]["node_name"] if "/for part " in n or "/to group " in n]'
	devsim --probe --spec four.spec prompt.mp -o probed.mp
	run -0 --separate-stderr placebase -v parts probed.mp -o none.mp
	[[ $stderr == *"no operation is in parts; dagsplit makes them"* ]]
}

@test "results of parts with memories of their own are those of the whole" {
	ir2dag prompt.xml -o prompt.mp
	devrun probe -D cpu:0 prompt.mp | placebase single | devrun -n 1 --no-reference --outputs prompt -o r.mp
	machine 1 3 0 > three.spec
	machine 4 2 0 > eight.spec
	for o in "four --axes columns,heads,sum" "three --axes tokens,heads" "eight --axes columns,heads,sum" "four --shares 1,2,1,3"; do
		# Of the eight parts each has half a head of keys and values: both parts have the whole of it.
		# shellcheck disable=SC2086
		dagsplit --no-auto --spec ${o/ /.spec } prompt.mp | devrun probe -D cpu:0,cpu:1 | placebase random | devrun -n 1 --no-reference --outputs cut -o r.mp
		py '
			import os
			names = sorted(n for n in os.listdir("prompt") if n.endswith(".npy"))
			assert names
			for n in names:
				a, b = (np.load(d + "/" + n) for d in ("prompt", "cut"))
				# Sums of eight parts in another order, through two layers.
				assert a.shape == b.shape and np.abs(a - b).max() <= 1e-5 * np.abs(a).max(), (sys.argv[1], n)
		' "$o"
		rm -r cut
	done
}

@test "weights are cut where they would not fit otherwise" {
	ir2dag prompt.xml -o prompt.mp
	machine 1 4 0 > any.spec
	held() { dagsplit --spec "$1" prompt.mp | devsim --probe --spec "$1" | placebase parts | devsim -o held.mp; py 'r = runs("held.mp")[0]; print(max(array(r["mem_bytes"])), r["ok"])'; }
	read -r most ok <<< "$(held any.spec)"
	machine 1 4 $((most * 3 / 5)) > little.spec
	read -r less ok <<< "$(held little.spec)"
	[ "$ok" = True ] && [ "$less" -le $((most * 3 / 5)) ] || { echo "$most $less $ok"; return 1; }
	machine 1 4 10000 > none.spec
	run -0 --separate-stderr dagsplit --spec none.spec prompt.mp -o none.mp
	[[ $stderr == *"warning: weights of 'prompt' do not fit: "*" GB on each device, which has 1e-05, however they are cut along "* ]] || { echo "$stderr"; return 1; }
	# What unpacks weights is not counted beside them: where all fits nothing is given up for memory.
	machine 1 4 "$most" > enough.spec
	[ "$(held enough.spec)" = "$most True" ]
}

@test "of a cache that comes as an input each device holds the heads that it reads" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/llm.py" step --layers 2 --past 20000
	ir2dag step.xml -o step.mp
	machine 1 2 0 > two.spec
	devsim --probe --spec two.spec step.mp | placebase single:g0 | devsim -o whole.mp
	dagsplit --spec two.spec --no-auto --axes heads,columns step.mp | devsim --probe --spec two.spec | placebase parts | devsim -o parts.mp
	py '
		most = [max(array(runs(f)[0]["mem_bytes"])) for f in ("whole.mp", "parts.mp")]
		assert most[1] < 0.6 * most[0], most
	'
}

@test "experts: each whole on one device, as many on each; what they make is joined and added there" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/mixture.py" mixture --layers 2
	machine 2 2 0 > four.spec
	ir2dag mixture.xml -o mixture.mp
	dagsplit --spec four.spec mixture.mp -o experts.mp
	devsim --probe --spec four.spec experts.mp | placebase parts -o placed.mp
	py '
		import re
		g = of("experts.mp", "graph")[0]
		names, part, t = g["node_name"], array(g["part"]), [g["types"][i] for i in array(g["type"])]
		where = {}
		for v, n in enumerate(names):
			if (m := re.match(r"l(\d)\.e(\d)\.", n)) and t[v] in ("MatMul", "Gather", "Swish", "Multiply"):
				where.setdefault((int(m[1]), int(m[2])), []).append(part[v])
		assert {k: set(v) for k, v in where.items()} == {(l, e): {e // 2} for l in range(2) for e in range(8)}, where
		assert all(len(v) == 7 for v in where.values())
		ptr, src = array(g["in_ptr"]), array(g["in_node"])
		for kind, name in (("Concat", "rows"), ("Concat", "where"), ("ScatterNDUpdate", "added"), ("Split", "places")):
			found = [v for v, n in enumerate(names) if t[v] == kind and n.startswith("l1.%s [" % name) and "/for part" not in n]
			assert sorted(part[found]) == [0, 1, 2, 3], (kind, [names[v] for v in found])
			for v in found: # of what several devices make nothing is read but by joins
				assert all(part[u] in (part[v], 2**32 - 1) for u in src[ptr[v]:ptr[v + 1]]), names[v]
		zeros = [v for v, n in enumerate(names) if n.startswith("zeros [f32 part ")]
		assert len(zeros) == 4
		p, sets = of("placed.mp", "place")[0], array(g["set"])
		for v in range(len(names)):
			if part[v] != 2**32 - 1 and sets[v] < g["n_sets"]:
				assert p["devices"][array(p["device"])[sets[v]]] == "g%d" % part[v], names[v]
	'
	devrun probe -D cpu:0 mixture.mp | placebase single | devrun -n 1 --no-reference --outputs mixture -o r.mp
	# Where parts are apart nothing is whole again, and what is whole keeps its joins.
	dagsplit --rejoin placed.mp | devsim --probe --spec four.spec | devsim -o again.mp
	devsim placed.mp -o ran.mp
	[ "$(recdump -k run --tsv lat_s,copies again.mp)" = "$(recdump -k run --tsv lat_s,copies ran.mp)" ]
	dagsplit --spec four.spec mixture.mp | devrun probe -D cpu:0,cpu:1 | placebase random --seed 3 | dagsplit --rejoin |
		devrun -n 1 --no-reference --outputs again -o r.mp
	py 'a, b = (np.load(d + "/0.npy") for d in ("mixture", "again")); assert np.abs(a - b).max() <= 1e-5 * np.abs(a).max()'
	for o in "" --no-auto "--shares 1,2,1,3" "--joins once --no-auto"; do
		# shellcheck disable=SC2086
		dagsplit --spec four.spec $o mixture.mp | devrun probe -D cpu:0,cpu:1 | placebase parts | devrun -n 1 --no-reference --outputs experts -o r.mp
		py '
			a, b = (np.load(d + "/0.npy") for d in ("mixture", "experts"))
			assert a.shape == b.shape and np.abs(a - b).max() <= 1e-5 * np.abs(a).max(), sys.argv[1]
		' "$o"
		rm -r experts
	done
}

@test "--rejoin: operations whose parts are on one device are whole again, where they were; the results stay" {
	devrun probe -D cpu:0,cpu:1 googlenet.mp | placebase single:cpu:0 | devrun -n 1 --no-reference --outputs first -o r.mp
	for o in "--axes channels,sum" "--axes rows" "--ways 3 --halo again"; do
		# shellcheck disable=SC2086
		dagsplit --no-auto $o googlenet.mp | devrun probe -D cpu:0,cpu:1 | placebase random --seed 4 -o placed.mp
		run -0 --separate-stderr dagsplit --rejoin -v placed.mp -o again.mp
		[[ $stderr == *" operations stay in parts, "* ]]
		devrun -n 1 --no-reference --outputs again again.mp -o r.mp
		py '
			a, b = (np.load(d + "/0.npy") for d in ("first", "again"))
			assert np.abs(a - b).max() <= 2e-6 * np.abs(a).max(), sys.argv[1]
			def placed(f):
				g, p = of(f, "graph")[0], of(f, "place")[0]
				at, sets = array(p["device"]), array(g["set"])
				parts, whole = {}, {}
				ids = {i: w for w, i in enumerate(array(g["whole"]["id"]))}
				for v, w in enumerate(array(g["part_of"])):
					d = at[sets[v]] if sets[v] < g["n_sets"] else None
					if w != 2**32 - 1: parts.setdefault(w, []).append(d)
					elif array(g["id"])[v] in ids: whole[ids[array(g["id"])[v]]] = d
				return parts, whole
			(before, kept), (after, whole) = placed("placed.mp"), placed("again.mp")
			assert after and all(len(set(d)) > 1 for d in after.values())
			# Sets are others now; a few operations go where the others of theirs are.
			same = [after.get(w) == d for w, d in before.items() if len(set(d)) > 1]
			alone = [whole.get(w) == d[0] for w, d in before.items() if len(set(d)) == 1]
			assert len(alone) > 20 and sum(same) > .8 * len(same) and sum(alone) > .95 * len(alone), (sum(same), len(same), sum(alone), len(alone))
			assert all(whole[w] == d for w, d in kept.items())
		' "$o"
		rm -r again
	done
	# What was placed is taken by all stages, costs of a specification too.
	dagsplit --no-auto googlenet.mp | devsim --probe --spec paper | placebase random --seed 4 | dagsplit --rejoin | devsim --probe --spec paper | devsim -o ran.mp
	py 'assert runs("ran.mp")[0]["ok"]'
	run -3 --separate-stderr dagsplit --rejoin googlenet.mp -o none.mp
	[[ $stderr == *"--rejoin: the graph was not cut by dagsplit, or more than once" ]]
	dagsplit --no-auto googlenet.mp -o cut.mp
	run -3 --separate-stderr dagsplit --rejoin cut.mp -o none.mp
	[[ $stderr == *"--rejoin: a stream without a placement; placebase makes one" ]]
	py '
		recs = read("placed.mp")
		for change in ("axis", "share", "group"):
			m = {k: dict(v) if k == "cut" else v for k, v in first(recs, "graph").items()}
			m["cut"][change] = {"axis": tensor(array(m["cut"]["axis"]) * 0 - 7), "share": tensor(array(m["cut"]["share"]) * 0),
			                    "group": tensor(array(m["cut"]["group"]) + 200)}[change]
			write("bad.%s.mp" % change, [[k, m if k == "graph" else v] for k, v in recs])
	'
	for change in axis share group; do
		run -3 --separate-stderr dagsplit --rejoin "bad.$change.mp" -o none.mp
		[[ $stderr == *"key 'cut': key '$change': "* && ${#stderr_lines[@]} -eq 1 ]] || { echo "$stderr"; return 1; }
	done
}

@test "caches: a variable for each part, read and assigned there; three inferences are those of the whole" {
	needs_openvino
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	run_three() { devrun run --keep-state -n 3 --warmup 0 --no-reference --outputs "$1" "$2" -o r.mp && [ "$(recdump -k run --tsv ok r.mp)" = true ]; }
	for m in "decoder" "grows --shape x=1,2,16;beam_idx=1;?.cache=1,?,16"; do
		# shellcheck disable=SC2086
		set -- $m
		ir2dag "$1.xml" "${@:2}" -o state.mp
		placebase single -D cpu:0 state.mp -o s.mp
		run_three whole s.mp
		for o in "--ways 2 --axes columns" "--ways 3 --shares 1,2,1" "--ways 4 --axes columns,sum"; do
			# shellcheck disable=SC2086
			dagsplit --no-auto $o state.mp -o cut.mp
			placebase random -D cpu:0,cpu:1 --seed 5 cut.mp -o s.mp
			run_three parts s.mp
			py '
				g, p = of("s.mp", "graph")[0], of("s.mp", "place")[0]
				names, sets, at = g["node_name"], array(g["set"]), array(p["device"])
				key, value = ([g["attr_strings"][i] for i in array(g[k])] for k in ("attr_key", "attr_value"))
				ptr, where = array(g["attr_ptr"]), {}
				for v, n in enumerate(names):
					for i in range(ptr[v], ptr[v + 1]):
						if key[i] == "variable_id":
							where.setdefault(value[i], []).append((n, sets[v]))
				ways = int(sys.argv[1].split()[1])
				layers = 3 if "2.cache" in " ".join(where) else 2
				assert layers == 3 or {value[i] for i in range(len(key)) if key[i] == "variable_shape"} <= {"?,?,%d" % k for k in range(1, 16)}
				assert len(where) == ways * layers and all(" of 16]" in n and len(x) == 2 and x[0][1] == x[1][1] for n, x in where.items()), where
				a, b = (np.load(d + "/0.npy") for d in ("whole", "parts"))
				assert a.shape == b.shape and np.abs(a - b).max() <= 2e-6 * np.abs(a).max(), sys.argv[1]
			' "$o"
			rm -r parts
			dagsplit --rejoin s.mp -o again.mp
			run_three parts again.mp
			py 'a, b = (np.load(d + "/0.npy") for d in ("whole", "parts")); assert np.abs(a - b).max() <= 2e-6 * np.abs(a).max(), sys.argv[1]' "$o"
			rm -r parts
		done
		rm -r whole
	done
}
