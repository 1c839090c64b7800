#!/usr/bin/env bats
# Steps of several nodes: the same results whatever is fused, fewer steps when more is.
# programs: devrun
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	models mobilenet_v3_large rnnlm
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# same NAME A B: the outputs in directories A and B agree to 1e-6 of their scale, or 1e-5 after
# a whole convolutional network
same() {
	py - "$@" <<-'PY'
		import glob
		name, a, b, tolerance = sys.argv[1:]
		files = sorted(glob.glob(a + "/*.npy"))
		assert files
		for f in files:
		    x, y = np.load(f).astype(float), np.load(b + "/" + os.path.basename(f)).astype(float)
		    assert x.shape == y.shape
		    d = np.abs(x - y).max() / max(np.abs(y).max(), 1e-30)
		    assert d <= float(tolerance), (name, f, d)
	PY
}

# steps FILE - of its last run: steps, splits, copies, those within the host
steps() {
	py '
		r = runs(sys.argv[1])
		assert all(m["ok"] for m in r), r
		print(*(r[-1][k] for k in ("steps", "splits", "copies", "in_host")))
	' "$1"
}

@test "fused, fused within sets or not at all: the same results, ever fewer steps" {
	for m in mobilenet_v3_large rnnlm; do
		placebase single -D cpu:0 "$m.mp" > one.mp
		for mode in none sets all; do
			devrun --runs 1 --no-reference --fuse "$mode" --outputs "$m.$mode" -o "$mode.mp" one.mp
		done
		same "$m" "$m.sets" "$m.none" 1e-5
		same "$m" "$m.all" "$m.none" 1e-5
		none=$(steps none.mp) sets=$(steps sets.mp) all=$(steps all.mp)
		[ "${none%% *}" -gt "${sets%% *}" ] && [ "${sets%% *}" -gt "${all%% *}" ] ||
			{ echo "$m: $none, $sets, $all"; return 1; }
	done
}

@test "random placements on two cores: the results of one core" {
	two_cores
	for m in mobilenet_v3_large rnnlm; do
		placebase single -D cpu:0 "$m.mp" |
			devrun --runs 1 --no-reference --outputs "$m.one" -o one.mp
		for s in 1 2 3; do
			placebase random --draw uniform --seed $s -D cpu:0,cpu:1 "$m.mp" |
				devrun --runs 2 --no-reference --outputs "$m.$s" -o two.mp
			same "$m, seed $s" "$m.$s" "$m.one" 1e-5
			read -r _ splits copies in_host <<< "$(steps two.mp)"
			[ "$copies" -gt 10 ] && [ "$in_host" -eq "$copies" ] && [ "$splits" -eq 0 ] ||
				{ echo "$m: $copies copies, $in_host in the host, $splits splits"; return 1; }
		done
	done
}

@test "--fuse cuts: sets are steps where several devices are in use, and all of one device is as long as it can be" {
	two_cores
	placebase single -D cpu:0,cpu:1 rnnlm.mp -o single.mp
	placebase random -n 1 -D cpu:0,cpu:1 rnnlm.mp -o two.mp
	for p in single two; do
		for mode in sets all cuts; do
			devrun --runs 1 --no-reference --fuse "$mode" $p.mp | recdump -k run --tsv steps | tail -n 1 > "$p.$mode"
		done
	done
	diff single.cuts single.all
	diff two.cuts two.sets
	[ "$(cat single.all)" -lt "$(cat single.sets)" ]
}

@test "--fuse takes none, sets, cuts or all" {
	run -2 --separate-stderr devrun --fuse some -o no.mp rnnlm.mp
	[[ $stderr == *"fuse"* ]]
}
