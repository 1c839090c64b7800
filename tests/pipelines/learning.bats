#!/usr/bin/env bats
# make learning: the experiment runs to its table, and what is done is not done again.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	export B
	B=$(realpath "${B:-build}")
}

learning() {
	env -u MAKEFLAGS -u MAKELEVEL timeout 600 make -s -C "$ROOT" learning B="$B" \
		LEARN_DIR="$BATS_FILE_TMPDIR/l" LEARN_PROGS= MODELS="googlenet" SEEDS="1 2" EVALS=40 "$@"
}

@test "a row for each method, from files that are made once" {
	run -0 learning
	[ "$(grep -c "JOB .*\.tsv" <<< "$output")" -eq 22 ]
	[ "$(grep -v '^#' "$BATS_FILE_TMPDIR/l/learning.tsv" | cut -f 2 | tr '\n' ' ')" = "method default default-lr0 paper paper-lr0 rnn rnn-lr0 rnn-aligned hierarchical hierarchical-lr0 random climb " ]
	[ "$(find "$BATS_FILE_TMPDIR/l" -name '*.tmp' -o -name '*.fifo')" = "" ]
	grep -v '^#' "$BATS_FILE_TMPDIR/l/learning.tsv" > "$BATS_FILE_TMPDIR/first.tsv"
	run -0 learning
	[[ "$output" != *JOB* ]]
	rm "$BATS_FILE_TMPDIR/l/googlenet/default.2.tsv"
	run -0 learning
	[ "$(grep -c JOB <<< "$output")" -eq 1 ]
	grep -v '^#' "$BATS_FILE_TMPDIR/l/learning.tsv" | cmp - "$BATS_FILE_TMPDIR/first.tsv"
}

@test "the figures are those of the run records" {
	PATH=$B/bin:$PATH
	cd "$BATS_FILE_TMPDIR" || return 1
	read -r n best mean ref < l/googlenet/random.1.tsv
	placebase random --draw biased -n 40 --seed 1 l/googlenet/default.mp | devsim > r.mp
	[ "$n" -eq 40 ]
	recdump -k run --tsv lat_s,ref_s r.mp |
		awk -v b="$best" -v m="$mean" -v r="$ref" '
			function near(x, y) { return x - y < 1e-8 * y && y - x < 1e-8 * y }
			NR == 1 || $1 < least { least = $1 }
			NR > 32 { sum += $1 }
			END { exit !(near(least, b) && near(sum / 8, m) && near($2, r)) }'
}

@test "a method that fails leaves no result" {
	run -2 learning SEEDS=1 LEARN_random="random -n 0" LEARN_DIR="$BATS_FILE_TMPDIR/f"
	[ ! -e "$BATS_FILE_TMPDIR/f/googlenet/random.1.tsv" ]
}
