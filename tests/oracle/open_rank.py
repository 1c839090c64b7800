#!/usr/bin/env python3
"""open_rank.py gen DIR - a model whose outputs have ranks that its file leaves open: DIR/model.xml, inputs in DIR/in, what NumPy
    makes of them in DIR/want; prints the argument of --shape.  OpenVINO's CPU plugin refuses such ranks.
open_rank.py compare DIR - DIR/out with DIR/want"""
import os
import sys

import numpy as np


def gen(folder):
    import openvino as ov
    from openvino import opset13 as op, opset15
    rng = np.random.default_rng(3)
    params, values, results, want, shapes = [], [], [], [], []

    def par(name, value, shape=None):
        value = np.asarray(value)
        p = op.parameter(ov.PartialShape(list(value.shape) if shape is None else shape), value.dtype.type, name=name)
        if shape is not None:
            shapes.append("%s=%s" % (name, ",".join(map(str, value.shape))))
        params.append(p)
        values.append(value)
        return p

    def add(node, value):
        assert node.get_output_partial_shape(0).rank.is_dynamic, node
        results.append(op.result(node))
        want.append(np.asarray(value))

    i64 = lambda *v: op.constant(np.array(v, np.int64))
    data = rng.standard_normal((3, 1, 4)).astype(np.float32)
    row = rng.standard_normal(6).astype(np.float32)
    x, y = par("x", data, [-1, -1, -1]), par("y", row)
    target = par("target", np.array([2, 1, 6], np.int64), [-1])
    axes = par("axes", np.array([2, 1], np.int64), [-1])
    order = par("order", np.array([1, 2, 0], np.int64), [-1])
    cond = par("cond", np.array(False))

    two = par("two", np.array([2, 3], np.int64), [-1])
    reshaped = op.reshape(y, two, False)
    add(reshaped, row.reshape(2, 3))
    add(op.relu(op.add(reshaped, reshaped)), np.maximum(2 * row.reshape(2, 3), 0))
    add(op.matmul(reshaped, reshaped, False, True), row.reshape(2, 3) @ row.reshape(2, 3).T)
    add(op.concat([reshaped, reshaped], 0), np.concatenate([row.reshape(2, 3)] * 2))
    add(op.gather(reshaped, i64(1, 0), i64(1)), row.reshape(2, 3)[:, [1, 0]])
    add(op.softmax(reshaped, -1), np.exp(row.reshape(2, 3)) / np.exp(row.reshape(2, 3)).sum(-1, keepdims=True))
    add(op.convert(reshaped, "f64"), row.reshape(2, 3).astype(np.float64))
    add(opset15.squeeze(x), data[:, 0])
    add(op.unsqueeze(opset15.squeeze(x), i64(0)), data[:, 0][None])
    new = par("new", np.array([0, 2], np.int64))        # of two axes: they may be one
    add(op.unsqueeze(y, new), row[None, :, None])
    for name, f in (("sum", np.sum), ("max", np.max), ("mean", np.mean)):
        add(getattr(op, "reduce_" + name)(x, axes, False), f(data, (1, 2)))
    add(op.broadcast(y, target), np.broadcast_to(row, (2, 1, 6)))
    add(op.broadcast(y, target, None, "BIDIRECTIONAL"), np.broadcast_to(row, (2, 1, 6)))
    add(op.tile(y, target), np.tile(row, (2, 1, 6)))
    add(op.multiply(op.tile(y, target), op.constant(np.float32(2))), 2 * np.tile(row, (2, 1, 6)))
    add(op.reduce_sum(op.transpose(x, order), axes, False), data.transpose(1, 2, 0).sum((1, 2)))
    branches = []
    for build in (lambda p: op.reshape(p, i64(2, 3), False), lambda p: op.negative(p)):
        p = op.parameter(ov.PartialShape([6]), np.float32)
        branches.append((ov.Model([op.result(build(p))], [p], "branch"), p))
    choice = op.if_op(cond)
    choice.set_then_body(branches[0][0])
    choice.set_else_body(branches[1][0])
    choice.set_input(y.output(0), branches[0][1], branches[1][1])
    out = choice.set_output(branches[0][0].results[0], branches[1][0].results[0])
    results.append(op.result(op.add(out, op.constant(np.float32(1)))))
    want.append(1 - row)
    total = op.reduce_sum(y, i64(0), False)         # a scalar stays one
    results.append(op.result(total))
    want.append(row.sum())
    os.makedirs(folder, exist_ok=True)
    ov.save_model(ov.Model(results, params, "open"), folder + "/model.xml", compress_to_fp16=False)
    for d, arrays in (("in", values), ("want", want)):
        os.makedirs("%s/%s" % (folder, d), exist_ok=True)
        for i, a in enumerate(arrays):
            np.save("%s/%s/%d.npy" % (folder, d, i), a)
    print(";".join(shapes))


def compare(folder):
    wrong = 0
    for i in range(len(os.listdir(folder + "/want"))):
        got, want = (np.load("%s/%s/%d.npy" % (folder, d, i)) for d in ("out", "want"))
        if got.shape != want.shape or not np.allclose(got, want, rtol=1e-5, atol=1e-6):
            print("output %d: %s %s, not %s %s" % (i, got.shape, got.ravel()[:4], want.shape, want.ravel()[:4]))
            wrong += 1
    sys.exit(wrong > 0)


(gen if sys.argv[1] == "gen" else compare)(sys.argv[2])
