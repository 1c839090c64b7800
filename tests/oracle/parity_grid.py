"""Families of parity_op.py that go through the values an attribute may have: padding and rounding of
windows, broadcasting, axes, modes of normalisations, integer arithmetic, conversions, slices, scatters."""
import itertools

import numpy as np

from parity_rare import distinct

INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)


def i64(c, v):
    return c.const(v, np.int64)


def windows(c):
    """auto_pad, strides, dilations and rounding of every kind of window in one to three dims."""
    o = c.ov.opset14
    for n, auto, k, s, d in itertools.product((1, 2, 3), ("same_upper", "same_lower", "valid", "explicit"), (2, 3), (1, 3), (1, 2)):
        if (n != 2 or auto == "explicit") and (k, s) == (2, 1):
            continue
        size, pad = [8, 9, 7][:n], [1] * n
        lists = [s] * n, pad, pad, [d] * n, auto
        label = "%dd %s k=%d s=%d d=%d" % (n, auto, k, s, d)
        w, g = c.real(4, 2, *[k] * n), c.real(2, 3, 1, *[k] * n)
        c.add("conv " + label, lambda x: o.convolution(x, c.const(w), *lists), c.real(1, 2, *size))
        c.add("group conv " + label, lambda x: o.group_convolution(x, c.const(g), *lists), c.real(1, 2, *size))
        t = c.real(2, 3, *[k] * n)
        for out in (None, [s * v for v in size]):
            if out is None and auto.startswith("same") or out and auto == "explicit":
                continue
            shape = None if out is None else i64(c, out)
            if auto != "valid" or out is None:
                c.add("deconv %s %s" % (label, out), lambda x: o.convolution_backprop_data(
                    x, c.const(t), [s] * n, shape, pad, pad, [d] * n, auto), c.real(1, 2, *size))
        for rounding in ("floor", "ceil", "ceil_torch"):
            if auto != "explicit" and rounding == "ceil_torch":
                continue
            c.add("max pool %s %s" % (label, rounding), lambda x: o.max_pool(
                x, [s] * n, [d] * n, pad, pad, [k] * n, rounding, auto, "i64", 2 if d == 2 else 0), c.real(2, 2, *size))
            if d == 1:
                for ex in (True, False):
                    if (n, auto, k, ex, rounding) == (3, "explicit", 2, True, "ceil"):
                        continue     # the mean of nothing is 0 there, and not a number elsewhere
                    c.add("avg pool %s %s %s" % (label, rounding, ex), lambda x: o.avg_pool(
                        x, [s] * n, pad, pad, [k] * n, ex, rounding, auto), c.real(2, 2, *size))
    for extra, out, pads in itertools.product(([0, 0], [1, 0], [1, 1]), (None, [13, 14], [14, 15]), ([0, 0], [1, 1])):
        c.add("deconv +%s %s %s" % (extra, out, pads), lambda x: o.convolution_backprop_data(
            x, c.const(c.real(2, 3, 3, 3)), [2, 2], None if out is None else i64(c, out), pads, pads, [1, 1], "explicit", extra),
            c.real(1, 2, 6, 7))
    for rounding, lo, hi, k, s in itertools.product(("floor", "ceil", "ceil_torch"), ([0, 0], [1, 0], [1, 1]), ([0, 0], [0, 1], [1, 1]), (2, 3), (2, 3)):
        label = "%s %s %s k=%d s=%d" % (rounding, lo, hi, k, s)
        c.add("avg pool asymmetric " + label, lambda x: o.avg_pool(x, [s, s], lo, hi, [k, k], False, rounding), c.real(1, 2, 7, 8))
        c.add("max pool asymmetric " + label, lambda x: o.max_pool(x, [s, s], [1, 1], lo, hi, [k, k], rounding), c.real(1, 2, 7, 8))


def broadcasts(c):
    o = c.ov.opset13
    shapes = (((2, 3, 4), (4,), -1), ((2, 3, 4), (3, 4), 1), ((2, 3, 4), (3,), 1), ((2, 3, 4), (2, 3), 0), ((2, 3, 4), (3, 1), 1),
              ((2, 3, 4), (), -1), ((2, 3, 4, 5), (3, 4), 1), ((2, 3), (2, 3), -1), ((2, 3, 4), (2,), 0))
    pdpd = ("add", "multiply", "maximum", "minimum", "floor_mod", "squared_difference", "power")     # the plugin has no others
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "mod", "floor_mod", "squared_difference", "power",
                 "equal", "less", "greater_equal"):
        for a, b, axis in shapes if name in pdpd else ():
            c.add("%s pdpd %s %s %d" % (name, a, b, axis), lambda p, q: c.make(name, [p, q], auto_broadcast="pdpd", **{"auto_broadcast.auto_broadcast_axis": axis}),
                  c.real(*a, lo=0.5, hi=3), c.real(*b, lo=0.5, hi=3))
        for b in ((2, 3), ()) if name in pdpd else ():
            c.add("%s pdpd %s" % (name, b), lambda p, q: c.make(name, [p, q], auto_broadcast="pdpd"), c.real(2, 3, 4, lo=0.5, hi=3), c.real(*b, lo=0.5, hi=3))
        c.add(name + " none", lambda p, q: getattr(o, name)(p, q, "NONE"), c.real(2, 3, lo=0.5), c.real(2, 3, lo=0.5))
        for a, b in (((0, 3), (1, 3)), ((2, 1, 1, 1, 3), (4, 2, 1, 1)), ((1, 1), ()), ((5, 1, 2, 1), (1, 3, 1, 4))):
            c.add("%s %s %s" % (name, a, b), getattr(o, name), c.real(*a, lo=0.5, hi=3), c.real(*b, lo=0.5, hi=3))
    for name in ("logical_and", "logical_or", "logical_xor"):
        for a, b in (((2, 3, 4), (3, 1)), ((4,), (2, 3, 4)), ((), (3,))):
            c.add("%s %s %s" % (name, a, b), getattr(o, name), c.ints(*a, hi=2) > 0, c.ints(*b, hi=2) > 0)
    for a, b, axis in shapes[:1] + shapes[7:8]:
        c.add("select pdpd %s %d" % (b, axis), lambda k, p, q: c.make("Select", [k, p, q], auto_broadcast="pdpd", **{"auto_broadcast.auto_broadcast_axis": axis}),
              c.ints(*b, hi=2) > 0, c.real(*a), c.real(*a))
    for mode, shape, target, axes in (
            ("NUMPY", (3, 1), [2, 3, 4], None), ("NUMPY", (1,), [3, 1, 2], None), ("NUMPY", (), [2, 3], None),
            ("BIDIRECTIONAL", (3, 1), [1, 4], None), ("BIDIRECTIONAL", (2, 1, 4), [3, 1], None), ("BIDIRECTIONAL", (4,), [1], None),
            ("EXPLICIT", (3, 4), [2, 3, 4, 5], [1, 2]), ("EXPLICIT", (3, 5), [3, 4, 5], [0, 2]), ("EXPLICIT", (1,), [3], [0])):
        for kind in (np.float32, np.int64, np.int8, np.bool_):
            c.add("broadcast %s %s %s %s" % (mode, shape, target, kind.__name__), lambda p: o.broadcast(
                p, i64(c, target), None if axes is None else i64(c, axes), mode), c.ints(*shape, hi=2).astype(kind))


def reductions(c):
    o = c.ov.opset13
    names = ["reduce_" + n for n in ("mean", "sum", "max", "min", "prod", "l1", "l2")]
    for name, axes, keep in itertools.product(names, ([], 1, -1, [-1, 0], [2, 0, 1], [-3]), (True, False)):
        if axes == [] and not keep:
            continue             # refused by the plugin
        c.add("%s %s %s" % (name, axes, keep), lambda p: getattr(o, name)(p, i64(c, axes), keep), c.real(2, 3, 5, lo=-1.5, hi=1.5))
    for name, axes, kind in itertools.product(names, ([0], [1]), (np.int32, np.int64, np.uint8, np.int8)):
        c.add("%s %s %s" % (name, axes, kind.__name__), lambda p: getattr(o, name)(p, i64(c, axes), False),
              c.ints(3, 5, lo=-3 if kind().dtype.kind == "i" else 0, hi=5, dtype=kind))
    for name, axes, keep in itertools.product(("reduce_logical_and", "reduce_logical_or"), ([], 0, [-1], [0, 1]), (True, False)):
        if axes == [] and not keep:
            continue
        c.add("%s %s %s" % (name, axes, keep), lambda p: getattr(o, name)(p, i64(c, axes), keep), c.ints(3, 4, hi=3) > 0)
    for name in names + ["reduce_logical_and"]:
        x = c.real(2, 0, 3)
        c.add(name + " of nothing", lambda p: getattr(o, name)(p, i64(c, [1]), True), x > 0 if "logical" in name else x)
    for kind in INTEGERS:                # the plugin has no limits but those of i32
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        for name, value in (("max", least), ("min", most), ("sum", 0), ("prod", 1), ("mean", 0)):
            c.add("reduce_%s of nothing %s" % (name, kind.__name__), lambda p: getattr(o, "reduce_" + name)(p, i64(c, [1]), False),
                  np.zeros((2, 0, 3), kind), want=np.full((2, 3), value, kind))


def norms(c):
    o = c.ov.opset13
    for shape in ((7,), (2, 7), (2, 3, 7), (2, 3, 4, 5), (2, 3, 2, 2, 3), (1, 1), (2, 3, 1)):
        for axis in range(-len(shape), len(shape)):
            c.add("softmax %s %d" % (shape, axis), lambda x: o.softmax(x, axis), c.real(*shape, lo=-9, hi=9))
            c.add("log_softmax %s %d" % (shape, axis), lambda x: o.log_softmax(x, axis), c.real(*shape, lo=-9, hi=9))
        if len(shape) > 1:
            c.add("softmax-1 %s" % (shape,), lambda x: c.ov.opset1.softmax(x, 1), c.real(*shape))
    for axes, var, mode, eps in itertools.product(([1], [-1], [1, 2], [2, 3], [1, 2, 3], [0, 1, 2, 3], [0, 3], [3, 2]), (True, False),
                                                  ("inside_sqrt", "outside_sqrt"), (1e-6, 0.1)):
        c.add("mvn %s %s %s %g" % (axes, var, mode, eps), lambda x: o.mvn(x, i64(c, axes), var, eps, mode), c.real(2, 3, 4, 5))
    for shape, across, var, eps in itertools.product(((2, 3, 4, 5), (2, 3, 4), (2, 3, 4, 2, 3)), (True, False), (True, False), (1e-9, 0.1)):
        c.add("mvn-2 %s %s %s %g" % (shape, across, var, eps), lambda x: c.make(
            "MVN", [x], "opset2", eps=eps, across_channels=across, normalize_variance=var), c.real(*shape))
    for axes, size, (alpha, beta, bias) in itertools.product(([1], [2, 3], [1, 2, 3]), (1, 3, 5, 4), ((0.5, 0.75, 1.0), (2.0, 1.0, 2.0))):
        c.add("lrn %s %d %g" % (axes, size, alpha), lambda x: o.lrn(x, i64(c, axes), alpha, beta, bias, size), c.real(2, 7, 5, 6))
    c.add("lrn 2d", lambda x: o.lrn(x, i64(c, [1]), 1.0, 0.75, 1.0, 3), c.real(2, 7))
    c.add("lrn 3d", lambda x: o.lrn(x, i64(c, [1]), 1.0, 0.75, 1.0, 3), c.real(2, 7, 3))
    c.add("lrn 5d", lambda x: o.lrn(x, i64(c, [1]), 1.0, 0.75, 1.0, 3), c.real(1, 7, 3, 2, 2))
    for axes, mode, eps in itertools.product(([], [1], [0], [-1], [2, 3], [1, 2, 3], [0, 1, 2, 3], [3, 1]), ("add", "max"), (1e-6, 0.5)):
        c.add("normalize_l2 %s %s %g" % (axes, mode, eps), lambda x: o.normalize_l2(x, i64(c, axes), eps, mode), c.real(2, 3, 4, 5))
    for shape, axes in (((5,), [0]), ((2, 5), [1]), ((2, 3, 5), [1]), ((2, 3, 5), [1, 2])):
        c.add("normalize_l2 %s %s" % (shape, axes), lambda x: o.normalize_l2(x, i64(c, axes), 1e-3, "add"), c.real(*shape))
    for shape, groups, eps in itertools.product(((2, 6), (2, 6, 5), (2, 6, 4, 5), (1, 6, 2, 3, 2)), (1, 2, 3, 6), (1e-3, 0.1)):
        s, b = c.real(6), c.real(6)
        c.add("group_norm %s %d %g" % (shape, groups, eps), lambda x: o.group_normalization(x, c.const(s), c.const(b), groups, eps), c.real(*shape))
    for shape in ((2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 2, 2)):
        k = lambda lo, hi: c.const(c.real(3, lo=lo, hi=hi))
        c.add("batch_norm %s" % (shape,), lambda x: o.batch_norm_inference(x, k(0.5, 2), k(-1, 1), k(-1, 1), k(0.5, 2), 1e-3), c.real(*shape))
        c.add("batch_norm-1 %s" % (shape,), lambda x: c.ov.opset1.batch_norm_inference(x, k(0.5, 2), k(-1, 1), k(-1, 1), k(0.5, 2), 1e-3), c.real(*shape))


def spread(c, kind, n, lo, hi):
    """n integers of a type, within its range."""
    t = np.iinfo(kind)
    return c.rng.integers(max(lo, t.min), min(hi, t.max), n, endpoint=True).astype(kind)


def integers(c):
    """Arithmetic of the integer types: negative operands, results beyond the type."""
    o = c.ov.opset15
    for kind in INTEGERS:
        small, name = spread(c, kind, 24, -9, 9), kind.__name__
        other = np.where(spread(c, kind, 24, -4, 4) == 0, 3, spread(c, kind, 24, 1, 4)).astype(kind)
        if kind().dtype.kind == "i":
            other[::2] = -other[::2]
        for op in ("add", "subtract", "multiply", "maximum", "minimum", "squared_difference", "floor_mod", "mod"):
            if op != "squared_difference" or kind().itemsize > 1:         # the plugin saturates the difference too
                c.add("%s %s" % (op, name), getattr(o, op), small, other)
        for python in (True, False):
            c.add("divide %s %s" % (name, python), lambda p, q: c.make("Divide", [p, q], m_pythondiv=python), small, other)
        c.add("power " + name, o.power, small, spread(c, kind, 24, 0, 2))
        for op in ("equal", "less", "greater_equal", "not_equal"):
            c.add("%s %s" % (op, name), getattr(o, op), small, other)
        for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            c.add("%s %s" % (op, name), getattr(o, op), small, other)
        for op in ("bitwise_left_shift", "bitwise_right_shift"):
            c.add("%s %s" % (op, name), getattr(o, op), spread(c, kind, 24, 0, 9), spread(c, kind, 24, 0, 3))
        for op in ("abs", "sign", "relu", "bitwise_not", "negative"):
            if op != "negative" or kind().dtype.kind == "i":
                c.add("%s %s" % (op, name), getattr(o, op), small)
        c.add("clamp " + name, lambda p: o.clamp(p, -2.5, 5.5), small)
        c.add("cum_sum " + name, lambda p: o.cumsum(p, i64(c, 0)), small)
        c.add("select " + name, o.select, small > 2, small, other)


def rounded(c):
    """What operators with real values give as integers: rounded to the nearest, and limited in 8 bits."""
    o = c.ov.opset15
    for kind in INTEGERS:
        name, signed = kind.__name__, kind().dtype.kind == "i"
        x = np.array([-120, -90, -30, -7, -5, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 11] if signed else [0, 1, 2, 3, 4, 5, 7, 11, 30, 90, 200], kind)
        for f in "asinh atan cos erf floor ceiling hsigmoid hswish log sigmoid sin sqrt tan tanh".split():
            c.add("%s %s" % (f, name), getattr(o, f), x)
        for f in ("exp", "cosh", "sinh"):           # beyond 8 bits, not beyond 32: the plugin has no more
            c.add("%s %s" % (f, name), getattr(o, f), x if kind().itemsize == 1 else x[np.abs(x.astype(int)) <= 12])
        for f in ("acos", "acosh", "asin", "atanh"):
            c.add("%s %s" % (f, name), getattr(o, f), x if signed else np.array([1, 1, 1], kind))
        c.add("elu " + name, lambda p: o.elu(p, 0.7), x)
        x = spread(c, kind, 210, -9, 22).reshape(2, 3, 5, 7)
        c.add("avg_pool " + name, lambda p: o.avg_pool(p, [2, 2], [1, 1], [1, 1], [3, 3], True), x)
        c.add("adaptive_avg_pool " + name, lambda p: o.adaptive_avg_pool(p, i64(c, [2, 2])), x)
        for variance in (True, False):
            c.add("mvn %s %s" % (name, variance), lambda p: o.mvn(p, i64(c, [2, 3]), variance, 1e-6, "inside_sqrt"), x)
        c.add("softmax " + name, lambda p: o.softmax(p, 1), x)
        c.add("lrn " + name, lambda p: o.lrn(p, i64(c, [1]), 1.0, 0.75, 1.0, 3), x)
        c.add("grn " + name, lambda p: o.grn(p, 1e-3), x)
        if kind().itemsize == 1:
            c.add("normalize_l2 " + name, lambda p: o.normalize_l2(p, i64(c, [1]), 1e-6, "add"), x)
            c.add("matmul " + name, lambda p: o.matmul(p, c.const(np.arange(14).reshape(7, 2), kind), False, False), x)
        for f in ("mean", "l2") if kind().itemsize > 1 else ():      # these are cut off; the plugin's sums of bytes have 8 bits
            c.add("reduce_%s %s" % (f, name), lambda p: getattr(o, "reduce_" + f)(p, i64(c, [2, 3]), False), x)
        if kind in (np.int8, np.uint8, np.int32, np.int64):
            modes = ("nearest", "linear", "linear_onnx", "cubic") + ("bilinear_pillow", "bicubic_pillow") * (kind().itemsize == 1)
            for mode, size in itertools.product(modes, ([7, 9], [3, 5])):        # with odd sizes few sums end in a half
                c.add("interpolate %s %s %s" % (name, mode, size), lambda p: o.interpolate(
                    p, i64(c, size), mode, "sizes", [0] * 4, [0] * 4, "half_pixel", axes=i64(c, [2, 3])), x)
        if signed:
            c.add("power of nothing " + name, lambda p: o.power(p, c.const(-1, kind)), np.array([0, 1, 2, -1, -2], kind))
    c.add("sign", o.sign, np.array([np.nan, 1, -2, 0, -0.0, np.inf, -np.inf], np.float32))


def folded(c):
    """Integers of constants: OpenVINO folds them by its reference implementations, which differ from its plugin."""
    o = c.ov.opset15
    for kind in (np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        name, signed = kind.__name__, kind().dtype.kind == "i"
        x = np.array([-7, -5, -1, 4, 5, 7, 9, -6, 6] if signed else [7, 5, 1, 4, 5, 7, 9, 6, 6], kind)
        y = np.array([2, 3, 4, 5, -3, -2, 4, 3, -3] if signed else [2, 3, 4, 5, 3, 2, 4, 3, 3], kind)
        for python in (True, False):
            divide = lambda a, b: c.make("Divide", [a, b], m_pythondiv=python)
            c.add("divide %s %s" % (name, python), lambda p: o.add(p, divide(c.const(x), c.const(y))), x)
            c.add("divide %s %s by one" % (name, python), lambda p: o.add(p, divide(c.const(x), c.const(y[:1]))), x)
            c.add("divide %s %s at run time" % (name, python), lambda p: divide(p, c.const(y)), x)
        for f in ("mod", "floor_mod"):
            c.add("%s %s" % (f, name), lambda p: o.add(p, getattr(o, f)(c.const(x), c.const(y))), x)
        few = np.array([0, 1, 2, 3, 4, 5, 7, 1, 1], kind)
        for f in "acosh asin asinh atan cos cosh erf exp sigmoid sin sinh sqrt tan tanh".split() if kind in (np.int32, np.int64) else ():
            z = np.minimum(few, 1) if f == "asin" else np.maximum(few, 1)
            c.add("%s %s" % (f, name), lambda p: o.add(p, getattr(o, f)(c.const(z))), few)
    x = c.real(3, 8)
    half = lambda shape: o.divide(o.negative(o.gather(shape, i64(c, [1]), i64(c, 0))), i64(c, [3]))
    c.add("a third of a dim", lambda p: o.slice(p, half(o.shape_of(p)), i64(c, [8]), i64(c, [1]), i64(c, [1])), x)
    c.add("an element at a quotient", lambda p: o.gather(p, o.divide(i64(c, [-7]), i64(c, [2])), i64(c, 1)), x)


def wide(c):
    """64 bits: what OpenVINO's reference implementations give, as its plugin has 32 bits only."""
    c.exact = True
    o = c.ov.opset13
    for kind in (np.int64, np.uint64):
        big = (np.array([2**53 + 1, 2**62 + 3, 2**40 + 7, 5, 2**63 - 1, 2**33 + 1]) - (0 if kind == np.uint64 else 2**61)).astype(kind)
        if kind == np.uint64:
            big[3:] += np.uint64(2**63)
        other = np.array([3, 2**31 + 11, 7, 2**53 + 3, 2, 2**52 + 1]).astype(kind)
        n = kind.__name__
        for op in ("add", "subtract", "multiply", "maximum", "minimum", "mod", "equal",
                   "less", "greater", "greater_equal", "less_equal", "not_equal"):
            c.add("%s %s" % (op, n), getattr(o, op), big, other)
        for op in ("sum", "max", "min", "prod"):
            c.add("reduce_%s %s" % (op, n), lambda p: getattr(o, "reduce_" + op)(p, i64(c, [0]), False), big)
        for op in ("abs", "sign", "negative", "relu"):
            if kind == np.int64 or op in ("sign", "relu"):
                c.add("%s %s" % (op, n), getattr(o, op), big)
        c.add("clamp " + n, lambda p: o.clamp(p, 4.0, 2.0**60), big)
        c.add("gather " + n, lambda p: o.gather(p, i64(c, [5, -1, 0, -6]), i64(c, 0)), big)
        c.add("select " + n, lambda p, q: o.select(o.less(p, q), p, q), big, other)
        c.add("topk " + n, lambda p: o.topk(p, i64(c, 4), 0, "max", "value"), big)
        c.add("divide " + n, lambda p, q: c.make("Divide", [p, q], m_pythondiv=False), big, other)
        for to in ("i64", "u64", "f64", "f32", "i32", "u8"):
            c.add("convert %s %s" % (n, to), lambda p: o.convert(p, to), big)
        c.add("scatter " + n, lambda p, q: o.scatter_elements_update(p, i64(c, [1, 4]), q, i64(c, 0), "sum"), big, other[:2])
        c.add("tile pad concat " + n, lambda p, q: o.pad(o.concat([o.tile(p, i64(c, [2])), q], 0), i64(c, [1]), i64(c, [2]), "reflect"), big, other)


def double(c):
    """f64, which OpenVINO's plugin computes as f32: NumPy is the oracle, to 1e-13."""
    o = c.ov.opset13
    x, y = c.rng.uniform(-1, 1, (4, 5)), c.rng.uniform(0.5, 1, (4, 5))
    near = lambda v: np.asarray(v) * 2.0**40             # differences of the last bits count
    for name, f in (("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide), ("maximum", np.maximum),
                    ("minimum", np.minimum), ("mod", np.fmod), ("floor_mod", np.mod), ("less", np.less), ("equal", np.equal)):
        c.add("%s f64" % name, getattr(o, name), x, y, want=f(x, y))
    c.add("power f64", o.power, y, x, want=np.power(y, x))
    for name, f in (("exp", np.exp), ("log", np.log), ("sqrt", np.sqrt), ("tanh", np.tanh), ("sin", np.sin), ("floor", np.floor), ("atan", np.arctan),
                    ("abs", np.abs), ("softplus", lambda v: np.log1p(np.exp(v))), ("sigmoid", lambda v: 1 / (1 + np.exp(-v)))):
        c.add("%s f64" % name, getattr(o, name), y, want=f(y))
    for name, f in (("mean", np.mean), ("sum", np.sum), ("max", np.max), ("min", np.min), ("prod", np.prod)):
        c.add("reduce_%s f64" % name, lambda p: getattr(o, "reduce_" + name)(p, i64(c, [1]), True), x, want=f(x, axis=1, keepdims=True))
    c.add("cum_sum f64", lambda p: o.cumsum(p, i64(c, 1)), x, want=np.cumsum(x, 1))
    c.add("transpose slice f64", lambda p: o.slice(o.transpose(p, i64(c, [1, 0])), i64(c, [4]), i64(c, [0]), i64(c, [-2]), i64(c, [0])), x, want=x.T[4:0:-2])
    c.add("gather concat f64", lambda p, q: o.gather(o.concat([p, q], 0), i64(c, [7, -1, 0]), i64(c, 0)), x, y, want=np.concatenate([x, y])[[7, -1, 0]])
    c.add("convert f64 i64", lambda p: o.convert(p, "i64"), near(x), want=np.trunc(near(x)).astype(np.int64))
    c.add("select f64", lambda p, q: o.select(o.less(p, q), p, q), x, y, want=np.minimum(x, y))


def conversions(c):
    """Between all types: values within both, then those that are not."""
    o = c.ov.opset13
    kinds = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "boolean": np.bool_}
    kinds.update({("i" if k().dtype.kind == "i" else "u") + str(8 * k().itemsize): k for k in INTEGERS})
    for a, b in itertools.product(kinds, kinds):
        c.add("convert %s %s" % (a, b), lambda p: o.convert(p, b), (c.ints(9, hi=100) / 2).astype(kinds[a]))
    c.add("round to even", lambda p: o.convert(p, "f16"), np.array([2049, 2051, 65519, 65520, 1e-8, 6e-8, -0.0, np.inf, np.nan], np.float32))
    for a, b in itertools.product(("f32", "i32", "i64", "f16"), ("u8", "i8", "u16", "i16", "i32", "u32", "boolean")):
        x = np.array([-1, 255, 256, 300, -129, 128, -300, 65504, 60000, -40000, 0.4, -0.6]).astype(kinds[a])
        c.add("convert %s %s beyond" % (a, b), lambda p: o.convert(p, b), x)
    c.add("convert f32 i32 beyond", lambda p: o.convert(p, "i32"), np.array([3e9, -3e9, 2**31, -2**31, np.inf, -np.inf], np.float32))
    c.add("convert f32 boolean", lambda p: o.convert(p, "boolean"), np.array([0.3, -0.0, 1e9, 2], np.float32))


def slices(c):
    o = c.ov.opset13
    for kind in (np.float32, np.int8, np.float16, np.int64):
        for mode, lo, hi in itertools.product(("constant", "edge", "reflect", "symmetric"), ([1, 2], [-1, 1], [0, -2], [2, -1], [-1, -1]), ([0, 3], [-1, -2], [2, -1])):
            if mode in ("reflect", "symmetric") and max(lo + hi) > 3:
                continue
            c.add("pad %s %s %s %s" % (mode, lo, hi, kind.__name__), lambda p: o.pad(
                p, i64(c, lo), i64(c, hi), mode, c.const(3, kind)), c.ints(4, 6).astype(kind))
    c.add("pad without value", lambda p: o.pad(p, i64(c, [1]), i64(c, [1]), "constant"), c.real(3))
    for begin, end, new, shrink, ell in itertools.product(((0, 0), (1, 0), (0, 1)), ((0, 0), (0, 1), (1, 1)), ((), (1, 0), (0, 1)), ((), (1, 0), (0, 1)), ((), (1, 0), (0, 1))):
        if ell and (new == ell or shrink == ell) or new and shrink or any(a and b for a, b in zip(begin, shrink)):
            continue             # the plugin's results are not those of the reference, some from outside its memory
        c.add("strided_slice %s %s %s %s %s" % (begin, end, new, shrink, ell), lambda p: o.strided_slice(
            p, i64(c, [1, 2]), i64(c, [3, 4]), i64(c, [1, 1]), list(begin), list(end), list(new), list(shrink), list(ell)), c.real(4, 5, 6))
    for b, e, s in (([-1], [-9], [-2]), ([3], [0], [-1]), ([0], [9], [3]), ([-2], [9], [1]), ([9], [-9], [-1]), ([2], [1], [1])):
        c.add("strided_slice %s %s %s" % (b, e, s), lambda p: o.strided_slice(p, i64(c, b), i64(c, e), i64(c, s), [0], [0]), c.real(5, 3))
        c.add("slice %s %s %s" % (b, e, s), lambda p: o.slice(p, i64(c, b), i64(c, e), i64(c, s), i64(c, [-1])), c.real(3, 5))
    c.add("strided_slice without strides", lambda p: c.make("StridedSlice", [p, i64(c, [1, 0]), i64(c, [3, 2])], begin_mask=[0, 1], end_mask=[0, 0]), c.real(4, 5))
    for axis, sections in ((0, [1, 3]), (-2, [-1, 0, 2]), (1, [5]), (1, [0, 5])):
        c.add("variadic_split %d %s" % (axis, sections), lambda p: o.variadic_split(p, i64(c, axis), i64(c, sections)), c.real(4, 5))
    for axes in (None, [0], [-1], [0, -1], [1]):
        c.add("squeeze %s" % axes, lambda p: c.make("Squeeze", [p] if axes is None else [p, i64(c, axes)]), c.real(1, 3, 1) if axes != [1] else c.real(1, 1, 3))
    for axes in ([0], [-1], [0, 3], [1, -1], 1):
        c.add("unsqueeze %s" % axes, lambda p: o.unsqueeze(p, i64(c, axes)), c.real(2, 3))
    for pattern, zero, shape in (([0, -1], True, (2, 3, 4)), ([0, 0, -1, 2], True, (2, 3, 4)), ([-1], True, ()), ([], False, (1, 1)), ([2, 0], False, (0, 2)), ([0, 0], True, (0, 2)), ([4, -1], False, (2, 3, 4))):
        c.add("reshape %s %s" % (pattern, shape), lambda p: o.reshape(p, i64(c, pattern), zero), c.real(*shape))
    for axes, shift in (([0], [1]), ([1, 0], [-1, 2]), ([1, 1], [2, 3]), ([-1], [100]), ([0], [-7])):
        c.add("roll %s %s" % (axes, shift), lambda p: o.roll(p, i64(c, shift), i64(c, axes)), c.real(4, 5))
    for mode in ("index", "mask"):
        for axes in ([0], [1], [0, 1]):
            a = i64(c, axes) if mode == "index" else c.const([i in axes for i in range(2)])
            c.add("reverse %s %s" % (mode, axes), lambda p: c.make("Reverse", [p, a], "opset1", mode=mode), c.real(3, 4))
    for seq, batch in ((1, 0), (0, 1), (2, 0), (-1, 1)):
        c.add("reverse_sequence %d %d" % (seq, batch), lambda p: o.reverse_sequence(p, i64(c, [1, 3, 2][:3]), batch, seq), c.real(3, 3, 4))
    for order in ([], [2, 0, 1], [0, 2, 1]):
        c.add("transpose %s" % order, lambda p: o.transpose(p, i64(c, order)), c.real(2, 3, 4))
    for axis, exclusive, reverse in itertools.product((0, -1), (True, False), (True, False)):
        for kind in (np.int32, np.float32):
            c.add("cum_sum %d %s %s %s" % (axis, exclusive, reverse, kind.__name__), lambda p: o.cumsum(
                p, i64(c, axis), exclusive, reverse), c.ints(3, 4).astype(kind))
    for axis, block, mode in itertools.product((1,), (1, 2), ("blocks_first", "depth_first")):
        for shape in ((1, 16, 3), (1, 16, 2, 3), (1, 16, 2, 2, 3)):
            if block ** (len(shape) - 2) <= 16:
                c.add("depth_to_space %d %s %s" % (block, mode, shape), lambda p: o.depth_to_space(p, mode, block), c.real(*shape))
                wide_ = (*shape[:2], *[2 * v for v in shape[2:]])
                c.add("space_to_depth %d %s %s" % (block, mode, shape), lambda p: o.space_to_depth(p, mode, block), c.real(*wide_))
    for axis, group in ((0, 2), (-1, 3), (1, 2)):
        c.add("shuffle_channels %d %d" % (axis, group), lambda p: o.shuffle_channels(p, axis, group), c.real(4, 6, 3, 9))
    for depth, axis, kind in itertools.product((1, 4), (0, -1, 1), ("f32", "i32", "boolean")):
        t = {"f32": np.float32, "i32": np.int32, "boolean": np.bool_}[kind]
        c.add("one_hot %d %d %s" % (depth, axis, kind), lambda p: o.one_hot(p, i64(c, depth), c.const(1, t), c.const(0, t), axis),
              np.array([[0, 3, -1], [4, 2, 0]], np.int32))


def indices(c):
    o = c.ov.opset14
    for axis, batch, di, ii in ((1, 0, (3, 4), (2,)), (1, 1, (3, 4, 2), (3, 2)), (2, 1, (3, 4, 5), (3, 2)), (-1, -1, (3, 4), (3, 2)), (2, 2, (2, 3, 4), (2, 3, 2)), (1, 1, (3, 4), (3,))):
        for kind in (np.int32, np.int64):
            c.add("gather-8 %d %d %s %s %s" % (axis, batch, di, ii, kind.__name__), lambda p, i: o.gather(p, i, i64(c, axis), batch),
                  c.real(*di), c.ints(*ii, lo=-2, hi=2, dtype=kind))
    for kind in (np.uint8, np.int8, np.float16, np.int64, np.bool_):
        c.add("gather of %s" % kind.__name__, lambda p, i: o.gather(p, i, i64(c, 0)), c.ints(4, 3, hi=2).astype(kind), c.ints(5, hi=4))
    for axis in (0, 1, -1, 2):
        c.add("gather_elements %d" % axis, lambda p, i: o.gather_elements(p, i, axis), c.real(3, 3, 3), c.ints(3, 3, 3, lo=-3, hi=3))
    for batch, d, i in ((0, (3, 4), (2, 1)), (0, (3, 4), (2,)), (1, (2, 3, 4), (2, 1)), (1, (2, 3, 4), (2, 2, 1)), (2, (2, 3, 4, 5), (2, 3, 1)), (0, (3, 4, 5), (2, 3, 3))):
        for op in (c.ov.opset8, c.ov.opset5):
            c.add("gather_nd %d %s %s %s" % (batch, d, i, op.__name__[-1]), lambda p, q: op.gather_nd(p, q, batch), c.real(*d), c.ints(*i, lo=0, hi=2))
    at = np.array([[0, 1, 1], [2, 0, -1]], np.int32)
    for red, init, kind, axis in itertools.product(("none", "sum", "prod", "min", "max", "mean"), (True, False), (np.float32, np.int32, np.int64), (1, 0, -1)):
        if red == "none" and not init:
            continue
        where = at if red != "none" else np.array([[0, 1, 3], [1, 0, -1]], np.int32)
        where = where if axis else where % 2 if red != "none" else np.array([[0, 1, 1], [1, 0, 0]])
        c.add("scatter_elements %s %s %s %d" % (red, init, kind.__name__, axis), lambda x, u: o.scatter_elements_update(
            x, c.const(where, np.int32), u, i64(c, axis), red, init), c.ints(2, 5, lo=-5, hi=9).astype(kind), c.ints(2, 3, lo=-5, hi=9).astype(kind))
    pairs = np.array([[0, 1], [2, -2], [0, 1]], np.int32)
    for op, red in ((c.ov.opset15, r) for r in ("none", "sum", "sub", "prod", "min", "max")):
        for kind in (np.float32, np.int32):
            p = pairs[:2] if red == "none" else pairs
            c.add("scatter_nd %s %s" % (red, kind.__name__), lambda x, u: op.scatter_nd_update(x, c.const(p), u, red),
                  c.ints(4, 5, 2, lo=-5, hi=9).astype(kind), c.ints(len(p), 2, lo=-5, hi=9).astype(kind))
    for axis, shape in ((0, (2, 2, 5, 3)), (1, (4, 2, 2, 3)), (-1, (4, 5, 2, 2))):
        c.add("scatter_update %d" % axis, lambda x, u: o.scatter_update(x, c.const([[0, 2], [1, 3]], np.int32), u, i64(c, axis)),
              c.real(4, 5, 3) if axis != -1 else c.real(4, 5, 4), c.real(*shape))
    for mode, sort, axis, index in itertools.product(("max", "min"), ("value", "index", "none"), (0, -1), ("i32", "i64")):
        c.add("topk %s %s %d %s" % (mode, sort, axis, index), lambda x: o.topk(x, i64(c, 2), axis, mode, sort, index),
              c.rng.permutation(30).reshape(5, 6).astype(np.float32))
    for mode, sort in itertools.product(("max", "min"), ("value", "index")):
        c.add("topk stable %s %s" % (mode, sort), lambda x: c.ov.opset11.topk(x, i64(c, 5), -1, mode, sort, stable=True), c.ints(3, 8, hi=3).astype(np.float32))
        c.add("topk ties %s %s" % (mode, sort), lambda x: o.topk(x, i64(c, 5), -1, mode, sort), c.ints(3, 8, hi=3).astype(np.float32))
        # Which of equal ones OpenVINO takes depends on the processor; what lies there does not.
        c.add("topk one of ties %s %s" % (mode, sort), lambda x: o.gather_elements(x, o.topk(x, i64(c, 1), -1, mode, sort).output(1), -1),
              c.ints(3, 8, hi=3).astype(np.float32))
        c.add("topk i32 %s %s" % (mode, sort), lambda x: o.topk(x, i64(c, 3), -1, mode, sort), c.rng.permutation(24).reshape(3, 8).astype(np.int32))
        for k in (1, 5):    # lines beside each other, 35 and 102 of them; of ties the first
            c.add("topk beside %d %s %s" % (k, mode, sort), lambda x: o.topk(x, i64(c, k), 1, mode, sort), c.rng.permutation(420).reshape(2, 6, 5, 7).astype(np.float32))
            c.add("topk beside stable %d %s %s" % (k, mode, sort), lambda x: c.ov.opset11.topk(x, i64(c, k), 0, mode, sort, stable=True),
                  c.ints(9, 102, hi=4).astype(np.float32))
        c.add("topk all %s %s" % (mode, sort), lambda x: o.topk(x, i64(c, 8), -1, mode, sort), c.rng.permutation(24).reshape(3, 8).astype(np.float32))
    for right, kind, out in itertools.product((True, False), (np.float32, np.int32), ("i32", "i64")):
        c.add("bucketize %s %s %s" % (right, kind.__name__, out), lambda x: o.bucketize(x, c.const([-2, 0, 3, 3, 7], kind), out, right), c.ints(3, 7, lo=-4, hi=9).astype(kind))
    c.add("bucketize without buckets", lambda x: o.bucketize(x, c.const(np.zeros(0, np.float32))), c.real(4))
    for start, stop, step, t in ((0, 5, 1, "i32"), (5, -3, -2, "i64"), (0.5, 3.2, 0.4, "f32"), (1, 1, 1, "i32"), (0, 7, 3, "f32"), (5, 0, 1, "i32")):
        k = np.float32 if isinstance(step, float) else np.int64
        c.add("range %s %s %s %s" % (start, stop, step, t), lambda x: o.concat([o.range(c.const(start, k), c.const(stop, k), c.const(step, k), t), o.convert(x, t)], 0), c.ints(1))
    for rows, cols, shift, t in ((3, 4, 0, "f32"), (4, 3, -1, "i32"), (3, 3, 2, "i64"), (2, 5, -9, "u8")):
        c.add("eye %d %d %d %s" % (rows, cols, shift, t), lambda x: o.add(o.eye(i64(c, rows), i64(c, cols), i64(c, shift), t), o.convert(x, t)), c.ints(1))
    c.add("eye batch", lambda x: o.add(o.eye(i64(c, 2), i64(c, 3), i64(c, 1), "f32", i64(c, [2, 2])), x), c.real(1))
    for shape in ((4, 5), (7,), (2, 3, 4)):
        for kind in (np.float32, np.int32, np.bool_):
            c.add("non_zero %s %s" % (shape, kind.__name__), lambda x: o.non_zero(x), c.ints(*shape, hi=2).astype(kind))


def rarities(c):
    """Operators and attribute values that hardly any model has."""
    o, old = c.ov.opset16, c.ov.opset1
    odd = np.array([0.3, -1.7, 500, 70000, 1e-3, 3e-5, 60000, 449, -0.0, 6e-8], np.float32)
    for kind, scale, shift in itertools.product(("f8e4m3", "f8e5m2"), (1.0, 0.37, 16.0), (None, 0.5)):
        c.add("fake_convert %s %g %s" % (kind, scale, shift), lambda p: c.ov.opset13.fake_convert(
            p, c.const([scale], np.float32), None if shift is None else c.const([shift], np.float32), kind), odd)
    s = c.real(1, 3, 1, lo=0.5, hi=2)
    c.add("fake_convert channels", lambda p: c.ov.opset13.fake_convert(p, c.const(s)), c.real(2, 3, 5, lo=-9, hi=9))
    for layout, planes, color, kind in itertools.product(("nv12", "i420"), (False, True), ("rgb", "bgr"), (np.uint8, np.float32)):
        shapes = [(2, 6, 6, 1)] if not planes else [(2, 4, 6, 1), (2, 2, 3, 2)] if layout == "nv12" else [(2, 4, 6, 1), (2, 2, 3, 1), (2, 2, 3, 1)]
        c.add("%s_to_%s %s %s" % (layout, color, planes, kind.__name__), getattr(o, "%s_to_%s" % (layout, color)),
              *[c.ints(*v, hi=256).astype(kind) for v in shapes])
    for h, sink in ((2, (1, 2, 1, 1)), (2, (1, 1, 1, 1)), (3, (2, 3, 1, 1))):
        for mask in (None, (5, 6)):
            arrays = [c.real(2, h, 5, 8), c.real(2, h, 6, 8), c.real(2, h, 6, 4)]
            arrays.append(c.real(*(mask or (1, 1)), lo=-3))
            c.add("attention %s %s" % (sink, mask), lambda q, k, v, m, e: c.make(
                "ScaledDotProductAttention", [q, k, v, m, c.const(0.5, np.float32), e], causal=False), *arrays, c.real(*sink))
    for rows, index in ((5, [[0, 1], [0, 3], [3, 0]]), (4, [[1, 2]]), (3, [[0, 0], [1, 1], [2, 2]]), (3, [[2, 1], [0, 1], [2, 0]])):
        c.add("sparse_fill_empty_rows %d %s" % (rows, index), lambda v: o.sparse_fill_empty_rows(
            v, i64(c, [rows, 9]), i64(c, index), c.const(-1, np.float32)), c.real(len(index)))
    for a, b in ((np.int32, np.float32), (np.uint8, np.int8), (np.int64, np.float16), (np.float32, np.float32), (np.uint8, np.int32)):
        c.add("convert_promote_types %s %s" % (a.__name__, b.__name__), lambda p, q: c.ov.opset14.convert_promote_types(p, q, True),
              c.ints(4).astype(a), c.ints(3).astype(b))
    for n in (1, 2, 4):
        c.add("inverse adjoint %d" % n, lambda p: c.ov.opset14.inverse(p, True), c.real(2, n, n) + 2 * np.eye(n, dtype=np.float32))
    for pads, deform, mask in itertools.product(([0, 0], [1, 1]), (1, 2), (False, True)):
        oh, ow = 7 + 2 * pads[0] - 2, 8 + 2 * pads[1] - 2
        arrays = [c.real(1, 4, 7, 8), c.real(1, 2 * deform * 9, oh, ow, lo=-2.5, hi=2.5)] + ([c.real(1, deform * 9, oh, ow, lo=0)] if mask else [])
        c.add("deformable bilinear pad %s %d %s" % (pads, deform, mask), lambda p, f, m=None: o.deformable_convolution(
            p, f, c.const(c.real(6, 4, 3, 3)), [1, 1], pads, pads, [1, 1], m, "EXPLICIT", 1, deform, True), *arrays)
    for auto, value in (("explicit", 0.0), ("explicit", 1.0), ("same_upper", -1.0), ("valid", 0.0)):
        w = c.ints(5, 8, 3, 3, hi=2)
        c.add("binary_convolution %s %g" % (auto, value), lambda p: c.make("BinaryConvolution", [p, o.convert(c.const(w), "u1")], "opset1",
              strides=[1, 1], pads_begin=[1, 1], pads_end=[1, 1], dilations=[1, 1], mode="xnor-popcount", pad_value=value, auto_pad=auto),
              c.ints(1, 8, 6, 7, hi=2).astype(np.float32))
    n, h, w, anchors = 1, 5, 6, 6
    for normalize, before, after in itertools.product((False, True), repeat=3):
        a = dict(base_size=np.uint32(16), pre_nms_topn=np.uint32(60), post_nms_topn=np.uint32(20), nms_thresh=0.6, feat_stride=np.uint32(16),
                 min_size=np.uint32(8), ratio=[0.5, 1.0, 2.0], scale=[2.0, 4.0], normalize=normalize, clip_before_nms=before,
                 clip_after_nms=after, framework="tensorflow", box_size_scale=5.0, box_coordinate_scale=10.0)
        scores = distinct(c, n, 2 * anchors, h, w)
        c.add("proposal tensorflow %s %s %s" % (normalize, before, after), lambda p, d: c.ov.opset4.proposal(
            p, d, c.const([80.0, 96.0, 1.0], np.float32), a), scores, c.real(n, 4 * anchors, h, w, lo=-2, hi=2))
    b, i, h = 2, 6, 4
    k = lambda *s: c.const(c.real(*s, lo=-0.5, hi=0.5))
    for forget in (False, True):
        c.add("lstm_cell-1 %s" % forget, lambda x, s, m: c.make("LSTMCell", [x, s, m, k(4 * h, i), k(4 * h, h), k(4 * h)], "opset1",
              hidden_size=h, input_forget=forget), c.real(b, i), c.real(b, h), c.real(b, h))
    for acts, clip in ((["sigmoid", "tanh", "relu"], 0.0), (["relu", "sigmoid", "tanh"], 0.3), (["sigmoid", "tanh", "tanh"], 0.1)):
        c.add("lstm_cell %s %g" % (acts, clip), lambda x, s, m: c.ov.opset13.lstm_cell(x, s, m, k(4 * h, i), k(4 * h, h), k(4 * h), h,
              acts, [], [], clip), c.real(b, i), c.real(b, h), c.real(b, h))
        c.add("gru_cell %s %g" % (acts[:2], clip), lambda x, s: c.ov.opset13.gru_cell(x, s, k(3 * h, i), k(3 * h, h), k(3 * h), h,
              acts[:2], [], [], clip), c.real(b, i), c.real(b, h))
    for negative in ("ignore_negative", "normalize"):
        c.add("one_hot " + negative, lambda p: c.make("OneHot", [p, i64(c, 4), c.const(1, np.float32), c.const(0, np.float32)], "opset16",
              axis=-1, negative_indices_mode=negative), np.array([[0, 3, -1], [4, 2, -4]], np.int32))


def sizes(c):
    """Sizes from which on kernels go other ways: pieces, panels, heaps, rows of one thread and of several."""
    o = c.ov.opset16
    for name in ["reduce_" + n for n in ("mean", "sum", "max", "min", "prod", "l1", "l2")]:
        for shape, axes in (((2, 70001), [1]), ((3, 41, 1031), [1]), ((70000,), [0]), ((5, 3, 7), [1])):
            c.add("%s %s" % (name, shape), lambda x: getattr(o, name)(x, i64(c, axes), True),
                  c.real(*shape, lo=-1, hi=2) if name != "reduce_prod" else (c.ints(*shape, hi=2) * 2 - 1).astype(np.float32))
    for name in ("reduce_logical_and", "reduce_logical_or"):
        c.add(name, lambda x: getattr(o, name)(x, i64(c, [1, 2]), False), c.ints(4, 3, 5, hi=9) > (name[-1] == "r") * 7)
    for shape, k, axis in (((5000,), 7, 0), ((3, 900), 300, 1), ((900, 5), 11, 0), ((2, 64), 64, 1)):
        for mode, sort in (("max", "value"), ("min", "index")):
            x = c.rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32)
            c.add("topk %s %s %s" % (shape, mode, sort), lambda p: o.topk(p, i64(c, k), axis, mode, sort), x)
            c.add("topk i32 %s %s %s" % (shape, mode, sort), lambda p: o.topk(p, i64(c, k), axis, mode, sort), x.astype(np.int32))
    for shape, axis in (((3, 100, 150), 1), ((3, 100, 150), 0), ((70, 300), 1)):
        for exclusive, reverse in itertools.product((False, True), (False, True)):
            c.add("cum_sum %s %d" % (shape, axis), lambda x: o.cumsum(x, i64(c, axis), exclusive, reverse), c.ints(*shape, lo=-9, hi=9))
    for eq, shapes in (("bhid,bhjd->bhij", ((2, 3, 33, 40), (2, 3, 35, 40))), ("bhwc,hkc->bhwk", ((3, 5, 7, 40), (5, 9, 40))),
                       ("ijk,kl->lij", ((4, 5, 37), (37, 6))), ("ab,cb->ca", ((40, 30), (20, 30))), ("abc,cad->db", ((3, 4, 50), (50, 3, 6)))):
        c.add("einsum " + eq, lambda *p: o.einsum(list(p), eq), *(c.real(*s) for s in shapes))
    for n, shape, out, k, s, pad, g in ((2, (2, 12, 19, 18), 9, 4, 2, 1, 1), (1, (1, 40, 300), 30, 8, 4, 2, 1), (3, (1, 9, 5, 7, 9), 6, 2, 2, 0, 1),
                                        (3, (1, 4, 5, 7, 9), 40, 3, 1, 1, 1), (2, (1, 12, 17, 20), 5, 3, 2, 1, 3)):
        w = c.real(shape[1] // g, out, *[k] * n) if g == 1 else c.real(g, shape[1] // g, out, *[k] * n)
        f = o.convolution_backprop_data if g == 1 else o.group_convolution_backprop_data
        c.add("deconv %s" % (shape,), lambda x: f(x, c.const(w), [s] * n, pads_begin=[pad] * n, pads_end=[pad] * n), c.real(*shape))
    for shape, out, k, s, d, pad in (((2, 8, 5, 12, 13), 20, [3, 3, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1]),
                                     ((1, 6, 6, 12, 13), 30, [2, 3, 5], [2, 2, 1], [1, 2, 1], [0, 2, 3]),
                                     ((1, 5, 6, 12, 13), 9, [3, 3, 3], [1, 2, 2], [2, 1, 1], [2, 1, 0])):
        c.add("conv 3d %s" % k, lambda x: o.convolution(x, c.const(c.real(out, shape[1], *k)), s, pad, pad, d), c.real(*shape))
        c.add("depthwise 3d %s" % k, lambda x: o.relu(o.group_convolution(x, c.const(c.real(shape[1], 2, 1, *k)), s, pad, pad, d)), c.real(*shape))
    for heads, l, len_ in ((3, 200, 190), (1, 97, 33)):
        c.add("attention %d" % l, lambda q, k, v, m: o.scaled_dot_product_attention(q, k, v, m), c.real(1, heads, l, 32), c.real(1, heads, len_, 32),
              c.real(1, heads, len_, 32), c.real(1, 1, l, len_))
        c.add("attention causal %d" % l, lambda q, k, v: o.scaled_dot_product_attention(q, k, v, causal=True), c.real(1, heads, l, 32),
              c.real(1, heads, l, 32), c.real(1, heads, l, 32))
    for m, k, n in ((1300, 70, 20), (301, 90, 40), (121, 600, 33)):
        c.add("matmul %d %d %d" % (m, k, n), lambda x: o.matmul(x, c.const(c.real(n, k)), False, True), c.real(m, k))
        c.add("matmul %d %d %d of A^T" % (m, k, n), lambda x: o.matmul(x, c.const(c.real(k, n)), True, False), c.real(k, m))
    for before in (False, True):
        c.add("gru_sequence %s" % before, lambda x, h: o.gru_sequence(x, h, c.const([9, 7], np.int32), c.const(c.real(1, 3 * 130, 70, lo=-0.2, hi=0.2)),
              c.const(c.real(1, 3 * 130, 130, lo=-0.2, hi=0.2)), c.const(c.real(1, (4 if before else 3) * 130)), 130, "reverse",
              linear_before_reset=before), c.real(2, 9, 70), c.real(2, 1, 130))
    for group, deform, mask in ((1, 1, False), (2, 2, True), (2, 1, True), (1, 4, False)):
        arrays = [c.real(2, 8, 13, 12), c.real(2, 2 * deform * 9, 13, 12, lo=-2, hi=2)] + ([c.real(2, deform * 9, 13, 12, lo=0)] if mask else [])
        c.add("deformable_convolution %d %d %s" % (group, deform, mask), lambda p, f, m=None: o.deformable_convolution(
            p, f, c.const(c.real(30, 8 // group, 3, 3)), [1, 1], [1, 1], [1, 1], [1, 1], m, "EXPLICIT", group, deform, True), *arrays)
    for group, deform in ((1, 1), (2, 1), (1, 2)):
        c.add("deformable_convolution of many channels %d %d" % (group, deform), lambda p, f: o.deformable_convolution(
            p, f, c.const(c.real(10, 76 // group, 3, 3)), [2, 1], [1, 1], [1, 1], [1, 1], None, "EXPLICIT", group, deform, True),
              c.real(2, 76, 13, 12), c.real(2, 2 * deform * 9, 7, 12, lo=-2, hi=2))
    for group, k, stride in ((3, 4, 2), (3, 7, 3), (3, 3, 1), (2, 3, 50)):
        c.add("group deconv %d %d" % (k, stride), lambda x: o.group_convolution_backprop_data(
            x, c.const(c.real(group, 1, 2, k, k)), [stride, stride]), c.real(2, group, 11, 21))
    for shape, order in (((2, 37, 45), (0, 2, 1)), ((20, 3, 33), (2, 0, 1)), ((9, 40, 8), (2, 1, 0)), ((4, 50), (1, 0)), ((50, 4), (1, 0))):
        c.add("transpose %s" % (shape,), lambda x: o.transpose(x, i64(c, order)), c.real(*shape))
    for name, color in itertools.product(("nv12_to_rgb", "i420_to_bgr"), (np.uint8, np.float32)):
        c.add("%s of 46 %s" % (name, color.__name__), getattr(o, name), c.ints(2, 6, 46, 1, hi=256).astype(color))
    for a, b in (((40, 37, 20), (40, 1, 20)), ((40, 37, 20), (1, 37, 20)), ((40, 37, 20), (40, 37, 1)), ((37, 1), (40, 1, 20)), ((3, 1, 37), (40, 1))):
        c.add("add %s %s" % (a, b), o.add, c.real(*a), c.real(*b))
        c.add("multiply i64 %s %s" % (a, b), o.multiply, c.ints(*a, dtype=np.int64), c.ints(*b, dtype=np.int64))
    for mode, shape, size, axes in (("linear_onnx", (1, 5, 20, 30), [37, 41], [2, 3]), ("cubic", (2, 3, 20, 30), [7, 61], [2, 3]),
                                    ("nearest", (1, 5, 20, 30), [60, 15], [2, 3]), ("linear", (1, 20, 30, 5), [40, 22], [1, 2])):
        c.add("interpolate %s %s" % (mode, size), lambda x: o.interpolate(
            x, i64(c, size), mode, "sizes", [0] * 4, [0] * 4, "half_pixel", axes=i64(c, axes)), c.real(*shape))
    c.add("interpolate f16", lambda x: o.convert(o.interpolate(o.convert(x, "f16"), i64(c, [9, 9]), "nearest", "sizes", [0] * 4, [0] * 4,
          "asymmetric", axes=i64(c, [2, 3])), "f32"), c.real(1, 2, 5, 6).astype(np.float16).astype(np.float32))
    for mode, pad in (("bilinear", "zeros"), ("bicubic", "reflection"), ("nearest", "border")):
        c.add("grid_sample %s" % mode, lambda p, q: o.grid_sample(p, q, {"align_corners": False, "mode": mode, "padding_mode": pad}),
              c.real(2, 5, 9, 8), c.real(2, 21, 10, 2, lo=-1.3, hi=1.3))
        c.add("grid_sample of 45 channels %s" % mode, lambda p, q: o.grid_sample(p, q, {"align_corners": True, "mode": mode, "padding_mode": pad}),
              c.real(2, 45, 9, 8), c.real(2, 21, 10, 2, lo=-1.3, hi=1.3))
    for shift, axes in (([3, -2, 5], [0, 1, 2]), ([-7], [2]), ([4, 4], [2, 2]), ([100, -100], [0, 1])):
        c.add("roll %s" % shift, lambda x: o.roll(x, i64(c, shift), i64(c, axes)), c.real(7, 9, 11))
    for axis in (0, 1, 2):
        c.add("gather_elements %d" % axis, lambda x, i: o.gather_elements(x, i, axis), c.real(9, 10, 11), c.ints(9, 10, 11, lo=-9, hi=9))
        for red in ("none", "sum", "max"):
            at = np.argsort(c.rng.random((9, 10, 11)), axis=axis).astype(np.int32)
            c.add("scatter_elements %d %s" % (axis, red), lambda x, u: o.scatter_elements_update(x, c.const(at), u, i64(c, axis), red),
                  c.real(9, 10, 11), c.real(9, 10, 11))
    for a, b in (((700,), (700,)), ((7, 50), (7, 1)), ((7, 1), (1, 50))):
        for name in ("mod", "floor_mod"):
            c.add("%s %s" % (name, a), getattr(o, name), c.real(*a, lo=-50, hi=50), c.real(*b, lo=0.3, hi=3))
    for shape, axes in (((2, 600, 9, 15), [1]), ((2, 70000), [1]), ((70, 10, 100), [0, 1, 2]), ((40, 3, 2), [0])):
        c.add("normalize_l2 %s" % (shape,), lambda x: o.normalize_l2(x, i64(c, axes), 1e-3, "add"), c.real(*shape))
    for p in (3, 1, -1, 0.5, -0.5, 1.5):
        c.add("power %g" % p, lambda x: o.power(x, c.const(p, np.float32)), c.real(5, 33, lo=0.2, hi=3))
    for cond, a, b in (((4, 50), (1, 1), (4, 50)), ((1, 50), (4, 50), ()), ((4, 50), (), ())):
        c.add("select %s %s %s" % (cond, a, b), o.select, c.ints(*cond, hi=2) > 0, c.real(*a), c.real(*b))


def families(family):
    for f in (sizes, rarities, windows, broadcasts, reductions, norms, integers, rounded, folded, wide, double, conversions, slices, indices):
        family(f)
