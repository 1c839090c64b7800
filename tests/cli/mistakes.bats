#!/usr/bin/env bats
# From mistake to cure: names that no closed set has, what is no model, options that lack a part.  Each is an error that says what is
# wrong, where, and what to do.
# programs: devrun placebase daggroup dagsplit dagfeat ir2dag devsim placeout gpnembed recdump tabstat runstat
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cp "$ROOT"/tests/models/small_summator.* "$ROOT/tests/models/if_body.xml" .
	ir2dag if_body.xml -o graph.mp
	devsim --probe --spec paper graph.mp -o costs.mp
	placebase single costs.mp | devsim -o run.mp
	placebase single -D cpu:0,cpu:1 graph.mp -o placed.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# wrong STATUS - lines "COMMAND|what its one line of error says" of the standard input.
wrong() {
	local command said n=0
	while IFS='|' read -r command said; do
		run "-$1" --separate-stderr bash -c "$command"
		[[ $stderr == *"error: "*"$said"* ]] || { echo "$command: $stderr"; return 1; }
		[ "$(wc -l <<< "$stderr")" -eq 1 ] || { echo "$command: $stderr"; return 1; }
		n=$((n + 1))
	done
	[ "$n" -gt 0 ]
}

@test "the help of every program is UTF-8 of at most 80 columns" {
	local n=0
	for program in "$B"/bin/*; do
		"$program" --help-all > help.txt || "$program" --help > help.txt
		iconv -f utf-8 -t utf-8 help.txt > /dev/null || { echo "$program"; return 1; }
		[ "$(wc -L < help.txt)" -le 80 ] || { echo "$program"; return 1; }
		n=$((n + 1))
	done
	[ "$n" -gt 15 ]
}

@test "a name that a closed set does not have: the one that may be meant is told" {
	wrong 2 <<-'T'
	placebase --budgt 3 heft costs.mp|unknown option '--budgt'; did you mean '--budget'? see placebase --help
	placebase --budgt=3 heft costs.mp|unknown option '--budgt'; did you mean '--budget'? see placebase --help
	placebase --VERBOSE heft costs.mp|unknown option '--VERBOSE'; did you mean '--verbose'? see placebase --help
	placebase --apart=yes heft costs.mp|option '--apart' takes no argument; see placebase --help
	placebase hetf costs.mp|unknown method 'hetf'; did you mean 'heft'? --list has them
	placebase HEFT costs.mp|unknown method 'HEFT'; did you mean 'heft'? --list has them
	placebase sinlge:cpu costs.mp|unknown method 'sinlge:cpu'; did you mean 'single'? --list has them
	placebase climb --objective latncy costs.mp|objective 'latncy': 'latncy' is not latency, throughput, energy, memory or price; did you mean 'latency'?
	placebase climb --spec desktp-cpu graph.mp|'desktp-cpu' is neither a preset nor a readable file (No such file or directory); did you mean 'desktop-cpu'? presets are 
	placebase single:cpo costs.mp|there is no device 'cpo'; 
	placebase random --draw unifrom costs.mp|--draw: unknown choice 'unifrom'; did you mean 'uniform'? one of mixed, biased, uniform
	dagsplit --axes rows,colums graph.mp|--axes: no axis 'colums'; did you mean 'columns'? rows, width, channels, 
	daggroup metsi graph.mp|unknown method 'metsi'; did you mean 'metis'? --list has them
	dagfeat --features opp graph.mp|unknown feature 'opp'; one of 
	dagfeat --features all,-degre graph.mp|unknown feature 'degre'; 
	placeout --format raport placed.mp|--format: unknown choice 'raport'; did you mean 'report'? one of 
	placeout --format report --objective enregy placed.mp|objective 'enregy': 'enregy' is not latency, throughput, energy, memory or price; did you mean 'energy'?
	placeout --map cpu0=CPU placed.mp|--map: there is no device 'cpu0'; did you mean 'cpu:0'? here are cpu:0, cpu:1
	devsim --machine wld run.mp|'wld' is neither a machine nor a file that can be read; did you mean 'wild'? devsim --help-all lists machines
	devsim --machine near,dritf=1 run.mp|a machine has no key 'dritf'; did you mean 'drift'? devsim --help-all lists them
	gpnembed --net gnp graph.mp|--net: unknown network 'gnp'; did you mean 'gpn'? one of 
	gpnembed --recipe papper graph.mp|--recipe: unknown choice 'papper'; did you mean 'paper'? one of 
	devrun prob graph.mp|'prob' is neither a verb nor a file; did you mean 'probe'? devrun --help has the verbs
	devrun suport small_summator.xml|'suport' is neither a verb nor a file; did you mean 'support'? devrun --help has the verbs
	tabstat round run.mp|unknown verb 'round'; did you mean 'rounds'? see tabstat --help
	runstat jugde run.mp|unknown verb 'jugde'; did you mean 'judge'? see runstat --help
	devrun list -D GPU|unknown device 'GPU'; did you mean 'ov:GPU'? here are cpu, 
	devrun list -D CPU|unknown device 'CPU'; did you mean 'cpu'? here are cpu, 
	devrun probe -D cpu0 graph.mp|unknown device 'cpu0'; did you mean 'cpu:0'? here are cpu, 
	recdump --tsv lat run.mp|--tsv: no record has 'lat'; did you mean 'lat_s'? records have 
	recdump -k run --tsv foo run.mp|--tsv: no record has 'foo'; records have graph, 
	tabstat rounds --cpu gpo run.mp|--cpu: there is no device 'gpo'; 
	tabstat rounds --beside ov:GPU run.mp|--beside: there is no device 'ov:GPU'; 
	T
}

@test "what records may have, and none has here, is an empty cell" {
	local key
	while read -r key; do
		run recdump --tsv "$key" placed.mp
		[ "$status" -eq 0 ] || [[ $output == *"no text form" ]] || { echo "$key: $output"; return 1; }
	done < <(sed -n '/^## Records/,/^## The parameter/p' "$ROOT/docs/reference/stream.md" |
		sed -n 's/^| \(`[^|]*\) |.*/\1/p' | grep -oE '`[a-z_0-9]+`' | tr -d '`' | grep -v '^cost_')
}

@test "what is no model, or no stream: what it is, and who reads it" {
	mkdir -p folder several
	touch empty.xml empty.onnx several/a.xml
	echo garbage > made.onnx
	printf '\x08\x08\x12\x07pytorch\x1a\x01\x32' > net.onnx
	printf 'PK\x03\x04 archive' > net.pt
	echo '{"nodes": []}' > nodes.json
	wrong 1 <<-T
	ir2dag folder|cannot read 'folder': it is a directory; name the .xml in it
	$ROOT/pipelines/place folder|'folder' is a directory, not a model's file; there is none in it: .xml, .onnx, .pb, .tflite or .pdmodel
	$ROOT/pipelines/place several|'several' is a directory, not a model's file; did you mean 'several/a.xml'?
	$ROOT/pipelines/place smal_summator.xml|cannot read 'smal_summator.xml': no such file; did you mean 'small_summator.xml'?
	$ROOT/pipelines/calibrate -D cpu:0 nothere.xml|cannot read 'nothere.xml': no such file
	T
	wrong 3 <<-T
	ir2dag empty.xml|'empty.xml' is empty; a download or an export may have ended early
	$ROOT/pipelines/place empty.onnx|'empty.onnx' is empty; a download or an export may have ended early
	$ROOT/pipelines/place small_summator.bin|'small_summator.bin' holds weights; the model is 'small_summator.xml'
	ir2dag made.onnx|'made.onnx' is no OpenVINO IR, which is XML; ovc or pipelines/place make IR of other frameworks' models
	ir2dag net.onnx|'net.onnx' is no OpenVINO IR, which is XML; this is ONNX; ovc makes OpenVINO IR of it, which ir2dag reads
	ir2dag net.pt|this is a zip archive, as PyTorch saves; ovc or optimum-cli make OpenVINO IR of models
	irfill graph.mp|'graph.mp' is no OpenVINO IR, which is XML; this is a stream, as ir2dag and json2dag write; other programs read it
	ir2dag nodes.json|this is JSON; json2dag reads cost graphs, placebase expert:FILE placements
	json2dag if_body.xml|'if_body.xml': no JSON; this is XML as of OpenVINO IR; ir2dag reads it
	json2dag graph.mp|'graph.mp': no JSON; this is a stream, as ir2dag and json2dag write; other programs read it
	devsim if_body.xml|input 'if_body.xml' is no stream; this is XML as of OpenVINO IR; ir2dag reads it
	devsim < nodes.json|input '-' is no stream; this is JSON; json2dag reads cost graphs, placebase expert:FILE placements
	T
}

@test "memory without a device, shapes of another rank, few open files" {
	local bert=$ROOT/tests/models/open/tiny_bert.xml
	wrong 2 <<-T
	devrun probe -D cpu:0 -m 2GB graph.mp|memory '2GB' names no device; write NAME=BYTES, as in cpu:0=512M,cl:0.0=2G
	devrun probe -D cpu:0 -m cpu:0=2GB graph.mp|memory of 'cpu:0': '2GB' is not a number of bytes; write 512M or 2G, with K, M or G or nothing behind it
	devrun probe -D cpu:0 -m cpu:1=2G graph.mp|memory: there is no device 'cpu:1'; did you mean 'cpu:0'? here are cpu:0
	ir2dag --shape 1,8 $bert|a shape without a name, but the inputs are 'input_ids', 'attention_mask'; write NAME=DIMS;NAME=DIMS
	ir2dag --shape inputids=1,8 $bert|no input or variable 'inputids'; did you mean 'input_ids'? the inputs are 'input_ids', 'attention_mask'
	T
	wrong 3 <<-T
	ir2dag --shape input_ids=1,8,3 $bert|input 'input_ids' has 2 dims in the model, and 3 here: 
	T
	wrong 1 <<-'T'
	exec 3>&- 4>&- 5>&-; ulimit -n 4; exec placebase heft costs.mp -o x.mp|: Too many open files; ulimit -n 1024 allows more
	T
	run -1 bash -c "ulimit -n 12; $ROOT/pipelines/place small_summator.xml -D cpu:0 -o few"
	[[ $output == *"place: error: fewer than 32 files may be open here; allow more: ulimit -n 1024" ]]
	[ ! -e few ]
}

@test "standard output that is closed or full, and no weights" {
	run -1 bash -c "$ROOT/pipelines/place small_summator.xml -D cpu:0 -o closed >&-"
	[[ $output == *"place: error: standard output is closed; what is found is told there" ]]
	[ ! -e closed ]
	for script in place train calibrate experiment; do
		run -1 bash -c "$ROOT/pipelines/$script --help > /dev/full"
		[[ $output == *"$script: error: cannot write standard output"* ]]
	done
	run -3 placeout --segments parts -o /dev/null placed.mp
	[ "$output" = "placeout: error: 'saved_model' has no weights file; --weights names one, irfill makes one" ]
}

@test "hsdag-apply without python3, and deps.sh without root and sudo, say what to install" {
	mkdir -p nothing few
	ln -sf "$(command -v sh)" "$(command -v tr)" "$(command -v fold)" nothing
	run -1 env PATH="$PWD/nothing" "$ROOT/pipelines/apply" m.xml dir
	[[ $output == "apply: error: no python3 in the path; install Debian's python3, "* ]]
	run -1 env PATH="$PWD/nothing" sh "$ROOT/pipelines/deps.sh"
	[[ $output == "deps.sh: error: this is no Debian; "*"libxml2-dev"* ]]
	ln -sf "$(command -v sh)" "$(command -v grep)" "$(command -v fold)" few
	printf '#!/bin/sh\necho not-installed\n' > few/dpkg-query
	printf '#!/bin/sh\necho 1000\n' > few/id
	: > few/apt-get
	chmod +x few/*
	run -1 env PATH="$PWD/few" sh "$ROOT/pipelines/deps.sh"
	[[ $output == *"deps.sh: error: packages are missing, and here is neither root nor sudo to install them; ask for 'apt-get install "*" libxml2-dev "* ]]
}
