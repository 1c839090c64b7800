#!/usr/bin/env bats
# The policy that sees costs: one placement in one pass, moves of an incumbent in the loop, the parameters
# that both begin with.
# programs: gpnembed placepolicy reinforce
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	common_setup_file
	for m in googlenet rnnlm; do
		ir2dag "$ROOT/tests/models/$m.xml" | dagfeat > $m.f.mp
		devsim --probe --spec paper $m.f.mp > $m.mp
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	IN=$BATS_FILE_TMPDIR
	GPN="--hidden 16 --threads 1" POLICY= SIM= LEARN="--episodes 12"
}

# lat FILE - latencies of its runs
lat() {
	recdump -k run --tsv lat_s "$1"
}

@test "one pass places better than HEFT; none has nothing that was learned; --no-costs draws groups" {
	for m in googlenet rnnlm; do
		gpnembed $GPN "$IN/$m.mp" | placepolicy --greedy > out.mp
		run -0 recdump -k place --tsv source out.mp
		[ "$output" = policy ]
		run -0 recdump -k params --tsv block out.mp
		[ "$output" = $'embed\ncosts\npolicy' ]
		devsim out.mp > ran.mp
		placebase heft "$IN/$m.mp" | devsim > heft.mp
		awk -v a="$(lat ran.mp)" -v b="$(lat heft.mp)" 'BEGIN { exit !(a < b) }'
	done
	gpnembed $GPN --params none "$IN/rnnlm.mp" > none.mp
	gpnembed $GPN "$IN/rnnlm.mp" > default.mp
	py '
		a, b = ([m for m in of(f, "params") if m["block"] == "costs"] for f in ("none.mp", "default.mp"))
		assert len(a) == len(b) == 1 and a[0]["names"] == b[0]["names"] and a[0]["data"] != b[0]["data"]
	'
	for options in --no-costs "--recipe paper"; do
		gpnembed $GPN $options "$IN/rnnlm.mp" | placepolicy --greedy > out.mp
		py '
			assert [m["block"] for m in of("out.mp", "params")] == ["embed", "policy"]
			assert ["action" in m for m in of("out.mp", "place")] == [True]
		'
	done
}

@test "several samples in one pass: first that placement, then moves of it, all different" {
	gpnembed $GPN "$IN/googlenet.mp" | placepolicy -n 20 > out.mp
	py '
		p = of("out.mp", "place")
		assert [m["source"] for m in p] == ["policy"] + ["moves"] * 19
		assert len({m["device"]["data"] for m in p}) == 20 and not any("moves" in m for m in p)
		first = array(p[0]["device"])
		for m in p[1:]:
			assert is_move(first, array(m["device"]))
	'
}

@test "the loop: one placement, then moves around an incumbent; what was tried is not tried again" {
	LEARN="--episodes 40 --keep" loop "$IN/googlenet.mp" out.mp
	py '
		r = read("out.mp")
		place = [m for k, m in r if k == "place"]
		lat = {(m["episode"], m["source"]): m["lat_s"] for k, m in r if k == "run"}
		assert [m["source"] for m in place] == ["single"] * 2 + ["policy"] + ["moves"] * 39
		episode = {m["episode"]: m for k, m in r if k == "episode"}
		worse = 0
		for m in place[3:]:
			e, moves = episode[m["episode"]], array(m["moves"])
			assert 0 < moves.shape[0] <= 64 and m["move"] < moves.shape[0]
			assert "action" not in m and m["logp"] < 0
			on, home = array(m["device"]), array(e["incumbent"])
			assert is_move(home, on)
			tried = list(array(e["tried"])) if "tried" in e else []
			assert xxhash.xxh64(m["device"]["data"]).intdigest() not in tried
			if m["episode"] + 1 not in episode:
				continue
			after = episode[m["episode"] + 1]
			ratio = lat[m["episode"], "moves"] / e["ratio"]
			if after["incumbent"]["data"] == e["incumbent"]["data"]:
				assert len(array(after["tried"])) == len(tried) + 1
			else:
				assert after["incumbent"]["data"] == m["device"]["data"] and "tried" not in after
			if after["ratio"] < e["ratio"]:
				assert after["incumbent"]["data"] == m["device"]["data"]
			worse += after["ratio"] > e["ratio"]
			assert after["ratio"] < e["ratio"] * 1.03, "a little worse at most"
		best = min(m["lat_s"] for k, m in r if k == "run")
		assert [m for k, m in r if k == "best"][0]["lat_s"] == best
		assert best < lat[1, "policy"]
	'
}

@test "heat 0: nothing that is worse becomes the incumbent" {
	LEARN="--episodes 40 --keep --heat 0" loop "$IN/googlenet.mp" out.mp
	py '
		ratios = [m["ratio"] for m in of("out.mp", "episode")[1:]]
		assert all(b <= a for a, b in zip(ratios, ratios[1:])) and len(set(ratios)) > 2
	'
}

@test "pretrained scorers stay as they came; another learns beside them, or what came from nothing" {
	LEARN="--episodes 30" loop "$IN/googlenet.mp" zero.mp
	LEARN="--episodes 30 --keep --adapt 0.8 --checkpoint ck.mp" loop "$IN/googlenet.mp" some.mp
	LEARN="--episodes 30 --keep" GPN="$GPN --params none" loop "$IN/googlenet.mp" none.mp
	LEARN="--episodes 30 --costs-lr 0" GPN="$GPN --params none" loop "$IN/googlenet.mp" none0.mp
	gpnembed $GPN "$IN/googlenet.mp" > first.mp
	py '
		def costs(f): return [m for m in of(f, "params") if m["block"] == "costs"][-1]
		a = costs("first.mp")
		assert a["episode"] > 0 and a["data"] == costs("zero.mp")["data"] == costs("some.mp")["data"]
		assert costs("none.mp")["data"] != costs("none0.mp")["data"] and costs("none.mp")["episode"] == 30
		assert [m["block"] for m in of("ck.mp", "moments")] == ["embed", "policy", "costs", "adapt"]
		g = [m["grad_norm"] for m in of("some.mp", "update")]
		assert g[0] == 0 and min(g[1:]) > 0
		assert max(m["grad_norm"] for m in of("zero.mp", "update")) == 0
		by = [m.get("adapted", False) for m in of("some.mp", "place") if "moves" in m]
		assert 0 < sum(by) < 15 and not any("adapted" in m for m in of("none.mp", "place"))
		share = [m.get("adapted", 0) for m in of("some.mp", "episode")]
		assert share[:2] == [0, 0.008] and abs(share[-1] - 0.8 * 0.29) < 1e-9
	'
	cat > stage.py <<-'PY'
		import sys, msgpack, xxhash
		u, n, h = msgpack.Unpacker(max_buffer_size=2**30), 0, xxhash.xxh64()
		while data := sys.stdin.buffer.raw.read(65536):
		    u.feed(data)
		    for kind, m in u:
		        if kind == "place" and "moves" in m: m["move"] = (m["move"] + 1) % m["moves"]["shape"][0]
		        if kind == "end": m = {"records": n, "digest": h.intdigest()}
		        wire = msgpack.packb([kind, m])
		        if kind not in ("hdr", "end"): n += 1; h.update(wire)
		        sys.stdout.buffer.write(wire)
		        sys.stdout.buffer.flush()
	PY
	rm -f loop.fifo && mkfifo loop.fifo
	run -3 timeout 60 bash -o pipefail -c "gpnembed $GPN --params-from loop.fifo $IN/googlenet.mp 2> /dev/null |
		placepolicy 2> /dev/null | '$HSDAG_PYTHON' stage.py 2> /dev/null | devsim 2> /dev/null |
		reinforce --params-to loop.fifo > out.mp"
	[[ $output == *"episode 2, step 0: the replay of a move has log-probability"* ]]
}

@test "killed and resumed, and with other threads: the same bytes" {
	for how in "0" "0.8" "0 --params none"; do
		share=${how%% *} from=${how#"$share"}
		GPN="--hidden 16 --threads 1$from" LEARN="--episodes 60 --threads 1 --adapt $share --adapt-episodes 20" loop "$IN/googlenet.mp" whole.mp
		GPN="--hidden 16 --threads 2$from" LEARN="--episodes 60 --threads 2 --adapt $share --adapt-episodes 20" loop "$IN/googlenet.mp" two.mp
		same_body whole.mp two.mp
		rm -f ck.mp && rm -f loop.fifo && mkfifo loop.fifo
		gpnembed $GPN $from --params-from loop.fifo "$IN/googlenet.mp" 2> /dev/null 3>&- | placepolicy 2> /dev/null 3>&- |
			devsim 2> /dev/null 3>&- |
			{ reinforce --episodes 60 --adapt $share --adapt-episodes 20 --params-to loop.fifo --checkpoint ck.mp > out.mp 2> /dev/null & echo $! > pid; wait; } 3>&- &
		for _ in $(seq 1000); do
			[ ! -s ck.mp ] || break
			sleep 0.01
		done
		sleep 0.05
		kill -KILL "$(cat pid)" || true
		wait || true
		GPN="$GPN $from" LEARN="--episodes 60 --adapt $share --adapt-episodes 20 --checkpoint ck.mp --resume" loop "$IN/googlenet.mp" resumed.mp
		same_body whole.mp resumed.mp
	done
}

@test "params of another version, or of other shapes, are refused in one line" {
	gpnembed $GPN "$IN/googlenet.mp" > first.mp
	py '
		r = read("first.mp")
		costs = next(m for k, m in r if k == "params" and m["block"] == "costs")
		version = costs["hyper"]["version"]
		costs["hyper"]["version"] = 99
		write("version.mp", r)
		costs["hyper"]["version"] = version
		costs["names"][0] = "other"
		write("shape.mp", r)
	'
	run -3 gpnembed --params version.mp "$IN/googlenet.mp" -o out.mp
	[[ $output == "gpnembed: error: --params 'version.mp': params: parameters of version 99, where this program has "* ]]
	[ "${#lines[@]}" -eq 1 ]
	run -3 gpnembed --params shape.mp "$IN/googlenet.mp" -o out.mp
	[[ $output == *"matrix 0 is called 'other' instead of"* ]]
	run -3 placepolicy version.mp -o out.mp
	[[ $output == *"parameters of version 99"* ]]
}

@test "parameters from a training go on where it ended, on another graph, too" {
	LEARN="--episodes 12" GPN="$GPN --params none" loop "$IN/googlenet.mp" out.mp
	edit out.mp costs.mp 'records = [r for r in records if r[0] == "params" and r[1]["block"] == "costs"]'
	gpnembed $GPN --params costs.mp "$IN/rnnlm.mp" > next.mp
	LEARN="--episodes 3" GPN="$GPN --params costs.mp" loop "$IN/rnnlm.mp" third.mp
	py '
		a, b, c = (next(m for m in of(f, "params") if m["block"] == "costs") for f in ("out.mp", "next.mp", "third.mp"))
		assert a["data"] == b["data"] and a["episode"] == 12
	'
}

@test "without costs, or where no incumbent is wanted, groups are drawn" {
	GPN="$GPN" POLICY="-D cpu,gpu" SIM="--spec paper" LEARN="--episodes 3 --keep" loop "$IN/googlenet.f.mp" out.mp
	py '
		p = of("out.mp", "place")
		assert {m["source"] for m in p} == {"single", "policy"}
		assert all("action" in m for m in p if m["source"] == "policy")
	'
	LEARN="--episodes 3 --leaves 0 --keep" loop "$IN/googlenet.mp" out.mp
	py '
		p = [m for m in of("out.mp", "place") if m["source"] == "policy"]
		assert ["action" in m for m in p] == [False, True, True], p
	'
}

@test "train and place hand parameters on" {
	B=$B "$ROOT/pipelines/train" --params none "$IN/rnnlm.mp" --episodes 3 > a.mp
	B=$B "$ROOT/pipelines/train" "$IN/rnnlm.mp" --episodes 3 > b.mp
	py '
		a, b = (next(m for m in of(f, "params") if m["block"] == "costs") for f in ("a.mp", "b.mp"))
		assert a["data"] != b["data"]
	'
	# Parameters go on by the recipe that trained them.
	B=$B "$ROOT/pipelines/train" --net rnn --embed '--hidden 16' "$IN/rnnlm.mp" --episodes 1 > rnn.mp
	B=$B "$ROOT/pipelines/train" --params rnn.mp "$IN/rnnlm.mp" --episodes 2 > more.mp 2> said
	[ ! -s said ]
	[ "$(recdump -k params --tsv net,recipe,block more.mp)" = $'rnn\trnn\tembed\nrnn\trnn\tpolicy' ]
	run -2 "$ROOT/pipelines/train" --episodes 3 "$IN/rnnlm.mp"
	[[ $output == *"unknown option '--episodes'; those of reinforce stand behind the input; see "*" --help" ]]
}

@test "train --race: all starts and the best of the training race; none leaves or wins by a single run" {
	ir2dag "$ROOT/tests/models/nmt2.xml" | dagfeat | devsim --probe --spec desktop-cpu -D cpu:0,cpu:1 | placebase heft |
		placebase lookahead-rank > starts.mp
	local machine=shared,noise=0.2,seed=2
	B=$B "$ROOT/pipelines/train" --run "devsim --machine $machine --max-seconds 0.1 --min-runs 3" --learned learned.mp \
		--race "devsim --machine $machine --clock 100 --paired --race 8" starts.mp --episodes 15 > raced.mp
	devsim --machine $machine --truth raced.mp > truth.mp
	py '
		best = [m for m in of("learned.mp", "best")]
		assert len(best) >= 5 and any(m["block"] == "costs" for m in of("learned.mp", "params"))
		final, = of("raced.mp", "best")
		race = [m for m in runs("raced.mp") if m["source"] != "single"]
		assert final["final"] and final["race"]["blocks"] > 0
		assert [m["source"] for m in race if m["start"]] == ["heft", "lookahead-rank"], race
		assert sum(m["source"] == "moves" for m in race) == sum(m["source"] == "moves" for m in best) > 0
		assert all(m["bursts"] >= 4 for m in race), [m["bursts"] for m in race]
		won = next(m for m in race if [m[k] for k in ("source", "episode", "sample")] == [final[k] for k in ("source", "episode", "sample")])
		assert won["bursts"] >= 4
		# In truth the answer is not behind the starts.
		true = runs("truth.mp")
		starts = [m["lat_s"] for m in true if m["source"] in ("heft", "lookahead-rank")]
		assert true[-1]["lat_s"] < 1.03 * min(starts), (true[-1]["lat_s"], starts)
	'
	run -2 "$ROOT/pipelines/train" --learned x.mp starts.mp
	[[ $output == *"--learned goes with --race"* ]]
}
