#!/usr/bin/env bats
# What fuzzing keeps, given once more to readers, programs and the executor: make fuzz-coverage begins with it, and a finding that
# is mended stays there.
# seconds: 20
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	env -u DEPENDENCIES -u MAKEFLAGS make -s --no-print-directory -C "$ROOT" B="$B" ${SAN:+OPT=-O1} SAN="${SAN:-}" DEPS=true "$B/tests/fuzz_cover" "$B/tests/fuzz_net"
}

@test "every input of the corpus ends in an answer or an error" {
	cd "$ROOT"
	targets=$({ "$B/tests/fuzz_cover" -list && "$B/tests/fuzz_net" -list; } | cut -d ' ' -f 2)
	for target in $targets; do
		files=(tests/fuzz/corpus/"$target"/*)
		program=fuzz_cover
		[ "$target" != executor ] || program=fuzz_net
		FUZZ=$target ASAN_OPTIONS=detect_leaks=0 run -0 "$B/tests/$program" "${files[@]}"
		[[ $output == *"$target: ${#files[@]} inputs"* ]]
	done
	for folder in tests/fuzz/corpus/*; do [[ $'\n'$targets$'\n' == *$'\n'${folder##*/}$'\n'* ]]; done
}

@test "what fuzz_cover reports as a finding ends it" {
	cd "$ROOT"
	FUZZ=nothing run -2 "$B/tests/fuzz_cover" README.md
	[[ $output == *"FUZZ names the target"* ]]
}

@test "every operator that a kernel runs is one of drawn networks" {
	cd "$ROOT"
	kinds=$(grep -oE '^	X\([A-Z0-9_]+' lib/kernel/kernel_list.h | cut -c 4-)
	[ "$(wc -w <<< "$kinds")" -gt 150 ]
	for kind in $kinds; do
		[ "$kind" = RESULT ] || grep -qE "[XY]\($kind[,)]" tests/fuzz/net_rows.h || { echo "$kind is in no line of net_rows.h"; false; }
	done
}
