#!/usr/bin/env bats
# tabstat: rows of tables of experiments, against numpy.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# What the tests' Python has: quantiles of Student's t as in tables, geometric means with intervals.
REFERENCE='
T = {1: 12.706, 2: 4.303, 3: 3.182}
def geometric(x):
	logs = np.log(np.asarray(x, "f8"))
	if len(logs) < 2:
		return float(np.exp(logs.mean())), None, None
	half = T[len(logs) - 1] * logs.std(ddof=1) / len(logs) ** 0.5
	return tuple(float(np.exp(logs.mean() + h)) for h in (0, -half, half))
def cells(file):
	return [line.rstrip("\n").split("\t") for line in open(file)]
def near(cell, want, digits):
	assert (cell == "") if want is None else abs(float(cell) - want) <= 0.51 * 10 ** -digits, (cell, want)
'

# reference CODE [ARG...] - py with what REFERENCE has
reference() {
	local code=$1
	shift
	{ printf '%s\n' "$REFERENCE"; "$HSDAG_PYTHON" -c 'import sys, textwrap; print(textwrap.dedent(sys.argv[1]))' "$code"; } |
		py - "$@"
}

@test "rounds: medians, order statistics, ratios of the same rounds" {
	ir2dag "$ROOT/tests/models/small_summator.xml" | devsim --probe -D cpu,gpu -o g.mp
	reference '
		rng = np.random.default_rng(3)
		x = rng.lognormal(0, 0.3, (4, 12))
		devs = [r for r in read("g.mp") if r[0] in ("hdr", "devs")]
		names = devs[1][1]["names"]
		assert names == ["cpu", "gpu"], names
		busy = [(1, 0), (0, 1), (1, 1), (0, 1)]
		write("r.mp", devs + [run_record(i, x[i], "single" if i < 2 else "heft", busy[i]) for i in range(4)]
			+ [run_record(4, [], ok=False)])
		np.save("x.npy", x)
	'
	tabstat rounds --cpu gpu --answers "a b c" r.mp > rounds.tsv
	reference '
		x, rows = np.load("x.npy"), cells("rounds.tsv")
		assert [r[:2] for r in rows] == [["single", "cpu"], ["single", "gpu"], ["answer", "a"], ["answer", "b"], ["answer", "c"]]
		assert [r[12] for r in rows] == ["cpu", "gpu", "", "gpu", ""] and rows[4][2:9] == [""] * 6 + ["0"]
		assert rows[4][11] == "it does not fit"
		x[3] = x[1]                      # all on the GPU: that device
		for row, s in zip(rows, x):
			for first, v in ((2, s), (5, s / x[1])):
				want = [np.median(v), np.sort(v)[2], np.sort(v)[9]]      # of 12, with 95 %
				assert np.allclose([float(c) for c in row[first : first + 3]], want, rtol=1e-5), (row, want)
	'
	# Fewer than six rounds: smallest and largest.  --beside: one device is the answer.
	reference '
		devs = [r for r in read("g.mp") if r[0] in ("hdr", "devs")]
		write("few.mp", devs + [run_record(0, [3, 1, 2], "single"), run_record(1, [4, 4, 8], "single")])
	'
	[ "$(tabstat rounds --cpu cpu --beside gpu --answers hetero few.mp | tail -n 1 | cut -f 1-9)" = \
		$'answer\thetero\t4\t4\t8\t4\t1.33333\t4\t3' ]
	py 'write_runs("none.mp", [run_record(0, [1.0])])'
	run -1 tabstat rounds none.mp
	[[ "$output" == *"not every device has a run"* ]]
}

@test "found: the best, the last fifth, anchors aside" {
	py '
		x = np.random.default_rng(1).uniform(1, 2, 11)
		write_runs("f.mp", [run_record(0, [0.5], "single"), *[run_record(i, [v], "policy") for i, v in enumerate(x)],
			run_record(11, [], "policy", ok=False), *[["update", {"groups": g}] for g in (4, 5.5)]])
		json.dump([11, x.min(), x[-3:].mean(), 1.0], open("f.json", "w"))
	'
	tabstat found --groups < f.mp > f.tsv
	[ "$(cut -f 5 f.tsv)" = 4.75 ]
	tabstat found f.mp | diff <(cut -f 1-4 f.tsv) -
	py 'assert np.allclose([float(x) for x in open("f.tsv").read().split()][:4], json.load(open("f.json")), rtol=1e-8)'
	# --first: failed ones count, too.
	tabstat found --first 4 f.mp > four.tsv
	py 'r = [m["lat_s"] for m in runs("f.mp")[1:5]]; x = open("four.tsv").read().split()
assert x[0] == "4" and np.allclose(float(x[1]), min(r)), x'
	py 'write_runs("single.mp", [run_record(0, [0.5], "single")])'
	run -1 tabstat found single.mp
	[[ "$output" == *"no run"* ]]
}

@test "pairs: means over seeds, of ratios of the same seed" {
	mkdir -p m1 m2
	reference '
		rng = np.random.default_rng(8)
		for m, seeds in (("m1", 3), ("m2", 1)):
			for w in ("old", "new"):
				for s in range(seeds):
					b = rng.uniform(1e-3, 2e-3)
					open(f"{m}/{w}.{s}.tsv", "w").write(f"40\t{b:.9g}\t{2 * b:.9g}\t0.004\n")
	'
	tabstat pairs --base old --ways method m1/old.?.tsv m1/new.?.tsv m2/*.tsv > pairs.tsv
	reference '
		head, *rows = cells("pairs.tsv")
		assert head[:3] == ["model", "method", "seeds"] and head[9] == "longer_than_old_%"
		assert [r[:3] for r in rows] == [["m1", "old", "3"], ["m1", "new", "3"], ["m2", "new", "1"], ["m2", "old", "1"],
			["all", "old", "4"], ["all", "new", "4"]], rows
		best = lambda m, w, n: np.array([float(cells(f"{m}/{w}.{s}.tsv")[0][1]) for s in range(n)])
		for r in rows[:4]:
			b = best(r[0], r[1], int(r[2]))
			ratio = b / best(r[0], "old", int(r[2]))
			for first, want, digits in ((3, geometric(1e3 * b), 4), (6, geometric(2e3 * b), 4),
					(9, [v and 100 * (v - 1) for v in geometric(ratio)], 2)):
				for cell, v in zip(r[first : first + 3], want):
					near(cell, v, digits)
			assert r[12] == "4.0000"
		every = np.r_[best("m1", "new", 3) / best("m1", "old", 3), best("m2", "new", 1) / best("m2", "old", 1)]
		for cell, v in zip(rows[5][9:12], geometric(every)):
			near(cell, 100 * (v - 1), 2)
	'
	# --late: pairs of the last fifth.
	tabstat pairs --late --base old m1/old.?.tsv m1/new.?.tsv > late.tsv
	reference '
		late = lambda w: np.array([float(cells(f"m1/{w}.{s}.tsv")[0][2]) for s in range(3)])
		for cell, v in zip(cells("late.tsv")[2][9:12], geometric(late("new") / late("old"))):
			near(cell, 100 * (v - 1), 2)
	'
	# --relative: each over its own best single device; one that has none has no pair.
	for f in m1/*.tsv m2/*.tsv; do
		x=${f//[!0-9]/}
		[[ $f != *new* ]] || x=$((3 * x + 1))
		awk -v OFS='\t' -v x="$x" '{ $4 = x * $4 } 1' "$f" > "$f.slow"
	done
	mkdir -p r/m1
	for f in m1/*.slow; do cp "$f" "r/${f%.slow}"; done
	awk -v OFS='\t' '{ $4 = 0 } 1' m1/new.2.tsv > r/m1/new.2.tsv
	tabstat pairs --relative --base old r/m1/old.?.tsv r/m1/new.?.tsv > relative.tsv
	reference '
		cell = lambda w, s: [float(c) for c in cells(f"r/m1/{w}.{s}.tsv")[0]]
		of = lambda w, s: cell(w, s)[1] / cell(w, s)[3]
		rows = cells("relative.tsv")
		assert rows[2][2] == "3" and all(cell(w, s)[3] > 0 for w, s in (("new", 0), ("old", 2)))
		for c, v in zip(rows[2][9:12], geometric([of("new", s) / of("old", s) for s in (0, 1)])):
			near(c, 100 * (v - 1), 2)
	'
	run -2 tabstat pairs m1/old.0.tsv
	printf '40\tx\n' > m1/bad.0.tsv
	run -3 tabstat pairs --base old m1/bad.0.tsv
	[[ "$output" == *"'m1/bad.0.tsv' line 1: 'x' is not a number"* ]]
}

@test "latency and groupings: over seeds, beside the CPU's" {
	mkdir -p m
	reference '
		rng = np.random.default_rng(9)
		r = rng.uniform(0.5, 2, 4)
		def file(name, cpu_s, ratios):
			with open(f"m/{name}-r8.tsv", "w") as f:
				f.write(f"roles\tcpu:0\tcl:0\tcpu:0,cl:0\nsingle\tcpu:0\t{cpu_s}\t0\t9\t1\t1\t1\t8\t0\t0\t\tcpu:0\n")
				for s, x in enumerate(ratios):
					f.write(f"answer\t{s}\t{x * cpu_s}\t0\t9\t{x}\t0\t9\t8\t1\t1\t\t\n")
		file("heft.1", 0.1, r[:1])
		file("grouping-learned-500.1+2+3", 0.2, r[1:])
		file("grouping-random-500x256.1+2+3", 0.3, 1.5 * r[1:])
		np.save("r.npy", r)
	'
	echo $'failed\t4\tplacebase: error: the reason' >> m/grouping-random-500x256.1+2+3-r8.tsv
	tabstat latency m/*.tsv > latency.tsv
	tabstat groupings m/*.tsv > groupings.tsv
	reference '
		r, rows = np.load("r.npy"), {x[1]: x for x in cells("latency.tsv")}
		cpu = geometric([100, 200, 300])
		for cell, v in zip(rows["cpu"][4:7], cpu):
			near(cell, v, 3)
		assert rows["cpu"][2] == " (cpu:0)" and rows["cpu"][11] == "3 jobs"
		mid, lo, hi = geometric(r[1:])
		row = rows["grouping-learned"]
		assert row[3] == "3" and row[11] == "3 seeds" and rows["heft"][11] == "rounds"
		for cell, v, digits in zip(row[4:11], [cpu[0] * mid, cpu[0] * lo, cpu[0] * hi, 100 * (1 - mid), 100 * (1 - hi),
				100 * (1 - lo), 1 / mid], [3] * 3 + [1] * 3 + [3]):
			near(cell, v, digits)
		for cell, v in zip(rows["heft"][4:7], (cpu[0] * r[0], 0, 9 * cpu[0])):      # one seed: that of its rounds
			near(cell, v, 3)
		assert rows["grouping-random"][12] == "1 more failed: the reason"
		rows = cells("groupings.tsv")
		assert [x[1:4] for x in rows] == [[f"grouping-{g}", w, "3"] for g in ("learned", "random") for w in ("best", "median", "worst")]
		for row, v in zip(rows, [*np.sort(r[1:]), *np.sort(1.5 * r[1:])]):
			near(row[5], 1 / v, 3)
			near(row[6], 50 if row[1] == "grouping-random" else 0, 1)
		assert rows[5][7] == "1" and rows[0][7] == ""
	'
}

@test "searches: seconds over seeds, of jobs that ended well" {
	mkdir -p s
	job() { printf 'command\tx\nstatus\t%s\nseconds\t%s\ncpu_seconds\t%s\n' "$2" "$3" "$4" > "s/$1.mp.job"; }
	job hsdag-120s.1 0 1 10; job hsdag-120s.2 0 4 20; job hsdag-120s.3 1 9 90; job heft.1 0 0.5 0.25
	printf 's\thsdag-120s\t1\t30\ns\thsdag-120s\t2\t51\n' > s/evaluated.tsv
	run -0 tabstat searches s/evaluated.tsv s/hsdag*.job s/heft.1.mp.job
	# 2^12.706 either side of 2: the standard error of the logs is log(4) / 2
	[ "${lines[0]}" = "s	hsdag	2	2.000	0.000	13363.405	15.000	40" ] || { echo "$output"; return 1; }
	[ "${lines[1]}" = "s	heft	1	0.500			0.250	" ]
}

@test "curve: a line for each placement, when it comes; the stream passes as it is" {
	py '
		runs = [run_record(0, [0.5], "single"), run_record(1, [3.0], "policy"), run_record(2, [], "policy", ok=False),
			run_record(3, [4.0], "policy"), run_record(4, [2.0], "moves")]
		write_runs("c.mp", runs)
		runs[1][1]["value"] = 7.0
		write_runs("v.mp", runs)
		for r, t in zip(runs, (1, 2, 4, 8, 9)):
			r[1].update(began_s=10.0 + t, clock_s=11.0 + t)
		write_runs("played.mp", runs[:2] + runs[3:])
	'
	tabstat curve --model m --method x --seed 7 --to c.tsv c.mp -o passed.mp
	py '
		assert read("passed.mp")[1:] == read("c.mp")[1:]
		head, *rows = csv.reader(open("c.tsv"), delimiter="\t")
		assert head == "model method seed evaluation seconds latency best".split()
		assert [r[:4] + r[5:] for r in rows] == [["m", "x", "7", "1", "3", "3"], ["m", "x", "7", "2", "", "3"],
			["m", "x", "7", "3", "4", "3"], ["m", "x", "7", "4", "2", "2"]], rows
		t = [float(r[4]) for r in rows]
		assert t == sorted(t) and 0 <= t[0] and t[-1] < 60
	'
	tabstat curve --first 3 --to three.tsv c.mp > /dev/null
	cut -f 4,6,7 c.tsv | head -n 4 | diff - <(cut -f 4,6,7 three.tsv)
	# Values of other objectives; seconds of a machine that is played.
	tabstat curve --to v.tsv v.mp > /dev/null
	[ "$(cut -f 6,7 v.tsv | paste -sd ' ')" = $'latency\tbest 7\t7 \t7 4\t4 2\t2' ]
	tabstat curve --to p.tsv played.mp > /dev/null
	[ "$(cut -f 5 p.tsv | paste -sd ' ')" = "seconds 1.000000 7.000000 8.000000" ]
	# When it comes: the line is there before the stream has ended.
	mkfifo pipe
	tabstat curve --to live.tsv pipe > /dev/null 3>&- &
	{
		head -c -20 c.mp
		for ((i = 0; i < 100; i++)); do
			[ ! -f live.tsv ] || [ "$(wc -l < live.tsv)" -lt 5 ] || break     # with its first line it is there
			sleep 0.1
		done
		wc -l < live.tsv > seen
		tail -c 20 c.mp
	} > pipe
	wait $!
	[ "$(cat seen)" -eq 5 ]
}

@test "curve --more: goes on where its search ends in the file, and cuts a line that a kill has left" {
	tabstat curve --method x --to more.tsv c.mp > /dev/null
	tabstat curve --more --method y --to more.tsv c.mp > /dev/null
	printf -- '-\tx\t1\t5\t0.1' >> more.tsv
	tabstat curve --more --method x --to more.tsv c.mp > /dev/null
	[ "$(awk -F '\t' '{ print $2 $4 }' more.tsv | paste -sd ' ')" = \
		"methodevaluation x1 x2 x3 x4 y1 y2 y3 y4 x5 x6 x7 x8" ]
	[ "$(awk -F '\t' '$2 == "x" { print $7 }' more.tsv | paste -sd ' ')" = "3 3 3 2 2 2 2 2" ]
	awk -F '\t' '$2 == "x" { if ($5 + 0 < t) exit 1; t = $5 }' more.tsv
	tabstat curve --to more.tsv c.mp > /dev/null
	[ "$(wc -l < more.tsv)" -eq 5 ]
	printf 'a\tb\n1\t2\n' > other.tsv
	run -3 tabstat curve --more --to other.tsv c.mp
	[[ "$output" == *"'other.tsv' is not a file of tabstat curve"* ]]
	run -2 tabstat curve c.mp
	run -1 tabstat curve --to /dev/full c.mp
	[[ "$output" == *"cannot write '/dev/full'"* ]]
	run -1 tabstat curve --to no/such.tsv c.mp
}

@test "curves and spread: quartiles over seeds and deviations, against numpy" {
	py '
		rng = np.random.default_rng(5)
		for m in ("m", "n"):
			for s in range(4):
				n = 300 if s else 150
				x = rng.lognormal(-5, 0.4, n)
				t = np.cumsum(rng.uniform(0.001, 0.02, n))
				with open(f"{m}.{s}.curve", "w") as f:
					f.write("model\tmethod\tseed\tevaluation\tseconds\tlatency\tbest\n")
					for i in range(n):
						f.write(f"{m}\tway\t{s}\t{i + 1}\t{t[i]:.6f}\t{x[i]:.9g}\t{x[: i + 1].min():.9g}\n")
	'
	tabstat curves [mn].?.curve > curves.tsv
	tabstat spread [mn].?.curve > spread.tsv
	py '
		rows = lambda f: list(csv.DictReader(open(f), delimiter="\t"))
		search = {(m, s): rows(f"{m}.{s}.curve") for m in "mn" for s in range(4)}
		def best(m, s, column, at):
			return float([r for r in search[m, s] if float(r[column]) <= at * (1 + 1e-6)][-1]["best"])
		seen = set()
		for r in rows("curves.tsv"):
			over = "seconds" if r["over"] == "seconds" else "evaluation"
			at = float(r["at"])
			x = [best(r["model"], s, over, at) for s in range(4)]
			want = np.quantile(x, [0.5, 0.25, 0.75])
			assert np.allclose([float(r[k]) for k in ("best_s", "best_s_q1", "best_s_q3")], want, rtol=2e-5), (r, want)
			assert r["seeds"] == "4"
			seen.add((r["model"], r["over"], at))
		assert {a for m, o, a in seen if m == "m" and o == "evaluations"} >= {1, 2, 10, 100, 300}
		ends = [max(float(search["m", s][-1]["seconds"]) for s in range(4))]
		assert np.isclose(max(a for m, o, a in seen if m == "m" and o == "seconds"), ends, rtol=1e-5)
		chi2 = {3: (0.2157952826, 9.348403604), 6: (1.237344246, 14.44937534)}
		def near(r, squares, freedom):
			for k, d in (("spread_%", freedom), ("spread_%_lo", chi2[freedom][1]), ("spread_%_hi", chi2[freedom][0])):
				assert abs(float(r[k]) - 100 * np.expm1(np.sqrt(squares / d))) < 0.01, (r, k)
		table = {(r["model"], int(r["evaluations"])): r for r in rows("spread.tsv")}
		assert sorted({n for m, n in table}) == [10, 20, 50, 100, 200, 300]
		for n in (10, 300):
			total = 0
			for m in "mn":
				x = np.array([best(m, s, "evaluation", n) for s in range(4)])
				logs = np.log(x)
				squares = ((logs - logs.mean()) ** 2).sum()
				r = table[m, n]
				near(r, squares, 3)
				for k, v in (("best_ms", np.median(x)), ("least_ms", x.min()), ("most_ms", x.max())):
					assert abs(float(r[k]) - 1e3 * v) < 1e-4, (r, k)
				total += squares
			near(table["all", n], total, 6)
			assert table["all", n]["seeds"] == "8"
	'
	[ "$(tabstat spread --at 50 m.?.curve | cut -f 1-4 | tail -n +2)" = $'m\tway\t50\t4' ]
	run -3 tabstat curves spread.tsv
	[[ "$output" == *"has no column 'seed'; tabstat curve makes such files"* ]]
	printf 'model\tmethod\tseed\tevaluation\tseconds\tlatency\tbest\nm\tx\t1\t1\t0.1\t\t\n' > nothing.tsv
	run -3 tabstat curves nothing.tsv
	[[ "$output" == *"nothing ran in 'x'"* ]]
	sed 's/\t0.1\t\t$/\t0.1\t5e-324\t5e-324/' nothing.tsv > tiny.tsv
	run -3 tabstat curves tiny.tsv
}

@test "plot: a page of SVG, with what names may have in it" {
	sed 's/way/<a \& "b">/' m.?.curve | awk 'NR == 1 || !/^model/' > odd.curve
	tabstat curves n.?.curve odd.curve > both.tsv
	tabstat plot --title 'A & B' both.tsv > both.svg
	py '
		import xml.etree.ElementTree as ET
		svg = "{http://www.w3.org/2000/svg}"
		root = ET.parse("both.svg").getroot()
		texts = [t.text for t in root.iter(svg + "text")]
		assert "A & B" in texts and texts.count("m") == texts.count("n") == 2, texts
		assert texts.count("way") == 1 and texts.count("<a & \"b\">") == 1 and texts.count("seconds") == 2, texts
		width, height = float(root.get("width")), float(root.get("height"))
		bands = [p for p in root.iter(svg + "path") if p.get("fill") != "none"]
		lines = [p for p in root.iter(svg + "path") if p.get("fill") == "none"]
		assert len(bands) == len(lines) == 4
		import re
		for p in bands + lines:
			xy = np.array([float(v) for v in re.findall(r"[0-9.]+", p.get("d"))]).reshape(-1, 2)
			assert np.isfinite(xy).all() and (xy >= 0).all() and (xy < [width, height]).all()
		for p in lines:      # the best goes down the page and to the right
			xy = np.array([float(v) for v in re.findall(r"[0-9.]+", p.get("d"))]).reshape(-1, 2)
			assert (np.diff(xy[:, 0]) >= 0).all() and (np.diff(xy[:, 1]) >= 0).all(), xy
	'
	head -n 1 both.tsv > empty.tsv
	run -3 tabstat plot empty.tsv
	[[ "$output" == *"has no rows"* ]]
	run -3 tabstat plot spread.tsv
	run -1 bash -c 'tabstat plot both.tsv > /dev/full'
}

@test "what is wrong is said" {
	run -2 tabstat
	run -2 tabstat nonsense
	[[ "$output" == *"unknown verb 'nonsense'"* ]]
	run -0 tabstat --help
	[[ "$output" == *"pairs"* ]]
	run -0 tabstat pairs --help
	run -1 tabstat latency none.tsv
	printf 'answer\t1\t0\t0\t0\t1\t1\t1\n' > zero.tsv
	run -3 tabstat latency zero.tsv
	[[ "$output" == *"not above 0"* ]]
	run -2 tabstat latency
}

@test "times that cannot be are refused, not turned into figures that are no numbers" {
	mkdir -p bad
	cannot_be() {
		run -3 tabstat "$@"
		[[ "$output" == "tabstat $1: error: "*"bad/"*" that cannot be" ]] || { echo "$output"; return 1; }
	}
	for at in $'1e300\t1\t1\t0.5' $'1\t1\t1\t5e-324'; do
		printf 'answer\t0\t%s\t1\t1\t8\t0\t0\t\t\n' "$at" > bad/grouping-learned-5.1.tsv
		cannot_be latency bad/grouping-learned-5.1.tsv
		cannot_be groupings bad/grouping-learned-5.1.tsv
	done
	for at in $'1e300\t1\t1' $'1\t5e-324\t1' $'1\t1\t-1'; do
		printf '40\t%s\n' "$at" > bad/old.1.tsv
		cannot_be pairs --base old bad/old.1.tsv
	done
	for at in 0 -1 1e300; do
		printf 'status\t0\nseconds\t%s\n' "$at" > bad/old.1.mp.job
		cannot_be searches bad/old.1.mp.job
	done
}

@test "page: which methods win where, by geometric means; seconds of jobs, failures, hostile names; in Chromium" {
	reference '
		import html.parser, math
		rng = np.random.default_rng(5)
		models, methods = ["a", "b<i>&", "c"], ["old", "new", "worse\"<u>", "lost"]
		x = rng.lognormal(-4, 0.2, (3, 4, 2)) * np.array([1, 0.9, 1.5, 1])[None, :, None]
		seconds = rng.lognormal(0, 2, (3, 4, 2))
		for i, m in enumerate(models):
			os.makedirs("w/" + m, exist_ok=True)
			for k, w in enumerate(methods):
				for seed in range(2):
					f = f"w/{m}/{w}.{seed}.tsv"
					if w == "lost" or (m == "c" and w == "old" and seed == 1):
						open(f, "w").write("failed\tno room <b>\n")
						continue
					open(f, "w").write(f"40\t{x[i, k, seed]:.12g}\t{x[i, k, seed]:.12g}\t{0.03:.12g}\n")
					open(f + ".job", "w").write(f"command\tx\nstatus\t0\nseconds\t{seconds[i, k, seed]:.6f}\n")
		words = ["--title", "T <b>", "--command", "make x=<y>", "--note", "n & m"]
		import subprocess
		text = subprocess.run(["tabstat", "page", *words, *sorted(f"w/{m}/{w}.{s}.tsv" for m in models for w in methods for s in (0, 1))], check=True, capture_output=True, text=True).stdout
		open("sweep.html", "w").write(text)
		assert "<b>" not in text and "<u>" not in text and "<i>" not in text and "http://" not in text
		class Tables(html.parser.HTMLParser):
			def __init__(self):
				super().__init__()
				self.tables, self.cell, self.words, self.tag = {}, None, {}, None
			def handle_starttag(self, tag, a):
				a = dict(a)
				self.tag = (tag, a.get("class"))
				if tag == "table": self.now = self.tables.setdefault(a["id"], [])
				if tag == "tr": self.now.append([])
				if tag in ("td", "th"): self.now[-1].append(""); self.cell = True
			def handle_endtag(self, tag):
				if tag in ("td", "th"): self.cell = None
			def handle_data(self, data):
				if self.cell: self.now[-1][-1] += data
				else: self.words[self.tag] = self.words.get(self.tag, "") + data
		t = Tables()
		t.feed(text)
		mean = np.exp(np.log(x).mean(2))
		mean[2, 0] = x[2, 0, 0]
		ratio = mean[:, :3] / mean[:, :3].min(1, keepdims=True)
		behind = np.exp(np.log(ratio).mean(0))
		order = list(np.argsort(behind)) + [3]
		rows = t.tables["methods"][1:]
		assert [r[0] for r in rows] == [methods[k] for k in order], rows
		say = lambda r: ("%.1f %%" if r < 1.9995 else "%.0f %%") % (100 * (r - 1))
		for r, k in zip(rows, order[:3]):
			assert int(r[1]) == (ratio[:, k] < 1.005).sum() and r[2] == say(behind[k]) and r[5] == "3", (r, ratio[:, k])
			worst = ratio[:, k].argmax()
			assert r[3] == say(ratio[worst, k]) + " on " + models[worst], r
			took = seconds[:, k].mean(1)
			took[2] = seconds[2, k, 0] if k == 0 else took[2]
			s = float(np.exp(np.log(took).mean()))
			assert math.isclose(float(r[4].split()[0]) * {"s": 1, "ms": 1e-3}[r[4].split()[1]], s, rel_tol=1e-3), (r, s)
		assert rows[3][1:3] == ["0", "-"] and rows[3][5] == "0"
		grid = t.tables["models"]
		assert grid[0][3:] == [methods[k] for k in order]
		for i, r in enumerate(grid[1:]):
			assert r[0] == models[i] and r[6] == "failed: no room <b>", r
			assert r[2] == "%.3f times as fast" % (0.03 / mean[i, :3].min())
			for k, c in zip(order[:3], r[3:]):
				assert c.split()[0].rstrip(",") == "%.3f" % ratio[i, k] and ("★" in c) == (ratio[i, k] < 1.005), (c, ratio[i, k])
		assert "1 failed" in grid[3][3 + order.index(0)] and "; 7 searches failed" in t.words["p", "sub"]
		assert t.words["p", "verdict"].startswith("nearest to the best is " + methods[order[0]] + ": " + say(behind[order[0]])), t.words
	'
	printf '1\t-1\t1\t1\n' > w/a/bad.0.tsv
	run -3 --separate-stderr tabstat page w/a/bad.0.tsv
	[[ $stderr == *"'w/a/bad.0.tsv' has a latency that cannot be"* ]]
	run "$HSDAG_PYTHON" "$ROOT/tests/support/page_checks.py" sweep.html
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
	[ "$status" -eq 0 ] || skip "the rest is right; no Chromium, make test installs Debian's"
}
