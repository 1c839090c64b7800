#!/usr/bin/env bats
# Includes and calls keep their order, and the check notices when they do not.
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

# compiled THIRD - a library of one room in the test's folder, and its objects: first.c, which calls one_second.c, which
# calls third.c, whose text is THIRD
compiled() {
	local f
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p lib/one obj/one
	printf '| `one` | all |\n' > lib/README.md
	printf 'Includes: none\n' > lib/one/README.md
	printf '/* one_impl.h - not for others than first.c and one_s*.c. */\nint first(void);\nint third(void);\n' > lib/one/one_impl.h
	printf '#include "one/one_impl.h"\nint one_second(void);\nint first(void) { return one_second(); }\n' > lib/one/first.c
	printf '#include "one/one_impl.h"\nint one_second(void);\nint one_second(void) { return third(); }\n' > lib/one/one_second.c
	printf 'int third(void);\n%s\n' "$1" > lib/one/third.c
	for f in first one_second third; do
		${CC:-gcc} -O2 -Ilib -c -o "obj/one/$f.o" "lib/one/$f.c"
	done
}

@test "includes and calls go one way" {
	run -0 check lib "$B/obj"
	[[ $output == *"includes and calls one way" ]]
}

@test "calls one way, in a library of three files" {
	compiled 'int third(void) { return 3; }'
	run -0 check lib obj
}

@test "a circle of calls is noticed, and allowed where the list has it, which has no other" {
	compiled 'int first(void); int third(void) { return first(); }'
	run -1 check lib obj
	[ "$output" = "layers: files call each other in a circle: one/first.c, one/one_second.c, one/third.c" ]
	printf '## Circles\n- `one/first` `one/one_second` `one/third`: they are one.\n' >> lib/README.md
	run -0 check lib obj
	sed -i 's/^- .*/- `one\/*`: they are one./' lib/README.md
	run -0 check lib obj
	sed -i 's/^- .*/- `one\/first` `one\/third`: they are one./' lib/README.md
	run -1 check lib obj
	[[ $output == *"files call each other in a circle: one/first.c, one/one_second.c, one/third.c"* ]]
	[[ $output == *"lib/README.md allows a circle that is not there: one/first, one/third" ]]
}

@test "a table of functions makes a circle as a call does" {
	compiled 'int first(void); extern int (*const rows[])(void); int (*const rows[])(void) = {first}; int third(void) { return 3; }'
	run -1 check lib obj
	[ "$output" = "layers: files call each other in a circle: one/first.c, one/one_second.c, one/third.c" ]
}

@test "a header for some is included by no others" {
	compiled '#include "one/one_impl.h"
int third(void) { return 3; }'
	run -1 check lib obj
	[ "$output" = "layers: lib/one/one_impl.h is not for others, and does not name one/third.c, which includes it" ]
	sed -i 's/one_s\*/*/' lib/one/one_impl.h
	run -0 check lib obj
}

@test "a header of a room is included by no other room" {
	broken
	echo '#include "sched/engine.h"' >> lib/place/search/walks.c
	run -1 check lib
	[[ $output == *"lib/sched/engine.h is not for others, and does not name place/search/walks.c, which includes it"* ]]
	[[ $output != *"name sched/"* ]]
}

@test "objects that are not there are no circles that are not there" {
	compiled 'int third(void) { return 3; }'
	run -1 check lib obj/none
	[ "$output" = "layers: there are no objects of lib in obj/none; make them" ]
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
	[[ $output == *"headers include each other in a circle: sched/memplan.h, sched/sched.h"* ]]
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
