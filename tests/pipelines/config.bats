#!/usr/bin/env bats
# --config FILE of place and train: options from a file, and what is wrong with it.
# seconds: 20
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export PLACE=$ROOT/pipelines/place TRAIN=$ROOT/pipelines/train
	cp "$ROOT"/tests/models/small_summator.* .
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# refuses STATUS MESSAGE TEXT...: place with such a file.
refuses() {
	printf "${@:3}" > bad.conf
	run -"$1" "$PLACE" small_summator.xml --config bad.conf -o refused
	[ "$output" = "place: error: $2" ] || { echo "$output"; return 1; }
	[ ! -e refused ]
}

@test "place: a file's options are taken, those of the command line win" {
	printf '# of this machine\r\n\n  budget   5 # seconds\ndevices cpu:0,cpu:1\nrandom 0\nepisodes 1\n--seed 7\noutput from file\nallow-shared' > place.conf
	run -0 timeout 300 "$PLACE" small_summator.xml --config place.conf --seed 3
	[[ "$output" == *"placement: from file/placement.json"* ]]
	py '
		chain = [x for x in first(read("from file/result.mp"), "hdr")["chain"]]
		args = [" ".join(x["args"]) for x in chain if x["program"] == "devrun"]
		assert "-D cpu:0,cpu:1" in args[0] and "--allow-shared" in args[0], args
		args = " ".join(" ".join(x["args"]) for x in chain)
		assert "--seed 3" in args and "--seed 7" not in args, args
	'
	# A short option of the command line wins, too.
	run -0 timeout 300 "$PLACE" -o here -D cpu:0 small_summator.xml --config=place.conf
	[[ "$output" == *"placement: here/placement.json"* && "$output" != *"cpu:1"* ]]
}

@test "place: what is wrong in a file is told with its line" {
	refuses 2 "bad.conf:2: there is no option 'budgte'; did you mean 'budget'?" '\nbudgte 5\n'
	refuses 2 "bad.conf:1: 'budget' has no value" 'budget # 5\n'
	refuses 2 "bad.conf:3: 'resume' takes no value" '\n\nresume yes\n'
	refuses 2 "bad.conf:2: --budget: 'fast' is not a number of seconds" 'devices cpu:0\nbudget fast'
	refuses 2 "bad.conf:1: there is no option 'config'" 'config other.conf\n'
	refuses 2 "bad.conf:1: there is no option 'a?b'" 'a\x1bb c\n'
	run -2 "$PLACE" small_summator.xml --config bad.conf --config
	run -1 "$PLACE" small_summator.xml --config none.conf
	[ "$output" = "place: error: --config: cannot read 'none.conf'" ]
	run -1 "$PLACE" small_summator.xml --config .
	[[ "$output" == "place: error: --config: cannot read '.'"* ]]
	# What the command line says in its place is what is wrong then.
	run -2 "$PLACE" small_summator.xml --config bad.conf --budget slow
	printf 'budget 5x\n' > good.conf
	run -2 "$PLACE" small_summator.xml --config good.conf --budget slow
	[ "$output" = "place: error: --budget: 'slow' is not a number of seconds" ]
}

@test "train: its options and those of reinforce" {
	ir2dag small_summator.xml | dagfeat | devsim --probe -D cpu,gpu > input.mp
	printf 'net mlp\nseed 5\nepisodes 3\nsteps 2\n' > train.conf
	"$TRAIN" --config train.conf input.mp --steps 1 > out.mp
	py '
		chain = {x["program"]: " ".join(x["args"]) for x in first(read("out.mp"), "hdr")["chain"]}
		assert "--net mlp" in chain["gpnembed"] and "--seed 5" in chain["gpnembed"], chain
		assert len(of("out.mp", "update")) == 3 and first(read("out.mp"), "update")["ok"] <= 2
		assert "--steps 2 --steps 1" in chain["reinforce"], chain
	'
	printf 'net mlp\nepisodes many\n' > train.conf
	run -2 "$TRAIN" --config train.conf input.mp
	[[ "$output" == "train: error: train.conf:2: --episodes: 'many' is not a whole number"* ]]
	printf 'episode 3\n' > train.conf
	run -2 "$TRAIN" --config train.conf input.mp
	[[ "$output" == "train: error: train.conf:1: there is no option 'episode'; did you mean 'episodes'?"* ]]
}
