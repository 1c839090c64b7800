#!/usr/bin/env bats
# From mistake to cure: names that no closed set has, what is no model, options that lack a part.  Each is an error that says what is
# wrong, where, and what to do.
# programs: devrun placebase daggroup dagfeat ir2dag devsim placeout gpnembed recdump tabstat runstat
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

@test "a name that a closed set does not have: the one that may be meant is told" {
	wrong 2 <<-'T'
	placebase --budgt 3 heft costs.mp|unknown option '--budgt'; did you mean '--budget'? see placebase --help
	placebase --budgt=3 heft costs.mp|unknown option '--budgt'; did you mean '--budget'? see placebase --help
	placebase --VERBOSE heft costs.mp|unknown option '--VERBOSE'; did you mean '--verbose'? see placebase --help
	placebase --apart=yes heft costs.mp|option '--apart' takes no argument; see placebase --help
	placebase hetf costs.mp|unknown method 'hetf'; did you mean 'heft'? --list has them
	placebase HEFT costs.mp|unknown method 'HEFT'; did you mean 'heft'? --list has them
	placebase sinlge:cpu costs.mp|unknown method 'sinlge:cpu'; did you mean 'single'? --list has them
	placebase climb --objective latncy costs.mp|objective 'latncy': 'latncy' is not latency, throughput, energy or memory; did you mean 'latency'?
	placebase climb --spec desktp-cpu graph.mp|'desktp-cpu' is neither a preset nor a readable file (No such file or directory); did you mean 'desktop-cpu'? presets are 
	placebase single:cpo costs.mp|there is no device 'cpo'; 
	placebase random --draw unifrom costs.mp|--draw: unknown choice 'unifrom'; did you mean 'uniform'? one of mixed, biased, uniform
	daggroup metsi graph.mp|unknown method 'metsi'; did you mean 'metis'? --list has them
	dagfeat --features opp graph.mp|unknown feature 'opp'; one of 
	dagfeat --features all,-degre graph.mp|unknown feature 'degre'; 
	placeout --format raport placed.mp|--format: unknown choice 'raport'; did you mean 'report'? one of 
	placeout --map cpu0=CPU placed.mp|--map: there is no device 'cpu0'; did you mean 'cpu:0'? here are cpu:0, cpu:1
	devsim --machine wld run.mp|'wld' is neither a machine nor a file that can be read; did you mean 'wild'? devsim --help lists machines
	devsim --machine near,dritf=1 run.mp|a machine has no key 'dritf'; did you mean 'drift'? devsim --help lists them
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
