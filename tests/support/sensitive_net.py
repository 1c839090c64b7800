"""sensitive_net.py - sensitive.xml in the current directory: six products, of which the fourth subtracts what is nearly equal, so that its
weights in bf16 have far more error than all others together.  Few rows: on every processor bf16 rounds the weights of such products."""
import numpy as np

from tiny_ir import Model

WIDE, ROWS, FACTOR = 256, 4, 30
rng = np.random.default_rng(8)


def weights(rows):
    return (rng.standard_normal((rows, WIDE)) / np.sqrt(rows)).astype(np.float32)


m = Model("sensitive")
at = m.layer("Parameter", "x", "f32", (ROWS, WIDE))
for i in range(6):
    if i == 3:
        large, small = weights(WIDE) * FACTOR, weights(WIDE)
        at = m.layer("Concat", "twice", "f32", (ROWS, 2 * WIDE), at, at, axis=1)
        w = np.concatenate([large + small, -large])
    else:
        w = weights(WIDE)
    at = m.layer("MatMul", "sensitive" if i == 3 else f"product{i}", "f32", (ROWS, WIDE), at, m.const(f"w{i}", "f32", w))
    at = m.layer("Tanh", f"act{i}", "f32", (ROWS, WIDE), at)
m.result(at)
m.save()
