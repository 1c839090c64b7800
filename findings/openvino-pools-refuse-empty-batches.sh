#!/bin/sh
# OpenVINO 2026.4.1: a convolution of no images (a batch of 0) is a model, and gives no images; MaxPool and AvgPool of the same
# input are refused while the model is built.  So a detector that may find nothing runs until it has a pooling.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

def of(make):
    x = o.parameter([0, 3, 8, 8], np.float32, name="x")
    try:
        y = make(x)
        compiled = ov.Core().compile_model(ov.Model([y.output(0)], [x], "m"), "CPU")
        return "shape %s" % (compiled([np.zeros((0, 3, 8, 8), np.float32)])[0].shape,)
    except RuntimeError as e:
        return "refused: " + " ".join(str(e).split())[-90:]

w = o.constant(np.ones((4, 3, 3, 3), np.float32))
seen = {"Convolution": of(lambda x: o.convolution(x, w, [1, 1], [0, 0], [0, 0], [1, 1])),
        "MaxPool": of(lambda x: o.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2])),
        "AvgPool": of(lambda x: o.avg_pool(x, [2, 2], [0, 0], [0, 0], [2, 2], True)),
        "ReduceMax over images' planes": of(lambda x: o.reduce_max(x, np.array([2, 3]), True))}
print("OpenVINO", ov.get_version())
for name, what in seen.items():
    print("%s of a batch of 0: %s" % (name, what))
assert seen["Convolution"] == "shape (0, 4, 6, 6)", "this has changed"
assert seen["MaxPool"].startswith("refused") and seen["AvgPool"].startswith("refused"), "this has changed"
