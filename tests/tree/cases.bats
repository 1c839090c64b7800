#!/usr/bin/env bats
# No switch of what computes invents a value for what it has no case for, and the check notices when one does.
bats_require_minimum_version 1.5.0
load ../support/common.bash

check() { python3 "$ROOT/tests/tree/cases.py" "$@"; }

# broken FILE SED - a copy of lib in the test's folder with one file changed
broken() {
	cp -r "$ROOT/lib" "$BATS_TEST_TMPDIR/lib"
	cd "$BATS_TEST_TMPDIR" || return 1
	sed -i "$2" "lib/$1"
	run -1 check lib
}

@test "every default reports, answers no, or says what the rest is" { run -0 check "$ROOT/lib"; }

@test "a default that invents a value is found" {
	broken kernel/ops/binary.c 's/default: MISSED(r->a->elem);/default: row_i64(r->kind, a, sa, b, sb, y, n);/'
	[[ $output == "kernel/ops/binary.c:"*": default: row_i64("* ]]
}

@test "an operator for which an OpenCL program has no case is found" {
	broken device/opencl/programs/cl_rare.cl '/case E_SINH:/d'
	[ "$output" = "cl_operators.h: SINH is E_SINH, for which f_rare has no case" ]
}
