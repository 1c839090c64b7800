#!/usr/bin/env bats
# The networks of gpnembed: --net, the options of each, parameters that belong to one of them, and a
# loop with every one.  What a new network must pass without a line of its own.
# programs: gpnembed placepolicy reinforce
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	loop_setup_file
	for net in $(nets); do
		gpnembed --net "$net" $GPN in.mp > "$net.mp"
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	IN=$BATS_FILE_TMPDIR/in.mp
	DIR=$BATS_FILE_TMPDIR
}

# Names of the networks.
nets() {
	gpnembed --net list | awk 'NR > 1 {print $1}'
}

# net FILE - `net` of its params records, each once
net() {
	recdump -k params --tsv net "$1" | sort -u
}

@test "--net names the networks and refuses others" {
	run -0 nets
	[ "${lines[0]}" = gpn ]
	[ "${#lines[@]}" -ge 2 ]
	run -0 placepolicy --net list
	[[ ${lines[1]} == *gpn* ]]
	for program in gpnembed placepolicy; do
		run -2 $program --net unheard "$IN" -o out.mp
		[[ $output == "$program: error: --net: unknown network 'unheard'; one of gpn, "* ]]
	done
	run -2 gpnembed --ne mlp "$IN" -o out.mp
	[[ $output == *"write --net out in full"* ]]
	[ ! -e out.mp ]
}

@test "the default is gpn; params name their network" {
	gpnembed $GPN "$IN" > out.mp
	same_body out.mp "$DIR/gpn.mp"
	for name in $(nets); do
		run -0 net "$DIR/$name.mp"
		[ "$output" = "$name" ]
	done
}

@test "options are those of the network" {
	run -0 bash -c "gpnembed --help-all | grep -c -- --layer-gnn2"
	run -0 gpnembed --net=mlp --help-all
	[[ $output == *"--layers N"* ]]
	[[ $output != *"--layer-gnn2"* ]]
	run -2 gpnembed --net mlp --rounds 2 "$IN" -o out.mp
	[[ $output == *"unknown option '--rounds'"* ]]
	run -2 gpnembed --layers 2 --net mlp "$IN" --dropout 3 -o out.mp
	gpnembed --no-costs --layers 3 --net mlp --hidden 16 "$IN" > out.mp
	run -0 recdump -k params out.mp
	[[ $output == *'"hyper": {"hidden": 16, "layers": 3, "dropout": 0.1'* ]]
}

@test "mlp: every set is a group; a grouping from outside is kept" {
	run -0 recdump -k part "$DIR/mlp.mp"
	[[ $output == *'"rounds": [], "given": false, "n_groups": 60,'* ]]
	daggroup --groups 7 random "$IN" | gpnembed --net mlp $GPN > out.mp
	run -0 recdump -k part out.mp
	[[ $output == *'"rounds": [], "given": true, "n_groups": 7,'* ]]
}

@test "parameters are of the network that they name; another one's are refused" {
	for name in $(nets); do
		gpnembed --no-costs --params "$DIR/$name.mp" "$IN" > out.mp
		same_body out.mp "$DIR/$name.mp"
		gpnembed --no-costs --net $name --params "$DIR/$name.mp" "$IN" > out.mp
		same_body out.mp "$DIR/$name.mp"
		placepolicy --net $name "$DIR/$name.mp" > out.mp
		run -0 net out.mp
		[ "$output" = $name ]
	done
	run -3 gpnembed --net mlp --params "$DIR/gpn.mp" "$IN" -o bad.mp
	[[ $output == *"params of block 'embed' are of network 'gpn', not 'mlp'" ]]
	run -3 gpnembed --net gpn "$DIR/mlp.mp" -o bad.mp
	[[ $output == *"params of block 'embed' are of network 'mlp', not 'gpn'" ]]
	run -3 placepolicy --net gpn "$DIR/mlp.mp" -o bad.mp
	[[ $output == *"params of block 'embed' are of network 'mlp', not 'gpn'" ]]
	[ ! -e bad.mp ]
}

@test "two blocks of two networks are refused, by every program" {
	placepolicy "$DIR/gpn.mp" > policy.mp
	edit policy.mp two.mp 'for r in records:
    if r[0] == "params" and r[1]["block"] == "policy": r[1]["net"] = "mlp"; r[1]["hyper"] = {"hidden": 16, "layers": 2, "dropout": 0, "policy_gain": 1}'
	run -3 gpnembed --params two.mp "$IN" -o bad.mp
	[[ $output == *"params of block 'policy' are of network 'mlp', not 'gpn'" ]]
	edit two.mp first.mp 'p = [r for r in records if r[0] == "params"]
records = [r for r in records if r[0] in ("graph", "devs", "feat")] + p + [r for r in records if r[0] == "part"]'
	run -3 placepolicy first.mp -o bad.mp
	[[ $output == *"params of block 'policy' are of network 'mlp', not 'gpn'" ]]
	edit two.mp again.mp 'records.insert(4, ["params", dict(next(r[1] for r in records if r[0] == "params"),
    net="mlp", hyper={"hidden": 16, "layers": 2, "dropout": 0, "policy_gain": 1})])'
	run -3 placepolicy again.mp -o bad.mp
	[[ $output == *"network 'gpn' after some of 'mlp'" || $output == *"network 'mlp' after some of 'gpn'" ]]
	edit policy.mp unheard.mp 'for r in records:
    if r[0] == "params": r[1]["net"] = "un\nheard"'
	run -3 placepolicy unheard.mp -o bad.mp
	[[ $output == *"unknown network 'un\\nheard'"* ]]
	[ ! -e bad.mp ]
}

# follows_params FILE IN - are sets of IN where the parameters in FILE say?  With a bias of the policy's last layer that pulls
# to device 0 all are there, and with another one on device 1.
follows_params() {
	local d
	for d in 0 1; do
		edit "$1" pulled.mp 'import struct
for kind, m in records:
    if kind == "params" and m["block"] == "policy":
        shape = [struct.unpack("<%dI" % t["shape"][0], t["data"]) for t in (m["rows"], m["cols"])]
        data, at = bytearray(m["data"]["data"]), 0
        for rows, cols in zip(*shape):
            if (rows, cols) == (1, 2):
                data[at:at + 8] = struct.pack("<2f", *((99, -99) if '$d' == 0 else (-99, 99)))
                changed = True
            at += 4 * rows * cols
        m["data"]["data"] = bytes(data)
assert changed'
		gpnembed --seed 5 --params pulled.mp "$2" | placepolicy --seed 5 --greedy > pulled.out
		[ "$(recdump -k place --tsv device pulled.out | tr ',' '\n' | sort -u)" = $d ] || return 1
	done
}

@test "every network trains in the loop, resumes to the same bytes, and its result places" {
	for name in $(nets); do
		GPN="--net $name --hidden 16 --threads 1 --no-costs" loop "$IN" whole.mp
		run -0 net whole.mp
		[ "$output" = $name ]
		[ "$(recdump -k update --tsv failed whole.mp | grep -cx 0)" -eq 4 ]
		# both blocks learned something
		recdump -k update --tsv grad_norm whole.mp | grep -q '[1-9]'
		GPN="--net $name --hidden 16 --threads 1 --no-costs" LEARN="--episodes 2 --steps 5 --threads 1 --checkpoint $name.ck" \
			loop "$IN" part.mp
		GPN="--net $name --hidden 16 --threads 1 --no-costs" LEARN="$LEARN --checkpoint $name.ck --resume" \
			loop "$IN" resumed.mp
		same_body whole.mp resumed.mp
		gpnembed --params whole.mp "$IN" | placepolicy --greedy | devsim > out.mp
		run -0 recdump -k run out.mp
		[[ $output == *'"ok": true'* ]]
		follows_params whole.mp "$IN"
	done
	# a training that began with one network does not go on with another
	GPN="--net gpn --threads 1" LEARN="--episodes 9 --steps 5 --checkpoint mlp.ck --resume" run ! loop "$IN" bad.mp
	[[ $output == *"params of block 'embed' are of network 'mlp', not 'gpn'"* ]]
}

@test "parameters of a recipe without scorers place by themselves where there are costs" {
	for recipe in paper rnn hierarchical placeto; do
		net=$recipe
		[ $recipe != paper ] || net=gpn
		gpnembed --net $net --recipe $recipe --hidden 16 "$IN" | placepolicy > $recipe.mp
		gpnembed --params $recipe.mp "$IN" | placepolicy --greedy > out.mp
		run -0 recdump -k params --tsv block,recipe out.mp
		[ "$output" = $'embed\t'$recipe$'\npolicy\t'$recipe ]
		gpnembed --recipe $recipe --params $recipe.mp "$IN" | placepolicy --greedy > same.mp
		same_body out.mp same.mp
		follows_params $recipe.mp "$IN"
		# where somebody asks for it, scorers take over
		gpnembed --recipe default --params $recipe.mp "$IN" > out.mp
		run -0 recdump -k params --tsv block out.mp
		[ "$output" = $'embed\npolicy\ncosts' ]
	done
}

@test "parameters that were made without costs keep to it, in a loop and its checkpoint, too; --costs brings them back" {
	blocks() { recdump -k params --tsv block "$1" | sort -u | tr '\n' ' '; }
	gpnembed --hidden 16 --no-costs "$IN" | placepolicy > none.mp
	run -0 recdump -k params none.mp
	[ "$(echo "$output" | grep -c '"costs": false')" -eq 2 ]
	gpnembed --hidden 16 "$IN" | placepolicy > some.mp
	run ! grep -q '"costs": false' <(recdump -k params some.mp)
	LEARN="--episodes 2 --threads 1 --checkpoint ck.mp" loop "$IN" trained.mp
	for from in none trained ck; do
		for recipe in "" "--recipe default"; do
			gpnembed $recipe --params $from.mp "$IN" | placepolicy --greedy > out.mp
			[ "$(blocks out.mp)" = "embed policy " ]
			gpnembed --no-costs --params $from.mp "$IN" | placepolicy --greedy > same.mp
			same_body out.mp same.mp
		done
		gpnembed --costs --params $from.mp "$IN" | placepolicy --greedy > costs.mp
		[ "$(blocks costs.mp)" = "costs embed policy " ]
		run ! grep -q '"costs": false' <(recdump -k params costs.mp)
	done
	# a training goes on without costs, from the parameters and from the checkpoint
	GPN="--hidden 16 --params trained.mp --threads 1" loop "$IN" again.mp
	[ "$(blocks again.mp)" = "embed policy " ]
	GPN="--hidden 16 --threads 1" LEARN="--episodes 3 --threads 1 --checkpoint ck.mp --resume" loop "$IN" resumed.mp
	[ "$(blocks resumed.mp)" = "embed policy " ]
	[ "$(recdump -k params resumed.mp | grep -c '"costs": false')" -eq 2 ]
	# and with them where it began with them, or where somebody asks for them
	gpnembed --params some.mp "$IN" > out.mp
	[ "$(blocks out.mp)" = "costs embed policy " ]
	GPN="--hidden 16 --params trained.mp --costs --threads 1" loop "$IN" again.mp
	[ "$(blocks again.mp)" = "costs embed policy " ]
	edit none.mp bad.mp 'for r in records:
    if r[0] == "params": r[1]["costs"] = "no"'
	run -3 gpnembed --params bad.mp "$IN" -o out2.mp
	[[ $output == *"'costs'"* ]]
}

@test "rnn: too many groups are refused with the figures; groups from outside do" {
	run -1 gpnembed --net rnn --colocate 0 --max-groups 59 --no-costs "$IN" -o bad.mp
	[[ $output == *"60 groups are more than --max-groups 59; attention compares each with each, "*" tanh a placement, about 1 s of a core; group them first (daggroup, --colocate 1), or allow more" ]]
	daggroup --groups 59 random "$IN" > given.mp
	run -1 gpnembed --net rnn --colocate 0 --max-groups 9 --no-costs given.mp -o bad.mp
	[[ $output == *"group them first (daggroup), or allow more" ]]
	[ ! -e bad.mp ]
	daggroup --groups 7 random "$IN" | gpnembed --net rnn --colocate 0 --max-groups 59 $GPN > out.mp
	run -0 recdump -k part out.mp
	[[ $output == *'"given": true, "n_groups": 7,'* ]]
}

@test "several samples of a step: reinforce asks for them, placepolicy's option is stronger" {
	for net in gpn rnn; do
		GPN="--net $net --hidden 16 --threads 1 --no-costs" LEARN="--recipe rnn --episodes 3 --threads 1 --keep --checkpoint $net.whole" \
			loop "$IN" whole.mp
		[ "$(recdump -k place --tsv source whole.mp | grep -c policy)" -eq 30 ]
		[ "$(recdump -k part --tsv step whole.mp | wc -l)" -eq 6 ]
		GPN="--net $net --hidden 16 --threads 1 --no-costs" LEARN="--recipe rnn --episodes 1 --threads 1 --checkpoint $net.ck" loop "$IN" part.mp
		GPN="--net $net --hidden 16 --threads 1 --no-costs" LEARN="--recipe rnn --episodes 3 --threads 2 --keep --checkpoint $net.ck --resume" \
			loop "$IN" resumed.mp
		cmp <(body $net.whole) <(body $net.ck)
		GPN="--net $net --hidden 16 --threads 1 --no-costs" POLICY="--samples 2" LEARN="--recipe rnn --episodes 1 --keep" loop "$IN" two.mp
		[ "$(recdump -k place --tsv source two.mp | grep -c policy)" -eq 4 ]
	done
}

# sources FILE - how many placements of each source
sources() {
	recdump -k place --tsv source "$1" | sort | uniq -c | awk '{printf "%s%s %s", s, $1, $2; s = ", "} END {print ""}'
}

@test "visits: placements on the way are run, with any network; the same bytes after a resume" {
	for net in placeto gpn rnn hierarchical; do
		GPN="--net $net --recipe placeto --hidden 16 --threads 1 --no-costs" LEARN="--recipe placeto --episodes 3 --steps 1 --samples 2 --threads 1 --keep --checkpoint $net.whole" \
			loop "$IN" whole.mp
		run -0 sources whole.mp
		[[ $output =~ ^"6 policy, 2 single, 3 start, "[0-9]+" visit"$ ]]
		GPN="--net $net --recipe placeto --hidden 16 --threads 1 --no-costs" LEARN="--recipe placeto --episodes 1 --steps 1 --samples 2 --threads 1 --checkpoint $net.ck" loop "$IN" part.mp
		GPN="--net $net --recipe placeto --hidden 16 --threads 1 --no-costs" LEARN="--recipe placeto --episodes 3 --steps 1 --samples 2 --threads 2 --keep --checkpoint $net.ck --resume" \
			loop "$IN" resumed.mp
		cmp <(body $net.whole) <(body $net.ck)
	done
}

@test "visits: a run behind several groups; around an incumbent; their order and their numbers" {
	GPN="--net placeto --recipe placeto --hidden 8 --rounds 1 --groups 0 --threads 1 --no-costs" LEARN="--recipe placeto --visits 7 --episodes 2 --steps 1 --threads 1 --keep" loop "$IN" out.mp
	run -0 recdump -k place --tsv source,sample out.mp
	[ "$(echo "$output" | awk '$1 == "visit" && $2 % 7' | wc -l)" -eq 0 ]
	[ "$(echo "$output" | awk '$1 == "visit"' | wc -l)" -le 16 ]
	[ "$(echo "$output" | grep -v single | head -2 | tr '\n' ' ')" = $'start\t0 visit\t7 ' ]
	run -0 recdump -k episode out.mp
	[[ $output == *'"visits": 7'* ]]
	for net in placeto mlp; do # the way begins at the incumbent
		GPN="--net $net --hidden 8 --threads 1 --no-costs" LEARN="--visits 1 --episodes 3 --steps 1 --threads 1 --keep" loop "$IN" out.mp
		run -0 sources out.mp
		[[ $output == *" start, "*" visit" ]]
		"$HSDAG_PYTHON" - out.mp <<-'PY'
			import sys, msgpack
			incumbent = None
			starts = 0
			for kind, m in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30):
			    if kind == "episode":
			        incumbent = m.get("incumbent")
			    if kind == "place" and m["source"] == "start" and incumbent:
			        assert m["device"] == incumbent
			        starts += 1
			assert starts >= 2
		PY
	done
}

@test "visits: a stream without a start is refused; too many groups, too, with the figures" {
	GPN="--net placeto --recipe placeto --hidden 8 --groups 12 --threads 1 --no-costs" LEARN="--recipe placeto --episodes 1 --steps 1 --threads 1 --keep" loop "$IN" out.mp
	for kind in start "policy"; do
		edit out.mp other.mp "records = [r for r in records if r[0] not in ('update', 'best') and r[1].get('source') != '$kind']"
		mkfifo fifo && cat fifo > asked &
		while [ ! -p fifo ]; do sleep 0.01; done
		run reinforce --recipe placeto --params-to fifo --episodes 1 --steps 1 other.mp -o bad.mp
		wait
		rm fifo
		if [ "$kind" = start ]; then
			[ "$status" -eq 3 ]
			[[ $output == *"the start of sample 0 of step 0 did not come"* ]]
		else
			[ "$status" -eq 0 ] # nothing was drawn: nothing is learned
		fi
	done
	run -1 gpnembed --net placeto --groups 0 --max-groups 59 --no-costs "$IN" -o none.mp
	[[ $output == *"60 groups are more than --max-groups 59; each of 60 visits passes messages through all, "*" multiplications a placement; join more (--groups, daggroup)" ]]
	[ ! -e none.mp ]
}

@test "placeto: sets are joined until there are few enough groups; others' groups compose" {
	for n in 30 12 1; do
		gpnembed --net placeto --groups $n $GPN "$IN" > out.mp
		run -0 recdump -k part --tsv n_groups out.mp
		[ "$output" -le $n ]
	done
	daggroup --groups 7 random "$IN" > grouped.mp
	GPN="--net placeto --recipe placeto --hidden 16 --threads 1 --no-costs" LEARN="--recipe placeto --episodes 2 --steps 1 --threads 1" loop grouped.mp out.mp
	[ "$(recdump -k update --tsv groups out.mp | sort -u)" = 7 ]
	gpnembed --params out.mp grouped.mp | placepolicy --greedy | devsim > placed.mp
	run -0 recdump -k run placed.mp
	[[ $output == *'"ok": true'* ]]
	# on a graph that the training has not seen
	for m in alexnet resnet50; do ir2dag "$MODELS/$m.xml" | dagfeat | devsim --probe > $m.mp; done
	GPN="--net placeto --recipe placeto --hidden 16 --threads 1" LEARN="--recipe placeto --episodes 1 --steps 1 --threads 1" loop alexnet.mp out.mp
	gpnembed --params out.mp resnet50.mp | placepolicy --greedy | devsim > placed.mp
	run -0 recdump -k run placed.mp
	[[ $output == *'"ok": true'* ]]
	# groups that the Hierarchical Planner drew
	gpnembed --net hierarchical --groups 9 $GPN "$IN" > drawn.mp
	daggroup --of drawn.mp "$IN" | gpnembed --net placeto $GPN | placepolicy | devsim > placed.mp
	run -0 recdump -k run placed.mp
	[[ $output == *'"ok": true'* ]]
}

@test "placeto learns: walks end faster after a training, and not at rate 0" {
	"$HSDAG_PYTHON" - > types.json <<-'PY'
		import json, random
		rng = random.Random(7)
		fast = [[1, 3, 2], [3, 1, 2], [2, 3, 1]]  # three types of tasks, each with a device of its own
		kinds = [rng.randrange(3) for _ in range(18)]
		print(json.dumps({"devices": [{"name": d} for d in "abc"],
		    "links": [{"src": "*", "dst": "*", "latency_s": 0.1, "bytes_per_s": 100}],
		    "nodes": [{"id": i, "out_bytes": 20, "cost_s": {d: f * (1 + i % 4) for d, f in zip("abc", fast[k])}}
		              for i, k in enumerate(kinds)],
		    "edges": [{"src": i, "dst": j} for i in range(18) for j in (i + 2, i + 3) if j < 18]}))
	PY
	json2dag types.json | dagfeat > types.mp
	# thousandths of the mean of the first ten episodes that the last ten have left
	left() {
		recdump -k run --tsv source,episode,lat_s "$1" |
			awk '$1 == "policy" { if ($2 <= 10) { a += $3; i++ } if ($2 > 70) { b += $3; j++ } } END { print int(1000 * b / j / (a / i)) }'
	}
	GPN="--net placeto --recipe placeto --hidden 16 --rounds 3 --no-costs --threads 1"
	LEARN="--recipe placeto --episodes 80 --steps 2 --threads 1 --keep" loop types.mp learned.mp
	LEARN="--recipe placeto --episodes 80 --steps 2 --threads 1 --keep --lr 0" loop types.mp same.mp
	[ "$(left learned.mp)" -lt 850 ]
	[ "$(left same.mp)" -gt 950 ]
}

@test "networks compose on a device of this machine: others' groups, rewards on the way by every few groups" {
	models googlenet
	dagfeat googlenet.mp | devrun --probe -D cpu:0 > start.mp
	measured="devrun --min-runs 1 --max-seconds 0.01"
	daggroup --groups 9 metis start.mp > metis.mp
	local train="$ROOT/pipelines/train"
	"$train" --net rnn --embed "--hidden 16" --run "$measured" metis.mp --episodes 1 --steps 1 --samples 2 --keep > rnn.mp
	[ "$(recdump -k update --tsv groups rnn.mp)" = 9 ]
	gpnembed --net hierarchical --groups 9 --hidden 16 start.mp > drawn.mp
	daggroup --of drawn.mp start.mp > groups.mp
	"$train" --embed "--hidden 16 --no-costs" --run "$measured" groups.mp --episodes 1 --steps 2 --keep > gpn.mp
	[ "$(recdump -k update --tsv groups gpn.mp)" -le 9 ]
	"$train" --net placeto --embed "--groups 12 --hidden 8" --run "$measured" start.mp --episodes 1 --steps 1 --visits 4 --keep > placeto.mp
	[ "$(recdump -k run --tsv source placeto.mp | grep -c start)" = 1 ]
	for f in rnn gpn placeto; do
		[ "$(recdump -k run --tsv ok "$f.mp" | sort -u)" = true ]
		[ "$(recdump -k update $f.mp | wc -l)" = 1 ]
	done
}

@test "train --and: graphs take turns, each goes on with the parameters of the one before" {
	for m in alexnet resnet50; do ir2dag "$MODELS/$m.xml" | dagfeat | devsim --probe > $m.mp; done
	train() { B=$B "$ROOT/pipelines/train" --net placeto --embed "--hidden 8 --groups 12 --threads 1" "$@"; }
	train --and resnet50.mp --turns 2 alexnet.mp --episodes 1 --steps 1 > both.mp
	train alexnet.mp --episodes 1 --steps 1 > 1.mp
	train --seed 2 --params 1.mp resnet50.mp --episodes 1 --steps 1 > 2.mp
	train --seed 3 --params 2.mp - --episodes 1 --steps 1 < alexnet.mp > 3.mp
	train --seed 4 --params 3.mp resnet50.mp --episodes 1 --steps 1 > 4.mp
	same_body 4.mp both.mp
	train --and resnet50.mp - --episodes 1 --steps 1 < alexnet.mp > piped.mp
	same_body 2.mp piped.mp
	run -2 train --turns 0 alexnet.mp
	run -1 train --and nowhere.mp alexnet.mp
	[[ $output == *"cannot read 'nowhere.mp'"* ]]
}

@test "train --net: the network's own recipe, unless another is asked for" {
	B=$B "$ROOT/pipelines/train" --net rnn --embed "--hidden 16" "$IN" --episodes 1 > own.mp
	[ "$(recdump -k params --tsv net,recipe own.mp | sort -u)" = $'rnn\trnn' ]
	[ "$(recdump -k update --tsv ok own.mp)" = 10 ]
	B=$B "$ROOT/pipelines/train" --net rnn --recipe paper --embed "--hidden 16" "$IN" --episodes 1 --steps 3 > paper.mp
	[ "$(recdump -k params --tsv net,recipe paper.mp | sort -u)" = $'rnn\tpaper' ]
	B=$B "$ROOT/pipelines/train" --net mlp --embed "--hidden 16 --no-costs" "$IN" --episodes 1 > default.mp
	[ "$(recdump -k params --tsv net,recipe default.mp | sort -u)" = $'mlp\tdefault' ]
}

@test "hierarchical: noise on the logits while training, in the first episodes; a replay finds it again" {
	net="--net hierarchical --hidden 16 --groups 12 --threads 1 --no-costs"
	for noise in 0 2; do
		GPN="$net --noise $noise --noise-episodes 1" LEARN="--recipe hierarchical --episodes 2 --lr 0 --keep --threads 1" loop "$IN" $noise.mp
		recdump -k place --tsv episode,step,sample,logp $noise.mp > $noise.tsv
		# where a policy is that nobody trains
		gpnembed --params $noise.mp "$IN" | placepolicy --seed 3 | recdump -k place --tsv logp > $noise.pass
	done
	run ! cmp <(grep -P '^1\t' 0.tsv) <(grep -P '^1\t' 2.tsv)
	cmp <(grep -P '^2\t' 0.tsv) <(grep -P '^2\t' 2.tsv)
	cmp 0.pass 2.pass
}

@test "a network is one file and one line: nothing else knows its name" {
	cd "$ROOT" || return 1
	run -0 bash -c "grep -rlE 'net_mlp|mlp_hyper|X\(mlp\)|\"mlp\"' lib cmd | sort"
	[ "$output" = "lib/learn/net/mlp.c
lib/learn/net/nets.h" ]
	run -0 bash -c "grep -rlE 'net_gpn|gpn_(hyper|default|paper)|X\(gpn\)|\"gpn\"' lib cmd | sort"
	[ "$output" = "lib/learn/net/gpn.c
lib/learn/net/gpn.h
lib/learn/net/nets.h" ]
}

@test "gpn in bf16 trains in the loop, resumes to the same bytes; records of before it are read" {
	export GPN="--hidden 64 --threads 1 --no-costs --bf16 1"
	loop "$IN" whole.mp
	run -0 recdump -k params whole.mp
	[[ $output == *'"bf16": 1'* ]]
	[ "$(recdump -k update --tsv failed whole.mp | grep -cx 0)" -eq 4 ]
	LEARN="--episodes 2 --steps 5 --threads 1 --checkpoint half.ck" loop "$IN" part.mp
	LEARN="$LEARN --checkpoint half.ck --resume" loop "$IN" resumed.mp
	same_body whole.mp resumed.mp
	GPN="--hidden 64 --threads 1 --no-costs" loop "$IN" f32.mp
	run ! same_body whole.mp f32.mp
	# without the key: f32, as it was
	edit f32.mp old.mp 'for kind, m in records:
    if kind == "params": del m["hyper"]["bf16"]'
	gpnembed --params f32.mp "$IN" > now.mp
	gpnembed --params old.mp "$IN" > then.mp
	same_body now.mp then.mp
	edit f32.mp bad.mp 'for kind, m in records:
    if kind == "params": del m["hyper"]["hidden"]'
	run -3 gpnembed --params bad.mp "$IN" -o out.mp
	run -2 gpnembed --bf16 2 "$IN" -o out.mp
}
