#!/usr/bin/env python3
"""zoo.py NAME... DIR - small models of kinds that tests/models does not have, with random weights.

  llm        a decoder as language models are exported: grouped-query attention over variables that
             hold keys and values (ReadValue, Assign), rotary positions, dynamic batch and length
  llm-u4     the same, its weights u4 with zero points and scales per group of 32
  llm-i8     the same, i8 with a scale per row
  llm-1b     the same with 1.1 billion f16 parameters (2.2 GB; not for tests)
  quantized  a convolutional network with FakeQuantize at activations and weights, residuals
  detector   boxes from two feature maps, NonMaxSuppression, what it selects gathered: run-time sizes
  control    Loop with an If in its body, the number of rounds from an input
  unet       transposed convolutions, Interpolate, PRelu, concatenated skips
"""
import os
import sys

import numpy as np
import openvino as ov
from openvino import opset13 as op


class Weights:
    """Random constants in one of the ways in which files hold them."""

    def __init__(self, kind, seed=1):
        self.kind, self.rng = kind, np.random.default_rng(seed)

    def normal(self, *shape, scale=None):
        scale = scale or shape[-1] ** -0.5
        out = np.empty(shape, np.float16)
        for row in out.reshape(shape[0], -1):      # by rows: large ones do not fit twice
            row[...] = self.rng.standard_normal(row.size, dtype=np.float32) * scale
        return out

    def f16(self, array):
        return op.convert(op.constant(array.astype(np.float16)), "f32")

    def matrix(self, rows, columns):
        """(rows, columns) f32"""
        if self.kind == "f16":
            return self.f16(self.normal(rows, columns))
        if self.kind == "i8":
            whole = op.constant(self.rng.integers(-127, 128, (rows, columns)).astype(np.int8))
            scale = self.rng.uniform(0.5, 1.5, (rows, 1)) * 0.014 * columns ** -0.5
            return op.convert(op.multiply(op.convert(whole, "f16"), op.constant(scale.astype(np.float16))), "f32")
        group = 32
        shape = [rows, columns // group, group]
        packed = self.rng.integers(0, 256, int(np.prod(shape)) // 2).astype(np.uint8)
        whole = op.constant(ov.Tensor(packed, ov.Shape(shape), ov.Type.u4))
        zero = op.constant(ov.Tensor(self.rng.integers(0, 256, (rows * shape[1] + 1) // 2).astype(np.uint8),
                                     ov.Shape(shape[:2] + [1]), ov.Type.u4))
        scale = (self.rng.uniform(0.5, 1.5, shape[:2] + [1]) * 0.15 * columns ** -0.5).astype(np.float16)
        centred = op.subtract(op.convert(whole, "f16"), op.convert(zero, "f16"))
        flat = op.reshape(op.multiply(centred, op.constant(scale)), op.constant(np.array([rows, columns])), False)
        return op.convert(flat, "f32")


def ints(*values):
    return op.constant(np.array(values, np.int64))


def scalar(value, dtype=np.float32):
    return op.constant(np.array(value, dtype))


# ---- a language model ----

def rms_norm(w, x, width):
    mean = op.reduce_mean(op.multiply(x, x), ints(-1), True)
    root = op.divide(scalar(1.0), op.sqrt(op.add(mean, scalar(1e-5))))
    gain = w.f16(w.rng.uniform(0.8, 1.2, (1, 1, width)))
    return op.multiply(op.multiply(x, root), gain)


def linear(w, x, rows, columns):
    return op.matmul(x, w.matrix(rows, columns), False, True)


def rotate(x, cos, sin, size):
    half = op.variadic_split(x, scalar(-1, np.int64), ints(size // 2, size // 2))
    turned = op.concat([op.negative(half.output(1)), half.output(0)], -1)
    return op.add(op.multiply(x, cos), op.multiply(turned, sin))


def heads(x, n, size):
    return op.transpose(op.reshape(x, ints(0, 0, n, size), True), ints(0, 2, 1, 3))


class Cache:
    """Keys or values of one layer, kept from call to call."""

    def __init__(self, name, batch, beam, n, size):
        from openvino.op.util import VariableInfo, Variable
        info = VariableInfo()
        info.data_shape = ov.PartialShape([-1, n, -1, size])
        info.data_type = ov.Type.f32
        info.variable_id = name
        self.variable = Variable(info)
        shape = op.concat([batch, ints(n), ints(0), ints(size)], 0)
        empty = op.broadcast(scalar(0.0), shape)
        self.read = op.read_value(empty, self.variable)
        self.past = op.gather(self.read, beam, scalar(0, np.int64))

    def extend(self, new):
        whole = op.concat([self.past, new], 2)
        self.write = op.assign(whole, self.variable)
        return whole


def shared_heads(x, n, kv, size):
    """(b, kv, t, size) to (b, n, t, size)"""
    if n == kv:
        return x
    shape = op.shape_of(x)
    pick = lambda i: op.gather(shape, ints(i), scalar(0, np.int64))
    wide = op.concat([pick(0), ints(kv), ints(n // kv), pick(2), ints(size)], 0)
    return op.reshape(op.broadcast(op.unsqueeze(x, ints(2)), wide, "BIDIRECTIONAL"), ints(0, n, -1, size), True)


def llm(kind="f16", layers=2, width=64, n=4, kv=2, inner=160, vocabulary=320):
    w, size = Weights(kind), width // n
    ids = op.parameter([-1, -1], np.int64, name="input_ids")
    mask = op.parameter([-1, -1], np.int64, name="attention_mask")
    positions = op.parameter([-1, -1], np.int64, name="position_ids")
    beam = op.parameter([-1], np.int32, name="beam_idx")
    for p in (ids, mask, positions, beam):
        p.output(0).get_tensor().set_names({p.get_friendly_name()})
    if kind == "f16":
        x = op.convert(op.gather(op.constant(w.normal(vocabulary, width, scale=1.0)), ids, scalar(0, np.int64)), "f32")
    else:
        x = op.multiply(op.gather(w.matrix(vocabulary, width), ids, scalar(0, np.int64)), scalar(16.0))
    batch = op.gather(op.shape_of(ids), ints(0), scalar(0, np.int64))
    frequency = op.constant((10000.0 ** (-np.arange(0, size, 2) / size)).astype(np.float32).reshape(1, 1, -1))
    angle = op.multiply(op.unsqueeze(op.convert(positions, "f32"), ints(2)), frequency)
    angle = op.unsqueeze(op.concat([angle, angle], 2), ints(1))
    cos, sin = op.cos(angle), op.sin(angle)
    # A query sees the keys whose position is not behind its own and whose mask is set.
    total = op.gather(op.shape_of(mask), scalar(1, np.int64), scalar(0, np.int64))
    key = op.range(scalar(0, np.int64), total, scalar(1, np.int64), "i64")
    behind = op.greater(op.unsqueeze(op.unsqueeze(key, ints(0)), ints(0)), op.unsqueeze(positions, ints(2)))
    blind = op.logical_or(behind, op.equal(op.unsqueeze(mask, ints(1)), scalar(0, np.int64)))
    bias = op.unsqueeze(op.select(blind, scalar(-65504.0), scalar(0.0)), ints(1))
    caches = []
    for i in range(layers):
        y = rms_norm(w, x, width)
        q = rotate(heads(linear(w, y, n * size, width), n, size), cos, sin, size)
        k = rotate(heads(linear(w, y, kv * size, width), kv, size), cos, sin, size)
        v = heads(linear(w, y, kv * size, width), kv, size)
        ck, cv = (Cache(f"past.{i}.{part}", batch, beam, kv, size) for part in ("key", "value"))
        caches += [ck, cv]
        k, v = shared_heads(ck.extend(k), n, kv, size), shared_heads(cv.extend(v), n, kv, size)
        a = op.scaled_dot_product_attention(q, k, v, bias)
        a = op.reshape(op.transpose(a, ints(0, 2, 1, 3)), ints(0, 0, width), True)
        x = op.add(x, linear(w, a, width, width))
        y = rms_norm(w, x, width)
        y = op.multiply(op.swish(linear(w, y, inner, width)), linear(w, y, inner, width))
        x = op.add(x, linear(w, y, width, inner))
    logits = op.result(linear(w, rms_norm(w, x, width), vocabulary, width), name="logits")
    return ov.Model([logits], [c.write for c in caches], [ids, mask, positions, beam], "llm")


# ---- convolutions ----

def convolution(w, x, cin, cout, k=3, stride=1, groups=1):
    weights = w.f16(w.normal(cout, cin // groups, k, k, scale=(2 / (k * k * cin / groups)) ** 0.5))
    pads = [k // 2, k // 2]
    bias = w.f16(w.rng.uniform(-0.1, 0.1, (1, cout, 1, 1)))
    if groups == 1:
        y = op.convolution(x, weights, [stride] * 2, pads, pads, [1, 1])
    else:
        weights = op.reshape(weights, ints(groups, cout // groups, cin // groups, k, k), False)
        y = op.group_convolution(x, weights, [stride] * 2, pads, pads, [1, 1])
    return op.add(y, bias)


def fake_quantize(x, low, high, levels=256):
    limits = [scalar(v) for v in (low, high, low, high)]
    return op.fake_quantize(x, *limits, levels)


def quantized():
    w = Weights("f16")

    def layer(x, cin, cout, k=3, stride=1, groups=1):
        whole = w.rng.integers(-127, 128, (cout, cin // groups, k, k)).astype(np.int8)
        scale = (2 / (k * k * cin / groups)) ** 0.5 / 73 * w.rng.uniform(0.7, 1.3, (cout, 1, 1, 1))
        weights = op.multiply(op.convert(op.constant(whole), "f32"), op.constant(scale.astype(np.float32)))
        pads = [k // 2, k // 2]
        if groups > 1:
            weights = op.reshape(weights, ints(groups, cout // groups, cin // groups, k, k), False)
            y = op.group_convolution(x, weights, [stride] * 2, pads, pads, [1, 1])
        else:
            y = op.convolution(x, weights, [stride] * 2, pads, pads, [1, 1])
        return op.add(y, op.constant(w.rng.uniform(-0.1, 0.1, (1, cout, 1, 1)).astype(np.float32)))
    image = op.parameter([1, 3, 48, 48], np.float32, name="image")
    x = layer(fake_quantize(image, -1.0, 0.992), 3, 16, stride=2)
    x = fake_quantize(op.clamp(x, 0, 6), 0.0, 6.0)
    for _ in range(3):
        y = fake_quantize(op.relu(layer(x, 16, 32, 1)), 0.0, 8.0)
        y = fake_quantize(op.relu(layer(y, 32, 32, 3, groups=32)), 0.0, 8.0)
        y = fake_quantize(layer(y, 32, 16, 1), -10.0, 10.0)
        x = fake_quantize(op.add(x, y), -12.0, 12.0)
    x = op.reduce_mean(x, ints(2, 3), False)
    whole = op.convert(op.constant(w.rng.integers(0, 256, (10, 16)).astype(np.uint8)), "f32")
    weights = op.multiply(op.subtract(whole, scalar(128.0)), scalar(0.003))
    return ov.Model([op.result(op.matmul(x, weights, False, True), name="scores")], [image], "quantized")


def unet():
    w = Weights("f16")

    def up(x, cin, cout, k, pad):
        weights = w.f16(w.normal(cin, cout, k, k, scale=(1 / (k * k * cin)) ** 0.5))
        return op.convolution_backprop_data(x, weights, [2, 2], None, [pad] * 2, [pad] * 2)

    def block(x, cin, cout, stride=1):
        y = op.swish(convolution(w, x, cin, cout, 3, stride))
        return op.prelu(y, op.constant(w.rng.uniform(0.05, 0.3, cout).astype(np.float32)))
    image = op.parameter([1, 3, 40, 56], np.float32, name="image")
    a = op.swish(block(image, 3, 12))
    b = block(a, 12, 24, 2)
    c = block(b, 24, 48, 2)
    y = block(op.concat([up(c, 48, 24, 2, 0), b], 1), 48, 24)
    y = block(op.concat([up(y, 24, 12, 4, 1), a], 1), 24, 12)
    small = op.interpolate(convolution(w, c, 48, 4, 1), ints(40, 56), "linear_onnx", "sizes",
                           coordinate_transformation_mode="align_corners", axes=ints(2, 3))
    y = op.softmax(op.add(convolution(w, y, 12, 4, 1), small), 1)
    best = op.topk(y, scalar(1, np.int64), 1, "max", "none", "i64")
    return ov.Model([op.result(y, name="classes"), op.result(best.output(1), name="best")], [image], "unet")


# ---- sizes that come from data ----

def detector():
    w = Weights("f16")
    image = op.parameter([1, 3, 64, 64], np.float32, name="image")
    x = op.relu(convolution(w, image, 3, 16, 3, 2))
    x = op.relu(convolution(w, x, 16, 24, 3, 2))
    y = op.relu(convolution(w, x, 24, 24, 3, 2))
    boxes, scores = [], []
    for f, side in ((x, 16), (y, 8)):
        at = (np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1) + 0.5) / side
        centre = op.constant(at.reshape(1, -1, 2).astype(np.float32))
        b = op.reshape(op.transpose(convolution(w, f, 24, 4, 1), ints(0, 2, 3, 1)), ints(1, -1, 4), False)
        move = op.variadic_split(op.multiply(op.tanh(b), scalar(0.1)), scalar(2, np.int64), ints(2, 2))
        middle = op.add(centre, move.output(0))
        half = op.multiply(op.exp(move.output(1)), scalar(0.75 / side))
        boxes.append(op.concat([op.subtract(middle, half), op.add(middle, half)], 2))
        s = op.reshape(convolution(w, f, 24, 5, 1), ints(1, 5, -1), False)
        scores.append(op.sigmoid(op.multiply(s, scalar(3.0))))
    boxes, scores = op.concat(boxes, 1), op.concat(scores, 2)
    chosen = op.non_max_suppression(boxes, scores, scalar(20, np.int64), scalar(0.4), scalar(0.6),
                                    sort_result_descending=False, output_type="i64")
    rows = op.gather(chosen.output(0), scalar(2, np.int64), scalar(1, np.int64))
    picked = op.gather(op.squeeze(boxes, ints(0)), rows, scalar(0, np.int64))
    area = op.reduce_prod(op.subtract(op.slice(picked, ints(2), ints(4), ints(1), ints(1)),
                                      op.slice(picked, ints(0), ints(2), ints(1), ints(1))), ints(1), True)
    large = op.non_zero(op.greater(op.squeeze(area, ints(1)), scalar(0.01)), "i64")
    kept = op.gather_nd(picked, op.transpose(large, ints(1, 0)), 0)
    return ov.Model([op.result(picked, name="boxes"), op.result(area, name="area"), op.result(kept, name="kept"),
                     op.result(chosen.output(1), name="found")], [image], "detector")


def control():
    x = op.parameter([3, 5], np.float32, name="x")
    rounds = op.parameter([], np.int32, name="rounds")
    state, index = op.parameter([3, 5], np.float32), op.parameter([], np.int32)
    total = op.reduce_sum(state, ints(0, 1), False)
    yes, no = op.parameter([3, 5], np.float32), op.parameter([3, 5], np.float32)
    branch = op.if_op(op.greater(total, scalar(0.0)).output(0))
    branch.set_then_body(ov.Model([op.result(op.subtract(op.multiply(yes, scalar(0.5)), scalar(0.3)))], [yes], "then"))
    branch.set_else_body(ov.Model([op.result(op.add(op.multiply(no, no), scalar(0.2)))], [no], "else"))
    branch.set_input(state.output(0), yes, no)
    chosen = branch.set_output(branch.get_function(0).results[0], branch.get_function(1).results[0])
    step = op.add(chosen, op.multiply(op.convert(index, "f32"), scalar(0.01)))
    again = op.less(op.reduce_max(op.abs(step), ints(0, 1), False), scalar(50.0))
    body = ov.Model([op.result(step), op.result(again), op.result(op.unsqueeze(step, ints(0)))], [state, index], "body")
    loop = op.loop(op.add(rounds, scalar(3, np.int32)), scalar(True, np.bool_))
    loop.set_function(body)
    loop.set_special_body_ports([1, 1])
    loop.set_merged_input(state, x.output(0), body.results[0].output(0))
    last = loop.get_iter_value(body.results[0].output(0), -1)
    every = loop.get_concatenated_slices(body.results[2].output(0), 0, 1, 1, -1, 0)
    return ov.Model([op.result(op.tanh(last), name="last"), op.result(every, name="every")], [x, rounds], "control")


MODELS = {"llm": llm, "llm-u4": lambda: llm("u4"), "llm-i8": lambda: llm("i8"),
          "llm-1b": lambda: llm("f16", 22, 2048, 32, 4, 5632, 32000),
          "quantized": quantized, "detector": detector, "control": control, "unet": unet}


def main():
    *names, directory = sys.argv[1:]
    if not names or any(n not in MODELS for n in names):
        sys.exit(__doc__)
    os.makedirs(directory, exist_ok=True)
    for n in names:
        ov.save_model(MODELS[n](), os.path.join(directory, n + ".xml"), compress_to_fp16=False)


if __name__ == "__main__":
    main()
