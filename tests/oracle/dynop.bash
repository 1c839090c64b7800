# dynop.bash - for control.bats and dynamic.bats, behind common.bash: models of dynop.py through the
# pipeline, compared with OpenVINO.

dynop_setup_file() {
	common_setup_file
	has_openvino || return 0
	"$HSDAG_PYTHON" "$ROOT/tests/oracle/dynop.py" gen "$BATS_FILE_TMPDIR"
}

dynop_setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# agrees NAME [SHAPES [RUNS [SEED]]] - on one device and placed over two
agrees() {
	needs_openvino
	local runs=${3:-1} how m=$BATS_FILE_TMPDIR/$1.xml
	local -a shape=() keep=()
	[ -z "${2:-}" ] || shape=(--shape "$2")
	[ "$runs" = 1 ] || keep=(--keep-state)
	rm -rf r && "$HSDAG_PYTHON" "$ROOT/tests/oracle/dynop.py" ref "$BATS_FILE_TMPDIR" "$1" r ${2:+-s "$2"} -n "$runs" --seed "${4:-1}"
	ir2dag "${shape[@]}" "$m" -o g.mp
	for how in single "random -n 2"; do
		# shellcheck disable=SC2086
		placebase $how -D cpu:0,cpu:1 g.mp |
			devrun --allow-shared --no-reference --warmup 0 -n "$runs" "${keep[@]}" -i r/in --outputs r/out -o run.mp
		[ "$(recdump -k run --tsv ok run.mp | sort -u)" = true ]
		run -0 "$HSDAG_PYTHON" "$ROOT/tests/oracle/dynop.py" compare r
	done
}
