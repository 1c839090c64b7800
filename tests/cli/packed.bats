#!/usr/bin/env bats
# Weights that are kept compressed: what reads them, where they are decompressed to, and what is refused.
# programs: ir2dag irfill devrun placeout
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export HSDAG_CACHE=$PWD/cache
	mkdir models
	irfill "$ROOT/tests/models/lstm_stateful.xml" --partial none -o weights
	bytes=$(stat -c %s weights)
	export bytes
	export XZ_OPT=-0     # as small as can be takes seconds
	xz -c weights > weights.xz
	gzip -1 -c weights > weights.gz
	zstd -qc weights > weights.zst
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cp "$ROOT/tests/models/lstm_stateful.xml" m.xml
}

all() { echo "$BATS_FILE_TMPDIR/weights"; }

# outputs FOLDER - of m.xml
outputs() {
	ir2dag m.xml | devrun probe -D cpu:0 | placebase single | devrun run --no-reference --runs 1 --outputs "$1" -o /dev/null
}

@test "packed: xz, gzip and zstd give the outputs of the plain file, and nothing comes beside the model" {
	cp "$(all)" m.bin
	outputs plain
	rm m.bin
	for s in xz gz zst; do
		cp "$(all).$s" "m.bin.$s"
		outputs "out.$s"
		diff -r plain "out.$s"
		rm "m.bin.$s"
	done
	[ "$(ls)" = "$(printf '%s\n' m.xml out.gz out.xz out.zst plain)" ]
}

@test "packed: decompressed once, and again when the file has changed" {
	cp "$(all).xz" m.bin.xz
	HSDAG_CACHE=$PWD/c ir2dag m.xml > first
	HSDAG_CACHE=$PWD/c ir2dag m.xml > second
	cmp first second
	[ "$(ls c | wc -l)" = 1 ]
	[ "$(stat -c %s c/*)" = "$bytes" ]
	head -c 1 "$(all)" | cat - "$(all)" | xz > m.bin.xz
	HSDAG_CACHE=$PWD/c ir2dag m.xml > third
	[ "$(ls c | wc -l)" = 2 ]
}

@test "packed: without a cache a file without a name serves" {
	cp "$(all)" m.bin
	outputs plain
	rm m.bin
	cp "$(all).zst" m.bin.zst
	HSDAG_CACHE=off outputs out
	diff -r plain out
}

@test "packed: what is truncated, damaged, too large or something else is refused in one line" {
	for s in xz gz zst; do
		head -c "$(($(stat -c %s "$(all).$s") - 9))" "$(all).$s" > "m.bin.$s"
		run -3 --separate-stderr ir2dag m.xml
		[[ $stderr == *"cannot decompress '"*"m.bin.$s'"* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
		echo nothing of the kind > "m.bin.$s"
		run -3 --separate-stderr ir2dag m.xml
		[[ $stderr == *"cannot decompress"* ]]
		: > "m.bin.$s"
		run -3 --separate-stderr ir2dag m.xml
		[[ $stderr == *"it is truncated"* ]]
		head -c 200000000 /dev/zero | case $s in xz) xz ;; gz) gzip -1 ;; zst) zstd -qc ;; esac > "m.bin.$s"
		run -3 --separate-stderr ir2dag m.xml
		[[ $stderr == *"holds more than the"*"bytes that the model can use"* ]]
		rm "m.bin.$s"
	done
	[ -z "$(find "$HSDAG_CACHE" -size +190M)" ]
}

@test "packed: one that is too short for the model is refused by the layer's name" {
	head -c 100 "$(all)" | gzip > m.bin.gz
	run -3 --separate-stderr ir2dag m.xml
	[[ $stderr == *"lies beyond the weights (100 bytes)"* ]]
}

@test "packed: irfill takes what there is beside the model, compressed or not" {
	head -c $((bytes / 2)) "$(all)" > part
	irfill m.xml --partial part -o want
	gzip -c part > m.partial.gz
	irfill m.xml -o got
	cmp want got
}

@test "packed: a cache that others may write to is not used" {
	cp "$(all).xz" m.bin.xz
	mkdir -m 777 open
	HSDAG_CACHE=$PWD/open run -1 --separate-stderr ir2dag m.xml
	[[ $stderr == *"others may write in"* ]]
	[ -z "$(ls open)" ]
}
