#!/usr/bin/env bats
# reinforce: what it asks for, what it accepts, how it ranks.  The loop as a whole
# is in loop.bats.
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	loop_setup_file
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	IN=$BATS_FILE_TMPDIR/in.mp
	POLICY= SIM=--fixed
}

# A stage that changes what passes: python(kind, map) sees each record and may change it;
# returning False drops it.
cat_python() {
	cat > "$1" <<-PY
		import sys, msgpack, xxhash
		out, n, digest = sys.stdout.buffer, 0, xxhash.xxh64()
		def change(kind, m):
		    $2
		u = msgpack.Unpacker(max_buffer_size=2**30)
		while data := sys.stdin.buffer.raw.read(65536):
		    u.feed(data)
		    for kind, m in u:
		        if kind == "hdr": wire = msgpack.packb([kind, m])
		        elif kind == "end": wire = msgpack.packb([kind, {"records": n, "digest": digest.intdigest()}])
		        elif change(kind, m) is False: continue
		        else:
		            wire = msgpack.packb([kind, m]); n += 1; digest.update(wire)
		        out.write(wire); out.flush()
	PY
}

# The loop with that stage between placepolicy and devsim.
loop_with() {
	rm -f loop.fifo && mkfifo loop.fifo
	timeout 60 bash -o pipefail -c "gpnembed $GPN --params-from loop.fifo $IN | placepolicy |
		'$HSDAG_PYTHON' stage.py | devsim --fixed | reinforce $LEARN --params-to loop.fifo > out.mp"
}

# The loop with that stage between devsim and reinforce.
loop_measured() {
	rm -f loop.fifo && mkfifo loop.fifo
	timeout 60 bash -o pipefail -c "gpnembed $GPN --params-from loop.fifo $IN | placepolicy | devsim --fixed |
		'$HSDAG_PYTHON' stage.py | reinforce $LEARN --params-to loop.fifo > out.mp"
}

@test "it writes first: an episode, before anything has come in" {
	mkfifo loop.fifo in.fifo
	reinforce --steps 7 --params-to loop.fifo < in.fifo > out.mp 2> err 3>&- &
	pid=$!
	exec 9> in.fifo
	timeout 60 "$HSDAG_PYTHON" - <<-'PY'
		import msgpack
		f = open("loop.fifo", "rb", 0)
		u = msgpack.Unpacker()
		seen = []
		while len(seen) < 2:
		    u.feed(f.read(4096))
		    seen += list(u)
		assert seen[0][0] == "hdr" and seen[1] == ["episode", {"episode": 1, "steps": 7, "anchors": True}], seen
	PY
	exec 9>&-
	status=0
	wait $pid || status=$?
	[ $status -eq 3 ]
}

@test "a replay that differs from the record is an error" {
	cat_python stage.py 'if kind == "place" and "logp" in m and m["episode"] == 2: m["logp"] += 5e-4'
	run ! loop_with
	[[ $output == *"reinforce: error: episode 2, step 0: the replay has log-probability"* ]]
	cat_python stage.py 'if kind == "place" and "logp" in m: m["logp"] += 2e-5'
	loop_with
}

@test "two recipes in one loop: a warning that names both" {
	cat_python stage.py 'pass'
	GPN="$GPN --recipe paper" run -0 loop_with
	[[ $output == *"reinforce: warning: the recipe is 'default' here and 'paper' at gpnembed"* ]]
	GPN="$GPN --recipe paper" LEARN="$LEARN --recipe paper" run -0 loop_with
	[ -z "$output" ]
	cat_python stage.py 'if kind == "params": m.pop("recipe")'
	GPN="$GPN --recipe paper" run -0 loop_with
	[ -z "$output" ]
}

@test "records that do not fit are refused" {
	cat_python stage.py 'return kind != "place" or m["step"] != 1'
	run -0 loop_with                   # a step without a placement teaches nothing
	cat_python stage.py 'return kind != "part"'
	run ! loop_with
	[[ $output == *"groups are not those of step 0"* ]]
	cat_python stage.py 'if kind == "part": m["step"] += 1'
	run ! loop_with
	[[ $output == *"part: step 1 after 0 steps"* ]]
	cat_python stage.py 'if kind == "part" and m["rounds"]: m["rounds"][0]["n"] -= 1'
	run ! loop_with
	[[ $output == *"round 0 of a partition"* ]]
	cat_python stage.py 'if kind == "part": del m["z"]'
	run ! loop_with
	[[ $output == *"a replay needs z"* ]]
	cat_python stage.py 'if kind == "episode": m["episode"] = 5'
	run ! loop_with
	[[ $output == *"episode 5 is not the one that was asked for"* ]]
	cat_python stage.py 'return kind != "params"'
	run ! loop_with
	[[ $output == *"no params of block"* ]]
	cat_python stage.py 'if kind == "place": m["devices"] = ["x", "y"]'
	run ! loop_with
	[[ $output == *"place: its devices are not those of the devs record"* ]]
}

@test "where latencies are measured, a new best is run a second time before it counts" {
	cat_python stage.py 'if kind == "run" and m["ok"]: m["lo_s"] *= 0.9; m["hi_s"] *= 1.1'
	LEARN="$LEARN --keep" loop_measured
	"$HSDAG_PYTHON" - out.mp <<-'PY'
		import sys, msgpack
		r = list(msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30))
		again = [m["device"]["data"] for k, m in r if k == "place" and m["source"] == "incumbent"]
		assert again and len(again) == len(set(again))
	PY
}

@test "placements by others in front of the loop are candidates, and the incumbent" {
	ir2dag "$MODELS/googlenet.xml" | dagfeat --paper | devsim --probe > plain.mp
	placebase heft plain.mp > heft.mp
	SIM= LEARN="--episodes 2 --steps 3 --keep" loop heft.mp out.mp
	"$HSDAG_PYTHON" - out.mp <<-'PY'
		import sys, msgpack
		r = list(msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30))
		heft = next(m["device"]["data"] for k, m in r if k == "place" and m["source"] == "heft")
		second = [m for k, m in r if k == "episode"][1]
		assert second["incumbent"]["data"] == heft
		assert any(m["source"] == "heft" for k, m in r if k == "best")
	PY
	LEARN="--episodes 2 --steps 3" SIM= loop heft.mp whole.mp
	LEARN="--episodes 1 --steps 3 --checkpoint ck.mp" SIM= loop heft.mp part.mp
	LEARN="--episodes 2 --steps 3 --checkpoint ck.mp --resume" SIM= loop heft.mp resumed.mp
	same_body whole.mp resumed.mp
}

@test "a latency may be tiny, or 0, but not below" {
	cat_python stage.py 'if kind == "run" and m["ok"]: m["lat_s"] = m["ref_s"] = 1e-320'
	loop_measured
	cat_python stage.py 'if kind == "run" and m["source"] == "policy": m["lat_s"] = 1e-320'
	loop_measured
	GPN="$GPN --recipe paper" LEARN="$LEARN --recipe paper" loop_measured
	recdump --check out.mp
	cat_python stage.py 'if kind == "run" and m["source"] == "policy": m["lat_s"] = 0.0'
	loop_measured
	recdump --check out.mp
	cat_python stage.py 'if kind == "run" and m["source"] == "policy": m["lat_s"] = -1.0'
	run ! loop_measured
	[[ $output == *"a latency below 0"* ]]
}

@test "every placement must have been run" {
	rm -f loop.fifo && mkfifo loop.fifo
	run ! timeout 60 bash -o pipefail -c "gpnembed $GPN --params-from loop.fifo $IN | placepolicy |
		reinforce $LEARN --params-to loop.fifo > out.mp"
	[[ $output == *"put devrun or devsim in front of reinforce"* ]]
}

@test "without a loop the placements that were run are ranked, single devices among them" {
	{ placebase single "$IN"; } | devsim > single.mp
	placebase random -n 30 "$IN" | devsim | reinforce > out.mp
	"$HSDAG_PYTHON" - out.mp <<-'PY'
		import sys, msgpack
		best = [m for k, m in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30) if k == "best"]
		ratio = [m["lat_s"] / m["ref_s"] for m in best]
		assert [m["rank"] for m in best] == list(range(5)) and ratio == sorted(ratio), ratio
		assert len({m["device"]["data"] for m in best}) == 5
	PY
	reinforce < single.mp > out.mp
	run -0 bash -c 'recdump -k best --tsv source out.mp | grep -cx single'
	[ "$output" -eq 2 ]
	placebase random -n 30 "$IN" | devsim | reinforce --candidates 2 > out.mp
	[ "$(recdump -k best out.mp | wc -l)" -eq 2 ]
}

@test "when nothing could be run, the reason is told" {
	cat > spec <<-'END'
		device a  flops 1e12 bandwidth 1e11 overhead 1e-6 memory 10
		device b  flops 1e13 bandwidth 1e12 overhead 1e-6 memory 10
		link * * latency 1e-5 bandwidth 1e10
	END
	devsim --probe --spec spec < "$BATS_FILE_TMPDIR/feat.mp" > in.mp
	run -1 bash -c "placebase random -n 3 in.mp | devsim | reinforce -o out.mp"
	[[ $output == *"no placement could be run: needs "*" bytes"* ]]
	[[ $output != *daggroup* ]]
	[ ! -e out.mp ]
	# in a loop: that of a placement that was drawn, not of a single device, and what may help
	cat_python stage.py 'if kind == "place": globals()["source"] = m["source"]
    if kind == "run": m.update(ok=False, reason="of " + source)'
	GPN="$GPN --no-costs" LEARN="--episodes 1 --steps 2" run -1 loop_measured
	[[ $output == *"no placement could be run: of policy; smaller groups may "*"daggroup --memory" ]]
	# --colocate where the network has it and it would change something
	daggroup --groups 9 random "$IN" > grouped.mp
	local hint=" smaller groups may be placed where these cannot: daggroup --memory"
	GPN="--net rnn --hidden 16 --no-costs" LEARN="--episodes 1 --steps 2" run -1 loop_measured
	[[ $output == *";$hint, or gpnembed --colocate 0" ]]
	GPN="--net rnn --hidden 16 --no-costs" LEARN="--episodes 1 --steps 2" IN=grouped.mp run -1 loop_measured
	[[ $output == *";$hint" ]]
	for net in "rnn --colocate 0" mlp; do # there are no smaller ones
		GPN="--net $net --hidden 16 --no-costs" LEARN="--episodes 1 --steps 2" run -1 loop_measured
		[[ $output == *"no placement could be run: of policy" ]]
	done
}

@test "what lacks memory is worth less the more it lacks, unless failures are all alike" {
	cat > tight.json <<-'END'
		{"devices": [{"name": "a", "mem_bytes": 300}, {"name": "b", "mem_bytes": 300}],
		 "links": [{"src": "*", "dst": "*", "latency_s": 1, "bytes_per_s": 100}],
		 "nodes": [{"id": 0, "cost_s": 1, "mem_bytes": 90}, {"id": 1, "cost_s": 1, "mem_bytes": 90}, {"id": 2, "cost_s": 2, "mem_bytes": 90},
		   {"id": 3, "cost_s": 1, "mem_bytes": 90}, {"id": 4, "cost_s": 2, "mem_bytes": 90}, {"id": 5, "cost_s": 1, "mem_bytes": 90}],
		 "edges": [{"src": 0, "dst": 1}, {"src": 0, "dst": 2}, {"src": 1, "dst": 3}, {"src": 2, "dst": 4}, {"src": 3, "dst": 5}]}
	END
	json2dag tight.json | dagfeat > tight.mp
	for graded in 0 0.25; do
		SIM= GPN="--net rnn --recipe rnn --colocate 0 --hidden 16 --threads 1" LEARN="--recipe rnn --episodes 3 --threads 1 --keep --graded $graded" \
			loop tight.mp out.mp
		"$HSDAG_PYTHON" - out.mp $graded <<-'PY'
			import sys, msgpack
			graded, runs, rewards = float(sys.argv[2]), {}, {}
			for kind, m in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30):
			    if kind == "run" and m["source"] == "policy": runs.setdefault(m["episode"], []).append(m)
			    if kind == "update": rewards[m["episode"]] = m["reward"]
			seen = set()
			for episode, of in runs.items():
			    ok = [-m["lat_s"] ** .5 for m in of if m["ok"]]
			    missing = [m["missing_bytes"] / 600 for m in of if not m["ok"]]
			    seen |= set(missing)
			    fail = [min(ok, default=0) - 1 - (x / (x + graded) if graded else 0) for x in missing]
			    want = sum(ok + fail) / len(of)
			    assert abs(rewards[episode] - want) < 1e-9, (episode, rewards[episode], want)
			assert len(rewards) == 3 and len(seen) > 1, seen
		PY
	done
}

@test "usage: what does not go together" {
	run -2 reinforce --resume --params-to x "$IN" -o out.mp
	[[ $output == *"--resume needs --checkpoint"* ]]
	run -2 reinforce --checkpoint x "$IN" -o out.mp
	run -2 reinforce --lr -1 "$IN" -o out.mp
	run -2 reinforce --recipe none "$IN" -o out.mp
	for stage in reinforce placepolicy; do HSDAG_PRODUCTS=mkl run -2 $stage "$IN" -o out.mp; done
	run -0 reinforce --help-all
	[[ $output == *"--entropy-decay"* ]]
}

@test "two graphs, two streams, every prefix: refused" {
	placebase random -n 5 "$IN" | devsim > good.mp
	edit good.mp two.mp 'records.append(records[0])'
	run -3 reinforce two.mp -o out.mp
	[[ $output == *"two graphs in one stream"* ]]
	cat good.mp good.mp > two.mp
	run -3 reinforce two.mp -o out.mp
	[[ $output == *"second stream"* ]]
	size=$(stat -c %s good.mp)
	for n in 0 1 2 5 20 100 $((size / 4)) $((size / 2)) $((size - 100)) $((size - 2)) $((size - 1)); do
		head -c "$n" good.mp > prefix
		run -3 bash -c "reinforce prefix > out.mp"
	done
	run -1 bash -c "reinforce good.mp > /dev/full"
}

@test "the learner's processes stay small" {
	no_sanitizer
	ir2dag "$MODELS/resnet50.xml" | dagfeat --paper --features type,position | devsim --probe > in.mp
	mkfifo loop.fifo
	"$HSDAG_PYTHON" - <<-'PY' 3>&-
		import subprocess, resource, os
		a = subprocess.Popen("exec gpnembed --recipe paper --params-from loop.fifo in.mp", shell=True, stdout=subprocess.PIPE)
		b = subprocess.Popen("exec placepolicy", shell=True, stdin=a.stdout, stdout=subprocess.PIPE)
		c = subprocess.Popen("exec devsim --fixed", shell=True, stdin=b.stdout, stdout=subprocess.PIPE)
		d = subprocess.Popen("exec reinforce --recipe paper --episodes 2 --params-to loop.fifo", shell=True, stdin=c.stdout,
		                     stdout=open("out.mp", "wb"))
		for p in (a, b, c): p.stdout.close()
		kb = []
		for p in (a, b, d):
		    _, status, usage = os.wait4(p.pid, 0)
		    assert status == 0
		    kb.append(usage.ru_maxrss)
		print(kb)
		assert sum(kb) < 60000 * 1.2, kb
	PY
}

# Start "$@", which writes out.mp, on the first half of a stream, wait until it has the
# output open, and kill it.
kill_writing() {
	rm -f in.fifo && mkfifo in.fifo
	"$@" -o out.mp < in.fifo 3>&- 4>&- &
	pid=$!
	exec 9> in.fifo
	head -c 20000 good.mp >&9
	for _ in $(seq 250); do
		[ ! -e /proc/$pid/fd/3 ] || break
		sleep 0.02
	done
	[ -e /proc/$pid/fd/3 ]
	sleep 0.1
	kill -9 $pid
	exec 9>&-
	status=0
	wait $pid || status=$?
	[ $status -eq 137 ]
}

@test "kill -9 leaves the old file and nothing else" {
	"$HSDAG_PYTHON" -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' || skip "no files without a name here"
	mkdir dir && cd dir
	placebase random -n 50 "$IN" | devsim > good.mp
	kill_writing reinforce
	kill_writing placepolicy
	[ "$(ls)" = "good.mp
in.fifo" ]
	echo old > out.mp
	kill_writing reinforce
	[ "$(ls | tr '\n' ' ')" = "good.mp in.fifo out.mp " ]
	[ "$(cat out.mp)" = old ]
	reinforce -o out.mp good.mp
	recdump --check out.mp
	[ "$(ls | tr '\n' ' ')" = "good.mp in.fifo out.mp " ]
}
