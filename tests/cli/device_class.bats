#!/usr/bin/env bats
# A device class is one file and one line in the table: devrun and placebase are built here with
# one more class, tests/support/slow_device.c, and nothing else is touched.
# programs: devrun placebase
bats_require_minimum_version 1.5.0
load ../support/common.bash

# The files that expand the table come before the archive, whose own objects are then not linked.
build() {
	local top=$ROOT
	env -u DEPENDENCIES make -s --no-print-directory -C "$top" B="$B" \
		SAN="$(ldd "$B/bin/devrun" | grep -q libasan && echo -fsanitize=address,undefined)" \
		"$B/slow/devrun" "$B/slow/placebase"
}

setup_file() {
	common_setup_file
	build || return 1
	models small_increment_1x3x4x5 mobilenet_v3_large
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "messages, --help and --list know the new class" {
	run -0 "$B/slow/devrun" --list
	[[ $output == *"slow:100 "*" slow "*"one core and a rest"* ]]
	run -0 "$B/slow/devrun" --help-all
	[[ ${output//$'\n'/ } == *"slow:N (one core, N microseconds more a step)"* ]]
	run -2 --separate-stderr "$B/slow/devrun" -D quick:0 --list
	[[ $stderr == *"unknown device 'quick:0'; here are cpu, "*"; names are cpu, cpu:LIST, "*"ov:NAME or slow:N"* ]]
	run -2 --separate-stderr "$B/slow/devrun" -D slow:x --list
	[[ $stderr == *"not a number of microseconds"* ]]
	run -2 --separate-stderr devrun -D slow:100 --list
	[[ $stderr == *"unknown device 'slow:100'; here are cpu, "*"; names are cpu, cpu:LIST"*" or ov:NAME"* ]]
}

@test "the types of its devices are in devs records" {
	"$B/slow/devrun" --probe -D cpu:0,slow:100 mobilenet_v3_large.mp -o probed.mp
	py '
		devs = [m for k, m in read("probed.mp") if k == "devs"][-1]
		assert devs["types"] == ["cpu", "slow"], devs["types"]
	'
}

@test "a placement on a core and a device of the class gives the results of the core" {
	placebase single -D cpu:0 mobilenet_v3_large.mp > one.mp
	"$B/slow/placebase" random -n 1 -D cpu:0,slow:100 mobilenet_v3_large.mp > two.mp
	devrun --runs 1 --no-reference --outputs one -o ran1.mp one.mp
	"$B/slow/devrun" --runs 1 --no-reference --outputs two -o ran2.mp two.mp
	py '
		import numpy as np
		assert all(m["ok"] for m in runs("ran1.mp") + runs("ran2.mp")), runs("ran2.mp")
		a, b = np.load("one/0.npy"), np.load("two/0.npy")
		assert np.allclose(a, b, rtol=1e-4, atol=1e-5 * abs(a).max()), abs(a - b).max()
	'
	# Without the line in the table there is no such device.
	run -3 --separate-stderr devrun --runs 1 -o no.mp two.mp
	[[ $stderr == *"unknown device 'slow:100'"* ]]
}

@test "its steps take as long as the name says" {
	"$B/slow/placebase" single -D slow:0,slow:20000 small_increment_1x3x4x5.mp > each.mp
	"$B/slow/devrun" --runs 5 --no-reference -o ran.mp each.mp
	py '
		fast, slow = [m["lat_s"] for m in runs("ran.mp")]
		assert slow >= 0.02, (fast, slow)
	'
}
