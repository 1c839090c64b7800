#!/bin/sh
# OpenVINO 2026.4.1, CPU plugin: LSTMSequence, GRUSequence and RNNSequence heed sequence_lengths (ONNX: sequence_lens) where the input's
# time is a fixed dim.  The same model with that dim open computes all steps of all rows as if no lengths were given: outputs behind a
# row's end are not 0, the last states are those of the padding.  There is no warning.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

rows, time, width, hidden = 2, 6, 3, 4
rng = np.random.default_rng(0)
data, lengths = rng.standard_normal((rows, time, width)).astype(np.float32), np.array([6, 2], np.int32)

def run(kind, gates, open_time):
    weights = np.random.default_rng(1)
    c = lambda *s: o.constant(weights.standard_normal(s).astype(np.float32))
    x, n = o.parameter([rows, -1 if open_time else time, width], np.float32), o.parameter([rows], np.int32)
    state = o.constant(np.zeros((rows, 1, hidden), np.float32))
    tail = [n, c(1, gates * hidden, width), c(1, gates * hidden, hidden), c(1, gates * hidden), hidden, "forward"]
    node = {"LSTM": lambda: o.lstm_sequence(x, state, state, *tail), "GRU": lambda: o.gru_sequence(x, state, *tail),
            "RNN": lambda: o.rnn_sequence(x, state, *tail, ["tanh"], [], [])}[kind]()
    model = ov.Model([o.result(node.output(0)), o.result(node.output(1))], [x, n], kind)
    y = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([data, lengths])
    return np.array(y[0]), np.array(y[1])

print("OpenVINO", ov.get_version())
for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
    (fixed, last), (opened, last_open) = run(kind, gates, False), run(kind, gates, True)
    behind, behind_open = float(np.abs(fixed[1, 0, 2:]).max()), float(np.abs(opened[1, 0, 2:]).max())
    print("%s, row of 2 steps in 6: behind its end %.2f, with an open dim %.2f; last states differ by %.2f"
          % (kind, behind, behind_open, float(np.abs(last - last_open).max())))
    assert np.allclose(fixed[0], opened[0], atol=1e-5) and behind == 0 and behind_open > 0.01, "this has changed"
E
