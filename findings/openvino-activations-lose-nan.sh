#!/bin/sh
# OpenVINO 2026.4.1, CPU plugin: single activations make numbers of NaN, though IEEE arithmetic would hand NaN on: Relu gives
# 0, Clamp its lower bound, Exp infinity.  Sigmoid and Sign give NaN.  So whoever looks for NaN in the outputs of a model in
# order to find a broken layer may find none.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import math, numpy as np, openvino as ov
from openvino import opset13 as o

operators = {"Relu": o.relu, "Clamp(-1, 1)": lambda x: o.clamp(x, -1, 1), "Exp": o.exp, "Sigmoid": o.sigmoid, "Sign": o.sign}
seen = {}
for name, make in operators.items():
    x = o.parameter([3], np.float32, name="x")
    compiled = ov.Core().compile_model(ov.Model([make(x)], [x], name), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    seen[name] = float(compiled([np.array([math.nan, -2, 2], np.float32)])[0][0])
print("OpenVINO", ov.get_version())
for name, value in seen.items():
    print("%s of NaN: %s" % (name, value))
assert seen["Relu"] == 0 and seen["Clamp(-1, 1)"] == -1 and seen["Exp"] == math.inf, "this has changed"
assert math.isnan(seen["Sigmoid"]) and math.isnan(seen["Sign"]), "this has changed"
E
