#!/usr/bin/env python3
"""llm.py NAME [OPTION]... - NAME.xml and NAME.bin: a decoder like LLaMA and Qwen with random weights in few bits, as NNCF
writes them (codes, Convert, Subtract, Multiply, Reshape, Convert), without OpenVINO.

One step with a cache of keys and values (--past N: N tokens before the one that comes in, the caches as inputs and outputs),
or a prompt of --tokens N.  Tables of the embedding and of the head are in 8 bits, everything else in --bits 4."""
import argparse

import numpy as np

from tiny_ir import Model

rng = np.random.default_rng(0)


class Decoder:
    def __init__(self, o):
        self.o, self.m = o, Model(o.name)
        self.names = {}

    def name(self, kind):
        self.names[kind] = n = self.names.get(kind, -1) + 1
        return f"{self.scope}/{kind}_{n}"

    def op(self, kind, shape, *inputs, elem="f32", opset="opset1", **data):
        return self.m.layer(kind, self.name(kind), elem, shape, *inputs, opset=opset, **data)

    def ints(self, *values):
        return self.m.const(self.name("Constant"), "i64", np.array(values, np.int64))

    def int(self, value):
        return self.m.const(self.name("Constant"), "i64", np.int64(value))

    def half(self, array):
        """A constant in f16 behind a Convert, as save_model compresses those of f32."""
        array = np.asarray(array, np.float16)
        c = self.m.const(self.name("Constant"), "f16", array)
        return self.op("Convert", array.shape, c, destination_type="f32")

    def codes(self, elem, shape):
        n = int(np.prod(shape)) * (4 if elem == "u4" else 8) // 8
        return self.m.const(self.name("Constant"), elem, rng.integers(0, 256, n, np.uint8), shape)

    def weight(self, rows, cols, bits):
        """(rows, cols): 4 bits in groups of columns, or 8 bits with a scale for each row."""
        group = min(self.o.group, cols) if bits == 4 else cols
        elem, shape, per = "u%d" % bits, (rows, cols // group, group), (rows, cols // group, 1)
        if bits == 8:
            shape, per = (rows, cols), (rows, 1)
        w = self.op("Convert", shape, self.codes(elem, shape), elem="f16", destination_type="f16")
        zero = self.op("Convert", per, self.codes(elem, per), elem="f16", destination_type="f16")
        w = self.op("Subtract", shape, w, zero, elem="f16", auto_broadcast="numpy")
        level = 1 / (2 ** bits / 3 * np.sqrt(cols))
        scale = (rng.random(per, np.float32) * 0.5 + 0.75) * level
        scale = self.m.const(self.name("Constant"), "f16", scale.astype(np.float16))
        w = self.op("Multiply", shape, w, scale, elem="f16", auto_broadcast="numpy")
        if bits == 4:
            w = self.op("Reshape", (rows, cols), w, self.ints(rows, cols), elem="f16", special_zero="false")
        return self.op("Convert", (rows, cols), w, destination_type="f32")

    def product(self, name, x, rows, cols, bits=None):
        shape = self.m.shape[x][1][:-1] + (rows,)
        whole = self.scope
        self.scope += name
        w = self.weight(rows, cols, bits or self.o.bits)
        x = self.op("MatMul", shape, x, w, transpose_a="false", transpose_b="true")
        self.scope = whole
        return x

    def binary(self, kind, a, b):
        shape = np.broadcast_shapes(self.m.shape[a][1], self.m.shape[b][1])
        return self.op(kind, tuple(map(int, shape)), a, b, auto_broadcast="numpy")

    def norm(self, x):
        shape = self.m.shape[x][1]
        square = self.binary("Power", x, self.half([[[2.0]]]))
        mean = self.op("ReduceMean", shape[:-1] + (1,), square, self.ints(-1), keep_dims="true")
        root = self.op("Sqrt", shape[:-1] + (1,), self.binary("Add", mean, self.half([[[1e-5]]])))
        scaled = self.binary("Multiply", x, self.binary("Divide", self.half([[[1.0]]]), root))
        return self.binary("Multiply", scaled, self.half(rng.random((1, 1, shape[-1])) * 0.1 + 0.95))

    def slice(self, x, first, last):
        shape = self.m.shape[x][1]
        return self.op("Slice", shape[:-1] + (last - first,), x, self.ints(first), self.ints(last), self.ints(1),
                       self.ints(-1), opset="opset8")

    def rotated(self, x, cos, sin):
        *_, d = shape = self.m.shape[x][1]
        back = self.binary("Multiply", self.slice(x, d // 2, d), self.half([[[[-1.0]]]]))
        turned = self.op("Concat", shape, back, self.slice(x, 0, d // 2), axis="-1")
        return self.binary("Add", self.binary("Multiply", x, cos), self.binary("Multiply", turned, sin))

    def heads(self, x, n):
        _, s, w = self.m.shape[x][1]
        x = self.op("Reshape", (1, s, n, w // n), x, self.ints(0, 0, n, w // n), special_zero="true")
        return self.op("Transpose", (1, n, s, w // n), x, self.ints(0, 2, 1, 3))

    def cached(self, x, what):
        """Keys or values behind those of the tokens before."""
        _, n, s, d = self.m.shape[x][1]
        if self.o.past == 0:
            return x
        past = self.m.layer("Parameter", f"past_{what}.{self.block}", "f32", (1, n, self.o.past, d))
        x = self.op("Concat", (1, n, s + self.o.past, d), past, x, axis="-2")
        self.out.append(x)
        return x

    def for_all_heads(self, x):
        """(1,n,s,d) to (1,heads,s,d): every head of keys serves several of queries."""
        _, n, s, d = self.m.shape[x][1]
        h = self.o.heads
        if n == h:
            return x
        x = self.op("Unsqueeze", (1, n, 1, s, d), x, self.int(2))
        x = self.op("Broadcast", (1, n, h // n, s, d), x, self.ints(1, n, h // n, s, d), opset="opset3",
                    mode="bidirectional")
        return self.op("Reshape", (1, h, s, d), x, self.ints(0, h, s, d), special_zero="true")

    def attention(self, x):
        o = self.o
        d = o.hidden // o.heads
        s = self.m.shape[x][1][1]
        q = self.heads(self.product(".q_proj", x, o.hidden, o.hidden), o.heads)
        k = self.heads(self.product(".k_proj", x, o.kv * d, o.hidden), o.kv)
        v = self.heads(self.product(".v_proj", x, o.kv * d, o.hidden), o.kv)
        q, k = self.rotated(q, self.cos, self.sin), self.rotated(k, self.cos, self.sin)
        k, v = self.for_all_heads(self.cached(k, "key")), self.for_all_heads(self.cached(v, "value"))
        x = self.op("ScaledDotProductAttention", (1, o.heads, s, d), q, k, v, opset="opset13",
                    causal="false" if o.past else "true")
        x = self.op("Transpose", (1, s, o.heads, d), x, self.ints(0, 2, 1, 3))
        x = self.op("Reshape", (1, s, o.hidden), x, self.ints(0, 0, o.hidden), special_zero="true")
        return self.product(".o_proj", x, o.hidden, o.hidden)

    def gated(self, x):
        o = self.o
        gate = self.product(".gate_proj", x, o.inner, o.hidden)
        gate = self.op("Swish", self.m.shape[gate][1], gate, opset="opset4")
        up = self.binary("Multiply", gate, self.product(".up_proj", x, o.inner, o.hidden))
        return self.product(".down_proj", up, o.hidden, o.inner)

    def build(self):
        o, m = self.o, self.m
        self.scope, self.out = "model", []
        s = 1 if o.past else o.tokens
        ids = m.layer("Parameter", "input_ids", "i64", (1, s))
        x = self.op("Gather", (1, s, o.hidden), self.weight(o.vocab, o.hidden, 8), ids, self.int(0), opset="opset8",
                    batch_dims="0")
        d = o.hidden // o.heads
        angle = np.outer(np.arange(o.past, o.past + s), 1e4 ** (-np.arange(0, d, 2) / d))
        angle = np.concatenate([angle, angle], 1)[None, None]
        self.cos, self.sin = self.half(np.cos(angle)), self.half(np.sin(angle))
        for self.block in range(o.layers):
            self.scope = f"model.layers.{self.block}"
            x = self.binary("Add", x, self.attention(self.norm(x)))
            x = self.binary("Add", x, self.gated(self.norm(x)))
        self.scope = "lm_head"
        logits = self.product("", self.norm(x), o.vocab, o.hidden, 8)
        for y in [logits, *self.out]:
            m.result(y)
        m.save()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("name")
    for option, value in dict(layers=4, hidden=256, heads=8, kv=2, inner=704, vocab=2048, group=64, bits=4, tokens=8,
                              past=0).items():
        p.add_argument("--" + option, type=int, default=value)
    Decoder(p.parse_args()).build()


main()
