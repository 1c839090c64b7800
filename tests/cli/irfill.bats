#!/usr/bin/env bats
# irfill: what is there is kept, what is absent is filled, and models then run.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	export M=$ROOT/tests/models
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "irfill: the same seed gives the same bytes, another seed others" {
	xz -dc "$M/rnnlm.partial.xz" >part
	irfill "$M/rnnlm.xml" --partial part -o a
	irfill "$M/rnnlm.xml" --partial part >b
	irfill "$M/rnnlm.xml" --partial part --seed 2 -o c
	cmp a b
	run -1 cmp -s a c
	[ "$(stat -c %s a)" = "$(stat -c %s part)" ]
}

@test "irfill: what a partial .bin has is kept, what is absent gets the right spread" {
	xz -dc "$M/resnet50.partial.xz" >part
	irfill "$M/resnet50.xml" --partial part -o full
	run -0 "$HSDAG_PYTHON" - "$M/resnet50.xml" part full <<-'PY'
		import sys, numpy as np, xml.etree.ElementTree as ET
		net = ET.parse(sys.argv[1]).getroot()
		part, full = (np.fromfile(p, np.uint8) for p in sys.argv[2:])
		layers = {l.get("id"): l for l in net.find("layers")}
		next_of = {}
		for e in net.find("edges"):
		    next_of.setdefault(e.get("from-layer"), []).append(e.get("to-layer"))
		kinds = set()
		for i, l in layers.items():
		    if l.get("type") != "Const":
		        continue
		    d = l.find("data")
		    at, size = int(d.get("offset")), int(d.get("size"))
		    was, now = part[at:at + size], full[at:at + size]
		    shape = [int(x) for x in d.get("shape").split(",") if x.strip()]
		    if d.get("element_type") not in ("f16", "f32") or np.prod(shape) < 256 or was.any():
		        assert (was == now).all(), i
		        continue
		    x = now.view(np.float16 if d.get("element_type") == "f16" else np.float32).astype(float)
		    use = i
		    while layers[use].get("type") in ("Const", "Convert"):
		        use = next_of[use][0]
		    use = layers[use].get("type")
		    kinds.add(use)
		    if use == "Convolution":
		        want = 2 / np.prod(shape[1:])
		    elif use == "MatMul":
		        want = 1 / shape[-1]
		    else:
		        assert use == "Add" and abs(x).max() <= 0.1, use
		        want = 0.01 / 3
		    assert 0.8 < x.var() / want < 1.25, (i, use, x.var() / want)
		    assert abs(x.mean()) < 6 * (want / x.size) ** 0.5, (i, use, x.mean())
		assert kinds >= {"Convolution", "MatMul", "Add"}, kinds
	PY
}

@test "irfill: only float constants of 256 zeros and more count as absent" {
	cat >m.xml <<-'XML'
		<net name="zeros" version="11"><layers>
		<layer id="0" name="x" type="Parameter" version="opset1"><data shape="256" element_type="f32"/>
		<output><port id="0" precision="FP32"><dim>256</dim></port></output></layer>
		<layer id="1" name="many" type="Const" version="opset1"><data element_type="f32" shape="256" offset="0" size="1024"/>
		<output><port id="0" precision="FP32"><dim>256</dim></port></output></layer>
		<layer id="2" name="few" type="Const" version="opset1"><data element_type="f32" shape="255" offset="1024" size="1020"/>
		<output><port id="0" precision="FP32"><dim>255</dim></port></output></layer>
		<layer id="3" name="whole" type="Const" version="opset1"><data element_type="i64" shape="256" offset="2044" size="2048"/>
		<output><port id="0" precision="I64"><dim>256</dim></port></output></layer>
		<layer id="4" name="sum" type="Add" version="opset1"><input><port id="0"/><port id="1"/></input>
		<output><port id="2" precision="FP32"><dim>256</dim></port></output></layer>
		<layer id="5" name="r1" type="Result" version="opset1"><input><port id="0"/></input></layer>
		<layer id="6" name="r2" type="Result" version="opset1"><input><port id="0"/></input></layer>
		<layer id="7" name="r3" type="Result" version="opset1"><input><port id="0"/></input></layer>
		</layers><edges>
		<edge from-layer="0" from-port="0" to-layer="4" to-port="0"/>
		<edge from-layer="1" from-port="0" to-layer="4" to-port="1"/>
		<edge from-layer="4" from-port="2" to-layer="5" to-port="0"/>
		<edge from-layer="2" from-port="0" to-layer="6" to-port="0"/>
		<edge from-layer="3" from-port="0" to-layer="7" to-port="0"/>
		</edges></net>
	XML
	head -c 4092 /dev/zero >part
	irfill m.xml --partial part -o full
	run -1 cmp -s -n 1024 part full
	cmp -i 1024 part full
	head -c 2044 /dev/zero >part                 # now the integers are beyond its end
	run -3 irfill m.xml --partial part -o full2
	[[ $output == *"layer 3 'whole'"* ]]
}

@test "irfill: a whole .bin is not changed" {
	"$ROOT/tests/support/models.sh" googlenet d
	irfill d/googlenet.xml --seed 9 -o again
	cmp d/googlenet.bin again
}

@test "irfill: shapes and axes follow from the recorded dims" {
	for m in resnet50_tf inception_v3_tf mobilenet_v2_tf inception_ssd tensor_iterator loop_2d_add \
		 lstm_stateful; do
		run -0 irfill "$M/$m.xml" --partial none -o "$m.bin"
	done
}

@test "irfill: what cannot be inferred is named" {
	run -3 irfill "$M/bert_base.xml" --partial none -o x.bin
	[[ $output == *"bert_base.xml': layer "*"cannot be inferred"*"--partial"* ]]
	[ -z "$(ls -A)" ]
}

@test "irfill: filled models run in OpenVINO, finite and sensitive to their inputs" {
	needs_openvino
	for m in rnnlm nmt2 mobilenet_v3_large googlenet; do
		"$ROOT/tests/support/models.sh" $m .
	done
	for m in tensor_iterator loop_2d_add lstm_stateful inception_ssd; do
		irfill "$M/$m.xml" --partial none -o $m.bin
		cp "$M/$m.xml" .
	done
	run -0 "$HSDAG_PYTHON" - *.xml <<-'PY'
		import sys, numpy as np, openvino as ov
		core = ov.Core()
		for path in sys.argv[1:]:
		    c = core.compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
		    outs = []
		    for seed in (0, 1):
		        rng = np.random.default_rng(seed)
		        ins = [rng.standard_normal(list(p.shape)).astype(np.float32) if p.element_type.is_real()
		               else rng.integers(0, 1000, list(p.shape)) for p in c.inputs]
		        r = c(ins)
		        outs.append([np.array(r[o], float) for o in c.outputs])
		    for a, b in zip(*outs):
		        assert np.isfinite(a).all(), path
		        change = np.sqrt(((a - b) ** 2).mean() / (a ** 2).mean())
		        print(path, change)
		        assert change > 1e-3, (path, change)
	PY
}

@test "irfill: errors have their status and leave nothing behind" {
	run -1 irfill nowhere.xml -o x.bin
	run -1 irfill "$M/rnnlm.xml" --partial nowhere -o x.bin
	run -3 irfill "$ROOT/tests/bad/ir/cycle_two.xml" -o x.bin
	run -1 irfill "$M/tensor_iterator.xml" -o no/such/dir/x.bin
	run -1 bash -c 'irfill "$M/tensor_iterator.xml" >/dev/full'
	run -1 irfill "$M/tensor_iterator.xml" -o /dev/full
	run -0 irfill "$M/tensor_iterator.xml" -o /dev/null
	[ -c /dev/null ]
	run -2 irfill
	[ -z "$(ls -A)" ]
}
