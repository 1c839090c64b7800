#!/usr/bin/env bats
# The includes keep the order of the rooms, and the check notices when they do not.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { cd "$ROOT" || return 1; }

check() { python3 "$ROOT/tests/tree/layers.py" "$@"; }

# broken - a copy of lib in the test's folder
broken() {
	rm -rf "$BATS_TEST_TMPDIR/lib"
	cp -r "$ROOT/lib" "$BATS_TEST_TMPDIR/lib"
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "includes go one way" {
	run -0 check
}

@test "an include of a room above is noticed" {
	broken
	echo '#include "place/method/method.h"' >> lib/base/mem.c
	run -1 check lib
	[[ $output == *"lib/base/mem.c includes place/method/method.h: room 'place/method' is not below 'base'"* ]]
}

@test "a circle of files is noticed" {
	broken
	echo '#include "sched/sched.h"' >> lib/sched/memplan.h
	echo '#include "sched/memplan.h"' >> lib/sched/sched.h
	run -1 check lib
	[[ $output == *"in a circle: "*"sched/memplan, sched/sched"* ]] || [[ $output == *"in a circle: "*"sched/memplan"* ]]
}

@test "a room without a row or a README, a full room, a second file of a name are noticed" {
	broken
	mkdir lib/attic
	echo > lib/attic/mem.c
	for i in $(seq 41); do echo > "lib/attic/f$i.c"; done
	run -1 check lib
	[[ $output == *"room 'attic' is not in the table"* ]]
	[[ $output == *"lib/attic has 42 files, more than 40"* ]]
	[[ $output == *"several files are called mem.c"* ]]
	rm lib/sched/README.md
	run -1 check lib
	[[ $output == *"lib/sched has no README.md"* ]]
}

@test "a README that says otherwise, a guard that is no path, a second home of a library are noticed" {
	broken
	sed -i 's/^\(\**Includes:.*\)base/\1/' lib/sched/README.md
	sed -i 's/HSDAG_SCHED_MEMPLAN_H/HSDAG_MEMPLAN_H/' lib/sched/memplan.h
	echo '#include <metis.h>' >> lib/sched/memplan.c
	run -1 check lib
	[[ $output == *"lib/sched/README.md does not say that it includes 'base'"* ]]
	[[ $output == *"lib/sched/memplan.h is guarded by HSDAG_MEMPLAN_H"* ]]
	[[ $output == *"<metis.h> is included by several files"* ]]
}
