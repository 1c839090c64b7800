#!/usr/bin/env bats
# What the docs say is true: commands, links, methods, record keys.
# seconds: 55
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

# A page of its own with one fault.
wrong() {
	mkdir -p "$BATS_TEST_TMPDIR/tests" "$BATS_TEST_TMPDIR/docs" && cd "$BATS_TEST_TMPDIR" || return 1
	ln -sfn "$ROOT"/tests/* tests/
	rm tests/tree && cp -r "$ROOT/tests/tree" tests/tree
	cat > docs/page.md
	echo > README.md
	run -1 "$HSDAG_PYTHON" tests/tree/docs.py -k page
}

# Those of all pages: make docs.
@test "a newcomer's commands run, all links lead somewhere, every record key and method is there" {
	needs_openvino
	two_cores
	run "$HSDAG_PYTHON" "$ROOT/tests/tree/docs.py" --few
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a command that fails is noticed" {
	wrong <<< $'```sh\nrecdump --no-such-option\n```'
	[[ $output == *"docs/page.md: exit status 2 of"* ]]
}

@test "a link to nowhere is noticed" {
	wrong <<< $'[a](nowhere.md) [b](page.md#here)'
	[[ $output == *"docs/page.md: no file 'nowhere.md'"* ]]
	[[ $output == *"docs/page.md: no heading 'page.md#here'"* ]]
}
