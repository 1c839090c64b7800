#!/usr/bin/env bats
# One style: .clang-format's; and conditions of the suites that can fail.
bats_require_minimum_version 1.5.0
load ../support/common.bash

@test "the tree obeys .clang-format" {
	run "$ROOT/tests/tree/style"
	[ "$status" -ne 77 ] || skip "no clang-format 14"
	echo "$output"
	[ "$status" -eq 0 ]
}

conditions() { python3 "$ROOT/tests/tree/conditions.py" "$@"; }

# condition LINE... - what the check says of a suite of these lines in a test
condition() {
	mkdir -p "$BATS_TEST_TMPDIR/suite"
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' '@test "it" {' "$@" '}' > suite/it.bats
	run conditions suite
}

@test "conditions of the suites can fail" {
	cd "$ROOT" || return 1
	run -0 conditions tests
}

@test "conditions that cannot fail are found" {
	local left="what is left of && does not fail a test; one condition a line does"
	condition '	! grep -q word file'
	[ "$output" = "suite/it.bats:2: a command behind ! does not fail a test; run ! or run -1 does" ]
	[ "$status" -eq 1 ]
	condition 'true' '	[ ! -e one ] && jq -e .two three' 'true'
	[ "$output" = "suite/it.bats:3: $left" ]
	condition '	[[ $output =~ ([0-9]+)" && "* ]] && [ "${BASH_REMATCH[1]}" -lt 300 ]' 'true'
	[ "$output" = "suite/it.bats:2: $left" ]
	condition '	cmp one two && grep -q "it || them" file' 'true'
	[ "$output" = "suite/it.bats:2: $left" ]
	condition '	LC_ALL=C grep one two && false' 'true'
	[ "$output" = "suite/it.bats:2: $left" ]
}

@test "conditions that can fail are not" {
	condition '	! ldd program | grep -q asan || skip "no"' 'true'
	[ "$status" -eq 0 ]
	condition '	[[ $one == "a" && $two == b ]]' 'true'
	[ "$status" -eq 0 ]
	condition '	[ "$one" = a ] && [ "$two" = b ] || return 1' 'true'
	[ "$status" -eq 0 ]
	condition '	[ -e one ] && [ -e two ]'
	[ "$status" -eq 0 ]
	condition '	if [ -e one ] && [ -e two ]; then true; fi' '	run ! grep -q one two' 'true'
	[ "$status" -eq 0 ]
}
