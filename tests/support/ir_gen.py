#!/usr/bin/env python3
"""ir_gen.py DIR - models with what real files seldom have, written by OpenVINO itself:
control flow (nested), state, quantised and packed constants, strings, dynamic dims
and ranks, operators of recent opsets, several outputs, duplicate names."""
import sys

import numpy as np
import openvino as ov
import openvino.opset15 as op
from openvino import Dimension, Model, PartialShape, Tensor, Type

rng = np.random.default_rng(0)


def f32(*shape):
    return op.constant(rng.standard_normal(shape).astype(np.float32))


def par(shape, typ=Type.f32, name=None):
    return op.parameter(shape, typ, name=name)


def results(*nodes):
    return [op.result(n) for n in nodes]


def dynamic():
    p, q = par(PartialShape.dynamic()), par(PartialShape([-1, 3, Dimension(1, 8)]))
    r = op.relu(p)
    s = op.shape_of(r)
    return Model(results(r, op.convert(s, "f32"), op.add(r, q), op.reshape(q, op.shape_of(q), False)), [p, q], "dynamic")


def branch(k):
    x, y = par([2, 2], name="x" + k), par([2, 2], name="y" + k)
    o = op.add(x, y) if k == "then" else op.multiply(x, op.add(y, f32(2, 2)))
    r1, r2 = op.result(o), op.result(op.relu(o))
    return Model([r1, r2], [x, y], k), (x, y), (r1, r2)


def if_node(cond, x, y):
    f = op.if_op(cond.output(0))
    (bt, (xt, yt), (t1, t2)), (be, (xe, ye), (e1, e2)) = branch("then"), branch("else")
    f.set_then_body(bt)
    f.set_else_body(be)
    f.set_input(x, xt, xe)
    f.set_input(y, yt, ye)
    return f.set_output(t1, e1), f.set_output(t2, e2)


def if_else():
    c, x, y = par([], Type.boolean), par([2, 2]), par([2, 2])
    a, b = if_node(c, x.output(0), y.output(0))
    return Model(results(a, b), [c, x, y], "if_else")


def loop(inner):
    trip, go = op.constant(np.int32(5)), op.constant(np.bool_(True))
    i, acc, sl = par([], Type.i32), par([2, 2]), par([2, 2])
    body = op.add(op.add(acc, sl), op.convert(i, "f32"))
    if inner:
        body, _ = if_node(op.less(i, op.constant(np.int32(3))), body.output(0), sl.output(0))
        body = op.relu(body)
    more = op.less(i, op.constant(np.int32(4)))
    m = Model(results(body, more), [i, acc, sl], "loop_body")
    node = op.loop(trip, go)
    a, s = par([2, 2]), par([10, 2])
    node.set_function(m)
    node.set_special_body_ports([0, 1])
    node.set_sliced_input(sl, s.output(0), 0, 2, 2, -1, 0)
    node.set_merged_input(acc, a.output(0), body.output(0))
    last = node.get_iter_value(body.output(0), -1)
    joined = node.get_concatenated_slices(body.output(0), 0, 1, 1, -1, 0)
    return Model(results(last, joined), [a, s], "nested" if inner else "loop")


def iterator():
    x, h = par([1, 1, 4]), par([1, 3])
    w, r, b = f32(9, 4), f32(9, 3), f32(9)
    cell = op.gru_cell(op.squeeze(x, op.constant(np.int64(1))), h, w, r, b, 3)
    out = op.unsqueeze(cell, op.constant(np.int64(1)))
    m = Model(results(cell, out), [x, h], "ti_body")
    node = op.tensor_iterator()
    xs, h0 = par([1, 6, 4]), par([1, 3])
    node.set_body(m)
    node.set_sliced_input(x, xs.output(0), 0, 1, 1, -1, 1)
    node.set_merged_input(h, h0.output(0), cell.output(0))
    return Model(results(node.get_iter_value(cell.output(0), -1),
                         node.get_concatenated_slices(out.output(0), 0, 1, 1, -1, 1)), [xs, h0], "iterator")


def packed(elem, shape):

    t = Tensor(elem, ov.Shape(shape))
    raw = t.data if elem in (Type.u8, Type.i8) else t.data.view(np.uint8)
    raw.reshape(-1)[:] = rng.integers(0, 255, raw.size).astype(raw.dtype)
    return ov.op.Constant(t)


def quantised():
    x = par([-1, 64])
    y = x
    for elem, mid in ((Type.u4, 8), (Type.i4, None), (Type.u8, 128), (Type.i8, None)):
        w = op.convert(packed(elem, [64, 2, 32]), "f16")
        if mid is not None:
            w = op.subtract(w, op.constant(np.full((64, 2, 1), mid, np.float16)))
        w = op.multiply(w, op.constant(np.full((64, 2, 1), 0.01, np.float16)))
        w = op.convert(op.reshape(w, op.constant(np.array([64, 64], np.int64)), False), "f32")
        y = op.relu(op.matmul(y, w, False, True))
    lo, hi = op.constant(np.float32([[-1]])), op.constant(np.float32([[1]]))
    y = op.fake_quantize(y, lo, hi, lo, hi, 256)
    return Model(results(y), [x], "quantised")


def strings():
    p = par([-1], Type.string)
    c = ov.op.Constant(Tensor(np.array(["one", "two words", ""])))
    return Model(results(p, c), [p], "strings")


def many_types():
    out = []
    for t in (Type.bf16, Type.f16, Type.f64, Type.f8e4m3, Type.f8e5m2, Type.u1, Type.nf4, Type.i16, Type.u64,
              Type.boolean):
        tensor = Tensor(t, ov.Shape([3, 5]))
        np.asarray(tensor.data).view(np.uint8).reshape(-1)[:] = 1
        out.append(ov.op.Constant(tensor))
    return Model(results(*out), [], "many_types")


def state():
    x = par([1, 4])
    var = ov.op.util.VariableInfo()
    var.data_shape, var.data_type, var.variable_id = PartialShape([1, 4]), Type.f32, "v"
    v = ov.op.util.Variable(var)
    read = op.read_value(op.constant(np.zeros((1, 4), np.float32)), v)
    total = op.add(read, x)
    return Model(results(total), [op.assign(total, v)], [x], "state")


def attention():
    q = par([1, 2, -1, 8])
    k, v = par([1, 2, -1, 8]), par([1, 2, -1, 8])
    a = op.scaled_dot_product_attention(q, k, v, causal=True)
    i = op.convert(op.shape_of(a), "f32")
    rotary = op.concat([op.sin(a), op.cos(a)], -1)
    return Model(results(rotary, i), [q, k, v], "attention")


def detector():
    boxes, scores, img = par([1, 100, 4]), par([1, 3, 100]), par([1, 3, 16, 16])
    nms = op.non_max_suppression(boxes, scores, op.constant(np.int64(10)), op.constant(np.float32(0.5)),
                                 op.constant(np.float32(0.1)), sort_result_descending=True)
    top = op.topk(scores, op.constant(np.int64(5)), -1, "max", "value")
    parts = op.variadic_split(img, op.constant(np.int64(1)), op.constant(np.array([1, 2], np.int64)))
    up = op.interpolate(img, op.constant(np.array([32, 32], np.int64)), "nearest", "sizes",
                        axes=op.constant(np.array([2, 3], np.int64)))
    roi = op.roi_align(img, f32(5, 4), op.constant(np.zeros(5, np.int64)), 2, 2, 2, 1.0, "avg")
    return Model(results(nms.output(0), nms.output(2), top.output(0), top.output(1), parts.output(0),
                         parts.output(1), up, roi), [boxes, scores, img], "detector")


def same_names():
    x = par([1, 8])
    y = op.relu(x, name="twin")
    y = op.add(y, y, name="twin")
    y = op.relu(y, name="odd, \"name\" <&> with\ttabs")
    return Model(results(y, y), [x], "same names")


def main(where):
    makers = [dynamic, if_else, lambda: loop(False), lambda: loop(True), iterator, quantised, strings,
              many_types, state, attention, detector, same_names]
    for make in makers:
        m = make()
        ov.save_model(m, f"{where}/{m.friendly_name.replace(' ', '_')}.xml",
                      compress_to_fp16=False)


main(sys.argv[1])
