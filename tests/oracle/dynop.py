#!/usr/bin/env python3
"""dynop.py gen DIR - models with bodies, variables and dynamic shapes, made with OpenVINO's API.
dynop.py ref DIR OUT CASE... - inputs and OpenVINO's results of some of them, as .npy: OUT/I/in for devrun -i,
    OUT/I/want for case I from 0 on.  CASE: NAME[/SHAPES[/RUNS[/SEED]]]; RUNS inferences, the results of the last one
dynop.py compare OUT - devrun's results in OUT/I/single and OUT/I/random with OUT/I/want: shapes equal, 1e-4 of the scale"""
import os
import sys

import numpy as np

if sys.argv[1:2] != ["compare"]:     # which has no use for OpenVINO, and takes a quarter of the time without it
    import openvino as ov
    from openvino import opset3, opset6
    from openvino import opset13 as op
    from openvino.op.util import Variable, VariableInfo

rng = np.random.default_rng(1)


def par(shape, type=np.float32, name=None):
    shape = ov.PartialShape(shape)
    return op.parameter(shape, type, name=name) if name else op.parameter(shape, type)


def const(x):
    return op.constant(x)


def i64(*x):
    return op.constant(np.array(x[0] if len(x) == 1 else x, np.int64))


def matrix(*shape):
    return const((rng.standard_normal(shape) * 0.4).astype(np.float32))


def model(results, params, sinks=()):
    return ov.Model([op.result(r) for r in results], list(sinks), list(params), "dynop")


def iterator(stride, part, axis, dynamic=False):
    """A recurrence over slices: joined and last values."""
    whole, one = ([3, 6, 5], [3, 1, 5]) if axis == 1 else ([6, 3, 5], [1, 3, 5])
    slice_ = list(one)
    slice_[axis] = part
    if dynamic:
        whole, slice_, one = [-1, -1, 5], [-1, part, 5], [-1, 1, 5]
    x, h = par(whole, name="x"), par(one, name="h")
    xi, hi = par(slice_), par(one)
    y = op.tanh(op.add(op.matmul(xi, matrix(5, 5), False, True), hi))
    last = op.reduce_mean(y, i64([axis]), True)
    loop = op.tensor_iterator()
    loop.set_body(ov.Model([op.result(y), op.result(last)], [xi, hi], "body"))
    start, end = (0, -1) if stride > 0 else (-1, 0)
    loop.set_sliced_input(xi, x.output(0), start, stride, part, end, axis)
    loop.set_merged_input(hi, h.output(0), last.output(0))
    joined = loop.get_concatenated_slices(y.output(0), start, stride, part, end, axis)
    return model([joined, loop.get_iter_value(last.output(0), -1)], [x, h])


def loop(trip, condition, start=True):
    """A Loop with its iteration's number; `condition`: until the sum is large, else always."""
    x = par([2, 4], name="x")
    a, number = par([2, 4]), par([], np.int64)
    b = op.add(op.multiply(a, const(np.float32(0.9))), op.convert(number, "f32"))
    go_on = op.less(op.reduce_sum(b, i64([0, 1]), False), const(np.float32(40))) if condition else const(np.array(True))
    row = op.unsqueeze(b, i64(0))
    body = ov.Model([op.result(go_on), op.result(b), op.result(row)], [a, number], "body")
    whole = op.loop(i64(trip), const(np.array(start)))
    whole.set_function(body)
    whole.set_special_body_ports([1, 0])
    whole.set_merged_input(a, x.output(0), b.output(0))
    return model([whole.get_iter_value(b.output(0), -1),
                  whole.get_concatenated_slices(row.output(0), 0, 1, 1, -1, 0)], [x])


def forever(wide=1, inside=False, join=False):
    """A Loop that ends on data, which never says so; perhaps in another, or joining all that it makes."""
    x, a = par([1, wide], name="x"), par([1, wide])
    b = op.add(a, const(np.float32(0))).output(0)
    go_on = op.less(op.reduce_sum(b, i64([0, 1]), False), const(np.float32(1e30)))
    inner = op.loop(i64(-1), const(np.array(True)))
    inner.set_function(ov.Model([op.result(go_on), op.result(b)], [a], "body"))
    inner.set_special_body_ports([-1, 0])
    if not inside:
        inner.set_merged_input(a, x.output(0), b)
        return model([inner.get_concatenated_slices(b, 0, 1, 1, -1, 0) if join else inner.get_iter_value(b, -1)], [x])
    c = par([1, wide])
    inner.set_merged_input(a, c.output(0), b)
    d = inner.get_iter_value(b, -1)
    outer = op.loop(i64(3), const(np.array(True)))
    outer.set_function(ov.Model([op.result(const(np.array(True))), op.result(d)], [c], "body"))
    outer.set_special_body_ports([-1, 0])
    outer.set_merged_input(c, x.output(0), d)
    return model([outer.get_iter_value(d, -1)], [x])


def loop_input(trip=None):
    """One input is sliced (with `trip` known) or not, one is the same in all iterations; without
    `trip` an input says how many there are."""
    x, a, c = par([4, 3] if trip else [1, 3], name="x"), par([3], name="a"), par([3], name="c")
    rounds = par([], np.int64, name="rounds")
    xi, ai, same, number = par([1, 3]), par([3]), par([3]), par([], np.int64)
    b = op.add(op.add(op.squeeze(xi, i64([0])), ai), same)
    whole = op.loop(i64(trip) if trip else rounds, const(np.array(True)))
    whole.set_function(ov.Model([op.result(const(np.array(True))), op.result(b)], [xi, ai, same, number], "body"))
    whole.set_special_body_ports([3, 0])
    if trip:
        whole.set_sliced_input(xi, x.output(0), 0, 1, 1, -1, 0)
    else:
        whole.set_invariant_input(xi, x.output(0))
    whole.set_merged_input(ai, a.output(0), b.output(0))
    whole.set_invariant_input(same, c.output(0))
    return model([whole.get_iter_value(b.output(0), -1)], [x, a, c] + ([] if trip else [rounds]))


def branches(x, condition, then, other):
    t, e = par(x.get_output_partial_shape(0)), par(x.get_output_partial_shape(0))
    whole = op.if_op(condition.output(0))
    then_body, else_body = ov.Model([op.result(then(t))], [t], "then"), ov.Model([op.result(other(e))], [e], "else")
    whole.set_then_body(then_body)
    whole.set_else_body(else_body)
    whole.set_input(x.output(0), t, e)
    return whole.set_output(then_body.get_results()[0], else_body.get_results()[0])


def choice(shapes_differ, condition=()):
    x, c = par([3, 4], name="x"), par(condition, np.bool_, name="c")
    other = (lambda e: op.reduce_sum(e, i64([0]), True)) if shapes_differ else op.negative
    return model([op.add(branches(x, c, op.relu, other), const(np.float32(1)))], [x, c])


def choice_by_shape():
    x = par([-1, 4], name="x")
    rows = op.gather(op.shape_of(x, "i64"), i64(0), i64(0))
    y = branches(x, op.greater(rows, i64(3)), lambda t: op.concat([t, t], 0), op.negative)
    return model([op.add(y, const(np.float32(1)))], [x])


def nested():
    """If in TensorIterator in Loop."""
    x, a, number = par([2, 3], name="x"), par([2, 3]), par([], np.int64)
    xi, s = par([2, 1]), par([2, 1])
    positive = op.greater(op.reduce_sum(xi, i64([0, 1]), False), const(np.float32(0)))
    y = branches(xi, positive, lambda t: op.multiply(t, const(np.float32(2))),
                 lambda e: op.subtract(e, const(np.float32(0.5))))
    total = op.add(y, s)
    inner = op.tensor_iterator()
    inner.set_body(ov.Model([op.result(total)], [xi, s], "inner"))
    inner.set_sliced_input(xi, a.output(0), 0, 1, 1, -1, 1)
    inner.set_merged_input(s, const(np.zeros((2, 1), np.float32)).output(0), total.output(0))
    joined = inner.get_concatenated_slices(total.output(0), 0, 1, 1, -1, 1)
    b = op.add(op.multiply(joined, const(np.float32(0.7))), op.convert(number, "f32"))
    outer = op.loop(i64(3), const(np.array(True)))
    outer.set_function(ov.Model([op.result(const(np.array(True))), op.result(b)], [a, number], "outer"))
    outer.set_special_body_ports([1, 0])
    outer.set_merged_input(a, x.output(0), b.output(0))
    return model([outer.get_iter_value(b.output(0), -1)], [x])


def variable(name, shape):
    info = VariableInfo()
    info.data_shape, info.data_type, info.variable_id = ov.PartialShape(shape), ov.Type.f32, name
    return Variable(info)


def state(grows):
    x = par([1, 3], name="x")
    v = variable("v", [-1, 3] if grows else [1, 3])
    old = opset6.read_value(const(np.zeros((0, 3), np.float32) if grows else np.float32([[1, 2, 3]])), v)
    new = op.concat([old, x], 0) if grows else op.add(op.multiply(old, const(np.float32(0.5))), x)
    return model([op.softmax(new, 1), old], [x], [opset6.assign(new, v)])


def state3():
    x = par([1, 3], name="x")
    new = op.add(opset3.read_value(const(np.float32([[0, 1, 0]])), "v"), x)
    return model([new], [x], [opset3.assign(new, "v")])


def selection():
    """Sizes that depend on values, a static tensor behind them, and as much of them as there is."""
    x = par([-1, 6], name="x")
    where = op.non_zero(op.greater(x, const(np.float32(0))), "i64")
    picked = op.unsqueeze(op.gather_nd(x, op.transpose(where, i64(1, 0))), i64(1))
    y = op.relu(op.matmul(picked, matrix(1, 7), False, False))
    mean = op.reduce_mean(y, i64([0]), False)
    most = op.slice(picked, i64([0]), i64([100]), i64([1]), i64([0]))
    return model([where, y, op.softmax(mean, 0), op.shape_of(picked, "i64"), op.exp(most)], [x])


def by_value():
    x, n = par([10, 3], name="x"), par([1], np.int64, name="n")
    part = op.slice(x, i64([0]), n, i64([1]), i64([0]))
    order = op.range(i64(0), op.squeeze(n, i64([0])), i64(1), "i64")
    y = op.add(part, op.unsqueeze(op.convert(order, "f32"), i64([1])))
    return model([y, op.softmax(op.concat([y, x], 0), 0)], [x, n])


def image():
    """Shape subgraphs: halves the image, flattens by the batch."""
    x = par([-1, 3, -1, -1], name="x")
    y = op.relu(op.convolution(x, matrix(8, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))
    shape = op.shape_of(y, "i64")
    half = op.divide(op.gather(shape, i64(2, 3), i64(0)), i64([2]))
    small = op.interpolate(y, half, "nearest", "sizes", axes=i64(2, 3))
    flat = op.concat([op.gather(shape, i64([0]), i64(0)), i64(8, -1)], 0)
    return model([op.reshape(small, flat, False)], [x])


MODELS = {
    "forward": lambda: iterator(1, 1, 1), "reverse": lambda: iterator(-1, 1, 1), "parts": lambda: iterator(2, 2, 1),
    "reverse_parts": lambda: iterator(-2, 2, 1), "outermost": lambda: iterator(-1, 1, 0),
    "dynamic_iterator": lambda: iterator(1, 1, 1, True), "loop": lambda: loop(5, False),
    "loop_until": lambda: loop(100, True), "loop_endless": lambda: loop(-1, True), "loop_input": loop_input, "loop_sliced": lambda: loop_input(4),
    "loop_never": lambda: loop(5, False, False), "loop_zero": lambda: loop(0, False),
    "if": lambda: choice(False), "if_shapes": lambda: choice(True), "if_many": lambda: choice(False, [-1]), "if_by_shape": choice_by_shape, "nested": nested,
    "state": lambda: state(False), "state_grows": lambda: state(True), "state3": state3,
    "forever": forever, "forever_inside": lambda: forever(inside=True), "forever_more": lambda: forever(1 << 20, join=True),
    "selection": selection, "by_value": by_value, "image": image,
}


def ref(core, folder, out, name, shapes="", runs="1", seed="1"):
    m = core.read_model(os.path.join(folder, name + ".xml"))
    if shapes:
        m.reshape({k: [int(d) for d in v.split(",")] for k, v in (s.split("=") for s in shapes.split(";"))})
    draw, values = np.random.default_rng(int(seed)), []
    for p in m.get_parameters():
        shape, dtype = list(p.get_output_shape(0)), p.get_output_element_type(0).to_dtype()
        if dtype == np.int64:
            values.append(np.full(shape, 3, dtype))
        else:
            values.append(np.array(draw.uniform(-1, 1, shape) > 0) if dtype == np.bool_
                          else draw.uniform(-1, 1, shape).astype(dtype))
    for d in ("in", "want"):
        os.makedirs(os.path.join(out, d), exist_ok=True)
    for i, v in enumerate(values):
        np.save(os.path.join(out, "in", f"{i}.npy"), v)
    request = core.compile_model(m, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    for _ in range(int(runs)):
        request.infer(values)
    if name in ("loop_input", "loop_sliced"):
        # By the specification; OpenVINO 2026.4's CPU plugin makes something else of these sums.
        x, total, c = values[:3]
        for i in range(4 if name == "loop_sliced" else int(values[3])):
            total = x[i % len(x)] + total + c
        np.save(os.path.join(out, "want", "0.npy"), total)
        return
    for i in range(len(m.outputs)):
        np.save(os.path.join(out, "want", f"{i}.npy"), request.get_output_tensor(i).data)


def compare(out):
    for case in sorted(os.listdir(out)):
        for f in sorted(os.listdir(os.path.join(out, case, "want"))):
            want = np.load(os.path.join(out, case, "want", f)).astype(np.float64)
            for how in "single", "random":
                got = np.load(os.path.join(out, case, how, f)).astype(np.float64)
                if want.shape != got.shape:
                    sys.exit(f"case {case}, {how}, {f}: {got.shape}, but OpenVINO makes {want.shape}")
                far = np.abs(want - got).max(initial=0)
                if not far <= 1e-4 * max(np.abs(want).max(initial=0), 1e-30):
                    sys.exit(f"case {case}, {how}, {f}: {far} of {np.abs(want).max()}")


def main():
    mode, folder, *rest = sys.argv[1:]
    if mode == "gen":
        os.makedirs(folder, exist_ok=True)
        for name, make in MODELS.items():
            ov.serialize(make(), os.path.join(folder, name + ".xml"))
    elif mode == "ref":
        core = ov.Core()
        for i, case in enumerate(rest[1:]):
            ref(core, folder, os.path.join(rest[0], str(i)), *case.split("/"))
    else:
        compare(folder)


main()
