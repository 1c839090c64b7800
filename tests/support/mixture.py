#!/usr/bin/env python3
"""mixture.py NAME [OPTION]... - NAME.xml and NAME.bin: layers of --experts of which each takes the --take tokens that its column
of scores likes best, and whose results are added at the tokens' places to those of a shared expert; random weights."""
import argparse

import numpy as np

from tiny_ir import Model


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("name")
    for option, value in dict(layers=1, experts=8, tokens=64, take=8, hidden=64, inner=64).items():
        p.add_argument("--" + option, type=int, default=value)
    o = p.parse_args()
    rng, m = np.random.default_rng(0), Model(o.name)

    def ints(name, *values):
        return m.const(name, "i64", np.array(values, np.int64))

    def int_(name, value):
        return m.const(name, "i64", np.int64(value))

    def product(name, x, tokens, rows, cols):
        w = m.const(name + ".w", "f32", (rng.standard_normal((rows, cols)) / cols ** 0.5).astype(np.float32))
        return m.layer("MatMul", name, "f32", (tokens, rows), x, w, transpose_a="false", transpose_b="true")

    def binary(kind, name, shape, a, b):
        return m.layer(kind, name, "f32", shape, a, b, auto_broadcast="numpy")

    def gated(name, x, tokens):
        gate = m.layer("Swish", name + ".swish", "f32", (tokens, o.inner), product(name + ".gate", x, tokens, o.inner, o.hidden),
                       opset="opset4")
        both = binary("Multiply", name + ".mul", (tokens, o.inner), gate, product(name + ".up", x, tokens, o.inner, o.hidden))
        return product(name + ".down", both, tokens, o.hidden, o.inner)

    n, all_tokens = o.experts, (o.tokens, o.hidden)
    x = m.layer("Parameter", "x", "f32", all_tokens)
    for i in range(o.layers):
        at = f"l{i}"
        shared = gated(at + ".shared", x, o.tokens)
        scores = m.layer("Sigmoid", at + ".scores", "f32", (o.tokens, n), product(at + ".router", x, o.tokens, n, o.hidden))
        best = m.layer("TopK", at + ".best", "f32", (o.take, n), scores, int_(at + ".k", o.take), also=[("i64", (o.take, n))],
                       opset="opset11", axis=0, mode="max", sort="value", index_element_type="i64")
        one = int_(at + ".one", 1)
        weights = m.layer("Split", at + ".weights", "f32", (o.take, 1), best, one, also=[(o.take, 1)] * (n - 1), num_splits=n)
        places = m.layer("Split", at + ".places", "i64", (o.take, 1), (best, 1), one, also=[(o.take, 1)] * (n - 1), num_splits=n)
        rows = []
        for e in range(n):
            name = f"{at}.e{e}"
            flat = m.layer("Reshape", name + ".flat", "i64", (o.take,), (places, e), ints(name + ".n", o.take), special_zero="false")
            own = m.layer("Gather", name + ".own", "f32", (o.take, o.hidden), x, flat, int_(name + ".zero", 0), opset="opset8",
                          batch_dims=0)
            rows.append(binary("Multiply", name + ".weighed", (o.take, o.hidden), gated(name, own, o.take), (weights, e)))
        rows = m.layer("Concat", at + ".rows", "f32", (n * o.take, o.hidden), *rows, axis=0)
        where = m.layer("Concat", at + ".where", "i64", (n * o.take, 1), *[(places, e) for e in range(n)], axis=0)
        y = m.layer("ScatterNDUpdate", at + ".added", "f32", all_tokens, shared, where, rows, opset="opset15", reduction="sum")
        x = binary("Add", at + ".out", all_tokens, x, y)
    m.result(x)
    m.save()


main()
