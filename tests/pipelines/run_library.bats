#!/usr/bin/env bats
# libhsdag-run: installed into a directory, with an example in C and one through ctypes, outputs as devrun run has them;
# what is refused; what the library exports.
# programs: devrun
# seconds: 30
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export T=$BATS_FILE_TMPDIR
	# Where the build is sanitized, so is what links with it.
	export SAN=
	! ldd "$B/bin/devrun" | grep -q libasan || SAN=-fsanitize=address,undefined
	make -s -C "$ROOT" B="$B" DEPS=true SAN="$SAN" install-run PREFIX=/usr DESTDIR="$T/tree" > install.log 2>&1 || { cat install.log; return 1; }
	export LD_LIBRARY_PATH=$T/tree/usr/lib PKG_CONFIG_PATH=$T/tree/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$T/tree
	models rnnlm lstm_stateful
	placebase random -D cpu:0,cpu:1 --draw biased --seed 3 rnnlm.mp -o placed.mp
	devrun run -n 1 --warmup 0 --allow-shared --save-inputs in --outputs out -o ran.mp placed.mp
	# shellcheck disable=SC2046,SC2086
	"${CC:-gcc}" -std=c11 -Wall -Wextra -Werror $SAN "$ROOT/share/examples/run.c" $(pkg-config --cflags --libs hsdag-run) -o example
	cat > short.c <<-'C'
		#include <hsdag/run.h>
		#include <stdio.h>
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			char why[HSDAG_ERROR_BYTES];
			hsdag_model *m;
			hsdag_status s = hsdag_open(argv[1], NULL, &m, why, sizeof why);
			if (s != HSDAG_OK) {
				puts(why);
				return (int)s;
			}
			for (int i = 0; i < 2; i++)
				if ((s = hsdag_run(m)) != HSDAG_OK)
					puts(hsdag_error(m));
			if (argc > 2 && s == HSDAG_OK) {
				for (int i = 0; i < 2; i++)     /* what could not be had may be there now */
					if (hsdag_set_shapes(m, argv[2]) != HSDAG_OK)
						puts(hsdag_error(m));
				s = hsdag_run(m);
			}
			hsdag_close(m);
			return s == HSDAG_OK ? 0 : 99;
		}
	C
	# shellcheck disable=SC2046,SC2086
	"${CC:-gcc}" -std=c11 -Wall -Werror $SAN short.c $(pkg-config --cflags --libs hsdag-run) -o short
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "an example in C, linked with the installed library, has the outputs of devrun run" {
	py 'for i in range(len(os.listdir("in")) - 1): np.load(f"in/{i}.npy").tofile(f"in{i}.raw")'
	run -0 ./example placed.mp $(ls in?.raw)
	echo "$output"
	py '
		n = len([f for f in os.listdir("out") if f.endswith(".npy")])
		assert n > 0
		for i in range(n):
		    y = np.load(f"out/{i}.npy")
		    got = np.fromfile(f"{i}.raw", y.dtype).reshape(y.shape)
		    assert np.array_equal(got, y), i
	'
	run -1 ./example
	run -1 ./example nothing.mp
	[ "$output" = "example: cannot open 'nothing.mp': No such file or directory" ]
}

@test "the static library serves, too" {
	# shellcheck disable=SC2046,SC2086
	"${CC:-gcc}" -std=c11 $SAN "$ROOT/share/examples/run.c" $(pkg-config --cflags hsdag-run) tree/usr/lib/libhsdag-run.a \
		$(pkg-config --static --libs-only-l hsdag-run | sed 's/-lhsdag-run//') -o static
	LD_LIBRARY_PATH='' run -0 ./static placed.mp $(ls in?.raw)
}

@test "ctypes: outputs, errors with their text, variables" {
	local before=
	[ -z "$SAN" ] || before="LD_PRELOAD=$("${CC:-gcc}" -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"     # Python leaves its own
	# shellcheck disable=SC2086
	run -0 env $before PYTHONPATH="$ROOT/share/examples:$PYTHONPATH" "$HSDAG_PYTHON" - <<-'PY'
		import ctypes, glob
		import numpy as np
		from hsdag_run import Model, Tensor
		n_in, n_out = len(glob.glob("in/*.npy")), len(glob.glob("out/*.npy"))
		m = Model("placed.mp")
		inputs = [np.load(f"in/{i}.npy") for i in range(n_in)]
		for _ in range(2):
		    for got, i in zip(m.run(inputs), range(n_out), strict=True):
		        assert np.array_equal(got, np.load(f"out/{i}.npy")), i
		t, lib = Tensor(), m.lib
		assert lib.hsdag_run_api() == 2
		assert lib.hsdag_input(m.model, ctypes.c_size_t(n_in), ctypes.byref(t)) == 2
		assert lib.hsdag_error(m.model) == f"no input {n_in}; the model has {n_in}, counted from 0".encode(), lib.hsdag_error(m.model)
		assert lib.hsdag_output(m.model, ctypes.c_size_t(99), ctypes.byref(t)) == 2
		data = ctypes.create_string_buffer(3)
		assert lib.hsdag_set_input(m.model, ctypes.c_size_t(0), data, ctypes.c_size_t(3)) == 2
		assert b" bytes (" in lib.hsdag_error(m.model) and b"not 3" in lib.hsdag_error(m.model)
		assert lib.hsdag_input(m.model, ctypes.c_size_t(0), ctypes.byref(t)) == 0
		assert lib.hsdag_set_input(m.model, ctypes.c_size_t(0), None, ctypes.c_size_t(t.bytes)) == 2
		assert lib.hsdag_error(m.model) == b"no data for an input", lib.hsdag_error(m.model)
		assert lib.hsdag_input(m.model, ctypes.c_size_t(0), ctypes.byref(t)) == 0 and lib.hsdag_error(m.model) == b""
		m.close()
		lib.hsdag_close(None)
		for bad in "ran", "no stream", "":
		    open("bad.mp", "w").write(bad)
		    try:
		        Model("bad.mp")
		        raise SystemExit("opened " + bad)
		    except RuntimeError as e:
		        assert str(e), bad
	PY
	[ -z "$output" ]
}

@test "other shapes: outputs as devrun has them, the placement that is fastest for each list" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	at() { echo "x=1,$1,16;beam_idx=1;*.cache=1,5,16"; }
	ir2dag grows.xml --case "$(at 4)" --case "$(at 64):3" | placebase single -D cpu:0,cpu:1 -o both.mp
	devrun run -n 2 --allow-shared --no-reference both.mp -o cases.mp
	# What the two placements took is written down: which one is faster changes at the middle.
	written_times cases.mp cases.mp short long
	placeout --format report cases.mp > report
	grep -qx '  short: from case 1 to 50 % of the way from case 1 to case 2' report
	grep -qx '  long: from 50 % of the way from case 1 to case 2 to case 2' report
	placeout --format json cases.mp > report.json
	py 'assert [(r["from"], r["to"], r["best"]) for r in json.load(open("report.json"))["ranges"]] == [(0, 0.5, "short"), (0.5, 1, "long")]'
	local n
	for n in 4 20 40 64 80; do
		ir2dag grows.xml --shape "$(at $n)" | placebase single -D cpu:0 |
			devrun run -n 1 --warmup 0 --no-reference --save-inputs "in.$n" --outputs "out.$n" -o one.mp
	done
	local before=
	[ -z "$SAN" ] || before="LD_PRELOAD=$("${CC:-gcc}" -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
	# shellcheck disable=SC2086
	run -0 env $before PYTHONPATH="$ROOT/share/examples:$PYTHONPATH" "$HSDAG_PYTHON" - <<-'PY'
		import glob
		import numpy as np
		from hsdag_run import Model
		m = Model("cases.mp")
		at = "x=1,%d,16;beam_idx=1;*.cache=1,5,16"
		for n in (4, 20, 64, 40, 80, 20, 4, 64):       # more lists than are kept
		    m.set_shapes(at % n)
		    y = m.run([np.load(f"in.{n}/{i}.npy") for i in range(len(glob.glob(f"in.{n}/*.npy")))])
		    for i, got in enumerate(y):
		        want = np.load(f"out.{n}/{i}.npy")
		        assert got.shape == want.shape and np.allclose(got, want, atol=1e-5), (n, i)
		    used = m.lib.hsdag_placed_by(m.model)
		    assert used == (b"short" if n < 34 else b"long"), (n, used)
		def refused(shapes, text):
		    try:
		        m.set_shapes(shapes)
		    except RuntimeError as e:
		        assert text in str(e), e
		        return
		    raise SystemExit("took " + shapes)
		refused("y=1,2", "no input or variable 'y'")
		refused("x=1,?,16;beam_idx=1;*.cache=1,5,16", "input without a static shape: 'x'")
		refused("x=1,4,17;beam_idx=1;*.cache=1,5,16", "layer ")
		refused("nonsense", "nonsense")
		y = m.run()                                     # the shapes of before
		assert y[0].shape[1] == np.load("out.64/0.npy").shape[1], y[0].shape
		m.set_shapes("")
		assert m.run()[0].shape == np.load("out.4/0.npy").shape
		m.close()
	PY
}

@test "shapes that are a case have its placement, whatever else has the same sum; constants are read where they are" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	at() { echo "x=1,$1,16;beam_idx=1;*.cache=1,$2,16"; }
	ir2dag grows.xml --case "$(at 9 5)" --case "$(at 4 10)" | placebase single -D cpu:0,cpu:1 -o tie.mp
	devrun run -n 2 --allow-shared --no-reference tie.mp -o tie.ran.mp
	written_times tie.ran.mp tie.mp first second
	mkdir -p moved && mv grows.bin moved/
	local before=
	[ -z "$SAN" ] || before="LD_PRELOAD=$("${CC:-gcc}" -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
	# shellcheck disable=SC2086
	run -0 env $before PYTHONPATH="$ROOT/share/examples:$PYTHONPATH" "$HSDAG_PYTHON" - <<-'PY'
		import ctypes
		from hsdag_run import Model
		class Options(ctypes.Structure):
		    _fields_ = [("size", ctypes.c_size_t), ("weights", ctypes.c_char_p), ("devices", ctypes.c_char_p), ("timeout_s", ctypes.c_double),
		                ("keep_state", ctypes.c_int), ("allow_shared", ctypes.c_int)]
		m, o = Model.__new__(Model), Options(ctypes.sizeof(Options), b"moved/grows.bin", None, 0, 0, 1)
		m.lib, m.model = ctypes.CDLL("libhsdag-run.so.1"), ctypes.c_void_p()
		m.lib.hsdag_error.restype = m.lib.hsdag_placed_by.restype = ctypes.c_char_p
		m.lib.hsdag_n_inputs.restype = m.lib.hsdag_n_outputs.restype = ctypes.c_size_t
		assert m.lib.hsdag_open(b"tie.mp", ctypes.byref(o), ctypes.byref(m.model), None, ctypes.c_size_t(0)) == 0
		o.weights = b"gone.bin"                         # the library has a copy
		for x, cache, by in (9, 5, b"first"), (4, 10, b"second"):
		    m.set_shapes(f"x=1,{x},16;beam_idx=1;*.cache=1,{cache},16")
		    assert m.lib.hsdag_placed_by(m.model) == by, (x, cache)
		    m.run()
		m.close()
	PY
}

@test "variables last where that is asked for, until they are reset" {
	placebase single -D cpu:0 lstm_stateful.mp -o state.mp
	cat > state.c <<-'C'
		#include <hsdag/run.h>
		#include <stdio.h>
		#include <string.h>
		static float first[1 << 16];
		static int differs(hsdag_model *m)
		{
			hsdag_tensor t;
			if (hsdag_run(m) != HSDAG_OK || hsdag_output(m, 0, &t) != HSDAG_OK || t.bytes > sizeof first)
				return -1;
			int d = memcmp(first, t.data, t.bytes) != 0;
			memcpy(first, t.data, t.bytes);
			return d;
		}
		int main(int argc, char **argv)
		{
			(void)argc;
			for (int keep = 0; keep < 2; keep++) {
				hsdag_options o = {.size = sizeof o, .keep_state = keep};
				hsdag_model *m;
				hsdag_tensor t;
				if (hsdag_open(argv[1], &o, &m, NULL, 0) != HSDAG_OK || hsdag_input(m, 0, &t) != HSDAG_OK)
					return 1;
				for (size_t i = 0; i < t.bytes / sizeof(float); i++)
					((float *)t.data)[i] = 0.5F;
				memset(first, 0, sizeof first);
				int a = differs(m), b = differs(m), c;
				float after_two[16];
				memcpy(after_two, first, sizeof after_two);
				hsdag_reset(m);
				c = differs(m);
				differs(m);
				printf("%d %d %d %d\n", a, b, c, memcmp(after_two, first, sizeof after_two) != 0);
				hsdag_close(m);
			}
			return 0;
		}
	C
	# shellcheck disable=SC2046,SC2086
	"${CC:-gcc}" -std=c11 -Wall -Werror $SAN state.c $(pkg-config --cflags --libs hsdag-run) -o state
	run -0 ./state state.mp
	[ "$output" = "1 0 0 0"$'\n'"1 1 1 0" ]
}

@test "memory that cannot be had is an error, wherever that is: no signal, and the model runs again" {
	"$HSDAG_PYTHON" "$ROOT/tests/support/stateful_models.py" .
	ir2dag grows.xml --shape 'x=1,4,16;beam_idx=1;*.cache=1,5,16' | placebase random -D cpu:0,cpu:1 --draw biased --seed 3 -o short.mp
	for shapes in '' 'x=1,9,16;beam_idx=1;*.cache=1,5,16'; do
		run -0 ./short short.mp ${shapes:+"$shapes"}
		[ -z "$output" ]
		opened=0 refused=0
		# Early allocations one by one, then ever larger steps, until all are had.
		for ((k = 1; k < 20000; k += 1 + k / 12)); do
			rc=0
			HSDAG_FAIL_ALLOC=$k ./short short.mp ${shapes:+"$shapes"} > said || rc=$?
			case $rc in
			0) opened=$((opened + 1)) ;;
			1) refused=$((refused + 1)); grep -q memory said || { cat said; return 1; } ;;
			*) echo "allocation $k: status $rc: $(cat said)"; return 1 ;;
			esac
		done
		echo "opened $opened, refused $refused"
		[ $refused -gt 10 ]
		[ $opened -gt 0 ]
	done
	[ -z "$SAN" ] || return 0
	# The address space of the process, in KiB.
	refused=0
	for ((v = 30000; v < 400000; v += v / 10)); do
		rc=0
		(ulimit -v $v; exec ./short short.mp) > said 2> /dev/null || rc=$?
		case $rc in
		0 | 127) ;;      # 127: not even the library
		1) refused=$((refused + 1)) ;;
		*) echo "ulimit -v $v: status $rc: $(cat said)"; return 1 ;;
		esac
	done
	[ $refused -gt 0 ]
}

@test "no model is so large that memory ends a process: pieces of more than 32 MiB are errors, too" {
	[ -z "$SAN" ] || skip "address space says nothing beside AddressSanitizer"
	# 240,000 layers: their operators are one piece of 61 MB; steps are many small ones, of more than all that is set aside.
	py '
		n, shape = 240000, "<dim>4</dim>"
		port = lambda i: "<port id=\"%d\" precision=\"FP32\">%s</port>" % (i, shape)
		layer = lambda i, kind, more, n_in, out: "<layer id=\"%d\" name=\"a%d\" type=\"%s\" version=\"opset1\">%s<input>%s</input>%s</layer>" % (
		    i, i, kind, more, "".join(map(port, range(n_in))), "<output>%s</output>" % port(9) if out else "")
		edge = lambda a, b, to: "<edge from-layer=\"%d\" from-port=\"9\" to-layer=\"%d\" to-port=\"%d\"/>" % (a, b, to)
		layers, edges = [layer(0, "Parameter", "<data shape=\"4\" element_type=\"f32\"/>", 0, True)], []
		for i in range(1, n):
		    adds = i % 3 == 0
		    layers.append(layer(i, *("Add", "<data auto_broadcast=\"numpy\"/>", 2, True) if adds else ("ReLU", "", 1, True)))
		    edges += [edge(i - 1, i, 0)] + ([edge(i - 2, i, 1)] if adds else [])
		layers.append(layer(n, "Result", "", 1, False))
		edges.append(edge(n - 1, n, 0))
		open("long.xml", "w").write("<net name=\"n\" version=\"11\"><layers>%s</layers><edges>%s</edges></net>" % ("".join(layers), "".join(edges)))
		open("long.bin", "w")
	'
	ir2dag long.xml | placebase random -D cpu:0,cpu:1 --seed 1 -o long.mp
	refused=0
	for ((v = 120000; v < 800000; v += v / 8)); do
		rc=0
		(ulimit -v $v; exec ./short long.mp) > said 2> /dev/null || rc=$?
		[ $rc -eq 1 ] || { echo "ulimit -v $v: status $rc: $(cat said)"; return 1; }
		grep -q memory said || { cat said; return 1; }
		refused=$((refused + 1))
	done
	[ $refused -gt 5 ]
}

@test "nothing but its own names can be seen, and uninstall takes all away" {
	run -0 nm -D --defined-only tree/usr/lib/libhsdag-run.so.1
	[ -z "$(awk '$2 != "A" { print $3 }' <<< "$output" | grep -v '^hsdag_')" ]
	[ "$(grep -c ' T hsdag_' <<< "$output")" -eq 15 ]
	run -0 nm -g --defined-only tree/usr/lib/libhsdag-run.a
	[ -z "$(awk 'NF == 3 { print $3 }' <<< "$output" | grep -v '^hsdag_')" ]
	readelf -d tree/usr/lib/libhsdag-run.so.1 | grep -q 'SONAME.*libhsdag-run.so.1'
	# All that the header declares.
	grep -o 'hsdag_[a-z_]*(' tree/usr/include/hsdag/run.h | tr -d '(' | sort -u > declared
	for f in open close error run n_inputs n_outputs input set_input output reset version run_api on_out_of_memory; do grep -qx hsdag_$f declared; done
	make -s -C "$ROOT" B="$B" DEPS=true uninstall-run PREFIX=/usr DESTDIR="$T/tree"
	[ -z "$(find tree -type f -o -type l)" ]
}
