#!/bin/sh
# OpenVINO 2026.4.1, CPU plugin: ReduceL2 of five u8 numbers of about 30 is 15, not 68, although 68 is a u8: the sum of the squares is
# limited to 8 bits before the root is taken.  Of the same numbers as i32 it is 68.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import numpy as np, openvino as ov
from openvino import opset13 as o

def length(numbers):
    x = o.parameter([len(numbers)], numbers.dtype, name="x")
    compiled = ov.Core().compile_model(ov.Model([o.reduce_l2(x, o.constant(np.int64(0)), False)], [x], "length"), "CPU")
    return int(compiled([numbers])[0])

numbers = [30, 31, 29, 30, 32]
of_u8, of_i32 = length(np.array(numbers, np.uint8)), length(np.array(numbers, np.int32))
print("OpenVINO", ov.get_version())
print("length of %s: as u8 %d, as i32 %d, exactly %.2f" % (numbers, of_u8, of_i32, np.linalg.norm(numbers)))
assert (of_u8, of_i32) == (15, 68), "this has changed"
E
