#!/bin/sh
# OpenVINO 2026.4.1, CPU plugin: Convert from f32 to f8e5m2 rounds twice, first to f16.  61439 lies nearer to 57344, the
# greatest f8e5m2, than to the next step; as f16 it is 61440, which lies in the middle, and becomes infinity.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

given = np.array([57344, 61439, 61441], np.float32)
x = o.parameter([3], np.float32, name="x")
model = ov.Model([o.convert(o.convert(x, "f8e5m2"), "f32")], [x], "f8")
seen = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([given])[0].tolist()
print("OpenVINO", ov.get_version())
print("given", given.tolist(), "as f8e5m2", seen, "rounded once [57344.0, 57344.0, inf]")
assert seen == [57344.0, np.inf, np.inf], "this has changed"
E
