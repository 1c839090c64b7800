#!/usr/bin/env bats
# ir2dag: real and odd models read right, bad ones refused with their place.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export M=$ROOT/tests/models
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

sizes() {   # MODEL: |V| |E| sets
	ir2dag --stats "$M/$1.xml" | awk -F'\t' '$1 == "graph" {v = $3; e = $5} $1 == "co-located" {s = $3} END {print v, e, s}'
}

# small SED-SCRIPT: a model of four layers, changed
small() {
	sed "$1" "$M/small_increment_1x3x4x5.xml" >m.xml
	printf '\0\0\200\077' >m.bin
}

@test "ir2dag: sizes of the paper's models before and after co-location" {
	[ "$(sizes resnet50)" = "396 411 237" ]
	[ "$(sizes inception_v3)" = "726 762 435" ]
	[ "$(sizes bert_base)" = "977 1043 759" ]
}

@test "ir2dag: every model agrees with an independent reading" {
	for m in "$M"/*.xml; do
		ir2dag "$m" -o a.mp
		recdump --check a.mp
		"$HSDAG_PYTHON" "$ROOT/tests/support/ir_check.py" compare "$m" a.mp
	done
}

@test "ir2dag: order of elements, layer ids and port ids do not matter" {
	for m in resnet50 nmt2 if_body loop_2d_add tensor_iterator inception_ssd lstm_stateful; do
		"$HSDAG_PYTHON" "$ROOT/tests/support/ir_check.py" shuffle "$M/$m.xml" s.xml 7
		ir2dag s.xml -o a.mp
		"$HSDAG_PYTHON" "$ROOT/tests/support/ir_check.py" compare s.xml a.mp
		[ "$(ir2dag --stats s.xml | grep -E '^(graph|co-located|constants|tensors|bodies)')" = \
		  "$(ir2dag --stats "$M/$m.xml" | grep -E '^(graph|co-located|constants|tensors|bodies)')" ]
	done
}

@test "ir2dag: odd models that OpenVINO writes agree with an independent reading" {
	needs_openvino
	mkdir g
	"$HSDAG_PYTHON" "$ROOT/tests/support/ir_gen.py" g
	[ "$(ls g/*.xml | wc -l)" -ge 12 ]
	for m in g/*.xml; do
		ir2dag "$m" -o a.mp
		"$HSDAG_PYTHON" "$ROOT/tests/support/ir_check.py" compare "$m" a.mp
		"$HSDAG_PYTHON" "$ROOT/tests/support/ir_check.py" shuffle "$m" s.xml 3
		ir2dag s.xml -o a.mp
		"$HSDAG_PYTHON" "$ROOT/tests/support/ir_check.py" compare s.xml a.mp
	done
}

@test "ir2dag: the same bytes after hdr for the same model, wherever it lies" {
	cp "$M/nmt2.xml" m.xml
	d1=$(ir2dag m.xml | recdump -k graph --tsv digest)
	d2=$(ir2dag "$M/nmt2.xml" | recdump -k graph --tsv digest)
	[ -n "$d1" ]
	[ "$d1" = "$d2" ]
	ir2dag m.xml >a
	ir2dag m.xml >b
	cmp a b
}

@test "ir2dag: paths in the record are absolute, and empty without a .bin" {
	small ''
	[ "$(ir2dag ./m.xml | recdump -k graph --tsv xml,weights)" = "$PWD/m.xml"$'\t'"$PWD/m.bin" ]
	rm m.bin
	[ "$(ir2dag m.xml | recdump -k graph --tsv xml,weights)" = "$PWD/m.xml"$'\t' ]
	run -0 --separate-stderr ir2dag -v -o /dev/null m.xml
	[[ $stderr == *"no weights file"* ]]
}

@test "ir2dag: every bad file is refused with its line and layer" {
	n=0
	for f in "$ROOT"/tests/bad/ir/*.xml; do
		want=$(sed -n 's/.*<!-- expect: \(.*\) -->.*/\1/p' "$f" | head -1)
		[ -n "$want" ]
		run -3 --separate-stderr bash -c 'ir2dag "$1" > out' _ "$f"
		[ ! -s out ]
		[[ $stderr == *"$(basename "$f"):"[0-9]*": "* && $stderr == *"$want"* ]] || { echo "$f: $stderr" >&2; false; }
		n=$((n + 1))
	done
	[ $n -ge 60 ]
}

@test "ir2dag: what OpenVINO accepts is accepted" {
	small 's/name="output"/name="const"/; s/copy_const"/const"/'                     # duplicate names
	run -0 ir2dag --stats m.xml
	small 's/<port id="0">/<port id="0" precision="FP16">/'                          # mismatched precision
	run -0 ir2dag --stats m.xml
	small 's/type="Add"/type="aDD"/; s/type="Const"/type="Constant"/'
	[ "$(ir2dag m.xml | recdump -k graph --tsv types)" = Parameter,Const,Add,Result ]
	awk '{print} /<layers>/ {printf "<!-- "; for (i = 0; i < 100000; i++) printf "long "; print "-->"}' \
		"$M/small_increment_1x3x4x5.xml" >m.xml
	run -0 ir2dag --stats m.xml
	for shape in '?' '-1' '1..8' '..8,3' '3..' '...' '[1,3]' '1, 3' ''; do
		small "s/shape=\"1,3,4,5\"/shape=\"$shape\"/"
		run -0 ir2dag --stats m.xml
	done
	small 's/version="opset1">/version="extension">/; s/type="Add"/type="MyOp"/'
	run -0 ir2dag --stats m.xml
	small 's/type="Add"/type="MyOp"/'
	run -3 ir2dag --stats m.xml
	run -0 ir2dag --any-operator --stats m.xml
}

# named TEXT - the small model with a layer whose name is TEXT in its file
named() {
	py '
		s = open(sys.argv[1]).read()
		open("m.xml", "w").write(s.replace("name=\"output\"", "name=\"" + sys.argv[2] + "\"", 1))
	' "$M/small_increment_1x3x4x5.xml" "$1"
}

@test "ir2dag: names that XML forbids and OpenVINO reads" {
	while IFS=$'\t' read -r written read; do
		named "$(printf '%b' "$written")"
		[ "$(ir2dag m.xml | recdump -k graph --tsv 'node_name[2]')" = "$read" ] || { echo "$written"; return 1; }
	done <<-'T'
	a < b	a < b
	<<a></a>	<<a></a>
	<!-- a -->	<!-- a -->
	a\x01b	a\x01b
	a&#01;b&#x1F;c	a\x01b\x1fc
	a&#1b&	a&#1b&
	a & b &none; &#xyz; &# &	a & b &none; &#xyz; &# &
	a&amp;&lt;&#38;&#x26;#1;	a&<&&#1;
	\xc3\xa4 &#228; &#xe4;	ä ä ä
	&#10;&#9;	\n\t
	T
}

@test "ir2dag: an IR in UTF-16" {
	small ''
	iconv -f UTF-8 -t UTF-16 m.xml > wide.xml
	[ "$(ir2dag wide.xml | recdump -k graph --tsv node_name)" = "$(ir2dag m.xml | recdump -k graph --tsv node_name)" ]
}

# around N - the small model with N elements around nothing in the rt_info of a layer
around() {
	py '
		n = int(sys.argv[2])
		s = open(sys.argv[1]).read()
		open("m.xml", "w").write(s.replace("</layer>", "<rt_info>" + "<a>" * n + "</a>" * n + "</rt_info></layer>", 1))
	' "$M/small_increment_1x3x4x5.xml" "$1"
}

@test "ir2dag: large attributes and deep elements are read, within bounds" {
	named BIG
	py 's = open("m.xml").read(); open("m.xml", "w").write(s.replace("BIG", "y" * 12000000))'
	[ "$(ir2dag m.xml | recdump -k graph --tsv 'node_name[2]' | wc -c)" -gt 12000000 ]
	around 1900
	run -0 ir2dag --stats m.xml
	around 100000
	run -3 ir2dag m.xml -o out.mp
	[[ $output == *"m.xml:"*": elements are nested more than 2000 deep" ]]
	py '
		s = open(sys.argv[1]).read()
		many = " ".join("k%d=\"\"" % i for i in range(5000))
		open("m.xml", "w").write(s.replace("</layer>", "<rt_info><a %s/></rt_info></layer>" % many, 1))
		open("long.xml", "w").write(s.replace("</layer>", "<!-- " + "x" * (65 << 20) + " --></layer>", 1))
	' "$M/small_increment_1x3x4x5.xml"
	run -3 ir2dag m.xml -o out.mp
	[[ $output == *"m.xml:"*": a tag with more than 4096 attributes" ]]
	run -3 ir2dag long.xml -o out.mp
	[[ $output == *"long.xml:"*": a tag or comment of more than 64 MiB" ]]
	rm long.xml
}

@test "ir2dag: unreachable layers are dropped and counted" {
	small 's|</layers>|<layer id="9" name="dead" type="Const" version="opset1"><data element_type="f32" offset="0" shape="1" size="4"/><output><port id="0" precision="FP32"><dim>1</dim></port></output></layer></layers>|'
	run -0 --separate-stderr ir2dag -v -o a.mp m.xml
	[[ $stderr == *"1 of 5 layers dropped"* ]]
	[ "$(ir2dag --stats m.xml | awk -F'\t' '$1 == "graph" {print $3, $5}')" = "4 3" ]
}

@test "ir2dag: the .bin is checked" {
	small ''
	printf 'abc' >m.bin
	run -3 --separate-stderr ir2dag m.xml
	[[ $stderr == *"m.xml:"*"layer 1 'const/Output_0/Data_/copy_const'"*"beyond the weights file"* ]]
	rm m.bin
	mkdir m.bin
	run -3 --separate-stderr ir2dag m.xml
	[[ $stderr == *"not a regular file"* ]]
	run -1 --separate-stderr ir2dag --weights nowhere.bin m.xml
	[[ $stderr == *"cannot open weights 'nowhere.bin'"* ]]
	head -c 4 /dev/zero >other.bin
	run -0 ir2dag --weights other.bin -o a.mp m.xml
}

@test "ir2dag: files that cannot be read are status 1" {
	run -1 --separate-stderr ir2dag nowhere.xml
	[[ $stderr == "ir2dag: error: cannot open 'nowhere.xml': No such file"* ]]
	mkdir d.xml
	run -1 --separate-stderr ir2dag d.xml
	[[ $stderr == *"is a directory"* ]]
	: >empty.xml
	run -3 --separate-stderr ir2dag empty.xml
	[[ $stderr == *"is empty; a download"* ]]
	run -2 ir2dag
	run -2 ir2dag a.xml b.xml
	run -1 bash -c 'ir2dag "$M/nmt2.xml" >/dev/full'
}

@test "ir2dag: constants can be dropped or folded, and co-location turned off" {
	count() { ir2dag --stats "$M/resnet50.xml" "$@" | awk -F'\t' '$1 == "co-located" {print $3}'; }
	[ "$(count --no-colocate)" -eq 396 ]
	[ "$(count --no-colocate --constants drop)" -eq $((396 - 110)) ]
	[ "$(count --no-colocate --constants fold)" -eq $((396 - 110 - 108)) ]
	[ "$(count --constants fold)" -lt 237 ]
}

@test "ir2dag: truncated anywhere, a model is refused without a crash" {
	small ''
	size=$(wc -c <m.xml)
	mv m.xml whole.xml
	for ((k = 0; k < size - 12; k += 53)); do
		head -c $k whole.xml >m.xml
		run -3 ir2dag m.xml
	done
}

@test "ir2dag: a hundred thousand layers in memory proportional to the graph" {
	no_sanitizer
	awk 'BEGIN {
		print "<net name=\"long\" version=\"11\"><layers>"
		p = "<port id=\"%d\" precision=\"FP32\"><dim>1</dim></port>"
		printf "<layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\"><data shape=\"1\" element_type=\"f32\"/><output>" p "</output></layer>\n", 0
		for (i = 1; i < 100000; i++)
			printf "<layer id=\"%d\" name=\"r%d\" type=\"ReLU\" version=\"opset1\"><input>" p "</input><output>" p "</output></layer>\n", i, i, 0, 1
		printf "<layer id=\"100000\" name=\"y\" type=\"Result\" version=\"opset1\"><input>" p "</input></layer></layers><edges>\n", 0
		for (i = 100000; i > 0; i--)
			printf "<edge from-layer=\"%d\" from-port=\"%d\" to-layer=\"%d\" to-port=\"0\"/>\n", i - 1, (i > 1), i
		print "</edges></net>"
	}' >long.xml
	run -0 bash -c 'ulimit -v 300000; ir2dag --stats long.xml'
	[[ $output == *"|V|"$'\t'"100001"$'\t'"|E|"$'\t'"100000"* ]]
}

@test "ir2dag: of shapes with open dims that is known which no size changes, and nothing else" {
	py '
		sys.path.insert(0, os.environ["ROOT"] + "/tests/support")
		from tiny_ir import Model
		m = Model("open")
		i64 = lambda *v: m.const("c%d" % len(m.layers), "i64", np.array(v, np.int64), (len(v),))
		one = lambda v: m.const("c%d" % len(m.layers), "i64", np.array(v, np.int64), ())
		def length(x, rank, axis, name):
			return m.layer("Gather", name, "i64", (1,), m.layer("ShapeOf", name + "/of", "i64", (rank,), x, opset="opset3", output_type="i64"),
			               i64(axis), one(0), opset="opset8", batch_dims=0)
		def filled(name, *lengths):
			to = m.layer("Concat", name + "/to", "i64", (len(lengths),), *lengths, axis=0)
			m.result(m.layer("Broadcast", name, "f32", (-1,) * len(lengths), m.const(name + "/c", "f32", np.float32(1), ()), to, opset="opset3", mode="numpy"))
		past = m.layer("Parameter", "past", "f32", (1, 4, -1, 8))
		new = m.layer("Parameter", "new", "f32", (1, 4, 2, 8))
		x, y = (m.layer("Parameter", n, "f32", (-1, 4)) for n in "xy")
		both = m.layer("Concat", "both", "f32", (1, 4, -1, 8), past, new, axis=2)
		p = length(both, 4, 2, "p")
		# Keys of a group of three queries: of the five numbers one alone is open.
		to = m.layer("Concat", "to", "i64", (5,), i64(1), i64(4), i64(3), p, i64(8), axis=0)
		wide = m.layer("Broadcast", "wide", "f32", (-1,) * 5, m.layer("Unsqueeze", "apart", "f32", (1, 4, 1, -1, 8), both, i64(2)), to, opset="opset3", mode="bidirectional")
		heads = m.layer("Reshape", "heads", "f32", (-1,) * 4, wide, i64(0, 12, -1, 8), special_zero="true")
		q = m.layer("Parameter", "q", "f32", (1, 12, 2, 8))
		scores = m.layer("MatMul", "scores", "f32", (-1,) * 4, q, heads, transpose_a="false", transpose_b="true")
		m.result(m.layer("MatMul", "answer", "f32", (-1,) * 4, m.layer("Softmax", "soft", "f32", (-1,) * 4, scores, opset="opset8", axis=-1), heads,
		                 transpose_a="false", transpose_b="false"))
		# Known only if two lengths are equal, which nothing says.
		n, k = length(x, 2, 0, "n"), length(y, 2, 0, "k")
		filled("less", m.layer("Add", "d1", "i64", (1,), m.layer("Subtract", "d", "i64", (1,), n, k), i64(3)), i64(5))
		# Where sizes are large both are constant.
		filled("rest", m.layer("Maximum", "most", "i64", (1,), m.layer("Subtract", "left", "i64", (1,), i64(128), n), i64(0)), i64(6))
		filled("window", m.layer("Minimum", "least", "i64", (1,), n, i64(100)), i64(7))
		# Of many sizes the half is even.
		filled("odd", m.layer("FloorMod", "odd/of", "i64", (1,), m.layer("Divide", "half", "i64", (1,), n, i64(2), m_pythondiv="true"), i64(2)), i64(8))
		# They must be equal, as they are added up: then the difference is zero.
		z = m.layer("Add", "z", "f32", (-1, 4), x, y, auto_broadcast="none")
		filled("same", m.layer("Add", "s1", "i64", (1,), m.layer("Subtract", "s", "i64", (1,), length(z, 2, 0, "zn"), length(z, 2, 0, "zk")), i64(3)), n)
		m.save()
	'
	ir2dag --shape 'past=1,4,?,8' open.xml -o g.mp
	ir2dag --shape 'past=1,4,6,8;x=3,4;y=3,4' open.xml -o six.mp
	ir2dag --shape 'past=1,4,0,8;x=200,4;y=200,4' open.xml -o none.mp
	py '
		def shapes(f):
			g = of(f, "graph")[0]
			at, rank, first, dim = (array(g[k]) for k in ("out_ptr", "out_rank", "dim_ptr", "dim"))
			return {n: tuple(dim[first[at[v]]:first[at[v] + 1]]) for v, n in enumerate(g["node_name"]) if at[v] < at[v + 1]}
		g = shapes("g.mp")
		assert g["wide"] == (1, 4, 3, -1, 8) and g["heads"] == (1, 12, -1, 8) and g["scores"] == (1, 12, 2, -1) and g["answer"] == (1, 12, 2, 8), g
		assert g["less"] == (-1, 5) and g["rest"] == (-1, 6) and g["window"] == (-1, 7) and g["odd"] == (-1, 8) and g["same"] == (3, -1), g
		for f in "six.mp", "none.mp":
			for n, s in shapes(f).items():
				assert len(s) == len(g[n]) and all(a in (-1, b) for a, b in zip(g[n], s)), (f, n, g[n], s)
	'
}

@test "ir2dag: how often branches and loops run is told, and costs follow it" {
	needs_openvino
	py '
		import openvino as ov
		from openvino import opset13 as op
		rng = np.random.default_rng(1)
		def body(k):
		    t = p = op.parameter([8, 64], np.float32)
		    for _ in range(k):
		        t = op.tanh(op.matmul(t, op.constant(rng.standard_normal((64, 64)).astype(np.float32) / 8), False, False))
		    return ov.Model([op.result(t)] + ([op.result(op.constant(True))] if k == 2 else []), [p], "body"), p, t.output(0)
		x, c, n = op.parameter([8, 64], np.float32), op.parameter([], bool), op.parameter([], np.int64)
		(a, pa, ya), (b, pb, yb), (l, pl, yl) = body(6), body(1), body(2)
		choice, rounds = op.if_op(c), op.loop(n.output(0), op.constant(True).output(0))
		choice.set_then_body(a)
		choice.set_else_body(b)
		choice.set_input(x.output(0), pa, pb)
		y = choice.set_output(a.results[0], b.results[0])
		rounds.set_function(l)
		rounds.set_special_body_ports([-1, 1])
		rounds.set_merged_input(pl, y, yl)
		z = rounds.get_iter_value(yl, -1)
		for node, name in (choice, "choice"), (rounds, "rounds"), (x, "x"):
		    node.set_friendly_name(name)
		ov.save_model(ov.Model([op.result(z)], [x, c, n], "flow"), "flow.xml", compress_to_fp16=False)
		os.mkdir("in")
		for i, v in enumerate((np.ones((8, 64), np.float32), np.array(True), np.array(4))):
		    np.save(f"in/{i}.npy", v)
	'
	echo 'device one flops 1e9 bandwidth 1e15 overhead 0' > one.spec
	for o in '' '--branch choice:then=1' '--branch choice:else=0.75' '--branch c*:then=0' '--trips rounds=20'; do
		# shellcheck disable=SC2086
		ir2dag flow.xml $o | devsim --probe --spec one.spec -o "spec$o.mp"
		# shellcheck disable=SC2086
		ir2dag flow.xml $o | devrun probe --profile --max-seconds 0.02 -D cpu:0 --inputs in -o "run$o.mp"
	done
	py '
		def took(file):
		    s, g = of(file + ".mp", "cost")[0]["set_s"], of(file + ".mp", "graph")[0]
		    s = np.frombuffer(s["data"], "<f8").reshape(s["shape"])[:, 0]
		    return [s[np.frombuffer(g["set"]["data"], "<u4")[g["node_name"].index(n)]] for n in ("choice", "rounds")]
		(large, one), (then, _), (mean, _), (other, _), (_, many) = (took("spec" + o) for o in sys.argv[1:])
		assert then == large and abs(other / then - 1 / 6) < 1e-3 and abs(mean - (then + 3 * other) / 4) < 1e-3 * mean, (large, then, mean, other)
		assert abs(many / one - 20) < 1e-3, (one, many)
		# Of the same run: told as it was, it stays as it is.
		(large, four), (then, _), (mean, _), (other, _), (_, many) = (took("run" + o) for o in sys.argv[1:])
		assert other < then / 2 and other < large / 2 and many > 2 * four, (large, then, other, four, many)
	' '' '--branch choice:then=1' '--branch choice:else=0.75' '--branch c*:then=0' '--trips rounds=20'
	ir2dag flow.xml --trips rounds=20 | devsim --probe --spec one.spec | placebase single | placeout --format report |
		grep -qx "control flow: 'choice' counts as its larger branch (nobody said how often: --branch), 'rounds' has 20 rounds"
	run -2 --separate-stderr ir2dag flow.xml --branch rounds:then=0.5
	[ "$stderr" = "ir2dag: error: --branch 'rounds:then=0.5': 'rounds' is a Loop, not an operation with branches (If)" ]
	run -2 --separate-stderr ir2dag flow.xml --trips nothing=3
	[ "$stderr" = "ir2dag: error: --trips 'nothing=3': the model has no Loop or TensorIterator called 'nothing'; it has 'rounds'" ]
	run -2 --separate-stderr ir2dag flow.xml --branch choice:then=2
	[[ $stderr == *"is not IF:then=SHARE or IF:else=SHARE, a share of 0 to 1" ]]
	run -2 --separate-stderr ir2dag flow.xml --trips rounds=0
}
