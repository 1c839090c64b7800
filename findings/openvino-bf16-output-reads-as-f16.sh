#!/bin/sh
# OpenVINO 2026.4.1, Python: an output of type bf16 comes as a numpy array of float16 that has the bits of bf16, so that 1.0
# reads as 1.875, 2.0 as 2.0, and nothing warns.  What the numbers mean is had by view(uint16) << 16 as float32.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

given = np.array([1, 2, 3, -0.5], np.float32)
x = o.parameter([4], np.float32, name="x")
out = ov.Core().compile_model(ov.Model([o.convert(x, "bf16")], [x], "bf16"), "CPU")([given])[0]
meant = (np.array(out).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
print("OpenVINO", ov.get_version())
print("given", given.tolist(), "shown as", out.dtype, np.array(out).astype(np.float32).tolist(), "meant", meant.tolist())
assert out.dtype == np.float16 and out[0] == 1.875 and meant.tolist() == given.tolist(), "this has changed"
E
