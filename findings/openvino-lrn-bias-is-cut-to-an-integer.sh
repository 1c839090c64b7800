#!/bin/sh
# OpenVINO 2026.4.1, CPU plugin: LRN with bias 1.5 computes as with bias 1, with 0.5 as with 0 (x / 0 where x is 0): the plugin keeps
# the bias as an integer.  ONNX, Caffe and the operator's specification have a real number there; with 2 the results are right.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

alpha, beta, size, channels = 0.03, 0.75, 3, 8
x = np.random.default_rng(0).standard_normal((1, channels, 4, 4)).astype(np.float32)

def plugin(bias):
    p = o.parameter(x.shape, np.float32, name="x")
    lrn = o.lrn(p, o.constant(np.array([1])), alpha, beta, bias, size)
    return ov.Core().compile_model(ov.Model([lrn], [p], "lrn"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([x])[0]

def exactly(bias):
    squares = np.pad(x.astype(np.float64) ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))
    return x / (bias + alpha / size * sum(squares[:, i:i + channels] for i in range(size))) ** beta

off = lambda bias, as_of: float(np.abs(plugin(bias) - exactly(as_of)).max())
print("OpenVINO", ov.get_version())
for bias, as_of in ((1.0, 1.0), (2.0, 2.0), (1.5, 1.5), (1.5, 1.0), (2.9, 2.0)):
    print("bias %g: off by %.1e from what %g makes" % (bias, off(bias, as_of), as_of))
assert max(off(1.0, 1.0), off(2.0, 2.0), off(1.5, 1.0), off(2.9, 2.0)) < 1e-5 and off(1.5, 1.5) > 0.1, "this has changed"
E
