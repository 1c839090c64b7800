"""nets_ops.py - random operators for nets.py: each function of KINDS puts one or a few behind a value of a Net, where
they fit."""
import numpy as np
import openvino.opset15 as op

KINDS = []      # (weight, function(net, value) -> value or None where it does not fit)
CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 16, 17, 20, 24, 31, 32, 33, 48, 64, 96)


def kind(weight):
    def put(f):
        KINDS.append((weight, f))
        return f
    return put


def i64(v):
    return op.constant(np.asarray(v, np.int64))


def weights(net, *shape):
    """A function that makes a constant, or what files with weights of 16 bits have in its place."""
    w = net.weights(*shape)
    if net.chance(0.15):
        return lambda: op.convert(op.constant(w.astype(np.float16)), "f32")
    return lambda: op.constant(w)


# ---- windows ----

def window(net, n, size, most=3):
    """(kernel, strides, pads begin, pads end, dilations) of n spatial dims.  Kernels of one element have no padding:
    OpenVINO's plugin gives them outputs of other shapes."""
    way = net.any("1x1", "same", "same", "wild")
    if way == "1x1":
        return [1] * n, [net.any(1, 1, 1, 2)] * n, [0] * n, [0] * n, [1] * n
    k = [min(net.any(3, 3, 3, 5, 2, 1), most if s > 2 else 1) for s in size]
    if way == "same":
        return k, [net.any(1, 1, 1, 2)] * n, [v // 2 for v in k], [v // 2 for v in k], [1] * n
    draw = lambda *of: [net.any(*of) for _ in range(n)]
    inside = lambda pads: [min(a, b // 2 + (b > 2)) for a, b in zip(pads, k)]
    return k, draw(1, 1, 2, 3), inside(draw(0, 0, 1, 2)), inside(draw(0, 0, 1, 2)), draw(1, 1, 1, 2)


def padded(net, x):
    """x, or what a Pad in front of a convolution makes of it, as TensorFlow's "same" has them."""
    if not net.chance(0.15):
        return x
    n = len(net.shape[x]) - 2
    lo, hi = ([0, 0] + [net.any(0, 0, 1, 1, 2) for _ in range(n)] for _ in range(2))
    mode, value = net.any(("constant", 0), ("constant", 0), ("constant", 0), ("constant", 0.5), ("edge", 0))
    return net.add("Pad %s %s %s %g" % (mode, lo, hi, value), [x],
                   lambda p: op.pad(p, i64(lo), i64(hi), mode, op.constant(np.float32(value))))


def finish(net, x, channels):
    """What usually follows a convolution."""
    n = len(net.shape[x]) - 2
    if net.chance(0.6):
        b = net.values(1, channels, *[1] * n)
        x = net.add("Add bias", [x], lambda p: op.add(p, op.constant(b)))
    if net.chance(0.5):
        x = activation(net, x)
    if net.chance(0.2):
        x = with_other(net, x) or x
    return x


@kind(8)
def convolution(net, x):
    if not 1 <= len(net.shape[x]) - 2 <= 3:
        return None
    x = padded(net, x)
    n, size = len(net.shape[x]) - 2, net.shape[x][2:]
    k, s, lo, hi, d = window(net, n, size, 5)
    cin, cout = net.shape[x][1], net.any(*CHANNELS)
    if cin == 1:        # with AVX-512 OpenVINO's plugin mixes up the rows of one column if strides are 1 and more
        s = s[:1] * n
    w = weights(net, cin * np.prod(k), cout, cin, *k)
    y = net.add("Convolution k%s s%s p%s-%s d%s" % (k, s, lo, hi, d), [x],
                lambda p: op.convolution(p, w(), s, lo, hi, d))
    return finish(net, y, cout)


@kind(5)
def group_convolution(net, x):
    if not 1 <= len(net.shape[x]) - 2 <= 3:
        return None
    x = padded(net, x)
    n, size = len(net.shape[x]) - 2, net.shape[x][2:]
    k, s, lo, hi, d = window(net, n, size, 5)
    c = net.shape[x][1]
    g = net.any(c, c, *[v for v in (2, 3, 4, 8) if c % v == 0])
    m = net.any(1, 1, 1, 2, 3) if g == c else net.any(1, 2, 4, 8)
    w = weights(net, c // g * np.prod(k), g, m, c // g, *k)
    y = net.add("GroupConvolution g%d k%s s%s p%s-%s d%s" % (g, k, s, lo, hi, d), [x],
                lambda p: op.group_convolution(p, w(), s, lo, hi, d))
    return finish(net, y, g * m)


@kind(3)
def deconvolution(net, x):
    n = len(net.shape[x]) - 2
    if not 1 <= n <= 3:
        return None
    s = [net.any(1, 2, 2, 3)] * n
    k = [v if net.chance(0.5) else net.any(2, 3, 4) for v in s]
    lo, hi = [net.any(0, 0, 1) if v > 1 else 0 for v in k], [net.any(0, 0, 1) if v > 1 else 0 for v in k]
    more = [net.any(0, 0, v - 1) for v in s]
    cin, cout = net.shape[x][1], net.any(*CHANNELS)
    if net.chance(0.8):
        w = weights(net, cin * np.prod(k), cin, cout, *k)
        make = lambda p: op.convolution_backprop_data(p, w(), s, None, lo, hi, [1] * n, "explicit", more)
        what = "ConvolutionBackpropData"
    else:
        g = net.any(cin, *[v for v in (2, 3, 4) if cin % v == 0])
        w = weights(net, cin // g * np.prod(k), g, cin // g, 2, *k)
        cout = 2 * g
        make = lambda p: op.group_convolution_backprop_data(p, w(), s, None, lo, hi, [1] * n, "explicit", more)
        what = "GroupConvolutionBackpropData g%d" % g
    return finish(net, net.add("%s k%s s%s p%s-%s +%s" % (what, k, s, lo, hi, more), [x], make), cout)


@kind(4)
def pool(net, x):
    n, size = len(net.shape[x]) - 2, net.shape[x][2:]
    if not 1 <= n <= 3 or min(size) < 2:
        return None
    k = [net.any(2, 2, 3) if v > 2 else net.any(1, 2) for v in size]
    if net.chance(0.15):
        k = list(size)
    s = [net.any(1, 2, 2, v) for v in k]
    lo, hi = [net.any(0, 0, 1) if v > 2 else 0 for v in k], [net.any(0, 0, 1) if v > 2 else 0 for v in k]
    rounding, ex = net.any("floor", "floor", "ceil"), net.chance(0.5)
    if any(-(-(v + a + b - m) // t) * t - a >= v for v, m, t, a, b in zip(size, k, s, lo, hi)):
        rounding = "floor"      # else a window lies in padding alone, and has no maximum or mean
    label = "k%s s%s p%s-%s %s" % (k, s, lo, hi, rounding)
    if net.chance(0.5):
        return net.add("MaxPool " + label, [x], lambda p: op.max_pool(p, s, [1] * n, lo, hi, k, rounding))
    return net.add("AvgPool %s exclude=%s" % (label, ex), [x], lambda p: op.avg_pool(p, s, lo, hi, k, ex, rounding))


@kind(2)
def interpolate(net, x):
    shape = net.shape[x]
    if len(shape) != 4 or min(shape[2:]) < 1:
        return None
    mode = net.any("nearest", "nearest", "linear_onnx", "linear_onnx", "linear", "cubic")
    turn = net.any("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel", "tf_half_pixel_for_nn")
    near = net.any("floor", "round_prefer_floor", "simple", "ceil")
    new = [max(1, net.any(2 * v, 2 * v, v, v // 2, v + 3)) for v in shape[2:]]
    return net.add("Interpolate %s %s %s to %s" % (mode, turn, near, new), [x], lambda p: op.interpolate(
        p, i64(new), mode, "sizes", [0, 0], [0, 0], turn, near, False, -0.75, i64([2, 3])))


# ---- movement ----

@kind(3)
def concat(net, x):
    shape = net.shape[x]
    axis = net.any(*range(len(shape)), *([1, 1] if len(shape) > 1 else []))
    fits = lambda s: len(s) == len(shape) and all(a == b for i, (a, b) in enumerate(zip(s, shape)) if i != axis)
    others = [v for v in range(len(net.shape)) if fits(net.shape[v])]
    parts = [x] + [net.any(*others) for _ in range(net.any(1, 1, 2))]
    net.rng.shuffle(parts)
    label = "Concat axis=%d" % (axis - len(shape) if net.chance(0.3) else axis)
    if net.chance(0.2):
        c = net.values(*[net.any(1, 2, 5) if i == axis else v for i, v in enumerate(shape)])
        return net.add(label + " +constant%s" % list(c.shape), parts, lambda *p: op.concat([*p, op.constant(c)], axis))
    return net.add(label, parts, lambda *p: op.concat(list(p), axis))


@kind(2)
def split(net, x):
    shape = net.shape[x]
    axis = net.any(*[i for i, v in enumerate(shape) if v > 1] or [None])
    if axis is None:
        return None
    n = shape[axis]
    even = [v for v in (2, 3, 4) if n % v == 0]
    if even and net.chance(0.5):
        k = net.any(*even)
        y = net.add("Split axis=%d %d" % (axis, k), [x], lambda p: op.split(p, i64(axis), k))
        return y + net.any(*range(k))
    cut = net.any(*range(1, n))
    lengths = net.any([cut, n - cut], [cut, -1], [-1, n - cut])
    y = net.add("VariadicSplit axis=%d %s" % (axis, lengths), [x],
                lambda p: op.variadic_split(p, i64(axis), i64(lengths)))
    return y + net.any(0, 1)


def bounds(net, n):
    """(begin, end, step) that leave something of n."""
    step = net.any(1, 1, 1, 2, -1, -2)
    lo = net.any(0, net.any(*range(n)))
    hi = net.any(n, net.any(*range(lo + 1, n + 1)))
    if step < 0:
        return hi - 1, lo - 1 - n if lo else -n - 1, step
    return (lo - n if net.chance(0.3) else lo), (hi if hi == n or net.chance(0.7) else hi - n), step


@kind(3)
def slices(net, x):
    shape = net.shape[x]
    if not shape:
        return None
    axes = sorted(net.rng.permutation(len(shape))[:net.any(1, 1, 2)].tolist())
    cuts = [bounds(net, shape[a]) for a in axes]
    if net.chance(0.5):
        b, e, s = ([c[i] for c in cuts] for i in range(3))
        return net.add("Slice axes=%s %s" % (axes, cuts), [x], lambda p: op.slice(p, i64(b), i64(e), i64(s), i64(axes)))
    rows = [cuts[axes.index(i)] if i in axes else (0, 0, 1) for i in range(max(axes) + 1)]
    mask = [0 if i in axes else 1 for i in range(max(axes) + 1)]
    b, e, s = ([c[i] for c in rows] for i in range(3))
    shrink = [1 if i == axes[0] and s[i] == 1 and net.chance(0.15) else 0 for i in range(len(rows))]
    new = [0] * len(rows)
    return net.add("StridedSlice %s mask=%s shrink=%s" % (rows, mask, shrink), [x], lambda p: op.strided_slice(
        p, i64(b), i64(e), i64(s), mask, mask, new, shrink, new))


@kind(2)
def pad(net, x):
    shape = net.shape[x]
    if not shape:
        return None
    mode = net.any("constant", "constant", "edge", "reflect", "symmetric")
    draw = lambda: [net.any(0, 0, 1, 2) if v > 2 and (i or len(shape) < 3) else 0 for i, v in enumerate(shape)]
    lo, hi = draw(), draw()
    value = np.float32(net.any(0, 0, 0.5))
    return net.add("Pad %s %s %s %g" % (mode, lo, hi, value), [x],
                   lambda p: op.pad(p, i64(lo), i64(hi), mode, op.constant(value)))


@kind(6)
def transpose(net, x):
    n = len(net.shape[x])
    if n < 2:
        return None
    usual = [[0, *range(2, n), 1], [0, n - 1, *range(1, n - 1)], [*range(n - 2), n - 1, n - 2]]
    order = net.any(*usual, net.rng.permutation(n).tolist(), net.rng.permutation(n).tolist())
    return net.add("Transpose %s" % order, [x], lambda p: op.transpose(p, i64(order)))


def divisors(n):
    return [v for v in range(2, n) if n % v == 0]


def as_pattern(net, old, new):
    """(pattern, special_zero) of Reshape that makes `new` of `old`."""
    pattern = list(new)
    zero = net.chance(0.5)
    if zero:
        pattern = [0 if i < len(old) and v == old[i] and net.chance(0.5) else v for i, v in enumerate(pattern)]
    if pattern and net.chance(0.5):
        pattern[net.any(*range(len(pattern)))] = -1
    return pattern, zero


@kind(6)
def reshape(net, x):
    old = net.shape[x]
    new = list(old)
    for _ in range(net.any(1, 1, 2)):
        at = net.any(*range(len(new))) if new else 0
        if len(new) > 1 and net.chance(0.6):
            at = net.any(*range(len(new) - 1), len(new) - 2)
            new[at:at + 2] = [new[at] * new[at + 1]]
        elif new and divisors(new[at]) and len(new) < 5:
            a = net.any(*divisors(new[at]))
            new[at:at + 1] = [a, new[at] // a]
    if net.chance(0.15):
        new = [old[0], -1] if old else [1]
        new[-1] = int(np.prod(old)) // int(np.prod(new[:-1]))
    if net.chance(0.1):
        new = net.rng.permutation(new).tolist()
    pattern, zero = as_pattern(net, old, new)
    return net.add("Reshape %s special_zero=%s" % (pattern, zero), [x], lambda p: op.reshape(p, i64(pattern), zero))


@kind(2)
def squeeze(net, x):
    shape = net.shape[x]
    ones = [i for i, v in enumerate(shape) if v == 1]
    if not ones or net.chance(0.4):
        if len(shape) > 4:
            return None
        at = net.any(*range(len(shape) + 1))
        return net.add("Unsqueeze %d" % at, [x], lambda p: op.unsqueeze(p, i64([at])))
    some = ones if net.chance(0.4) else [net.any(*ones)]
    return net.add("Squeeze %s" % some, [x], lambda p: op.squeeze(p, i64(some)))


def pick(net, x):
    shape = net.shape[x]
    if not shape:
        return None
    axis = net.any(*range(len(shape)))
    at = int(net.any(*range(-shape[axis], shape[axis])))
    index = np.int64(at) if net.chance(0.7) else np.array([at], np.int64)
    return net.add("Gather %d axis=%d" % (at, axis), [x], lambda p: op.gather(p, op.constant(index), i64(axis)))


@kind(3)
def moves(net, x):
    """Several operators that only move elements, one behind another, some of which have several readers."""
    at, ends = x, []
    for _ in range(net.any(2, 3, 4, 5)):
        y = net.any(transpose, reshape, split, slices, pick)(net, at)
        if y is None:
            continue
        if net.chance(0.4):
            ends.append(at)
        at = y
    same = [e for e in ends if net.shape[e] == net.shape[at] and e != x]
    return net.add("Add", [at, same[0]], lambda a, b: op.add(a, b)) if same else at if at != x else None


def term(net, x, grouped, cout, kernel, stride, dilation, shift):
    """A convolution of x with output as large as others of its stride; shift: its window lies elsewhere in theirs."""
    n = len(net.shape[x]) - 2
    half = [dilation * (k - 1) // 2 for k in kernel]
    lo, hi = [h + shift for h in half], [dilation * (k - 1) - h - shift for k, h in zip(kernel, half)]
    c = net.shape[x][1]
    w = net.weights(c * int(np.prod(kernel)), *((c, 1, 1) if grouped else (cout, c)), *kernel)
    make = op.group_convolution if grouped else op.convolution
    if min(lo + hi) < 0:
        return None
    return net.add("%s %s stride %d dilation %d pads %s %s" % ("dw" if grouped else "conv", kernel, stride, dilation, lo, hi), [x],
                   lambda p: make(p, op.constant(w), [stride] * n, lo, hi, [dilation] * n))


@kind(3)
def trained_branches(net, x):
    """Convolutions of one tensor, and products of it, that are added up; some are read by others, too."""
    shape = net.shape[x]
    if len(shape) not in (3, 4) or min(shape[2:]) < 3:
        return None
    grouped, stride = net.chance(0.4), net.any(1, 1, 2)
    c, n = shape[1], len(shape) - 2
    cout = c if grouped or net.chance(0.6) else net.any(*CHANNELS)
    y, ends = None, []
    for _ in range(net.any(2, 3, 4)):
        factors = stride == 1 and cout == c and net.chance(0.3)
        if factors:
            f = net.values(1, c, *[1] * n)
            t = net.add("Multiply x, constant%s" % list(f.shape), [x], lambda p, f=f: op.multiply(p, op.constant(f)))
        else:
            t = term(net, x, grouped, cout, [net.any(1, 1, 3, 3, 5) for _ in range(n)], stride, net.any(1, 1, 1, 2), net.any(0, 0, 0, 1))
        if t is None or (y is not None and net.shape[t] != net.shape[y]):
            continue
        if net.chance(0.5):
            b = net.values(1, net.shape[t][1], *[1] * n)
            t = net.add("Add x, constant%s" % list(b.shape), [t], lambda p, b=b: op.add(p, op.constant(b)))
        if net.chance(0.1):
            ends.append(t)
        y = t if y is None else net.add("Add", net.any([y, t], [t, y]), op.add)
    if y is not None and net.chance(0.5):
        y = net.add("Relu", [y], op.relu)
    for e in ends:
        if y is not None and e != y:
            y = net.add("Multiply", [y, e], op.multiply)
    return y


@kind(1.5)
def blocks(net, x):
    shape = net.shape[x]
    if not 3 <= len(shape) <= 5:
        return None
    mode = net.any("blocks_first", "depth_first")
    if shape[1] % 2 ** (len(shape) - 2) == 0 and net.chance(0.6):
        return net.add("DepthToSpace %s" % mode, [x], lambda p: op.depth_to_space(p, mode, 2))
    if all(v % 2 == 0 for v in shape[2:]):
        return net.add("SpaceToDepth %s" % mode, [x], lambda p: op.space_to_depth(p, mode, 2))
    return None


@kind(1.5)
def shuffle(net, x):
    shape = net.shape[x]
    if len(shape) < 3 or not divisors(shape[1]):
        return None
    g = net.any(*divisors(shape[1]))
    if net.chance(0.3):
        return net.add("ShuffleChannels %d" % g, [x], lambda p: op.shuffle_channels(p, 1, g))
    apart = [shape[0], g, shape[1] // g, *shape[2:]]
    if len(apart) > 5 and net.chance(0.8):
        return None
    a = net.add("Reshape %s" % apart, [x], lambda p: op.reshape(p, i64(apart), False))
    order = [0, 2, 1, *range(3, len(apart))]
    b = net.add("Transpose %s" % order, [a], lambda p: op.transpose(p, i64(order)))
    return net.add("Reshape %s" % list(shape), [b], lambda p: op.reshape(p, i64(shape), False))


@kind(2)
def pieces(net, x):
    """Roll, Gather, Tile, Broadcast, Reverse."""
    shape = net.shape[x]
    if not shape:
        return None
    axis = net.any(*range(len(shape)))
    n = shape[axis]
    what = net.any("roll", "gather", "tile", "broadcast", "reverse", "cumsum")
    if what == "roll":
        shift = net.any(1, -2, n // 2)
        return net.add("Roll %d by %d" % (axis, shift), [x], lambda p: op.roll(p, i64([shift]), i64([axis])))
    if what == "gather":
        rows = net.rng.integers(-n, n, net.any(1, 2, 5, n)).tolist()
        rows = rows[0] if net.chance(0.2) else rows
        return net.add("Gather axis=%d %s" % (axis, rows), [x], lambda p: op.gather(p, i64(rows), i64(axis)))
    if what == "tile":
        times = [2 if i == axis else 1 for i in range(len(shape))]
        return net.add("Tile %s" % times, [x], lambda p: op.tile(p, i64(times)))
    if what == "broadcast":
        new = [net.any(2, 3) if v == 1 else v for v in shape]
        return net.add("Broadcast %s" % new, [x], lambda p: op.broadcast(p, i64(new)))
    if what == "cumsum":
        return net.add("CumSum %d" % axis, [x], lambda p: op.cumsum(p, i64(axis)))
    if axis == 0:
        return None
    return net.add("ReverseSequence %d" % axis, [x], lambda p: op.reverse_sequence(p, i64([n] * shape[0]), 0, axis))


# ---- element-wise ----

UNARY = {
    "Relu": op.relu, "Sigmoid": op.sigmoid, "Swish": op.swish, "Gelu": lambda p: op.gelu(p, "erf"),
    "Gelu tanh": lambda p: op.gelu(p, "tanh"), "HSwish": op.hswish, "HSigmoid": op.hsigmoid,
    "Clamp 0 6": lambda p: op.clamp(p, 0.0, 6.0), "Clamp -0.5 1": lambda p: op.clamp(p, -0.5, 1.0),
    "Elu": lambda p: op.elu(p, 0.7), "Abs": op.absolute, "Tanh": op.tanh,
    "Mish": op.mish, "SoftPlus": op.softplus, "Negative": op.negative, "Erf": op.erf, "Sin": op.sin}


def activation(net, x):
    what = net.any(*UNARY, *["Relu", "Swish", "Clamp 0 6"] * 2)
    return net.add(what, [x], UNARY[what])


@kind(6)
def unary(net, x):
    if net.chance(0.1):
        small = net.add("Tanh", [x], op.tanh)
        return net.add("Exp", [small], op.exp)
    if net.chance(0.15):
        shape = net.shape[x]
        n = net.any(1, shape[1] if len(shape) > 1 else 1)
        slope = net.values(n)
        return net.add("PRelu [%d]" % n, [x], lambda p: op.prelu(p, op.constant(slope)))
    return activation(net, x)


BINARY = {"Add": op.add, "Multiply": op.multiply, "Subtract": op.subtract, "Maximum": op.maximum, "Minimum": op.minimum,
          "SquaredDifference": op.squared_difference, "Divide": op.divide}


def part_shape(net, shape):
    """Of a constant that is broadcast to `shape`."""
    way = net.any("scalar", "channel", "channel", "any", "any", "last", "full")
    if way == "scalar":
        return [1] * net.any(*range(len(shape) + 1))
    if way == "channel" and len(shape) > 1:
        return [1] * net.any(0, 1) + [shape[1]] + [1] * (len(shape) - 2)
    if way == "last" and shape:
        return [shape[-1]]
    new = [v if way == "full" or net.chance(0.5) else 1 for v in shape]
    return new[net.any(0, 0, *range(len(new))) if new else 0:]


@kind(7)
def with_constant(net, x):
    shape = net.shape[x]
    other = part_shape(net, shape)
    if net.chance(0.07):
        other = [net.any(2, 3) if v == 1 else v for v in shape]
    elif len(shape) < 5 and net.chance(0.07):
        other = [1] * (len(shape) + 1 - len(other)) + other
    what = net.any(*BINARY, "Add", "Multiply", "Add", "Multiply")
    c = net.values(*other)
    c = np.abs(c) + np.float32(0.5) if what == "Divide" else c
    if what != "Divide" and net.chance(0.3):
        return net.add("%s constant%s, x" % (what, other), [x], lambda p: BINARY[what](op.constant(c), p))
    return net.add("%s x, constant%s" % (what, other), [x], lambda p: BINARY[what](p, op.constant(c)))


def broadcasts(a, b):
    pairs = list(zip(a[::-1], b[::-1]))
    return all(m == n or 1 in (m, n) for m, n in pairs)


@kind(6)
def with_other(net, x):
    shape = net.shape[x]
    same = [v for v in range(len(net.shape)) if net.shape[v] == shape and v != x]
    some = [v for v in range(len(net.shape)) if broadcasts(net.shape[v], shape) and v != x and len(net.shape[v]) > 1]
    others = same if same and net.chance(0.7) else some
    what = net.any("Add", "Add", "Multiply", "Subtract", "Maximum", "Minimum", "SquaredDifference")
    if not others:
        return None
    pair = [x, net.any(*others)]
    net.rng.shuffle(pair)
    return net.add(what, pair, BINARY[what])


@kind(1)
def scale_shift(net, x):
    shape = net.shape[x]
    if len(shape) < 2:
        return None
    axis = net.any(1, 1, len(shape) - 1)
    one = [v if i == axis else 1 for i, v in enumerate(shape)]
    a, b = np.abs(net.values(*one)) + np.float32(0.2), net.values(*one)
    if net.chance(0.3) and axis == 1:
        g, h, m, v = (net.values(shape[1]) for _ in range(4))
        v = np.abs(v) + np.float32(0.3)
        return net.add("BatchNormInference", [x], lambda p: op.batch_norm_inference(
            p, op.constant(g), op.constant(h), op.constant(m), op.constant(v), 1e-3))
    y = net.add("Multiply x, constant%s" % one, [x], lambda p: op.multiply(p, op.constant(a)))
    return net.add("Add x, constant%s" % one, [y], lambda p: op.add(p, op.constant(b)))


# ---- reductions, norms ----

def some_axes(net, n):
    usual = [[*range(2, n)], [1], [n - 1]] if n > 2 else [[n - 1]]
    return net.any(*usual, sorted(net.rng.permutation(n)[:net.any(1, 1, 2, 3)].tolist()))


@kind(4)
def reduction(net, x):
    n = len(net.shape[x])
    if not n:
        return None
    axes, keep = some_axes(net, n), net.chance(0.6)
    what = net.any("mean", "mean", "mean", "max", "sum", "min", "l2")
    y = net.add("Reduce%s %s keep=%s" % (what.capitalize(), axes, keep), [x],
                lambda p: getattr(op, "reduce_" + what)(p, i64(axes), keep))
    if what == "sum":
        scale = np.float32(1 / np.sqrt(np.prod([net.shape[x][a] for a in axes])))
        y = net.add("Multiply x, scalar", [y], lambda p: op.multiply(p, op.constant(scale)))
    return y


@kind(3)
def norm(net, x):
    shape = net.shape[x]
    if len(shape) < 2:
        return None
    axes = some_axes(net, len(shape))
    if np.prod([shape[a] for a in axes]) < 4:
        return None
    what = net.any("mvn", "mvn", "group", "l2", "lrn")
    if what == "mvn":
        inside, variance = net.chance(0.5), net.chance(0.85)
        return net.add("MVN %s inside=%s variance=%s" % (axes, inside, variance), [x], lambda p: op.mvn(
            p, i64(axes), variance, 1e-2, "inside_sqrt" if inside else "outside_sqrt"))
    if what == "group" and len(shape) > 2 and np.prod(shape[2:]) > 3:
        g = net.any(1, shape[1], *divisors(shape[1]))
        a, b = net.values(shape[1]), net.values(shape[1])
        return net.add("GroupNormalization %d" % g, [x],
                       lambda p: op.group_normalization(p, op.constant(a), op.constant(b), g, 1e-2))
    if what == "l2":
        return net.add("NormalizeL2 %s" % axes, [x], lambda p: op.normalize_l2(p, i64(axes), 1e-2, "add"))
    if what == "lrn" and len(shape) == 4:
        return net.add("LRN", [x], lambda p: op.lrn(p, i64([1]), 0.1, 0.75, 1.0, 5))
    return None


@kind(2)
def layer_norm(net, x):
    """As it is in files: mean, difference, its square's mean, root, quotient, scale, shift."""
    shape = net.shape[x]
    if len(shape) < 2:
        return None
    axis = net.any(len(shape) - 1, len(shape) - 1, 1)
    if shape[axis] < 4:
        return None
    one = [v if i == axis else 1 for i, v in enumerate(shape)]
    a, b = net.values(*one), net.values(*one)
    mean = lambda v: net.add("ReduceMean [%d] keep=True" % axis, [v], lambda p: op.reduce_mean(p, i64([axis]), True))
    y = x
    if net.chance(0.7):
        y = net.add("Subtract", [x, mean(x)], op.subtract)
    if net.chance(0.5):
        square = net.add("Power x, 2", [y], lambda p: op.power(p, op.constant(np.float32(2))))
    else:
        square = net.add("Multiply", [y, y], op.multiply)
    eps = net.add("Add x, 0.01", [mean(square)], lambda p: op.add(p, op.constant(np.float32(0.01))))
    y = net.add("Divide", [y, net.add("Sqrt", [eps], op.sqrt)], op.divide)
    if net.chance(0.8):
        y = net.add("Multiply x, constant%s" % one, [y], lambda p: op.multiply(p, op.constant(a)))
    return net.add("Add x, constant%s" % one, [y], lambda p: op.add(p, op.constant(b))) if net.chance(0.7) else y


@kind(2)
def softmax(net, x):
    n = len(net.shape[x])
    if not n:
        return None
    axis = net.any(*range(-n, n))
    if net.chance(0.1):
        return net.add("LogSoftmax %d" % axis, [x], lambda p: op.log_softmax(p, axis))
    return net.add("Softmax %d" % axis, [x], lambda p: op.softmax(p, axis))


@kind(2)
def squeeze_excite(net, x):
    shape = net.shape[x]
    if not 3 <= len(shape) <= 5:
        return None
    n, c = len(shape) - 2, shape[1]
    axes = list(range(2, len(shape)))
    y = net.add("ReduceMean %s keep=True" % axes, [x], lambda p: op.reduce_mean(p, i64(axes), True))
    small = max(1, c // 4)
    for cin, cout, what in ((c, small, net.any("Relu", "Swish")), (small, c, net.any("Sigmoid", "HSigmoid"))):
        w, b = net.weights(cin, cout, cin, *[1] * n), net.values(1, cout, *[1] * n)
        y = net.add("Convolution 1x1", [y],
                    lambda p, w=w: op.convolution(p, op.constant(w), [1] * n, [0] * n, [0] * n, [1] * n))
        if net.chance(0.7):
            y = net.add("Add bias", [y], lambda p, b=b: op.add(p, op.constant(b)))
        y = net.add(what, [y], UNARY[what])
    pair = [x, y]
    net.rng.shuffle(pair)
    return net.add("Multiply", pair, op.multiply)


# ---- products ----

@kind(5)
def product(net, x):
    """MatMul by a constant, perhaps a batch of them."""
    shape = net.shape[x]
    if len(shape) < 2:
        return None
    n, ta, tb, left = net.any(*CHANNELS), net.chance(0.15), net.chance(0.5), net.chance(0.12)
    k = shape[-1] if left == ta else shape[-2]
    batch = [v if net.chance(0.5) else 1 for v in shape[:-2]] if net.chance(0.2) else []
    a, b = (n, k), (k, n)
    mine = (a if not tb else b) if left else (b if not tb else a)
    w = weights(net, k, *batch, *mine)
    if left:
        y = net.add("MatMul constant%s, x %s %s" % ([*batch, *mine], tb, ta), [x], lambda p: op.matmul(w(), p, tb, ta))
    else:
        y = net.add("MatMul x, constant%s %s %s" % ([*batch, *mine], ta, tb), [x], lambda p: op.matmul(p, w(), ta, tb))
    if net.chance(0.5):
        c = net.values(net.shape[y][-1])
        y = net.add("Add bias", [y], lambda p: op.add(p, op.constant(c)))
    return activation(net, y) if net.chance(0.4) else y


@kind(3)
def product_of_two(net, x):
    shape = net.shape[x]
    if len(shape) < 2:
        return None
    fits = lambda s: len(s) == len(shape) and len(s) > 1 and broadcasts(s[:-2], shape[:-2])
    other = net.any(*[v for v in range(len(net.shape)) if fits(net.shape[v])])
    t = net.shape[other]
    ways = [(a, b) for a in (False, True) for b in (False, True) if shape[-2 if a else -1] == t[-1 if b else -2]]
    if not ways:
        return None
    ta, tb = net.any(*ways)
    scale = np.float32(1 / np.sqrt(shape[-2 if ta else -1]))
    y = net.add("MatMul %s %s" % (ta, tb), [x, other], lambda p, q: op.matmul(p, q, ta, tb))
    return net.add("Multiply x, scalar", [y], lambda p: op.multiply(p, op.constant(scale)))


def tokens(net, x):
    """x as (n,t,c) or (n,h,t,c)."""
    shape = net.shape[x]
    if len(shape) == 4 and net.chance(0.6):
        a = net.add("Reshape [0, 0, -1]", [x], lambda p: op.reshape(p, i64([0, 0, -1]), True))
        return net.add("Transpose [0, 2, 1]", [a], lambda p: op.transpose(p, i64([0, 2, 1])))
    return x if len(shape) in (3, 4) else None


def attention_mask(net, q):
    """Of queries as many as keys: numbers or truth values, each row another or all the same, with a part that is hidden at the
    end; one for all, or one for each image."""
    if net.chance(0.3):
        return None
    rows = q[-2]
    lead = [d if net.chance(0.3) else 1 for d in q[:-2]]
    mask = net.values(*lead, net.any(1, rows), rows)
    truth = net.chance(0.5)
    if truth:
        mask = mask > -0.3
    if net.chance(0.6):
        mask[..., rows - int(net.any(0, 1, rows // 2)):] = False if truth else -np.inf
    mask[..., 0] = True if truth else 0         # each row sees something
    if net.chance(0.5):
        mask = np.repeat(mask[..., :1, :], rows, -2)
    return mask


def attention_in_nodes(net, q, k, v):
    """Spelled out: keys as rows or turned, a factor or one of each head, numbers that are added in this shape or another."""
    turned, scale = net.chance(0.3), np.float32(1 / np.sqrt(net.shape[q][-1]))
    lead = net.shape[q][:-2]
    if turned:
        order = [*range(len(lead)), len(lead) + 1, len(lead)]
        k = net.add("Transpose %s" % order, [k], lambda p: op.transpose(p, i64(order)))
    y = net.add("MatMul False %s" % (not turned), [q, k], lambda a, b: op.matmul(a, b, False, not turned))
    way = net.any("none", "scalar", "scalar", "divided", "heads")
    if way == "scalar":
        y = net.add("Multiply x, scalar", [y], lambda p: op.multiply(p, op.constant(scale)))
    elif way == "divided":
        y = net.add("Divide x, scalar", [y], lambda p: op.divide(p, op.constant(np.float32(1 / scale))))
    elif way == "heads":
        f = np.abs(net.values(*[1 if net.chance(0.5) else s for s in lead], 1, 1)) * scale
        y = net.add("Multiply constant%s, x" % list(f.shape), [y], lambda p: op.multiply(op.constant(f), p))
    for _ in range(net.any(0, 0, 1, 2)):
        shape = net.shape[y]
        other = (1, *shape) if len(shape) < 5 and net.chance(0.4) else shape
        if other != shape:
            y = net.add("Reshape %s" % list(other), [y], lambda p: op.reshape(p, i64(other), False))
        m = net.values(*[1 if net.chance(0.4) else s for s in other])
        if m.shape[-1] > 1 and net.chance(0.3):
            m[..., m.shape[-1] // 2:] = -np.inf
        y = net.add("Add x, constant%s" % list(m.shape), [y], lambda p: op.add(p, op.constant(m)))
        if other != shape:
            y = net.add("Reshape %s" % list(shape), [y], lambda p: op.reshape(p, i64(shape), False))
    y = net.add("Softmax -1", [y], lambda p: op.softmax(p, -1))
    return net.add("MatMul False False", [y, v], lambda a, b: op.matmul(a, b, False, False))


@kind(3)
def attention(net, x):
    x = tokens(net, x)
    if x is None:
        return None
    shape = net.shape[x]
    c, heads = shape[-1], 1
    q, k, v = x, x, x
    if len(shape) == 3 and net.chance(0.7):
        heads = net.any(1, 2, 4)
        d = net.any(4, 8, 16)
        split_heads = []
        for _ in range(3):
            w = net.weights(c, c, heads * d)
            y = net.add("MatMul x, constant%s" % list(w.shape), [x],
                        lambda p, w=w: op.matmul(p, op.constant(w), False, False))
            y = net.add("Reshape heads", [y], lambda p: op.reshape(p, i64([0, 0, heads, d]), True))
            split_heads.append(net.add("Transpose [0, 2, 1, 3]", [y], lambda p: op.transpose(p, i64([0, 2, 1, 3]))))
        q, k, v = split_heads
    if net.chance(0.4):
        causal = net.chance(0.3)
        mask = None if causal else attention_mask(net, net.shape[q])
        more = {} if mask is None else {"attention_mask": op.constant(mask)}
        y = net.add("ScaledDotProductAttention causal=%s mask=%s" % (causal, None if mask is None else (mask.dtype, mask.shape)),
                    [q, k, v], lambda a, b, d: op.scaled_dot_product_attention(a, b, d, causal=causal, **more))
    else:
        y = attention_in_nodes(net, q, k, v)
    if len(net.shape[y]) == 4 and net.chance(0.7):
        y = net.add("Transpose [0, 2, 1, 3]", [y], lambda p: op.transpose(p, i64([0, 2, 1, 3])))
        y = net.add("Reshape [0, 0, -1]", [y], lambda p: op.reshape(p, i64([0, 0, -1]), True))
    return y


@kind(3)
def tokens_and_back(net, x):
    """What vision transformers do between convolutions."""
    shape = net.shape[x]
    if len(shape) not in (4, 5):
        return None
    n, c = shape[:2]
    y = tokens(net, x) if len(shape) == 4 else None
    if y is None or len(net.shape[y]) != 3:
        return None
    for f in net.rng.permutation([layer_norm, product, with_constant, unary, with_other])[:net.any(0, 1, 2)]:
        y = f(net, y) or y
    t = net.shape[y]
    if len(t) != 3 or t[1] != int(np.prod(shape[2:])):
        return y
    if net.chance(0.5):
        y = net.add("Transpose [0, 2, 1]", [y], lambda p: op.transpose(p, i64([0, 2, 1])))
        return net.add("Reshape back", [y], lambda p: op.reshape(p, i64([0, t[2], *shape[2:]]), True))
    y = net.add("Reshape back", [y], lambda p: op.reshape(p, i64([t[0], *shape[2:], t[2]]), False))
    return net.add("Transpose [0, 3, 1, 2]", [y], lambda p: op.transpose(p, i64([0, 3, 1, 2])))


@kind(3)
def view(net, x):
    """Spatial dims joined, or split again: (n,c,h,w) as (n,c,hw) and back."""
    shape = net.shape[x]
    if len(shape) < 3:
        return None
    plane = int(np.prod(shape[2:]))
    if len(shape) > 3 and net.chance(0.7):
        new = [*shape[:2], plane] if net.chance(0.8) else [*shape[:2], shape[2], -1]
    else:
        a = net.any(1, *divisors(plane), plane)
        new = net.any([*shape[:2], a, plane // a], [*shape[:2], 1, plane], [*shape[:2], a, 1, plane // a])
    if -1 not in new:
        new, zero = as_pattern(net, shape, new)
    else:
        zero = False
    return net.add("Reshape %s special_zero=%s" % (new, zero), [x], lambda p: op.reshape(p, i64(new), zero))


@kind(10)
def behind_layouts(net, x):
    """Something that computes behind a chain of what only moves elements, mostly between planes and tokens."""
    for _ in range(net.any(1, 2, 2, 3)):
        move = net.any(view, view, turn, turn, turn, transpose, slices, concat, split, squeeze, interpolate, pool,
                       reshape, shuffle)
        x = move(net, x) or x
    last = net.any(unary, unary, with_constant, with_constant, with_other, norm, softmax, product, layer_norm,
                   reduction, convolution, group_convolution, product_of_two, concat)
    return last(net, x) or x


def turn(net, x):
    """Channels last, or back, or the last two dims."""
    n = len(net.shape[x])
    if n < 3:
        return None
    order = net.any([0, *range(2, n), 1], [0, n - 1, *range(1, n - 1)], [*range(n - 2), n - 1, n - 2])
    return net.add("Transpose %s" % order, [x], lambda p: op.transpose(p, i64(order)))


@kind(2)
def gated(net, x):
    """One half of x times what becomes of the other, as in gated units."""
    shape = net.shape[x]
    axis = net.any(*[i for i, v in enumerate(shape) if v % 2 == 0])
    a = net.add("Split axis=%d 2" % axis, [x], lambda p: op.split(p, i64(axis), 2))
    b = a + 1
    if net.chance(0.5):
        a, b = b, a
    y = activation(net, b)
    if net.chance(0.3):
        y = with_constant(net, y) or y
    y = net.add("Multiply", [a, y], op.multiply) if net.shape[y] == net.shape[a] else y
    return net.add("Concat axis=%d" % axis, [y, b], lambda p, q: op.concat([p, q], axis)) if net.chance(0.3) else y


@kind(2)
def branches(net, x):
    """Several ways from x, joined along channels, as in Inception, DenseNet, ShuffleNet."""
    shape = net.shape[x]
    n = len(shape) - 2
    if not 1 <= n <= 3:
        return None
    ends = []
    for _ in range(net.any(2, 2, 3)):
        what, c = net.any("1", "3", "1 3", "pool", "itself", "unary"), net.any(4, 8, 12, 16, 24, 32)
        y = x
        for k in what.split() if what[0] in "13" else ():
            y = same_convolution(net, y, c, int(k))
        if what == "pool":
            y = net.add("MaxPool 3 1 1", [y], lambda p: op.max_pool(p, [1] * n, [1] * n, [1] * n, [1] * n, [3] * n))
        ends.append(activation(net, y) if what == "unary" else y)
    return net.add("Concat axis=1", ends, lambda *p: op.concat(list(p), 1))


def same_convolution(net, x, channels, k):
    n, cin = len(net.shape[x]) - 2, net.shape[x][1]
    w, pad = weights(net, cin * k**n, channels, cin, *[k] * n), [k // 2] * n
    y = net.add("Convolution k%s s1 same" % ([k] * n), [x],
                lambda p: op.convolution(p, w(), [1] * n, pad, pad, [1] * n))
    return finish(net, y, channels)
