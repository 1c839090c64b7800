#!/usr/bin/env bats
# pipelines/place: the directory that it works in, whatever its name is: one place at a time, one search.
# programs: place
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	two_cores
	export PLACE=$ROOT/pipelines/place
	cp "$ROOT/tests/models/"small_summator.* .
	# Kept at it until something ends it; what the search has said is in the log.
	export LONG="-D cpu:0,cpu:1 --profile 0.05 --budget 200 --episodes 900000 --random 1"
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "a directory may have any name; one that cannot be made or written says why" {
	local name
	for name in -x 'a b;$c "d' $'two\nlines' 'ä %s\n'; do
		run -0 --separate-stderr timeout 300 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --budget 5 --random 0 -o "$name"
		[ -z "$stderr" ]
		[[ "$output" == *"placement: "*"$name/placement.json"* ]]
		recdump --check "./$name/final.mp"
	done
	touch file
	run -1 "$PLACE" small_summator.xml -o file/in
	[ "$output" = "place: error: cannot make the directory 'file/in': Not a directory; -o another one" ]
}

@test "one place at a time works in a directory; what a killed one has left goes" {
	# shellcheck disable=SC2086
	"$PLACE" small_summator.xml $LONG -o shared > first.out 2>&1 3>&- &
	local first=$!
	until grep -q episode shared/log 2> /dev/null; do sleep 0.1; done
	cp small_summator.xml other.xml
	run -1 "$PLACE" other.xml -D cpu:0,cpu:1 --budget 1 -o shared
	[[ "$output" == "place: error: 'shared' is in use by another place (process $first); -o another directory" ]]
	kill -TERM "$first"
	wait "$first"
	grep -q '^placement: shared/placement.json' first.out
	touch shared/.loop.abc123
	mkfifo shared/.loop
	run -0 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --episodes 1 --random 0 -o shared
	[ -z "$(find shared -name '.loop*')" ]
}

@test "--resume goes on with the same graph only" {
	local args="-D cpu:0,cpu:1 --profile 0.05 --episodes 1 --random 1 -o again"
	# shellcheck disable=SC2086
	run -0 "$PLACE" small_summator.xml $args
	cp again/placement.json before.json
	cp again/graph.mp before.mp
	sed 's/name="read"/name="read_it"/' small_summator.xml > other.xml
	cp small_summator.bin other.bin
	# shellcheck disable=SC2086
	run -3 "$PLACE" other.xml $args --resume
	[[ "$output" == "place: error: 'again' has a search of model /"*"/small_summator.xml, not of 'other.xml'; -o another directory, or leave --resume out" ]]
	cmp before.json again/placement.json
	cmp before.mp again/graph.mp
	[ -z "$(find again -name '.new*')" ]
	# Neither on other devices: its random placements ran elsewhere.
	# shellcheck disable=SC2086
	run -3 "$PLACE" small_summator.xml $args --resume -D cpu:0
	[[ "$output" == *"has a search with devices cpu:0,cpu:1 and objective latency, not with devices cpu:0 and objective latency; "* ]]
	# Nor of what the model's file was before.
	cp small_summator.xml kept.xml
	cp other.xml small_summator.xml
	# shellcheck disable=SC2086
	run -3 "$PLACE" small_summator.xml $args --resume
	cp kept.xml small_summator.xml
	[[ "$output" == *"has a search of 'small_summator.xml' as it was, not as it is now with these options; "* ]]
	# shellcheck disable=SC2086
	run -0 "$PLACE" other.xml $args
	grep -q read_it again/placement.json
}

@test "an earlier answer stays until there is another, whatever kills the search" {
	local pid before
	answer() {
		(cd kept && find placement.* report.* final.mp result.mp openvino checkpoint.mp curves.tsv search -type f -exec md5sum {} +)
	}
	run -0 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --budget 5 --episodes 2 -o kept
	before=$(answer)
	setsid "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --budget 100 --episodes 900000 -o kept > /dev/null 2>&1 3>&- &
	pid=$!
	for _ in {1..300}; do
		[ ! -s kept/.checkpoint.mp ] || break
		sleep 0.1
	done
	[ -s kept/.checkpoint.mp ]
	pkill -KILL -s "$pid"     # its stages are groups of their own
	wait "$pid" || true
	[ "$(answer)" = "$before" ]
	recdump --check kept/final.mp
	# --resume goes on with what was killed: its episodes are more than the answer had.
	before=$(recdump -k update kept/.checkpoint.mp | wc -l)
	[ "$before" -ge 1 ]
	run -0 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --budget 5 --episodes 900000 --resume -o kept
	[ "$(recdump -k update kept/result.mp | wc -l)" -gt "$before" ]
	[ ! -e kept/.checkpoint.mp ]
	[ ! -e kept/.curves.tsv ]
	[ ! -e kept/.search ]
	before=$(answer)
	run -0 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --profile 0.05 --budget 5 -o kept
	[ ! -e kept/checkpoint.mp ]     # it has none
	[ ! -e kept/curves.tsv ]
	[ ! -e kept/.result.mp ]
	[ ! -e kept/.report.txt ]
}

@test "links that others plant are not followed, nor are directories of theirs worked in" {
	# shellcheck source=pipelines/programs.sh
	. "$ROOT/pipelines/programs.sh"
	mkdir planted
	cd planted
	echo new > from
	echo mine > marker
	ln -s marker to.new
	put_whole from to
	[ "$(cat to)" = new ]
	[ "$(cat marker)" = mine ]
	ln -s to link
	echo newer > from
	put_whole from link
	[ -L link ]
	[ "$(cat to)" = newer ]
	[ "$(stat -c %a to)" = "$(printf %o $((0666 & ~0$(umask))))" ]
	[ "$(id -u)" -eq 0 ] || skip "needs root for a directory of another user"
	mkdir -m 1777 world
	mkdir -m 777 world/m.placed
	chown 65534 world/m.placed
	ln -s ../../marker world/m.placed/log
	run -1 "$PLACE" ../small_summator.xml -D cpu:0 --budget 5 -o world/m.placed
	[ "$output" = "place: error: 'world/m.placed' is another user's; -o another directory" ]
	[ "$(cat marker)" = mine ]
}
