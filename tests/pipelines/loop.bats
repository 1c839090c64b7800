#!/usr/bin/env bats
# The training loop as a whole: results, determinism, death of any stage at any
# moment, resuming, interrupts.
# programs: gpnembed placepolicy devsim reinforce
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

# Start the four stages apart from one another, so that each can be killed: pids in
# PID_gpnembed .. PID_reinforce.  start IN OUT
start() {
	rm -f loop.fifo p1 p2 p3
	mkfifo loop.fifo p1 p2 p3
	gpnembed $GPN --params-from loop.fifo "$1" > p1 2> err.gpnembed 3>&- &
	PID_gpnembed=$!
	placepolicy $POLICY < p1 > p2 2> err.placepolicy 3>&- &
	PID_placepolicy=$!
	devsim $SIM < p2 > p3 2> err.devsim 3>&- &
	PID_devsim=$!
	reinforce $LEARN --params-to loop.fifo < p3 > "$2" 2> err.reinforce 3>&- &
	PID_reinforce=$!
}

# Wait until FILE exists, at most 10 s.
await() {
	for _ in $(seq 500); do
		[ ! -e "$1" ] || return 0
		sleep 0.02
	done
	return 1
}

# All of PIDS end, long before the loop would; at most 10 s on an idle machine, more on a loaded one.
all_gone() {
	for _ in $(seq 500); do
		alive=
		for p in "$@"; do
			[ ! -d "/proc/$p" ] || grep -q '^State:.*Z' "/proc/$p/status" 2>/dev/null || alive="$alive $p"
		done
		[ -n "$alive" ] || return 0
		sleep 0.02
	done
	echo "still alive:$alive"
	return 1
}

@test "a loop runs to its end: updates, params, best placements" {
	loop "$IN" out.mp
	run -0 kinds out.mp
	[[ $output == "hdr graph devs cost 4*update 2*params "*"best end" ]]
	[ "$(recdump -k best --tsv rank out.mp | head -n 1)" = 0 ]
}

@test "training twice gives the same bytes, with any number of threads" {
	loop "$IN" a.mp
	GPN="--hidden 16 --threads 2 --no-costs" LEARN="--episodes 4 --steps 5 --threads 1" loop "$IN" b.mp
	same_body a.mp b.mp
	GPN="--hidden 16 --seed 2 --no-costs" loop "$IN" c.mp
	run ! same_body a.mp c.mp
	HSDAG_PRODUCTS=openblas loop "$IN" d.mp
	GPN="--hidden 16 --threads 2 --no-costs" LEARN="--episodes 4 --steps 5 --threads 1" HSDAG_PRODUCTS=openblas loop "$IN" e.mp
	same_body d.mp e.mp
}

@test "both recipes train, and learning rate 0 leaves the parameters alone" {
	for recipe in paper default; do
		GPN="$GPN --recipe $recipe" LEARN="$LEARN --recipe $recipe" loop "$IN" a.mp
		GPN="$GPN --recipe $recipe" LEARN="$LEARN --recipe $recipe --lr 0" loop "$IN" b.mp
		GPN="$GPN --recipe $recipe" LEARN="--episodes 1 --steps 1 --recipe $recipe --lr 0" loop "$IN" c.mp
		py '
			a, b, c = ([m["data"]["data"] for m in of(f, "params")] for f in ("a.mp", "b.mp", "c.mp"))
			assert len(c) == 2 and b == c and all(x != y for x, y in zip(a, c))
		'
	done
}

@test "embed-lr 0: the parsing network stays as it was drawn, the policy learns" {
	LEARN="$LEARN --embed-lr 0" loop "$IN" a.mp
	LEARN="--episodes 1 --steps 1 --lr 0" loop "$IN" b.mp
	py '
		a, b = ({m["block"]: m["data"]["data"] for m in of(f, "params")} for f in ("a.mp", "b.mp"))
		assert a["embed"] == b["embed"] and a["policy"] != b["policy"]
	'
}

@test "several placements per partition" {
	POLICY="--samples 3" loop "$IN" out.mp
	[ "$(recdump -k update --tsv ok out.mp | head -n 1)" = 15 ]
}

@test "the whole search goes through the stream with --keep" {
	LEARN="$LEARN --keep" loop "$IN" out.mp
	[ "$(recdump -k run out.mp | wc -l)" -eq 22 ]          # 4 episodes of 5 steps, 2 anchors
	recdump --check out.mp
}

@test "devices by placepolicy -D train as well" {
	edit "$IN" in.mp 'records = [r for r in records if r[0] not in ("devs", "cost")]'
	POLICY="-D a,b,c" loop in.mp out.mp
	[ "$(recdump -k best --tsv devices out.mp | head -n 1)" = a,b,c ]
}

@test "a grouping from the stream is kept through the training" {
	edit "$IN" in.mp 'g = records[0][1]; n = g["n_sets"]
import struct
records.append(["group", {"graph": g["digest"], "method": "test", "n_groups": 3, "group": {"dtype": "u32",
  "shape": [n], "data": struct.pack("<%dI" % n, *[min(i // 20, 2) for i in range(n)])}}])'
	LEARN="$LEARN --keep" loop in.mp out.mp
	[ "$(recdump -k part --tsv given,n_groups out.mp | sed -n 8p)" = $'true\t3' ]
}

@test "sets that must share a device do: instances of json2dag, both recipes, groups from outside" {
	py '
		import random
		r = random.Random(1)
		nodes = [{"id": i, "cost_s": {d: r.uniform(1, 9) for d in "abc" if d == "a" or r.random() < .9},
		          "out_bytes": r.randint(0, 9)} for i in range(60)]
		for c in range(8):
			some = r.sample(range(60), 3)
			if set.intersection(*(set(nodes[v]["cost_s"]) for v in some)) and not any("colocate" in nodes[v] for v in some):
				for v in some:
					nodes[v]["colocate"] = c
		edges = [{"src": r.randrange(max(0, i - 6), i), "dst": i} for i in range(1, 60) for _ in "ab"]
		json.dump({"devices": [{"name": d} for d in "abc"], "nodes": nodes, "edges": edges,
		           "links": [{"src": "*", "dst": "*", "latency_s": 0.1, "bytes_per_s": 10}]}, open("c.json", "w"))
	'
	json2dag c.json | dagfeat > c.mp
	py '
		r = read("c.mp")[:-1]
		n = first(r, "graph")["n_sets"]
		group = tensor(np.arange(n, dtype="<u4") // 5)
		write("g.mp", r + [["group", {"graph": first(r, "graph")["digest"], "method": "test", "n_groups": n // 5, "group": group}]])
		write("late.mp", [x for x in r if x[0] != "devs"])
	'
	SIM= LEARN="--episodes 2 --steps 5 --keep"
	for in in c.mp g.mp; do
		for recipe in default "default --no-costs" paper; do
			GPN="--hidden 16 --recipe $recipe" LEARN="$LEARN --recipe ${recipe% *}" loop $in out.mp
			py '
				x = read("out.mp")
				tie = array(first(x, "devs")["together"])
				n = 0
				for k, m in x:
					if k in ("place", "best"):
						d = array(m["device"])
						assert all(len(set(d[tie == c])) == 1 for c in set(tie))
						n += k == "place" and ("action" in m or m["source"] in ("policy", "moves"))
					assert k != "run" or m["ok"]
				assert n == int(sys.argv[1]) and len(set(tie)) < len(tie)
			' $([ "$recipe" = default ] && echo 6 || echo 10)
		done
	done
	# A partition made without knowledge of the devices.
	gpnembed late.mp -o part.mp
	py '
		r = read("part.mp")[:-1]
		r.insert(2, ["devs", first(read("c.mp"), "devs")])
		write("late.mp", r)
	'
	run -3 placepolicy late.mp
	[[ $output == *"gpnembed needs the devs record, too"* ]]
}

@test "the value of an objective is what is learned, ranked, kept and resumed" {
	SIM="--objective energy,memory=1e-12" LEARN="$LEARN --keep --checkpoint ck.mp" loop "$IN" out.mp
	SIM="--objective energy,memory=1e-12" LEARN="--episodes 2 --steps 5 --threads 2 --keep --checkpoint half.mp" loop "$IN" half.out
	SIM="--objective energy,memory=1e-12" LEARN="$LEARN --keep --checkpoint half.mp --resume" loop "$IN" resumed.mp
	py '
		x = read("out.mp")
		run = {(m["source"], m["episode"], m["step"], m["sample"]): m for k, m in x if k == "run"}
		best = of("out.mp", "best")
		for m in best:
			r = run[m["source"], m["episode"], m["step"], m["sample"]]
			assert (r["value"], r["ref_value"], r["lat_s"]) == (m["value"], m["ref_value"], m["lat_s"])
		value = [m["value"] for m in best]
		assert value == sorted(value) and value[0] == min(m["value"] for m in run.values())
		ratio = min(m["value"] / m["ref_value"] for m in run.values() if m["source"] == "policy")
		assert np.isclose(of("out.mp", "update")[-1]["best_ratio"], ratio)
		assert of("resumed.mp", "best") == best
	'
}

@test "kill -9 of any stage: the others fail soon" {
	LEARN="--episodes 1000000 --steps 5 --checkpoint ck.mp"
	for stage in gpnembed placepolicy devsim reinforce; do
		rm -f ck.mp
		start "$IN" out.mp
		await ck.mp
		victim=PID_$stage
		kill -9 "${!victim}"
		all_gone $PID_gpnembed $PID_placepolicy $PID_devsim $PID_reinforce
		for s in gpnembed placepolicy devsim reinforce; do
			p=PID_$s
			status=0
			wait "${!p}" || status=$?
			if [ $s = $stage ]; then [ $status -eq 137 ]; else [ $status -eq 1 ] || [ $status -eq 3 ]; fi
		done
		run -3 recdump --check out.mp
	done
}

@test "of a stage that fails there is one message: those before it and behind it are quiet" {
	# Streams that no pipe holds.
	run -0 --separate-stderr timeout 60 bash -c 'ir2dag "$1" | dagfeat | devsim --probe | placebase nonsense | devsim > none.mp
		echo "${PIPESTATUS[*]}"' - "$MODELS/rnnlm.xml"
	# The first may be through before they hear of it.
	[[ "$output" == [01]" "[01]" 1 2 3" ]]
	[ "$stderr" = "placebase: error: unknown method 'nonsense'; --list has them" ]
	# What has enough says nothing, and -v tells.
	run -0 --separate-stderr timeout 60 bash -c 'ir2dag "$1" | dagfeat -v | head -c 1 > none.mp; echo "${PIPESTATUS[*]:1}"' - "$MODELS/rnnlm.xml"
	[ "$output" = "1 0" ]
	[[ "$stderr" != *"error: "* && "$stderr" == *"dagfeat: the reader of the output has gone"* ]]
}

@test "a stage that never starts: the others fail soon" {
	for stage in gpnembed placepolicy devsim reinforce; do
		g="gpnembed $GPN --params-from loop.fifo $IN" p=placepolicy d="devsim --fixed"
		r="reinforce $LEARN --params-to loop.fifo"
		case $stage in
			gpnembed) g=/nonexistent ;;
			placepolicy) p=/nonexistent ;;
			devsim) d=/nonexistent ;;
			reinforce) r=/nonexistent ;;
		esac
		rm -f loop.fifo && mkfifo loop.fifo
		run -0 timeout 60 bash -c "$g | $p | $d | $r > out.mp; echo \${PIPESTATUS[*]}"
		read -ra status <<< "${lines[-1]}"
		[ ${#status[@]} -eq 4 ]
		[ "$(tr ' ' '\n' <<< "${lines[-1]}" | grep -cx 127)" -eq 1 ]
		[ "$(tr ' ' '\n' <<< "${lines[-1]}" | grep -cx '[13]')" -eq 3 ]
	done
}

@test "killed at any moment and resumed: the bytes of a run that was never killed" {
	LEARN="--episodes 60 --steps 10"
	loop "$IN" whole.mp
	LEARN="$LEARN --checkpoint ck.mp --resume"
	i=0
	for delay in 0.02 0.04 0.06 0.08 0.1 0.12; do
		stages=(gpnembed placepolicy devsim reinforce)
		stage=PID_${stages[$((i++ % 4))]}
		start "$IN" part.mp
		sleep $delay
		kill -9 "${!stage}" 2>/dev/null || true
		wait $PID_gpnembed || true
		wait $PID_placepolicy || true
		wait $PID_devsim || true
		wait $PID_reinforce || true
	done
	loop "$IN" resumed.mp
	same_body whole.mp resumed.mp
	loop "$IN" again.mp                # of a run that was over: nothing is run, all is told
	same_body whole.mp again.mp
}

@test "killed after every single episode and resumed" {
	LEARN="--episodes 5 --steps 4"
	loop "$IN" whole.mp
	for n in 1 2 3 4 5; do
		LEARN="--episodes $n --steps 4 --checkpoint ck.mp --resume" loop "$IN" resumed.mp
	done
	same_body whole.mp resumed.mp
}

@test "a checkpoint of another graph, recipe or program is refused" {
	IN=in.mp
	ir2dag "$MODELS/alexnet.xml" | dagfeat | devsim --probe > "$IN"
	ir2dag "$MODELS/if_body.xml" | dagfeat | devsim --probe > other.mp
	LEARN="--episodes 1 --steps 2 --checkpoint ck.mp" loop "$IN" out.mp
	recdump --check ck.mp
	LEARN="--episodes 2 --steps 2 --checkpoint ck.mp --resume"
	run ! loop other.mp out.mp
	[[ $output == *"another graph"* ]]
	LEARN="$LEARN --lr 0.5"
	run ! loop "$IN" out.mp
	[[ $output == *"lr"* ]]
	cp "$IN" ck.mp
	LEARN="--episodes 2 --steps 2 --checkpoint ck.mp --resume"
	run ! loop "$IN" out.mp
	[[ $output == *"not a checkpoint"* ]]
	head -c 1000 "$IN" > ck.mp
	run ! loop "$IN" out.mp
	[[ $output == *"truncated input"* ]]
}

# What an interrupted training must have left: its best, and a checkpoint to go on from.
check_interrupted() {
	recdump --check out.mp
	run -0 kinds out.mp
	[[ $output == *"best end" ]]
	n=$(recdump -k update out.mp | wc -l)
	recdump --check ck.mp
	LEARN="--episodes $((n + 1)) --steps 5 --checkpoint ck.mp --resume" loop "$IN" more.mp
	LEARN="--episodes $((n + 1)) --steps 5" loop "$IN" whole.mp
	same_body more.mp whole.mp
}

@test "SIGTERM to reinforce ends the loop in order" {
	LEARN="--episodes 1000000 --steps 5 --checkpoint ck.mp"
	start "$IN" out.mp
	await ck.mp
	kill -TERM $PID_reinforce
	for s in gpnembed placepolicy devsim reinforce; do
		p=PID_$s
		wait "${!p}"
	done
	check_interrupted
}

@test "Ctrl-C, which reaches the whole pipeline, leaves the best so far" {
	mkfifo loop.fifo
	export GPN IN
	"$HSDAG_PYTHON" - 3>&- <<-'PY'
		import os, signal, subprocess, sys, time
		p = subprocess.Popen(["bash", "-o", "pipefail", "-c", "trap : INT;"    # a shell that lives on
		    "gpnembed $GPN --params-from loop.fifo $IN | placepolicy | devsim --fixed |"
		    "reinforce --episodes 1000000 --steps 5 --checkpoint ck.mp --params-to loop.fifo > out.mp"],
		    start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
		while not os.path.exists("ck.mp") and p.poll() is None: time.sleep(0.02)
		os.killpg(p.pid, signal.SIGINT)
		try: p.wait(5)
		except subprocess.TimeoutExpired: os.killpg(p.pid, signal.SIGKILL)
		sys.exit(p.returncode)
	PY
	check_interrupted
}

@test "budgets: seconds and patience end a training" {
	LEARN="--episodes 1000000 --steps 5 --seconds 0.5" loop "$IN" out.mp
	[ "$(recdump -k update out.mp | wc -l)" -gt 0 ]
	# A step is known by the first one: no episode begins that there is no time for.
	LEARN="--episodes 1000000 --steps 100000 --seconds 0.3 -k" loop "$IN" out.mp
	[ "$(recdump -k episode --tsv steps out.mp | sed -n 1p)" = 1 ]
	[ "$(recdump -k episode --tsv steps out.mp | sort -n | tail -n 1)" -lt 100000 ]
	LEARN="--episodes 1000000 --steps 5 --patience 2" loop "$IN" out.mp
	[ "$(recdump -k update out.mp | wc -l)" -ge 2 ]
}

@test "placements that cannot run are data: counted, not chosen, not fatal" {
	cat > spec <<-'END'
		device big    flops 1e12 bandwidth 1e11 overhead 1e-6 memory 1e12
		device small  flops 1e13 bandwidth 1e12 overhead 1e-6 memory 1e6
		link * * latency 1e-5 bandwidth 1e10
	END
	devsim --probe --spec spec < "$BATS_FILE_TMPDIR/feat.mp" > in.mp
	for recipe in default paper; do
		SIM= LEARN="$LEARN --recipe $recipe" loop in.mp out.mp
		[ "$(recdump -k update --tsv failed out.mp | grep -cvx 0)" -gt 0 ]
		recdump --check out.mp
	done
}

@test "every learner finds the same in any unit of time, and takes a graph in which nothing takes time" {
	py '
		import random
		def graph(name, unit):
			r = random.Random(3)
			nodes = [{"id": i, "cost_s": {d: unit * r.uniform(.5, 1.5) for d in "ab"}, "out_bytes": 0} for i in range(40)]
			edges = [{"src": r.randrange(max(0, i - 6), i), "dst": i} for i in range(1, 40) for _ in "ab"]
			json.dump({"devices": [{"name": d} for d in "ab"], "nodes": nodes, "edges": edges,
			           "links": [{"src": "*", "dst": "*", "latency_s": 0.1 * unit, "bytes_per_s": 1e9}]}, open(name, "w"))
		graph("0.json", 2.0**-10), graph("1.json", 2.0**-340), graph("2.json", 0)
		json.dump({"devices": [{"name": d} for d in "ab"], "nodes": [{"id": i, "cost_s": 1e-100, "out_bytes": 1e6} for i in range(9)],
		           "edges": [{"src": i, "dst": i + 1} for i in range(8)],
		           "links": [{"src": "*", "dst": "*", "latency_s": 1e-5, "bytes_per_s": 1e9}]}, open("3.json", "w"))
	'
	for g in 0 1 2 3; do json2dag $g.json | dagfeat > $g.mp; done
	SIM=
	for net in gpn rnn hierarchical placeto; do
		recipe=$net
		[ $net != gpn ] || recipe=default
		for g in 0 1 2 3; do
			GPN="--net $net --recipe $recipe --hidden 8 --threads 1" LEARN="--recipe $recipe --episodes 3 --threads 1" loop $g.mp $g.out
		done
		py '
			best = [[(array(m["device"]).tolist(), m["lat_s"]) for m in of(f"{g}.out", "best")] for g in range(4)]
			assert best[0][0][0] == best[1][0][0] and best[0][0][1] == best[1][0][1] * 2.0**330, best[:2]
			assert len(set(best[3][0][0])) == 1 and all(best), best[2:]
		'
	done
}
