#!/usr/bin/env python3
"""split.py [--seeds A-B] [--openvino] [--keep DIR] - random networks, cut by dagsplit beside as they are.

Each seed is a model of several small networks, one for each family of rules (lib/split/rules.c), with random shapes, strides, dilations,
pads, layouts and ways to store weights.  It is cut with random ways, shares, axes and halos; then devrun computes it whole on a core, in
parts on a core, and in parts placed at random over two, and every output must be within 4e-6 of its scale, 2e-6 for each of the sums in a row
that most of them have.  --openvino: so must what
OpenVINO makes of the IR that placeout writes of the parts, within 1e-5 of what it makes of the model.  Exit status 1 when one was wrong."""
import argparse, os, shutil, subprocess, sys, tempfile

import numpy as np
import openvino as ov
import openvino.opset1 as opset1
import openvino.opset15 as op

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import stream
from oracle import EXACT

TOLERANCE, OPENVINO_TOLERANCE = 4e-6, 1e-5
AXES = ["rows", "width", "channels", "groups", "columns", "tokens", "heads", "sum", "batch"]
CORES = sorted(os.sched_getaffinity(0))
ONE, TWO = "cpu:%d" % CORES[0], ",".join("cpu:%d" % c for c in CORES[:2])


class Maker:
    """Random operators; every choice by rng."""

    def __init__(self, rng):
        self.rng, self.params, self.results = rng, [], []

    def int(self, lo, hi):
        return int(self.rng.integers(lo, hi + 1))

    def maybe(self, p=0.5):
        return self.rng.random() < p

    def one(self, *choices):
        return choices[self.int(0, len(choices) - 1)]

    def input(self, *shape):
        self.params.append(op.parameter(list(shape), ov.Type.f32, name="x%d" % len(self.params)))
        return self.params[-1]

    def result(self, x):
        self.results.append(op.result(x))

    def values(self, *shape):
        return (self.rng.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:])))).astype(np.float32)

    def weights(self, *shape, rows=True):
        """A constant, or what unpacks one; rows: of a product, a row for each of its results."""
        w = self.values(*shape)
        how = self.one("f32", "f32", "f16", *(("u8", "u4") if rows else ("f16",)))
        if how == "u4" and len(shape) == 2 and shape[1] % 8 == 0:
            return self.groups_of_four_bits(*shape)
        if how == "f16":
            return op.convert(op.constant(w.astype(np.float16)), "f32")
        if how == "u8" and len(shape) == 2:
            scale = (np.abs(w).max(axis=1, keepdims=True) / 127).astype(np.float32)
            codes = np.clip(np.round(w / scale) + 128, 0, 255).astype(np.uint8)
            zero = op.convert(op.constant(np.full((shape[0], 1), 128, np.uint8)), "f32")
            w = op.subtract(op.convert(op.constant(codes), "f32"), zero)
            return op.multiply(w, op.constant(scale))
        return op.constant(w)

    def groups_of_four_bits(self, n, k):
        """As compressed language models have them: codes of 4 bits, a zero and a scale for each group of 4 or 8."""
        size = self.one(4, 8)
        t = ov.Tensor(ov.Type.u4, ov.Shape([n, k // size, size]))
        t.data.view(np.uint8).reshape(-1)[:] = self.rng.integers(0, 256, n * k // 2, dtype=np.uint8)
        w = op.convert(ov.op.Constant(t), "f16")
        w = op.subtract(w, op.constant(np.full((n, k // size, 1), 8, np.float16)))
        w = op.multiply(w, op.constant((self.rng.uniform(0.05, 0.2, (n, k // size, 1)) / np.sqrt(k)).astype(np.float16)))
        return op.convert(op.reshape(w, ints(n, k), False), "f32")

    def activation(self, x):
        return self.one(op.relu, op.sigmoid, op.tanh, lambda y: op.gelu(y, "erf"), lambda y: op.clamp(y, -0.5, 1.5), lambda y: y)(x)


def transposed(m):
    n, c, h, w = m.int(1, 2), m.int(2, 8), m.int(4, 12), m.int(3, 8)
    x = m.activation(op.convolution(m.input(n, c, h, w), m.weights(c, c, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1]))
    s, k, d = m.int(1, 3), m.int(1, 4), m.int(1, 2)
    pads = [m.int(0, (k - 1) * d // 2) for _ in range(2)]
    more = [m.int(0, s - 1)] * 2 if m.maybe() else [0, 0]
    groups = [g for g in (2, 3, 4, c) if c % g == 0 and g > 1]
    if groups and m.maybe(0.4):
        g = m.one(*groups)
        y = op.group_convolution_backprop_data(x, m.weights(g, c // g, m.int(1, 3), k, k), strides=[s, s], pads_begin=[pads[0]] * 2,
                                               pads_end=[pads[1]] * 2, dilations=[d, d], output_padding=more)
    else:
        y = op.convolution_backprop_data(x, m.weights(c, m.int(2, 6), k, k), strides=[s, s], pads_begin=[pads[0]] * 2,
                                         pads_end=[pads[1]] * 2, dilations=[d, d], output_padding=more)
    m.result(m.activation(y))


def resized(m):
    b = m.int(2, 3)
    x = m.input(m.int(1, 2), 4 * b * b, b * m.int(2, 5), b * m.int(2, 3))
    for _ in range(m.int(1, 3)):
        c = int(x.output(0).shape[1])
        if m.maybe():
            x = op.convolution(x, m.weights(4 * b * b, c, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
        kind, shape = m.int(0, 4), [int(d) for d in x.output(0).shape]
        if kind == 0 and shape[1] % (b * b) == 0:
            x = op.depth_to_space(x, m.one("blocks_first", "depth_first"), b)
        elif kind == 1 and shape[2] % b == 0 and shape[3] % b == 0:
            x = op.space_to_depth(x, m.one("blocks_first", "depth_first"), b)
        elif kind == 2 and shape[1] % 4 == 0:
            x = op.group_normalization(x, m.weights(shape[1]), m.weights(shape[1]), 4, 1e-5)
        elif kind == 3 and shape[2] < 40:
            how, grow = m.one("asymmetric", "half_pixel"), m.int(1, 3)
            by = m.one(("scales", np.float32([grow, 2])), ("sizes", np.int64([grow * shape[2], 2 * shape[3]])))
            x = op.interpolate(x, op.constant(by[1]), m.one("nearest", "nearest", "linear_onnx"), by[0], [0] * 4, [0] * 4, how,
                               "floor" if how == "asymmetric" else "round_prefer_floor", False, -0.75, ints(2, 3))
        elif kind == 4:
            x = op.cum_sum(x, op.constant(np.int64(m.int(0, 3))))
    m.result(m.activation(x))


def recurrent(m):
    batch, steps, width, hidden = m.int(2, 5), m.int(2, 5), m.int(2, 8), m.int(2, 8)
    d = m.one("forward", "reverse", "bidirectional")
    n = 2 if d == "bidirectional" else 1
    x = product(m, m.input(batch, steps, m.int(2, 7)), width)
    h, c = (op.constant(m.values(batch, n, hidden)) for _ in range(2))
    lengths = op.constant(np.full(batch, steps, np.int64))
    if m.maybe():
        y = op.lstm_sequence(x, h, c, lengths, m.weights(n, 4 * hidden, width), m.weights(n, 4 * hidden, hidden),
                             m.weights(n, 4 * hidden), hidden, d)
    else:
        y = op.gru_sequence(x, h, lengths, m.weights(n, 3 * hidden, width), m.weights(n, 3 * hidden, hidden),
                            m.weights(n, 3 * hidden), hidden, d)
    y = op.reshape(op.transpose(y.output(0), ints(0, 2, 1, 3)), ints(batch, steps, n * hidden), False)
    m.result(product(m, y, m.int(2, 6)))


def iterated(m):
    """Bodies go along with their nodes: a cell in a TensorIterator between two products."""
    steps, width, hidden = m.int(2, 4), m.int(2, 6), m.int(2, 6)
    x, h = op.parameter([1, 1, width], ov.Type.f32), op.parameter([1, hidden], ov.Type.f32)
    cell = op.gru_cell(op.squeeze(x, ints(1)), h, op.constant(m.values(3 * hidden, width)), op.constant(m.values(3 * hidden, hidden)),
                       op.constant(m.values(3 * hidden)), hidden)
    out = op.unsqueeze(cell, ints(1))
    last, all_steps = op.result(cell), op.result(out)
    node = op.tensor_iterator()
    node.set_body(ov.Model([last, all_steps], [x, h], "body"))
    node.set_sliced_input(x, product(m, m.input(1, steps, m.int(3, 8)), width).output(0), 0, 1, 1, -1, 1)
    node.set_merged_input(h, op.constant(m.values(1, hidden)).output(0), cell.output(0))
    y = node.get_concatenated_slices(out.output(0), 0, 1, 1, -1, 1)
    m.result(product(m, m.activation(op.relu(y)), m.int(3, 9)))


def ints(*v):
    return op.constant(np.array(v, np.int64))


def window(m, size, most):
    """Kernel, stride, dilation and pads along a dim of `size`, so that something is left."""
    while True:
        k, s, d = m.int(1, most), m.int(1, 3), m.int(1, 2)
        reach = (k - 1) * d + 1
        b, e = m.int(0, k - 1), m.int(0, k - 1)
        if size + b + e >= reach + 3 * s:
            return k, s, d, b, e


def convolution(m, x):
    n, c, h, w = (int(d) for d in x.output(0).shape)
    (kh, sh, dh, bh, eh), (kw, sw, dw, bw, ew) = window(m, h, 4), window(m, w, 4)
    pad = m.one("explicit", "explicit", "same_upper", "same_lower", "valid")
    if pad == "valid" and (h < (kh - 1) * dh + 1 + 3 * sh or w < (kw - 1) * dw + 1):
        pad = "same_upper"
    out = m.int(2, 20)
    common = ([sh, sw], [bh, bw], [eh, ew], [dh, dw], pad)
    groups = [g for g in (2, 3, 4, c) if c % g == 0 and g > 1]
    if groups and m.maybe(0.4):
        g = m.one(*groups)
        y = op.group_convolution(x, m.weights(g, m.int(1, 4), c // g, kh, kw), *common)
    else:
        y = op.convolution(x, m.weights(out, c, kh, kw), *common)
    channels = int(y.output(0).shape[1])
    if m.maybe():
        y = op.add(y, m.weights(1, channels, 1, 1))
    y = m.activation(y)
    if m.maybe(0.2):
        y = op.prelu(y, op.constant(np.abs(m.values(channels))))
    return y


def pooling(m, x):
    h, w = int(x.output(0).shape[2]), int(x.output(0).shape[3])
    if min(h, w) < 5:
        return x
    k, s = m.int(2, 3), m.int(1, 2)
    b, e = m.int(0, 1), m.int(0, 1)
    rounding = m.one("floor", "ceil")
    if m.maybe():
        return op.avg_pool(x, [s, s], [b, b], [e, e], [k, k], m.maybe(), rounding, "explicit")
    return opset1.max_pool(x, [s, s], [b, b], [e, e], [k, k], rounding, "explicit")


def images(m):
    x = m.input(m.int(1, 2), m.int(2, 12), m.int(9, 26), m.int(7, 20))
    for _ in range(m.int(1, 4)):
        h, w = int(x.output(0).shape[2]), int(x.output(0).shape[3])
        if min(h, w) < 7:
            break
        y = convolution(m, x)
        if m.maybe(0.3):
            z = convolution(m, x)
            if list(z.output(0).shape)[2:] == list(y.output(0).shape)[2:]:
                y = op.concat([y, z], 1)
        if list(y.output(0).shape) == list(x.output(0).shape):
            y = op.add(y, x)
        x = pooling(m, y) if m.maybe(0.3) else y
    if m.maybe(0.3):
        m.result(x)
    if m.maybe():
        x = op.reduce_mean(x, ints(2, 3), m.maybe())
        if len(x.output(0).shape) == 2:
            x = op.matmul(x, m.weights(m.int(2, 9), int(x.output(0).shape[1])), False, True)
    m.result(x)


def product(m, x, columns):
    k, tb = int(x.output(0).shape[-1]), m.maybe()
    y = op.matmul(x, m.weights(*((columns, k) if tb else (k, columns)), rows=tb), False, tb)
    if m.maybe():
        y = op.add(y, m.weights(*([1] * m.int(0, len(y.output(0).shape) - 1) + [columns])))
    return y


def normal(m, x):
    y = op.mvn(x, ints(-1), True, 1e-5, "inside_sqrt")
    return op.add(op.multiply(y, m.weights(int(x.output(0).shape[-1]))), m.weights(int(x.output(0).shape[-1])))


def dense(m):
    width = 4 * m.int(2, 12)
    x = m.input(*([m.int(1, 2)] * m.int(0, 1) + [m.int(3, 17), width]))
    for _ in range(m.int(1, 3)):
        y = normal(m, x) if m.maybe() else x
        y = m.activation(product(m, y, m.int(3, 40)))
        y = product(m, y, width)
        x = op.add(x, y) if m.maybe(0.7) else y
    m.result(op.softmax(x, -1) if m.maybe(0.3) else x)


def attention(m):
    heads, size, tokens, batch = m.int(2, 6), m.int(2, 9), m.int(3, 12), m.int(1, 2)
    groups = m.one(*[g for g in range(1, heads + 1) if heads % g == 0])
    width = heads * size
    x = m.input(batch, tokens, width)

    def split(y, n):
        y = op.reshape(y, ints(*m.one((0, 0, n, size), (batch, tokens, n, size), (0, -1, n, size))), True)
        return op.transpose(y, ints(0, 2, 1, 3))
    q, k, v = (split(product(m, x, n * size), n) for n in (heads, groups, groups))
    if groups < heads:
        def spread(y):
            y = op.broadcast(op.unsqueeze(y, ints(2)), ints(batch, groups, heads // groups, tokens, size), "bidirectional")
            return op.reshape(y, ints(0, heads, tokens, size), True)
        k, v = spread(k), spread(v)
    mask = op.constant(np.triu(np.full((1, 1, tokens, tokens), -1e4, np.float32), 1))
    if groups == heads and m.maybe():   # of others OpenVINO 2026.4's plugin makes something else at times
        a = op.scaled_dot_product_attention(q, k, v, mask, causal=False) if m.maybe() else \
            op.scaled_dot_product_attention(q, k, v, causal=m.maybe())
    else:
        s = op.multiply(op.matmul(q, k, False, True), op.constant(np.float32(size ** -0.5)))
        a = op.matmul(op.softmax(op.add(s, mask) if m.maybe() else s, -1), v, False, False)
    y = op.reshape(op.transpose(a, ints(0, 2, 1, 3)), ints(0, 0, width), True)
    m.result(op.add(x, product(m, y, width)))


def moves(m):
    a, b, c = 2 * m.int(2, 5), m.int(3, 7), 4 * m.int(1, 4)
    x = product(m, m.input(a, b, m.int(2, 9)), c)
    for _ in range(m.int(1, 4)):
        d = [int(n) for n in x.output(0).shape]
        r = len(d)
        kind = m.one("transpose", "merge", "divide", "concat", "split", "slice", "pad", "tile", "reduce", "squeeze", "gather", "softmax")
        axis = m.int(0, r - 1)
        if kind == "transpose":
            x = op.transpose(x, ints(*m.rng.permutation(r)))
        elif kind == "merge" and r > 2:
            axis = m.int(0, r - 2)
            x = op.reshape(x, ints(*d[:axis], d[axis] * d[axis + 1], *d[axis + 2:]), False)
        elif kind == "divide" and r < 5 and d[axis] % 2 == 0:
            x = op.reshape(x, ints(*d[:axis], *m.one((2, d[axis] // 2), (d[axis] // 2, 2)), *d[axis + 1:]), False)
        elif kind == "concat":
            x = op.concat([x, op.relu(x)], axis)
        elif kind == "split" and d[axis] % 2 == 0:
            s = op.split(x, op.constant(np.int64(axis)), 2)
            x = op.subtract(s.output(0), s.output(1))
        elif kind == "slice" and d[axis] > 3:
            x = op.slice(x, ints(1), ints(m.one(d[axis], d[axis] - 1, -1)), ints(m.int(1, 2)), ints(axis))
        elif kind == "pad" and d[axis] < 40:
            pads = [0] * r
            pads[axis] = 1
            x = op.pad(x, ints(*pads), ints(*[0] * r), m.one("constant", "edge"), op.constant(np.float32(0.5)))
        elif kind == "tile" and d[axis] < 20:
            x = op.tile(x, ints(*[2 if i == axis else 1 for i in range(r)]))
        elif kind == "reduce" and r > 2:
            x = m.one(op.reduce_sum, op.reduce_max, op.reduce_mean)(x, ints(axis), m.maybe())
        elif kind == "squeeze":
            x = op.unsqueeze(x, ints(axis))
            x = op.squeeze(m.activation(x), ints(axis))
        elif kind == "gather":
            x = op.gather(x, ints(*m.rng.integers(0, d[axis], m.int(2, 6))), op.constant(np.int64(axis)))
        elif kind == "softmax":
            x = op.softmax(x, axis)
    m.result(op.multiply(m.activation(x), op.constant(np.float32(1.5))))


def scattered(m):
    """Updates at random places, along any axis."""
    n, k, c = m.int(3, 9), m.int(2, 6), m.int(3, 9)
    x, y = product(m, m.input(n, k, m.int(3, 6)), c), product(m, m.input(n, k, m.int(3, 6)), c)
    axis = m.int(0, 2)
    d = [n, k, c]
    if m.maybe():
        at = m.rng.permutation(d[axis])[:m.int(1, d[axis])]
        d[axis] = len(at)
        y = op.slice(y, ints(0), ints(len(at)), ints(1), ints(axis))
        x = op.scatter_update(x, ints(*at), m.activation(y), op.constant(np.int64(axis)))
    else:
        at = np.argsort(m.rng.random((n, k, c)), axis=axis)
        x = op.scatter_elements_update(x, op.constant(at.astype(np.int64)), m.activation(y), op.constant(np.int64(axis)))
    m.result(op.multiply(m.activation(x), op.constant(np.float32(1.5))))


def mixture(m):
    """Experts that take the tokens they like best each; what they make of them is added at the tokens' places."""
    experts, tokens, width, inner = m.int(6, 12), m.int(8, 20), m.int(4, 12), m.int(3, 10)
    take = m.int(1, min(4, tokens))
    x = product(m, m.input(tokens, m.int(3, 9)), width)
    likes = op.sigmoid(op.matmul(x, op.constant(m.values(experts, width)), False, True))
    best = op.topk(likes, op.constant(np.int64(take)), 0, "max", "value", "i64")
    weight, at = (op.split(best.output(i), op.constant(np.int64(1)), experts) for i in range(2))
    rows, places = [], []
    for e in range(experts):
        own = op.gather(x, op.reshape(at.output(e), ints(take), False), op.constant(np.int64(0)))
        h = op.multiply(op.swish(op.matmul(own, m.weights(inner, width), False, True)), op.matmul(own, m.weights(inner, width), False, True))
        rows.append(op.multiply(op.matmul(h, m.weights(width, inner), False, True), weight.output(e)))
        places.append(at.output(e))
    shared = product(m, x, width) if m.maybe(0.7) else op.constant(np.zeros((tokens, width), np.float32))
    y = op.scatter_nd_update(shared, op.concat(places, 0), op.concat(rows, 0), "sum")
    m.result(product(m, m.activation(y), m.int(3, 9)))


def make(seed):
    m = Maker(np.random.default_rng(seed))
    for family in (images, images, dense, dense, attention, moves, moves, transposed, resized, recurrent, iterated,
                   scattered, mixture, mixture):
        family(m)
    return ov.Model(m.results, m.params, "split%d" % seed)


def sh(command):
    r = subprocess.run(["bash", "-c", "set -o pipefail; " + command], capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError("%s: status %d: %s" % (command, r.returncode, r.stderr.strip()))
    return r.stderr.strip()


def outputs(folder):
    return {f: np.load(os.path.join(folder, f)).astype("f8") for f in sorted(os.listdir(folder)) if f.endswith(".npy")}


def distance(a, b):
    same = (a == b) | (np.isnan(a) & np.isnan(b))   # windows of padding alone
    scale = np.abs(a[np.isfinite(a)]).max(initial=1e-30)
    return float((np.abs(np.where(same, 0, a) - np.where(same, 0, b)) / scale).max(initial=0))


def worst(a, b):
    assert list(a) == list(b) and all(a[k].shape == b[k].shape for k in a), (list(a), list(b))
    return max(distance(a[k], b[k]) for k in a)


def options(rng):
    ways = int(rng.integers(2, 4))
    o = ["--ways %d" % ways]
    if rng.random() < 0.6:
        o = ["--shares " + ",".join(str(int(s)) for s in rng.integers(1, 5, ways))]
    if rng.random() < 0.8:
        o += ["--no-auto", "--axes " + ",".join(rng.permutation(AXES)[:int(rng.integers(1, len(AXES)))])]
    if rng.random() < 0.3:
        o.append("--halo again")
    if rng.random() < 0.4:
        o[0] = machine(rng)
    elif "--ways" in o[0] and rng.random() < 0.5:
        o[0] = unlike(rng, ways)
    return " ".join(o)


def unlike(rng, ways):
    """Devices of one memory that are unlike, operation by operation: each chain has its own shares."""
    with open("unlike.spec", "w") as f:
        for i in range(ways):
            f.write("device d%d flops %g bandwidth %g overhead %g\n" % ((i,) + tuple(10 ** rng.uniform(a, a + 1) for a in (9, 8.5, -8))))
        f.write("link * * latency 1e-9 bandwidth 1e12\n")
    return ""


def machine(rng):
    """Devices with memories of their own, in groups of near ones: joins for each, sums by ranges, between groups once."""
    groups, size = ((1, 2), (1, 3), (2, 2), (2, 3), (3, 2))[int(rng.integers(5))]
    with open("machine.spec", "w") as f:
        for i in range(groups * size):
            f.write("device d%d flops 1e12 bandwidth 1e11 overhead 1e-6\n" % i)
        f.write("link * * latency 1e-6 bandwidth 1e9\n")
        for i in range(groups * size):
            for j in range(groups * size):
                if i != j and i // size == j // size:
                    f.write("link d%d d%d latency 1e-6 bandwidth 1e11\n" % (i, j))
    return "--spec machine.spec" + (" --shares " + ",".join(str(int(s)) for s in rng.integers(1, 4, groups * size)) if rng.random() < 0.5 else "")


def openvino_runs(xml, to):
    """What OpenVINO makes of a model, into a file; in a process of its own, which some random networks end (2026.4)."""
    m = ov.Core().compile_model(xml, "CPU", {**EXACT, "INFERENCE_NUM_THREADS": 1})
    rng = np.random.default_rng(1)
    x = [rng.standard_normal(list(p.shape)).astype(np.float32) for p in m.inputs]
    np.savez(to, **{str(i): v.astype("f8") for i, v in enumerate(m(x).values())})


def by_openvino():
    """How far the parts are from the model; None: the plugin cannot run the model either."""
    values = []
    for xml in ("m.xml", "placed/model.xml"):
        r = subprocess.run([sys.executable, os.path.abspath(__file__), "--openvino-runs", xml, "values.npz"], capture_output=True, text=True)
        if r.returncode and not values:
            return None
        if r.returncode:
            raise RuntimeError("OpenVINO ends with %d on the parts: %s" % (r.returncode, r.stderr.strip()[-300:]))
        with np.load("values.npz") as z:
            values.append({k: z[k] for k in z.files})
    return worst(*values)


def check(seed, with_openvino):
    """What is wrong, or ""; and how many nodes were cut."""
    ov.save_model(make(seed), "m.xml", False)
    o = options(np.random.default_rng(seed + 10 ** 6))
    sh("ir2dag m.xml -o whole.mp && devrun probe -D %s whole.mp | placebase single:%s | devrun -n 1 --warmup 0 --no-reference --outputs whole -o r.mp" % (ONE, ONE))
    try:
        measured = os.path.exists("unlike.spec")
        told = sh(("devsim --probe --spec unlike.spec whole.mp | dagsplit -v %s -o cut.mp" if measured else "dagsplit -v %s whole.mp -o cut.mp") % o)
    except RuntimeError as e:
        if "no operation of" in str(e):
            return "", 0, o
        raise
    sh("recdump --check cut.mp; devrun probe -D %s cut.mp | placebase single:%s | devrun -n 1 --warmup 0 --no-reference --outputs one -o r.mp" % (ONE, ONE))
    sh("devrun probe -D %s cut.mp | placebase random -n 1 --seed %d | devrun -n 1 --warmup 0 --no-reference --outputs two -o r.mp" % (TWO, seed))
    assert all(r["ok"] for r in stream.of("r.mp", "run"))
    a = outputs("whole")
    far = {"one": worst(a, outputs("one")), "two": worst(a, outputs("two"))}
    if with_openvino:
        sh("placeout --format affinity %s --openvino placed r.mp > affinity" %
           ("--map " + ",".join("%s=CPU" % d for d in TWO.split(","))))
        far["openvino"] = by_openvino() or 0.0
    bad = {k: v for k, v in far.items() if not v <= (OPENVINO_TOLERANCE if k == "openvino" else TOLERANCE)}
    cut = int(told.split(": ")[2].split()[0]) if "operations in parts" in told else 0
    return "; ".join("%s differs by %.1e" % x for x in bad.items()), cut, o


def main():
    if sys.argv[1:2] == ["--openvino-runs"]:
        openvino_runs(*sys.argv[2:4])
        return 0
    p = argparse.ArgumentParser()
    p.add_argument("--seeds", default="1-8")
    p.add_argument("--openvino", action="store_true")
    p.add_argument("--keep")
    a = p.parse_args()
    first, last = (int(x) for x in a.seeds.split("-"))
    wrong = total = 0
    for seed in range(first, last + 1):
        d = tempfile.mkdtemp()
        os.chdir(d)
        try:
            said, cut, o = check(seed, a.openvino)
        except (RuntimeError, AssertionError) as e:
            said, cut, o = str(e) or repr(e), 0, ""
        total += cut
        if said:
            wrong += 1
            print("seed %d (%s): %s" % (seed, o, said), flush=True)
            if a.keep:
                shutil.copytree(d, os.path.join(a.keep, str(seed)), dirs_exist_ok=True)
        os.chdir("/")
        shutil.rmtree(d)
    print("%d models, %d operations in parts, %d models wrong" % (last - first + 1, total, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
