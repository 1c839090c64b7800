#!/usr/bin/env bats
# The learners of the literature beside second implementations, which were written from the equations:
# forward pass and gradients.
# programs: gpnembed placepolicy reinforce
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	common_setup_file
	for m in alexnet inception_v3; do
		ir2dag "$ROOT/tests/models/$m.xml" | dagfeat --features type,shape | devsim --probe -o $m.mp
	done
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# same_as_reference NET IN OPTIONS - one episode of IN with gpnembed's OPTIONS, then the reference on it
same_as_reference() {
	GPN="--net $1 --recipe $1 --hidden 6 --no-costs --threads 1 $3" \
		LEARN="--recipe $1 --clip 0 --episodes 1 --steps 4 --threads 1 --keep --checkpoint $1.ck" loop "$2" kept.mp
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/ref_placers.py" kept.mp $1.ck
	[[ $output == *" samples: log-probabilities within "* ]]
}

@test "rnn: groups, embeddings, log-probabilities and gradients, as published and aligned" {
	same_as_reference rnn inception_v3.mp
	same_as_reference rnn inception_v3.mp "--aligned 1 --adjacency 5"
}

@test "rnn: groups from outside, and every set by itself" {
	daggroup --groups 12 random alexnet.mp > grouped.mp
	same_as_reference rnn grouped.mp
	same_as_reference rnn alexnet.mp "--colocate 0"
}

@test "placeto: groups, embeddings, the placements on the way, their rewards, and gradients" {
	local embed="--groups 12 --rounds 3"
	for options in "" "--discount 0.7 --entropy 0"; do
		GPN="--net placeto --recipe placeto --hidden 5 --no-costs --threads 1 $embed" \
			LEARN="--recipe placeto --clip 0 --episodes 1 --threads 1 --keep --checkpoint placeto.ck $options" loop alexnet.mp kept.mp
		run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/ref_placeto.py" kept.mp placeto.ck
		[[ $output == *" groups, 2 samples, "* ]]
		embed="--groups 20 --rounds 1"
	done
	daggroup --groups 9 random alexnet.mp > grouped.mp # circles of groups
	GPN="--net placeto --recipe placeto --hidden 5 --no-costs --threads 1" \
		LEARN="--recipe placeto --clip 0 --episodes 1 --threads 1 --keep --checkpoint placeto.ck" loop grouped.mp kept.mp
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/ref_placeto.py" kept.mp placeto.ck
	[[ $output == "9 groups, 2 samples, "* ]]
}

@test "hierarchical: the same, and the log-probability and gradient of the groups that were drawn" {
	same_as_reference hierarchical alexnet.mp "--groups 9 --noise 0"
	same_as_reference hierarchical alexnet.mp "--groups 30 --aligned 1 --tanh-constant 0 --hidden 5 --noise 0"
	daggroup --groups 12 random alexnet.mp > grouped.mp
	same_as_reference hierarchical grouped.mp "--groups 30 --noise 0"
}
