#!/usr/bin/env bats
# calibrate: the statistics on data whose answers are known, the pipeline on a small model, and what it
# stands on: placements of every quality, runs in rounds, parts of a stream, slowdown.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export PIPELINES=$ROOT/pipelines
	models mobilenet_v3_large
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# figures TSV - the summary of placements.tsv
figures() { awk -v format=tsv -v devices=a,b -f "$PIPELINES/calibrate.awk" "$1"; }

# fitted COMMON - times.awk's columns of the calls c.PASS.CALL.tsv that are there
fitted() { awk -v common="$1" -f "$PIPELINES/times.awk" c.*.tsv; }

@test "Spearman, median and quantiles are those of the definitions, with ties" {
	py '
		rng = np.random.default_rng(3)
		n = 60
		m = np.round(rng.uniform(1, 2.5, n), 2)             # ties
		p = np.round(m * np.exp(rng.normal(0, 0.1, n)), 2)
		with open("fixed.tsv", "w") as f:
			f.write("placement\tsource\tpredicted_s\tfastest_s\tmean_s\tcopies\tcopy_bytes\tpredicted_busy_s\tmeasured_busy_s\n")
			for i in range(n):
				f.write(f"{i}\tmoved\t{p[i]}\t{m[i]}\t{m[i] * 1.25}\t{i}\t0\t1,0.5\t0.5,1\n")
		def ranks(x):
			return np.array([(x < v).sum() + ((x == v).sum() + 1) / 2 for v in x])
		def rho(a, b):
			return np.corrcoef(ranks(a), ranks(b))[0, 1]
		good = m <= 1.5 * m.min()
		e = p / m - 1
		ratio = p / m / np.exp(np.log(p / m).mean()) - 1     # no placement is common: of all
		json.dump([rho(p, m), rho(p[good], m[good]), int(good.sum()), np.median(abs(e)), np.quantile(abs(e), 0.9),
			np.median(e), np.median(abs(ratio))], open("want.json", "w"))
	'
	figures fixed.tsv > fixed.out
	figures fixed.tsv | cmp - fixed.out
	py '
		rows = {r[0]: r for r in csv.reader(open("fixed.out"), delimiter="\t")}
		all_of, good, n, median, p90, signed, ratio = json.load(open("want.json"))
		def near(row, want, digits):
			got = float(rows[row][1].split()[0])
			assert abs(got - want) <= 0.51 * 10 ** -digits, (row, got, want)
		assert rows["placements"][1] == "60" and rows["of them within 1.5x of the best"][1] == str(n)
		assert rows["judged"][1] == "fastest run"
		near("Spearman\u0027s rank correlation, all", all_of, 3)
		near("Spearman\u0027s rank correlation, the good ones", good, 3)
		near("error, median", 100 * median, 1)
		near("error, 90th percentile", 100 * p90, 1)
		near("error, signed median", 100 * signed, 1)
		near("mean of faster runs, error of ratios, median", 100 * ratio, 1)
		for row in rows.values():
			if len(row) > 2 and ".." in row[2]:
				lo, hi = map(float, row[2].split(" .. "))
				assert lo <= float(row[1].split()[0]) <= hi and lo < hi, row
	'
	# The bootstrap interval is as wide as the one of Fisher transformation, roughly.
	py '
		rows = {r[0]: r for r in csv.reader(open("fixed.out"), delimiter="\t")}
		lo, hi = map(float, rows["Spearman\u0027s rank correlation, all"][2].split(" .. "))
		z = np.arctanh(json.load(open("want.json"))[0])
		want = np.tanh(z + 1.96 / np.sqrt(57)) - np.tanh(z - 1.96 / np.sqrt(57))
		assert 0.5 * want < hi - lo < 2 * want, (lo, hi, want)
	'
}

# calls PYTHON - c.PASS.CALL.tsv of the times run(pass, call, round, placement) that PYTHON defines: 20
# placements, 0 to 4 in every call, the rest dealt to 3 calls a pass, two passes of 4 rounds
calls() {
	rm -f c.*.tsv
	py "
		rng = np.random.default_rng(7)
		true = np.linspace(1, 1.4, 20)[rng.permutation(20)]
		$1
		for a in (1, 2):
			rest = rng.permutation(np.arange(5, 20))
			for c in (1, 2, 3):
				with open(f'c.{a:02}.{c:03}.tsv', 'w') as f:
					for i in [0, 1, 2, 3, 4, *rest[5 * c - 5: 5 * c]]:
						x = [run(a, c, j, i) for j in range(4)]
						f.write(f'{i}\tmoved\t-1\t{min(x)}\t-\t4\t-\t0\t0\t0\t1\t1,1\t-\t' + ','.join(map(repr, x)) + '\n')
		np.save('true.npy', true)
	"
	fitted 1,2,3,4,5 > times.tsv
}

@test "times of placements: what rounds have in common goes, an outlier is trimmed, exactly" {
	# Rounds and calls slow by factors, and one run of ten times as long: the means are what they were.
	calls '
		slow = np.exp(rng.uniform(0, 0.7, (3, 4, 4)))
		run = lambda a, c, j, i: float(true[i] * slow[a, c, j] * (10 if (a, c, j, i) == (1, 2, 3, 1) else 1))
	'
	py '
		rows = list(csv.DictReader(open("times.tsv"), delimiter="\t"))
		true = np.load("true.npy")
		def column(name):
			x = np.array([float(r[name]) / true[int(r["placement"])] for r in rows])
			return x / x[1]
		assert len(rows) == 20 and [r["common"] for r in rows].count("1") == 5
		assert {r["runs"] for r in rows} == {"24", "8"}
		assert abs(column("mean_s") - 1).max() < 1e-3, column("mean_s")
		assert abs(column("mean_odd_rounds_s") - 1).max() < 1e-3
		assert abs(column("mean_even_passes_s") - 1).max() < 1e-3
		assert abs(column("mean_raw_s") - 1).max() > 0.02
	'
	# Calls alone slow by factors: so are the fastest runs.
	calls '
		slow = np.exp(rng.uniform(0, 0.7, (3, 4)))
		run = lambda a, c, j, i: float(true[i] * slow[a, c] * (1 + 0.1 * (j != i % 4)))
	'
	py '
		rows = list(csv.DictReader(open("times.tsv"), delimiter="\t"))
		true = np.load("true.npy")
		x = np.array([float(r["fastest_s"]) / true[int(r["placement"])] for r in rows])
		raw = np.array([float(r["fastest_raw_s"]) / true[int(r["placement"])] for r in rows])
		# Of 24 runs 6 are fast ones, and of 8 runs 2: of 8 of the 24 none is with this probability.
		often = np.array([int(r["runs"]) == 24 for r in rows])
		none = np.prod([(18 - i) / (24 - i) for i in range(8)])
		assert often.sum() == 5 and abs(x[~often] / x[~often][0] - 1).max() < 1e-6, x
		assert abs(np.log(x[often] / x[~often][0]) - none * np.log(1.1)).max() < 1e-6, x
		assert raw.max() / raw.min() > 1.05, raw
	'
}

@test "more runs are no advantage: the expected fastest of as few as there are anywhere" {
	# One placement has twelve runs, the others three, all of one distribution.
	py '
		rng = np.random.default_rng(5)
		def row(i, x):
			return f"{i}\tmoved\t-1\t{min(x)}\t-\t{len(x)}\t-\t0\t0\t0\t1\t1,1\t-\t" + ",".join(map(repr, x)) + "\n"
		x = [float(v) for v in np.exp(rng.uniform(0, 1, 12))]
		with open("m.01.001.tsv", "w") as f:
			f.write(row(0, x))
			for i in range(1, 6):
				f.write(row(i, [2.0, 3.0, 4.0]))
		from itertools import combinations
		json.dump(float(np.exp(np.mean([min(np.log(c)) for c in combinations(x, 3)]))), open("want.json", "w"))
	'
	awk -v common=2 -f "$PIPELINES/times.awk" m.01.001.tsv > m.tsv
	py '
		rows = list(csv.DictReader(open("m.tsv"), delimiter="\t"))
		assert abs(float(rows[0]["fastest_s"]) - json.load(open("want.json"))) < 1e-6, rows[0]
		assert all(abs(float(r["fastest_s"]) - 2) < 1e-6 for r in rows[1:]), rows
	'
}

@test "times of placements: pulses take away what they explain, of a device by how busy it is there, or nothing" {
	# Runs take longer by both devices' pulses; what a placement does to the pulses itself is no slowness.
	py '
		rng = np.random.default_rng(11)
		def write(name, told, own=0, calls=2):
			true = np.linspace(1, 1.3, 24)[rng.permutation(24)]
			own = own * rng.normal(0, 1, (24, 1, 2, 1))
			for c in range(1, calls + 1):
				with open(f"{name}.01.{c:03}.tsv", "w") as f:
					for i in range(24):
						share = np.array([0.2 + 0.03 * i, 1 - 0.025 * i])
						slow = rng.normal(0, 0.1, (6, 2, 2)) + 0.3 * rng.normal(0, 0.3, (6, 1, 1))
						x = true[i] * np.exp((slow @ [0.5, 1.5] * share ** 2).sum(1) + rng.normal(0, 0.002, 6))
						mine = np.log(1e-5) + 0.2 * share[:, None] + own[i] + (slow if told else rng.normal(0, 0.1, slow.shape))
						busy = ",".join(map(repr, map(float, share * x.min())))
						f.write(f"{i}\tmoved\t{x[0]}\t{x.min()}\t-\t6\t-\t0\t0\t0\t1\t{busy}\t-\t" +
							",".join(f"{v:.9f}" for v in x) + "\t" + ",".join(f"{v:.9g}" for v in np.exp(mine).ravel()) + "\n")
			np.save(name + ".npy", true)
		write("told", True)
		write("idle", False)
		write("own", True, 0.1, 8)
	'
	for i in told idle own; do
		awk -v common=1 -f "$PIPELINES/times.awk" $i.01.*.tsv > $i.tsv
		awk -v common=1 -v pulse=0 -f "$PIPELINES/times.awk" $i.01.*.tsv > $i.without.tsv
	done
	py '
		def error(file, true):
			rows = list(csv.DictReader(open(file), delimiter="\t"))
			x = np.log([float(r["mean_s"]) for r in rows]) - np.log(np.load(true))
			return np.std(x), float(rows[0]["explained"])
		(told, share), (without, none) = error("told.tsv", "told.npy"), error("told.without.tsv", "told.npy")
		assert share > 0.95 and none == 0 and told < 0.5 * without, (told, without, share)
		(idle, share), (without, none) = error("idle.tsv", "idle.npy"), error("idle.without.tsv", "idle.npy")
		assert share == none == 0 and idle == without, (idle, without, share)
		# Nor is it where shares do not tell: what is left is no more than luck.
		(own, share), (without, none) = error("own.tsv", "own.npy"), error("own.without.tsv", "own.npy")
		assert share > 0.95 and own < without, (own, without, share)
	'
}

# dealt ARG... - the next pass of 40 placements, 2 of them single devices, from 10 ms on, each 1 ms longer; by
# measurements every second one takes three times as long
dealt() {
	awk 'BEGIN { for (i = 0; i < 40; i++) print i "\t" (i < 2 ? "single" : "moved") "\t" 0.01 + 0.001 * i }' > predicted.tsv
	awk 'BEGIN {
		print "placement\tfastest_s\tmean_s\tmean_raw_s"
		for (i = 0; i < 40; i++) { s = (0.01 + 0.0001 * i) * (i % 2 ? 3 : 1); print i "\t" s "\t" s "\t" s }
	}' > so_far.tsv
	awk -v seed=1 -v chunk=10 "$@" -f "$PIPELINES/deal.awk" predicted.tsv ${so_far:+so_far.tsv}
}

@test "passes: over all first, then most of the time over those near the best" {
	run -0 dealt -v pass=1 -v left=100
	[[ "${lines[0]}" == "all 8 "* && ${#lines[@]} -eq 5 ]]
	# All are there, the single devices and four others in every call.
	[ "$(printf '%s\n' "${lines[@]:1}" | tr , '\n' | sort -n | uniq -c | awk '{ print $1 }' | sort | uniq -c | tr -s ' \n' ' ')" = " 34 1 6 4 " ]
	so_far=yes run -0 dealt -v pass=2 -v left=90 -v spent_all=10 -v spent_near=0
	[[ "${lines[0]}" == "near 8 "* && ${#lines[@]} -eq 3 ]]
	# The fast ones are numbers 1, 3 ...; others are there only when they are in every call.
	printf '%s\n' "${lines[@]:1}" | tr , '\n' | sort -n | uniq -c | awk -v calls=2 '
		$2 % 2 { fast++; next }
		$1 != calls { exit 1 }
		END { exit fast != 20 }'
	# Those near the best have had their time: all once more.
	so_far=yes run -0 dealt -v pass=5 -v left=50 -v spent_all=10 -v spent_near=90
	[[ "${lines[0]}" == "all "* && ${#lines[@]} -eq 5 ]]
	# What was asked for is what there is; little time, few rounds.
	so_far=yes run -0 dealt -v pass=2 -v rounds=3 -v left=-5
	[[ "${lines[0]}" == "all 3 "* ]]
	run -0 dealt -v pass=1 -v left=1
	[[ "${lines[0]}" == "all 2 "* ]]
}

# judged - the statistic that the fixed data are judged by, predictions being the reverse of the truth
judged() {
	awk -v OFS='\t' 'NR == 1 { print "placement", "source", "predicted_s", $0; next } { print $1, "moved", 1 / $4, $0 }' times.tsv > judge.tsv
	figures judge.tsv | awk -F '\t' '$1 == "judged" { print $2 }'
	awk -v only=repeats -f "$PIPELINES/calibrate.awk" judge.tsv
}

@test "judged is the statistic that repeats, and its repeatability is told" {
	# Rare undisturbed runs between disturbed ones: the fastest.
	calls 'run = lambda a, c, j, i: float(true[i] * (1 + rng.uniform(0.2, 1) * (j < 2)))'
	run -0 judged
	[ "${lines[0]}" = "fastest run" ]
	[[ "${lines[1]}" == 1.000\ 1.000\ 1.000 ]]
	# Undisturbed runs are so rare that many placements have none: the mean.
	calls "run = lambda a, c, j, i: float(true[i] * (1.02 if rng.uniform() < 0.05 else 1.5) * np.exp(rng.normal(0, 0.01)))"
	run -0 judged
	[ "${lines[0]}" = "mean of faster runs" ]
	# Of r = 0.5 between halves, the whole has the reliability 2/3.
	py '
		rng = np.random.default_rng(2)
		with open("half.tsv", "w") as f:
			f.write("placement\tsource\tpredicted_s\tfastest_s\tmean_s\tfastest_odd_rounds_s\tfastest_even_rounds_s"
				"\tmean_odd_rounds_s\tmean_even_rounds_s\tfastest_odd_passes_s\tfastest_even_passes_s\n")
			for i in range(3):
				f.write(f"{i}\tmoved\t1\t1\t1\t{i}\t{[0, 2, 1][i]}\t{i}\t{2 - i}\t-\t-\n")
	'
	run -0 figures half.tsv
	[[ "$output" == *"repeatability, fastest run	0.500	"* && "$output" == *"repeatability, mean of faster runs	-1.000	"* ]]
	[[ "$output" == *"a perfect prediction of the good ones, about	0.816	"* && "$output" != *"passes"* ]]
}

@test "a perfect prediction, the worst outlier, and too few placements" {
	printf 'placement\tsource\tpredicted_s\tfastest_s\tmean_s\tcopies\tcopy_bytes\tpredicted_busy_s\tmeasured_busy_s\n' > few.tsv
	printf '0\tsingle\t1\t1\t1\t0\t0\t1,0\t1,0\n1\tmoved\t2\t2\t2\t0\t0\t1,1\t1,1\n2\tmoved\t9\t3\t3\t7\t5000000\t3,1\t1,3\n' >> few.tsv
	head -n 3 few.tsv > perfect.tsv
	figures perfect.tsv | grep -q '^Spearman.s rank correlation, all	1.000	'
	figures perfect.tsv | grep -q '^error, median	0.0 %	0.0 .. 0.0	'
	run -0 figures few.tsv
	[[ "${lines[*]}" == *"2	moved	9000.000	3000.000	+200.0 %	7	5.00	a 33 %	b 100 %"* ]]
	head -n 2 few.tsv > one.tsv
	run -1 figures one.tsv
	[[ "$output" == *"fewer than two placements"* ]]
}

@test "variety: distinct, reproducible, every quality, single devices first" {
	devsim --probe mobilenet_v3_large.mp -o p.mp
	placebase variety -n 60 --evals 300 p.mp > v.mp
	placebase variety -n 60 --evals 300 p.mp | cmp - v.mp
	py '
		v = of("v.mp", "place")
		assert len({array(m["device"]).tobytes() for m in v}) == len(v) == 60
		k = len(v[0]["devices"])
		assert [m["source"] for m in v[:k]] == ["single"] * k
		s = np.array([m["predicted_s"] for m in v])
		assert 30 <= (s <= 1.5 * s.min()).sum() <= 55, s / s.min()
		assert len({m["source"] for m in v}) >= 6, {m["source"] for m in v}
	'
}

@test "devrun --only runs a part of a stream, --rounds one run of each a round" {
	two_cores
	devrun --probe -D cpu:0,cpu:1 mobilenet_v3_large.mp | placebase random -n 6 | devrun --only 2-3,6 --rounds 3 -o only.mp
	py '
		assert len(of("only.mp", "place")) == 6
		r = runs("only.mp")
		assert [m["sample"] for m in r] == [1, 2, 5] and all(m["ok"] and m["ref_s"] > 0 for m in r), r
		assert all(array(m["samples_s"]).shape == (3,) for m in r)
	'
	for bad in 0 3-1 a 1,,2 -1 1, 1-2x; do
		run -2 devrun --only="$bad" only.mp
	done
	# Short loops beside each run: of both devices, which are cores; per run, device and kind.
	devrun --only 2-3 --rounds 3 --pulse --no-reference only.mp -o pulse.mp
	py '
		assert "pulse_s" not in runs("only.mp")[0]
		for r in runs("pulse.mp")[3:]:
			assert array(r["pulse_s"]).shape == (3, 2, 2) and (array(r["pulse_s"]) > 1e-6).all(), r["pulse_s"]
	'
	recdump -f -k run pulse.mp | tail -n 1 | awk -f "$PIPELINES/runs.awk" > pulse.tsv
	[ "$(cut -f 15 pulse.tsv | tr , '\n' | grep -c .)" -eq 12 ]
	run -2 devrun --pulse only.mp
	[[ "$output" == *"--pulse goes with --rounds"* ]]
	# Rounds are planned by the costs of the stream, which are to be about its graph.
	devsim --probe -D cpu:0,cpu:1 mobilenet_v3_large.mp --spec desktop-cpu | placebase random -n 2 -o costs.mp
	devrun --rounds 1 --no-reference costs.mp -o /dev/null
	py '
		records = read("costs.mp")
		first(records, "cost")["graph"] += 1
		write("other.mp", records)
	'
	run -3 devrun --rounds 1 other.mp
	[[ "$output" == *"cost record"*"another graph"* ]]
}

@test "devrun --profile --again: the mean with earlier profiles; PoCL does not compute while it copies" {
	two_cores
	devrun --probe --profile --max-seconds 0.2 -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp -o one.mp
	py '
		records = read("one.mp")
		c, d = first(records, "cost"), first(records, "devs")
		assert c["profiles"] == 1 and c["contention"] and not c["overlap"], c["overlap"]
		# As if three profiles had been taken on a machine a hundred times as slow, one saving between strangers.
		c["profiles"], c["slowdown"] = 3, 40.0
		for key in ("set_s", "set_lo", "set_hi"):
			c[key] = tensor(np.where(array(c[key]) > 0, 100 * array(c[key]), array(c[key])))
		for key in ("saved_s", "saved_lo", "saved_hi"):
			c[key] = tensor(np.vstack([np.full((1, 2), 8.0), array(c[key])]))
		pair = (int(array(c["pair_src"])[0]), 0) if len(array(c["pair_src"])) else (1, 0)
		for key, end in zip(("pair_src", "pair_dst"), pair):
			c[key] = tensor(np.r_[end, array(c[key])].astype("u4"))
		d["links"][0]["latency_s"] *= 100
		write("slow.mp", records)
	'
	devrun --probe --profile --again --max-seconds 0.2 -D cpu:0,cl:0.0:1 slow.mp -o mean.mp
	py '
		one, mean = (first(read(f), "cost") for f in ("one.mp", "mean.mp"))
		assert mean["profiles"] == 4 and 30 <= mean["slowdown"] < 31, mean["slowdown"]
		a, b = array(one["set_s"]), array(mean["set_s"])
		ratio = np.median(b[a > 1e-6] / a[a > 1e-6])
		assert 100 ** 0.75 / 2 < ratio < 100 ** 0.75 * 2, ratio
		k = [(int(x), int(y)) for x, y in zip(array(mean["pair_src"]), array(mean["pair_dst"]))]
		assert k == sorted(set(k))
		saved = array(mean["saved_s"])[k.index((int(array(one["pair_src"])[0]), 0) if len(array(one["pair_src"])) else (1, 0))]
		assert (abs(saved - 6) < 0.1).all(), saved
		assert len(of("mean.mp", "devs")) == len(of("mean.mp", "cost")) == 1
	'
	run -2 devrun --probe --again -D cpu:0,cl:0.0:1 slow.mp
	run -3 devrun --probe --profile --again -D cpu:0,cl:0.0:1 mobilenet_v3_large.mp
	[[ "$output" == *"no earlier profile"* ]]
	run -3 devrun --probe --profile --again -D cpu:1,cl:0.0:1 --allow-shared slow.mp
	[[ "$output" == *"other devices"* ]]
}

@test "devsim: slowdown lengthens what devices compute at the same time, beside all of it" {
	ir2dag "$ROOT/tests/models/inception_v3.xml" | devsim --probe | placebase random -n 5 -o a.mp
	py '
		records = read("a.mp")
		cost = first(records, "cost")
		cost["set_s"] = tensor(np.tile(array(cost["set_s"])[:, :1], 2))
		for l in first(records, "devs")["links"]:
			l["latency_s"] = 0.0
			l["bytes_per_s"] = 1e15
		write("a.mp", records)
		cost["slowdown"] = 0.5
		write("b.mp", records)
		cost["beside"] = 0.25
		write("d.mp", records)
		cost["slowdown"] = -1.0
		write("c.mp", records)
	'
	devsim a.mp -o ra.mp
	devsim b.mp -o rb.mp
	devsim d.mp -o rd.mp
	py '
		for a, b in zip(runs("ra.mp"), runs("rb.mp")):
			more = max(0, array(a["busy_s"]).sum() - a["lat_s"])
			assert abs(b["lat_s"] - a["lat_s"] - 0.5 * more) < 1e-12 * b["lat_s"], (a, b)
		for b, d in zip(runs("rb.mp"), runs("rd.mp")):
			both = 1.25 if (array(b["busy_s"]) > 0).all() else 1
			assert abs(d["lat_s"] - both * b["lat_s"]) < 1e-12 * d["lat_s"], (b, d)
		assert any(b["lat_s"] > a["lat_s"] for a, b in zip(runs("ra.mp"), runs("rb.mp")))
	'
	run -3 devsim c.mp -o no.mp
	[[ "$output" == *"slowdown"* ]]
}

@test "the pipeline, and going on where it was interrupted" {
	two_cores
	cal() { "$PIPELINES/calibrate" mobilenet_v3_large.xml -D cpu:0,cpu:1 -n 9 --rounds 5 --seconds 9 --chunk 3 --evals 50 -o cal; }
	run -0 --separate-stderr cal
	[[ "$output" == *"Spearman's rank correlation, all"* && "$output" == *"worst"* && "$output" == *"odd against even passes"* ]]
	[[ "$stderr" == *"9 placements in passes, "*"5 rounds in all"* ]]
	[[ "$stderr" == *"pass 2, call 2 of 2: "*" of 9 placements (all), 3 rounds"* && "$stderr" != *"pass 3"* ]]
	py '
		rows = list(csv.DictReader(open("cal/placements.tsv"), delimiter="\t"))
		assert len(rows) == 9 and len({r["placement"] for r in rows}) == 9
		assert all(float(r["predicted_s"]) > 0 and float(r["fastest_s"]) > 0 for r in rows)
		assert all(float(r["fastest_raw_s"]) <= float(r["mean_raw_s"]) for r in rows)
		# Two devices and two others in every call, the rest dealt anew in each of the passes.
		assert sorted(r["runs"] for r in rows) == ["12"] * 4 + ["6"] * 5, rows
		assert {r["common"] for r in rows if r["source"] == "single"} == {"1"}
		assert open("cal/report.md").read().startswith("| mobilenet_v3_large on cpu:0,cpu:1 |")
		c = first(read("cal/profile.mp"), "cost")
		assert c["order"] == "improved" and c["slowdown"] >= 0 and c["beside"] >= 0
	'
	# Nothing is measured again; what is missing is.
	cp cal/placements.tsv before.tsv
	run -0 --separate-stderr cal
	[[ "$stderr" != *"call 1"* && "$stderr" != *"profiling mobilenet"* ]]
	cmp cal/placements.tsv before.tsv
	rm cal/measured.02.001.mp
	run -0 --separate-stderr cal
	[[ "$stderr" == *"pass 2, call 1 of 2: "* && "$stderr" != *"call 2"* ]]
}

@test "what is wrong is said" {
	run -2 "$PIPELINES/calibrate"
	[[ "$output" == *"no model"* ]]
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml
	[[ "$output" == *"no devices"* ]]
	run -1 "$PIPELINES/calibrate" nothing.xml -D cpu:0
	[[ "$output" == *"cannot read 'nothing.xml'"* ]]
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml -D cpu:0 -n 3
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml -D cpu:0 --chunk x
	[[ "$output" == *"--chunk takes a whole number"* ]]
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml -D gpu:7 -o other
	mkdir -p other && echo else > other/settings
	run -2 "$PIPELINES/calibrate" mobilenet_v3_large.xml -D cpu:0 -o other
	[[ "$output" == *"other settings"* ]]
}
