"""Cases of matrix.py that have their types from the start: operators on integers and booleans, elements of few bits that are moved
between two Converts, bodies and variables, ranks that are found inside bodies.  NumPy is the oracle of all of them."""
import numpy as np

from parity_types import CODES

RMS = 'type="RMS" version="extension"><data epsilon="0.001" output_type="dynamic" />'
SMALL = dict(CODES, f8e4m3=np.array([0, 0.5, -1, 1.75, 448, -0.015625, 2, -3]), f8e5m2=np.array([0, 0.5, -1, 1.75, 57344, -0.25, 2, -3]),
             f8e8m0=2.0 ** np.array([-3, 0, 1, 5, -7, 9, 2, 4]))
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")


def i64(c, *v):
    return c.op.constant(np.array(v, np.int64))


def numbers(c, t, *shape):
    """Numbers over the whole range of a type of integers."""
    limit = np.iinfo(t)
    return c.rng.integers(limit.min, limit.max, shape, dtype=t, endpoint=True)


def bits(c, kind, t):
    """Bitwise operators and shifts."""
    o = c.ov.opset15
    if kind == "boolean":
        a, b = c.ints(3, 1, 5, hi=2) > 0, c.ints(2, 1, hi=2) > 0
    elif kind in INTEGERS:
        a, b = numbers(c, t, 3, 1, 5), numbers(c, t, 2, 1)
        by = (np.arange(10) * 7 % (8 * a.itemsize - 1)).astype(t).reshape(2, 5)
        c.add("bitwise_left_shift", o.bitwise_left_shift, a, by, want=np.left_shift(a, by))
        c.add("bitwise_right_shift", o.bitwise_right_shift, a, by, want=np.right_shift(a, by))
    else:
        return
    for name in ("and", "or", "xor"):
        c.add("bitwise_" + name, getattr(o, "bitwise_" + name), a, b, want=getattr(np, "bitwise_" + name)(a, b))
    c.add("bitwise_not", o.bitwise_not, a, want=np.bitwise_not(a))


def logic(c, kind, t):
    o = c.ov.opset15
    if kind != "boolean":
        return
    a, b = c.ints(2, 3, 5, hi=2) > 0, c.ints(3, 1, hi=2) > 0
    for name in ("and", "or", "xor"):
        c.add("logical_" + name, getattr(o, "logical_" + name), a, b, want=getattr(np, "logical_" + name)(a, b))
    c.add("logical_not", o.logical_not, a, want=~a)
    for name, f in (("and", np.all), ("or", np.any)):
        c.add("reduce_logical_" + name, lambda p: getattr(o, "reduce_logical_" + name)(p, i64(c, 1), False), a, want=f(a, 1))


def places(c, kind, t):
    """Operators that put numbers of the type where integers say."""
    o = c.ov.opset15
    at = np.array([[0, 3, -1], [2, 5, 1]], np.int64)
    on, off = (np.array(True), np.array(False)) if kind == "boolean" else (np.array(7, t or np.float32), np.array(3, t or np.float32))
    want = np.where(np.arange(4) == at[..., None], on, off)
    if t is not None:
        for index in (np.int32, np.int64):
            c.add("one_hot %s" % index.__name__, lambda p: o.one_hot(p, c.op.constant(np.int64(4)), c.op.constant(on), c.op.constant(off), -1),
                  np.abs(at).astype(index), want=np.where(np.arange(4) == np.abs(at)[..., None], on, off))
    if kind in INTEGERS + ("f32", "f16", "f64", "bf16"):
        eye = np.eye(3, 4, 1, dtype=np.float32 if t is None else t)
        c.add("eye", lambda p: o.eye(p, c.op.constant(np.int64(4)), c.op.constant(np.int64(1)), kind), np.array(3, np.int64), want=eye)
    if kind in ("f32", "f64", "f16") + INTEGERS:
        c.add("range", lambda a, b, s: o.range(a, b, s, kind), np.array(2, t), np.array(17, t), np.array(3, t), want=np.arange(2, 17, 3).astype(t))
    if kind in ("f32", "f64", "f16", "i8", "i16", "i32", "i64"):
        c.add("range down", lambda a, b, s: o.range(a, b, s, kind), np.array(9, t), np.array(-5, t), np.array(-4, t), want=np.arange(9, -5, -4).astype(t))


def bodies(c, kind, t):
    """If, Loop, TensorIterator and variables; with shapes "dims" and "ranks" the bodies' are found while the model runs."""
    o, ov = c.ov.opset15, c.ov
    if kind not in INTEGERS + ("f32", "f64", "f16"):
        return
    x = np.arange(12).reshape(3, 4).astype(t)
    one = o.constant(np.array(1, t))

    def inner(p):
        return o.parameter(p.get_output_partial_shape(0), p.get_output_element_type(0))

    def choice(p, k):
        a, b = inner(p), inner(p)
        node = o.if_op(k)
        then, other = ov.Model([o.result(o.add(a, one))], [a], "then"), ov.Model([o.result(o.multiply(b, o.constant(np.array(2, t))))], [b], "else")
        node.set_then_body(then)
        node.set_else_body(other)
        node.set_input(p.output(0), a, b)
        node.set_output(then.results[0], other.results[0])
        return node

    for k in (True, False):
        c.add("if %s" % k, choice, x, np.array(k), want=x + 1 if k else x * 2)

    def loop(p):
        a = inner(p)
        b = o.add(a, one)
        node = o.loop(o.constant(np.int64(3)), o.constant(np.array(True)))
        node.set_function(ov.Model([o.result(o.constant(np.array(True))), o.result(b)], [a], "body"))
        node.set_special_body_ports([-1, 0])
        node.set_merged_input(a, p.output(0), b.output(0))
        node.get_iter_value(b.output(0), -1)
        return node

    c.add("loop", loop, x, want=x + 3)

    def joined(p):
        """The rank in the loop is that of its input and one more."""
        a = inner(p)
        b = o.add(a, one)
        row = o.unsqueeze(b, i64(c, 0))
        node = o.loop(o.constant(np.int64(3)), o.constant(np.array(True)))
        node.set_function(ov.Model([o.result(o.constant(np.array(True))), o.result(b), o.result(row)], [a], "body"))
        node.set_special_body_ports([-1, 0])
        node.set_merged_input(a, p.output(0), b.output(0))
        node.get_concatenated_slices(row.output(0), 0, 1, 1, -1, 0)
        return node

    c.add("loop joined", joined, x, want=np.stack([x + 1, x + 2, x + 3]))

    def iterator(p, q):
        shape = p.get_output_partial_shape(0)
        part = o.parameter(shape if shape.rank.is_dynamic else ov.PartialShape([1] + list(shape)[1:]), p.get_output_element_type(0))
        a = inner(q)
        b = o.add(a, part)
        node = o.tensor_iterator()
        node.set_body(ov.Model([o.result(b)], [part, a], "body"))
        node.set_sliced_input(part, p.output(0), 0, 1, 1, -1, 0)
        node.set_merged_input(a, q.output(0), b.output(0))
        node.get_concatenated_slices(b.output(0), 0, 1, 1, -1, 0)
        return node

    c.add("tensor_iterator", iterator, x, x[:1], want=np.cumsum(np.concatenate([x[:1] + x[:1], x[1:]]), 0).astype(t))
    c.add("identity", lambda p: c.ov.opset16.identity(p), x, want=x)


def states(c, kind, t):
    """A variable over three inferences: read, assigned, read again."""
    from openvino import opset6
    from openvino.op.util import Variable, VariableInfo
    if kind not in INTEGERS + ("f32", "f64", "f16", "bf16", "boolean"):
        return
    o, ov = c.ov.opset15, c.ov
    x = np.array([[1, 0, 3]]).astype(np.float32 if t is None else t)

    def count(p):
        info = VariableInfo()
        info.data_shape, info.data_type, info.variable_id = ov.PartialShape([1, 3]), p.get_output_element_type(0), "v"
        v = Variable(info)
        first = o.constant(np.zeros((1, 3)), p.get_output_element_type(0))
        old = opset6.read_value(first, v)
        new = o.logical_xor(old, p) if kind == "boolean" else o.add(old, p)
        c.sinks.append(opset6.assign(new, v))
        return new

    for name in ("read_value", "assign"):
        c.add(name, count, x, want=x if kind == "boolean" else 3 * x, runs=3)


def internal(c, kind, t):
    """Operators that are in no opset, which OpenVINO makes of others: saved under another name."""
    if kind not in ("f32", "f16", "f64"):
        return
    x, gamma = c.real(2, 3, 40).astype(t), c.real(40).astype(t)
    wide = x.astype(np.float64)
    c.add("rms", lambda p: c.ov.opset15.prelu(p, c.op.constant(gamma)), x, respell=('type="PReLU" version="opset1">', RMS),
          want=(wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-3) * gamma))


def few_bits(c, kind, t):
    """What runs between Converts to and from a type of few bits; `kind` is f32, each type a case of its own."""
    o = c.ov.opset15
    if kind != "f32" or c.shapes == "ranks":
        return
    for name, levels in SMALL.items():
        x = np.asarray(levels, np.float32)[np.arange(24) * 5 % len(levels)].reshape(4, 6)
        y = x[::-1].copy()
        moves = {
            "transpose": (lambda w, v: o.transpose(w, i64(c, 1, 0)), x.T),
            "reshape": (lambda w, v: o.reshape(w, i64(c, 3, 8), False), x.reshape(3, 8)),
            "gather": (lambda w, v: o.gather(w, i64(c, 5, 0, 2), i64(c, 1)), x[:, [5, 0, 2]]),
            "gather_elements": (lambda w, v: o.gather_elements(w, c.op.constant(np.arange(24).reshape(4, 6) % 4), 0),
                                np.take_along_axis(x, np.arange(24).reshape(4, 6) % 4, 0)),
            "gather_nd": (lambda w, v: o.gather_nd(w, c.op.constant(np.array([[3, 1], [0, 5]], np.int64))), x[[3, 0], [1, 5]]),
            "slice": (lambda w, v: o.slice(w, i64(c, 1), i64(c, 6), i64(c, 2), i64(c, 1)), x[:, 1:6:2]),
            "strided_slice": (lambda w, v: o.strided_slice(w, i64(c, 1, 1), i64(c, 4, 6), i64(c, 1, 3), [0, 0], [0, 0]), x[1:4, 1:6:3]),
            "split": (lambda w, v: o.split(w, c.op.constant(np.int64(1)), 2).output(1), x[:, 3:]),
            "concat": (lambda w, v: o.concat([w, v], 1), np.concatenate([x, y], 1)),
            "broadcast": (lambda w, v: o.broadcast(w, i64(c, 3, 4, 6)), np.broadcast_to(x, (3, 4, 6))),
            "tile": (lambda w, v: o.tile(w, i64(c, 1, 2)), np.tile(x, (1, 2))),
            "pad": (lambda w, v: o.pad(w, i64(c, 0, 1), i64(c, 1, 0), "edge"), np.pad(x, ((0, 1), (1, 0)), "edge")),
            "reverse_sequence": (lambda w, v: o.reverse_sequence(w, c.op.constant(np.array([2, 6, 1, 3], np.int32)), 0, 1),
                                 np.stack([np.concatenate([r[:n][::-1], r[n:]]) for r, n in zip(x, (2, 6, 1, 3))])),
            "roll": (lambda w, v: o.roll(w, i64(c, 1), i64(c, 1)), np.roll(x, 1, 1)),
            "scatter_update": (lambda w, v: o.scatter_update(w, i64(c, 2, 0), o.slice(v, i64(c, 0), i64(c, 2), i64(c, 1), i64(c, 0)),
                                                             i64(c, 0)), np.stack([y[1], x[1], y[0], x[3]])),
            "select": (lambda w, v: o.select(c.op.constant(np.arange(24).reshape(4, 6) % 3 == 0), w, v), np.where(np.arange(24).reshape(4, 6) % 3 == 0, x, y)),
            "space_to_depth": (lambda w, v: o.space_to_depth(o.reshape(w, i64(c, 1, 1, 4, 6), False), "blocks_first", 2),
                               x.reshape(1, 1, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 4, 2, 3)),
        }
        for label, (build, want) in moves.items():
            c.add("%s %s" % (label, name), lambda p, q: o.convert(build(o.convert(p, name), o.convert(q, name)), "f32"), x, y,
                  want=np.ascontiguousarray(want))


FAMILIES = (bits, logic, places, bodies, states, internal, few_bits)
