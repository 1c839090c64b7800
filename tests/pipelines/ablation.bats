#!/usr/bin/env bats
# make ablation: groupings beside learned parsing, with as many groups, from files that are made once.
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	export B
	B=$(realpath "${B:-build}")
}

ablation() {
	env -u MAKEFLAGS -u MAKELEVEL timeout 600 make -s -C "$ROOT" ablation B="$B" \
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
	# The curves are those of the same placements.
	for g in gpn metis; do
		[ "$(awk -F '\t' -v g=$g '$2 == g && $3 == 2 { n++; best = $7 } END { print n, best }' ../curves.tsv)" = \
			"16 $(cut -f 2 $g.2.tsv)" ]
	done
	grep -q '<svg' ../curves.svg
	grep -q '^# answer: beside gpn, over 2 pairs of 1 model: ' ../ablation.tsv
}

@test "a training that fails leaves no file" {
	run -2 ablation GROUPINGS="nonsense" SEEDS=1
	[[ "$output" == *"unknown method 'nonsense'"* ]]
	[ ! -e "$BATS_FILE_TMPDIR/a/googlenet/nonsense.1.tsv" ]
}

@test "pairs of the same model and seed, over one model and over all" {
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir -p a1 a2
	file() { printf '16\t%s\t%s\t1\t4\n' "$2" "$2" > "$1.tsv"; }
	file a1/gpn.1 0.1; file a1/gpn.2 0.2; file a2/gpn.1 0.3
	file a1/metis.1 0.2; file a1/metis.2 0.4; file a2/metis.1 0.15; file a2/metis.9 7
	"$B/bin/tabstat" pairs --base gpn --ways grouping a1/*.tsv a2/*.tsv > pairs.tsv
	# twice as long in two pairs, half as long in the third; seed 9 has no pair
	[ "$(awk -F '\t' '{ print $1, $2, $4, $11 }' pairs.tsv)" = "model grouping seeds longer_than_gpn_%
a1 gpn 2 0.00
a1 metis 2 100.00
a2 gpn 1 0.00
a2 metis 2 -50.00
all gpn 3 0.00
all metis 3 25.99" ]
}

@test "EMBED: options of gpnembed, for every training" {
	run -0 ablation EMBED="--rounds 1 --mix-rounds 0" GROUPINGS=gpn SEEDS=1 ABLATION_DIR="$BATS_FILE_TMPDIR/e1"
	run -0 ablation EMBED="--rounds 2 --mix-rounds 0" GROUPINGS=gpn SEEDS=1 ABLATION_DIR="$BATS_FILE_TMPDIR/e2"
	cat "$BATS_FILE_TMPDIR"/e[12]/googlenet/gpn.1.tsv
	awk '{ groups[NR] = $5 } END { exit !(groups[1] > 2 * groups[2]) }' "$BATS_FILE_TMPDIR"/e[12]/googlenet/gpn.1.tsv
	grep -q "EMBED='--rounds 2 --mix-rounds 0'" "$BATS_FILE_TMPDIR/e2/ablation.md"
}
