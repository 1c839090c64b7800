#!/usr/bin/env bats
# make quality: a row for each problem and method, made once; HEFT's own ratio is 1.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

quality() {
	env -u MAKEFLAGS -u MAKELEVEL timeout 120 make -s -C "$ROOT" quality B="$B" \
		QUALITY_PROGS= QUALITY_DIR="$BATS_FILE_TMPDIR/q" FAMILIES="fft gauss" SIZES=8 DEVICES=2 SEEDS="1 2" BUDGET=0 \
		METHODS=cpop,exact HSDAG_PYTHON="$HSDAG_PYTHON" "$@"
}

@test "rows of two families, and the table of their means; what is there is not made again" {
	run -0 quality
	[ "$(grep -c JOB <<< "$output")" -eq 2 ]
	cd "$BATS_FILE_TMPDIR/q" || return 1
	[ -s fft.tsv.job ]
	[ "$(cut -f 1,2 fft.tsv | tail -n +2 | paste -sd '|')" = "$(printf 'fft 8 2 %s\t%s|' \
		1 heft 1 cpop 1 exact 2 heft 2 cpop 2 exact | sed 's/|$//')" ]
	grep -q '^| heft | 1.000 | 1.00 | 1.00 |' quality.md
	grep -q 'over 4 problems' quality.md
	# exact is never above HEFT, and its bound never above its value
	awk -F '\t' '$2 == "exact" { n++; bad += $3 > $4 || $5 > $3 * (1 + 1e-9) } END { exit !(n == 4 && !bad) }' \
		<(cat fft.tsv gauss.tsv)
	run -0 quality
	[[ "$output" != *JOB* ]]
}
