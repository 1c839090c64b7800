#!/usr/bin/env bats
# make open-...: every open check runs to its table, answer and curves, from files that are made once.
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cp "$ROOT/tests/models/small_summator."* .
}

# open TARGET VARIABLE... - on a tiny model
open() {
	setsid -w env -u MAKEFLAGS -u MAKELEVEL timeout 600 make -s -C "$ROOT" B="$B" OPEN_PROGS= LEARN_PROGS= ABLATION_PROGS= \
		OPEN_IN="$BATS_FILE_TMPDIR/o/in" OPEN_DIR="$BATS_FILE_TMPDIR/o/\$(1)" LEARN_DIR="$BATS_FILE_TMPDIR/o/learning" \
		ABLATION_DIR="$BATS_FILE_TMPDIR/o/groups" SEEDS="1 2" EVALS=20 HIDDEN=8 \
		MODELS="$BATS_FILE_TMPDIR/small_summator.xml" "$@"
}

@test "features: each left out and alone; what the network sees is what is said" {
	run -0 open open-features FEATURES="fractal type"
	[ "$(grep -c 'JOB .*tsv' <<< "$output")" -eq 12 ]
	[[ "$output" == *"answer: beside all, over 2 pairs of 1 model: "* ]]
	cd "$BATS_FILE_TMPDIR/o/features" || return 1
	for t in features features-late; do
		[ "$(grep -v '^#' $t.tsv | cut -f 2 | paste -sd ' ')" = \
			"way all all-lr0 without-fractal without-type only-fractal only-type" ]
		grep -q "^# answer: " $t.tsv
	done
	grep -q 'dagfeat --features all,-fractal ' small_summator/without-fractal.1.tsv.job
	grep -q 'dagfeat --features type ' small_summator/only-type.2.tsv.job
	[ "$(cut -f 2,3 curves.tsv | sort | uniq -c | awk '$1 == 20' | wc -l)" -eq 12 ]
	run -0 open open-features FEATURES="fractal type"
	[[ "$output" != *JOB* ]]
	rm small_summator/only-type.2.tsv
	run -0 open open-features FEATURES="fractal type"
	[ "$(grep -c JOB <<< "$output")" -eq 1 ]
}

@test "rewards: every reward with every baseline, of each network" {
	run -0 open open-rewards SEEDS=1
	[[ "$output" == *"answer: beside log-baseline, over 1 pair of 1 model: "*"; one pair only: log-normalised "* ]]
	d=$BATS_FILE_TMPDIR/o/rewards
	[ "$(grep -v '^#' "$d/rewards.tsv" | cut -f 2 | paste -sd ' ')" = "way log-baseline log-normalised log sqrt-baseline sqrt-normalised sqrt \
inverse-baseline inverse-normalised inverse lr0" ]
	grep -q -- '--log-reward 0 --sqrt-reward 1 --baseline 0.3 --normalise 1' "$d/small_summator/sqrt-normalised.1.tsv.job"
	grep -q -- '--log-reward 0 --sqrt-reward 0 --baseline 0 --normalise 0' "$d/small_summator/inverse.1.tsv.job"
	run -0 open -n open-rewards NET=rnn SEEDS=3
	[[ "$output" == *'train --recipe rnn --net rnn --seed 3 '* ]]
}

@test "grouper: learned, random, METIS and no groups under one placer" {
	run -0 open open-grouper GROUPS=12 EVALS=10 MODELS=googlenet SEEDS=1
	cd "$BATS_FILE_TMPDIR/o/grouper" || return 1
	[ "$(grep -v '^#' grouper.tsv | cut -f 2,3 | paste -sd ' ' | tr '\t' :)" = \
		"way:groups learned:$(awk -F '\t' '$2 == "learned" { print $3 }' grouper.tsv) random:12.0 metis:12.0 none:255.0" ]
	awk -F '\t' '$2 == "learned" { ok = $3 > 12 && $3 < 255 } END { exit !ok }' grouper.tsv
}

@test "groups and variance: the experiments that exist, with enough models and seeds" {
	run -0 open open-groups GROUPINGS="gpn metis" EVALS=8
	[[ "$output" == *"answer: beside gpn, over 2 pairs of 1 model: "*" metis "* ]]
	run -0 open open-variance METHODS="random climb"
	[[ "$output" == *"the standard deviation over seeds of the best found is: random "* ]]
	run -0 env -u MAKEFLAGS -u MAKELEVEL make -n -C "$ROOT" B="$B" OPEN_PROGS= LEARN_PROGS= ABLATION_PROGS= open-checks
	for m in googlenet resnet50 rnnlm nmt2; do
		for s in 1 5; do
			[[ "$output" == *"/ablation/"*"/$m/gpn.$s.tsv"* ]]
			[[ "$output" == *"/$m/without-fractal.$s.tsv"* && "$output" == *"/learning/paper-100/$m/rnn.$s.tsv"* ]]
		done
	done
}

@test "on devices of this machine, one training at a time" {
	two_cores
	cd "$BATS_FILE_TMPDIR" || return 1
	run -0 open open-grouper DEVICES=cpu:0,cpu:1 SEEDS=1 GROUPS=2 EVALS=10 \
		OPEN_IN="$PWD/real/in" OPEN_DIR="$PWD/real"
	grep -q -- '--run devrun --min-runs 3\|--run "devrun --min-runs 3' real/small_summator/none.1.tsv.job
	grep -q 'DEVICES=.cpu:0,cpu:1' real/grouper.tsv
}

@test "shapes: what one placement for all loses beside one for each shape" {
	needs_openvino
	run -0 "$HSDAG_PYTHON" -c "
import sys
sys.path.insert(0, '$ROOT/tests/bench')
import dynamic
import numpy as np
# The first shape comes three times as often; the best of each takes 1 and 2: 5 in all.
seconds = np.array([[1, 4], [2, 2], [1.2, 2.4], [1.5, 2.5], [3, 3]])
source = [('portfolio', 1), ('portfolio', 2), ('portfolio', 0), ('heft', 0), ('single', 0)]
print([float(x) for x in dynamic.losses(np.array([3, 1]), seconds, source)])"
	py '
		lost = json.loads(sys.argv[1])
		assert np.allclose(lost, [40, 100, 20, 0, 140, 40, 2]), lost
	' "$output"
	run -0 open open-shapes NETS=experts EVALS=500
	[[ "${lines[*]: -1}" =~ ^"| experts | 0."[0-9]+" | "[0-9.]+" % | " ]]
}
