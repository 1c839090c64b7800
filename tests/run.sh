#!/bin/bash
# run.sh BUILD - run all tests of BUILD; the last line counts them.
# Unit tests are programs that print TAP; the rest is Bats.
set -u
B=$(realpath "$1") || exit 1
export B
cd "$(dirname "$0")/.." || exit 1
export HSDAG_PYTHON=${HSDAG_PYTHON:-$B/venv/bin/python}
export OPENBLAS_NUM_THREADS=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for t in "$B"/tests/test_*; do
	[ -x "$t" ] || continue
	case $t in *.d) continue ;; esac
	echo "# $(basename "$t")"
	out=$(timeout 300 "$t" 2>&1)
	rc=$?
	printf '%s\n' "$out"
	[ $rc -eq 0 ] || printf '%s\n' "$out" | grep -q '^not ok' || echo "not ok - $(basename "$t") exited with $rc"
done > >(tee -a "$log") 2>&1
wait $!

for t in ${TESTS:-tests/*.bats}; do
	echo "# $t"
	timeout 1200 bats --tap --print-output-on-failure "$t" 2>&1
	rc=$?
	[ $rc -lt 124 ] || echo "not ok - $t exited with $rc"
done > >(tee -a "$log") 2>&1
wait $!

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
