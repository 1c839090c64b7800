#!/usr/bin/env bats
# make cores: place, HEFT and the portfolio judged in one race on this machine's devices.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	two_cores
	py '
		from tiny_ir import *
		m = Model("branches")
		x = m.layer("Parameter", "x", "f32", (64, 64))
		ends = []
		for b in range(2):
			y = x
			for i in range(6):
				y = m.layer("MatMul", "m%d_%d" % (b, i), "f32", (64, 64), y, x, transpose_a="false", transpose_b="false")
			ends.append(y)
		m.result(m.layer("Add", "sum", "f32", (64, 64), *ends))
		m.save()
	'
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

make_cores() {
	env -u MAKEFLAGS -u MAKELEVEL timeout 120 make -s -C "$ROOT" cores B="$B" CORES_PROGS= CORES_DIR="$PWD/c" \
		MODELS="$PWD/branches.xml" BUDGETS=5 TIMES=1 JUDGE=1
}

@test "a trial is made once, and its row has what was measured" {
	run -0 --separate-stderr make_cores
	[[ "$stderr" == *'branches.xml, 5 s, 1: '*x* ]]
	py '
		heads, row = [line.rstrip("\n").split("\t") for line in open("c/cores.tsv")]
		t = dict(zip(heads, row))
		assert t["model"] == "branches" and t["trials"] == "1" and t["budget, s"] == "5", t
		# How fast what is on two cores is beside other programs is no matter of this test.
		assert 0 < float(t["speedup"]) < 9 and 0 < float(t["HEFT'"'"'s"]) < 9 and 5 < float(t["s in all"]) + 4, t
	'
	grep -q '^| branches | 5 | 1 |' c/cores.md
	run -0 --separate-stderr make_cores
	[[ "$stderr" != *branches.xml* ]]
}

@test "goals: what is behind, and how far a model's speed-ups are apart" {
	py '
		sys.path.insert(0, os.environ["ROOT"] + "/tests/bench")
		from cores import goals
		def trial(*ratios):
			run = lambda r: {"lat_s": r, "ratio": r, "ratio_lo": r - 0.01, "ratio_hi": r + 0.01, "ref_s": 1.0}
			return {"measured": [run(r) for r in ratios], "predicted_s": [*ratios, 1.0], "told_s": [*ratios, 1.0],
			        "reference": len(ratios), "single": [1.0], "bound_s": 0.35, "took_s": 9}
		g = goals({("a/x.xml", 10.0): [trial(0.5, 0.6, 0.7, 0.55)] * 30, ("a/x.xml", 20.0): [trial(0.51, 0.6, 0.7, 0.505)] * 19,
		           ("b/y.xml", 20.0): [trial(0.5, 0.47, 0.7, 0.4), trial(0.6, 0.7, 0.65, 0.4)]})
		assert g[0] == "behind HEFT: 1 of 51 (reached)" and g[1] == "behind the portfolio: 0 of 51 (reached)", g
		assert g[2] == "behind anything that was judged: 2 of 51 (MISSED)", g
		assert g[3] == "spread of x: 2.0 % of 49, from 1.961 to 2.000 (reached)", g
		assert g[4].startswith("spread of y: 18.2 % of 2, ") and g[4].endswith("(MISSED)"), g
	'
	grep -q "^- behind HEFT: [01] of 1 (" c/cores.md
}

@test "figures: gains measured and promised, what is behind, predictions, the bound" {
	py '
		sys.path.insert(0, os.environ["ROOT"] + "/tests/bench")
		import numpy as np
		from cores import figures, row
		run = lambda r: {"lat_s": r, "ratio": r, "ratio_lo": r - 0.01, "ratio_hi": r + 0.01, "ref_s": 1.0}
		t = {"measured": [run(r) for r in (0.5, 0.6, 0.48, 0.55)], "predicted_s": [0.4, 0.5, 0.39, 0.45, 1.0],
		     "told_s": [1.0, 1.25, 0.96, 1.2, 2.0], "reference": 4, "single": [1.0, 2.0, None], "bound_s": 0.35, "took_s": 9,
		     "names": ["handed", "heft", "portfolio", "raced"]}
		f = figures(t)
		assert abs(f["gain"] - np.log(1.2)) < 1e-9 and abs(f["promised"] - np.log(1.25)) < 1e-9, f
		assert not f["behind_heft"] and not f["behind_portfolio"] and abs(f["rank"] - 1) < 1e-9
		assert abs(np.exp(f["bound"]) - 0.7) < 1e-9 and 0.18 < f["off"] < 0.23 and f["off_alike"] < 0.04, f
		assert abs(f["off_told"] - np.log(0.6 / 0.55 * 0.625 / 0.6) / 4) < 1e-9, f
		assert abs(f["off_s"] - f["off_told"] - np.log(2)) < 1e-9, f
		t["measured"][0] = run(0.53)
		assert figures(t)["behind_portfolio"] and not figures(t)["behind_heft"]
		r = row("m", 15, [t, t, t])
		assert r[3].startswith("1.89 (1.89 .. 1.89)") and r[6] == "1.00, 0.50, nan", r
	'
}
