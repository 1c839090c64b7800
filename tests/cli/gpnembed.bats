#!/usr/bin/env bats
# gpnembed: partitions in one pass, parameters given and made, groupings honoured,
# the loop's protocol.
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	loop_setup_file
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	IN=$BATS_FILE_TMPDIR/in.mp
}

@test "one pass: params and a part, after everything that came in" {
	gpnembed $GPN "$IN" > out.mp
	run -0 kinds out.mp
	[ "$output" = "hdr graph feat devs cost params part end" ]
	gpnembed $GPN --steps 3 "$IN" > out.mp
	run -0 kinds out.mp
	[ "$output" = "hdr graph feat devs cost params 3*part end" ]
}

@test "rounds of parsing: fewer groups with each, one group at the end" {
	last=60
	for rounds in 1 2; do
		gpnembed $GPN --rounds $rounds --min-groups 1 "$IN" > out.mp
		n=$(recdump -k part --tsv n_groups out.mp)
		[ "$n" -lt $last ]
		last=$n
	done
	gpnembed --recipe paper --hidden 16 --rounds end "$IN" > out.mp
	[ "$(recdump -k part --tsv n_groups out.mp)" = 1 ]
	gpnembed $GPN --rounds end --min-groups 9 "$IN" > out.mp
	[ "$(recdump -k part --tsv n_groups out.mp)" = 9 ]
}

@test "-v reports the groups after each round" {
	run -0 --separate-stderr bash -c "gpnembed $GPN -v --rounds 2 '$IN' > out.mp"
	[[ $stderr == *"episode 0 step 0: "*" -> "*" groups"* ]]
	run -0 --separate-stderr bash -c "gpnembed $GPN '$IN' > out.mp"
	[ -z "$stderr" ]
}

@test "the same seed gives the same bytes, from a file or a pipe, with any threads" {
	gpnembed --hidden 16 --threads 1 --steps 3 "$IN" > a.mp
	gpnembed --hidden 16 --threads 2 --steps 3 < "$IN" > b.mp
	cat "$IN" | gpnembed --hidden 16 --threads 2 --steps 3 -o c.mp
	same_body a.mp b.mp
	same_body a.mp c.mp
	gpnembed --hidden 16 --seed 9 --steps 3 "$IN" > d.mp
	run ! same_body a.mp d.mp
}

@test "given parameters: those of the file, whatever the options say" {
	gpnembed --hidden 16 --seed 5 "$IN" > a.mp
	gpnembed --params a.mp --seed 1 "$IN" > b.mp
	same_body a.mp b.mp
	# in the stream they are taken as well
	gpnembed --hidden 16 --seed 5 "$IN" | gpnembed --steps 2 > /dev/null
	ir2dag "$MODELS/if_body.xml" | dagfeat --paper > other.mp
	run -3 gpnembed --params a.mp other.mp -o out.mp
	[[ $output == *"do not fit"* ]]
	[ ! -e out.mp ]
	run -3 gpnembed --params "$IN" "$IN" -o out.mp
	[[ $output == *"no params of block 'embed'"* ]]
}

@test "a grouping from the stream is honoured" {
	edit "$IN" in.mp 'g = records[0][1]; n = g["n_sets"]
import struct
group = lambda f, n_groups: ["group", {"graph": g["digest"], "method": "test", "n_groups": n_groups,
  "group": {"dtype": "u32", "shape": [n], "data": struct.pack("<%dI" % n, *map(f, range(n)))}}]
records.append(group(lambda i: min(i // 10, 3), 4))'
	gpnembed $GPN in.mp > out.mp
	[ "$(recdump -k part --tsv rounds,given,n_groups out.mp)" = $'\ttrue\t4' ]
	edit in.mp bad.mp 'records[-1][1]["n_groups"] = 5'
	run -3 gpnembed $GPN bad.mp -o out2.mp
	edit in.mp bad.mp 'records[-1][1]["graph"] = 1'
	run -3 gpnembed $GPN bad.mp -o out2.mp
	[[ $output == *"another graph"* ]]
	edit in.mp bad.mp 'records[-1][1]["group"]["data"] = b"\xff" * len(records[-1][1]["group"]["data"])'
	run -3 gpnembed $GPN bad.mp -o out2.mp
}

@test "two graphs in one stream are refused, two streams are not" {
	edit "$IN" two.mp 'records.append(records[0])'
	run -3 gpnembed $GPN two.mp -o out.mp
	[[ $output == *"two graphs in one stream"* ]]
	cat "$IN" "$IN" | gpnembed $GPN > out.mp
	run -0 kinds out.mp
	[ "$output" = "hdr graph feat devs cost params part end hdr graph feat devs cost params part end" ]
}

@test "unknown records and keys pass through, in order" {
	edit "$IN" in.mp 'records.insert(1, ["zzz", {"a": [1, None]}]); records.append(["yyy", {}]); records[2][1]["new"] = 1'
	gpnembed $GPN in.mp > out.mp
	run -0 kinds out.mp
	[ "$output" = "hdr graph zzz feat devs cost yyy params part end" ]
	[ "$(recdump -k feat --tsv new out.mp)" = 1 ]
}

@test "what is missing is said" {
	HSDAG_PRODUCTS=mkl run -2 gpnembed "$IN" -o out.mp
	[ "$output" = "gpnembed: error: HSDAG_PRODUCTS is 'mkl'; it can be 'own' or 'openblas'" ]
	ir2dag "$MODELS/alexnet.xml" > in.mp
	run -3 gpnembed in.mp -o out.mp
	[[ $output == *"no feat in the stream; put dagfeat in front"* ]]
	edit "$IN" in.mp 'records = records[1:]'
	run -3 gpnembed in.mp -o out.mp
	[[ $output == *"no graph in the stream"* ]]
	edit "$IN" in.mp 'records[1][1]["graph"] = 7'
	run -3 gpnembed in.mp -o out.mp
	[[ $output == *"feat: it is about another graph"* ]]
	run -2 gpnembed --rounds 0 "$IN" -o out.mp
	run -2 gpnembed --dropout-network 1.5 "$IN" -o out.mp
	[ ! -e out.mp ]
}

@test "every prefix of the input is rejected" {
	edit "$IN" in.mp 'records = [r for r in records if r[0] in ("graph", "feat")]'
	size=$(stat -c %s in.mp)
	for n in 0 1 2 5 20 100 $((size / 4)) $((size / 2)) $((size - 100)) $((size - 2)) $((size - 1)); do
		head -c "$n" in.mp > prefix
		run -3 bash -c "gpnembed $GPN prefix > out.mp"
	done
}

@test "loop: nothing of an episode before it is asked for; end ends it" {
	mkfifo loop.fifo
	gpnembed $GPN --params-from loop.fifo "$IN" > out.mp 3>&- &
	pid=$!
	sleep 0.3
	[ "$(recdump --tsv :kind out.mp 2> /dev/null | grep -cx part)" -eq 0 ]
	"$HSDAG_PYTHON" - > loop.fifo <<-'PY'
		import sys, msgpack, xxhash
		records = [msgpack.packb(r) for r in (["episode", {"episode": 1, "steps": 2}], ["episode", {"episode": 2, "steps": 1}])]
		body = b"".join(records)
		sys.stdout.buffer.write(msgpack.packb(["hdr", {"version": 1, "chain": []}]) + body +
		    msgpack.packb(["end", {"records": 2, "digest": xxhash.xxh64(body).intdigest()}]))
	PY
	wait $pid
	run -0 kinds out.mp
	[ "$output" = "hdr graph feat devs cost params episode 2*part episode_end episode part episode_end end" ]
}

@test "loop: the end of the FIFO without its end record is a failure" {
	mkfifo loop.fifo
	for text in '' '\x92\xa3hdr\x82\xa7version\x01\xa5chain\x90' garbage; do
		gpnembed $GPN --params-from loop.fifo "$IN" > out.mp 2> err 3>&- &
		pid=$!
		printf "$text" > loop.fifo
		status=0
		wait $pid || status=$?
		[ $status -eq 3 ]
		[[ $(cat err) == *"--params-from 'loop.fifo'"* ]]
	done
}

@test "100,000 sets: a pass keeps the features and what it still needs" {
	no_sanitizer
	py '
		import random
		r = random.Random(3)
		n = 100000
		json.dump({"devices": [{"name": "a"}], "nodes": [{"id": i, "cost_s": 1} for i in range(n)],
		           "edges": [{"src": u, "dst": i} for i in range(1, n) for u in {r.randrange(max(0, i - 50), i) for _ in range(1 + i % 2)}]},
		          open("big.json", "w"))
	'
	json2dag big.json | dagfeat --features all,-fractal -o big.mp
	py '
		from peak import peak
		p = peak("gpnembed", "-o", "out.mp", "big.mp")
		n, d = of("out.mp", "feat")[0]["x"]["shape"]
		# The features, three matrices 128 wide, the graph and the streams: not their copies, not a row for each edge.
		assert p < 1.2 * 4 * n * (d + 3 * 128) + (64 << 20), (p, n, d)
	'
}
