#!/usr/bin/env bats
# devrun's memory: limits, what plans say they take and what the process takes, --paired.
bats_require_minimum_version 1.5.0

setup_file() {
	export HSDAG_PYTHON B OPENBLAS_NUM_THREADS=1 CORES
	HSDAG_PYTHON=$(realpath -s "${HSDAG_PYTHON:-${B:-build}/venv/bin/python}")
	B=$(realpath "${B:-build}")
	PATH=$B/bin:$PATH
	CORES=$(nproc)
	sh "$BATS_TEST_DIRNAME/models.sh" mobilenet_v3_large googlenet rnnlm small_increment_1x3x4x5 \
		"$BATS_FILE_TMPDIR"
	cd "$BATS_FILE_TMPDIR" || return 1
	for m in mobilenet_v3_large googlenet rnnlm small_increment_1x3x4x5; do
		ir2dag "$m.xml" > "$m.mp"
	done
	placebase random -n 4 --draw uniform -D cpu:0,cpu:1 mobilenet_v3_large.mp > random.mp
}

setup() {
	PATH=$B/bin:$PATH
	cd "$BATS_FILE_TMPDIR" || return 1
}

# A sanitizer's memory is not the program's.
plain() {
	! ldd "$B/bin/devrun" | grep -q libasan || skip "AddressSanitizer takes memory of its own"
}

two_cores() {
	[ "$CORES" -ge 2 ] || skip "needs two cores"
}

# py CODE - Python with read(FILE), runs(FILE), tensor(t), write(FILE, records), peak(ARGS): the
# largest resident set of a program in bytes (not from its rusage, which begins with Python's)
py() {
	"$HSDAG_PYTHON" - "$1" <<-'PY'
		import subprocess, sys, textwrap, time, msgpack, xxhash, numpy as np
		def read(f):
		    return list(msgpack.Unpacker(open(f, "rb"), max_buffer_size=2**30))
		def write(f, records):
		    wire = [msgpack.packb(r) for r in records]
		    end = {"records": len(wire) - 1, "digest": xxhash.xxh64(b"".join(wire[1:])).intdigest()}
		    open(f, "wb").write(b"".join(wire) + msgpack.packb(["end", end]))
		def tensor(t):
		    return np.frombuffer(t["data"], "<" + t["dtype"][0] + str(int(t["dtype"][1:]) // 8)).reshape(t["shape"])
		def runs(f):
		    return [m for k, m in read(f) if k == "run"]
		def peak(*args):
		    p, most = subprocess.Popen(args), 0
		    while p.poll() is None:
		        with open("/proc/%d/status" % p.pid) as f:
		            at = [int(x.split()[1]) for x in f if x.startswith("VmHWM")]
		        if open("/proc/%d/comm" % p.pid).read().strip() == "devrun":
		            most = max([most] + at)
		        time.sleep(0.002)
		    assert p.returncode == 0, p.returncode
		    return most * 1024
		exec(textwrap.dedent(sys.argv[1]))
	PY
}

@test "--memory: a placement over a device's limit is infeasible, with the figure" {
	two_cores
	(
		placebase single -D cpu:0,cpu:1 mobilenet_v3_large.mp
	) > two.mp
	devrun --runs 1 -m cpu:0=4M,cpu:1=1G -o limit.mp two.mp
	py '
		a, b = runs("limit.mp")
		assert not a["ok"] and a["reason"].startswith("device \"cpu:0\" needs ".replace(chr(34), chr(39))), a
		assert a["reason"].endswith("bytes and has %d" % (4 << 20)), a
		assert int(a["reason"].split()[3]) > 4 << 20
		assert b["ok"] and 4 << 20 < tensor(b["mem_bytes"])[1] < 1 << 30
	'
	# What a plan says that it takes is enough for it, and a byte less is not.
	py '
		need = int(tensor(runs("limit.mp")[1]["mem_bytes"])[1])
		open("need", "w").write(str(need))
	'
	devrun --runs 1 --no-reference -m "cpu:1=$(($(cat need) + 4096))" -o enough.mp two.mp
	devrun --runs 1 --no-reference -m "cpu:1=$(($(cat need) / 2))" -o less.mp two.mp
	py '
		assert [m["ok"] for m in runs("enough.mp")] == [True, True]
		assert [m["ok"] for m in runs("less.mp")] == [True, False]
	'
}

@test "--memory goes into the devs record, and what is wrong with it is said" {
	devrun --probe -D cpu:0 --memory cpu:0=3K -o probe.mp small_increment_1x3x4x5.mp
	py '
		d = next(m for k, m in read("probe.mp") if k == "devs")
		assert tensor(d["mem_bytes"])[0] == 3072
	'
	local list
	for list in cpu:1=1G cpu:0 cpu:0= cpu:0=0 cpu:0=-1 cpu:0=1T cpu:0=1MB cpu:0=99999999999G "cpu:0=1M;"; do
		run -2 --separate-stderr devrun --probe -D cpu:0 --memory "$list" -o no.mp \
			small_increment_1x3x4x5.mp
		[[ $stderr == *"memory '$list'"* ]] || { echo "$list: $stderr"; return 1; }
	done
}

@test "plans take what they say: the process's peak" {
	plain
	placebase single -D cpu:0 small_increment_1x3x4x5.mp > base.mp
	for m in mobilenet_v3_large googlenet rnnlm; do
		placebase single -D cpu:0 "$m.mp" > "$m.place.mp"
	done
	py '
		def run(name):
		    p = peak("devrun", "--runs", "8", "--no-reference", "-o", "use.mp", name)
		    return p, int(tensor(runs("use.mp")[0]["mem_bytes"])[0])
		base = run("base.mp")[0]
		for m in ("mobilenet_v3_large", "googlenet", "rnnlm"):
		    p, says = run(m + ".place.mp")
		    # The graph, the streams and the heap around them: a few MB more than the small model.
		    assert says * 0.85 < p - base < says * 1.15 + (6 << 20), (m, p - base, says)
	'
}

@test "--paired holds one plan's tensors, however many candidates there are" {
	plain
	two_cores
	placebase random -n 12 --draw uniform -D cpu:0,cpu:1 googlenet.mp > many.mp
	py '
		r = read("many.mp")[:-1]
		best = [["best", {**m, "rank": i, "n_groups": 9, "lat_s": 1.0, "ref_s": 1.0}] for i, (k, m) in enumerate(r[2:])]
		for n in (1, 12):
		    write("best%d.mp" % n, r[:2] + best[:n])
		def run(n):
		    return peak("devrun", "--paired", "--candidates", "20", "--runs", "1", "-o", "paired%d.mp" % n, "best%d.mp" % n)
		few, many = run(1), run(12)
		tensors = 12 * 5 << 20      # what the plans of twelve candidates would take, roughly
		assert many - few < tensors / 2, (few, many)
		assert len(runs("paired12.mp")) == 14 and all(m["ok"] for m in runs("paired12.mp"))
	'
}

@test "--paired: a device that is lost in the last comparison of outputs leaves a verdict" {
	two_cores
	devrun --list | grep -q '^cl:0.0 .*PoCL' || skip "no PoCL"
	"${CC:-gcc}" -D_GNU_SOURCE -shared -fPIC -o lost.so "$BATS_TEST_DIRNAME/fail_enqueue.c" -ldl
	placebase single -D cl:0.0:1 mobilenet_v3_large.mp > cl.mp
	py '
		r = read("cl.mp")[:-1]
		write("cl.mp", r[:2] + [["best", {**r[2][1], "rank": 0, "n_groups": 1, "lat_s": 1.0, "ref_s": 1.0}]])
	'
	# How many kernels it runs before it fails: too few leave no verdict, too many a comparison.
	local lo=0 hi=8192 n seen=
	while [ $((hi - lo)) -gt 1 ] && [ "$seen" != lost ]; do
		n=$(((lo + hi) / 2)) seen=none
		run --separate-stderr env LD_PRELOAD=./lost.so \
			HSDAG_FAIL=clEnqueueNDRangeKernel HSDAG_FAIL_AFTER=$n \
			ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
			devrun --paired --runs 1 -o lost.mp cl.mp
		[ "$status" -ne 0 ] || seen=$(py '
			f = [m for k, m in read("lost.mp") if k == "best"][-1]
			assert f["final"] and ("not_compared" in f) != ("out_mse" in f), f
			print("lost" if "not_compared" in f else "whole")
		')
		if [ "$seen" = whole ]; then hi=$n; else lo=$n; fi
	done
	echo "last: $seen at $n"
	[ "$seen" = lost ]
}
