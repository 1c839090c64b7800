#!/usr/bin/env bats
# Stages that were forgotten: a program says what its input lacks, and who makes it.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/if_body.xml" -o graph.mp
	dagfeat graph.mp -o feat.mp
	devsim --probe feat.mp -o probed.mp
	gpnembed probed.mp -o embedded.mp
	placebase random -n 3 probed.mp -o placed.mp
	devsim placed.mp -o ran.mp
	reinforce ran.mp -o best.mp
	cp "$ROOT/tests/models/if_body.xml" model.xml
	printf '\xef\xbb\xbf  <?xml version="1.0"?>\n<net/>' > bom.xml
	echo '{"nodes": []}' > nodes.json
	printf '\x08\x08\x12\x07pytorch\x1a\x01\x32' > model.onnx
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "what a stream lacks is an error that names the stage" {
	local places='the stream has no placements; placebase or placepolicy makes them'
	local best='the stream has no placements but the best of a search; placebase of:FILE makes placements of them'
	local runs='the stream has no runs; devrun or devsim makes them'
	local both='the stream has no placements and no runs; placebase or placepolicy makes placements, and devrun or devsim runs them'
	local parts='the stream has no groups with embeddings; gpnembed makes them'
	while IFS='|' read -r file command said; do
		[[ $said == *' '* ]] || said=${!said}
		# shellcheck disable=SC2086
		run -3 --separate-stderr $command $file.mp -o out.mp
		[[ $stderr == *"error: "*"$said" ]] || { echo "$command $file: $stderr"; return 1; }
		[ ! -e out.mp ]
	done <<-'T'
	graph|devsim|places
	embedded|devsim|places
	best|devsim|best
	probed|devsim --machine wild|places
	probed|devsim --machine wild --paired|places
	graph|devrun|places
	graph|devrun --rounds 1|places
	probed|topk|places
	best|topk -k 1|best
	graph|placepolicy -D cpu:0,cpu:1|parts
	probed|placepolicy|parts
	placed|placepolicy|parts
	best|placepolicy|parts
	graph|gpnembed|no feat in the stream; put dagfeat in front
	graph|reinforce|both
	embedded|reinforce|both
	placed|reinforce|runs
	placed|tabstat curve --to curve.tsv|runs
	graph|tabstat curve --to curve.tsv|both
	T
	while IFS='|' read -r file command said; do
		[[ $said == *' '* ]] || said=${!said}
		# shellcheck disable=SC2086
		run -3 $command $file.mp
		[[ $output == *"error: "*"$said" ]] || { echo "$command $file: $output"; return 1; }
	done <<-'T'
	placed|tabstat found|runs
	best|tabstat found|both
	placed|runstat runs|runs
	T
}

@test "a stage in the middle is missed by the next one, alone" {
	run -3 --separate-stderr bash -o pipefail -c 'gpnembed probed.mp | devsim | topk | reinforce -o out.mp'
	[ "$stderr" = 'devsim: error: the stream has no placements; placebase or placepolicy makes them' ]
	mkfifo loop
	run -3 --separate-stderr timeout 60 bash -o pipefail -c \
		'gpnembed --params-from loop probed.mp | placepolicy | reinforce --params-to loop --episodes 2 -o out.mp'
	[[ $stderr == *'put devrun or devsim in front of reinforce'* ]]
	run -3 --separate-stderr timeout 60 bash -o pipefail -c \
		'gpnembed --params-from loop probed.mp | devsim | reinforce --params-to loop --episodes 2 -o out.mp'
	[[ $stderr == *"no params of block 'policy' in the stream; placepolicy sends them"* ]]
}

@test "nothing to do is no error where a loop has ended, nor where all that came was refused" {
	py '
		def chained(name, *programs):
			r = [["hdr", {"version": 1, "chain": [{"program": p, "version": "", "args": [], "seed": 0, "threads": 1}
			                                      for p in programs]}]]
			r += [list(x) for x in read("probed.mp") if x[0] not in ("hdr", "end")]
			write(name, r)
		chained("ended.mp", "ir2dag", "gpnembed")
		chained("placed0.mp", "ir2dag", "gpnembed", "placepolicy")
		chained("after.mp", "gpnembed", "placepolicy", "reinforce")
	'
	placepolicy ended.mp | recdump --check
	devsim placed0.mp | topk | tabstat curve --to ended.tsv | recdump --check
	run -3 --separate-stderr placepolicy after.mp
	run -3 --separate-stderr devsim after.mp
	run -3 --separate-stderr tabstat curve --to ended.tsv after.mp
	placebase single probed.mp | devsim | topk -k 1 | recdump --check
}

@test "what is no stream is said to be what it is" {
	local xml="is no stream; this is XML as of OpenVINO IR; ir2dag reads it"
	local json="is no stream; this is JSON; json2dag reads cost graphs, placebase expert:FILE placements"
	local onnx="is no stream; this is ONNX; ovc makes OpenVINO IR of it, which ir2dag reads"
	while IFS='|' read -r file said; do
		said=${!said}
		for program in dagfeat recdump placeout topk 'tabstat found' 'runstat runs' 'placebase single'; do
			# shellcheck disable=SC2086
			run -3 --separate-stderr $program "$file"
			[[ $stderr == *"input '$file' $said" ]] || { echo "$program $file: $stderr"; return 1; }
		done
		run -3 --separate-stderr dagfeat < "$file"
		[ "$stderr" = "dagfeat: error: input '-' $said" ]
	done <<-'T'
	model.xml|xml
	bom.xml|xml
	nodes.json|json
	model.onnx|onnx
	T
}
