#!/usr/bin/env bats
# make ablation: groupings beside learned parsing, with as many groups, from files that are made once.
bats_require_minimum_version 1.5.0

setup_file() {
	export B
	B=$(realpath "${B:-build}")
}

ablation() {
	env -u MAKEFLAGS -u MAKELEVEL timeout 600 make -s -C "$BATS_TEST_DIRNAME/.." ablation B="$B" \
		ABLATION_DIR="$BATS_FILE_TMPDIR/a" ABLATION_PROGS= MODELS=googlenet SEEDS="1 2" EVALS=16 \
		GROUPINGS="gpn-untrained metis random" "$@"
}

@test "a row for each grouping; what is there is not made again" {
	run -0 ablation
	[ "$(grep -c JOB <<< "$output")" -eq 9 ]
	cd "$BATS_FILE_TMPDIR/a" || return 1
	[ "$(grep -v '^#' ablation.tsv | cut -f 2 | tr '\n' ' ')" = "grouping gpn gpn-untrained metis random " ]
	grep -v '^#' ablation.tsv > first
	rm googlenet/metis.2.tsv
	run -0 ablation
	[ "$(grep -c JOB <<< "$output")" -eq 1 ]
	grep -v '^#' ablation.tsv | cmp - first
}

@test "the figures: as many groups as gpn had, and the best of the placements that were run" {
	cd "$BATS_FILE_TMPDIR/a/googlenet" || return 1
	for s in 1 2; do
		awk -v OFS='\t' 'FNR == 1 && NR == 1 { n = int($5 + 0.5); next } { exit !(int($5 + 0.5) == n && $1 == 16 && $2 > 0 && $2 <= $3) }' \
			gpn.$s.tsv metis.$s.tsv
	done
	awk -F '\t' '!/^#/ && $2 == "metis" { seen = 1; lat = $5 }
		END { exit !(seen && lat > 0) }' ../ablation.tsv
	awk '{ x += log(1e3 * $2) / 2 } END { printf "%.4f\n", exp(x) }' metis.1.tsv metis.2.tsv > mean
	grep -q "^googlenet	metis	[^	]*	2	$(cat mean)	" ../ablation.tsv
}

@test "a training that fails leaves no file" {
	run -2 ablation GROUPINGS="nonsense" SEEDS=1
	[[ "$output" == *"unknown method 'nonsense'"* ]]
	[ ! -e "$BATS_FILE_TMPDIR/a/googlenet/nonsense.1.tsv" ]
}
