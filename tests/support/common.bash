# common.bash - what the suites share: the build's programs and Python, what a machine may lack, models
# and streams to work on, OpenCL calls that fail.

# The checkout.
ROOT=$(realpath "${BASH_SOURCE[0]%/*}/../..")
export ROOT

# To be called first in setup_file: B and HSDAG_PYTHON become absolute, the programs are in PATH, and the
# current directory is the file's own.
common_setup_file() {
	export HSDAG_PYTHON B PATH OPENBLAS_NUM_THREADS=1 PYTHONPATH=$ROOT/tests/support:$ROOT/tests/oracle PYTHONDONTWRITEBYTECODE=1
	export TBB_ENABLE_SANITIZERS=1   # else OpenVINO refuses to start in a sanitized program
	export ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16   # some virtual machines announce AMX and fault on it
	export HSDAG_CACHE=off           # but where it is what is tested
	export DEPENDENCIES=             # make compiles nothing, but where it is what is tested
	HSDAG_PYTHON=$(realpath -s "${HSDAG_PYTHON:-${B:-build}/venv/bin/python}")
	B=$(realpath "${B:-build}")
	PATH=$B/bin:$PATH
	cd "$BATS_FILE_TMPDIR" || return 1
}

# ---- what a machine may lack; in setup_file, needs_openvino skips the whole suite ----

# AddressSanitizer takes and reserves memory of its own.
no_sanitizer() {
	! ldd "$B/bin/devrun" | grep -q libasan || skip "AddressSanitizer's memory is not the program's"
}

two_cores() {
	[ "$(nproc)" -ge 2 ] || skip "needs two cores"
}

has_pocl() {
	"$B/bin/devrun" --list | grep -q '^cl:0.0 .*PoCL'
}

needs_pocl() {
	has_pocl || skip "no PoCL"
}

# HAS_OPENVINO: yes or no, where run.sh has tried it.
has_openvino() {
	[ -n "${HAS_OPENVINO:-}" ] || { "$HSDAG_PYTHON" -c 'import openvino' 2>/dev/null && HAS_OPENVINO=yes || HAS_OPENVINO=no; }
	[ "$HAS_OPENVINO" = yes ]
}

needs_openvino() {
	has_openvino || skip "no OpenVINO; make test installs it"
}

# ---- models and streams ----

# models NAME... - NAME.xml, a full NAME.bin and the graph NAME.mp in the current directory
models() {
	local m
	sh "$ROOT/tests/support/models.sh" "$@" . || return 1
	for m; do
		ir2dag "$m.xml" -o "$m.mp" || return 1
	done
}

# py CODE [ARG...] - Python with what stream.py has and sys, os, json, csv, msgpack, np, xxhash; CODE may
# be indented, and `-` takes it from the standard input
py() {
	local code=$1
	shift
	[ "$code" != - ] || code=$(cat)
	"$HSDAG_PYTHON" - "$code" "$@" <<-'PY'
		import csv, json, os, sys, textwrap
		from stream import *
		exec(textwrap.dedent(sys.argv.pop(1)))
	PY
}

# ---- an OpenCL device that is lost ----

# To be called before `losing`.
make_losing() {
	"${CC:-gcc}" -D_GNU_SOURCE -shared -fPIC -o lost.so "$ROOT/tests/support/fail_enqueue.c" -ldl
}

# losing FUNCTION[:N] COMMAND... - OpenCL's FUNCTION fails after N calls
losing() {
	local what=$1 n=0
	shift
	[[ $what != *:* ]] || n=${what#*:}
	env LD_PRELOAD=./lost.so HSDAG_FAIL="${what%:*}" HSDAG_FAIL_AFTER="$n" \
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "$@"
}

# written_times FROM TO NAME NAME - two placements, called so, that take 1 and 4, and 2 and 3 s with the two lists of shapes
written_times() {
	py '
		came, went, *names = sys.argv[1:]
		seen = {"place": 0, "run": 0}
		def timed(k, m):
		    if k not in seen:
		        return [k, m]
		    i, seen[k] = seen[k], seen[k] + 1
		    took = {"case_s": {**m["case_s"], "data": np.array([[1, 4], [2, 3]][i], "<f8").tobytes()}} if k == "run" else {}
		    return [k, {**m, "source": names[i], **took}]
		write(went, [timed(k, m) for k, m in read(came)])
		assert seen == {"place": 2, "run": 2}, seen
	' "$@"
}
