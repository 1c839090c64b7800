#!/usr/bin/env bats
# One style: .clang-format's.
bats_require_minimum_version 1.5.0
load ../support/common.bash

@test "the tree obeys .clang-format" {
	run "$ROOT/tests/tree/style"
	[ "$status" -ne 77 ] || skip "no clang-format 14"
	echo "$output"
	[ "$status" -eq 0 ]
}
