#!/bin/sh
# OpenVINO 2026.4.1, CPU plugin with PERF_COUNT: InferRequest.get_profiling_info() is not of the last inference. real_time of an
# operation is the mean over all inferences so far, the first ones and other input shapes among them. After one inference of 4,096
# rows and nine of one row a MatMul is said to take a tenth of what the large one took, hundreds of times what the last
# one did. So whoever sums counters for a profile has to know how many inferences there were, and take the first ones out.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
cd "$dir"
"$dir/venv/bin/python" - <<'E'
import time
import numpy as np, openvino as ov
from openvino import opset13 as op

x = op.parameter([-1, 1024], ov.Type.f32, name="x")
w = op.constant(np.ones((1024, 1024), "f4"))
model = ov.Model([op.matmul(x, w, False, True)], [x], "m")
c = ov.Core().compile_model(model, "CPU", {"PERF_COUNT": True, "INFERENCE_NUM_THREADS": 1})
r = c.create_infer_request()


def said_ms(request):
    return sum(p.real_time.total_seconds() for p in request.get_profiling_info() if "MatMul" in p.node_type or "FullyConnected" in p.node_type) * 1e3


def infer(rows):
    began = time.perf_counter()
    r.infer([np.ones((rows, 1024), "f4")])
    return (time.perf_counter() - began) * 1e3


large_wall = infer(4096)
large = said_ms(r)
walls = [infer(1) for _ in range(9)]
after = said_ms(r)
print("OpenVINO", ov.__version__)
print("4096 rows: %.2f ms by the clock, %.2f said" % (large_wall, large))
print("then 9 times one row: the last %.3f ms by the clock, %.2f said" % (walls[-1], after))
assert large > 0 and walls[-1] < large / 40, "too noisy to tell"
assert large / 13 < after < large / 7, "this has changed"
E
