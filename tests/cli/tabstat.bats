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
