"""Families of parity_op.py that go through element types: kernels that compute in another type than their inputs have, types of
a few bits, conversions to them.  NumPy is the oracle where OpenVINO's plugin is wrong or refuses."""
import numpy as np

INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
REALS = (np.float16, np.float32, np.float64)
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], np.float32)
F4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
# What the codes of each type of less than 8 bits stand for.
CODES = {"u1": np.arange(2), "u2": np.arange(4), "u3": np.arange(8), "u4": np.arange(16), "u6": np.arange(64),
         "i4": (np.arange(16) + 8) % 16 - 8, "nf4": NF4, "f4e2m1": F4}


def i64(c, v):
    return c.const(v, np.int64)


def adapted(c):
    """Operators with several outputs, or one of indices, in every type that they may have."""
    o = c.ov.opset15
    for kind in INTEGERS + REALS:
        n = kind.__name__
        x = np.argsort(c.rng.random(2 * 6 * 7)).reshape(1, 2, 6, 7)
        for index, axis in (("i64", 0), ("i32", 2)):
            c.add("max_pool %s %s" % (n, index), lambda p: o.max_pool(p, [2, 1], [1, 1], [1, 0], [0, 1], [3, 2], "floor", "explicit", index, axis),
                  x.astype(kind))
        c.add("topk " + n, lambda p: o.topk(p, i64(c, 3), 1, "max", "value", "i64"), x[0, 0].astype(kind))
        y = c.ints(2, 12, 9, hi=20)
        out = np.zeros((2, 3, 4, 4), np.int64)
        for k, p in np.ndindex(12, 9):
            out[:, k // 4, p // 3 + k % 4 // 2, p % 3 + k % 2] += y[:, k, p]
        c.add("col2im " + n, lambda p: o.col2im(p, i64(c, [4, 4]), i64(c, [2, 2])), y.astype(kind), want=out.astype(kind))
        c.add("split " + n, lambda p: o.split(p, i64(c, 1), 2), x[0, 0, :, :6].astype(kind))
        u = np.array([3, 1, 3, 2, 1], kind)
        values, first, inverse, counts = np.unique(u, return_index=True, return_inverse=True, return_counts=True)
        if kind in (np.float32, np.int8, np.uint8, np.int32, np.int64):
            c.add("unique " + n, lambda p: c.ov.opset13.unique(p, None, True, "i32", "i64"), u)


def few_bits(c):
    """Constants in few bits, as they are, moved, and put together, in front of a Convert."""
    o = c.ov.opset15
    for name, levels in CODES.items():
        kind = getattr(c.ov.Type, name)
        codes = c.ints(4, 6, hi=len(levels)).astype(np.uint8)
        values = levels[codes].astype(np.float32)

        def const(values, kind=kind):
            return c.ov.op.Constant(kind, c.ov.Shape(values.shape), values.ravel().tolist())

        def case(label, build, want):
            c.add("%s %s" % (label, name), lambda p: o.add(p, o.convert(build(const(values)), "f32")),
                  np.zeros(want.shape, np.float32), want=want)

        case("convert", lambda w: w, values)
        case("transpose", lambda w: o.transpose(w, i64(c, [1, 0])), values.T)
        case("gather", lambda w: o.gather(w, i64(c, [3, 0, 1]), i64(c, 0)), values[[3, 0, 1]])
        case("gather 1", lambda w: o.gather(w, i64(c, [5, 0]), i64(c, 1)), values[:, [5, 0]])
        case("slice", lambda w: o.slice(w, i64(c, [1]), i64(c, [6]), i64(c, [2]), i64(c, [1])), values[:, 1:6:2])
        case("strided_slice", lambda w: o.strided_slice(w, i64(c, [1, 1]), i64(c, [4, 6]), i64(c, [1, 3]), [0, 0], [0, 0]), values[1:4, 1:6:3])
        case("split", lambda w: o.split(w, i64(c, 1), 2).output(1), values[:, 3:])
        case("variadic_split", lambda w: o.variadic_split(w, i64(c, 1), i64(c, [1, 4, 1])).output(1), values[:, 1:5])
        case("concat", lambda w: o.concat([w, w], 1), np.concatenate([values, values], 1))
        case("broadcast", lambda w: o.broadcast(w, i64(c, [3, 4, 6])), np.broadcast_to(values, (3, 4, 6)))
        case("tile", lambda w: o.tile(w, i64(c, [1, 2])), np.tile(values, (1, 2)))
        case("reshape", lambda w: o.reshape(w, i64(c, [3, 8]), False), values.reshape(3, 8))
        case("pad", lambda w: o.pad(w, i64(c, [0, 1]), i64(c, [1, 0]), "edge"), np.pad(values, ((0, 1), (1, 0)), "edge"))
        case("unsqueeze", lambda w: o.unsqueeze(w, i64(c, 1)), values[:, None])
        case("gather_elements", lambda w: o.gather_elements(w, i64(c, np.arange(24).reshape(4, 6) % 4), 0),
             np.take_along_axis(values, np.arange(24).reshape(4, 6) % 4, 0))
    c.add("matmul u3", lambda p: o.matmul(p, o.multiply(o.convert(c.ov.op.Constant(c.ov.Type.u3, c.ov.Shape([8, 4]), list(range(8)) * 4), "f32"),
          c.const(np.float32(0.5))), False, False), np.eye(8, dtype=np.float32), want=np.arange(32, dtype=np.float32).reshape(8, 4) % 8 / 2)


def nearest(levels, x):
    """The levels nearest to x; none of x is half way between two of them."""
    return levels[np.argmin(np.abs(x[:, None] - levels[None, :]), 1)].astype(np.float32)


def to_few_bits(c):
    """Convert while the model runs, to types of few bits and back; the levels are those of the types' definitions."""
    o = c.ov.opset15
    code = np.arange(256)
    exponent, fraction = code >> 3 & 15, code & 7
    e4m3 = np.where(exponent, (8 + fraction) * 2.0 ** (exponent - 10.0), fraction * 2.0**-9) * np.where(code > 127, -1, 1)
    e5m2 = (code.astype(np.uint16) << 8).view(np.float16).astype(np.float64)
    levels = {"nf4": NF4, "f4e2m1": F4, "f8e4m3": e4m3[(code & 127) != 127], "f8e5m2": e5m2[np.isfinite(e5m2)], "f8e8m0": 2.0 ** (code[:255] - 127.0)}
    x = c.rng.normal(0, 1, 200) * 2.0 ** c.rng.integers(-6, 9, 200)
    for name, some in levels.items():
        limit = np.abs(some).max()
        y = np.abs(x) if name == "f8e8m0" else np.clip(x, -limit, limit)
        for kind in REALS:
            z = y.astype(kind)
            c.add("convert %s %s" % (kind.__name__, name), lambda p: o.convert(o.convert(p, name), "f32"), z, want=
                  2.0 ** (np.round(np.log2(z.astype(np.float64)) - np.log2(1.5) + 0.5)).astype(np.float32) if name == "f8e8m0"
                  else nearest(some, z.astype(np.float64)))
        z = np.array([0, 1, 2, 4, 6, 3], np.int32)
        c.add("convert int32 %s" % name, lambda p: o.convert(o.convert(p, name), "f32"), z, want=
              np.array([2.0**-127, 1, 2, 4, 8, 2], np.float32) if name == "f8e8m0" else nearest(some, z.astype(np.float64)))
    for name, some in (("u4", CODES["u4"]), ("i4", CODES["i4"]), ("u2", CODES["u2"]), ("u3", CODES["u3"]), ("u6", CODES["u6"]), ("u1", CODES["u1"])):
        z = np.tile(some, 3)[:13]
        for kind in (np.float32, np.int32, np.int64, np.int8):
            c.add("convert %s %s" % (kind.__name__, name), lambda p: o.convert(o.convert(p, name), "f32"), z.astype(kind), want=z.astype(np.float32))


def families(family):
    for f in (adapted, few_bits, to_few_bits):
        family(f)
