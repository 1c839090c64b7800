#!/usr/bin/env bats
# The update rules of reinforce: every rule of the table learns, with networks of each kind and with moves; the
# same bytes with other threads and after a kill; what is refused.  Their sums are in test_update and test_net.
# programs: reinforce
# seconds: 20
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	loop_setup_file
	ir2dag "$MODELS/googlenet.xml" | dagfeat | devsim --probe --spec paper > costs.mp
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	IN=$BATS_FILE_TMPDIR/in.mp
	COSTS=$BATS_FILE_TMPDIR/costs.mp
	POLICY= SIM=
}

RULES="reinforce ppo grpo self-label actor-critic"

# What the loop has made of the policy
learned() {
	recdump -k update --tsv entropy,grad_norm "$1" | md5sum
}

@test "every rule comes to the fast device; at rate 0 nothing does" {
	for rule in $RULES; do
		GPN="--net mlp --recipe rnn --no-costs --hidden 16 --threads 1" \
			LEARN="--recipe rnn --episodes 100 --steps 2 --samples 5 --lr 0.01 --threads 1 --update $rule" loop "$IN" $rule.mp
		run -0 recdump -k update --tsv mean_s $rule.mp
		awk -v first="${lines[0]}" -v last="${lines[99]}" 'BEGIN { exit !(last < first / 2) }'
		learned $rule.mp
	done > sums
	[ "$(sort -u sums | wc -l)" -eq 5 ]     # no two of them are one
	GPN="--net mlp --recipe rnn --no-costs --hidden 16 --threads 1" \
		LEARN="--recipe rnn --episodes 100 --steps 2 --samples 5 --lr 0 --threads 1 --update ppo" loop "$IN" still.mp
	run -0 recdump -k update --tsv mean_s still.mp
	awk -v first="${lines[0]}" -v last="${lines[99]}" 'BEGIN { exit !(last > first / 2) }'
}

# goes_on INPUT GPN LEARN RULE - the same bytes on one thread, on two, and in two halves
goes_on() {
	GPN="$2 --threads 1" LEARN="$3 --update $4 --episodes 3 --threads 1 --checkpoint whole.ck" loop "$1" whole.mp
	GPN="$2 --threads 2" LEARN="$3 --update $4 --episodes 2 --threads 2 --checkpoint half.ck" loop "$1" half.mp
	GPN="$2 --threads 2" LEARN="$3 --update $4 --episodes 3 --threads 2 --checkpoint half.ck --resume" loop "$1" resumed.mp
	same_body whole.mp resumed.mp
	same_body whole.ck half.ck
	rm whole.ck half.ck
}

@test "every rule, with every network, around an incumbent and not, with visits and with moves: threads, resume" {
	for rule in $RULES; do
		goes_on "$IN" "--hidden 8 --no-costs" "--steps 3" $rule
		goes_on "$COSTS" "--hidden 8 --params none" "--steps 3" $rule
	done
	while read -r net rule; do
		goes_on "$IN" "--net $net --recipe rnn --hidden 8 --no-costs" "--recipe rnn --steps 2 --samples 2" $rule
	done <<< $'rnn ppo\nhierarchical actor-critic\nmlp self-label'
	for rule in grpo actor-critic; do
		goes_on "$IN" "--net placeto --recipe placeto --hidden 8" "--recipe placeto --steps 2" $rule
	done
	# Heat falls with the share of --episodes that is over, which is another one of two than of three.
	goes_on "$COSTS" "--hidden 8" "--steps 3 --adapt 0.8 --adapt-episodes 2 --heat 0" ppo
}

@test "moves learn by every rule, and not at rate 0" {
	GPN="--hidden 16 --threads 1 --params none"
	for rule in $RULES; do
		LEARN="--update $rule --episodes 25 --steps 4 --threads 1" loop "$COSTS" $rule.mp
		learned $rule.mp
	done > sums
	[ "$(sort -u sums | wc -l)" -eq 5 ]
	# what compares has four of them in an episode unless it is told otherwise
	LEARN="--update grpo --threads 1 --episodes 3 --keep" loop "$COSTS" out.mp
	[ "$(recdump -k place --tsv source out.mp | grep -c moves)" -eq 8 ]
	LEARN="--update actor-critic --threads 1 --episodes 3 --keep" loop "$COSTS" out.mp
	[ "$(recdump -k place --tsv source out.mp | grep -c moves)" -eq 2 ]
}

@test "what was handed over counts once: the same bytes with it and without" {
	for rule in ppo actor-critic; do
		GPN="--net rnn --recipe rnn --hidden 16 --threads 1 --no-costs" LEARN="--recipe rnn --episodes 3 --threads 1 --update $rule"
		loop "$IN" plain.mp
		POLICY=--hand-over loop "$IN" handed.mp
		same_body plain.mp handed.mp
	done
}

@test "killed at any moment and resumed: the bytes of a training that was not" {
	for rule in ppo actor-critic; do
		LEARN="--update $rule --episodes 60 --steps 5 --threads 2" loop "$IN" whole.mp
		rm -f ck.mp loop.fifo && mkfifo loop.fifo
		gpnembed $GPN --params-from loop.fifo "$IN" 2> /dev/null 3>&- | placepolicy 2> /dev/null 3>&- | devsim 2> /dev/null 3>&- |
			{ reinforce --update $rule --episodes 60 --steps 5 --params-to loop.fifo --checkpoint ck.mp > out.mp 2> /dev/null & echo $! > pid; wait; } 3>&- &
		for _ in $(seq 1000); do
			[ ! -s ck.mp ] || break
			sleep 0.01
		done
		sleep 0.05
		kill -KILL "$(cat pid)" || true
		wait || true
		LEARN="--update $rule --episodes 60 --steps 5 --checkpoint ck.mp --resume" loop "$IN" resumed.mp
		same_body whole.mp resumed.mp
	done
}

@test "a checkpoint of another update is refused in one line; one of before there were several goes on" {
	LEARN="--episodes 1 --steps 2 --update ppo --checkpoint ck.mp" loop "$IN" out.mp
	for rule in grpo reinforce; do
		LEARN="--episodes 2 --steps 2 --update $rule --checkpoint ck.mp --resume" run ! loop "$IN" out.mp
		[ "$(grep -c '^reinforce: error' <<< "$output")" -eq 1 ]
		[[ $output == *"checkpoint 'ck.mp': the run to resume had --update ppo, not $rule"* ]]
	done
	LEARN="--episodes 2 --steps 2 --update ppo --ratio-clip 0.3 --checkpoint ck.mp --resume" run ! loop "$IN" out.mp
	[[ $output == *"had ratio_clip 0.2, not 0.3"* ]]
	LEARN="--episodes 2 --steps 2 --checkpoint whole.ck" loop "$IN" whole.mp
	LEARN="--episodes 1 --steps 2 --checkpoint old.ck" loop "$IN" out.mp
	edit old.ck ck.mp '
[records[0][1]["recipe"].pop(k) for k in ("update", "epochs", "ratio_clip", "value_lr")]'
	LEARN="--episodes 2 --steps 2 --checkpoint ck.mp --resume" loop "$IN" resumed.mp
	same_body whole.mp resumed.mp
	edit old.ck ck.mp 'records[0][1]["recipe"]["update"] = 7'
	LEARN="--episodes 2 --steps 2 --checkpoint ck.mp --resume" run ! loop "$IN" out.mp
	[[ $output == *"'update' is no text"* ]]
	# a value of another width than its numbers
	LEARN="--episodes 1 --steps 2 --update actor-critic --checkpoint value.ck" loop "$IN" out.mp
	edit value.ck ck.mp '
[m.update(width=m["width"] + 1) for k, m in records if k == "critic"]'
	LEARN="--episodes 2 --steps 2 --update actor-critic --checkpoint ck.mp --resume" run ! loop "$IN" out.mp
	[ "$(grep -c '^reinforce: error' <<< "$output")" -eq 1 ]
	[[ $output == *"'data'"* ]]
}

@test "what a rule cannot do is a mistake in the command line" {
	run -2 reinforce --update a2c
	[[ $output == *"actor-critic"* ]]
	for rule in reinforce actor-critic; do
		run -2 reinforce --update $rule --epochs 2 --params-to none < /dev/null
		[[ $output == *"--update $rule can use a batch once"* ]]
	done
	for rule in grpo self-label; do
		run -2 reinforce --update $rule --steps 1 --params-to none < /dev/null
		[[ $output == *"compares the placements of an episode"* ]]
	done
	# what the recipe draws counts: no FIFO is there
	run -1 reinforce --update grpo --recipe rnn --steps 1 --params-to none/there "$IN"
	[[ $output != *"compares the placements"* ]]
	run -2 reinforce --update ppo --whole-return 1 --params-to none < /dev/null
	[[ $output == *"--whole-return 1 goes with --update reinforce"* ]]
	run -0 reinforce --help-all
	for rule in $RULES; do [[ $output == *"$rule"* ]]; done
}
