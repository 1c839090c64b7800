"""hunt_nets.py - random chains of operators at sizes of real models, as lines of JSON that can be made smaller (hunt.py).

A line has the first input, and steps, each of which reads what the one before it made:
    {"op": names, "in": [{"elem", "dims"}], "steps": [{"do": name, argument: value...}...], "model": where it is from}
Arguments say no shape that follows from the input's, so that a line with another input, or without one of its steps, is a model,
too, or Unfit.  An argument that a line does not have is what usually is.
"""
import os
import sys

import numpy as np
import openvino as ov
import openvino.opset15 as op

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import op_model
from nets_ops import BINARY, UNARY, i64

MOST_ELEMENTS = 1 << 22
MOST_PRODUCTS = 1.5e9
STEPS = {}      # name: (weight, function(draw, shape, elem) -> arguments or None, function(made, x, **arguments) -> output)
ACTIVATIONS = {"none": lambda x: x, **UNARY}
FLOATS = ("f32", "f16")


class Unfit(Exception):
    """A step that its input does not fit, or that would take too long."""


def step(name, weight, draw):
    def put(build):
        STEPS[name] = weight, draw, build
        return build
    return put


def fit(condition):
    if not condition:
        raise Unfit


def product(values):
    return int(np.prod([int(v) for v in values], dtype=np.int64))


class Draw:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def any(self, *of):
        fit(of)
        return of[int(self.rng.integers(len(of)))]

    def chance(self, p):
        return bool(self.rng.random() < p)

    def size(self, most=10000, least=1):
        """Log-uniform; half of them as round as sizes of layers are."""
        most = max(least, most)
        v = int(np.exp(self.rng.uniform(np.log(least), np.log(most + 1))))
        if v > 8 and self.chance(0.6):
            v -= v % self.any(*[r for r in (2, 4, 8, 16, 32, 64) if r <= v])
        return min(max(v, least), most)

    def dims(self, kind):
        one = lambda most: 1 if self.chance(0.1) else self.size(most)
        batch = 1 if self.chance(0.6) else self.size(64)
        side = self.size(300)
        return {"image": lambda: [batch, self.size(2048), one(300) if self.chance(0.5) else side, side],
                "flat": lambda: [batch, self.size(1024), *self.any([1, self.size(3000)], [self.size(3000), 1])],
                "line": lambda: [batch, self.size(1024), self.size(3000)],
                "cube": lambda: [batch, self.size(256), one(32), one(64), one(64)],
                "tokens": lambda: [batch, self.size(2000), self.size(4096)],
                "heads": lambda: [batch, self.size(32), self.size(1024), self.any(16, 32, 40, 64, 80, 96, 128, 256, self.size(300))],
                "matrix": lambda: [self.size(10000), self.size(10000)],
                "vector": lambda: [self.size(10000)]}[kind]()


class Made:
    """What steps add to a model: inputs of its own, constants."""

    def __init__(self, seed=1):
        self.rng, self.parameters, self.products = np.random.default_rng(seed), [], 0

    def input(self, dims, elem="f32"):
        fit(0 < product(dims) <= MOST_ELEMENTS)
        self.parameters.append(op.parameter(list(dims), op_model.DTYPE[elem], name="p%d" % len(self.parameters)))
        return self.parameters[-1].output(0)

    def const(self, dims, elem="f32", low=-1.0, high=1.0):
        fit(0 < product(dims) <= MOST_ELEMENTS * 4)
        if elem in FLOATS:
            return op.constant(self.rng.uniform(low, high, dims).astype(op_model.DTYPE[elem])).output(0)
        return op.constant(self.rng.integers(0, 5, dims).astype(op_model.DTYPE[elem])).output(0)

    def weights(self, dims, form="f32", axis=0):
        """As files have them: f32, f16, or codes with a scale for each output."""
        if form == "f16":
            return op.convert(self.const(dims, "f16"), "f32").output(0)
        if form == "i8":
            fit(product(dims) <= MOST_ELEMENTS * 4)
            codes = op.constant(self.rng.integers(-127, 128, dims).astype(np.int8))
            scale = self.const([d if i == axis else 1 for i, d in enumerate(dims)], "f32", 0.005, 0.01)
            return op.multiply(op.convert(codes, "f32"), scale).output(0)
        return self.const(dims)

    def works(self, n):
        self.products += n
        fit(self.products <= MOST_PRODUCTS)


def shape_of(x):
    return [int(d) for d in x.get_shape()]


def elem_of(x):
    return x.get_element_type().get_type_name()


def only_floats(x):
    fit(elem_of(x) == "f32")


def finish(made, x, bias, act, axis=1):
    if bias:
        x = op.add(x, made.const([d if i == axis else 1 for i, d in enumerate(shape_of(x))])).output(0)
    return ACTIVATIONS[act](x)


def ending(d):
    more = {"bias": True} if d.chance(0.6) else {}
    return {**more, "act": d.any("Relu", "Swish", "Gelu", "Clamp 0 6", *ACTIVATIONS)} if d.chance(0.4) else more


def forms(d):
    return {"form": d.any("f16", "i8")} if d.chance(0.2) else {}


# ---- windows ----

def pads(way, kernel, dilation):
    span = [(k - 1) * d for k, d in zip(kernel, dilation)]
    if way == "same":
        return [v // 2 for v in span], [v - v // 2 for v in span]
    return ([0] * len(span) if way == "valid" else span), [0] * len(span)


def draw_window(d, shape, elem):
    n = len(shape) - 2
    if not 1 <= n <= 3 or elem != "f32":
        return None
    size = d.any(1, 3, 3, 3, 5, 7, 2, 4, 9, 11) if n < 3 else d.any(1, 3, 3, 2)
    k = [1 if s == 1 and d.chance(0.8) else size if d.chance(0.85) else d.any(1, 3, 5) for s in shape[2:]]
    stride = d.any(1, 1, 1, 2, 2, 3, 4)
    s = [stride if v > 1 and d.chance(0.9) else 1 for v in shape[2:]]
    rate = d.any(1, 1, 1, 1, 2, 4, 8)
    return {"k": k, "s": s, "d": [rate if v > 1 else 1 for v in k], "pad": d.any("same", "same", "same", "valid", "causal")}


def draw_conv(d, shape, elem):
    w = draw_window(d, shape, elem)
    return w and {"out": d.size(1024), **w, **ending(d), **forms(d)}


def draw_groups(d, shape, elem):
    w = draw_window(d, shape, elem)
    c = shape[1] if w else 0
    if not w:
        return None
    if d.chance(0.7) or c < 4:
        return {"group": 1, "more": d.any(1, 1, 1, 1, 2, 4), **w, **ending(d), **forms(d)}
    group = d.any(*[v for v in range(2, c) if c % v == 0][:12] or [1])
    return {"group": group, "more": d.any(1, group, group, 2 * group), **w, **ending(d), **forms(d)}


@step("Convolution", 12, draw_conv)
def convolution(made, x, out, k, s, d, pad="same", bias=False, act="none", form="f32"):
    only_floats(x)
    dims = shape_of(x)
    fit(len(dims) == len(k) + 2)
    y = op.convolution(x, made.weights([out, dims[1], *k], form), s, *pads(pad, k, d), d).output(0)
    made.works(product(shape_of(y)) * dims[1] * product(k))
    return finish(made, y, bias, act)


@step("GroupConvolution", 6, draw_groups)
def group_convolution(made, x, group, more, k, s, d, pad="same", bias=False, act="none", form="f32"):
    """Groups of `group` channels, each with `more` outputs."""
    only_floats(x)
    dims = shape_of(x)
    fit(len(dims) == len(k) + 2 and dims[1] % group == 0)
    w = made.weights([dims[1] // group, more, group, *k], form)
    y = op.group_convolution(x, w, s, *pads(pad, k, d), d).output(0)
    made.works(product(shape_of(y)) * group * product(k))
    return finish(made, y, bias, act)


@step("ConvolutionBackpropData", 3, lambda d, shape, elem: None if not 3 <= len(shape) <= 5 or elem != "f32" else {
    "out": 0 if d.chance(0.2) else d.size(512), "s": [d.any(1, 2, 2, 2, 4, 8)] * (len(shape) - 2), "k": [d.any(2, 3, 4, 4, 8, 16)] * (len(shape) - 2),
    **ending(d)})
def deconvolution(made, x, out, k, s, bias=False, act="none", form="f32"):
    """out: 0 where each channel is a group."""
    only_floats(x)
    dims, cut = shape_of(x), [max(0, a - b) for a, b in zip(k, s)]
    fit(len(dims) == len(k) + 2)
    w = made.weights([dims[1], 1, 1, *k] if not out else [dims[1], out, *k], form)
    make = op.convolution_backprop_data if out else op.group_convolution_backprop_data
    y = make(x, w, s, pads_begin=[v // 2 for v in cut], pads_end=[v - v // 2 for v in cut]).output(0)
    made.works(product(dims) * max(out, 1) * product(k))
    return finish(made, y, bias, act)


@step("Pool", 3, lambda d, shape, elem: (lambda w: w and {
    "what": d.any("max", "avg", "avg inside"), "k": w["k"], "s": [d.any(v, v, 1) for v in w["k"]] if d.chance(0.5) else w["s"],
    "pad": d.any("same", "valid")})(draw_window(d, shape, elem)))
def pool(made, x, what, k, s, pad):
    only_floats(x)
    fit(len(shape_of(x)) == len(k) + 2 and product(k) > 1)
    lo, hi = pads(pad, k, [1] * len(k))
    made.works(product(shape_of(x)) * product(k) // product(s))
    if what == "max":
        return op.max_pool(x, s, [1] * len(k), lo, hi, k).output(0)
    return op.avg_pool(x, s, lo, hi, k, what == "avg inside").output(0)


@step("Interpolate", 2, lambda d, shape, elem: None if len(shape) != 4 or elem != "f32" else {
    "mode": d.any("nearest", "linear_onnx", "linear_onnx", "linear", "cubic"),
    "turn": d.any("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"),
    "to": [2 * v for v in shape[2:]] if d.chance(0.5) else [d.size(300), d.size(300)]})
def interpolate(made, x, mode, turn, to):
    only_floats(x)
    fit(len(shape_of(x)) == 4 and product(to) * product(shape_of(x)[:2]) <= MOST_ELEMENTS)
    return op.interpolate(x, i64(to), mode, "sizes", [0, 0], [0, 0], turn, "round_prefer_floor", False, -0.75, i64([2, 3])).output(0)


# ---- products ----

def draw_product(d, shape, elem):
    if len(shape) < 2 or elem not in ("f32", "i32"):
        return None
    more = {k: True for k, p in (("ta", 0.1), ("tb", 0.5), ("left", 0.1), ("batch", 0.15), ("input", 0.25)) if d.chance(p)}
    return {"n": d.size(4096), **more, **(ending(d) if elem == "f32" else {}), **(forms(d) if elem == "f32" else {})}


@step("MatMul", 12, draw_product)
def matmul(made, x, n, ta=False, tb=False, left=False, batch=False, input=False, bias=False, act="none", form="f32"):
    """By a matrix with n columns, or rows if it is on the left; input: that is an input, too."""
    dims, elem = shape_of(x), elem_of(x)
    fit(len(dims) > 1 and elem in ("f32", "i32"))
    k = dims[-1] if left == ta else dims[-2]
    mine = [n, k] if left != tb else [k, n]
    mine = (dims[:-2] if batch else []) + mine
    w = made.input(mine, elem) if input else made.weights(mine, form, len(mine) - (2 if left != tb else 1)) if elem == "f32" else made.const(mine, elem)
    y = (op.matmul(w, x, tb, ta) if left else op.matmul(x, w, ta, tb)).output(0)
    made.works(product(shape_of(y)) * k * (4 if elem == "i32" else 1))
    return finish(made, y, bias, act, len(shape_of(y)) - 1) if elem == "f32" else y


@step("IntegerMatMul", 2, lambda d, shape, elem: None if elem != "f32" or len(shape) < 2 else {
    "n": d.size(4096), **({"tb": True} if d.chance(0.5) else {}), **({"dynamic": True} if d.chance(0.5) else {})})
def integer_matmul(made, x, n, tb=False, dynamic=False):
    """What becomes of ONNX's QuantizeLinear or DynamicQuantizeLinear, MatMulInteger, and the scale behind it."""
    only_floats(x)
    k = shape_of(x)[-1]
    if dynamic:
        every = i64(list(range(len(shape_of(x)))))
        low = op.minimum(op.reduce_min(x, every), op.constant(np.float32(0)))
        high = op.maximum(op.reduce_max(x, every), op.constant(np.float32(0)))
        scale = op.divide(op.subtract(high, low), op.constant(np.float32(255)))
        zero = op.clamp(op.round(op.divide(op.negative(low), scale), "half_to_even"), 0, 255)
    else:
        scale, zero = op.constant(np.float32(1 / 64)), op.constant(np.float32(128))
    codes = op.convert(op.clamp(op.add(op.round(op.divide(x, scale), "half_to_even"), zero), 0, 255), "u8")
    a = op.subtract(op.convert(codes, "i32"), op.convert(op.convert(zero, "u8"), "i32"))
    fit(n * k <= MOST_ELEMENTS * 4)
    w = op.convert(op.constant(made.rng.integers(-127, 128, [n, k] if tb else [k, n]).astype(np.int8)), "i32")
    y = op.convert(op.matmul(a, w, False, tb), "f32")
    made.works(product(shape_of(y.output(0))) * k * 4)
    return op.multiply(y, op.multiply(scale, op.constant(np.float32(0.01)))).output(0)


@step("Quantise", 3, lambda d, shape, elem: None if elem != "f32" else {"way": d.any("fake", "fake", "fake 16", "channels", "codes")})
def quantise(made, x, way):
    """FakeQuantize, or what becomes of ONNX's QuantizeLinear and DequantizeLinear."""
    only_floats(x)
    dims = shape_of(x)
    one = [d if i == 1 and way == "channels" else 1 for i, d in enumerate(dims)]
    edge = lambda v: op.constant(np.full(one, v, np.float32))
    if way != "codes":
        return op.fake_quantize(x, edge(-1.28), edge(1.27), edge(-1.28), edge(1.27), 16 if way == "fake 16" else 256).output(0)
    codes = op.convert(op.fake_quantize(x, edge(-1.28), edge(1.27), edge(0), edge(255), 256), "u8")
    return op.multiply(op.subtract(op.convert(codes, "f32"), edge(128)), edge(0.01)).output(0)


@step("Attention", 4, lambda d, shape, elem: None if elem != "f32" or len(shape) not in (3, 4) else {
    "keys": shape[-2] if d.chance(0.5) else d.size(2048), "width": shape[-1] if d.chance(0.8) else d.size(256), **{
        k: True for k, p in (("nodes", 0.6), ("mask", 0.4), ("turned", 0.3)) if d.chance(p)}})
def attention(made, x, keys, width, nodes=False, mask=False, turned=False):
    """Of x as queries; turned: keys lie in columns."""
    only_floats(x)
    *lead, m, k = shape_of(x)
    fit(len(lead) in (1, 2))
    made.works(product(lead) * m * keys * (k + width))
    fit(product(lead) * m * keys <= MOST_ELEMENTS * 4)
    b, v = made.input([*lead, *([k, keys] if turned and nodes else [keys, k])]), made.input([*lead, keys, width])
    more = made.input([*[1] * len(lead), m, keys]) if mask else None
    if not nodes:
        return op.scaled_dot_product_attention(x, b, v, causal=False, **({"attention_mask": more} if mask else {})).output(0)
    y = op.multiply(op.matmul(x, b, False, not turned), op.constant(np.float32(1 / np.sqrt(k))))
    y = op.softmax(op.add(y, more) if mask else y, -1)
    return op.matmul(y, v, False, False).output(0)


@step("Heads", 2, lambda d, shape, elem: None if elem != "f32" or len(shape) != 3 else {"heads": d.any(1, 2, 4, 8, 12, 16), "width": d.any(16, 32, 48, 64)})
def heads_of(made, x, heads, width):
    """Queries, keys and values by one product, attention, the heads beside each other again."""
    only_floats(x)
    n, t, c = shape_of(x)
    all3 = op.matmul(x, made.const([3 * heads * width, c]), False, True)
    made.works(n * t * (3 * heads * width * c + 2 * t * heads * width))
    fit(n * t * t * heads <= MOST_ELEMENTS * 4)
    q, k, v = op.split(op.reshape(all3, i64([n, t, 3 * heads, width]), False), i64(2), 3).outputs()
    q, k, v = (op.transpose(a, i64([0, 2, 1, 3])) for a in (q, k, v))
    y = op.softmax(op.multiply(op.matmul(q, k, False, True), op.constant(np.float32(width ** -0.5))), -1)
    return op.reshape(op.transpose(op.matmul(y, v, False, False), i64([0, 2, 1, 3])), i64([n, t, heads * width]), False).output(0)


CELLS = {"lstm": 4, "gru": 3, "rnn": 1}


@step("Recurrent", 3, lambda d, shape, elem: None if elem != "f32" or len(shape) not in (2, 3) else {
    "cell": d.any("lstm", "lstm", "gru", "rnn"), "hidden": d.size(512), **({"way": d.any("reverse", "bidirectional")} if len(shape) == 3 and d.chance(0.4) else {}),
    **({"before": True} if d.chance(0.4) else {})})
def recurrent(made, x, cell, hidden, way="forward", before=False):
    """A cell, or where x has steps in time a sequence."""
    only_floats(x)
    dims, g, h = shape_of(x), CELLS[cell], hidden
    fit(len(dims) in (2, 3))
    both = 2 if way == "bidirectional" else 1
    b = (g + 1 if before and cell == "gru" else g) * h
    made.works(2 * product(dims[:-1]) * both * g * h * (h + dims[-1]))
    more = {"linear_before_reset": before} if cell == "gru" else {}
    if len(dims) == 2:
        parts = [made.const([g * h, dims[1]]), made.const([g * h, h]), made.const([b]), h]
        state = [made.input([dims[0], h]) for _ in range(2 if cell == "lstm" else 1)]
        if cell == "rnn":
            return op.rnn_cell(x, *state, *parts, ["tanh"], [], []).output(0)
        return {"lstm": op.lstm_cell, "gru": op.gru_cell}[cell](x, *state, *parts, **more).output(0)
    fit(dims[1] <= 500)
    lengths = op.constant(np.full([dims[0]], dims[1], np.int32))
    state = [made.input([dims[0], both, h]) for _ in range(2 if cell == "lstm" else 1)]
    parts = [made.const([both, g * h, dims[2]]), made.const([both, g * h, h]), made.const([both, b]), h, way]
    make = {"lstm": op.lstm_sequence, "gru": op.gru_sequence, "rnn": op.rnn_sequence}[cell]
    y = make(x, *state, lengths, *parts, **more).output(0)
    return op.reshape(op.transpose(y, i64([0, 2, 1, 3])), i64([dims[0], dims[1], both * h]), False).output(0)


# ---- reductions, norms ----

def draw_axes(d, n):
    return d.any([n - 1], [0], list(range(min(2, n - 1), n)), sorted(d.rng.permutation(n)[:d.any(1, 1, 2, 3)].tolist()))


@step("Reduce", 6, lambda d, shape, elem: None if elem not in ("f32", "i32", "i64") or not shape else {
    "what": d.any("mean", "mean", "max", "sum", "sum", "min", "l2", "l1", "prod", "log_sum_exp") if elem == "f32" else d.any("max", "sum", "min"),
    "axes": draw_axes(d, len(shape)), **({"keep": True} if d.chance(0.6) else {})})
def reduce(made, x, what, axes, keep=False):
    n = len(shape_of(x))
    fit(n and max(axes) < n and elem_of(x) in ("f32", "i32", "i64"))
    if what == "log_sum_exp":
        only_floats(x)
        return op.log(op.reduce_sum(op.exp(x), i64(axes), keep)).output(0)
    return getattr(op, "reduce_" + what)(x, i64(axes), keep).output(0)


@step("Norm", 5, lambda d, shape, elem: None if elem != "f32" or len(shape) < 2 else {
    "what": d.any("mvn", "layer", "layer", "rms", "group", "l2", "batch"), "axes": draw_axes(d, len(shape))})
def norm(made, x, what, axes):
    only_floats(x)
    dims = shape_of(x)
    fit(len(dims) > 1 and max(axes) < len(dims))
    eps, one = op.constant(np.float32(1e-3)), [v if i in axes else 1 for i, v in enumerate(dims)]
    mean = lambda v: op.reduce_mean(v, i64(axes), True)
    if what == "mvn":
        return op.mvn(x, i64(axes), True, 1e-3, "inside_sqrt").output(0)
    if what == "l2":
        return op.normalize_l2(x, i64(axes), 1e-3, "add").output(0)
    if what == "group":
        fit(len(dims) > 2)
        groups = max(g for g in range(1, min(33, dims[1] + 1)) if dims[1] % g == 0)
        return op.group_normalization(x, made.const([dims[1]]), made.const([dims[1]]), groups, 1e-3).output(0)
    if what == "batch":
        parts = [made.const([dims[1]], "f32", 0.5, 1) for _ in range(4)]
        return op.batch_norm_inference(x, *parts, 1e-3).output(0)
    y = op.subtract(x, mean(x)) if what == "layer" else x
    y = op.divide(y, op.sqrt(op.add(mean(op.power(y, op.constant(np.float32(2)))), eps)))
    y = op.multiply(y, made.const(one))
    return (op.add(y, made.const(one)) if what == "layer" else y).output(0)


@step("Softmax", 3, lambda d, shape, elem: None if elem != "f32" or not shape else {
    "axis": d.any(len(shape) - 1, d.any(*range(len(shape)))), **({"log": True} if d.chance(0.2) else {})})
def softmax(made, x, axis, log=False):
    only_floats(x)
    fit(axis < len(shape_of(x)))
    return (op.log_softmax if log else op.softmax)(x, axis).output(0)


@step("CumSum", 1, lambda d, shape, elem: None if elem not in ("f32", "i64") or not shape else {"axis": d.any(*range(len(shape)))})
def cumsum(made, x, axis):
    fit(axis < len(shape_of(x)) and elem_of(x) in ("f32", "i64"))
    return op.cumsum(x, i64(axis)).output(0)


@step("TopK", 2, lambda d, shape, elem: None if elem not in ("f32", "i32") or not shape else {
    "axis": (a := d.any(len(shape) - 1, d.any(*range(len(shape))))), "k": d.any(1, d.size(shape[a])), **({"mode": "min"} if d.chance(0.3) else {}),
    **({"sort": "index"} if d.chance(0.2) else {}), **({"where": True} if d.chance(0.3) else {})})
def topk(made, x, axis, k, mode="max", sort="value", where=False):
    fit(axis < len(shape_of(x)) and k <= shape_of(x)[axis] and elem_of(x) in ("f32", "i32"))
    return op.topk(x, i64(k), axis, mode, sort, "i32").output(1 if where else 0)


# ---- movement ----

@step("Transpose", 5, lambda d, shape, elem: None if len(shape) < 2 else {"order": d.any(
    d.rng.permutation(len(shape)).tolist(), [0, *range(2, len(shape)), 1], [0, len(shape) - 1, *range(1, len(shape) - 1)],
    [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2])})
def transpose(made, x, order):
    fit(len(order) == len(shape_of(x)))
    return op.transpose(x, i64(order)).output(0)


@step("Reshape", 3, lambda d, shape, elem: None if not shape else {"at": d.any(*range(len(shape))), "by": d.any(0, 0, 2, 3, 4, 8)})
def reshape(made, x, at, by):
    """by: 0 joins dim `at` with the one behind it, else it is split by so much."""
    dims = shape_of(x)
    if by:
        fit(at < len(dims) < 6 and dims[at] % by == 0)
        new = dims[:at] + [by, dims[at] // by] + dims[at + 1:]
    else:
        fit(at + 1 < len(dims))
        new = dims[:at] + [dims[at] * dims[at + 1]] + dims[at + 2:]
    return op.reshape(x, i64(new), False).output(0)


@step("Concat", 4, lambda d, shape, elem: None if not shape else {
    "axis": (a := d.any(*range(len(shape)))), "size": shape[a] if d.chance(0.5) else d.size(shape[a]), **({"twice": True} if d.chance(0.2) else {})})
def concat(made, x, axis, size, twice=False):
    dims = shape_of(x)
    fit(axis < len(dims))
    other = made.input([size if i == axis else v for i, v in enumerate(dims)], elem_of(x))
    return op.concat([x, other, x] if twice else [x, other], axis).output(0)


@step("Split", 3, lambda d, shape, elem: None if not shape else {"axis": d.any(*range(len(shape))), "parts": d.any(2, 2, 3, 4)})
def split(made, x, axis, parts):
    """The parts, added up, or side by side in another order."""
    dims = shape_of(x)
    fit(axis < len(dims) and dims[axis] % parts == 0 and elem_of(x) != "boolean")
    out = op.split(x, i64(axis), parts).outputs()
    return op.concat(out[::-1], axis).output(0) if elem_of(x) != "f32" else op.multiply(out[0], op.sigmoid(out[-1])).output(0)


@step("Slice", 4, lambda d, shape, elem: None if not shape else {
    "axis": (a := d.any(*range(len(shape)))), "from": d.any(0, 1, shape[a] // 2), "step": d.any(1, 1, 1, 2, 2, 3, -1)})
def slice_of(made, x, axis, step, **more):
    dims, begin = shape_of(x), more["from"]
    fit(axis < len(dims) and begin < dims[axis])
    lo, hi = (begin, 2**31) if step > 0 else (dims[axis] - 1 - begin, -2**31)
    return op.slice(x, i64([lo]), i64([hi]), i64([step]), i64([axis])).output(0)


@step("Gather", 3, lambda d, shape, elem: None if not shape else {
    "axis": d.any(*range(len(shape))), "n": [] if d.chance(0.1) else [d.size(2000) for _ in range(d.any(1, 1, 1, 2))], "what": d.any("rows", "rows", "elements", "nd")})
def gather(made, x, axis, n, what):
    dims = shape_of(x)
    fit(axis < len(dims) and (n or what == "rows"))
    index = lambda shape, most: op.constant(made.rng.integers(0, most, shape).astype(np.int64))
    if what == "rows":
        fit(product(n) * product(dims) // dims[axis] <= MOST_ELEMENTS)
        return op.gather(x, index(n, dims[axis]), i64(axis)).output(0)
    if what == "nd":
        fit(product(n) * product(dims) // dims[0] <= MOST_ELEMENTS)
        return op.gather_nd(x, index([*n, 1], dims[0])).output(0)
    fit(n[0] <= dims[axis])
    return op.gather_elements(x, index([n[0] if i == axis else v for i, v in enumerate(dims)], dims[axis]), axis).output(0)


@step("Scatter", 3, lambda d, shape, elem: None if not shape or elem not in ("f32", "i32", "i64") else {
    "axis": (a := d.any(*range(len(shape)))), "n": d.size(shape[a]), "what": d.any("update", "elements", "elements sum", "nd")})
def scatter(made, x, axis, n, what):
    dims, elem = shape_of(x), elem_of(x)
    fit(axis < len(dims) and n <= dims[axis] and elem in ("f32", "i32", "i64"))
    if what == "nd":
        fit(n <= dims[0])
        where = op.constant(made.rng.permutation(dims[0])[:n].reshape(n, 1).astype(np.int64))
        return op.scatter_nd_update(x, where, made.input([n, *dims[1:]], elem)).output(0)
    new = [n if i == axis else v for i, v in enumerate(dims)]
    rows = made.rng.permutation(dims[axis])[:n].astype(np.int64)
    if what == "update":
        return op.scatter_update(x, op.constant(rows), made.input(new, elem), i64(axis)).output(0)
    where = op.constant(np.broadcast_to(rows.reshape([n if i == axis else 1 for i in range(len(dims))]), new).copy())
    return op.scatter_elements_update(x, where, made.input(new, elem), i64(axis), "sum" if what.endswith("sum") else "none").output(0)


@step("Pad", 2, lambda d, shape, elem: None if elem not in ("f32", "i32") or not shape else {
    "axes": draw_axes(d, len(shape)), "by": [d.any(0, 1, 2, 8), d.any(0, 1, 3)], "mode": d.any("constant", "constant", "edge", "reflect")})
def pad_of(made, x, axes, by, mode):
    dims = shape_of(x)
    fit(max(axes) < len(dims) and (mode != "reflect" or all(dims[a] > max(by) for a in axes)) and elem_of(x) in ("f32", "i32"))
    lo, hi = ([v if i in axes else 0 for i in range(len(dims))] for v in by)
    return op.pad(x, i64(lo), i64(hi), mode, op.constant(np.zeros([], op_model.DTYPE[elem_of(x)]))).output(0)


@step("Tile", 1.5, lambda d, shape, elem: None if not shape else {"axis": d.any(*range(len(shape))), "times": d.any(2, 3, 4, d.size(64)),
                                                                  **({"broadcast": True} if d.chance(0.4) else {})})
def tile(made, x, axis, times, broadcast=False):
    dims = shape_of(x)
    fit(axis < len(dims) and product(dims) * times <= MOST_ELEMENTS)
    if broadcast:
        fit(dims[axis] == 1)
        return op.broadcast(x, i64([times if i == axis else v for i, v in enumerate(dims)])).output(0)
    return op.tile(x, i64([times if i == axis else 1 for i in range(len(dims))])).output(0)


@step("Roll", 1, lambda d, shape, elem: None if not shape or elem != "f32" else {"axes": draw_axes(d, len(shape)), "by": d.any(1, -3, 16)})
def roll(made, x, axes, by):
    fit(max(axes) < len(shape_of(x)))
    return op.roll(x, i64([by] * len(axes)), i64(axes)).output(0)


@step("Blocks", 1.5, lambda d, shape, elem: None if len(shape) != 4 or elem != "f32" else {
    "what": d.any("depth_to_space", "space_to_depth", "shuffle_channels"), "by": d.any(2, 2, 4), "mode": d.any("blocks_first", "depth_first")})
def blocks(made, x, what, by, mode):
    only_floats(x)
    fit(len(shape_of(x)) == 4)
    if what == "shuffle_channels":
        fit(shape_of(x)[1] % by == 0)
        return op.shuffle_channels(x, 1, by).output(0)
    return getattr(op, what)(x, mode, by).output(0)


# ---- element-wise ----

@step("Unary", 6, lambda d, shape, elem: None if elem != "f32" else {"what": d.any(*UNARY)})
def unary(made, x, what):
    only_floats(x)
    return UNARY[what](x).output(0)


def draw_ones(d, n):
    """Dims along which a second input is broadcast."""
    return d.any([], [], list(range(n)), [i for i in range(n) if i != min(1, n - 1)], list(range(n - 1)), [n - 1], [0],
                 sorted(d.rng.permutation(n)[:d.any(1, 2, 3)].tolist()))


@step("Binary", 7, lambda d, shape, elem: None if elem not in ("f32", "i32", "i64") else {
    "what": d.any("Add", "Add", "Multiply", "Multiply", *BINARY, "Power", "Less", "FloorMod") if elem == "f32" else d.any("Add", "Multiply", "Subtract", "Maximum", "Less", "FloorMod"),
    "ones": draw_ones(d, max(1, len(shape))), **({"input": True} if d.chance(0.5) else {}), **({"turned": True} if d.chance(0.2) else {})})
def binary(made, x, what, ones, input=False, turned=False):
    dims, elem = shape_of(x), elem_of(x)
    fit(elem in ("f32", "i32", "i64"))
    new = [1 if i in ones else v for i, v in enumerate(dims)]
    y = made.input(new, elem) if input else made.const(new, elem, 0.5, 2)
    a, b = (y, x) if turned else (x, y)
    if what in ("Divide", "FloorMod", "Power"):         # of positive numbers alone
        a, b = op.add(op.abs(a), op.constant(np.ones([], op_model.DTYPE[elem]))), op.add(op.abs(b), op.constant(np.ones([], op_model.DTYPE[elem])))
    make = {"Power": op.power, "Less": op.less, "FloorMod": op.floor_mod, **BINARY}[what]
    return make(a, b).output(0)


@step("Select", 1, lambda d, shape, elem: None if elem != "f32" else {"ones": draw_ones(d, max(1, len(shape)))})
def select(made, x, ones):
    only_floats(x)
    other = made.input([1 if i in ones else v for i, v in enumerate(shape_of(x))])
    return op.select(op.greater(x, op.constant(np.float32(0))), x, other).output(0)


@step("Convert", 2, lambda d, shape, elem: {"to": d.any("f32", "f32", "i32", "i64", "u8", "i8", "f16", "boolean")})
def convert(made, x, to):
    fit(elem_of(x) != to)
    return op.convert(x, to).output(0)


@step("OneHot", 1, lambda d, shape, elem: None if elem not in ("i32", "i64") else {"n": d.size(1000)})
def one_hot(made, x, n):
    fit(elem_of(x) in ("i32", "i64") and product(shape_of(x)) * n <= MOST_ELEMENTS)
    return op.one_hot(x, i64(n), op.constant(np.float32(1)), op.constant(np.float32(0)), -1).output(0)


@step("Many", 1.5, lambda d, shape, elem: None if elem != "f32" or len(shape) < 2 or product(shape) > 4096 or shape[-1] > 64 else {"n": d.size(60, 5)})
def many(made, x, n):
    """Tiny operators, one behind another."""
    only_floats(x)
    fit(len(shape_of(x)) > 1)
    c = shape_of(x)[-1]
    fit(c <= 64)
    for i in range(n):
        x = [lambda: op.softmax(x, -1), lambda: op.matmul(x, made.const([c, c]), False, False), lambda: op.add(x, made.const([c])),
             lambda: op.subtract(x, op.reduce_mean(x, i64([0]), True)), lambda: op.tanh(x)][i % 5]().output(0)
    return x


# ---- lines ----

STARTS = ("image",) * 5 + ("flat", "line", "cube", "tokens", "tokens", "tokens", "heads", "heads", "matrix", "matrix", "vector")


def model(line):
    """The line as a model; Unfit, or OpenVINO's RuntimeError, where it is none."""
    made = Made()
    x = made.input(line["in"][0]["dims"], line["in"][0]["elem"])
    fit(line["steps"])
    for s in line["steps"]:
        x = STEPS[s["do"]][2](made, x, **{k: v for k, v in s.items() if k != "do"})
        x = x if isinstance(x, ov.Output) else x.output(0)
        fit(0 < product(shape_of(x)) <= MOST_ELEMENTS and len(shape_of(x)) <= 6)
    return ov.Model([op.result(x)], made.parameters, "hunt")


def named(line):
    line["op"] = "+".join(s["do"] for s in line["steps"])
    return line


def generate(seed, kinds=None):
    """The line of a seed, of steps of these kinds."""
    d = Draw(seed)
    elem = "f32" if d.chance(0.85) else d.any("i32", "i64", "u8", "f16", "boolean")
    most = 2 ** d.rng.uniform(10, 22)
    while True:
        dims = d.dims(d.any(*STARTS))
        if product(dims) <= most:
            break
    line = {"op": "", "in": [{"elem": elem, "dims": dims}], "steps": [], "model": "hunt %d" % seed}
    names = [n for n in STEPS if not kinds or n in kinds]
    weight = np.array([STEPS[n][0] for n in names], float) * d.rng.choice([0.3, 1, 3], len(names))
    want, dims = d.any(1, 1, 2, 2, 3, 4, 5, 6), list(dims)
    for _ in range(8 * want):
        if len(line["steps"]) == want:
            break
        name = names[int(d.rng.choice(len(names), p=weight / weight.sum()))]
        try:
            arguments = STEPS[name][1](d, dims, elem)
            if arguments is None:
                continue
            longer = {**line, "steps": [*line["steps"], {"do": name, **arguments}]}
            out = model(longer).outputs[0]
        except (Unfit, RuntimeError):
            continue
        line, dims, elem = longer, [int(v) for v in out.get_shape()], out.get_element_type().get_type_name()
    return named(line) if line["steps"] else None


def write(line, xml):
    """As op_model.write: xml and its .bin; the parameters' values by name."""
    m = model(line)
    ov.serialize(m, xml)
    rng, values = np.random.default_rng(1), {}
    for p in m.get_parameters():
        dims, elem = list(p.get_output_shape(0)), p.get_output_element_type(0).get_type_name()
        value = {"elem": elem, "dims": dims}
        values[p.get_friendly_name()] = op_model.draw({"op": "", "in": [value], "data": {}}, 0, rng)
    return values


# ---- smaller ones ----

def less(v):
    """Numbers in place of v, the smallest first."""
    if not isinstance(v, int) or isinstance(v, bool) or v <= 1:
        return []
    return sorted({1, v // 4, v // 2, 1 << (v.bit_length() - 1), v - v % 16, v - v % 10, v * 3 // 4, v - 1} - {0, v})


def at_numbers(tree, path=()):
    """(path, number) of each in lists and dicts."""
    if isinstance(tree, (list, dict)):
        for k, v in enumerate(tree) if isinstance(tree, list) else tree.items():
            yield from at_numbers(v, (*path, k))
    elif isinstance(tree, int) and not isinstance(tree, bool):
        yield path, tree


def with_number(tree, path, v):
    if not path:
        return v
    if isinstance(tree, list):
        return [with_number(x, path[1:], v) if i == path[0] else x for i, x in enumerate(tree)]
    return {k: with_number(x, path[1:], v) if k == path[0] else x for k, x in tree.items()}


def smaller(line):
    """Lines with less: without steps, without arguments, with smaller numbers."""
    steps = line["steps"]
    for i in range(len(steps)):
        for part in (steps[i:i + 1], steps[:i] + steps[i + 1:]):
            if part and len(part) < len(steps):
                yield named({**line, "steps": part})
    for i, s in enumerate(steps):
        for k in s:
            if k != "do":
                yield {**line, "steps": steps[:i] + [{a: v for a, v in s.items() if a != k}] + steps[i + 1:]}
    for where in ("in", "steps"):
        for path, v in at_numbers(line[where]):
            for new in less(v):
                yield {**line, where: with_number(line[where], path, new)}
