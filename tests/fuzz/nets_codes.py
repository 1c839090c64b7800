"""nets_codes.py - random operators of quantised networks for nets.py --codes: FakeQuantize on values and on weights,
weights as codes, and what is computed of them in integers."""
import numpy as np
import openvino as ov
import openvino.opset15 as op

from oracle import largest, nearby
from nets_ops import (UNARY, blocks, branches, concat, i64, padded, pieces, pool, reshape, shuffle, slices, split, squeeze, transpose, view, turn, window,
                      with_constant, with_other)

CODES = []      # as KINDS of nets_ops.py
WIDTHS = (1, 3, 4, 8, 15, 16, 16, 17, 24, 32, 32, 33, 40, 64, 64, 70, 96, 130)
QUIET = ("Relu", "Relu", "Relu", "Swish", "HSwish", "Sigmoid", "Clamp 0 6", "Clamp -0.5 1", "HSigmoid", "Gelu", "Abs", "Elu")


def kind(weight):
    def put(f):
        CODES.append((weight, f))
        return f
    return put


def start(net):
    """Its first input: products have more than a few rows mostly."""
    n, c = net.any(1, 1, 2, 3), net.any(*WIDTHS)
    way = net.any("image", "image", "image", "image", "line", "cube", "tokens", "tokens", "matrix")
    if way == "image":
        most = net.any(6, 12, 24)
        return n, c, *net.rng.integers(1 if net.chance(0.2) else 3, most + 1, 2).tolist()
    if way == "line":
        return n, c, net.any(1, 7, 16, 31, 64)
    if way == "cube":
        return n, c, *net.rng.integers(1, 7, 3).tolist()
    c = net.any(31, 32, 64, 96, 130)
    return (n, net.any(1, 13, 16, 33, 49, 70), c) if way == "tokens" else (net.any(1, 12, 13, 32, 80), c)


# ---- values ----

def ranges(net, n, way=None):
    """(low, high, levels, what) of n channels, of that way with 256 levels if one is given; most of them are the same few in a network, as ranges of Concats are."""
    if not hasattr(net, "grids"):
        net.grids = {}
    key = net.any(0, 0, 1, 2, int(net.rng.integers(1 << 30)))
    if (key, n, way) in net.grids:
        return net.grids[key, n, way]
    given = way
    way = way or net.any("zero on", "zero on", "zero on", "zero on", "symmetric", "symmetric", "asymmetric", "asymmetric", "on a level", "narrow", "beside")
    levels = 256 if given or net.chance(0.6) else net.any(256, 255, 128, 64, 16, 17, 5, 3, 2)
    top = np.float32(net.any(0.5, 1, 2, 3, 4, 6)) * (0.5 + net.rng.random(n)).astype(np.float32)
    step = 2 * top / (levels if levels > 2 else 2)
    if way == "zero on":
        low, high = 0 * top, top
    elif way == "symmetric":
        low, high = -(levels // 2) * step, (levels - 1 - levels // 2) * step
    elif way == "narrow":
        low, high = -top, top
    elif way == "on a level":
        low = -net.rng.integers(0, levels, n if net.chance(0.5) else 1) * step
        high = low + (levels - 1) * step
    elif way == "beside":       # zero is outside
        low, high = net.any((top / 4, top), (-top, -top / 4))
    else:
        low, high = -top * np.float32(net.any(0.1, 0.3, 1.1)), top
    net.grids[key, n, given] = low.astype(np.float32), high.astype(np.float32), levels, way
    return net.grids[key, n, given]


def limit(net, x, shape):
    """A function that makes constants of `shape`, sometimes in 16 bits."""
    x = np.asarray(x, np.float32).reshape(shape)
    if net.chance(0.1):
        return lambda: op.convert(op.constant(x.astype(np.float16)), "f32")
    return lambda: op.constant(x)


def quantise(net, x, channels=None):
    """A FakeQuantize behind x; with `channels` one for each, of that way."""
    shape = net.shape[x]
    axis = 1 if channels else None
    if not channels and len(shape) > 1 and net.chance(0.2):
        axis = 1 if net.chance(0.8) else net.any(*range(len(shape)))
    n = 1 if axis is None else shape[axis]
    if n > 300:
        axis, n = None, 1
    low, high, levels, way = ranges(net, n, channels)
    if axis is None:
        dims = net.any([], [1], [1] * len(shape))
    else:
        dims = [1] * len(shape)
        dims[axis] = n
        dims = dims[net.any(0, 0, axis):]
    limits = [low, high, low, high]
    if net.chance(0.1):         # made to other numbers
        limits[2:] = [low * np.float32(1.5), high * np.float32(1.5)] if net.chance(0.5) else [low - np.float32(0.25), high]
        way += " and others out"
    if net.chance(0.05) and axis is not None:
        limits[0] = limits[0].min()
        limits[2] = limits[2].min()
        makers = [limit(net, v, dims if v.size == n else []) for v in map(np.asarray, limits)]
    else:
        makers = [limit(net, v, dims) for v in limits]
    return net.add("FakeQuantize %d %s%s" % (levels, way, dims), [x],
                   lambda p: op.fake_quantize(p, *[m() for m in makers], levels))


@kind(2)
def quantised(net, x):
    return quantise(net, x)


def perhaps(net, x, p=0.93):
    """x or a FakeQuantize of it, and then perhaps what moves values."""
    if "FakeQuantize" not in net.step_of[x].label and net.chance(p):
        x = quantise(net, x)
    while net.chance(0.12):
        x = net.any(move, move, pooled)(net, x) or x
    return x


# ---- weights ----

def packed(codes, elem):
    """A constant of codes of 4 bits."""
    flat = codes.reshape(-1).astype(np.int64) & 15
    flat = np.concatenate([flat, np.zeros(flat.size % 2, np.int64)])
    tensor = ov.Tensor((flat[::2] | flat[1::2] << 4).astype(np.uint8), ov.Shape(list(codes.shape)), elem)
    return lambda: ov.op.Constant(tensor)   # which does not keep it


def codes_of(net, dims, one, gain):
    """Weights as codes times scales of the shape `one`, which is 1 or the size of each dim; what they are, and a maker."""
    elem = net.any("i8", "i8", "u8", "u8", "i4", "u4")
    lo, hi = {"i8": (-128, 127), "u8": (0, 255), "i4": (-8, 7), "u4": (0, 15)}[elem]
    if elem == "i8" and net.chance(0.5):
        lo = -127
    codes = np.clip(np.round((lo + hi) / 2 + net.values(*dims) * (hi - lo) / 6), lo, hi)
    scale = (gain * 6 / (hi - lo) * (0.5 + net.rng.random(one))).astype(np.float32)
    way = net.any("none", "one", "each") if elem in ("i8", "i4") else net.any("one", "each")
    if way == "one" and net.chance(0.7):
        zero = np.full((), (lo + hi + 1) // 2)
    else:
        zero = np.round((lo + hi) / 2 + net.values(*(one if way == "each" else ())) * (hi - lo) / 12)
    zero = np.clip(zero, lo, hi)
    make = lambda x: packed(x, ov.Type.i4 if elem == "i4" else ov.Type.u4) if elem in ("i4", "u4") else (
        lambda: op.constant(x.astype(np.int8 if elem == "i8" else np.uint8)))
    stored, zeros = make(codes), make(np.asarray(zero))
    half = net.chance(0.2)
    wide = lambda x: op.convert(x, "f16" if half else "f32")

    def node():
        w = wide(stored())
        if way != "none":
            w = op.subtract(w, wide(zeros()))
        w = op.multiply(w, op.constant(scale.astype(np.float16) if half else scale))
        return op.convert(w, "f32") if half else w
    return "%s zero %s scales%s%s" % (elem, way, list(one), " f16" if half else ""), node


def weights(net, fan_in, dims, out_axes):
    """(what they are, a function that makes weights of shape dims).  out_axes: those of output channels."""
    if np.prod(dims) > 1e5:
        raise RuntimeError("large")
    gain = 1 / np.sqrt(fan_in)
    one = [d if i in out_axes else 1 for i, d in enumerate(dims)]
    if net.chance(0.25):
        one = [1] * len(dims)
    way = net.any("fq", "fq", "grid", "grid", "codes", "codes", "codes", "free") if net.chance(0.9) else "zeros"
    if way == "codes":
        return codes_of(net, dims, one, gain)
    w = (net.values(*dims) * gain).astype(np.float32)
    if way == "zeros":
        way, w = "fq", w * (net.rng.random(one) < 0.5)
        w = w.astype(np.float32)
    if way == "free":
        return "free", lambda: op.constant(w)
    levels = net.any(255, 255, 256, 256, 16, 15, 4, 2)
    axes = tuple(i for i, d in enumerate(one) if d == 1)
    high = np.maximum(np.abs(w).max(axes, keepdims=True), np.float32(0.01))
    low = -high * np.float32(1 if levels % 2 else levels / (levels - 2) if levels > 2 else 1)
    if net.chance(0.1):
        low = -high * np.float32(0.6)
    if way == "fq":
        lo, hi = (limit(net, v, v.shape) for v in (low, high))
        return "FakeQuantize %d%s" % (levels, one), lambda: op.fake_quantize(op.constant(w), lo(), hi(), lo(), hi(), levels)
    step = (high - low) / np.float32(levels - 1)
    q = (np.round(w / step) * step).astype(np.float32)
    if net.chance(0.2):
        return "grid%s f16" % one, lambda: op.convert(op.constant(q.astype(np.float16)), "f32")
    return "grid%s" % one, lambda: op.constant(q)


# ---- what is computed in integers ----

def behind(net, y, channels, axis=1):
    n = len(net.shape[y])
    if net.chance(0.6):
        b = net.values(*[channels if i == axis % n else 1 for i in range(n)])
        y = net.add("Add bias", [y], lambda p: op.add(p, op.constant(b)))
    if net.chance(0.6):
        y = act(net, y)
    if net.chance(0.15):
        y = with_other(net, y) or y
    return quantise(net, y) if net.chance(0.7) else y


@kind(2)
def act(net, x):
    shape = net.shape[x]
    if net.chance(0.12) and len(shape) > 1:
        n = net.any(1, shape[1])
        slope = net.values(n)
        return net.add("PRelu [%d]" % n, [x], lambda p: op.prelu(p, op.constant(slope)))
    what = net.any(*QUIET)
    return net.add(what, [x], UNARY[what])


@kind(20)
def convolution(net, x):
    n = len(net.shape[x]) - 2
    if not 1 <= n <= 3:
        return None
    x = perhaps(net, x)
    if not 1 <= len(net.shape[x]) - 2 <= 3:
        return x
    x = padded(net, x)
    n, size = len(net.shape[x]) - 2, net.shape[x][2:]
    k, s, lo, hi, d = window(net, n, size, 5)
    cin, cout = net.shape[x][1], net.any(*WIDTHS)
    what, w = weights(net, cin * np.prod(k), (cout, cin, *k), (0,))
    y = net.add("Convolution k%s s%s p%s-%s d%s, %s" % (k, s, lo, hi, d, what), [x],
                lambda p: op.convolution(p, w(), s, lo, hi, d))
    return behind(net, y, cout)


@kind(14)
def group_convolution(net, x):
    n = len(net.shape[x]) - 2
    if not 1 <= n <= 3:
        return None
    if net.chance(0.3):
        x = quantise(net, x, net.any("zero on", "symmetric", "on a level", None))
    else:
        x = perhaps(net, x)
    if not 1 <= len(net.shape[x]) - 2 <= 3:
        return x
    x = padded(net, x)
    n, size = len(net.shape[x]) - 2, net.shape[x][2:]
    k, s, lo, hi, d = window(net, n, size, 5)
    c = net.shape[x][1]
    g = net.any(c, c, c, *[v for v in (2, 3, 4, 8) if c % v == 0])
    m = net.any(1, 1, 1, 2, 3) if g == c else net.any(1, 2, 4, 8)
    what, w = weights(net, c // g * np.prod(k), (g, m, c // g, *k), (0, 1) if net.chance(0.8) else (0,))
    y = net.add("GroupConvolution g%d m%d k%s s%s p%s-%s d%s, %s" % (g, m, k, s, lo, hi, d, what), [x],
                lambda p: op.group_convolution(p, w(), s, lo, hi, d))
    return behind(net, y, g * m)


@kind(16)
def product(net, x):
    if len(net.shape[x]) < 2:
        return None
    x = perhaps(net, x, 0.8)
    shape = net.shape[x]
    if not shape:
        return x
    n, k = net.any(*WIDTHS), shape[-1]
    turned = net.chance(0.6)
    ta = net.chance(0.25) and len(shape) > 1
    k = shape[-2] if ta else k
    dims = (n, k) if turned else (k, n)
    out = 0 if turned else 1
    per = [v for v in (8, 16, 32, 64) if k % v == 0 and k > v]
    batch = [v if net.chance(0.5) else 1 for v in shape[:-2]] if net.chance(0.08) else []
    if per and net.chance(0.3):
        v = net.any(*per)
        parts = (n, k // v, v) if turned else (k // v, v, n)
        what, inner = codes_of(net, parts, [d if i != (2 if turned else 1) else 1 for i, d in enumerate(parts)], 1 / np.sqrt(k))
        what = "groups of %d " % v + what
        w = lambda: op.reshape(inner(), i64(list(dims)), False)
    else:
        what, w = weights(net, k, (*batch, *dims), (len(batch) + out,))
    y = net.add("MatMul x%s, %s%s, %s" % (" turned" if ta else "", [*batch, *dims], " turned" if turned else "", what), [x],
                lambda p: op.matmul(p, w(), ta, turned))
    return behind(net, y, net.shape[y][-1], -1) if net.shape[y] else y


@kind(8)
def attention(net, x):
    shape = net.shape[x]
    if len(shape) == 4 and net.chance(0.5):
        a = net.add("Reshape [0, 0, -1]", [x], lambda p: op.reshape(p, i64([0, 0, -1]), True))
        x = net.add("Transpose [0, 2, 1]", [a], lambda p: op.transpose(p, i64([0, 2, 1])))
        shape = net.shape[x]
    if len(shape) not in (3, 4):
        return None
    parts = []
    if len(shape) == 3 and net.chance(0.7):
        heads, d = net.any(1, 2, 4), net.any(4, 8, 16, 17)
        for _ in range(3):
            what, w = weights(net, shape[-1], (heads * d, shape[-1]), (0,))
            y = net.add("MatMul x, %s" % what, [perhaps(net, x, 0.3)], lambda p, w=w: op.matmul(p, w(), False, True))
            if net.shape[y][:2] != shape[:2]:
                return y
            if net.chance(0.6):
                y = quantise(net, y)
            y = net.add("Reshape heads", [y], lambda p: op.reshape(p, i64([0, 0, heads, d]), True))
            y = net.add("Transpose [0, 2, 1, 3]", [y], lambda p: op.transpose(p, i64([0, 2, 1, 3])))
            parts.append(quantise(net, y) if net.chance(0.3) else y)
    else:
        for _ in range(3):
            parts.append(quantise(net, x) if net.chance(0.8) else x)
    causal = net.chance(0.4)
    scale = np.float32(0.37) if net.chance(0.3) else None
    mask = net.values(*net.shape[parts[0]][-2:-1], shape[1] if len(shape) == 3 else shape[2]) if net.chance(0.3) and not causal else None

    def make(q, k, v):
        more = {} if scale is None else {"scale": op.constant(scale)}
        if mask is not None or scale is not None:
            more["attention_mask"] = op.constant(mask if mask is not None else np.float32(0))
        return op.scaled_dot_product_attention(q, k, v, causal=causal, **more)
    y = net.add("ScaledDotProductAttention causal=%s scale=%s mask=%s" % (causal, scale, mask is not None), parts, make)
    if len(net.shape[y]) == 4 and net.chance(0.7):
        y = net.add("Transpose [0, 2, 1, 3]", [y], lambda p: op.transpose(p, i64([0, 2, 1, 3])))
        y = net.add("Reshape [0, 0, -1]", [y], lambda p: op.reshape(p, i64([0, 0, -1]), True))
    return quantise(net, y) if net.chance(0.5) else y


@kind(3)
def mean(net, x):
    shape = net.shape[x]
    if len(shape) < 3:
        return None
    x = perhaps(net, x, 0.7)
    shape = net.shape[x]
    axes = net.any([*range(2, len(shape))], [len(shape) - 1], [1])
    if len(shape) < 3:
        return x
    keep = net.chance(0.6)
    y = net.add("ReduceMean %s keep=%s" % (axes, keep), [x], lambda p: op.reduce_mean(p, i64(axes), keep))
    return quantise(net, y) if net.chance(0.5) else y


@kind(4)
def pooled(net, x):
    y = pool(net, perhaps(net, x, 0.6))
    return quantise(net, y) if y is not None and net.chance(0.3) else y


@kind(6)
def move(net, x):
    return net.any(slices, split, transpose, turn, reshape, view, squeeze, pieces, pieces, blocks, blocks, shuffle, concat, concat, concat)(net, x)


@kind(4)
def joined(net, x):
    """Quantised values of the same shape or more channels, joined along channels."""
    shape = net.shape[x]
    if len(shape) < 2:
        return None
    fits = [v for v in range(len(net.shape)) if len(net.shape[v]) == len(shape) and net.shape[v][:1] + net.shape[v][2:] == shape[:1] + shape[2:]]
    parts = [x] + [net.any(*fits) for _ in range(net.any(1, 1, 2))]
    parts = [quantise(net, v) if "FakeQuantize" not in net.step_of[v].label and net.chance(0.8) else v for v in parts]
    return net.add("Concat axis=1", parts, lambda *p: op.concat(list(p), 1))


@kind(4)
def sum_of(net, x):
    y = with_other(net, x)
    if y is not None and net.chance(0.3):
        y = act(net, y)
    return quantise(net, y) if y is not None and net.chance(0.6) else y


CODES += [(1, with_constant), (1, branches)]


# ---- how far results may move ----

def referenced(model):
    """A function of {number: array} that OpenVINO's reference implementation computes."""
    def run(given):
        out = [ov.Tensor(o.element_type, o.shape) for o in model.outputs]
        if not model.evaluate(out, [ov.Tensor(given[i]) for i in range(len(given))]):
            raise RuntimeError("no reference")
        return {i: np.array(t.data) for i, t in enumerate(out)}
    return run


def nudged(given, rng):
    """Inputs with other last bits, zeros too: they may lie between two levels."""
    return {name: x + np.float32(1e-6 * largest(x)) * rng.standard_normal(x.shape).astype(x.dtype)
            for name, x in nearby(given, rng).items()}


def shaken(given, rng):
    """Inputs that are 1 % off, as rows are that are quantised as they come."""
    off = lambda x: rng.standard_normal(x.shape) * 0.005 * np.sqrt(np.mean(x.astype(np.float64)**2, -1, keepdims=True) if x.ndim else 1)
    return {name: (x + off(x)).astype(x.dtype) for name, x in given.items()}
