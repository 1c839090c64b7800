#!/usr/bin/env bats
# make learning, make variance: the experiment runs to its tables and curves, and what is done is not done again.
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	# One of each kind: a learner, one at rate 0, one with another encoding, networks, searches.
	export FEW="default gpn-lr0 paper rnn hierarchical random climb genetic"
}

learning() {
	env -u MAKEFLAGS -u MAKELEVEL timeout 600 make -s -C "$ROOT" "${TARGET:-learning}" B="$B" \
		LEARN_DIR="$BATS_FILE_TMPDIR/l" LEARN_PROGS= MODELS="googlenet" SEEDS="1 2" EVALS=40 METHODS="$FEW" "$@"
}

@test "a row for each method, from files that are made once" {
	run -0 learning
	[ "$(grep -c "JOB .*\.tsv" <<< "$output")" -eq 16 ]
	[ "$(grep -v '^#' "$BATS_FILE_TMPDIR/l/learning.tsv" | cut -f 2 | tr '\n' ' ')" = "method $FEW " ]
	[ "$(find "$BATS_FILE_TMPDIR/l" -name '*.tmp' -o -name '*.fifo')" = "" ]
	grep -v '^#' "$BATS_FILE_TMPDIR/l/learning.tsv" > "$BATS_FILE_TMPDIR/first.tsv"
	run -0 learning
	[[ "$output" != *JOB* ]]
	rm "$BATS_FILE_TMPDIR/l/googlenet/default.2.tsv"
	run -0 learning
	[ "$(grep -c JOB <<< "$output")" -eq 1 ]
	grep -v '^#' "$BATS_FILE_TMPDIR/l/learning.tsv" | cmp - "$BATS_FILE_TMPDIR/first.tsv"
	grep -q '^# answer: beside default, over 2 pairs of 1 model: surely longer: .*random' "$BATS_FILE_TMPDIR/l/learning.tsv"
}

@test "a page of the sweep: the methods of the table" {
	[ "$(grep -o '<tbody>.*' -z "$BATS_FILE_TMPDIR/l/learning.html" | tr -d '\0' | grep -c 'rowheader')" -eq $(($(wc -w <<< "$FEW") + 1)) ]
	for m in $FEW; do grep -q "scope=\"row\">$m</th>" "$BATS_FILE_TMPDIR/l/learning.html"; done
	grep -q '1 model, 8 methods, 2 seeds' "$BATS_FILE_TMPDIR/l/learning.html"
	grep -q '<code>make learning ' "$BATS_FILE_TMPDIR/l/learning.html"
}

@test "every method of learning.mk can be made" {
	run -0 env -u MAKEFLAGS -u MAKELEVEL make -n -C "$ROOT" learning B="$B" LEARN_DIR="$BATS_FILE_TMPDIR/n" LEARN_PROGS= \
		MODELS=googlenet SEEDS=1 EVALS=40
	output=$(tr -s ' \\\n\t' ' ' <<< "$output")
	nets=$(gpnembed --net list | awk 'NR > 1 { print $1 }')
	for net in $nets; do
		[ "$net" = mlp ] || [[ "$output" == *"/$net.1.tsv "* ]]
	done
	[[ "$output" == *"train --recipe hierarchical --net hierarchical --seed 1 "*" --keep --steps 5 --episodes 4 --lr 0 "* ]]
}

@test "curves: every placement of the learners, searches with fewer evaluations, one page" {
	cd "$BATS_FILE_TMPDIR/l" || return 1
	py '
		rows = list(csv.DictReader(open("curves.tsv"), delimiter="\t"))
		by = {}
		for r in rows:
			by.setdefault((r["method"], r["seed"]), []).append(r)
		shown = [m for m in os.environ["FEW"].split() if not m.endswith("-lr0")]
		assert sorted(by) == sorted((m, s) for m in shown for s in "12"), sorted(by)
		for (m, s), c in by.items():
			n = [int(r["evaluation"]) for r in c]
			assert n == ([10, 20, 40] if m in ("climb", "genetic") else list(range(1, 41))), (m, n)
			seconds = [float(r["seconds"]) for r in c]
			assert min(seconds) > 0 and max(seconds) < 100
			found = open(f"googlenet/{m}.{s}.tsv").read().split("\t")
			assert found[0] == "40" and abs(float(c[-1]["best"]) / float(found[1]) - 1) < 1e-8, (m, found)
			if len(n) == 40:
				least = np.minimum.accumulate([float(r["latency"] or "inf") for r in c])
				assert (least == [float(r["best"] or "inf") for r in c]).all() and seconds == sorted(seconds)
	'
	grep -q '<svg' curves.svg
	for m in default random genetic; do grep -q ">$m</text>" curves.svg; done
}

@test "make variance: how far seeds are from each other, of the same runs" {
	TARGET=variance run -0 learning
	[[ "$output" != *JOB* ]]
	cd "$BATS_FILE_TMPDIR/l" || return 1
	py '
		rows = list(csv.DictReader((l for l in open("variance.tsv") if l[0] != "#"), delimiter="\t"))
		r = next(r for r in rows if r["method"] == "random" and r["evaluations"] == "40")
		x = np.log([float(open(f"googlenet/random.{s}.tsv").read().split()[1]) for s in (1, 2)])
		assert abs(float(r["spread_%"]) - 100 * np.expm1(x.std(ddof=1))) < 0.01 and r["seeds"] == "2", r
	'
	grep -q '^# answer: over 2 searches of 1 model, .*; random ' variance.tsv
}

@test "the figures are those of the run records" {
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
	run -2 learning SEEDS=1 LEARN_SEARCHES="climb nonsense" METHODS=nonsense LEARN_DIR="$BATS_FILE_TMPDIR/f"
	[ ! -e "$BATS_FILE_TMPDIR/f/googlenet/nonsense.1.tsv" ]
}
