#!/usr/bin/env bats
# placepolicy: draws, the most probable placement, masks, anchors, what it passes on.
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	loop_setup_file
	gpnembed $GPN --steps 3 in.mp > part.mp
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	IN=$BATS_FILE_TMPDIR/part.mp
}

# Evaluate a Python expression over p = [place maps], t(tensor) -> list.
places() {
	"$HSDAG_PYTHON" - "$1" "$2" <<-'PY'
		import sys, msgpack, struct
		p = [m for k, m in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30) if k == "place"]
		def t(x): return list(struct.unpack("<%d%s" % (x["shape"][0], {"u16": "H", "u32": "I"}[x["dtype"]]), x["data"]))
		sys.exit(not eval(sys.argv[2]))
	PY
}

@test "a part gives a placement whose groups share a device" {
	placepolicy "$IN" > out.mp
	run -0 kinds out.mp
	[ "$output" = "hdr graph feat devs cost 2*params part place part place part place end" ]
	places out.mp 'len(p) == 3 and all(len(t(m["device"])) == 60 for m in p)'
	places out.mp 'all(m["source"] == "policy" and m["logp"] < 0 and m["entropy"] > 0 for m in p)'
	"$HSDAG_PYTHON" - out.mp <<-'PY'
		import sys, msgpack, struct
		t = lambda x, c: struct.unpack("<%d%s" % (x["shape"][0], c), x["data"])
		for k, m in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30):
		    if k == "part": group = t(m["group"], "I")
		    if k == "place":
		        action, device = t(m["action"], "H"), t(m["device"], "H")
		        assert device == tuple(action[g] for g in group)
	PY
}

@test "embeddings go no further, unless they are asked for" {
	placepolicy "$IN" > out.mp
	[ "$(recdump -k part --tsv z out.mp | sort -u)" = "" ]
	placepolicy --keep "$IN" > out.mp
	[ "$(recdump -k part --tsv 'z[0]' out.mp | grep -c ,)" -eq 3 ]
}

@test "draws depend on the seed, greedy does not" {
	placepolicy "$IN" > a.mp
	placepolicy "$IN" > b.mp
	same_body a.mp b.mp
	placepolicy --seed 2 "$IN" > c.mp
	run ! same_body a.mp c.mp
	# from the same policy: with the parameters of the first
	placepolicy --greedy --keep "$IN" > d.mp
	placepolicy --greedy --seed 2 d.mp > e.mp
	places e.mp 'len({tuple(t(m["device"])) for m in p if m["step"] == 0}) == 1'
}

@test "several samples per partition are different draws of one policy" {
	placepolicy --samples 8 "$IN" > out.mp
	places out.mp 'len(p) == 24 and [m["sample"] for m in p[:8]] == list(range(8))'
	places out.mp 'len({tuple(t(m["device"])) for m in p[:8]}) > 4'
	places out.mp 'len({m["entropy"] for m in p[:8]}) == 1'
}

@test "draws follow the probabilities" {
	placepolicy --samples 4000 "$IN" > out.mp
	"$HSDAG_PYTHON" - out.mp <<-'PY'
		import sys, msgpack, struct, math, collections
		t = lambda x, c: struct.unpack("<%d%s" % (x["shape"][0], c), x["data"])
		p = [m for k, m in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30) if k == "place" and m["step"] == 0]
		# the mean of -log p over draws is the entropy
		h = -sum(m["logp"] for m in p) / len(p)
		sd = (sum((-m["logp"] - h) ** 2 for m in p) / len(p)) ** .5
		assert abs(h - p[0]["entropy"]) < 5 * sd / len(p) ** .5 + 1e-9, (h, p[0]["entropy"], sd)
	PY
}

@test "anchors come first: every device alone, where it can run everything" {
	placepolicy --anchors "$IN" > out.mp
	places out.mp '[m["source"] for m in p] == ["single"] * 2 + ["policy"] * 3'
	places out.mp 'set(t(p[0]["device"])) == {0} and set(t(p[1]["device"])) == {1}'
	edit "$IN" in.mp 'd = next(m for k, m in records if k == "devs")["mask"]
d["data"] = d["data"][:21] + b"\0" + d["data"][22:]'
	placepolicy --anchors in.mp > out.mp
	places out.mp '[m["source"] for m in p] == ["single"] + ["policy"] * 3 and set(t(p[0]["device"])) == {0}'
}

@test "a masked device is never chosen" {
	edit "$IN" in.mp 'd = next(m for k, m in records if k == "devs")["mask"]
d["data"] = d["data"][:20] + b"\0\1" + d["data"][22:]'
	placepolicy --samples 50 in.mp > out.mp
	places out.mp 'all(t(m["device"])[10] == 1 for m in p)'
	places out.mp 'any(0 in t(m["device"]) for m in p)'
	# a set that no device can run is the run stage's to name
	edit "$IN" in.mp 'd = next(m for k, m in records if k == "devs")["mask"]
d["data"] = d["data"][:20] + b"\0\0" + d["data"][22:]'
	placepolicy in.mp > out.mp
	edit "$IN" in.mp 'd = next(m for k, m in records if k == "devs"); d["graph"] = 1'
	run -3 placepolicy in.mp -o bad.mp
	[[ $output == *"mask is about another graph"* ]]
}

@test "-D names the devices where no record does" {
	edit "$IN" in.mp 'records = [r for r in records if r[0] not in ("devs", "cost")]'
	run -3 placepolicy in.mp -o out.mp
	[[ $output == *"no devs in the stream; give -D LIST"* ]]
	placepolicy -D cpu:0,1,cl:0.0,x in.mp > out.mp
	[ "$(recdump -k devs --tsv names,types out.mp)" = $'cpu:0\\,1,cl:0.0,x\tcpu,opencl,model' ]
	run -2 placepolicy -D cpu,cpu in.mp -o bad.mp
	[[ $output == *"listed twice"* ]]
	run -2 placepolicy -D "" in.mp -o bad.mp
	run -2 placepolicy -D a,b "$IN" -o bad.mp
	[[ $output == *"has devs already"* ]]
}

@test "trained parameters of another number of devices do not fit" {
	placepolicy --keep "$IN" > a.mp
	edit a.mp in.mp 'records = [r for r in records if r[0] not in ("devs", "cost", "place")]'
	run -3 placepolicy -D a,b,c in.mp -o out.mp
	[[ $output == *"do not fit"*"3 devices"* ]]
}

@test "parts of another graph, without embeddings or without params are refused" {
	edit "$IN" in.mp 'next(m for k, m in records if k == "part")["graph"] = 1'
	run -3 placepolicy in.mp -o out.mp
	[[ $output == *"another graph"* ]]
	edit "$IN" in.mp 'del next(m for k, m in records if k == "part")["z"]'
	run -3 placepolicy in.mp -o out.mp
	[[ $output == *"no embeddings z"* ]]
	edit "$IN" in.mp 'records = [r for r in records if r[0] != "params"]'
	run -3 placepolicy in.mp -o out.mp
	[[ $output == *"no params"* ]]
	edit "$IN" in.mp 'records.append(records[0])'
	run -3 placepolicy in.mp -o out.mp
	[[ $output == *"two graphs in one stream"* ]]
	edit "$IN" in.mp 'm = next(m for k, m in records if k == "part"); m["n_groups"] -= 1'
	run -3 placepolicy in.mp -o out.mp
	[ ! -e out.mp ]
}

@test "every prefix of the input is rejected" {
	size=$(stat -c %s "$IN")
	for n in 0 1 2 5 20 100 $((size / 4)) $((size / 2)) $((size - 100)) $((size - 2)) $((size - 1)); do
		head -c "$n" "$IN" > prefix
		run -3 bash -c "placepolicy prefix > out.mp"
	done
	run -1 bash -c "placepolicy '$IN' > /dev/full"
}
