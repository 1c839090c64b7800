#!/usr/bin/env bats
# devrun run --requests: several inferences at once. That any order of execution is safe is test_in_flight.c's part.
# programs: devrun
# seconds: 20
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	models mobilenet_v3_large lstm_stateful small_increment_1x3x4x5
	two=cpu:0,cpu:1
	[ "$(nproc)" -ge 2 ] || two=cpu:0
	ir2dag mobilenet_v3_large.xml --shape 1,3,112,112 -o less.mp
	placebase random -n 1 --draw uniform -D $two less.mp > random.mp
	placebase single -D $two less.mp > single.mp
	placebase random -n 1 --draw uniform -D $two lstm_stateful.mp > stateful.mp
	placebase single -D cpu:0 small_increment_1x3x4x5.mp > tiny.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# alike A B - the same tensors in both directories
alike() {
	local f
	for f in "$1"/*.npy; do
		cmp "$f" "$2/${f##*/}" || return 1
	done
}

@test "each request has the results that it has alone, on its own inputs" {
	for i in 0 1 2 3 4; do
		devrun -n 1 --no-reference --seed $((30 + i)) --outputs alone$i -o r.mp random.mp
	done
	run -1 cmp -s alone0/0.npy alone1/0.npy
	devrun run --requests 5 -n 2 --no-reference --seed 30 --outputs all -o r.mp random.mp
	[ "$(ls all)" = "$(printf '%s\n' 0 1 2 3 4)" ]
	for i in 0 1 2 3 4; do alike alone$i all/$i; done
	# From a directory for each, and from one for those that have none.
	devrun -n 1 --no-reference --seed 99 --save-inputs in -o r.mp random.mp
	devrun -n 1 --no-reference --seed 34 --save-inputs in/1 -o r.mp random.mp
	devrun -n 1 --no-reference --seed 99 --outputs alone99 -o r.mp random.mp
	devrun run --requests 3 -n 1 --no-reference -i in --outputs given -o r.mp random.mp
	alike alone99 given/0
	alike alone4 given/1
	alike alone99 given/2
}

@test "the record: requests that ended, latencies, seconds a request, what devices did" {
	devrun run --requests 3 -n 4 -o r.mp random.mp
	py '
		(m,) = runs("r.mp")
		f, s = m["in_flight"], array(m["samples_s"])
		assert m["ok"] and f["requests"] == 3 and f["failed"] == 0 and "failure" not in f, m
		assert len(s) == 4 and m["lo_s"] <= m["lat_s"] <= m["hi_s"] and m["ref_s"] > 0
		# A window is of 24 requests at least; so many seconds, so many requests.
		assert f["ended"] >= 4 * 24 and 0.3 < f["seconds"] / f["ended"] / s.mean() < 3, f
		assert 0 < f["p50_s"] <= f["p95_s"] <= f["p99_s"]
		# Of three at once each takes about three times what one takes its turn for (Little).
		assert 1 < f["p50_s"] / m["lat_s"] < 6, (f, m["lat_s"])
		busy = array(m["busy_s"])
		assert busy.min() > 0 and busy.max() < 1.5 * s[-1], (busy, s)
	'
	# One at a time is what it always was.
	devrun run --requests 1 -n 2 -o one.mp random.mp
	py 'assert all("in_flight" not in m for m in runs("one.mp"))'
}

@test "variables are a request's own" {
	devrun -n 3 --keep-state --no-reference --seed 5 --outputs v5 -o r.mp stateful.mp
	devrun -n 3 --keep-state --no-reference --seed 6 --outputs v6 -o r.mp stateful.mp
	devrun -n 1 --keep-state --no-reference --seed 6 --outputs first -o r.mp stateful.mp
	run -1 cmp -s v6/0.npy first/0.npy
	devrun run --requests 2 -n 3 --keep-state --no-reference --seed 5 --outputs both -o r.mp stateful.mp
	alike v5 both/0
	alike v6 both/1
	devrun run --requests 2 -n 3 --no-reference --seed 5 --outputs fresh -o r.mp stateful.mp
	alike first fresh/1
}

@test "a request that fails is counted, and takes no other with it" {
	py '
		from tiny_ir import Model
		m = Model("shaped")
		x, s = m.layer("Parameter", "x", "f32", (2, 3)), m.layer("Parameter", "s", "i64", (2,))
		y = m.layer("Reshape", "reshape", "f32", (-1, -1), x, s, special_zero="false")
		m.result(m.layer("Exp", "exp", "f32", (-1, -1), y))
		m.save()
		for i, shape in enumerate(([3, 2], [4, 5], [6, 1])):
			os.makedirs(f"shapes/{i}")
			np.save(f"shapes/{i}/0.npy", np.arange(6, dtype=np.float32).reshape(2, 3) + i)
			np.save(f"shapes/{i}/1.npy", np.array(shape))
	'
	cp shapes/0/*.npy shapes
	ir2dag shaped.xml | placebase single -D cpu:0 -o shaped.mp
	devrun run --requests 3 -n 2 --no-reference -i shapes --outputs shaped -o r.mp shaped.mp
	py '
		(m,) = runs("r.mp")
		f = m["in_flight"]
		assert m["ok"] and 0 < f["failed"] < f["ended"] and "reshape" in f["failure"].lower(), m
		for i in 0, 2:
			x, s = np.load(f"shapes/{i}/0.npy"), np.load(f"shapes/{i}/1.npy")
			y = np.load(f"shaped/{i}/0.npy")
			assert y.shape == tuple(s) and abs(y / np.exp(x.reshape(s)) - 1).max() < 1e-5
	'
	[ ! -e shaped/1 ]
	# Where all fail it is said.
	rm -r shapes/0 shapes/2
	cp shapes/1/*.npy shapes
	devrun run --requests 3 -n 2 --no-reference -i shapes -o r.mp shaped.mp
	py '(m,) = runs("r.mp"); assert not m["ok"] and "reshape" in m["reason"].lower(), m'
}

@test "requests that do not fit are refused, and memory says what is needed" {
	devrun run --requests 1 -n 1 --no-reference --tight -o one.mp single.mp
	devrun run --requests 4 -n 1 --no-reference --tight -o four.mp single.mp
	py '
		one, four = (int(array(runs(f)[0]["mem_bytes"])[0]) for f in ("one.mp", "four.mp"))
		# Weights once, tensors of each.
		assert one < four < 4 * one, (one, four)
		open("needs", "w").write("%d %d %d\n" % (one, four, four - (four - one) // 3))
	'
	read -r one four three < needs
	devrun run --requests 4 -n 1 --no-reference -m "cpu:0=$((four + 4096))" -o r.mp single.mp
	py 'assert runs("r.mp")[0]["ok"]'
	devrun run --requests 4 -n 1 --no-reference -m "cpu:0=$((four - 1000))" -o r.mp single.mp
	py 'm = runs("r.mp")[0]; assert not m["ok"] and m["reason"].startswith("request 4 of 4 in flight: device"), m'
	devrun run --requests 3 -n 1 --no-reference -m "cpu:0=$((three + 4096))" -o r.mp single.mp
	py 'assert runs("r.mp")[0]["ok"]'
	[ "$one" -lt "$three" ]
}

@test "an interrupt waits for what is in flight, and the record is written" {
	devrun run --requests 3 -n 100000 --no-reference -o r.mp random.mp &
	pid=$!
	# Until it has computed for a while, however busy the machine is.
	for ((i = 0; i < 300 && $(awk '{ print $14 }' /proc/$pid/stat) < 2 * $(getconf CLK_TCK); i++)); do sleep 0.1; done
	kill -INT $pid
	wait $pid
	py '
		(m,) = runs("r.mp")
		assert m["ok"] and m["in_flight"]["ended"] > 0 and 0 < len(array(m["samples_s"])) < 100000, m
		assert [k for k, _ in read("r.mp")][-1] == "end"
	'
}

@test "100,000 requests take no more memory than 10,000" {
	no_sanitizer
	py '
		import resource, subprocess
		def peak(runs):
			p = subprocess.Popen(["devrun", "run", "--requests", "8", "-n", str(runs), "--no-reference", "-o", "r.mp", "tiny.mp"])
			_, status, use = os.wait4(p.pid, 0)
			assert status == 0
			return use.ru_maxrss, runs_of("r.mp")
		def runs_of(f):
			return runs(f)[0]["in_flight"]["ended"]
		few, n_few = peak(1)
		many, n_many = peak(20)
		assert n_many > 1e5 and n_many > 2 * n_few, (n_few, n_many)
		assert many < few + 2000, (few, many)
	'
}

@test "--requests: what it does not go with, and what is no number of them" {
	for o in "--schedule" "--boundaries b" "--rounds 3 --pulse"; do
		run -2 --separate-stderr devrun run --requests 2 $o random.mp
		[[ $stderr == *"--requests does not go with"* ]]
	done
	run -2 devrun run --requests 0 random.mp
	run -2 devrun run --requests 5000 random.mp
}

@test "devsim --requests: chains over three devices, by a schedule of another make" {
	py '
		import heapq
		rng = np.random.default_rng(3)
		def graph(costs, lat):
			return {"devices": [{"name": f"d{i}"} for i in range(3)],
				"links": [{"src": f"d{i}", "dst": f"d{j}", "latency_s": float(lat[i][j]), "bytes_per_s": 1e30}
					  for i in range(3) for j in range(3) if i != j],
				"options": {"contention": True, "overlap": True},
				"nodes": [{"id": i, "cost_s": {f"d{d}": float(c[d]) for d in range(3)}} for i, c in enumerate(costs)],
				"edges": [{"src": i, "dst": i + 1, "bytes": 1} for i in range(len(costs) - 1)]}
		for i in range(4):
			costs, lat = rng.uniform(1, 5, (7, 3)), rng.uniform(0.5, 3, (3, 3))
			json.dump(graph(costs, lat), open(f"chain{i}.json", "w"))
			np.savez(f"chain{i}.npz", costs=costs, lat=lat)
	'
	for i in 0 1 2 3; do
		json2dag chain$i.json | placebase random -n 6 --draw uniform --seed $i -o chain$i.mp
		for n in 2 3 5; do devsim --requests $n chain$i.mp -o chain$i.$n.mp; done
	done
	py '
		import heapq
		# Copy j begins when copy j - n has ended; a free device takes the lowest copy that waits, a link what came first.
		def ends(device, costs, lat, n):
			copies, length = 15 * n, len(device)
			end, now, seq = [0.0] * copies, 0.0, 0
			waiting = {d: [] for d in range(3)}
			link = {(a, b): [] for a in range(3) for b in range(3)}
			busy, events = set(), []
			def after(t, what):
				nonlocal seq
				seq += 1
				heapq.heappush(events, (t, seq, what))
			for j in range(n):
				heapq.heappush(waiting[device[0]], (j, 0))
			while True:
				for d in range(3):
					if d not in busy and waiting[d]:
						j, t = heapq.heappop(waiting[d])
						busy.add(d)
						after(now + costs[t][d], ("task", d, j, t))
				for l, q in link.items():
					if l not in busy and q:
						j, t = q.pop(0)
						busy.add(l)
						after(now + lat[l[0]][l[1]], ("copy", l, j, t))
				if not events:
					return end
				now, _, (what, where, j, t) = heapq.heappop(events)
				busy.discard(where)
				if what == "task" and t + 1 == length:
					end[j] = now
					if j + n < copies:
						heapq.heappush(waiting[device[0]], (j + n, 0))
				elif what == "task" and device[t + 1] != device[t]:
					link[device[t], device[t + 1]].append((j, t))
				else:
					heapq.heappush(waiting[device[t + 1]], (j, t + 1))
		seen = 0
		for i in range(4):
			z = np.load(f"chain{i}.npz")
			for n in 2, 3, 5:
				r = read(f"chain{i}.{n}.mp")
				places = [array(m["device"]) for k, m in r if k == "place"]
				for device, m in zip(places, [m for k, m in r if k == "run"]):
					end = sorted(ends(list(device), z["costs"], z["lat"], n))
					want = (end[14 * n - 1] - end[2 * n - 1]) / (12 * n)
					assert abs(m["lat_s"] / want - 1) < 1e-9, (i, n, device, m["lat_s"], want)
					# No better than the busiest device or link, but for where a window begins and ends.
					assert m["lat_s"] > m["period_s"] * 0.98 and m["in_flight"]["requests"] == n, (i, n, device, m)
					seen += m["lat_s"] > m["period_s"] * 1.05
		assert seen > 10, seen
	'
	# One device alone: its own time, however many are in flight.
	placebase single chain0.mp | devsim --requests 4 -o one.mp
	placebase single chain0.mp | devsim -o alone.mp
	py '
		for a, b in zip(runs("one.mp")[-3:], runs("alone.mp")[-3:]):
			assert abs(a["lat_s"] / b["lat_s"] - 1) < 1e-9 and abs(a["in_flight"]["p50_s"] / (4 * b["lat_s"]) - 1) < 1e-9
	'
	py 'json.dump({"devices": [{"name": "a"}], "nodes": [{"id": i, "cost_s": {"a": 1}} for i in range(3000)], "edges": []}, open("many.json", "w"))'
	json2dag many.json | placebase single -o many.mp
	run -2 --separate-stderr devsim --requests 4096 many.mp -o none.mp
	[[ $stderr == "devsim: error: --requests: 61440 copies of 3000 tasks are more than can be simulated" ]]
	run -2 --separate-stderr devsim --requests 2 --schedule chain0.mp
	[[ $stderr == *"--requests goes without"* ]]
}
