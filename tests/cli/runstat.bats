#!/usr/bin/env bats
# runstat: statistics of run records, on data whose answers are known and on a stored calibration.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# figures TSV - the summary of placements.tsv
figures() { runstat judge --format tsv --devices a,b "$1"; }

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
		assert rows["judged"][1] == "fastest burst"
		near("Spearman\u0027s rank correlation, all", all_of, 3)
		near("Spearman\u0027s rank correlation, the good ones", good, 3)
		near("error, median", 100 * median, 1)
		near("error, 90th percentile", 100 * p90, 1)
		near("error, signed median", 100 * signed, 1)
		near("mean of faster bursts, error of ratios, median", 100 * ratio, 1)
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

# calls PYTHON - times.tsv, of calls with the times run(pass, call, round, placement) that PYTHON defines:
# 20 placements, 0 to 4 in every call, the rest dealt to 3 calls a pass, two passes of 4 rounds; predictions
# are the reverse of the truth
calls() {
	rm -f c.*.mp
	py "
		rng = np.random.default_rng(7)
		true = np.linspace(1, 1.4, 20)[rng.permutation(20)]
		$1
		for a in (1, 2):
			rest = rng.permutation(np.arange(5, 20))
			for c in (1, 2, 3):
				here = [0, 1, 2, 3, 4, *map(int, rest[5 * c - 5: 5 * c])]
				write_runs(f'c.{a:02}.{c:03}.mp', [run_record(i, [run(a, c, j, i) for j in range(4)]) for i in here])
		np.save('true.npy', true)
		write_runs('predicted.mp', [run_record(i, [1 / true[i]]) for i in range(20)])
	"
	runstat times --predicted predicted.mp c.*.mp > times.tsv
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
		from itertools import combinations
		x = np.exp(np.random.default_rng(5).uniform(0, 1, 12))
		others = [run_record(i, [2.0, 3.0, 4.0]) for i in range(1, 6)]
		write_runs("m.01.001.mp", [run_record(0, x), *others])
		write_runs("predicted.mp", [run_record(i, [1.0]) for i in range(6)])
		json.dump(float(np.exp(np.mean([min(np.log(c)) for c in combinations(x, 3)]))), open("want.json", "w"))
	'
	runstat times -p predicted.mp m.01.001.mp > m.tsv
	py '
		rows = list(csv.DictReader(open("m.tsv"), delimiter="\t"))
		assert abs(float(rows[0]["fastest_s"]) - json.load(open("want.json"))) < 1e-6, rows[0]
		assert all(abs(float(r["fastest_s"]) - 2) < 1e-6 for r in rows[1:]), rows
	'
}

@test "times of placements: without what the speed of cores explains, of a device by how busy it is there, or nothing" {
	# Runs take longer as both devices' loops do; what a placement does to the loops itself is no slowness.
	py '
		rng = np.random.default_rng(11)
		def measured(name, told, own=0, calls=2):
			true = np.linspace(1, 1.3, 24)[rng.permutation(24)]
			own = own * rng.normal(0, 1, (24, 1, 2, 1))
			for c in range(1, calls + 1):
				rows = []
				for i in range(24):
					share = np.array([0.2 + 0.03 * i, 1 - 0.025 * i])
					slow = rng.normal(0, 0.1, (6, 2, 2)) + 0.3 * rng.normal(0, 0.3, (6, 1, 1))
					x = true[i] * np.exp((slow @ [0.5, 1.5] * share ** 2).sum(1) + rng.normal(0, 0.002, 6))
					loops = np.log(1e-5) + 0.2 * share[:, None] + own[i] + (slow if told else rng.normal(0, 0.1, slow.shape))
					rows.append(run_record(i, x, busy=share * x.min(), loops=np.exp(loops)))
				write_runs(f"{name}.01.{c:03}.mp", rows)
			np.save(name + ".npy", true)
		measured("told", True)
		measured("idle", False)
		measured("own", True, 0.1, 8)
		write_runs("predicted.mp", [run_record(i, [1.0]) for i in range(24)])
	'
	for i in told idle own; do
		runstat times -p predicted.mp $i.01.*.mp > $i.tsv
		runstat times -p predicted.mp --no-core-speed $i.01.*.mp > $i.without.tsv
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
	py 'write_runs("predicted.mp", [run_record(i, [0.01 + 0.001 * i], "single" if i < 2 else "moved") for i in range(40)])'
	awk 'BEGIN {
		print "placement\tfastest_s\tmean_s\tmean_raw_s"
		for (i = 0; i < 40; i++) { s = (0.01 + 0.0001 * i) * (i % 2 ? 3 : 1); print i "\t" s "\t" s "\t" s }
	}' > so_far.tsv
	runstat pass --seed 1 --chunk 10 "$@" ${so_far:+--so-far so_far.tsv} predicted.mp
}

@test "passes: over all first, then most of the time over those near the best" {
	run -0 dealt --pass=1 --left=200
	[[ "${lines[0]}" == "all 8 "* && ${#lines[@]} -eq 5 ]]
	# All are there, the single devices and four others in every call.
	[ "$(printf '%s\n' "${lines[@]:1}" | tr , '\n' | sort -n | uniq -c | awk '{ print $1 }' | sort | uniq -c | tr -s ' \n' ' ')" = " 34 1 6 4 " ]
	so_far=yes run -0 dealt --pass=2 --left=180 --spent-all=20 --spent-near=0
	[[ "${lines[0]}" == "near 8 "* && ${#lines[@]} -eq 3 ]]
	# The fast ones are numbers 1, 3 ...; others are there only when they are in every call.
	printf '%s\n' "${lines[@]:1}" | tr , '\n' | sort -n | uniq -c | awk -v calls=2 '
		$2 % 2 { fast++; next }
		$1 != calls { exit 1 }
		END { exit fast != 20 }'
	# Those near the best have had their time: all once more.
	so_far=yes run -0 dealt --pass=5 --left=100 --spent-all=20 --spent-near=180
	[[ "${lines[0]}" == "all "* && ${#lines[@]} -eq 5 ]]
	# What was asked for is what there is; little time, few rounds.
	so_far=yes run -0 dealt --pass=2 --rounds=3 --left=-5
	[[ "${lines[0]}" == "all 3 "* ]]
	run -0 dealt --pass=1 --left=1
	[[ "${lines[0]}" == "all 2 "* ]]
}

# judged - the statistic that the fixed data are judged by, predictions being the reverse of the truth
judged() {
	figures times.tsv | awk -F '\t' '$1 == "judged" { print $2 }'
	runstat judge --repeats times.tsv
}

@test "judged is the statistic that repeats, and its repeatability is told" {
	# Rare undisturbed runs between disturbed ones: the fastest.
	calls 'run = lambda a, c, j, i: float(true[i] * (1 + rng.uniform(0.2, 1) * (j < 2)))'
	run -0 judged
	[ "${lines[0]}" = "fastest burst" ]
	[[ "${lines[1]}" == 1.000\ 1.000\ 1.000 ]]
	# Undisturbed runs are so rare that many placements have none: the mean.
	calls "run = lambda a, c, j, i: float(true[i] * (1.02 if rng.uniform() < 0.05 else 1.5) * np.exp(rng.normal(0, 0.01)))"
	run -0 judged
	[ "${lines[0]}" = "mean of faster bursts" ]
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
	[[ "$output" == *"repeatability, fastest burst	0.500	"* && "$output" == *"repeatability, mean of faster bursts	-1.000	"* ]]
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

@test "a stored calibration: times, and the judgement to its last digit" {
	# placements.tsv and the figures of report.txt are what the first implementation, in awk, made of these runs.
	stored=$ROOT/tests/stored_runs
	runstat times -p "$stored/predicted.mp" "$stored"/measured.*.mp > stored.tsv
	py '
		rows, want = (list(csv.DictReader(open(f), delimiter="\t")) for f in ("stored.tsv", sys.argv[1]))
		assert len(rows) == len(want) == 24 and list(rows[0]) == list(want[0])
		for row, old in zip(rows, want):
			for name, x in old.items():
				near = name.endswith("_s") and "," not in x and abs(float(row[name]) / float(x) - 1) < 1e-6
				assert near or row[name] == x, (name, row[name], x)
	' "$stored/placements.tsv"
	title="mobilenet_v3_large on cpu:0,cpu:1"
	for times in stored.tsv "$stored/placements.tsv"; do
		runstat judge --title "$title" --devices cpu:0,cpu:1 "$times" > report.txt
		diff report.txt "$stored/report.txt"
	done
	[ "$(runstat judge --repeats stored.tsv)" = "0.993 0.954 1.000" ]
	# Calls compare by the placements that are in all of them.
	[ "$(awk -F '\t' '$8 == 1 { print $1 + 1 }' stored.tsv | paste -sd ,)" = 1,2,5,11,16,22 ]
}

@test "runs: a line for each; the fastest of each placement; those that failed" {
	py '
		write_runs("a.mp", [run_record(2, [3, 1, 2]), run_record(0, [4.0]), run_record(5, [], ok=False)])
		write_runs("b.mp", [run_record(2, [0.5, 7]), run_record(5, [], ok=False), run_record(0, [5.0])])
	'
	runstat runs a.mp b.mp | cut -f 1,3-6,13,14 > all
	diff all <(printf '%s\n' $'2\t2\t1\t2\t3\t-\t3,1,2' $'0\t4\t4\t4\t1\t-\t4' $'5\t-\t-\t-\t0\tit does not fit\t-' \
		$'2\t3.75\t0.5\t3.75\t2\t-\t0.5,7' $'5\t-\t-\t-\t0\tit does not fit\t-' $'0\t5\t5\t5\t1\t-\t5')
	runstat runs --fastest a.mp b.mp | cut -f 1,4 > best
	diff best <(printf '%s\n' $'0\t4' $'2\t0.5' $'5\t-')
}

@test "slowness: by what factor a device alone took less than predicted" {
	py '
		write_runs("p.mp", [run_record(0, [3.0], "single"), run_record(1, [9.0], "moved"), run_record(2, [2.0], "single")])
		write_runs("q.01.001.mp", [run_record(0, [2.5, 2.0], "single"), run_record(1, [1.0]), run_record(2, [], "single", ok=False)])
	'
	[ "$(runstat slowness -p p.mp q.01.001.mp)" = 1.5000 ]
}

@test "what is wrong is said" {
	run -2 runstat
	[[ "$output" == *"no verb"* ]]
	run -2 runstat nonsense
	[[ "$output" == *"unknown verb 'nonsense'"* ]]
	run -0 runstat --help
	[[ "$output" == *"judge"* ]]
	py 'write_runs("p.mp", [run_record(0, [3.0])])'
	run -2 runstat times -p p.mp p.mp
	[[ "$output" == *"'p.mp' is not named NAME.PASS.CALL.mp"* ]]
	run -2 runstat times p.mp
	run -1 runstat times -p none.mp q.01.001.mp
	printf 'placement\tpredicted_s\tfastest_s\tmean_s\n1\t1\t1\tx\n2\t2\t2\t2\n' > bad.tsv
	run -3 runstat judge bad.tsv
	[[ "$output" == *"'bad.tsv' line 2: 'x' is not a number"* ]]
	printf 'placement\tpredicted_s\n1\n' > bad.tsv
	run -3 runstat judge bad.tsv
	[[ "$output" == *"line 2 has 1 columns, not 2"* ]]
	printf 'placement\tpredicted_s\n1\t1\n' > bad.tsv
	run -3 runstat judge bad.tsv
	[[ "$output" == *"no column 'fastest_s'"* ]]
	py '
		r = run_record(0, [3.0])
		r[1]["samples_s"] = tensor(np.array([0.0]))
		write_runs("zero.mp", [r])'
	run -3 runstat runs zero.mp
	[[ "$output" == *"not above 0"* ]]
	run -1 bash -c 'runstat runs p.mp > /dev/full'
}

# refused_run WHAT PYTHON - runstat runs and tabstat found refuse the record `r`, of which PYTHON makes m otherwise
refused_run() {
	py "
		r = run_record(0, [3.0, 2.0], 'policy', loops=np.ones((2, 2, 2)))
		m = r[1]
		$2
		write_runs('odd.mp', [r])
	"
	run -3 runstat runs odd.mp
	[[ "$output" == "runstat runs: error: 'odd.mp': run record 1: "*"$1"* ]] || { echo "$output"; return 1; }
	run -3 tabstat found odd.mp
	[[ "$output" == *"$1"* ]]
}

@test "times that cannot be are refused, not turned into figures that are no numbers" {
	refused_run "lat_s has a time that is not above 0" 'm["lat_s"] = 0.0'
	refused_run "lat_s has a time of 1e+300 s" 'm["lat_s"] = 1e300'
	refused_run "samples_s has a time that is not above 0" 'm["samples_s"] = tensor(np.array([1.0, -1.0]))'
	refused_run "samples_s has a time of 4.94066e-324 s" 'm["samples_s"] = tensor(np.array([1.0, 5e-324]))'
	refused_run "busy_s has a time of -1 s" 'm["busy_s"] = tensor(np.array([1.0, -1.0]))'
	refused_run "busy_s have 2 and 1025 values" 'm["busy_s"] = tensor(np.ones(1025)); del m["pulse_s"]'
	refused_run "pulse_s" 'm["pulse_s"] = tensor(np.ones((1, 2, 2)))'
	head=$'placement\tsource\tpredicted_s\tfastest_s\tmean_s\tfastest_raw_s\tmean_raw_s'
	for bad in $'1e300\t1\t1\t1\t1' $'1\t5e-324\t1\t1\t1' $'1\t1\t1e99\t1\t1' $'1\t1\t1\t-1\t1' $'1\t1\t1\t1\t0'; do
		printf '%s\n' "$head" $'0\tmoved\t1\t1\t1\t1\t1' $'1\tmoved\t'"$bad" > bad.tsv
		run -3 runstat judge bad.tsv
		[[ "$output" == "runstat judge: error: 'bad.tsv' line 3 has a time "* ]] || { echo "$bad: $output"; return 1; }
	done
	printf '%s\n' "$head" $'0\tmoved\t1\t1\t1\t1\t1' $'1\tmoved\t1\t1\t1\t1\t-' > bad.tsv
	run -3 runstat judge bad.tsv
	[[ "$output" == *"'-' is not a number"* ]]
	# Of the two statistics one alone is no table.
	cut -f 1-6 bad.tsv > half.tsv
	run -3 runstat judge half.tsv
	[[ "$output" == *"'half.tsv' has no column 'mean_raw_s'"* ]]
	cut -f 1,2,4,5 bad.tsv > half.tsv
	run -3 runstat judge half.tsv
	[[ "$output" == *"'half.tsv' has no column 'predicted_s'"* ]]
}

@test "a pass of nothing, or after times that cannot be, is refused" {
	py '
		write_runs("none.mp", [])
		write_runs("p.mp", [run_record(i, [0.01]) for i in range(3)])'
	run -3 runstat pass none.mp
	[[ "$output" == "runstat pass: error: 'none.mp': the stream has no placements and no runs; "* ]]
	printf 'placement\tfastest_s\tmean_s\tmean_raw_s\n0\t1\t1\t-1\n' > so_far.tsv
	run -3 runstat pass --so-far so_far.tsv p.mp
	[[ "$output" == *"'so_far.tsv' line 2 has a time that cannot be"* ]]
}

@test "a run record without the latency of the best single device, which is optional" {
	py '
		r = run_record(0, [3.0], "policy")
		del r[1]["ref_s"]
		write_runs("noref.mp", [r])'
	[ "$(runstat runs noref.mp | cut -f 7)" = - ]
	[ "$(tabstat found noref.mp)" = $'1\t3\t3\t0' ]
}
