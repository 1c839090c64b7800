#!/bin/sh
# OpenVINO 2026.4.1, HETERO: a submodel does not know a dim that the whole model knows, where it follows from a shape that
# another submodel computes.  Its output tensor is made with zeros, and the next submodel's input, which has the dims of the whole
# model, refuses it: a model with an open length cannot run so, though each half can.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

core = ov.Core()
core.register_plugin("openvino_intel_cpu_plugin", "CPU2")    # a second device without other hardware
x = o.parameter(ov.PartialShape([1, -1, 16]), np.float32, name="x")
shape = o.concat([o.gather(o.shape_of(x), np.array([0, 1], np.int64), np.int64(0)), o.constant(np.array([2, 8], np.int64))], 0)
other = [o.relu(x)]
other.append(o.reshape(other[0], shape, False))
other.append(o.transpose(other[1], np.array([0, 2, 1, 3], np.int64)))
model = ov.Model([o.result(o.sigmoid(other[2]))], [x], "m")
for op in model.get_ordered_ops():
    op.get_rt_info()["affinity"] = "CPU2" if op.get_friendly_name() in [n.get_friendly_name() for n in other] else "CPU"
print("OpenVINO", ov.get_version())
value = np.zeros((1, 5, 16), np.float32)
print("whole:", core.compile_model(model, "CPU")(value)[0].shape)
try:
    core.compile_model(model, "HETERO:CPU,CPU2")(value)
    assert False, "this has changed"
except RuntimeError as e:
    print("HETERO:", str(e).strip().splitlines()[-1])
    assert "(shape=[1,2,?,8]) and the tensor (shape=(0.0.0.0))" in str(e), "this has changed"
E
