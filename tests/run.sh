#!/bin/bash
# run.sh BUILD [NAME...] - run the tests of BUILD, a file of them on each core; the last line counts
# them.  Unit tests are programs that print TAP; the rest is Bats.  Long files are first, so that all cores have
# work to the end.  With NAMEs only the files whose
# names begin so: `placebase` is tests/cli/placebase.bats, `tape` is tests/unit/test_tape.c, `oracle`
# is all of tests/oracle, and a program's name all that tests it.  JOBS: how many files at once.
set -u
B=$(realpath "$1") || exit 1
shift
export B
cd "$(dirname "$0")/.." || exit 1
export HSDAG_PYTHON=${HSDAG_PYTHON:-$B/venv/bin/python}
export OPENBLAS_NUM_THREADS=1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export log=$dir/log
"$HSDAG_PYTHON" -c 'import openvino' 2>/dev/null && HAS_OPENVINO=yes || HAS_OPENVINO=no
export HAS_OPENVINO              # each test that needs it would try it

# A build with OPENCL=0 has no tests of what it lacks.
without_opencl=
"$B/bin/devrun" --help-all | grep -q 'cl:P' || without_opencl=yes

# One program or file of tests; what it prints stays together.
run_file() {
	local out rc
	SECONDS=0
	echo "# $1 begins" >&2
	case $1 in
	*.bats) out=$(timeout 1200 bats --tap --print-output-on-failure "$1" 2>&1) ;;
	*) out=$(timeout 300 "$1" 2>&1) ;;
	esac
	rc=$?
	{
		printf '# %s, %d s\n%s\n' "${1##*/}" "$SECONDS" "$out"
		[ $rc -eq 0 ] || printf '%s\n' "$out" | grep -q '^not ok' ||
			echo "not ok - ${1##*/} exited with $rc"
	} | flock "$log" tee -a "$log"
}
export -f run_file

# all_files - "FOLDER NAME FILE SECONDS PROGRAM..." of each, one a line, those that take longest first; a line
# "# programs: ..." in a file's first lines says which programs it tests besides that of its name, a line
# "# seconds: N" that it takes more than a few
all_files() {
	list_files | sort -s -k 4,4nr
}

list_files() {
	local f name
	for f in tests/unit/*.c; do
		name=${f##*/}
		name=${name%.c}
		case $name in test_cl | test_cl_device) [ -z "$without_opencl" ] || continue ;; esac
		echo "unit ${name#test_} $B/tests/$name 0"
	done
	for f in tests/*/*.bats; do
		name=${f%.bats}
		echo "$(basename "$(dirname "$f")") ${name##*/} $f $(sed -n '1,7s/^# seconds: //p' "$f" | grep . || echo 1)" \
			"$(sed -n '1,7s/^# programs: //p' "$f")"
	done
}

# chosen NAME... - the files to run
chosen() {
	all_files | awk -v names="$*" '
		BEGIN { n = split(names, want, " ") }
		{
			found = n == 0
			for (i = 1; i <= n; i++) {
				found = found || $1 == want[i] || index($2, want[i]) == 1
				for (j = 5; j <= NF; j++)
					found = found || $j == want[i]
			}
			if (found)
				print $3
		}'
}

for name; do
	[ -n "$(chosen "$name")" ] || { echo "run.sh: error: no test is called '$name'" >&2; exit 2; }
done
: >"$log"
chosen "$@" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'run_file {}'

skipped=$(grep -cE '^ok .*# skip' "$log")
passed=$(($(grep -cE '^ok ' "$log") - skipped))
failed=$(grep -cE '^not ok' "$log")
[ "$failed" -eq 0 ] || { echo; echo "failed:"; grep -E '^not ok' "$log"; }
if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
