#!/usr/bin/env python3
"""Single operators over grids of attributes and shapes, OpenVINO's CPU plugin in f32 as the oracle.

    parity_op.py gen DIR [FAMILY...]   one IR per family in DIR/FAMILY/model.xml with inputs (in/) and
                                       OpenVINO's results (ref/), every case a separate part of the model
    parity_op.py compare DIR [FAMILY...]   results in DIR/FAMILY/out against ref; prints TAP, exit 1 on a difference
    parity_op.py list                  the families

Results agree when integers are equal and real numbers differ by at most 1e-5 of the largest (f16: 1e-3, f64: 1e-13).
"""
import itertools
import math
import os
import sys

import numpy as np

import parity_grid
import parity_rare
import parity_types

TOLERANCE = 1e-5
FAMILIES = {}


def family(f):
    FAMILIES[f.__name__] = f
    return f


class Cases:
    """Collects cases; every add() is a piece of one model."""

    def __init__(self, name):
        import openvino as ov
        from openvino import opset13
        self.ov, self.op, self.name = ov, opset13, name
        self.rng = np.random.default_rng(sum(map(ord, name)))
        self.params, self.results, self.inputs, self.labels = [], [], [], []
        self.want = []
        self.exact = False           # the oracle is OpenVINO's reference implementations, not its plugin

    def real(self, *shape, lo=-1.0, hi=1.0):
        return self.rng.uniform(lo, hi, shape).astype(np.float32)

    def ints(self, *shape, lo=0, hi=10, dtype=np.int32):
        return self.rng.integers(lo, hi, shape).astype(dtype)

    def const(self, value, dtype=None):
        return self.op.constant(np.asarray(value, dtype=dtype))

    def f16(self, value):
        """A weight as compressed models hold it: an f16 constant and a Convert."""
        return self.op.convert(self.op.constant(value.astype(np.float16)), "f32")

    def make(self, kind, inputs, opset="opset13", **attributes):
        """A node by its names in the file: what Python's functions have no argument for."""
        from openvino.utils.node_factory import NodeFactory
        kind = "".join(part[:1].upper() + part[1:] for part in kind.split("_"))
        return NodeFactory(opset).create(kind, [n.output(0) for n in inputs], attributes)

    def add(self, label, build, *arrays, want=None):
        """build(*parameters) gives a node; arrays are the parameters' values, want its value if not OpenVINO's."""
        nodes = []
        for a in arrays:
            p = self.op.parameter(list(a.shape), dtype=a.dtype.type, name="p%d" % len(self.params))
            self.params.append(p)
            self.inputs.append(a)
            nodes.append(p)
        made = build(*nodes)
        self.want += [want] * len(made.outputs())
        for i, out in enumerate(made.outputs()):
            r = self.op.result(out)
            r.set_friendly_name("r%d" % len(self.results))
            self.results.append(r)
            self.labels.append(label if i == 0 else "%s output %d" % (label, i))

    def reference(self, model):
        """The values of the model's outputs."""
        if all(w is not None for w in self.want):
            return self.want
        if self.exact:
            got = [self.ov.Tensor(out.get_element_type(), out.get_shape()) for out in model.outputs]
            if not model.evaluate(got, [self.ov.Tensor(a) for a in self.inputs]):
                raise RuntimeError("%s: not evaluated" % self.name)
            return self.wanted([np.array(t.data) for t in got])
        compiled = self.ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32",
                                                              "INFERENCE_NUM_THREADS": 1})
        got = compiled(self.inputs)
        return self.wanted([np.array(got[out]) for out in compiled.outputs])      # the values go with the model

    def wanted(self, got):
        """OpenVINO's values, or those that are known better."""
        return [g if w is None else w for g, w in zip(got, self.want)]

    def save(self, path):
        os.makedirs(path + "/in", exist_ok=True)
        os.makedirs(path + "/ref", exist_ok=True)
        model = self.ov.Model(self.results, self.params, self.name)
        self.ov.save_model(model, path + "/model.xml", compress_to_fp16=False)
        got = self.reference(model)
        with open(path + "/in/index.tsv", "w") as f:
            for i, a in enumerate(self.inputs):
                np.save("%s/in/%d.npy" % (path, i), a)
                f.write("%d.npy\tp%d\t%s\t%s\n" % (i, i, a.dtype, list(a.shape)))
        with open(path + "/ref/index.tsv", "w") as f:
            for i, label in enumerate(self.labels):
                np.save("%s/ref/%d.npy" % (path, i), got[i])
                f.write("%d.npy\tr%d\t%s\n" % (i, i, label))
        return len(self.labels)


def erf_inverse(x):
    """By bisection."""
    if not abs(x) < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    lo, hi = 0.0, 6.0
    for _ in range(80):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if math.erfc(mid) > 1 - abs(x) else (lo, mid)
    return math.copysign(hi, x)


SHAPES = [(), (7,), (2, 3, 5), (2, 3, 9, 17)]


@family
def unary(c):
    o = c.op
    plain = {"abs": (-2, 2), "acos": (-0.9, 0.9), "acosh": (1.1, 4), "asin": (-0.9, 0.9), "asinh": (-3, 3),
             "atan": (-3, 3), "atanh": (-0.9, 0.9), "ceiling": (-4, 4), "cos": (-6, 6), "cosh": (-3, 3),
             "erf": (-4, 4), "exp": (-10, 10), "floor": (-4, 4), "hsigmoid": (-5, 5), "hswish": (-5, 5),
             "log": (0.01, 9), "mish": (-5, 5), "negative": (-2, 2), "relu": (-2, 2), "sigmoid": (-20, 20),
             "sign": (-2, 2), "sin": (-6, 6), "sinh": (-3, 3), "softplus": (-20, 40), "softsign": (-5, 5),
             "sqrt": (0, 9), "tan": (-1.4, 1.4), "tanh": (-9, 9)}
    for name, (lo, hi) in plain.items():
        for s in SHAPES[1:] if name not in ("exp", "tanh") else SHAPES:
            c.add("%s %s" % (name, s), getattr(o, name), c.real(*s, lo=lo, hi=hi))
    near_one = np.array([-2, -1, -0.99999, -0.9, -0.5, -0.0, 1e-6, 0.3, 0.5, 0.999, 0.9999999, 1, np.nan], np.float32)
    for x in (near_one, c.real(2, 3, 5, lo=-1)):        # the plugin is right to five digits, but knows what is not finite
        y = np.array([erf_inverse(float(v)) for v in x.ravel()], np.float32).reshape(x.shape)
        c.add("erfinv %s" % (x.shape,), c.ov.opset17.erfinv, x, want=y)
    x = c.real(3, 41, lo=-4, hi=4)
    for lo, hi in ((0.0, 6.0), (-1.0, 1.0), (-0.5, 3.0)):
        c.add("clamp %g %g" % (lo, hi), lambda p: o.clamp(p, lo, hi), x)
    for a in (0.5, 1.0, 2.0):
        c.add("elu %g" % a, lambda p: o.elu(p, a), x)
    for mode in ("erf", "tanh"):
        c.add("gelu " + mode, lambda p: o.gelu(p, mode), x)
    c.add("swish", lambda p: o.swish(p), x)
    c.add("swish 1.7", lambda p: o.swish(p, c.const(1.7, np.float32)), x)
    c.add("hard_sigmoid", lambda p: o.hard_sigmoid(p, c.const(0.3, np.float32), c.const(0.4, np.float32)), x)
    c.add("selu", lambda p: o.selu(p, c.const(1.6, np.float32), c.const(1.05, np.float32)), x)
    for mode in ("half_to_even", "half_away_from_zero"):
        c.add("round " + mode, lambda p: o.round(p, mode),
              np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49, 1.2], np.float32))
    for s in ((1,), (3,), (1, 3, 1, 1), (2, 3, 4, 5), (5,)):
        c.add("prelu %s" % (s,), lambda p: o.prelu(p, c.const(c.real(*s))), c.real(2, 3, 4, 5))
    odd = np.array([1, np.inf, -np.inf, np.nan, -2], np.float32)
    c.add("is_finite", o.is_finite, odd)
    c.add("is_nan", o.is_nan, odd)
    for n, p_ in itertools.product((True, False), (True, False)):
        c.add("is_inf %s %s" % (n, p_), lambda p: o.is_inf(p, {"detect_negative": n, "detect_positive": p_}), odd)
    i = c.ints(3, 7, lo=-9, hi=9)
    for name in ("abs", "negative", "sign", "relu"):
        c.add(name + " i32", getattr(o, name), i)
    c.add("clamp i32", lambda p: o.clamp(p, -3, 5), i)
    c.add("logical_not", o.logical_not, i > 0)
    c.add("bitwise_not", o.bitwise_not, i)
    c.add("bitwise_not boolean", o.bitwise_not, i > 0)


PAIRS = [((7,), (7,)), ((2, 3, 4, 5), (2, 3, 4, 5)), ((2, 3, 4, 5), ()), ((), (3, 4)), ((2, 3, 4, 5), (5,)),
         ((2, 3, 4, 5), (3, 1, 1)), ((2, 3, 4, 5), (1, 3, 4, 1)), ((2, 1, 4, 1), (3, 1, 5)), ((4, 1), (1, 70)),
         ((1,), (2, 3))]


@family
def binary(c):
    o = c.op
    for name in ("add", "subtract", "multiply", "maximum", "minimum", "squared_difference"):
        for a, b in PAIRS:
            c.add("%s %s %s" % (name, a, b), getattr(o, name), c.real(*a), c.real(*b))
    for name in ("divide", "mod", "floor_mod", "power"):
        for a, b in PAIRS[::3]:
            lo = 0.2 if name == "power" else -3
            c.add("%s %s %s" % (name, a, b), getattr(o, name), c.real(*a, lo=lo, hi=3),
                  c.real(*b, lo=0.3, hi=2) * (-1 if name == "floor_mod" else 1))
    c.add("power 2", lambda p: o.power(p, c.const(2, np.float32)), c.real(3, 7))
    for name in ("add", "subtract", "multiply", "maximum", "minimum"):
        c.add(name + " i32", getattr(o, name), c.ints(3, 4, lo=-99, hi=99), c.ints(4, lo=-99, hi=99))
    for name in ("divide", "floor_mod", "mod"):
        for signs in itertools.product((1, -1), (1, -1)):
            c.add("%s i32 %s" % (name, signs), getattr(o, name), c.ints(5, lo=10, hi=99) * signs[0],
                  c.ints(5, lo=3, hi=9) * signs[1])
    c.add("power i32", o.power, c.ints(5, lo=-5, hi=5), c.ints(5, lo=0, hi=4))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        c.add(name, getattr(o, name), c.ints(9, hi=99), c.ints(9, hi=99))
        c.add(name + " boolean", getattr(o, name), c.ints(9, hi=2) > 0, c.ints(9, hi=2) > 0)
    for bits in (np.uint8, np.int8):
        c.add("add %s" % bits.__name__, o.add, c.ints(9, hi=50, dtype=bits), c.ints(9, hi=50, dtype=bits))


@family
def compare(c):
    o = c.op
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        for a, b in PAIRS[::4]:
            c.add("%s %s %s" % (name, a, b), getattr(o, name), c.ints(*a, hi=3), c.ints(*b, hi=3))
        c.add(name + " f32", getattr(o, name), c.real(4, 5), c.real(5))
        c.add(name + " i64", getattr(o, name), c.ints(4, 5, dtype=np.int64), c.ints(5, dtype=np.int64))
    for name in ("logical_and", "logical_or", "logical_xor"):
        c.add(name, getattr(o, name), c.ints(4, 5, hi=2) > 0, c.ints(5, hi=2) > 0)
    for cond, a, b in (((4, 5), (4, 5), (4, 5)), ((1, 5), (4, 1), (4, 5)), ((4, 1), (), (4, 5)), ((2, 1, 5), (4, 5), (1,))):
        c.add("select %s %s %s" % (cond, a, b), o.select, c.ints(*cond, hi=2) > 0, c.real(*a), c.real(*b))
    c.add("select i32", o.select, c.ints(4, hi=2) > 0, c.ints(4), c.ints(4))


@family
def quantize(c):
    o = c.op
    k = lambda v: c.const(v, np.float32)
    for levels in (2, 16, 255, 256):
        x = c.real(2, 3, 5, 7, lo=-2, hi=2)
        c.add("fake_quantize %d" % levels,
              lambda p: o.fake_quantize(p, k(-1.1), k(1.3), k(-1.0), k(1.2), levels), x)
    s = (1, 3, 1, 1)
    c.add("fake_quantize channels", lambda p: o.fake_quantize(
        p, c.const(c.real(*s, lo=-2, hi=-1)), c.const(c.real(*s, lo=1, hi=2)), c.const(c.real(*s, lo=-2, hi=-1)),
        c.const(c.real(*s, lo=1, hi=2)), 256), c.real(2, 3, 5, 7, lo=-2, hi=2))
    types = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "i8": np.int8, "f16": np.float16,
             "boolean": np.bool_, "f64": np.float64}
    for a, b in itertools.product(types, types):
        if a != b:
            c.add("convert %s %s" % (a, b), lambda p: o.convert(p, b), (c.ints(9, hi=100) / 2).astype(types[a]))
    c.add("convert f32 i32 negative", lambda p: o.convert(p, "i32"), c.real(9, lo=-9, hi=9))
    c.add("convert_like", lambda p, q: o.convert_like(p, q), c.ints(5), c.real(2))


@family
def reduce(c):
    o = c.op
    names = ["reduce_" + n for n in ("mean", "sum", "max", "min", "prod", "l1", "l2")]
    for name, axes, keep in itertools.product(names, ([0], [-1], [1], [2, 3], [0, 1, 2, 3], [1, 3], [0, 2]), (True, False)):
        c.add("%s %s %s" % (name, axes, keep), lambda p: getattr(o, name)(p, c.const(axes, np.int64), keep),
              c.real(2, 3, 5, 17, lo=0.5, hi=1.5))
    for name in ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"):
        c.add(name + " i32", lambda p: getattr(o, name)(p, c.const([1], np.int64), False), c.ints(3, 5, lo=-4, hi=4))
    for name in ("reduce_logical_and", "reduce_logical_or"):
        c.add(name, lambda p: getattr(o, name)(p, c.const([1], np.int64), True), c.ints(3, 5, hi=2) > 0)


@family
def matmul(c):
    o = c.op
    for (m, k, n), ta, tb in itertools.product(((1, 5, 7), (9, 33, 40), (13, 64, 70), (30, 600, 33)), (False, True), (False, True)):
        a, b = ((k, m) if ta else (m, k)), ((n, k) if tb else (k, n))
        label = "matmul %s ta=%d tb=%d" % ((m, k, n), ta, tb)
        c.add(label, lambda p, q: o.matmul(p, q, ta, tb), c.real(*a), c.real(*b))
        w = c.real(*b)
        c.add(label + " const", lambda p: o.matmul(p, c.const(w), ta, tb), c.real(*a))
        c.add(label + " f16", lambda p: o.matmul(p, c.f16(w), ta, tb), c.real(*a))
    for a, b in (((5,), (5,)), ((5,), (5, 3)), ((3, 5), (5,)), ((2, 3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4)),
                 ((2, 1, 3, 5), (3, 5, 4)), ((6, 1, 5), (1, 5, 4)), ((1, 3, 5), (7, 5, 4)), ((2, 3, 5), (5,)),
                 ((2, 12, 9, 16), (2, 12, 16, 9)), ((5,), (2, 5, 4))):
        c.add("matmul %s %s" % (a, b), lambda p, q: o.matmul(p, q, False, False), c.real(*a), c.real(*b))
    for m, k, n in ((1300, 4, 4), (1024, 16, 8), (1537, 3, 1), (1100, 1, 5)):      # many short rows, few columns
        w, bias = c.real(n, k), c.real(n)
        product = lambda p: o.matmul(p, c.const(w), False, True)
        c.add("matmul narrow %s" % ((m, k, n),), product, c.real(2, m // 2, k))
        c.add("matmul narrow %s computed" % ((m, k, n),), lambda p, q: o.matmul(p, q, False, True), c.real(m, k), w)
        c.add("matmul narrow %s f16" % ((m, k, n),), lambda p: o.matmul(p, c.f16(w), False, True), c.real(m, k))
        c.add("matmul narrow %s +" % ((m, k, n),), lambda p: o.add(product(p), c.const(bias)), c.real(m, k))
        c.add("matmul narrow %s + relu" % ((m, k, n),), lambda p: o.relu(o.add(product(p), c.const(bias))), c.real(m, k))
    w = c.real(2, 5, 4)
    c.add("matmul batched const", lambda p: o.matmul(p, c.const(w), False, False), c.real(2, 3, 5))
    for l, s, d, dv, mask in ((4, 6, 8, 8, None), (9, 9, 16, 12, (9, 9)), (1, 7, 8, 8, (2, 1, 1, 7)), (5, 5, 8, 8, "causal")):
        q, k, v = c.real(2, 3, l, d), c.real(2, 3, s, d), c.real(2, 3, s, dv)
        label = "attention %s" % ((l, s, d, dv, mask),)
        if isinstance(mask, tuple):
            c.add(label, lambda a, b, e, m: o.scaled_dot_product_attention(a, b, e, m), q, k, v, c.real(*mask))
        else:
            c.add(label, lambda a, b, e: o.scaled_dot_product_attention(a, b, e, causal=mask == "causal"), q, k, v)
    mask = c.real(2, 1, 9, 9)       # which heads share: nothing of it hides, or the last row of it alone
    for label, some in (("nothing", slice(0)), ("something", (1, 0, 8))):
        some_mask = np.zeros_like(mask)
        some_mask[some] = mask[some]
        c.add("attention mask hides " + label, lambda a, b, e, m: o.scaled_dot_product_attention(a, b, e, m),
              *(c.real(2, 3, 9, 16) for _ in range(3)), some_mask)


@family
def grouped(c):
    """OpenVINO's CPU plugin does not have it: NumPy is the oracle."""
    op = c.ov.opset17.grouped_matmul
    for rows, k, n, ends in ((7, 4, 2, [2, 5, 7]), (7, 4, 2, [0, 0, 7]), (40, 33, 70, [9, 9, 10, 31]), (1, 64, 48, [0, 1]), (0, 4, 3, [0, 0])):
        a, b = c.real(rows, k), c.real(len(ends), n, k)
        starts, want = [0] + ends[:-1], np.zeros((rows, n), np.float32)
        for i, j, w in zip(starts, ends, b):
            want[i:j] = a[i:j] @ w.T
        label = "grouped_matmul %s %s" % ((rows, k, n), ends)
        for kind in (np.int32, np.int64):
            c.add(label, lambda p, q, e: op(p, q, e), a, b, np.array(ends, kind), want=want)
        c.add(label + " const", lambda p: op(p, c.const(b), c.const(ends, np.int64)), a, want=want)
        c.add(label + " f16", lambda p, q, e: op(p, q, e), a.astype(np.float16), b.astype(np.float16), np.array(ends),
              want=want.astype(np.float16))
    for g, m, k, n in ((2, 3, 4, 3), (3, 20, 17, 40), (1, 1, 5, 1), (2, 3, 0, 4)):
        a, b = c.real(g, m, k), c.real(g, n, k)
        c.add("grouped_matmul %s" % ((g, m, k, n),), lambda p, q: op(p, q), a, b, want=np.matmul(a, b.transpose(0, 2, 1)))


def conv_attrs(n, stride=1, pad=0, pad_end=None, dilation=1):
    return [stride] * n, [pad] * n, [pad if pad_end is None else pad_end] * n, [dilation] * n


@family
def convolution(c):
    o = c.op
    grid = [(k, s, p, d) for k in (1, 3, 5) for s in (1, 2) for p in (0, 1, 2) for d in (1, 2) if p <= k and (k > 1 or d == 1)]
    for k, s, p, d in grid:
        w = c.real(14, 5, k, k)
        c.add("conv 2d k=%d s=%d p=%d d=%d" % (k, s, p, d),
              lambda x: o.convolution(x, c.const(w), *conv_attrs(2, s, p, None, d)), c.real(1, 5, 13, 11))
    for auto, k, s in itertools.product(("same_upper", "same_lower", "valid"), (2, 3), (1, 2, 3)):
        w = c.real(4, 3, k, k)
        c.add("conv %s k=%d s=%d" % (auto, k, s),
              lambda x: o.convolution(x, c.const(w), [s, s], [0, 0], [0, 0], [1, 1], auto), c.real(2, 3, 10, 9))
    for n, shape in ((1, (2, 3, 17)), (3, (1, 2, 5, 6, 7))):
        for k, s, p in ((1, 1, 0), (3, 1, 1), (3, 2, 1)):
            w = c.real(4, shape[1], *[k] * n)
            c.add("conv %dd k=%d s=%d p=%d" % (n, k, s, p),
                  lambda x: o.convolution(x, c.const(w), *conv_attrs(n, s, p)), c.real(*shape))
    w = c.real(20, 70, 3, 3)
    c.add("conv deep f16", lambda x: o.convolution(x, c.f16(w), *conv_attrs(2, 1, 1)), c.real(1, 70, 9, 9))
    c.add("conv 7x7 s2", lambda x: o.convolution(x, c.const(c.real(8, 3, 7, 7)), *conv_attrs(2, 2, 3)), c.real(1, 3, 30, 31))
    c.add("conv 1x7", lambda x: o.convolution(x, c.const(c.real(6, 8, 1, 7)), [1, 1], [0, 3], [0, 3], [1, 1]), c.real(1, 8, 9, 12))
    c.add("conv asymmetric", lambda x: o.convolution(x, c.const(c.real(6, 8, 3, 2)), [2, 1], [1, 0], [0, 2], [1, 2]), c.real(1, 8, 9, 12))
    c.add("conv weights from an input", lambda x, v: o.convolution(x, v, *conv_attrs(2, 1, 1)), c.real(1, 4, 8, 8), c.real(5, 4, 3, 3))
    for g, ci, co, k, s, p in ((6, 1, 1, 3, 1, 1), (6, 1, 1, 3, 2, 1), (6, 1, 1, 5, 1, 2), (6, 1, 1, 5, 2, 2), (6, 1, 2, 3, 1, 0),
                               (2, 3, 4, 3, 1, 1), (3, 2, 13, 1, 1, 0), (4, 2, 2, 3, 2, 1), (6, 1, 1, 7, 3, 3)):
        v = c.real(g, co, ci, k, k)
        c.add("group conv g=%d ci=%d co=%d k=%d s=%d p=%d" % (g, ci, co, k, s, p),
              lambda x: o.group_convolution(x, c.const(v), *conv_attrs(2, s, p)), c.real(2, g * ci, 14, 13))
        c.add("group conv f16 g=%d ci=%d co=%d k=%d s=%d p=%d" % (g, ci, co, k, s, p),
              lambda x: o.group_convolution(x, c.f16(v), *conv_attrs(2, s, p)), c.real(1, g * ci, 14, 13))
    c.add("depthwise dilated", lambda x: o.group_convolution(x, c.const(c.real(4, 1, 1, 3, 3)), [2, 2], [2, 2], [2, 2], [2, 2]), c.real(1, 4, 15, 14))
    c.add("group conv 1d", lambda x: o.group_convolution(x, c.const(c.real(4, 1, 1, 3)), [1], [1], [1], [1]), c.real(1, 4, 15))


@family
def deconvolution(c):
    o = c.op
    for k, s, p, d, extra in ((2, 2, 0, 1, 0), (3, 1, 1, 1, 0), (3, 2, 1, 1, 1), (4, 2, 1, 1, 0), (3, 2, 0, 2, 0)):
        w = c.real(5, 4, k, k)
        c.add("deconv k=%d s=%d p=%d d=%d +%d" % (k, s, p, d, extra), lambda x: o.convolution_backprop_data(
            x, c.const(w), [s, s], pads_begin=[p, p], pads_end=[p, p], dilations=[d, d], output_padding=[extra, extra]),
            c.real(1, 5, 6, 7))
        v = c.real(2, 3, 2, k, k)
        c.add("group deconv k=%d s=%d p=%d" % (k, s, p), lambda x: o.group_convolution_backprop_data(
            x, c.const(v), [s, s], pads_begin=[p, p], pads_end=[p, p], dilations=[d, d], output_padding=[extra, extra]),
            c.real(1, 6, 6, 7))
    for auto in ("same_upper", "same_lower"):
        c.add("deconv shape " + auto, lambda x: o.convolution_backprop_data(
            x, c.const(c.real(3, 2, 3, 3)), [2, 2], output_shape=c.const([12, 13], np.int64), auto_pad=auto), c.real(1, 3, 6, 7))
    c.add("deconv 1d", lambda x: o.convolution_backprop_data(x, c.const(c.real(3, 2, 4)), [2]), c.real(2, 3, 8))


@family
def pooling(c):
    o = c.op
    for k, s, p, rounding in itertools.product((2, 3), (1, 2), (0, 1), ("floor", "ceil")):
        label = "k=%d s=%d p=%d %s" % (k, s, p, rounding)
        x = c.real(2, 3, 11, 12)
        c.add("max pool " + label, lambda t: o.max_pool(t, [s, s], [1, 1], [p, p], [p, p], [k, k], rounding).output(0).node, x)
        for ex in (True, False):
            c.add("avg pool %s exclude=%d" % (label, ex),
                  lambda t: o.avg_pool(t, [s, s], [p, p], [p, p], [k, k], ex, rounding), x)
    for auto in ("same_upper", "same_lower", "valid"):
        c.add("max pool " + auto, lambda t: o.max_pool(t, [2, 2], [1, 1], [0, 0], [0, 0], [3, 3], "floor", auto), c.real(1, 2, 10, 9))
        c.add("avg pool " + auto, lambda t: o.avg_pool(t, [2, 2], [0, 0], [0, 0], [3, 3], True, "floor", auto), c.real(1, 2, 10, 9))
    c.add("max pool dilated", lambda t: o.max_pool(t, [1, 1], [2, 2], [1, 1], [1, 1], [3, 3]), c.real(1, 2, 10, 9))
    c.add("max pool 1d", lambda t: o.max_pool(t, [2], [1], [1], [1], [3]), c.real(1, 2, 19))
    c.add("max pool 3d", lambda t: o.max_pool(t, [2, 2, 2], [1, 1, 1], [1, 1, 1], [1, 1, 1], [3, 3, 3]), c.real(1, 2, 6, 7, 8))
    c.add("avg pool 3d", lambda t: o.avg_pool(t, [2, 2, 2], [1, 1, 1], [1, 1, 1], [3, 3, 3], True), c.real(1, 2, 6, 7, 8))
    c.add("avg pool 1d", lambda t: o.avg_pool(t, [2], [1], [1], [3], False), c.real(1, 2, 19))
    for size in ([1, 1], [3, 4], [7, 5]):
        c.add("adaptive avg %s" % size, lambda t: o.adaptive_avg_pool(t, c.const(size, np.int64)), c.real(1, 3, 8, 9))


@family
def norm(c):
    o = c.op
    for axis in (0, 1, 2, 3, -1, -2):
        c.add("softmax %d" % axis, lambda x: o.softmax(x, axis), c.real(2, 3, 5, 19, lo=-5, hi=5))
        c.add("log_softmax %d" % axis, lambda x: o.log_softmax(x, axis), c.real(2, 3, 5, 19, lo=-5, hi=5))
    c.add("log_softmax wide", lambda x: o.log_softmax(x, -1), c.real(2, 1300, lo=-5, hi=5))
    for axes, var, mode in itertools.product(([-1], [2, 3], [1, 2, 3], [1], [0, 2]), (True, False), ("inside_sqrt", "outside_sqrt")):
        c.add("mvn %s %s %s" % (axes, var, mode), lambda x: o.mvn(x, c.const(axes, np.int64), var, 1e-5, mode), c.real(2, 3, 5, 19))
    for axes in ([1], [2, 3]):
        c.add("lrn %s" % axes, lambda x: o.lrn(x, c.const(axes, np.int64), 1e-2, 0.75, 1.0, 5), c.real(2, 7, 5, 6))
    for axes, mode in itertools.product(([1], [1, 2, 3], [-1]), ("add", "max")):
        c.add("normalize_l2 %s %s" % (axes, mode), lambda x: o.normalize_l2(x, c.const(axes, np.int64), 1e-3, mode), c.real(2, 3, 5, 6))
    k = lambda lo, hi: c.const(c.real(3, lo=lo, hi=hi))
    c.add("batch_norm", lambda x: o.batch_norm_inference(x, k(0.5, 2), k(-1, 1), k(-1, 1), k(0.5, 2), 1e-4), c.real(2, 3, 5, 6))
    c.add("group_norm", lambda x: o.group_normalization(x, c.const(c.real(6)), c.const(c.real(6)), 3, 1e-4), c.real(2, 6, 5, 7))


@family
def move(c):
    o = c.op
    i64 = lambda v: c.const(v, np.int64)
    for perm in itertools.permutations(range(4)):
        c.add("transpose %s" % (perm,), lambda x: o.transpose(x, i64(perm)), c.real(2, 5, 7, 6))
    c.add("transpose large", lambda x: o.transpose(x, i64([1, 0])), c.real(70, 45))
    c.add("transpose u8", lambda x: o.transpose(x, i64([1, 0])), c.ints(17, 9, hi=99, dtype=np.uint8))
    for axis in (0, 1, -1):
        c.add("concat %d" % axis, lambda a, b, e: o.concat([a, b, e], axis), *[c.real(*[n if i == axis % 3 else 4 for i in range(3)]) for n in (2, 1, 3)])
        c.add("split %d" % axis, lambda x: o.split(x, i64(axis), 2), c.real(4, 6, 8))
        c.add("variadic_split %d" % axis, lambda x: o.variadic_split(x, i64(axis), i64([1, -1, 2])), c.real(4, 6, 8))
    for b, e, s, a in (([1], [3], [1], [0]), ([-1, 0], [-100, 100], [-2, 3], [1, 2]), ([0, 1], [2**60, -1], [1, 1], [2, 1]),
                       ([5], [0], [-1], [-1]), ([2], [2], [1], [1])):
        if (b, e) != ([2], [2]):
            c.add("slice %s %s %s %s" % (b, e, s, a), lambda x: o.slice(x, i64(b), i64(e), i64(s), i64(a)), c.real(4, 6, 8))
    for b, e, s, masks in (([0, 1], [2, 5], [1, 2], {}), ([0, 1], [0, 0], [1, 1], {"begin_mask": [1, 0], "end_mask": [1, 1]}),
                           ([1, 0], [2, 3], [1, 1], {"shrink_axis_mask": [1, 0]}),
                           ([0, 1, 0], [0, 3, 0], [1, 1, 1], {"new_axis_mask": [1, 0, 0], "end_mask": [0, 0, 1]}),
                           ([0, 2], [0, 5], [1, 1], {"ellipsis_mask": [1, 0]}),
                           ([-1, 5], [-5, 0], [-1, -2], {}), ([1, 0, -2], [2, 0, -1], [1, 1, 1], {"shrink_axis_mask": [0, 0, 1], "ellipsis_mask": [0, 1, 0]})):
        m = {"begin_mask": [0] * len(b), "end_mask": [0] * len(b)}
        m.update(masks)
        c.add("strided_slice %s %s %s %s" % (b, e, s, masks), lambda x: o.strided_slice(
            x, i64(b), i64(e), i64(s), m["begin_mask"], m["end_mask"], m.get("new_axis_mask", []), m.get("shrink_axis_mask", []),
            m.get("ellipsis_mask", [])), c.real(4, 6, 8))
    for mode, lo, hi in itertools.product(("constant", "edge", "reflect", "symmetric"), ([1, 0, 2], [0, 2, 3]), ([0, 1, 3], [2, 0, 1])):
        c.add("pad %s %s %s" % (mode, lo, hi), lambda x: o.pad(x, i64(lo), i64(hi), mode, c.const(0.5, np.float32)), c.real(3, 4, 5))
    c.add("pad negative", lambda x: o.pad(x, i64([-1, 0]), i64([0, -2]), "constant"), c.real(4, 5))
    for shape, target in (((5,), (2, 3, 5)), ((3, 1), (2, 3, 4)), ((1,), (4,)), ((2, 1, 4), (2, 3, 4))):
        c.add("broadcast %s %s" % (shape, target), lambda x: o.broadcast(x, i64(target)), c.real(*shape))
    c.add("broadcast bidirectional", lambda x: o.broadcast(x, i64([2, 1, 4]), broadcast_spec="BIDIRECTIONAL"), c.real(3, 1))
    c.add("broadcast explicit", lambda x: o.broadcast(x, i64([2, 3, 4]), i64([1]), "EXPLICIT"), c.real(3))
    for r in ([2], [2, 1, 3], [1, 3], [2, 2, 2, 2]):
        c.add("tile %s" % r, lambda x: o.tile(x, i64(r)), c.real(2, 3, 4))
    for p, z in (([0, -1], True), ([4, 6], False), ([-1], False), ([2, 0, 2, 2], True)):
        c.add("reshape %s" % p, lambda x: o.reshape(x, i64(p), z), c.real(2, 3, 4))
    c.add("squeeze", lambda x: o.squeeze(x, i64([0, -1])), c.real(1, 3, 1))
    c.add("unsqueeze", lambda x: o.unsqueeze(x, i64([0, -1])), c.real(3, 2))
    for axis, reverse, exclusive in itertools.product((0, 1, -1), (True, False), (True, False)):
        c.add("cum_sum %d %s %s" % (axis, reverse, exclusive), lambda x: o.cumsum(x, i64(axis), exclusive, reverse), c.real(3, 4, 5))
    c.add("roll", lambda x: o.roll(x, i64([2, -1]), i64([0, 1])), c.real(4, 5))
    c.add("reverse_sequence", lambda x: o.reverse_sequence(x, i64([2, 4, 1]), 0, 1), c.real(3, 4, 5))
    for mode in ("blocks_first", "depth_first"):
        c.add("depth_to_space " + mode, lambda x: o.depth_to_space(x, mode, 2), c.real(2, 12, 3, 4))
        c.add("space_to_depth " + mode, lambda x: o.space_to_depth(x, mode, 2), c.real(2, 3, 4, 6))
    c.add("batch_to_space", lambda x: o.batch_to_space(x, i64([1, 1, 2, 3]), i64([0, 0, 1, 0]), i64([0, 0, 0, 2])), c.real(12, 2, 3, 4))
    c.add("space_to_batch", lambda x: o.space_to_batch(x, i64([1, 1, 2, 3]), i64([0, 0, 1, 0]), i64([0, 0, 0, 2])), c.real(2, 2, 3, 4))
    c.add("shuffle_channels", lambda x: o.shuffle_channels(x, 1, 3), c.real(2, 6, 3, 4))
    for axis in (0, 1, -1):
        c.add("one_hot %d" % axis, lambda x: o.one_hot(x, i64(5), c.const(2.0, np.float32), c.const(-1.0, np.float32), axis), c.ints(3, 4, hi=5))
    c.add("shape_of", lambda x: o.shape_of(x, "i32"), c.real(2, 3, 4))
    c.add("eye", lambda x: o.add(o.eye(i64(3), i64(4), i64(1), "f32"), x), c.real(1))


@family
def indexed(c):
    o = c.op
    i64 = lambda v: c.const(v, np.int64)
    for axis, shape in itertools.product((0, 1, 2), ((), (3,), (2, 2))):
        c.add("gather %d %s" % (axis, shape), lambda x, i: o.gather(x, i, i64(axis)), c.real(4, 5, 6), c.ints(*shape, hi=4))
    patches = (np.arange(9)[:, None] + np.arange(40)).astype(np.int32)           # lines that overlap, as windows do
    odd = np.array([3, 4, 5, -1, 0, 1, -48, 47, 2, 2, 3, 46, 47, 48, 0], np.int32)   # runs that break off; 48 is outside
    for label, i, shape in (("patches", patches, (7, 48)), ("patches inner", patches, (3, 48, 5)), ("odd", odd, (5, 48)), ("odd inner", odd, (4, 48, 3)),
                            ("all", np.arange(48, dtype=np.int32), (5, 48)), ("all but one", np.arange(47, dtype=np.int32), (5, 48)),
                            ("one of one", np.zeros((1, 1), np.int32), (600, 1)), ("turned", np.arange(48, dtype=np.int32)[::-1].copy(), (6, 48)),
                            ("many", np.tile(patches, (1, 3))[:, :110], (3, 48))):
        c.add("gather " + label, lambda x, i: o.gather(x, i, i64(1)), c.real(*shape), i)
        c.add("gather %s u8" % label, lambda x, i: o.gather(x, i, i64(1)), c.ints(*shape, hi=200).astype(np.uint8), i)
    c.add("gather negative", lambda x, i: o.gather(x, i, i64(1)), c.real(4, 5), np.array([-1, -5, 2], np.int32))
    c.add("gather batch", lambda x, i: o.gather(x, i, i64(1), 1), c.real(3, 5, 2), c.ints(3, 2, 2, hi=5))
    w = c.real(40, 16)
    c.add("gather f16", lambda i: o.gather(c.f16(w), i, i64(0)), c.ints(3, 4, hi=40))
    c.add("gather i64", lambda i: o.gather(c.const(c.ints(40, dtype=np.int64)), i, i64(0)), c.ints(3, hi=40, dtype=np.int64))
    for axis in (0, 1, -1):
        c.add("gather_elements %d" % axis, lambda x, i: o.gather_elements(x, i, axis), c.real(3, 4, 5), c.ints(3, 4, 5, hi=3))
    c.add("gather_nd", lambda x, i: o.gather_nd(x, i), c.real(3, 4, 5), c.ints(2, 2, hi=3))
    for inner, kind in itertools.product(((), (2,), (4,), (3, 3)), (np.int32, np.int64)):
        c.add("gather_nd %s %s" % (inner, kind.__name__), lambda x, i: o.gather_nd(x, i), c.real(300, *inner), c.ints(9000, 1, lo=-300, hi=300, dtype=kind))
        c.add("gather_nd %s %s batch" % (inner, kind.__name__), lambda x, i: o.gather_nd(x, i, 1), c.real(3, 40, *inner), c.ints(3, 50, 1, hi=40, dtype=kind))
    c.add("gather_nd batch", lambda x, i: o.gather_nd(x, i, 1), c.real(3, 4, 5), c.ints(3, 2, 1, hi=4))
    rows = np.array([2, 0], np.int32)
    c.add("scatter_update", lambda x, u: o.scatter_update(x, c.const(rows), u, i64(0)), c.real(4, 5), c.real(2, 5))
    c.add("scatter_update 1", lambda x, u: o.scatter_update(x, c.const(rows), u, i64(1)), c.real(4, 5), c.real(4, 2))
    pairs = np.array([[0, 1], [2, 2], [3, 0]], np.int32)
    c.add("scatter_nd_update", lambda x, u: o.scatter_nd_update(x, c.const(pairs), u), c.real(4, 5, 2), c.real(3, 2))
    runs = np.array([3, 4, 5, 9, 8, -12, -11, 7, 13, 14], np.int64)[:, None]      # slices one behind the other, and back
    c.add("scatter_nd_update runs", lambda x, u: o.scatter_nd_update(x, c.const(runs), u), c.real(15, 3), c.real(10, 3))
    at = np.array([[0, 1, 1], [2, 0, 0]], np.int32)
    for red, init in itertools.product(("none", "sum", "prod", "min", "max", "mean"), (True, False)):
        c.add("scatter_elements %s %s" % (red, init), lambda x, u: o.scatter_elements_update(x, c.const(at), u, i64(1), red, init) if red != "none"
              else o.scatter_elements_update(x, c.const(at[:, :2]), u, i64(1)), c.real(2, 5), c.real(*(2, 3) if red != "none" else (2, 2)))
    for axis, mode, sort in itertools.product((0, -1), ("max", "min"), ("value", "index")):
        c.add("topk %d %s %s" % (axis, mode, sort), lambda x: o.topk(x, i64(3), axis, mode, sort), c.real(6, 7))


@family
def resize(c):
    o = c.op
    k64 = lambda v: c.const(v, np.int64)
    for mode, coord, size in itertools.product(
            ("nearest", "linear_onnx", "cubic"),
            ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"),
            ([8, 10], [3, 4], [5, 11])):
        c.add("interpolate %s %s %s" % (mode, coord, size), lambda x: o.interpolate(
            x, k64(size), mode, "sizes", [0, 0, 0, 0], [0, 0, 0, 0], coord, axes=k64([2, 3])), c.real(1, 2, 5, 6))
    for near in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"):
        c.add("interpolate nearest " + near, lambda x: o.interpolate(
            x, c.const([1.6, 0.7], np.float32), "nearest", "scales", [0, 0, 0, 0], [0, 0, 0, 0], "asymmetric", nearest_mode=near,
            axes=k64([2, 3])), c.real(1, 2, 5, 6))
    for mode, size in itertools.product(("nearest", "linear_onnx", "linear", "cubic"), ([8, 10], [3, 4], [7, 9])):
        c.add("interpolate %s padded %s" % (mode, size), lambda x: o.interpolate(
            x, k64(size), mode, "sizes", [0, 0, 1, 0], [0, 0, 1, 2], "half_pixel", axes=k64([2, 3])), c.real(1, 2, 5, 6))
    for coord, size in itertools.product(("half_pixel", "asymmetric", "align_corners"), ([8, 10], [3, 4], [2, 11])):
        c.add("interpolate antialias %s %s" % (coord, size), lambda x: o.interpolate(
            x, k64(size), "linear", "sizes", [0, 0, 0, 0], [0, 0, 0, 0], coord, antialias=True, axes=k64([2, 3])),
            c.real(1, 2, 7, 9))
    for mode, size, coeff in itertools.product(("bilinear_pillow", "bicubic_pillow"), ([8, 10], [3, 4], [2, 11]), (-0.5, -0.75)):
        c.add("interpolate %s %s %g" % (mode, size, coeff), lambda x: o.interpolate(
            x, k64(size), mode, "sizes", [0, 0, 0, 0], [0, 0, 0, 0], cube_coeff=coeff, axes=k64([2, 3])), c.real(1, 2, 7, 9))
    for mode, scales in itertools.product(("bilinear_pillow", "bicubic_pillow"), ([1.7, 1.3], [0.55, 0.7], [0.4, 2.3])):
        c.add("interpolate %s by %s" % (mode, scales), lambda x: o.interpolate(
            x, c.const(scales, np.float32), mode, "scales", [0, 0, 0, 0], [0, 0, 0, 0], axes=k64([2, 3])), c.real(1, 2, 7, 9))
    for mode, corners, size in itertools.product(("nearest", "linear", "cubic"), (True, False), ([8, 10], [3, 4], [5, 11])):
        c.add("interpolate-1 %s %s %s" % (mode, corners, size), lambda x: c.ov.opset1.interpolate(
            x, k64(size), {"axes": [2, 3], "mode": mode, "align_corners": corners}), c.real(1, 2, 5, 6))


@family
def recurrent(c):
    for batch in (2, 13):
        recurrent_rows(c, batch)


def recurrent_rows(c, b):
    """Two rows of a batch, one by one, or as many as are computed together."""
    o = c.op
    t, i, h = 5, 6, 4
    k = lambda *s: c.const(c.real(*s, lo=-0.5, hi=0.5))
    c.add("lstm_cell %d" % b, lambda x, s, m: o.lstm_cell(x, s, m, k(4 * h, i), k(4 * h, h), k(4 * h), h), c.real(b, i), c.real(b, h), c.real(b, h))
    c.add("rnn_cell %d" % b, lambda x, s: o.rnn_cell(x, s, k(h, i), k(h, h), k(h), h, ["tanh"], [], []), c.real(b, i), c.real(b, h))
    for before in (True, False):
        c.add("gru_cell %s %d" % (before, b), lambda x, s: o.gru_cell(x, s, k(3 * h, i), k(3 * h, h), k((4 if before else 3) * h), h,
              linear_before_reset=before), c.real(b, i), c.real(b, h))
    for d in ("forward", "reverse", "bidirectional"):
        n = 2 if d == "bidirectional" else 1
        lengths = c.const([5, 5] if b == 2 else [5, 3, 1, 4] * 3 + [2], np.int32)
        c.add("lstm_sequence %s %d" % (d, b), lambda x, s, m: o.lstm_sequence(x, s, m, lengths, k(n, 4 * h, i), k(n, 4 * h, h), k(n, 4 * h), h, d),
              c.real(b, t, i), c.real(b, n, h), c.real(b, n, h))
        for before in (True, False):
            c.add("gru_sequence %s %s %d" % (d, before, b), lambda x, s: o.gru_sequence(
                x, s, lengths, k(n, 3 * h, i), k(n, 3 * h, h), k(n, (4 if before else 3) * h), h, d, linear_before_reset=before),
                c.real(b, t, i), c.real(b, n, h))
        c.add("rnn_sequence %s %d" % (d, b), lambda x, s: o.rnn_sequence(x, s, lengths, k(n, h, i), k(n, h, h), k(n, h), h, d),
              c.real(b, t, i), c.real(b, n, h))


def index(path):
    with open(path + "/index.tsv") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    return {r[1]: (path + "/" + r[0], r[2]) for r in rows if r[0].endswith(".npy")}


def difference(a, b):
    """None, or what is wrong with a; b is right."""
    if a.shape != b.shape:
        return "shape %s, not %s" % (a.shape, b.shape)
    if a.dtype != b.dtype:
        return "type %s, not %s" % (a.dtype, b.dtype)
    if not np.issubdtype(b.dtype, np.floating):
        n = np.count_nonzero(a != b)
        return "%d of %d integers differ: %s, not %s" % (n, b.size, a.ravel()[:6], b.ravel()[:6]) if n else None
    kind, a, b = b.dtype, a.astype(np.float64), b.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return "NaN in other places"
    scale = np.nanmax(np.abs(b), initial=1e-30)
    worst = np.nanmax(np.abs(a - b), initial=0.0)
    half = 1e-3 if kind == np.float16 else 1e-13 if kind == np.float64 else TOLERANCE
    return "off by %.2e of the scale" % (worst / scale) if worst > half * scale else None


def compare_family(path, name):
    ref, out = index(path + "/ref"), index(path + "/out")
    bad = []
    for key, (file, label) in ref.items():
        if key not in out:
            bad.append("%s: no result" % label)
            continue
        wrong = difference(np.load(out[key][0]), np.load(file))
        if wrong:
            bad.append("%s: %s" % (label, wrong))
    print("%s %s: %d of %d results agree with OpenVINO" % ("not ok" if bad else "ok", name, len(ref) - len(bad), len(ref)))
    for line in bad:
        print("#   " + line)
    return not bad


def main():
    parity_grid.families(family)
    parity_rare.families(family)
    parity_types.families(family)
    if len(sys.argv) < 2 or sys.argv[1] not in ("gen", "compare", "list"):
        sys.exit(__doc__)
    if sys.argv[1] == "list":
        print("\n".join(FAMILIES))
        return
    names = sys.argv[3:] or list(FAMILIES)
    good = True
    for name in names:
        path = os.path.join(sys.argv[2], name)
        if sys.argv[1] == "gen":
            c = Cases(name)
            FAMILIES[name](c)
            c.save(path)
        else:
            good = compare_family(path, name) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
