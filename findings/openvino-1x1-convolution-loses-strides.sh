#!/bin/sh
# OpenVINO 2026.4.1, CPU: a convolution of 1x1 with strides, whose weights are 8 bits behind Convert and Multiply and which a Reshape
# reads, is computed as a product of the whole image.  A Reshape that counts elements itself (-1) then gives more values than the model
# says; one with fixed dims is refused while the model is compiled.  With weights in f32 both are right.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

rng = np.random.default_rng(0)
codes = rng.integers(-127, 127, (4, 3, 1, 1)).astype(np.int8)
image = rng.standard_normal((1, 3, 4, 4)).astype(np.float32)
right = np.einsum("oi,nihw->nohw", codes[:, :, 0, 0] * 0.01, image[:, :, ::2, ::2])

def run(packed, to):
    x = o.parameter([1, 3, 4, 4], np.float32)
    scale = o.constant(np.float32(0.01))
    w = o.multiply(o.convert(o.constant(codes), "f32"), scale) if packed else o.constant((codes * 0.01).astype(np.float32))
    y = o.reshape(o.convolution(x, w, [2, 2], [0, 0], [0, 0], [1, 1]), o.constant(np.array(to)), True)
    model = ov.Model([y.output(0)], [x], "m")
    says = tuple(model.output(0).shape)
    try:
        got = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([image])[0]
    except RuntimeError as e:
        return "refused: " + " ".join(str(e).split())[-73:]
    same = got.shape == says and np.allclose(got, right.reshape(says), atol=1e-5)
    return "model %s, result %s, %s" % (says, got.shape, "right" if same else "wrong")

print("OpenVINO", ov.get_version())
seen = {(packed, to): run(packed, to) for packed in (False, True) for to in ((1, 4, 4), (1, -1))}
for (packed, to), what in seen.items():
    print("weights in %s, Reshape to %s: %s" % ("i8" if packed else "f32", to, what))
assert all(seen[False, to].endswith("right") for to in ((1, 4, 4), (1, -1))), "this has changed"
assert seen[True, (1, 4, 4)].startswith("refused") and seen[True, (1, -1)] == "model (1, 16), result (1, 64), wrong", "this has changed"
E
