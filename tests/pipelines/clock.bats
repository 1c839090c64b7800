#!/usr/bin/env bats
# The time of day is set forward or back by an hour while programs run: no budget, no timeout, no phase's time hears of it.
# seconds: 20
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	two_cores
	export PLACE=$ROOT/pipelines/place
	cp "$ROOT/tests/models/"small_summator.* .
	gcc -shared -fPIC -O1 -o clock_step.so "$ROOT/tests/support/clock_step.c"
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# stepped SECONDS LATER COMMAND... - the time of day is SECONDS later, LATER seconds from now on
stepped() {
	local up
	read -r up _ < /proc/uptime
	env CLOCK_STEP_AT=$((${up%.*} + $2)) CLOCK_STEP_BY="$1" LD_PRELOAD="$PWD/clock_step.so" \
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "${@:3}"
}

@test "a budget ends by itself, and the phases' times are what they took" {
	local step
	for step in 3600 -3600; do
		rm -rf d
		run -0 stepped $step 2 timeout 120 "$PLACE" small_summator.xml -D cpu:0,cpu:1 --budget 6 -o d
		py '
			import re
			took = dict(re.findall(r"([a-z][a-z ]*) (-?[0-9.-]+) s", [l for l in open("d/report.txt") if l.startswith("time: ")][0]))
			s = [float(x) for x in took.values()]
			assert "comparison" in took and min(s) >= 0 and sum(s) < 120, took
			race = [l for l in open("d/report.txt") if l.startswith("race: ")][0]
			assert 0 < float(race.split()[1]) < 120, race
		'
	done
}

@test "a command's time in scripts" {
	run -0 stepped 3600 1 bash -ec '. "$1"; for step in 0.2 1.5; do time_command sleep $step; echo "$took_us"; done
		time_command false && exit 9; echo "$?"' - "$ROOT/pipelines/clock.sh"
	[ "${lines[0]}" -ge 190000 ]
	[ "${lines[0]}" -lt 60000000 ]
	[ "${lines[1]}" -ge 1490000 ]
	[ "${lines[1]}" -lt 60000000 ]
	[ "${lines[2]}" = 1 ]
}

@test "what is left of a budget in a phase is what the phases before it left" {
	run -0 bash -ec '. "$1/phases.sh"; . "$1/stages.sh"
		tell() { echo "left $(left) $(left_for_starts)"; }
		work() {
			budget=100
			phases_begin p . 1
			read_clock
			budget_began=$((now_us - 40000000))
			run_phase tell tell
			phases_end
		}; phases_face work' - "$ROOT/pipelines"
	[[ "$(cat log)" =~ ^left\ (60|59\.[0-9]+)\ 0$ ]]
}

@test "an inference that does not end is ended" {
	# Some seconds of one core: the caller asks ten times a second whether it takes too long.
	py '
		from tiny_ir import Model
		m, n = Model("slow"), 3000
		x = m.layer("Parameter", "x", "f32", (n, n))
		m.result(m.layer("MatMul", "product", "f32", (n, n), x, x, transpose_a="false", transpose_b="false"))
		m.save()
	'
	# shellcheck disable=SC2016
	run -1 stepped 3600 0 timeout 60 bash -o pipefail -c 'ir2dag slow.xml | devrun probe -D cpu:0 | placebase single |
		devrun run -n 1 --warmup 0 --timeout 0.05 -o slow.mp'
	echo "$output"
	[[ "$output" == *"an inference has not ended after 0.05 s"* ]]
}
