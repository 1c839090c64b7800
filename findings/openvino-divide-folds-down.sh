#!/bin/sh
# OpenVINO 2026.4.1: -7 / 2 of integers is -4 where both operands are constants, and -3 where one of them is an input.
# Divide has m_pythondiv, true by default: constant folding rounds down by it, the CPU plugin cuts off.  So a shape computed
# from constants by a negative quotient differs from the same expression at run time.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

def quotients(folded):
    x = o.parameter([4], np.int32, name="x")
    number = np.array([-7, 7, -8, -1], np.int32)
    left = o.constant(number) if folded else x
    divide = o.divide(left, o.constant(np.full(4, 2, np.int32)))
    out = o.add(divide, o.multiply(x, o.constant(np.int32(0))))
    compiled = ov.Core().compile_model(ov.Model([out], [x], "divide"), "CPU")
    return compiled([number])[0].tolist()

folded, at_run_time = quotients(True), quotients(False)
print("OpenVINO", ov.get_version())
print("-7, 7, -8, -1 divided by 2, constants:", folded)
print("the same, one operand an input:       ", at_run_time)
assert folded == [-4, 3, -4, -1] and at_run_time == [-3, 3, -4, 0], "this has changed"
E
