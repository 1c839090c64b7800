#!/usr/bin/env bats
# pretrain, and the placement methods that take its parameters.
# programs: pretrain placebase
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/googlenet.xml" | devsim --probe --spec paper -o google.mp
	pretrain --moves 4 --policy 2 --tasks 40 -t 1 -o few.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# value METHOD... - what placebase predicts, seconds
value() { placebase "$@" google.mp | recdump -k place --tsv predicted_s; }

# not_longer A B - is A at most B?
not_longer() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a <= b) }'; }

@test "the same seed gives the same parameters on any number of threads, another seed others" {
	pretrain --moves 4 --policy 2 --tasks 40 -t 2 -o two.mp
	pretrain --moves 4 --policy 2 --tasks 40 --seed 2 -o other.mp
	same_records few.mp two.mp
	run ! same_records few.mp other.mp
}

same_records() { diff <(recdump -f -k params "$1") <(recdump -f -k params "$2") > /dev/null; }

@test "what is built in is the file in share" {
	run -0 value "learned-moves:$ROOT/share/pretrained.mp" --evals 60
	[ "$output" = "$(value learned-moves --evals 60)" ]
	[ "$(stat -c %s "$ROOT/share/pretrained.mp")" -le 1000000 ]
}

@test "learned placement is not longer than HEFT's, moves not longer than their start" {
	heft=$(value heft) shot=$(value learned-policy) moves=$(value learned-moves --evals 100)
	not_longer "$shot" "$heft"
	not_longer "$moves" "$heft"
	not_longer "$(value learned-moves --evals 400)" "$heft"
	not_longer "$(value random-moves --evals 100)" "$heft"
	not_longer "$(value learned-moves:none --evals 100)" "$heft"
}

@test "runs are counted" {
	run -0 placebase learned-moves --evals 40 -v google.mp -o /dev/null
	[[ $output == *"learned-moves: 40 evaluations"* ]]
}

@test "killed and resumed it has the same parameters; a checkpoint of something else is refused" {
	local how="--moves 4 --policy 5 --tasks 40 -t 1"
	# shellcheck disable=SC2086
	pretrain $how -o whole.mp
	# shellcheck disable=SC2086
	pretrain $how --checkpoint killed.ck -o killed.mp 2> /dev/null 3>&- &
	until [ -e killed.ck ]; do sleep 0.01; done     # behind the first of three parts
	kill -9 $!
	wait $! || true
	[ ! -e killed.mp ]
	[ "$(recdump -k pretraining --tsv part,round killed.ck)" = $'1\t0' ] || echo "killed late" >&2
	recdump --check killed.ck
	# shellcheck disable=SC2086
	pretrain $how --checkpoint killed.ck --resume -t 2 -o resumed.mp
	same_records whole.mp resumed.mp
	# The state behind the last part, again.
	# shellcheck disable=SC2086
	pretrain $how --checkpoint killed.ck --resume -o again.mp
	same_records whole.mp again.mp
	local case
	for case in "--moves 9:--moves" "--seed 7:--seed" "--lr 0.1:--lr" "--without-parsing:--without"; do
		# shellcheck disable=SC2086
		run -3 pretrain $how ${case%%:*} --checkpoint killed.ck --resume -o no.mp
		[[ $output == "pretrain: error: checkpoint 'killed.ck': it was begun with another ${case#*:}"* && ! -e no.mp ]] || { echo "$output"; return 1; }
	done
	run -3 pretrain --checkpoint few.mp --resume -o no.mp
	[[ $output == *"'few.mp': it is not a checkpoint of pretrain" ]]
	# What no training writes.
	py '
		for name, kind, change in (("far.ck", "pretraining", {"part": 4000000000}), ("late.ck", "pretraining", {"part": 1, "round": 6}),
		                           ("less.ck", "moments", {"v": None})):
		    records = read("killed.ck")
		    m = first(records, kind)
		    m.update({k: x or {**m[k], "data": np.full(len(m[k]["data"]) // 4, -1, "<f4").tobytes()} for k, x in change.items()})
		    write(name, records)
	'
	# shellcheck disable=SC2086
	for case in far late less; do
		run -3 pretrain $how --checkpoint $case.ck --resume -o no.mp
		[[ $output == "pretrain: error: checkpoint '$case.ck': "* && ! -e no.mp ]] || { echo "$output"; return 1; }
	done
	run -2 pretrain --checkpoint - -o no.mp
	pretrain --moves 4 --policy 2 --tasks 40 --seed 3 -o three.mp
	# shellcheck disable=SC2086
	run -3 pretrain $how --params three.mp --checkpoint killed.ck --resume -o no.mp
	[[ $output == *"begun with another --params"* ]]
	head -c 2000 killed.ck > cut.ck
	run -3 pretrain --checkpoint cut.ck --resume -o no.mp
	run -2 pretrain --resume -o no.mp
	run -1 pretrain --moves 4 --policy 0 --tasks 40 --checkpoint nowhere/c.ck -o no.mp
	[ ! -e no.mp ]
	# shellcheck disable=SC2086
	run -0 pretrain --moves 4 --policy 1 --tasks 40 --checkpoint new.ck --resume -o new.mp
	[[ ${lines[0]} == *"no checkpoint 'new.ck'; it begins anew"* ]]
}

@test "without costs, structure, parsing: the parameters say so" {
	pretrain --moves 2 --policy 1 --tasks 30 --without-parsing --without-costs -o less.mp
	run -0 recdump -k params --tsv hyper.without less.mp
	[ "$output" = 5 ]
	value learned-moves:less.mp --evals 40
}

@test "progress: the end of each part in a log, each round on a terminal" {
	run -0 pretrain --moves 4 --policy 2 --tasks 40 -t 1 -o /dev/null
	[[ ${lines[0]} == "pretrain: moves, round 1 of 1: cross-entropy "* && ${lines[-1]} == *"moves, round 4 of 4: "* ]]
	run -0 script -qec 'pretrain --moves 4 --policy 2 --tasks 40 -t 1 -o /dev/null' /dev/null
	[[ $output == *"policy, round 1 of 2"* ]]
}

@test "parameters of another version, of other features, that are no numbers, or none are refused" {
	py '
		import copy, math, struct
		records = read("few.mp")
		def variant(name, change):
			r = copy.deepcopy(records)
			change(first(r, "params"))
			write(name, r)
		variant("version.mp", lambda m: m["hyper"].update(version=99))
		variant("nan.mp", lambda m: m["data"].update(data=struct.pack("<f", math.nan) + m["data"]["data"][4:]))
		variant("shape.mp", lambda m: m["rows"].update(data=struct.pack("<I", 1) + m["rows"]["data"][4:]))
		variant("block.mp", lambda m: m.update(block="policy"))
	'
	for case in "version.mp:version 99" "nan.mp:not finite" "shape.mp:params" "block.mp:no params of block 'costs'" \
		"google.mp:no params of block 'costs'"; do
		run -3 placebase "learned-moves:${case%%:*}" google.mp -o /dev/null
		[[ $output == *"${case#*:}"* ]] || { echo "$case: $output"; return 1; }
		[ "${#lines[@]}" -eq 1 ]
	done
	run -1 placebase learned-moves:nowhere.mp google.mp -o /dev/null
}

@test "where there is no schedule learned methods say so or do without" {
	run -0 placebase learned-moves --objective throughput --evals 30 google.mp -o /dev/null
	run -3 placebase learned-policy --model dnnpart-throughput google.mp -o /dev/null
	[[ $output == "placebase: error: no move_s in a cost record"* ]]
	[ "${#lines[@]}" -eq 1 ]
}
