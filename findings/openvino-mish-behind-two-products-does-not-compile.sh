#!/bin/sh
# OpenVINO 2026.4.1, CPU: two products of few rows, one behind the other, are fused with the activation behind them.  Where that is Mish there
# is no code for it in the fused kernel, and the model is not compiled.  Which products are fused depends on the number of threads: a model
# that compiles with two does not with one.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

def net(act, threads):
    x = y = o.parameter([1, 8], np.float32)
    for a, b in ((8, 16), (16, 8)):
        y = o.matmul(y, o.constant(np.ones((a, b), np.float32)), False, False)
    try:
        ov.Core().compile_model(ov.Model([act(y).output(0)], [x], "m"), "CPU",
                                {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads})
        return "runs"
    except RuntimeError as e:
        return "refused: " + " ".join(str(e).split())[-64:]

acts = {"Mish": o.mish, "Swish": o.swish, "HSwish": o.hswish, "Tanh": o.tanh, "Relu": o.relu}
print("OpenVINO", ov.get_version())
seen = {(name, n): net(act, n) for name, act in acts.items() for n in (1, 2)}
for (name, n), what in seen.items():
    print("%s, threads: %d: %s" % (name, n, what))
assert "Mish" in seen["Mish", 1] and all(what == "runs" for key, what in seen.items() if key != ("Mish", 1)), "this has changed"
E
