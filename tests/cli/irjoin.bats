#!/usr/bin/env bats
# irjoin: several models as one, with the results of each; place takes them.
# programs: irjoin
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export M=$ROOT/tests/models
	cp "$M"/small_summator.* "$M"/tensor_iterator.xml "$M"/lstm_stateful.xml .
	for m in tensor_iterator lstm_stateful; do irfill "$m.xml" -o "$m.bin"; done
	irjoin small_summator.xml:2 b=tensor_iterator.xml lstm_stateful.xml -o all.xml
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

outputs() {   # MODEL INPUTS OUTPUTS - of one inference on a core
	ir2dag "$1" | devrun probe -D cpu:0 | placebase single | devrun run -n 1 --warmup 0 -i "$2" --outputs "$3" > /dev/null
}

@test "what is joined computes what each computes: bodies, variables, copies with the same weights" {
	ir2dag all.xml | devrun probe -D cpu:0 | placebase single | devrun run -n 1 --warmup 0 --save-inputs in --outputs out > /dev/null
	py '
		import os, shutil
		rows = [l.split("\t") for l in open("in/index.tsv").read().splitlines()]
		for prefix, model in (("small_summator.1", "small_summator"), ("small_summator.2", "small_summator"), ("b", "tensor_iterator"), ("lstm_stateful", "lstm_stateful")):
			d = "in." + prefix
			os.makedirs(d, exist_ok=True)
			mine = [r for r in rows if r[1].startswith(prefix + "/")]
			assert mine, (prefix, rows)
			for i, r in enumerate(mine):
				shutil.copy("in/" + r[0], "%s/%d.npy" % (d, i))
	'
	for p in small_summator.1 small_summator.2; do outputs small_summator.xml "in.$p" "out.$p"; done
	outputs tensor_iterator.xml in.b out.b
	outputs lstm_stateful.xml in.lstm_stateful out.lstm_stateful
	py '
		import os
		at, seen = 0, 0
		for p in ("small_summator.1", "small_summator.2", "b", "lstm_stateful"):
			n = len([f for f in os.listdir("out." + p) if f.endswith(".npy")])
			assert n, p
			for i in range(n):
				a, b = np.load("out/%d.npy" % at), np.load("out.%s/%d.npy" % (p, i))
				assert a.shape == b.shape and np.array_equal(a, b), (p, i)
				at += 1
		assert at == len([f for f in os.listdir("out") if f.endswith(".npy")])
	'
	irjoin lstm_stateful.xml -o one.xml
	irjoin lstm_stateful.xml:3 -o three.xml
	cmp one.bin three.bin
}

@test "what is wrong is one line, and nothing is written" {
	for e in xml bin; do cp small_summator.$e small_summator.1.$e; done
	while IFS='|' read -r status command said; do
		run "-$status" --separate-stderr bash -c "$command -o not.xml"
		[[ $stderr == *"error: "*"$said"* ]] && [ "$(wc -l <<< "$stderr")" -eq 1 ] || { echo "$command: $stderr"; return 1; }
		[ ! -e not.xml ]
		[ ! -e not.bin ]
	done <<-'END'
		2|irjoin tensor_iterator.xml tensor_iterator.xml|two models are called 'tensor_iterator'; NAME=MODEL.xml names one
		2|irjoin tensor_iterator.xml:0|copies: 0 is out of range
		2|irjoin tensor_iterator.xml:60 lstm_stateful.xml:5|more than 64 copies
		1|irjoin nosuch.xml|cannot open 'nosuch.xml'
		3|irjoin all.bin|all.bin
		2|irjoin small_summator.1.xml small_summator.xml:2|two models are called 'small_summator'; NAME=MODEL.xml names one
		2|irjoin $'\xe9'=small_summator.xml|is no name for a model: not UTF-8
	END
	run -2 --separate-stderr irjoin all.xml
	[[ $stderr == *"-o FILE.xml"* ]]
	run -2 --separate-stderr irjoin small_summator.xml -o ./small_summator.xml
	[[ $stderr == *"is read and written"* ]]
	cp lstm_stateful.xml bare.xml
	run -3 --separate-stderr irjoin bare.xml -o not.xml
	[[ $stderr == *"'bare.xml' has no .bin; irfill makes one"* ]]
}

@test "place takes several models" {
	run -0 "$ROOT/pipelines/place" small_summator.xml b=tensor_iterator.xml --rate small_summator=19.5 --rate b=10 -D cpu:0,cpu:1 --budget 1 --episodes 1 -o placed
	grep -q '"small_summator.2/' placed/placement.json
	grep -q '"b/' placed/placement.json
	grep -q '^rates: small_summator 19.5, b 10 a second are wanted; an inference is 2 and 1 of them, every 100.000 ms one is needed, and one takes .*kept, ' placed/report.txt
	run -1 grep '"small_summator.3/' placed/placement.json
	run -2 "$ROOT/pipelines/place" small_summator.xml b=tensor_iterator.xml --rate small_summator=19
	[[ $output == *"--rate: 'b' has none; give one for each model"* ]]
	run -2 "$ROOT/pipelines/place" small_summator.xml b=tensor_iterator.xml --rate c=19
	[[ $output == *"--rate: no model is called 'c'; there are small_summator b"* ]]
	run -2 "$ROOT/pipelines/place" small_summator.xml:2 b=tensor_iterator.xml --rate small_summator=19.5 --rate b=10
	[[ $output == *"--rate says how many copies there are, and so does 'small_summator.xml:2'"* ]]
	run -2 "$ROOT/pipelines/place" small_summator.xml b=tensor_iterator.xml --rate small_summator=100 --rate b=1
	[[ $output == *"--rate: more than 64 copies of models"* ]]
	run -2 "$ROOT/pipelines/place" small_summator.xml tensor_iterator.xml --weights tensor_iterator.bin
	[[ $output == *"--weights is about one model"* ]]
}
