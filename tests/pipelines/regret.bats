#!/usr/bin/env bats
# make regret: trials on machines that are played, and their table.
# programs: devsim
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/googlenet.xml" | dagfeat | devsim --probe --spec desktop-cpu -D cpu:0,cpu:1 > p.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

regret() {
	PATH="$ROOT/pipelines:$PATH" "$HSDAG_PYTHON" "$ROOT/tests/bench/regret.py" -d p.mp --cache cache --portfolio 0.1 \
		--rows rows.tsv "$@"
}

@test "nothing is lost on an exact machine; what is there is not made again" {
	run -0 --separate-stderr regret -v -m heft portfolio judged loop --machines exact --budgets 0.4 --seeds 1,2
	[ "${#stderr_lines[@]}" -eq 10 ]
	py '
		rows = [line.rstrip("\n").split("\t") for line in open("rows.tsv")]
		r = {x[2]: {k: v for k, v in zip(rows[0], x)} for x in rows[1:]}
		assert list(r) == ["heft", "portfolio", "judged", "loop"], r
		assert abs(float(r["judged"]["start"])) < 1e-6 and int(r["judged"]["below"]) == 0, r["judged"]
		# Two runs of a portfolio find the same only where both have the time for it.
		assert abs(float(r["portfolio"]["start"])) < 1 and float(r["portfolio"]["heft"]) <= 0, r["portfolio"]
		assert float(r["heft"]["start"]) > 0 and float(r["heft"]["heft"]) == 0 and int(r["heft"]["n"]) == 1, r["heft"]
		assert abs(float(r["loop"]["proposed"])) < 1e-6 and float(r["loop"]["clock_s"]) > 0.4, r["loop"]
		assert float(r["loop"]["heft"]) < 0 and int(float(r["loop"]["n"])) > 5, r["loop"]
	'
	run -0 --separate-stderr regret -v -m heft loop --machines exact --budgets 0.4 --seeds 1,2
	[ "${#stderr_lines[@]}" -eq 0 ]
	run -0 --separate-stderr regret -v -m heft loop --machines exact --budgets 0.4 --seeds 1,2 --key other
	[ "${#stderr_lines[@]}" -eq 6 ]
}

@test "races are of all starts, and of what is proposed on costs that fit them" {
	run -0 regret -m race place --machines exact --budgets 3 --seeds 1
	py '
		rows = [line.rstrip("\n").split("\t") for line in open("rows.tsv")]
		race, place = (dict(zip(rows[0], x)) for x in rows[1:])
		for r in (race, place):
			assert abs(float(r["proposed"])) < 0.5 and float(r["start"]) < 0.5 and 0.4 < float(r["clock_s"]) < 5, r
		assert int(float(place["n"])) > int(float(race["n"])) > 3, (race, place)
	'
}

@test "regrets are means over trials, with their intervals" {
	run -0 regret -m heft judged --machines wild --budgets 1 --seeds 1,2,3
	for seed in 1 2 3; do
		for m in single heft lookahead cluster "climb --evals 2000 --seed $seed"; do
			# shellcheck disable=SC2086
			placebase $m p.mp | devsim --machine wild,seed=$seed --truth | recdump -k run --tsv source,lat_s
		done > t.$seed
	done
	py '
		rows = [line.rstrip("\n").split("\t") for line in open("rows.tsv")]
		heft, judged = (dict(zip(rows[0], x)) for x in rows[1:])
		logs = []
		for seed in (1, 2, 3):
			t = [line.split("\t") for line in open("t.%d" % seed)]
			logs.append(np.log(float(dict(t)["heft"]) / min(float(s) for _, s in t)))
		# The portfolio is a start, too.
		assert float(heft["start"]) >= 100 * np.expm1(np.mean(logs)) - 1e-3 and float(heft["worst"]) > 0, (heft, logs)
		assert float(heft["start_lo"]) <= float(heft["start"]) <= float(heft["start_hi"]) < float(heft["worst"]) + 1e-9
		assert judged["proposed"] == judged["start"] and float(judged["clock_s"]) > 0, judged
	'
}

@test "what is wrong is refused" {
	run -2 regret -m nothing --machines exact --budgets 1
	[[ "$output" == *"unknown method 'nothing'"* ]]
	run -1 regret -m judged --machines sharde --budgets 1 --seeds 1
	[[ "$output" == *sharde* ]]
}

@test "make regret: problems, trials and the table" {
	make_regret() {
		env -u MAKEFLAGS -u MAKELEVEL timeout 120 make -s -C "$ROOT" regret B="$B" REGRET_PROGS= REGRET_DIR="$PWD/r" \
			MODELS=googlenet MACHINES=near METHODS="heft judged" BUDGETS=1 SEEDS=1 PORTFOLIO=0.1
	}
	run -0 make_regret
	[ "$(grep -c JOB <<< "$output")" -eq 1 ]
	[ "$(wc -l < r/regret.tsv)" -eq 3 ]
	grep -q '^| near | - | judged |' r/regret.md
	run -0 make_regret
	[[ "$output" != *JOB* ]]
}
