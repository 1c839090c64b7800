"""Cases of matrix.py at the edges of what a type or a shape may be, of which NumPy says what is right: the least and greatest
integers, tensors of nothing, reductions over no axes, axes from behind."""
import numpy as np

from matrix_cases import INTEGERS, i64

REALS = ("f32", "f16", "f64")
BYTES = ("i8", "u8")


def edges(t):
    """Numbers at both ends of a type of integers, around 0, and where f32 and f64 stop to tell whole numbers apart."""
    limit = np.iinfo(t)
    some = [limit.min, limit.min + 1, limit.max, limit.max - 1, 0, 1, 2, 7]
    some += [v for v in (-1, -2, 2**24 + 1, 2**31, 2**53 + 1, 2**63, 2**63 + 5) if limit.min <= v <= limit.max]
    return np.array([int(v) for v in some], dtype=t)


def within(values, t):
    """Python's integers in the type: limited in 8 bits, as OpenVINO's plugin does it, else wrapped."""
    limit = np.iinfo(t)
    if limit.bits == 8:
        return np.array([min(max(v, limit.min), limit.max) for v in values], t)
    return np.array([(v - limit.min) % (1 << limit.bits) + limit.min for v in values], t)


def cut(p, q):
    """A quotient without its fraction, 0 of nothing."""
    return 0 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)


def integers(c, kind, t):
    """Arithmetic, comparisons, reductions and searches on the least and greatest integers."""
    if kind not in INTEGERS:
        return
    o = c.ov.opset16
    x = edges(t)
    a, b = (v.ravel() for v in np.meshgrid(x, x, indexing="ij"))
    pa, pb = a.tolist(), b.tolist()
    pairs = {"add": lambda p, q: p + q, "subtract": lambda p, q: p - q, "multiply": lambda p, q: p * q, "maximum": max, "minimum": min,
             "divide": cut, "mod": lambda p, q: 0 if q == 0 else p - q * cut(p, q), "floor_mod": lambda p, q: 0 if q == 0 else p % q}
    for name, f in pairs.items():
        c.add("%s of edges" % name, getattr(o, name), a, b, want=within([f(p, q) for p, q in zip(pa, pb)], t))
    for name, f in (("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less), ("less_equal", np.less_equal),
                    ("greater", np.greater), ("greater_equal", np.greater_equal)):
        c.add("%s of edges" % name, getattr(o, name), a, b, want=f(a, b))
    c.add("select of edges", lambda k, p, q: o.select(k, p, q), a < b, a, b, want=np.where(a < b, a, b))
    px = x.tolist()
    c.add("abs of edges", o.abs, x, want=within([abs(v) for v in px], t))
    c.add("sign of edges", o.sign, x, want=np.array([(v > 0) - (v < 0) for v in px], t))
    if kind[0] == "i":
        c.add("negative of edges", o.negative, x, want=within([-v for v in px], t))
    c.add("relu of edges", o.relu, x, want=np.maximum(x, 0).astype(t))
    for mode in ("floor", "ceiling"):
        c.add("%s of edges" % mode, getattr(o, mode), x, want=x)
    for name, f in (("sum", sum), ("max", max), ("min", min)):
        c.add("reduce_%s of edges" % name, lambda p: getattr(o, "reduce_" + name)(p, i64(c, 0), False), x, want=within([f(px)], t)[0])
    product = 1
    for v in px[:4] + [1]:
        product *= v
    c.add("reduce_prod of edges", lambda p: o.reduce_prod(p, i64(c, 0), True), x[:4], want=within([product], t))
    running = [sum(px[:i + 1]) for i in range(len(px))]
    if kind not in BYTES:
        c.add("cumsum of edges", lambda p: o.cumsum(p, c.op.constant(np.int64(0))), x, want=within(running, t))
    for mode in ("max", "min"):
        order = np.array(sorted(px, reverse=mode == "max")[:5], dtype=t)
        c.add("topk of edges %s" % mode, lambda p: o.topk(p, c.op.constant(np.int64(5)), 0, mode, "value").output(0), x, want=order)
    c.add("convert of edges f64", lambda p: o.convert(p, "f64"), x, want=x.astype(np.float64))
    c.add("convert of edges f32", lambda p: o.convert(p, "f32"), x, want=x.astype(np.float32))
    for to, other in (("i64", np.int64), ("u64", np.uint64), ("i32", np.int32), ("u8", np.uint8)):
        c.add("convert of edges %s" % to, lambda p: o.convert(p, to), x, want=x.astype(other))
    c.add("convert of edges boolean", lambda p: o.convert(p, "boolean"), x, want=x != 0)
    c.add("gather of edges", lambda p: o.gather(p, i64(c, 3, 0, -1), i64(c, 0)), x, want=x[[3, 0, -1]])
    c.add("scatter_update of edges", lambda p, q: o.scatter_update(p, i64(c, 1), q, i64(c, 0)), x, x[:1], want=np.concatenate([x[:1], x[:1], x[2:]]))
    c.add("non_zero of edges", lambda p: o.non_zero(p), x, want=np.flatnonzero(x)[None])
    c.add("pad of edges", lambda p: o.pad(p, i64(c, 1), i64(c, 2), "constant", c.op.constant(x[2])), x,
          want=np.concatenate([x[2:3], x, x[2:3], x[2:3]]))


def nothing(c, kind, t):
    """Tensors with a dim of 0."""
    if t is None or kind == "boolean":
        return
    o = c.ov.opset16
    none, row = np.zeros((0, 3), t), np.array([[1, 2, 3]], t)
    some = np.arange(6).reshape(2, 3).astype(t)
    for name in ("add", "multiply", "maximum", "divide"):
        c.add("%s with nothing" % name, getattr(o, name), none, row, want=none)
    c.add("equal with nothing", o.equal, none, row, want=np.zeros((0, 3), bool))
    c.add("select with nothing", o.select, np.zeros((0, 1), bool), row, row, want=none)
    c.add("relu of nothing", o.relu, none, want=none)
    c.add("convert of nothing", lambda p: o.convert(p, "i32" if kind != "i32" else "i64"), none, want=np.zeros((0, 3), np.int32 if kind != "i32" else np.int64))
    c.add("concat with nothing", lambda p, q: o.concat([p, q, p], 0), none, some, want=some)
    c.add("concat of nothing", lambda p: o.concat([p, p], 1), none, want=np.zeros((0, 6), t))
    c.add("transpose of nothing", lambda p: o.transpose(p, i64(c, 1, 0)), none, want=np.zeros((3, 0), t))
    c.add("reshape of nothing", lambda p: o.reshape(p, i64(c, 5, 0, 2), False), none, want=np.zeros((5, 0, 2), t))
    c.add("squeeze of nothing", lambda p: o.squeeze(o.unsqueeze(p, i64(c, 0)), i64(c, 0)), none, want=none)
    c.add("gather nothing", lambda p: o.gather(p, c.op.constant(np.zeros((0, 2), np.int64)), i64(c, 0)), some, want=np.zeros((0, 2, 3), t))
    c.add("gather_elements nothing", lambda p: o.gather_elements(p, c.op.constant(np.zeros((0, 3), np.int64)), 0), some, want=none)
    c.add("gather_nd nothing", lambda p: o.gather_nd(p, c.op.constant(np.zeros((0, 1), np.int64))), some, want=none)
    c.add("scatter_update nothing", lambda p, q: o.scatter_update(p, c.op.constant(np.zeros(0, np.int64)), q, i64(c, 0)), some, none, want=some)
    c.add("scatter_nd_update nothing", lambda p, q: o.scatter_nd_update(p, c.op.constant(np.zeros((0, 1), np.int64)), q), some, none, want=some)
    c.add("scatter_elements_update nothing", lambda p, q: o.scatter_elements_update(p, c.op.constant(np.zeros((0, 3), np.int64)), q, i64(c, 0)), some, none, want=some)
    c.add("slice nothing", lambda p: o.slice(p, i64(c, 1), i64(c, 1), i64(c, 1), i64(c, 0)), some, want=none)
    c.add("strided_slice nothing", lambda p: o.strided_slice(p, i64(c, 2, 0), i64(c, 2, 3), i64(c, 1, 1), [0, 0], [0, 0]), some, want=none)
    c.add("variadic_split nothing", lambda p: o.variadic_split(p, c.op.constant(np.int64(0)), i64(c, 0, 2)).output(0), some, want=none)
    c.add("tile nothing", lambda p: o.tile(p, i64(c, 0, 1)), some, want=none)
    c.add("broadcast nothing", lambda p: o.broadcast(p, i64(c, 0, 3)), row, want=none)
    c.add("pad of nothing", lambda p: o.pad(p, i64(c, 1, 0), i64(c, 1, 0), "constant", c.op.constant(np.array(7, t))), none, want=np.full((2, 3), 7, t))
    c.add("reverse_sequence of nothing", lambda p: o.reverse_sequence(p, c.op.constant(np.zeros(0, np.int32)), 0, 1), none, want=none)
    c.add("roll of nothing", lambda p: o.roll(p, i64(c, 1), i64(c, 0)), none, want=none)
    c.add("shape_of nothing", lambda p: o.shape_of(p, "i64"), none, want=np.array([0, 3]))
    c.add("cumsum of nothing", lambda p: o.cumsum(p, c.op.constant(np.int64(0))), none, want=none)
    for keep in (True, False):
        for name, v in (("sum", 0), ("prod", 1), ("l1", 0)):
            c.add("reduce_%s of nothing %s" % (name, keep), lambda p: getattr(o, "reduce_" + name)(p, i64(c, 0), keep), none, want=np.full((1, 3) if keep else 3, v, t))
        c.add("reduce_max of rows of nothing %s" % keep, lambda p: o.reduce_max(p, i64(c, 1), keep), none, want=np.zeros((0, 1) if keep else 0, t))
    c.add("topk of nothing", lambda p: o.topk(p, c.op.constant(np.int64(2)), 1, "max", "value").output(0), none, want=np.zeros((0, 2), t))
    if kind in ("i32", "i64", "f32"):
        c.add("one_hot of nothing", lambda p: o.one_hot(p, c.op.constant(np.int64(4)), c.op.constant(np.array(1, t)), c.op.constant(np.array(0, t)), -1),
              np.zeros(0, np.int64), want=np.zeros((0, 4), t))
        c.add("non_zero of nothing", lambda p: o.non_zero(p), none, want=np.zeros((2, 0), np.int64))
        c.add("non_zero of zeros", lambda p: o.non_zero(p), np.zeros((2, 3), t), want=np.zeros((2, 0), np.int64))
    if kind in REALS:
        c.add("softmax of nothing", lambda p: o.softmax(p, 1), none, want=none)
        c.add("matmul over nothing", lambda p, q: o.matmul(p, q, True, False), none, np.zeros((0, 4), t), want=np.zeros((3, 4), t))
        c.add("matmul of nothing", lambda p, q: o.matmul(p, q, False, False), none, np.ones((3, 4), t), want=np.zeros((0, 4), t))
        image = np.zeros((0, 2, 5, 5), t)
        w = c.op.constant(np.ones((4, 2, 3, 3), t))
        c.add("convolution of nothing", lambda p: o.convolution(p, w, [1, 1], [0, 0], [0, 0], [1, 1]), image, want=np.zeros((0, 4, 3, 3), t))
        c.add("interpolate of nothing", lambda p: o.interpolate(p, i64(c, 9, 9), "nearest", "sizes", axes=i64(c, 2, 3)), image, want=np.zeros((0, 2, 9, 9), t))
        c.add("mvn of nothing", lambda p: o.mvn(p, i64(c, 1), True, 1e-5, "inside_sqrt"), none, want=none)
        c.add("reduce_mean of rows of nothing", lambda p: o.reduce_mean(p, i64(c, 1), True), none, want=np.zeros((0, 1), t))


def axes(c, kind, t):
    """No axes, and axes counted from behind."""
    if t is None or kind == "boolean":
        return
    o = c.ov.opset16
    x = (np.arange(24).reshape(2, 3, 4) % 5).astype(t)
    empty = c.op.constant(np.zeros(0, np.int64))
    for keep in (True, False):
        for name in ("sum", "max", "min", "prod", "mean", "l1", "l2"):
            c.add("reduce_%s over no axes %s" % (name, keep), lambda p: getattr(o, "reduce_" + name)(p, empty, keep), x, want=x)
    for name, f in (("sum", np.sum), ("max", np.max), ("min", np.min)):
        small = (x > 3).astype(t)
        c.add("reduce_%s from behind" % name, lambda p: getattr(o, "reduce_" + name)(p, i64(c, -1, -3), False), small, want=f(small, (0, 2)).astype(t))
    c.add("concat from behind", lambda p: o.concat([p, p], -2), x, want=np.concatenate([x, x], -2))
    c.add("split from behind", lambda p: o.split(p, c.op.constant(np.int64(-1)), 2).output(1), x, want=x[..., 2:])
    c.add("variadic_split from behind", lambda p: o.variadic_split(p, c.op.constant(np.int64(-2)), i64(c, 1, -1)).output(1), x, want=x[:, 1:])
    c.add("gather from behind", lambda p: o.gather(p, i64(c, -1, 0), c.op.constant(np.int64(-2))), x, want=x[:, [-1, 0]])
    c.add("gather_elements from behind", lambda p: o.gather_elements(p, c.op.constant(np.full((2, 3, 1), -1, np.int64)), -1), x, want=x[..., -1:])
    c.add("squeeze from behind", lambda p: o.squeeze(p, i64(c, -1)), x[..., :1], want=x[..., 0])
    c.add("unsqueeze from behind", lambda p: o.unsqueeze(p, i64(c, -1, -3)), x, want=x[:, :, None, :, None])
    c.add("topk from behind", lambda p: o.topk(p, c.op.constant(np.int64(1)), -2, "max", "value").output(0), x, want=x.max(-2, keepdims=True))
    c.add("cumsum from behind", lambda p: o.cumsum(p, c.op.constant(np.int64(-2)), True, True), (x > 3).astype(t),
          want=(np.cumsum((x > 3)[:, ::-1], 1)[:, ::-1] - (x > 3)).astype(t))
    c.add("roll from behind", lambda p: o.roll(p, i64(c, -1, 2), i64(c, -1, -3)), x, want=np.roll(x, (-1, 2), (-1, -3)))
    c.add("slice from behind", lambda p: o.slice(p, i64(c, -1), i64(c, -9), i64(c, -2), i64(c, -1)), x, want=x[..., ::-2])
    c.add("reverse_sequence from behind", lambda p: o.reverse_sequence(p, c.op.constant(np.array([2, 3], np.int32)), -3, -2), x,
          want=np.stack([np.concatenate([x[0, 1::-1], x[0, 2:]]), x[1, ::-1]]))
    c.add("scatter_elements_update from behind", lambda p: o.scatter_elements_update(
        p, c.op.constant(np.full((2, 1, 4), -1, np.int64)), c.op.constant(np.full((2, 1, 4), 9, t)), c.op.constant(np.int64(-2))), x,
        want=np.concatenate([x[:, :2], np.full((2, 1, 4), 9, t)], 1))
    c.add("one_hot from behind", lambda p: o.one_hot(p, c.op.constant(np.int64(3)), c.op.constant(np.array(1, t)), c.op.constant(np.array(0, t)), -2),
          np.array([0, 2], np.int64), want=np.array([[1, 0], [0, 0], [0, 1]], t))
    c.add("strided_slice open ends", lambda p: o.strided_slice(p, i64(c, 0, 0, -1), i64(c, 0, 0, 0), i64(c, 1, 1, -2), [1, 1, 0], [1, 1, 0]), x,
          want=x[:, :, -1:0:-2])
    c.add("strided_slice ellipsis", lambda p: o.strided_slice(p, i64(c, 0, -1), i64(c, 0, 0), i64(c, 1, -2), [1, 0], [1, 0], [0, 0], [0, 0], [1, 0]), x,
          want=x[..., -1:0:-2])
    c.add("strided_slice shrunk and new", lambda p: o.strided_slice(p, i64(c, -1, 0, 1), i64(c, 0, 0, 3), i64(c, 1, 1, 1), [0, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]), x,
          want=x[-1, None, 1:3])
    if kind in REALS:
        e = np.exp(x.astype(np.float64))
        c.add("softmax from behind", lambda p: o.softmax(p, -2), x, want=e / e.sum(-2, keepdims=True))
        c.add("log_softmax from behind", lambda p: o.log_softmax(p, -3), x, want=np.log(e / e.sum(-3, keepdims=True)))


FAMILIES = (integers, nothing, axes)
