#!/usr/bin/env bats
# cpu devices whose products are in bf16 or int8: what they compute, what their names may be, what is said where
# oneDNN is missing.
# programs: devrun
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cd "$BATS_FILE_TMPDIR" || return 1
	py - > names <<< 'import bf16_nets; print(*bf16_nets.NAMES)'
	mkdir codes
	(cd codes && py - > ../grids <<< 'import int8_nets; print(*int8_nets.NAMES); print(*int8_nets.ROUNDED)') || return 1
	sed -n 2p grids > rounded && sed -i 2d grids
	local n
	for n in $(sed 's|[^ ]*|codes/&|g' grids) $(cat names); do
		ir2dag "$n.xml" -o "$n.mp" || return 1
	done
	models googlenet
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

needs_onednn() {
	devrun probe -D cpu:0/precision=bf16 -o probed.mp c1x1.mp 2> said || {
		grep -q 'without oneDNN' said
		skip "built without oneDNN"
	}
}

# outputs DEVICE DIRECTORY MODEL
outputs() {
	mkdir -p "$2/codes"
	placebase single -D "$1" "$3.mp" | devrun --no-reference --runs 1 --outputs "$2/$3" -o "$2.mp" -
}

@test "products in bf16 are near f32, and no nearer than bf16 is; the same for one thread and two" {
	needs_onednn
	two_cores
	export HSDAG_BF16_PRODUCTS=1
	local n
	for n in $(cat names); do
		outputs cpu:0 f32 "$n"
		outputs cpu:0/precision=bf16 one "$n"
		outputs cpu/precision=bf16 two "$n"
	done
	py - <<-'PY'
		import glob
		exact = {"none", "empty", "hollow", "no_depth",              # no products
		         "depth_volume", "depth_twice", "attend_few"}        # faster in f32
		if "avx512bw" not in open("/proc/cpuinfo").read():
		    exact = None                                             # oneDNN has no bf16 there
		elif "avx512_bf16" not in open("/proc/cpuinfo").read():
		    exact |= {"attend", "attend_long", "stacked", "codes8", "codes8_zero", "codes4"} # products of ours, not of oneDNN
		several = {"joined", "sliced", "squeezed", "squeezed_two", "clamped", "hswish", "leaky", "pooled", "pooled_apart", "pooled_volume", "meant_volume",
		           "pooled_beside", "enlarged", "enlarged_apart", "enlarged_volume",
		           "tokens", "tokens_too", "resized", "strip", "halves", "stacked", "weighed"} # layers, each of which rounds
		for n in open("names").read().split():
		    a, b, c = (np.concatenate([np.load(f).astype(np.float64).ravel() for f in sorted(glob.glob(f"{d}/{n}/*.npy"))])
		               for d in ("f32", "one", "two"))
		    assert a.shape == b.shape == c.shape, n
		    assert (b == c).all(), n
		    if a.size == 0:
		        continue
		    off = float(np.linalg.norm(a - b) / (np.linalg.norm(a) or 1))
		    # normed: OpenVINO's bf16 is 5e-3 to 9e-3 off
		    assert off < (12e-3 if n.startswith("normed") else 8e-3 if n in several or n.startswith("overlapping") else 4e-3), (n, off)
		    if exact is not None and n not in ("found", "weighed"):        # by tiles alone
		        assert (off == 0) == (n in exact), (n, off)
	PY
}

@test "f32 with channels behind pixels: as in planes but for rounding; one thread, two, and two devices in turn" {
	needs_onednn
	two_cores
	local n
	mkdir -p pixels3
	for n in $(cat names) googlenet; do
		HSDAG_PIXELS=0 outputs cpu:0 planes "$n"
		HSDAG_PIXELS=1 outputs cpu:0 pixels "$n"
		HSDAG_PIXELS=1 outputs cpu pixels2 "$n"
		placebase random -D cpu:0,cpu:1 --seed 5 "$n.mp" |
			HSDAG_PIXELS=1 devrun --no-reference --runs 2 --outputs "pixels3/$n" -o turns.mp -
	done
	py - <<-'PY'
		import glob
		differ = 0
		for n in open("names").read().split() + ["googlenet"]:
		    a, *others = (np.concatenate([np.load(f).astype(np.float64).ravel() for f in sorted(glob.glob(f"{d}/{n}/*.npy"))])
		                  for d in ("planes", "pixels", "pixels2", "pixels3"))
		    for x in others:
		        assert x.shape == a.shape and np.linalg.norm(a - x) <= 3e-6 * np.linalg.norm(a), n
		    assert (others[0] == others[1]).all(), n
		    differ += (a != others[0]).any()
		assert differ > 10, differ
	PY
}

@test "what lies on grids of FakeQuantize is computed in integers: sums are exact, results those of f32" {
	needs_onednn
	two_cores
	local n
	for n in $(cat grids); do
		outputs cpu:0 f32 "codes/$n"
		outputs cpu:0/precision=int8 one "codes/$n"
		outputs cpu/precision=int8 two "codes/$n"
	done
	py - <<-'PY'
		as_f32 = {"nearly_opposite", "deep", "real", "none", "off_grid", "one_row", "attended_few"} # sums beyond 32 bits; weights on no grid; a row takes as long as reading them
		for n in open("grids").read().split():
		    a, b, c = (np.load(f"{d}/codes/{n}/0.npy").astype(np.float64) for d in ("f32", "one", "two"))
		    assert a.shape == b.shape and (b == c).all(), n
		    if a.size == 0:
		        continue
		    off = float(np.linalg.norm(a - b) / np.linalg.norm(a))
		    if "vnni" in open("/proc/cpuinfo").read():
		        if n in open("rounded").read().split():          # single values are the next code
		            coarse = "avx512bw" in open("/proc/cpuinfo").read()
		            assert coarse or off < 1e-6, (n, off)
		            assert off > 1e-6 or not coarse or n not in ("swished", "scaled"), (n, off)
		            assert off < 1e-2 and abs(a - b).max() < 0.02 * abs(a).max(), (n, off)
		        else:
		            assert off < 1e-6 and (off == 0) == (n in as_f32), (n, off)
		    assert off < 0.1, (n, off)                           # without VNNI two products together have 16 bits
	PY
}

@test "what meets weights in few bits is quantised as it comes; the same for one thread and two" {
	needs_onednn
	two_cores
	local n
	for n in codes8 codes8_zero codes4; do
		outputs cpu:0 f32 "$n"
		outputs cpu:0/precision=int8 one "$n"
		outputs cpu/precision=int8 two "$n"
	done
	py - <<-'PY'
		for n in "codes8", "codes8_zero", "codes4":
		    a, b, c = (np.load(f"{d}/{n}/0.npy").astype(np.float64) for d in ("f32", "one", "two"))
		    off = float(np.linalg.norm(a - b) / np.linalg.norm(a))
		    assert (b == c).all() and off < 1e-2, (n, off)
		    if "avx512_vnni" in open("/proc/cpuinfo").read():
		        assert off > 1e-4, (n, off)
	PY
}

@test "codes stay on their device: two devices in turn, with f32 and int8, give the same" {
	needs_onednn
	two_cores
	local n seed devices
	mkdir -p turns
	for n in residual pooled chain rows swished scaled; do
		outputs cpu:0 f32 "codes/$n"
		outputs cpu:0/precision=int8 one "codes/$n"
		for seed in 1 2 3; do
			for devices in cpu:0/precision=int8,cpu:1/precision=int8 cpu:0/precision=int8,cpu:1; do
				placebase random -D "$devices" --seed "$seed" "codes/$n.mp" |
					devrun --no-reference --runs 3 --outputs "turns/$n.$seed.$(grep -o int8 <<< "$devices" | grep -c .)" -o turns.mp -
			done
		done
	done
	py - <<-'PY'
		import glob
		rounded = open("rounded").read().split()
		vnni = "vnni" in open("/proc/cpuinfo").read()
		for f in glob.glob("turns/*/0.npy"):
		    n, seed, codes = f.split("/")[1].split(".")
		    b = np.load(f)
		    for kind in ("one", "f32") if codes == "2" else ("f32",):
		        a = np.load(f"{kind}/codes/{n}/0.npy")
		        near = 0.2 if not vnni else 0.02 if kind == "f32" and n in rounded else 1e-5
		        assert abs(a - b).max() <= near * abs(a).max(), (f, kind)
	PY
}

@test "weights of thin products are kept in bf16 on every processor" {
	needs_onednn
	outputs cpu:0 f32 few
	outputs cpu:0/precision=bf16 one few
	py 'a, b = (np.load(f"{d}/few/0.npy") for d in ("f32", "one")); assert 0 < abs(a - b).max() < 1e-2 * abs(a).max()'
}

@test "the devs record says what the processor does, and --list names no precision" {
	needs_onednn
	run -0 recdump -k devs probed.mp
	[[ $output == *"cpu:0/precision=bf16"* ]]
	run -0 devrun --list
	[[ $output != *precision* ]]
}

@test "devices of both precisions in one placement; cpu:0 and its bf16 take turns" {
	needs_onednn
	two_cores
	export HSDAG_BF16_PRODUCTS=1
	placebase random -D cpu:0,cpu:1/precision=bf16 --seed 3 googlenet.mp |
		devrun --no-reference --runs 2 --outputs mixed -o mixed.mp -
	outputs cpu:0 f32 googlenet
	py '
		assert runs("mixed.mp")[0]["ok"]
		a, b = (np.load(d + "/0.npy").astype(np.float64) for d in ("f32/googlenet", "mixed"))
		off = np.linalg.norm(a - b) / np.linalg.norm(a)
		assert 1e-6 < off < 2e-2, off
	'
	devrun probe -D cpu:0,cpu:0/precision=bf16 -o turns.mp c1x1.mp
	py 'd = of("turns.mp", "devs")[0]; assert d["turns"], d'
	run -0 devrun probe -D cpu:0,cpu:1 --precision bf16 -o both.mp c1x1.mp
	run -0 recdump -k devs both.mp
	[[ $output == *"cpu:0/precision=bf16"*"cpu:1/precision=bf16"* ]]
}

@test "options that are wrong are refused before anything runs" {
	local name
	for name in cpu/ cpu:0/ cpu:0/precision cpu:0/precision= cpu:0/precision=f16 cpu:0/precision=bf16x \
		cpu:0/precision=bf16/precision=f32 cpu/threads=2 cpu:/precision=bf16 cpu/:0 \
		cpu:0/precision=i8; do
		run -2 --separate-stderr devrun probe -D "$name" -o no.mp c1x1.mp
		[[ $stderr == *"$name"* && ! -s no.mp ]] || { echo "$name: $stderr"; return 1; }
	done
	run -0 devrun probe -D cpu:0/precision=f32 -o f32.mp c1x1.mp
}

@test "without oneDNN: a message that says so, and f32 as ever" {
	env -u DEPENDENCIES make -s -C "$ROOT" B="$B" DEPS=: "$B/bare/devrun"
	run -2 --separate-stderr "$B/bare/devrun" probe -D cpu:0/precision=bf16 -o no.mp c1x1.mp
	[[ $stderr == *"cpu:0/precision=bf16"*"built without oneDNN"* ]]
	run -0 "$B/bare/devrun" probe -D cpu:0 -o bare.mp c1x1.mp
}
