#!/usr/bin/env bats
# devsim --machine: a machine that is played.  What disturbs it is test_machine.c's part.
# programs: devsim
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/nmt2.xml" | devsim --probe --spec desktop-cpu -D cpu:0,cpu:1 > p.mp
	placebase random -n 5 p.mp > r.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "an exact machine takes what is predicted; its clock goes on by what runs take" {
	devsim r.mp > sim.mp
	devsim --machine exact r.mp > exact.mp
	devsim --machine exact --truth r.mp > truth.mp
	py '
		runs = lambda f: [m for k, m in read(f) if k == "run"]
		a, b, c = runs("sim.mp"), runs("exact.mp"), runs("truth.mp")
		assert len(a) == len(b) == len(c) == 5
		assert [k for k, m in read("exact.mp")][-6:] == ["run"] * 5 + ["end"]
		for x, y, z in zip(a, b, c):
			assert abs(y["lat_s"] / x["lat_s"] - 1) < 1e-12 and x["sample"] == y["sample"], (x, y)
			assert abs(z["lat_s"] / y["lat_s"] - 1) < 1e-12 and abs(y["ref_s"] / x["ref_s"] - 1) < 1e-12
			assert y["copies"] == x["copies"] and array(y["mem_bytes"]).tolist() == array(x["mem_bytes"]).tolist()
			assert len(array(y["samples_s"])) == 6 and "period_s" not in y
		# Two singles, 1 warm-up and 6 runs; five placements, two bursts of 1 and 3 runs each; around and between these the
		# reference, both singles, which are alike, 1 run and 2.
		single = [m["ref_s"] for m in b][0]
		spent = 7 * 2 * single + 8 * sum(m["lat_s"] for m in b) + 11 * 2 * 3 * single
		assert abs(b[-1]["clock_s"] / spent - 1) < 1e-9, (b[-1]["clock_s"], spent)
		assert c[-1]["clock_s"] == 0 and {m["began_s"] for m in b} == {0}
	'
}

@test "ports: as fast as the fastest of their true links, or as they are told" {
	cat > ports.json <<-'J'
		{"devices": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
		 "links": [{"src": "*", "dst": "*", "latency_s": 1, "bytes_per_s": 10, "port": "net"}],
		 "nodes": [{"id": 1, "name": "from", "cost_s": 2, "out_bytes": 10}, {"id": 2, "name": "one", "cost_s": 3}, {"id": 3, "name": "two", "cost_s": 4}],
		 "edges": [{"src": 1, "dst": 2}, {"src": 1, "dst": 3}]}
	J
	sed 's/^ "nodes"/ "ports": [{"device": "a", "name": "net", "out_bytes_per_s": 10}],\n&/' ports.json > told.json
	echo '{"from": "a", "one": "b", "two": "c"}' > where.json
	# where the last task is the one that waits for its port, and where it is the other one
	for f in ports told; do sed 's/"cost_s": 3/"cost_s": 30/' $f.json > long_$f.json; done
	for f in {,long_}{ports,told}; do
		json2dag $f.json | placebase expert:where.json > $f.mp
		devsim --machine rate_error=0.5,seed=3 --truth $f.mp > $f.truth
		devsim --machine rate_error=0.5,seed=3 --true-costs $f.mp | devsim > $f.by_costs
		devsim --machine rate_error=0.5,seed=3 --true-costs $f.mp > $f.costs
	done
	py '
		for f in "ports", "told", "long_ports", "long_told":
			a, b = (runs(f + x)[-1]["lat_s"] for x in (".truth", ".by_costs"))
			rate = {(l["src"], l["dst"]): l["bytes_per_s"] for l in of(f + ".costs", "devs")[0]["links"]}
			one, two = rate[0, 1], rate[0, 2]
			assert one > 10 and one > two
			# the copy to b goes first; the way out is free again behind its bytes
			port = 10 if "told" in f else max(one, two)
			one, two = min(one, port), min(two, port)
			s = max(3 + 10 / one + (30 if "long" in f else 3), 2 + 10 / port + 1 + 10 / two + 4)
			assert np.isclose(a, s, rtol=1e-12) and np.isclose(b, s, rtol=1e-12), (f, a, b, s)
	'
}

@test "true costs differ from the profiled ones by as much as is said" {
	devsim --machine set_error=0.2,seed=3 --true-costs p.mp > set.mp
	devsim --machine cell_error=0.1,longer=1 --true-costs p.mp > cell.mp
	devsim --machine kind_error=0.2 --true-costs p.mp > kind.mp
	devsim --machine link_error=0.3,rate_error=0.3,handover=1,slowdown=0.5,beside=0.25 --true-costs p.mp > link.mp
	py '
		cost = lambda f: array([m for k, m in read(f) if k == "cost"][0]["set_s"])
		p, s, c = cost("p.mp"), cost("set.mp"), cost("cell.mp")
		runs = p[:, 0] > 0
		e = np.log(s[runs] / p[runs])
		assert (e[:, 0] == e[:, 1]).all() and abs(e[:, 0].std() - 0.2) < 0.02, e[:, 0].std()
		e = np.log(c[runs] / p[runs])
		assert abs(e.mean() - np.log(2)) < 0.02 and abs(e[:, 0].std() - 0.1) < 0.02, (e.mean(), e.std())
		# Devices with equal profiles are made alike, others are not.
		assert (e[:, 0] == e[:, 1]).all()
		records = read("p.mp")
		other = p * [1, 2]
		for k, m in records:
			if k == "cost":
				m["set_s"] = tensor(other)
		write("other.mp", records)
		assert os.system("devsim --machine cell_error=0.1 --true-costs other.mp > cell2.mp") == 0
		e = np.log(cost("cell2.mp")[runs] / other[runs])
		assert abs((e[:, 0] - e[:, 1]).std() - 0.1414) < 0.02, e.std()
		e = np.log(cost("kind.mp")[runs] / p[runs]).round(9)
		assert 3 < len(set(e[:, 0])) < 30 and 0.05 < abs(e).max() < 1, e
		devs = [m for k, m in read("link.mp") if k == "devs"][0]["links"]
		before = [m for k, m in read("p.mp") if k == "devs"][0]["links"]
		for x, y in zip(devs, before):
			assert 1 < x["latency_s"] < 1.001 and x["bytes_per_s"] != y["bytes_per_s"], (x, y)
		m = [m for k, m in read("link.mp") if k == "cost"][0]
		assert m["slowdown"] == 0.5 and m["beside"] == 0.25 and (array(m["set_s"]) == p).all()
	'
	# What single devices take does not depend on orders: the machine and the simulator agree.
	for m in device_error=0.1,kind_error=0.3,set_error=0.3,cell_error=0.2,longer=0.3 saves=0.4,saving_error=0.5,device_error=0.01; do
		placebase single p.mp | devsim --machine $m --truth > a.mp
		devsim --machine $m --true-costs p.mp | placebase single | devsim > b.mp
		placebase single p.mp | devsim > c.mp
		py '
			a, b, c = (np.array([m["lat_s"] for k, m in read(f) if k == "run"]) for f in ("a.mp", "b.mp", "c.mp"))
			assert len(a) == 2 and np.allclose(a, b, rtol=1e-12) and a[0] != a[1], (a, b)
			assert (a > 1.1 * c).all() if "saves" not in """'$m'""" else (a < 0.8 * c).all(), (a, c)
		'
	done
}

@test "hand-overs, wake-ups, sharing and other placements' caches make runs longer" {
	for m in exact handover=1e-3 wake=1e-3 slowdown=1 beside=0.5; do
		devsim --machine "$m" --truth r.mp > "t.$m.mp"
	done
	devsim --machine cold=0.5 --warmup 0 --min-runs 2 --max-runs 2 r.mp > cold.mp
	py '
		def runs(f): return [m for k, m in read(f) if k == "run"]
		exact = [m["lat_s"] for m in runs("t.exact.mp")]
		for m in ("handover=1e-3", "wake=1e-3", "slowdown=1", "beside=0.5"):
			assert all(r["lat_s"] > 1.01 * x for r, x in zip(runs("t.%s.mp" % m)[2:], exact[2:])), m
		share = [array(m["busy_s"]).max() / array(m["busy_s"]).sum() for m in runs("t.exact.mp")]
		longer = [1 + 0.5 * (0.4 + 0.6 * min(1, 2 * (1 - s))) if s < 1 else 1 for s in share]
		assert np.allclose([m["lat_s"] for m in runs("t.beside=0.5.mp")], np.multiply(exact, longer))
		for m, x in zip(runs("cold.mp"), exact):
			assert np.allclose(array(m["samples_s"]), [1.5 * x, x]), m
	'
}

@test "noise is as wide as it is said, and depends on seed and time" {
	devsim --machine noise=0.1 --seed 4 --min-runs 400 --max-runs 400 r.mp > a.mp
	devsim --machine noise=0.1,seed=4 --min-runs 400 --max-runs 400 r.mp > b.mp
	devsim --machine noise=0.1,seed=5 --min-runs 400 --max-runs 400 r.mp > c.mp
	py '
		a, b, c = (np.concatenate([np.log(array(m["samples_s"]) / m["lat_s"]) for k, m in read(f) if k == "run"])
			for f in ("a.mp", "b.mp", "c.mp"))
		assert (a == b).all() and (a != c).any() and abs(a.std() - 0.1) < 0.005, a.std()
	'
	# The clock goes on where it was.
	devsim --machine shared a.mp > later.mp
	devsim --machine shared --clock 1000 r.mp > late.mp
	py '
		a, b, c = ([m["clock_s"] for k, m in read(f) if k == "run"][-1] for f in ("a.mp", "later.mp", "late.mp"))
		assert b > a + 0.5 and 1000 < c < 1010, (a, b, c)
	'
}

@test "one placement after another: what the machine does to each device is not in their ratios" {
	placebase variety -n 12 --evals 300 --seed 1 p.mp > v.mp
	for seed in 1 2 3; do
		devsim --machine "drift=0.3,drift_s=2,bursts=0.2,noise=0.02,cold=0.1,seed=$seed" --min-runs 12 --max-seconds 0.25 v.mp > ran.$seed.mp
	done
	devsim --machine exact --truth v.mp > truth.mp
	py '
		runs = lambda f: [m for k, m in read(f) if k == "run"]
		true = np.array([m["lat_s"] / m["ref_s"] for m in runs("truth.mp")])
		for seed in 1, 2, 3:
			r = runs("ran.%d.mp" % seed)
			off = abs(np.log([m["lat_s"] / m["ref_s"] for m in r] / true)).mean()
			raw = abs(np.log([np.median(array(m["samples_s"])) / r[0]["ref_s"] for m in r] / true)).mean()
			print(off, raw)
			assert off < 0.04 and off < raw / 2, (seed, off, raw)
	'
}

@test "--paired: candidates in turn with single devices, and a final best record" {
	placebase heft p.mp | placebase random -n 3 > both.mp
	devsim --machine shared --paired both.mp > final.mp
	py '
		r = read("final.mp")
		runs, best = [m for k, m in r if k == "run"], [m for k, m in r if k == "best"]
		assert [m["source"] for m in runs] == ["single"] * 2 + ["heft"] + ["random"] * 3, runs
		assert len(best) == 1 and best[0]["final"] and best[0]["source"] == "heft", best
		assert best[0]["ratio_lo"] < best[0]["ratio"] < best[0]["ratio_hi"] < 1 and best[0]["n_pairs"] >= 20, best
	'
	# What was handed over, undisturbed; placeout reads it.
	devsim --machine shared --truth final.mp | recdump -k run | tail -n 1 | grep -q '"source": "heft"'
	placeout --format affinity final.mp | grep -q cpu:1
	# On a machine where devices wait for each other a single one is best.
	devsim --machine handover=1 --paired both.mp | recdump -k best | grep -q '"source": "single"'
}

@test "--race: a budget of seconds, bursts for those that may be the best, starts that are to be beaten" {
	placebase random -n 4 p.mp | placebase heft | placebase random -n 3 --seed 2 > mixed.mp
	for seed in 1 2 3; do
		devsim --machine shared,drift=0.05,seed=$seed --paired --race 6 --candidates 20 mixed.mp > race.mp
		devsim --machine shared,seed=$seed --truth mixed.mp > truth.mp
		py '
			runs = [m for k, m in read("race.mp") if k == "run"]
			best = [m for k, m in read("race.mp") if k == "best"]
			true = [m for k, m in read("truth.mp") if k == "run"]
			assert [m["source"] for m in runs] == ["single"] * 2 + ["random"] * 4 + ["heft"] + ["random"] * 3, runs
			assert len(best) == 1 and best[0]["final"] and best[0]["source"] == "heft", best
			assert best[0]["ratio_lo"] < best[0]["ratio"] < best[0]["ratio_hi"] < 1, best
			assert abs(best[0]["ratio"] / (true[4]["lat_s"] / true[4]["ref_s"]) - 1) < 0.15, (best, true[4])
			# All ran, most of all what is the best; the clock says no more than the budget.
			n = [len(array(m["samples_s"])) for m in runs]
			assert min(n) > 3 and n[6] >= max(n[2:]), n
			assert 1.8 < runs[-1]["clock_s"] - runs[-1]["began_s"] < 6.5, runs[-1]
		'
	done
	# The same again; what cannot run is none; a machine where one device is best.
	devsim --machine shared,drift=0.05,seed=3 --paired --race 6 --candidates 20 mixed.mp | cmp - race.mp
	devsim --machine handover=1 --paired --race 3 --starts 2 mixed.mp | recdump -k best | grep -q '"source": "single"'
	placebase single p.mp | devsim --machine near --paired --race 1 | recdump -k best | grep -q '"source": "single"'
}

@test "--race without time: every single device has run, and the report claims nothing" {
	ir2dag "$ROOT/tests/models/nmt2.xml" | dagfeat | devsim --probe --spec desktop-cpu,datacenter-gpu | placebase cluster --evals 50 |
		placebase lookahead-rank | devsim --machine exact --paired --race 0.0001 --starts 4 > tiny.mp
	py '
		runs = of("tiny.mp", "run")
		assert all(m["ok"] and len(array(m["samples_s"])) > 0 for m in runs if m["source"] == "single"), runs
		# One burst has no interval.
		assert all(m["lo_s"] == 0 for m in runs if m["ok"] and m["bursts"] == 1), runs
		best = of("tiny.mp", "best")[-1]
		assert best["source"] == "single" and best["verdict"]["says"] == "undecided", best
	'
	run -0 placeout --format report tiny.mp
	[[ $output == *"verdict: cannot tell: "* && $output != *"cannot run"* && $output != *"vary by"* ]]
}

@test "--race: what left an earlier race of the stream does not run again; compete" {
	placebase heft p.mp | placebase random -n 4 > mixed.mp
	devsim --machine near,seed=1 --paired --race 10 --candidates 20 --starts 1 mixed.mp > first.mp
	placebase cluster first.mp | devsim --machine near,seed=1 --paired --race 5 --candidates 20 --starts 1 > second.mp
	py '
		runs = lambda f: [m for k, m in read(f) if k == "run"]
		a = runs("first.mp")[2:]
		b = runs("second.mp")[2 + len(a) + 2:]
		assert len(b) == len(a) + 1 == 6 and sum(m["out"] for m in a) >= 3, a
		for x, y in zip(a, b):
			assert y["ok"] != x["out"] and (y["ok"] or "earlier race" in y["reason"]), (x, y)
		assert b[-1]["source"] == "cluster" and b[-1]["ok"]
	'
	# What stays has the bursts of both races; what the first one told is not told again by a short second one.
	py '
		runs = lambda f: [m for k, m in read(f) if k == "run"]
		a = runs("first.mp")[2:]
		b = runs("second.mp")[2 + len(a) + 2:]
		for x, y in zip(a, b):
			if not y["ok"]:
				continue
			then, now = array(x["burst_s"]), array(y["burst_s"])
			assert len(then) == x["bursts"] > 0 and len(now) == y["bursts"], (x, y)
			# But for blocks in which nobody else was that still races.
			assert y["bursts"] > len(then) / 2, (x, y)
			assert (np.diff(array(y["burst_block"]).astype(int)) > 0).all()
			assert len(array(y["samples_s"])) >= len(array(x["samples_s"]))
		r = read("first.mp")
		i = max(i for i, x in enumerate(r) if x[0] == "run")
		m = dict(r[i][1])
		assert len(array(m["burst_block"])) > 1
		m["burst_block"] = {**m["burst_block"], "data": m["burst_block"]["data"][::-1]}
		write("bad.mp", r[:i] + [("run", m)] + r[i + 1:-1])
		m = dict(r[i][1])
		m["samples_s"] = tensor(-array(m["samples_s"]))
		write("minus.mp", r[:i] + [("run", m)] + r[i + 1:-1])
	'
	run -3 devsim --machine near,seed=1 --paired --race 1 --candidates 20 bad.mp
	[[ "$output" == *"burst_block"* ]]
	run -3 devsim --machine near,seed=1 --paired --race 1 --candidates 20 minus.mp
	[[ "$output" == *"'samples_s' holds what is no time"* ]]
	devsim --machine near,seed=1 --paired --race 0.05 --candidates 20 --starts 1 first.mp | placeout --format report > short.txt
	grep -q "^verdict: .* times as fast" short.txt
	dagfeat p.mp -o feat.mp
	B=$B "$ROOT/pipelines/compete" --machine near,seed=1 --starts mixed.mp -d c --budget 6 --portfolio 0.05 --search 0.3 --screen 3 feat.mp
	py '
		r = read("c/final.mp")
		best = [m for k, m in r if k == "best" and m.get("final")]
		proposed = [m for k, m in read("c/proposed.mp") if k == "place"]
		assert len(best) == 2 and len(proposed) == 4 and best[-1]["ratio_hi"] < 1 and best[-1]["race"]["blocks"] > 0, best
		assert max(m["clock_s"] for k, m in r if k == "run") < 7.5
		assert {"moves"} <= {m["source"] for k, m in r if k == "place"}
	'
}

@test "what is wrong is refused" {
	for options in "--machine sharde" "--machine noise=no" "--machine near --probe" "--truth" \
		"--machine near --paired --truth" "--machine near --noise 1" "--clock 3" "--paired" \
		"--machine near --race 1" "--machine near --paired --starts 1"; do
		# shellcheck disable=SC2086
		run -2 devsim $options r.mp
	done
	printf '# mine\nshared noise=0\nnoise=many\n' > mine
	run -3 devsim --machine mine r.mp
	[[ "$output" == *"mine: noise"* ]]
	echo mine > mine
	run -3 devsim --machine ./mine r.mp
	py 'r = read("r.mp")[:-1]; m = dict(r[-1][1]); write("bad.mp", r + [("run", {**m, "ok": False, "reason": "x", "began_s": 3.0, "clock_s": 1.0})])'
	run -3 devsim --machine near bad.mp
	[[ "$output" == *"clock_s"* ]]
}

@test "a report tells the random placement by the answer's reference, though an earlier race had another" {
	# Two devices that are not alike, so that each would be another reference.
	ir2dag "$ROOT/tests/models/nmt2.xml" | devsim --probe --spec desktop-cpu,integrated-gpu > two.mp
	placebase random -n 3 two.mp | devsim --machine exact --paired --race 3 > one_race.mp
	py '
		r = read("one_race.mp")[:-1]
		ids = ("graph", "episode", "step", "sample", "source")
		ratios = ("ratio", "ratio_lo", "ratio_hi")
		slower = max(m["ratio"] for k, m in r if k == "run" and m["source"] == "single")
		untried = lambda m: {**{x: m[x] for x in ids}, "ok": False, "reason": "there was no time"}
		last = [[k, untried(m) if k == "run" and m["source"] == "random" else dict(m)]
		        for k, m in r if k in ("run", "best")]
		names = first(r, "devs")["names"]
		other = next(n for n in names if n != of("one_race.mp", "best")[-1]["reference"])
		for k, m in r:
		    if k == "run":
		        m.update({x: m[x] / slower for x in ratios if x in m})
		    if k == "best":
		        m["reference"] = other
		assert slower > 1.01
		write("races.mp", r + last)
	'
	random_row() { placeout --format report "$1" | grep '^best of' | sed 's/^best of [0-9]* random *//; s/x .*//'; }
	[ -n "$(random_row one_race.mp)" ]
	[ "$(random_row races.mp)" = "$(random_row one_race.mp)" ]
}

@test "a report tells a placement that has two names once; random placements of two races are not twice as many" {
	placebase heft p.mp > h.mp
	placebase of:h.mp h.mp | placebase random -n 3 | devsim --machine exact --paired --race 2 --starts 2 > first.mp
	devsim --machine exact --paired --race 1 --starts 2 first.mp | placeout --format report > r.txt
	cat r.txt
	grep -Eq '^heft +([0-9.]+ ms +){0,1}- +[0-9.]+ ms|^heft +([0-9.]+ ms +){2}' r.txt
	grep -Eq '^heft +as heft( +<)?$' r.txt
	grep -q '^best of 3 random ' r.txt
	# The random row is told beside the reference of the last race.
	awk '/^cpu:0 alone .*ms .*x /&& !n++ { ref = $3 * substr($8, 1, length($8) - 1) } /^best of/ { r = $5 * substr($10, 1, length($10) - 1) }
		END { exit !(r / ref > 0.99 && r / ref < 1.01) }' r.txt
}

@test "a drift that is soon forgotten takes no longer to play, however long runs are" {
	json2dag "$ROOT/tests/instances/topcuoglu2002.json" | placebase random -n 3 > long.mp
	# 80 s are two million steps of such a walk.
	run -0 timeout 20 devsim --machine wild,drift=0.2,drift_s=0.001 long.mp -o drift.mp
	py '
		assert len({r["lat_s"] for r in of("drift.mp", "run")}) == 3
	'
	# A second of these runs is 10^12: bursts are told by their mean.
	py '
		import json
		p = json.load(open(os.environ["ROOT"] + "/tests/instances/topcuoglu2002.json"))
		for v in p["nodes"]:
			v["cost_s"] = {d: 1e12 * s for d, s in v["cost_s"].items()}
		json.dump(p, open("huge.json", "w"))
	'
	json2dag huge.json | placebase heft > huge.mp
	run -0 timeout 20 devsim --machine wild huge.mp -o bursts.mp
}
