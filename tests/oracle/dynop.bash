# dynop.bash - for control.bats and dynamic.bats, behind common.bash: models of dynop.py through the
# pipeline, compared with OpenVINO.

dynop_setup_file() {
	common_setup_file
	has_openvino || return 0
	"$HSDAG_PYTHON" "$ROOT/tests/oracle/dynop.py" gen "$BATS_FILE_TMPDIR"
}

dynop_setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# agrees CASE... - each on one device and placed over two; CASE: NAME[/SHAPES[/RUNS[/SEED]]].  Python begins twice for
# all of them: OpenVINO takes longer to load than a case to run.
agrees() {
	needs_openvino
	local case name shapes runs i=0 how
	local -a keep
	rm -rf r && "$HSDAG_PYTHON" "$ROOT/tests/oracle/dynop.py" ref "$BATS_FILE_TMPDIR" r "$@"
	for case; do
		IFS=/ read -r name shapes runs _ <<< "$case"
		keep=()
		[ "${runs:-1}" = 1 ] || keep=(--keep-state)
		ir2dag ${shapes:+--shape "$shapes"} "$BATS_FILE_TMPDIR/$name.xml" -o g.mp
		for how in single "random -n 2"; do
			# shellcheck disable=SC2086
			placebase $how -D cpu:0,cpu:1 g.mp |
				devrun --allow-shared --no-reference --warmup 0 -n "${runs:-1}" "${keep[@]}" -i r/$i/in \
					--outputs "r/$i/${how%% *}" -o run.mp
			[ "$(recdump -k run --tsv ok run.mp | sort -u)" = true ]
		done
		i=$((i + 1))
	done
	run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/dynop.py" compare r
}
