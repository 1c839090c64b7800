#!/usr/bin/env bats
# Specifications of many devices: counts, groups and what joins them, beside the same written out; presets.
# programs: devsim
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/small_increment_1x3x4x5.xml" > g.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# devices SPEC [OPTION]... - the devs record that it gives
devices() { devsim --probe --spec "$@" g.mp | recdump -k devs; }

@test "four lines are sixteen devices and 240 links, as if each were written" {
	cat > short.spec <<-'S'
		device h100*16  flops 9.9e14  efficiency 0.5  bandwidth 3.35e12  memory 8e10  watts 700
		group node*2 h100
		within node   latency 3e-6  bandwidth 4.5e11  port nvlink
		between node  latency 1e-5  bandwidth 5e10  port net
	S
	py '
		with open("long.spec", "w") as f:
			for i in range(16):
				print(f"device h100:{i} flops 9.9e14 efficiency 0.5 bandwidth 3.35e12 memory 8e10 watts 700", file=f)
			for i in range(16):
				for j in range(16):
					if i != j:
						print(f"link h100:{i} h100:{j}", "latency 3e-6 bandwidth 4.5e11 port nvlink" if i // 8 == j // 8 else "latency 1e-5 bandwidth 5e10 port net", file=f)
	'
	cmp <(devices short.spec) <(devices long.spec)
	devsim --probe --spec short.spec g.mp > s.mp
	py 'd = of("s.mp", "devs")[0]; assert len(d["names"]) == 16 and len(d["links"]) == 240 and sum(l["latency_s"] == 3e-6 for l in d["links"]) == 112'
}

@test "nested groups, devices by name, classes in links and ports, later lines over earlier ones" {
	cat > n.spec <<-'S'
		device cpu  flops 1e12  bandwidth 1e11
		device g*8  flops 1e13  bandwidth 1e12
		group pair*4 g
		group node*2 pair
		group all node cpu
		within all    latency 9e-6  bandwidth 1e9
		between node  latency 5e-6  bandwidth 2e9  port net
		within node   latency 4e-6  bandwidth 3e9
		within pair   latency 1e-6  bandwidth 4e9
		link cpu g    latency 2e-6  bandwidth 5e9  port bus
		link g:0 g:1  latency 7e-6  bandwidth 6e9
		port g net    out 4e9
		port g:3 net  in 3e9
	S
	devsim --probe --spec n.spec g.mp > n.mp
	py '
		d = of("n.mp", "devs")[0]
		at = {(d["names"][l["src"]], d["names"][l["dst"]]): (l["latency_s"], l["bytes_per_s"], l.get("port")) for l in d["links"]}
		assert len(at) == 72
		for i in range(8):
			assert at["cpu", f"g:{i}"] == (2e-6, 5e9, "bus") and at[f"g:{i}", "cpu"] == (9e-6, 1e9, None)
			for j in range(8):
				if i == j: continue
				want = (7e-6, 6e9, None) if (i, j) == (0, 1) else (1e-6, 4e9, None) if i // 2 == j // 2 else (4e-6, 3e9, None) if i // 4 == j // 4 else (5e-6, 2e9, "net")
				assert at[f"g:{i}", f"g:{j}"] == want, (i, j, at[f"g:{i}", f"g:{j}"])
		ports = {(d["names"][p["device"]], p["name"]): (p.get("out_bytes_per_s"), p.get("in_bytes_per_s")) for p in d["ports"]}
		assert ports["g:3", "net"] == (4e9, 3e9) and ports["g:0", "net"] == (4e9, None) and len(ports) == 8, ports
	'
	# devices of a list, by the class's names
	devsim --probe --spec n.spec -D g:1,cpu,g:0 g.mp > l.mp
	py 'd = of("l.mp", "devs")[0]; assert d["names"] == ["g:1", "cpu", "g:0"] and len(d["links"]) == 6'
}

# bad LINES MESSAGE
bad() {
	printf 'device a flops 1e9 bandwidth 1e9\ndevice g*4 flops 1e9 bandwidth 1e9\n%b\n' "$1" > bad.spec
	run -3 devsim --probe --spec bad.spec g.mp -o out.mp
	[[ ${#lines[@]} -eq 1 && $output == "devsim: error: bad.spec, line "*"$2"* ]] || { echo "$output"; return 1; }
}

@test "what is wrong is told with its line" {
	bad 'group n*3 g' "group 'n': 4 devices are not 3 equal parts"
	bad 'group n h' "no device or group 'h' is described above"
	bad 'group n g a g:1' "'g:1' is in the group twice"
	bad 'group n g\ngroup n a' "group 'n' is described twice"
	bad 'group n' 'a group needs a name and devices'
	bad 'group n*0 g' "n*0"
	bad 'device g flops 1 bandwidth 1' "device 'g' is described twice"
	bad 'device g:2 flops 1 bandwidth 1' "device 'g:2' is described twice"
	bad 'device a*2 flops 1 bandwidth 1' "device 'a' is described twice"
	bad 'device x*1025 flops 1 bandwidth 1' 'x*1025'
	bad 'device x*y flops 1 bandwidth 1' 'x*y'
	bad 'within n latency 1 bandwidth 1' "no group 'n' is described above"
	bad 'group node g\nwithin nod latency 1 bandwidth 1' "did you mean 'node'?"
	bad 'within' 'within needs the name of a group'
	bad 'group n g\nbetween n latency 1' 'a link needs latency and bandwidth'
	bad 'withn x' "did you mean 'within'?"
	bad 'link h g latency 1 bandwidth 1' "no device 'h' is described"
}

@test "presets of nodes: eight devices, joined each with each, and two nodes of a kind of one's own beside each other" {
	for p in h100 h200 b200 mi300x; do
		devsim --probe --spec $p-node g.mp > p.mp
		py 'd = of("p.mp", "devs")[0]; assert d["names"] == [f"{sys.argv[1]}:{i}" for i in range(8)] and len(d["links"]) == 56' $p
	done
	devsim --probe --spec two-rtx4090,raspberry-pi5 g.mp > p.mp
	py 'd = of("p.mp", "devs")[0]; assert d["names"] == ["rtx4090:0", "rtx4090:1", "cpu"] and len(d["links"]) == 6'
	devsim --probe --spec h100-node,h200-node g.mp > p.mp
	py 'd = of("p.mp", "devs")[0]; assert len(d["names"]) == 16 and len(d["links"]) == 112'
}

# pools EXTRA - two devices of one memory of 1000 bytes at 10 bytes a second, b with 900 of its own, and one beside it; a model in which
# v0 and v1 read one weight of 400 bytes and an input of 40, and each makes 40, a result.
pools() {
	printf '%s\n' "pool ram memory 1000 bandwidth 10 $1" 'device a flops 1e9 bandwidth 10 pool ram' 'device b flops 1e9 bandwidth 10 memory 900 pool ram' \
		'device c flops 1e9 bandwidth 10' 'link * * latency 0 bandwidth 1e9' > pool.spec
	py '
		from tiny_ir import Model
		m = Model("two")
		w = m.const("w", "f32", np.zeros((10, 10), np.float32))
		for i in range(2):
			x = m.layer("Parameter", "x%d" % i, "f32", (1, 10))
			m.result(m.layer("MatMul", "v%d" % i, "f32", (1, 10), x, w, transpose_a="false", transpose_b="false"))
		m.save()
	'
	ir2dag two.xml > two.mp
	py '
		import json
		names = first(read("two.mp"), "graph")["node_name"]
		for at in "aa", "ab", "bc":
			json.dump({n: at["1" in n or n == names[-1]] for n in names}, open(at + ".json", "w"))
	'
}

@test "pool: devices need its memory together, weights of one form once, or copied; one bandwidth" {
	pools
	placebase expert:aa.json,expert:ab.json,expert:bc.json --spec pool.spec --plan plan.json two.mp | devsim --spec pool.spec > run.mp
	devsim --probe --spec pool.spec two.mp | placebase expert:aa.json,expert:ab.json,expert:bc.json --plan recorded.json | devsim > again.mp
	py '
		assert json.load(open("plan.json")) == json.load(open("recorded.json"))
		aa, ab, bc = ({"".join(p["pools"][0]["devices"]): p["pools"][0], "d": p["devices"], "p": p} for p in json.load(open("plan.json")))
		one = {"pool": "ram", "devices": ["a", "b"], "memory": 1000, "headroom": 0, "usable": 1000}
		# Both on a: weight, inputs, results.  One on each: the weight is there once.
		assert aa["ab"] == dict(one, shared=0, peak=aa["d"][0]["peak"], free=1000 - aa["d"][0]["peak"]), aa
		assert ab["ab"]["shared"] == 400 and ab["ab"]["peak"] == ab["d"][0]["peak"] + ab["d"][1]["peak"] - 400 == 480, ab
		assert bc["ab"]["shared"] == 0 and bc["ab"]["peak"] == bc["d"][0]["peak"] + bc["d"][1]["peak"] == 440, bc
		assert [d["memory"] for d in aa["d"]] == [1000, 900, None], aa
		for name in "run.mp", "again.mp":
			r = runs(name)
			assert [int(x) for m in r for x in array(m["pool_bytes"])] == [aa["ab"]["peak"], 480, 440], r
			# 480 bytes at 10 a second each: two devices are no faster than one where they share memory.
			assert [m["lat_s"] for m in r] == [96, 96, 48], r
	'
	placebase expert:ab.json --spec pool.spec two.mp | devsim --probe --spec pool.spec | placebase expert:ab.json | devsim | placeout -f report > report
	grep -qF 'ram, which devices share, 0.0 of 0.0 MB' report || { cat report; return 1; }
	pools 'weights copied'
	placebase expert:ab.json --spec pool.spec --plan plan.json two.mp -o out.mp
	py 'p = json.load(open("plan.json"))[0]["pools"][0]; assert p["shared"] == 0 and p["peak"] == 880, p'
}

@test "pool: one bandwidth holds for requests in flight, replicas and machines that are played" {
	printf '%s\n' 'pool ram memory 1e6 bandwidth 10' 'device a flops 1e9 bandwidth 1e9 pool ram' 'device b flops 1e9 bandwidth 1e9 pool ram' \
		'link * * latency 0 bandwidth 1e9' > rate.spec
	ir2dag "$ROOT/tests/models/small_increment_1x3x4x5.xml" | devsim --probe --spec rate.spec > rate.mp
	placebase single:a rate.mp > on_a.mp
	devsim on_a.mp > one.mp
	devsim --requests 4 on_a.mp > four.mp
	placebase replicas on_a.mp | devsim --requests 2 > twice.mp
	devsim --machine wild,seed=3 on_a.mp > played.mp
	py '
		one, = runs("one.mp")
		assert one["lat_s"] > 10, one          # hundreds of bytes, ten a second
		four, twice, played = runs("four.mp")[0], runs("twice.mp")[0], runs("played.mp")[-1]
		assert four["lat_s"] >= one["lat_s"] * (1 - 1e-9) and four["in_flight"]["p95_s"] >= 4 * one["lat_s"] * (1 - 1e-9), four
		assert twice["lat_s"] >= one["lat_s"] * (1 - 1e-9), twice
		assert played["lat_s"] >= one["lat_s"] * (1 - 1e-9), played
	'
}

@test "pool: no method answers with more than it has; --headroom of a pool" {
	pools 'weights copied'
	for h in 119B ram=120B; do
		placebase expert:ab.json --spec pool.spec --headroom "$h" two.mp | devsim --spec pool.spec --headroom "$h" > ok.mp
		py 'assert runs("ok.mp")[0]["ok"]'
	done
	run -0 --separate-stderr placebase -v expert:ab.json --spec pool.spec --headroom ram=121B two.mp -o over.mp
	[[ "$stderr" == *"not legal: devices need 880 bytes together of ram, which has 879" ]] || { echo "$stderr"; return 1; }
	devsim --spec pool.spec --headroom ram=121B over.mp > not.mp
	py 'm, = runs("not.mp"); assert not m["ok"] and m["missing_bytes"] == 1 and m["unlimited_s"] == 96, m'
	run -2 placebase heft --spec pool.spec --headroom rom=121B two.mp -o none.mp
	[[ "$output" == *"--headroom: there is no device 'rom'; did you mean 'ram'?"* ]]
	# Twelve weights of 100 in a pool of 700, and a slow device beside it: the pool would be the fastest for all.
	py '
		from tiny_ir import Model
		m = Model("twelve")
		x = m.layer("Parameter", "x", "f32", (1, 5))
		for i in range(12):
			x = m.layer("MatMul", "v%d" % i, "f32", (1, 5), x, m.const("w%d" % i, "f32", np.zeros((5, 5), np.float32)), transpose_a="false", transpose_b="false")
		m.result(x)
		m.save()
	'
	printf '%s\n' "pool ram memory 700" 'device a flops 1e9 bandwidth 100 pool ram' 'device b flops 1e9 bandwidth 100 pool ram' \
		'device c flops 1e9 bandwidth 1' 'link * * latency 0 bandwidth 1e9' > pool.spec
	ir2dag twelve.xml | devsim --probe --spec pool.spec > twelve.mp
	for method in heft cpop lookahead greedy-memory m-etf m-topo layers mincut metis climb anneal tabu genetic cluster llama-fit portfolio exact; do
		placebase "$method" --evals 300 twelve.mp | devsim > m.mp
		METHOD=$method py '
			m = runs("m.mp")[0]
			assert m["ok"] and int(array(m["pool_bytes"])[0]) <= 700, (os.environ["METHOD"], m)
		'
	done
}

@test "pool: what is wrong is told; devs records of damaged pools are refused" {
	for line in 'pool' 'pool ram' 'pool ram memory x' 'pool ram memory 1 weights both' $'pool ram memory 1\npool ram memory 2' 'pool ram size 1'; do
		printf '%s\ndevice a flops 1 bandwidth 1\n' "$line" > bad.spec
		run -3 --separate-stderr devsim --probe --spec bad.spec g.mp
		[[ "$stderr" == "devsim: error: bad.spec, line "* && ${#stderr_lines[@]} -eq 1 ]] || { echo "$line: $stderr"; return 1; }
	done
	printf 'pool ram memory 1\ndevice a flops 1 bandwidth 1 pool rom\n' > bad.spec
	run -3 --separate-stderr devsim --probe --spec bad.spec g.mp
	[[ "$stderr" == *"no pool 'rom' is described above; did you mean 'ram'?"* ]] || { echo "$stderr"; return 1; }
	devsim --probe --spec laptop g.mp > good.mp
	py '
		import copy
		bad = {"list": 3, "map": [3], "twice": [[0, 1, 0]], "far": [[0, 7]], "rate": [[0]]}
		for name, what in bad.items():
			recs = copy.deepcopy(read("good.mp"))
			d = first(recs, "devs")
			if name in ("list", "map"):
				d["pools"] = what
			else:
				d["pools"][0]["devices"] = tensor(np.array(what[0], np.uint32))
			if name == "rate":
				d["pools"][0]["bytes_per_s"] = -1.0
			write(name + ".bad", recs)
	'
	for bad in list map twice far rate; do
		run -3 --separate-stderr placebase heft "$bad.bad" -o none.mp
		[[ "$stderr" == "placebase: error: "*devs*pool* && ${#stderr_lines[@]} -eq 1 ]] || { echo "$bad: $stderr"; return 1; }
	done
	for preset in laptop phone; do
		devsim --probe --spec "$preset" g.mp > p.mp
		py 'd = of("p.mp", "devs")[0]; p, = d["pools"]; assert p["name"] == "ram" and list(array(p["devices"])) == [0, 1, 2] and p["mem_bytes"] > 1e10 and p["bytes_per_s"] > 1e10 and not any(array(d["mem_bytes"])), d'
	done
}

@test "price: dollars of what is in use, for the latency, or beside throughput for the period; the cheapest wins" {
	printf '%s\n' 'device fast flops 4e9 bandwidth 1e12 price 36' 'device slow flops 1e9 bandwidth 1e12 price 3.6' 'device free flops 1e6 bandwidth 1e12' \
		'link * * latency 0 bandwidth 1e9' > price.spec
	py '
		from tiny_ir import Model
		m = Model("priced")
		w = m.const("w", "f32", np.zeros((1000, 1000), np.float32))
		for i in range(2):
			x = m.layer("Parameter", "x%d" % i, "f32", (1, 1000))
			m.result(m.layer("MatMul", "v%d" % i, "f32", (1, 1000), x, w, transpose_a="false", transpose_b="false"))
		m.save()
	'
	ir2dag priced.xml | devsim --probe --spec price.spec > priced.mp
	py 'd, = of("priced.mp", "devs"); assert list(array(d["price"])) == [36, 3.6, 0], d'
	placebase single -D fast,slow priced.mp | devsim > single.mp
	py '
		fast, slow = runs("single.mp")
		assert abs(fast["usd_per_million"] / (1e6 * 0.01 * fast["lat_s"]) - 1) < 1e-12, fast
		assert abs(slow["usd_per_million"] / (1e6 * 0.001 * slow["lat_s"]) - 1) < 1e-12 and slow["lat_s"] > 3 * fast["lat_s"], (slow, fast)
	'
	for spec in "" "--spec price.spec"; do
		placebase exact -D fast,slow --objective price $spec priced.mp | devsim --objective price $spec > price.mp
		placebase exact -D fast,slow $spec priced.mp | devsim --objective latency=1,price=0 $spec > time.mp
		py '
			p, t = runs("price.mp")[0], runs("time.mp")[0]
			assert list(array(p["busy_s"]) > 0) == [False, True] and p["value"] == p["usd_per_million"] * 1e-6, p
			assert array(t["busy_s"])[0] > 0 and t["lat_s"] < p["lat_s"], t
		'
	done
	placebase climb --evals 100 -D fast,slow --objective throughput=1e-9,price=1 priced.mp | devsim --objective throughput=1e-9,price=1 > period.mp
	py 'm = runs("period.mp")[0]; assert abs(m["value"] - 1e-9 * m["period_s"] - 0.001 * m["period_s"]) < 1e-15 and array(m["busy_s"])[0] == 0, m'
	ir2dag priced.xml | devsim --probe --spec paper > none.mp
	run -2 placebase heft --objective price none.mp -o out.mp
	[[ "$output" == *"no device has a price"* ]]
	# The reference is the best single device by price: the one without a price; of two alike the cheaper one; in flight, too.
	placebase single priced.mp | devsim --objective price > all.mp
	placebase single priced.mp | devsim --requests 3 --objective throughput=1,price=1 > flight.mp
	py '
		for name, of_value in ("all.mp", min), ("flight.mp", min):
		    x = runs(name)
		    assert all(m["ref_value"] == of_value(n["value"] for n in x) for m in x), [(m["value"], m["ref_value"]) for m in x]
		assert runs("all.mp")[2]["value"] == 0
	'
	sed 's/slow flops 1e9/slow flops 4e9/' price.spec > twins.spec
	ir2dag priced.xml | placebase single -D fast,slow --spec twins.spec | devsim --spec twins.spec --objective price > twins.mp
	py 'a, b = runs("twins.mp"); assert abs(a["value"] / b["value"] - 10) < 1e-9 and a["ref_value"] == b["ref_value"] == b["value"], (a, b)'
	# Replicas share the requests, and what they cost.
	placebase single:slow -D fast,slow priced.mp | placebase replicas | devsim --requests 3 --objective price > replicas.mp
	py 'm = runs("replicas.mp")[-1]; assert m["value"] > 0 and abs(m["usd_per_million"] * 1e-6 / m["value"] - 1) < 1e-12, m'
	printf 'device a flops 1 bandwidth 1 price -1\n' > bad.spec
	run -3 devsim --probe --spec bad.spec g.mp
}
