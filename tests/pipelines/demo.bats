#!/usr/bin/env bats
# make demo: what a person sees first, how it installs and builds.
# seconds: 25
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

@test "three placements: a simulated one with its bound, one that fits no device, one that is measured" {
	two_cores
	NO_COLOR=1 BUDGET=15 run -0 "$ROOT/pipelines/demo" "$BATS_TEST_TMPDIR/out"
	echo "$output"
	# Costs of a specification, and searches of one thread: the first figures are the same everywhere.
	[[ $output == *"the GPU alone 4.36 ms; HEFT 3.64 ms; a search that a trained network leads 3."* ]]
	[[ $output == *"no placement takes less than 3.13 ms, which is proved."* ]]
	[[ $output == *"cpu:0 alone "*"cannot run, needs 124 MB of memory, of which it has 73"*"cpu:1 alone "*"cannot run, "* ]]
	[[ $output == *"In words: no single device can run the model; this placement can."* ]]
	# Equal outputs, the largest difference of which is told.
	[[ $output == *"this placement "*" ms, 95 % interval "*"; outputs differ by 0 (mean square)"* ]]
	[[ $output == *"3. nmt2 on two cores, measured"*"In words: "* ]]
	[[ $output == *"the page: "*"/nmt2.placed/report.html"*"next, type: "*"pipelines/place tests/models/"* ]]
	[ "${#lines[@]}" -le 40 ]
	[ -s "$BATS_TEST_TMPDIR/out/nmt2.placed/report.html" ]
	[[ $output != *$'\e'* ]]
}

@test "BUDGET that is no number of seconds is refused" {
	BUDGET=soon run -2 "$ROOT/pipelines/demo" "$BATS_TEST_TMPDIR/out"
	[[ $output == "demo: error: BUDGET: 'soon' is not a number of seconds from 15 on" ]]
}

@test "building: a line, the log, and the log's end when it fails" {
	cd "$BATS_TEST_TMPDIR"
	printf 'all:\n\t@echo "  CC    a.c"\n\t@echo "  CC    b.c"\nbad:\n\t@echo "  CC    c.c"\n\t@echo "c.c:1: wrong"; exit 1\n' > Makefile
	run -0 --separate-stderr "$ROOT/pipelines/building" sub/log make --no-print-directory all
	[ -z "$output" ]
	[[ $stderr == "building 2 files, "*" at a time (log: sub/log)" ]]
	[ "$(cat sub/log)" = $'  CC    a.c\n  CC    b.c' ]
	run -1 --separate-stderr "$ROOT/pipelines/building" sub/log make --no-print-directory bad
	[[ $stderr == *"c.c:1: wrong"*"building failed; see 'sub/log'"* ]]
}

@test "deps.sh: a line for what is missing, apt-get's words in a log, and its last ones when it fails" {
	cd "$BATS_TEST_TMPDIR"
	mkdir fake
	printf '#!/bin/sh\ncase $* in *bats|*metis*) exit 1;; esac\necho installed\n' > fake/dpkg-query
	printf '#!/bin/sh\necho "$*" >> asked\necho "much to read"\n' > fake/apt-get
	printf '#!/bin/sh\nexec "$@"\n' > fake/sudo
	chmod +x fake/*
	PATH=$PWD/fake:$PATH B=out run -0 "$ROOT/pipelines/deps.sh"
	[ "$output" = 'installing libmetis-dev' ]
	[[ $(tail -n 1 asked) == *"install "*" libmetis-dev" ]]
	[ "$(grep -c 'much to read' out/install.log)" -eq 2 ]
	printf '#!/bin/sh\necho "E: no such thing"; exit 100\n' > fake/apt-get
	PATH=$PWD/fake:$PATH B=out run -1 "$ROOT/pipelines/deps.sh"
	[[ $output == *"E: no such thing"*"cannot install the list of packages; see 'out/install.log'"* ]]
}
