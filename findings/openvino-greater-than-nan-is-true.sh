#!/bin/sh
# OpenVINO 2026.4.1, CPU plugin: Greater and GreaterEqual of NaN and a number are true, where IEEE comparisons with NaN are all
# false but "not equal".  Less, LessEqual and Equal are false.  A model that masks by `x > limit` keeps its NaN.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

operators = {"Greater": o.greater, "GreaterEqual": o.greater_equal, "Less": o.less, "LessEqual": o.less_equal, "Equal": o.equal}
seen = {}
for name, make in operators.items():
    x = o.parameter([3], np.float32, name="x")
    compiled = ov.Core().compile_model(ov.Model([make(x, o.constant(np.float32(2)))], [x], name), "CPU")
    seen[name] = bool(compiled([np.array([np.nan, 1, 3], np.float32)])[0][0])
print("OpenVINO", ov.get_version())
print("of NaN and 2:", seen)
assert seen == {"Greater": True, "GreaterEqual": True, "Less": False, "LessEqual": False, "Equal": False}, "this has changed"
E
