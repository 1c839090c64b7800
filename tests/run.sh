#!/bin/bash
# run.sh BUILD - run all tests of BUILD, a file of them on each core; the last line counts them.
# Unit tests are programs that print TAP; the rest is Bats.  TESTS, JOBS: which files, how many at once.
set -u
B=$(realpath "$1") || exit 1
export B
cd "$(dirname "$0")/.." || exit 1
export HSDAG_PYTHON=${HSDAG_PYTHON:-$B/venv/bin/python}
export OPENBLAS_NUM_THREADS=1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export log=$dir/log

# One program or file of tests; what it prints stays together.
run_file() {
	local out rc
	echo "# $1 begins" >&2
	case $1 in
	*.bats) out=$(timeout 1200 bats --tap --print-output-on-failure "$1" 2>&1) ;;
	*) out=$(timeout 300 "$1" 2>&1) ;;
	esac
	rc=$?
	{
		printf '# %s\n%s\n' "${1##*/}" "$out"
		[ $rc -eq 0 ] || printf '%s\n' "$out" | grep -q '^not ok' ||
			echo "not ok - ${1##*/} exited with $rc"
	} | flock "$log" tee -a "$log"
}
export -f run_file

: >"$log"
{
	for t in "$B"/tests/test_*; do
		[ -x "$t" ] && [ "${t%.d}" = "$t" ] && echo "$t"
	done
	printf '%s\n' ${TESTS:-tests/*.bats}
} | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'run_file {}'

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
