#!/usr/bin/env bats
# The search for slow chains of operators (tests/bench/hunt.py): its chains are models that are right here, and smaller ones are found.
# seconds: 20
# programs: devrun
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	needs_openvino
}

@test "chains are models, and outputs are OpenVINO's" {
	run "$HSDAG_PYTHON" "$ROOT/tests/bench/hunt.py" --bin "$B/bin" --check --seeds 1-24
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "24 chains, 0 wrong" ]
}

@test "chains that were slow once are right" {
	run "$HSDAG_PYTHON" "$ROOT/tests/bench/hunt.py" --bin "$B/bin" --check found
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" chains, 0 wrong" ]]
}

# python CODE - CODE with the modules of the search
python() {
	run --separate-stderr "$HSDAG_PYTHON" -c "
import sys
sys.path.insert(0, '$ROOT/tests/bench')
import hunt, hunt_nets
$1"
	echo "$output$stderr"
	[ "$status" -eq 0 ]
}

@test "each step is one that some chain has, and a chain of it alone is a model" {
	python "
left = set(hunt_nets.STEPS)
for seed in range(2000):
    line = hunt_nets.generate(seed, list(left) or None)
    if line:
        hunt_nets.model(line)
        left -= {s['do'] for s in line['steps']}
    if not left:
        break
print('without a chain:', sorted(left))"
	[ "$output" = "without a chain: []" ]
}

@test "the same seed is the same chain, and what is slow stays so when it is made smaller" {
	python "
line = {'op': '', 'model': '', 'in': [{'elem': 'f32', 'dims': [3, 70, 33, 21]}], 'steps': [
    {'do': 'Unary', 'what': 'Relu'}, {'do': 'Convolution', 'out': 48, 'k': [3, 3], 's': [2, 1], 'd': [1, 1], 'bias': True, 'act': 'Swish'},
    {'do': 'Reduce', 'what': 'sum', 'axes': [0], 'keep': True}]}
asked = []
def slow(less):         # in place of a clock: convolutions of 40 channels and more
    dims, conv = less['in'][0]['dims'], [s for s in less['steps'] if s['do'] == 'Convolution']
    asked.append(less)
    return bool(conv) and dims[1] >= 40 and conv[0]['k'][0] == 3
found = hunt.shrink(line, slow, 60)
print(found['op'], found['in'][0]['dims'], found['steps'])
print(hunt_nets.generate(7) == hunt_nets.generate(7), hunt.shrink(line, lambda less: False, 60) == line, len(asked) < 500)"
	[ "${lines[0]}" = "Convolution [1, 40, 1, 1] [{'do': 'Convolution', 'out': 1, 'k': [3, 1], 's': [1, 1], 'd': [1, 1]}]" ]
	[ "${lines[1]}" = "True True True" ]
}

@test "a log goes on where it was ended, and says which seeds are slow" {
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' '{"seed":1,"op":"Reduce","us":90.0,"other":30.0,"ratio":3.0}' '{"seed":2,"op":"Unary","us":40.0,"other":50.0,"ratio":0.8}' \
		'{"seed":3,"op":"Unary","us":9.0,"other":2.0,"ratio":4.5}' '{"seed":4,"failed":"no chain"}' >log
	run "$HSDAG_PYTHON" "$ROOT/tests/bench/hunt.py" --bin "$B/bin" --seeds 1-4 --log log --found found
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "4 seeds, 1 failed, 2 of 20 us and more: median ratio 1.90, 1 (50.0 %) above 1.15, 1 (50.0 %) above 1.5" ]
	[[ ${lines[1]} == *"3.00"*"90.0 us  seed 1  Reduce" ]]
	[ ! -e found ]
}
