#!/usr/bin/env bats
# Steps of several nodes: the same results whatever is fused, fewer steps when more is.
bats_require_minimum_version 1.5.0

setup_file() {
	export HSDAG_PYTHON B OPENBLAS_NUM_THREADS=1 CORES
	HSDAG_PYTHON=$(realpath -s "${HSDAG_PYTHON:-${B:-build}/venv/bin/python}")
	B=$(realpath "${B:-build}")
	PATH=$B/bin:$PATH
	CORES=$(nproc)
	sh "$BATS_TEST_DIRNAME/models.sh" mobilenet_v3_large rnnlm "$BATS_FILE_TMPDIR"
	cd "$BATS_FILE_TMPDIR" || return 1
	for m in mobilenet_v3_large rnnlm; do
		ir2dag "$m.xml" > "$m.mp"
	done
}

setup() {
	PATH=$B/bin:$PATH
	cd "$BATS_FILE_TMPDIR" || return 1
}

# same NAME A B: the outputs in directories A and B agree to 1e-6 of their scale, or 1e-5 after
# a whole convolutional network
same() {
	"$HSDAG_PYTHON" - "$@" <<-'PY'
		import glob, os, sys, numpy as np
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

steps() {
	"$HSDAG_PYTHON" -c 'import msgpack, sys
for k, m in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30):
    if k == "run":
        assert m["ok"], m
        print(m["steps"], m["splits"], m["copies"], m["in_host"])' "$1" | tail -n 1
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
	[ "$CORES" -ge 2 ] || skip "needs two cores"
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

@test "--fuse takes none, sets or all" {
	run -2 --separate-stderr devrun --fuse some -o no.mp rnnlm.mp
	[[ $stderr == *"fuse"* ]]
}
