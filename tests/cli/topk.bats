#!/usr/bin/env bats
# topk: which placements pass, in which order, with what; in a stream and in a training loop.
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	loop_setup_file
	placebase random -n 200 in.mp | devsim > r.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "the K best, best first, as they came but for the prediction" {
	topk -k 7 r.mp > x.mp
	run -0 recdump --check x.mp
	py '
		r, x = read("r.mp"), read("x.mp")
		assert [k for k, m in x] == ["hdr", "graph", "feat", "devs", "cost"] + ["place"] * 7 + ["end"]
		assert x[1:5] == r[1:5]
		lat = {m["sample"]: m["lat_s"] for k, m in r if k == "run"}
		place = {m["sample"]: m for k, m in r if k == "place"}
		best = sorted(lat, key=lambda s: (lat[s], s))[:7]
		for s, (_, m) in zip(best, x[5:-1]):
			assert m.pop("predicted_s") == lat[s]
			place[s].pop("predicted_s", None)
			assert m == place[s], (s, m["sample"])
	'
	run -3 topk -k 7 x.mp
	[[ $output == *'without a run'*'put devsim in front'* ]]
	devsim x.mp | topk -k 3 > y.mp
	py 'assert of("y.mp", "place") == of("x.mp", "place")[:3]'
}

@test "--within, distinct placements, those that are not legal" {
	best=$(topk -k 1 r.mp | recdump -k place --tsv predicted_s)
	topk --within 1.1 -k 200 r.mp > x.mp
	py '
		lat = [m["lat_s"] for m in runs("r.mp")]
		p = [m["predicted_s"] for m in of("x.mp", "place")]
		assert p == sorted(s for s in lat if s <= 1.1 * min(lat)) and 1 < len(p) < 200 and p[0] == float(sys.argv[1])
	' "$best"
	py '
		r = read("r.mp")[:-1]
		twice = [[k, {**m, "sample": m["sample"] + 1000}] for k, m in r if k in ("place", "run")]
		write("twice.mp", r + twice)
		dead = {m["sample"] for m in of("x.mp", "place")}
		for k, m in r:
			if k == "run" and m["sample"] in dead:
				m.update(ok=False, reason="too slow")
		write("dead.mp", r)
		for k, m in r:
			if k == "run":
				m.update(ok=False, reason="too slow")
		write("none.mp", r)
	'
	topk -k 9 r.mp > x.mp
	topk -k 9 twice.mp > y.mp
	topk -k 9 --no-distinct twice.mp > z.mp
	topk -k 400 dead.mp > d.mp
	run -0 topk -o n.mp none.mp
	[[ $output == *'none of 200 placements is legal: too slow'* ]]
	py '
		assert of("x.mp", "place") == of("y.mp", "place")
		assert [m["predicted_s"] for m in of("z.mp", "place")] == sorted(2 * [m["lat_s"] for m in runs("r.mp")])[:9]
		lat = sorted(m["lat_s"] for m in runs("dead.mp") if m["ok"])
		assert [m["predicted_s"] for m in of("d.mp", "place")] == lat
		assert not of("n.mp", "place")
	'
	run -2 topk --within 0.5 r.mp
	run -2 topk -k 0 r.mp
}

@test "by value where the objective is another" {
	placebase random -n 50 in.mp | devsim --objective energy > e.mp
	topk -k 5 e.mp > x.mp
	py '
		v = sorted((m["value"], m["lat_s"]) for m in runs("e.mp"))[:5]
		assert [(m["predicted_value"], m["predicted_s"]) for m in of("x.mp", "place")] == v
	'
}

@test "the pipeline: screened by simulation, run for real" {
	models googlenet
	devrun --probe --profile -D cpu:0,cpu googlenet.mp --allow-shared > p.mp
	placebase random -n 100 p.mp | devsim | topk -k 2 | devrun -n 1 --allow-shared > x.mp
	py '
		assert [k for k, m in read("x.mp")][-5:] == ["place"] * 2 + ["run"] * 2 + ["end"]
		assert all(m["ok"] and m["lat_s"] > 0 for m in runs("x.mp"))
	'
}

@test "in a training loop: single devices always, of the policy's the best of each episode" {
	loop_with_topk() {   # IN OUT K
		rm -f loop.fifo && mkfifo loop.fifo
		# shellcheck disable=SC2086
		timeout 60 bash -o pipefail -c "gpnembed $GPN --params-from loop.fifo '$1' | placepolicy -n 6 |
			devsim $SIM | tee in.tee | topk -k $3 | tee out.tee | devsim | reinforce $LEARN --params-to loop.fifo > '$2'"
	}
	loop_with_topk in.mp a.mp 4
	py '
		def episodes(path):
			e = None
			for k, m in read(path):
				if k == "episode":
					e = ([], [])
				if k in ("place", "run"):
					e[k == "run"].append(m)
				if k == "episode_end":
					yield e
		n = 0
		for (p, r), (q, none) in zip(episodes("in.tee"), episodes("out.tee")):
			key = lambda m: (m["source"], m["step"], m["sample"])
			lat = {key(m): m["lat_s"] for m in r}
			mine = [m for m in q if "action" in m]
			assert not none and len(mine) == 4 and len(p) >= 30
			assert [m for m in p if "action" not in m] == [m for m in q if "action" not in m]
			values = sorted({array(m["device"]).tobytes(): lat[key(m)] for m in p if "action" in m}.values())
			assert [m["predicted_s"] for m in mine] == values[:4]
			n += 1
		u = of("a.mp", "update")
		assert n == len(u) == 4 and all(m["ok"] == 4 and m["failed"] == 0 for m in u)
		assert {"policy", "single"} >= {m["source"] for m in of("a.mp", "best")}
	'
	# Episodes of which nothing that the policy drew is legal: the learner goes on without.
	py '
		r = read("in.mp")[:-1]
		first(r, "devs")["links"] = []
		write("apart.mp", r)
	'
	loop_with_topk apart.mp c.mp 4 2> err
	grep -q 'none of 30 placements is legal' err
	py 'assert 0 in [m["ok"] for m in of("c.mp", "update")] and array(of("c.mp", "best")[0]["device"]).std() == 0'
}

@test "what it refuses, streams one after another, damage" {
	cat r.mp r.mp | topk -k 2 > x.mp
	py 'k = [k for k, m in read("x.mp")]; assert k.count("end") == 2 and k.count("place") == 4'
	py '
		r = read("r.mp")[:-1]
		write("a.mp", [x for x in r if x[0] != "graph"])
		write("b.mp", [x for x in r if x[0] != "place"])
		write("c.mp", [x for x in r if x[0] != "run"])
		r[-1][1].pop("lat_s")
		write("d.mp", r)
	'
	run -3 topk a.mp
	[[ $output == *"a place record before its graph"* ]]
	run -3 topk b.mp
	[[ $output == *"is of a placement that did not come"* ]]
	run -3 topk c.mp
	run -3 topk d.mp
	[[ $output == *"no key 'lat_s'"* ]]
	size=$(stat -c %s r.mp)
	for n in 0 7 $((size / 2)) $((size - 1)); do
		run -3 bash -o pipefail -c "head -c $n r.mp | timeout 60 topk"
	done
	run -1 bash -c 'topk r.mp > /dev/full'
}
