#!/usr/bin/env bats
# Every program against nothing, garbage, half a stream and damaged streams.
# HOSTILE=N sets how many damaged streams each program gets (make fuzz: many).
# seconds: 25
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export ASAN_OPTIONS=detect_leaks=0
	ir2dag "$ROOT/tests/models/if_body.xml" -o body.mp
	cp "$ROOT/tests/models/small_increment_1x3x4x5."* .
	ir2dag small_increment_1x3x4x5.xml | dagfeat | devrun --probe -D cpu:0 -o run.mp
	ir2dag "$ROOT/tests/models/lstm_stateful.xml" -o graph.mp
	dagfeat graph.mp -o feat.mp
	devsim --probe -D cpu,gpu feat.mp -o devs.mp
	gpnembed --steps 2 devs.mp -o part.mp
	placepolicy -a part.mp -o place.mp
	devsim place.mp -o ran.mp
	reinforce ran.mp -o best.mp
	placebase single:cpu:0 run.mp -o single.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

damaged() {   # damaged STREAM PROGRAM [ARG...]
	run timeout 900 "$HSDAG_PYTHON" "$ROOT/tests/fuzz/mutate.py" "$1" "${HOSTILE:-60}" "${SEED:-1}" "$B/bin/$2" "${@:3}"
	echo "$output"
	[ "$status" -eq 0 ]
}

FILTERS="dagfeat dagpin dagsplit gpnembed placepolicy devrun devsim reinforce placeout recdump topk"

# each COMMAND... - one after another: the filters, and those that want a method
each() {
	local p
	for p in $FILTERS; do "$@" "$p" "$p"; done
	"$@" placebase "placebase heft"
	"$@" daggroup "daggroup chunks"
}

empty_input() {   # NAME COMMAND
	run -3 bash -c "$2 < /dev/null > out"
	[[ $output == *"$1: error: empty input"* ]] || { echo "$output"; return 1; }
}

bad_input() {   # FILE NAME COMMAND - refused, and what was written has no end
	run -3 bash -c "$3 < $1 > out"
	[[ $output == *"$2: error: "* ]] || { echo "$output"; return 1; }
	run ! recdump --check out
}

@test "no input at all is an error of status 3" {
	each empty_input
	run -3 json2dag /dev/null
	[[ $output == *"json2dag: error: empty input"* ]]
}

@test "garbage is an error of status 3" {
	head -c 5000 /bin/ls > garbage
	each bad_input garbage
	run -3 json2dag garbage
}

@test "half a stream is an error of status 3" {
	head -c $(($(stat -c %s place.mp) / 2)) place.mp > half
	each bad_input half
}

@test "a failing stage fails the pipeline, without pipefail" {
	run -3 bash -c "head -c 900 graph.mp | dagfeat 2>/dev/null | recdump -c"
}

said() {   # said LINE COMMAND - its standard error is that line
	run bash -c "$2 2>&1 > /dev/null"
	[ "$output" = "$1" ] || { echo "$output"; return 1; }
}

@test "of a failing pipeline the first cause is said, once" {
	bash -c 'ir2dag none.xml | dagfeat | placebase heft | recdump; printf "%s " "${PIPESTATUS[@]}"' > status 2> said
	[ "$(cat said)" = "ir2dag: error: cannot open 'none.xml': No such file or directory" ]
	[ "$(cat status)" = "1 3 3 3 " ]
	said "dagfeat: error: --d-pos: 3 is odd" "dagfeat --d-pos 3 graph.mp | devsim --probe | placeout"
	said "placebase: error: unknown method 'none'; --list has them" "placebase none graph.mp | devsim | topk | recdump -c"
	# Nobody has said why there is nothing, or nobody is there who heard it.
	said "dagfeat: error: empty input '-'; expected a stream" ": | dagfeat | recdump"
	run -1 bash -c 'ir2dag none.xml 2> /dev/null | cat > left; exit "${PIPESTATUS[0]}"'
	said "recdump: error: input 'left' ends where the program that wrote it failed" "recdump left"
	run -1 bash -c 'ir2dag none.xml > nothing 2> /dev/null'
	[ ! -s nothing ]
}

@test "unknown options are status 2, --help and --version status 0" {
	for p in $FILTERS ir2dag json2dag irfill irjoin placebase daggroup; do
		run -2 "$p" --no-such-option
		run -0 "$p" --help
		[[ $output == *"Usage: $p"* && $output == *"$p --help-all has "* ]]
		[ "$(wc -l <<< "$output")" -le 24 ] || { echo "$output"; return 1; }
		! grep '.\{81\}' <<< "$output" || { echo "$p: more than 80 columns"; return 1; }
		run -0 "$p" --help-all
		[[ $output == *"Usage: $p"* && $output == *"Exit status"* ]]
		! grep '.\{81\}' <<< "$output" || { echo "$p: more than 80 columns"; return 1; }
		run -0 "$p" --version
	done
}

@test "a full disk is noticed" {
	run -1 bash -c "dagfeat graph.mp > /dev/full"
	run -1 bash -c "ir2dag $ROOT/tests/models/if_body.xml > /dev/full"
}

@test "records and keys that nobody knows pass through" {
	py '
		r = read("graph.mp")[:-1]
		r[0][1]["later"] = "kept"
		r.insert(1, ["novel", {"a": [1, {"b": b"x"}]}])
		write("novel.mp", r + [["novel", {"z": 1}]])
	'
	dagfeat novel.mp | devsim --probe -D cpu,gpu | gpnembed | placepolicy | devsim > out.mp
	py '
		r = read("out.mp")
		assert r[0][1]["later"] == "kept"
		assert [x for x in r if x[0] == "novel"] == [["novel", {"a": [1, {"b": b"x"}]}], ["novel", {"z": 1}]]
		assert r[1][0] == "novel" and [c["program"] for c in r[0][1]["chain"]][-2:] == ["placepolicy", "devsim"]
	'
}

@test "the Python of docs/reference/stream.md reads a stream" {
	sed -n '/^import msgpack/,/^def tensor/p' "$ROOT/docs/reference/stream.md" > doc.py
	echo 'assert kind == "end"' >> doc.py
	sed -i 's/^    \.\.\./    if kind == "feat": x = m["x"]/' doc.py
	echo 'assert tensor(x).ndim == 2 and tensor(x).dtype == "float32"' >> doc.py
	"$HSDAG_PYTHON" doc.py feat.mp
}

@test "damaged streams: recdump" {
	damaged body.mp recdump --full
	damaged body.mp recdump --tsv 'name,dim[0],in_ptr[],bodies[].node'
}
@test "damaged streams: runstat, tabstat" {
	damaged "$ROOT/tests/stored_runs/measured.01.001.mp" runstat runs -
	damaged "$ROOT/tests/stored_runs/measured.01.001.mp" tabstat found
}
@test "damaged streams: dagfeat" { damaged body.mp dagfeat; damaged graph.mp dagfeat --paper; }
@test "damaged streams: gpnembed" { damaged devs.mp gpnembed --steps 2; }
@test "damaged streams: placepolicy" { damaged part.mp placepolicy -a; }
@test "damaged streams: placebase" { damaged devs.mp placebase heft; }
@test "damaged streams: devsim" { damaged place.mp devsim; damaged feat.mp devsim --probe; }
@test "damaged streams: schedules, objectives and improved orders" {
	damaged place.mp devsim --schedule --objective latency=1,energy=0.1 --watts cpu=65/10,gpu=150/20
	damaged place.mp devsim --order improved --op-noise 0.1
}
@test "damaged streams: searches and partitioners" {
	HOSTILE=$((${HOSTILE:-60} / 3))
	for m in anneal portfolio m-sct metis scotch mincut; do
		damaged devs.mp placebase $m --evals 50 --budget 0.5
	done
}
@test "damaged streams: daggroup, dagpin, topk" {
	damaged devs.mp dagpin --keep '*'
	damaged devs.mp daggroup metis --acyclic
	damaged devs.mp daggroup heavy-edge --groups 3
	damaged ran.mp topk -k 2
}
@test "damaged streams: dagsplit" { damaged graph.mp dagsplit --no-auto --shares 2,1; }
@test "damaged streams: reinforce" { damaged ran.mp reinforce; }
@test "damaged streams: placeout" { damaged best.mp placeout; }
@test "damaged streams: devrun" { damaged single.mp devrun --runs 3 --warmup 1; }

# port ID PRECISION DIM... - a port of an IR
port() {
	printf '<port id="%s" precision="%s">' "$1" "$2"
	shift 2
	[ $# -eq 0 ] || printf '<dim>%s</dim>' "$@"
	echo '</port>'
}

# regions H W - an IR whose ROIAlign makes one value of one region, of 1e30 pixels, in features of H x W
regions() {
	printf '\0\0\0\0\0\0\0\0\312\362\111\161\312\362\111\161\0\0\0\0' > regions.bin
	cat > regions.xml <<-IR
	<net name="regions" version="11"><layers>
	<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,1,$1,$2" element_type="f32"/>
	<output>$(port 0 FP32 1 1 "$1" "$2")</output></layer>
	<layer id="1" name="rois" type="Const" version="opset1"><data element_type="f32" shape="1,4" offset="0" size="16"/>
	<output>$(port 0 FP32 1 4)</output></layer>
	<layer id="2" name="image" type="Const" version="opset1"><data element_type="i32" shape="1" offset="16" size="4"/>
	<output>$(port 0 I32 1)</output></layer>
	<layer id="3" name="y" type="ROIAlign" version="opset9">
	<data pooled_h="1" pooled_w="1" sampling_ratio="0" spatial_scale="1" mode="avg" aligned_mode="asymmetric"/>
	<input>$(port 0 FP32 1 1 "$1" "$2" && port 1 FP32 1 4 && port 2 I32 1)</input>
	<output>$(port 3 FP32 1 1 1 1)</output></layer>
	<layer id="4" name="r" type="Result" version="opset1"><input>$(port 0 FP32 1 1 1 1)</input></layer>
	</layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/>
	<edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>
	<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/>
	<edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>
	IR
}

@test "regions of any size, and of images without pixels" {
	for size in "4 4" "0 4" "4 0"; do
		# shellcheck disable=SC2086
		regions $size
		ir2dag regions.xml | placebase single -D cpu:0 |
			timeout 300 devrun -n 1 --warmup 0 --no-reference -o run.mp
		[ "$(recdump -k run --tsv ok run.mp | sort -u)" = true ]
	done
}

@test "control bytes of the input do not reach the terminal" {
	echo '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "name": "x", "cost_s": 1}]}' > plain.json
	json2dag plain.json -o plain.mp
	echo '{"x": "a\u001b[31m"}' > place.json
	run -3 placebase expert:place.json plain.mp -o x.mp
	[ "$output" = "placebase: error: 'place.json': there is no device 'a\\x1b[31m'; here are a" ]
	echo '{"devices": [{"name": "a"}], "links": [{"src": "b\u0007", "dst": "a"}], "nodes": []}' > link.json
	run -3 json2dag link.json -o x.mp
	[ "$output" = "json2dag: error: 'link.json': links[0]: src: there is no device 'b\\x07'; here are a" ]
	run -1 dagfeat $'no\rfile'
	[[ "$output" == *"'no\\rfile'"* && "$output" != *$'\r'* ]]
}
