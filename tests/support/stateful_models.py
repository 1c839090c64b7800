"""stateful_models.py DIR - write small made-up models with variables into DIR:

  loop      one variable, and everything between its reader and its writer; two products share their weights
  branches  two recurrent branches, a variable each, joined in the end
  decoder   three layers, a cache of fixed length each: reader, Concat, Slice, writer; attention reads the Concat
  grows     two layers whose caches grow by what comes in, with open batch and length; rows are chosen by beam_idx
  counts    a cache that grows, whose length is added to what comes out
  speaks    the layers of grows behind a table of embeddings, with the names that exports of language models give their inputs
"""
import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op
from openvino.op.util import Variable, VariableInfo

RNG = np.random.default_rng(5)


def weights(*shape):
    return op.constant((RNG.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))


def variable(name, shape):
    info = VariableInfo()
    info.data_shape, info.data_type, info.variable_id = ov.PartialShape(shape), ov.Type.f32, name
    return Variable(info)


def read(v, initial, name):
    node = op.read_value(initial, v)
    node.set_friendly_name(name)
    return node


def parameter(shape, name, kind=np.float32):
    node = op.parameter(ov.PartialShape(shape), kind, name=name)
    node.output(0).tensor.names = {name}
    return node


def save(directory, name, results, sinks, parameters):
    model = ov.Model([op.result(r, name=f"result{i}") for i, r in enumerate(results)], sinks, parameters, name)
    ov.save_model(model, directory / f"{name}.xml", compress_to_fp16=False)


def loop(directory):
    x, w, v = parameter([1, 4], "x"), weights(4, 4), variable("v", [1, 4])
    t = op.add(read(v, op.constant(np.zeros((1, 4), np.float32)), "read"), x, name="add")
    t = op.matmul(op.tanh(op.matmul(t, w, False, False, name="first"), name="tanh"), w, False, False, name="second")
    save(directory, "loop", [t], [op.assign(t, v, name="store")], [x])


def branches(directory):
    x, sinks, ends = parameter([1, 16], "x"), [], []
    for b in "left", "right":
        v = variable("memory_" + b, [1, 16])
        t = op.add(read(v, op.constant(np.zeros((1, 16), np.float32)), b + "/read"), x, name=b + "/in")
        for i in range(3):
            t = op.tanh(op.matmul(t, weights(16, 16), False, False, name=f"{b}/mm{i}"), name=f"{b}/tanh{i}")
        sinks.append(op.assign(t, v, name=b + "/store"))
        ends.append(t)
    save(directory, "branches", [op.add(*ends, name="join")], sinks, [x])


def attention(t, k, layer, width):
    q = op.matmul(t, weights(width, width), False, False, name=f"{layer}.q")
    s = op.softmax(op.matmul(q, k, False, True, name=f"{layer}.scores"), -1)
    x = op.matmul(s, k, False, False, name=f"{layer}.context")
    h = op.relu(op.matmul(x, weights(width, 2 * width), False, False, name=f"{layer}.up"))
    return op.add(t, op.matmul(h, weights(2 * width, width), False, False, name=f"{layer}.down"), name=f"{layer}.sum")


def decoder(directory, width=16, length=4):
    x, sinks = parameter([1, 1, width], "x"), []
    t = x
    for layer in "012":
        k = op.matmul(t, weights(width, width), False, False, name=f"{layer}.k")
        v = variable(f"{layer}.cache", [1, length, width])
        kept = op.concat([read(v, op.constant(np.zeros((1, length, width), np.float32)), f"{layer}.read"), k], 1,
                         name=f"{layer}.concat")
        cut = op.slice(kept, *(op.constant([n]) for n in (1, length + 1, 1, 1)), name=f"{layer}.cut")
        sinks.append(op.assign(cut, v, name=f"{layer}.store"))
        t = attention(t, kept, layer, width)
    save(directory, "decoder", [t], sinks, [x])


def grows(directory, width=16):
    x, beam = parameter([-1, -1, width], "x"), parameter([-1], "beam_idx", np.int32)
    rows = op.gather(op.shape_of(x, name="shape"), op.constant([0]), op.constant(0), name="rows")
    empty = op.broadcast(op.constant(np.float32(0)), op.concat([rows, op.constant([0]), op.constant([width])], 0, name="extent"),
                         name="empty")
    sinks, t = [], x
    for layer in "01":
        k = op.matmul(t, weights(width, width), False, False, name=f"{layer}.k")
        v = variable(f"{layer}.cache", [-1, -1, width])
        past = op.gather(read(v, empty, f"{layer}.read"), beam, op.constant(0), name=f"{layer}.beam")
        kept = op.concat([past, k], 1, name=f"{layer}.concat")
        sinks.append(op.assign(kept, v, name=f"{layer}.store"))
        t = attention(t, kept, layer, width)
    save(directory, "grows", [t], sinks, [x, beam])


def counts(directory, width=16):
    x, beam = parameter([-1, -1, width], "x"), parameter([-1], "beam_idx", np.int32)
    v = variable("cache", [-1, -1, width])
    past = op.gather(read(v, op.constant(np.zeros((2, 0, width), np.float32)), "read"), beam, op.constant(0), name="beam")
    length = op.gather(op.shape_of(past, name="extent"), op.constant([1]), op.constant(0), name="length")
    kept = op.concat([past, op.matmul(x, weights(width, width), False, False, name="k")], 1, name="kept")
    t = op.add(attention(x, kept, "0", width), op.convert(length, "f32", name="real"), name="counted")
    save(directory, "counts", [t], [op.assign(kept, v, name="store")], [x, beam])


def speaks(directory, width=16, words=64):
    ids, positions, beam = parameter([-1, -1], "input_ids", np.int64), parameter([-1, -1], "position_ids", np.int64), \
        parameter([-1], "beam_idx", np.int32)
    axis, sinks = op.constant(0), []
    t = op.add(op.gather(weights(words, width), ids, axis, name="embedding"), op.gather(weights(words, width), positions, axis, name="place"),
               name="embedded")
    rows = op.gather(op.shape_of(ids, name="shape"), op.constant([0]), axis, name="rows")
    empty = op.broadcast(op.constant(np.float32(0)), op.concat([rows, op.constant([0]), op.constant([width])], 0, name="extent"),
                         name="empty")
    for layer in "01":
        kept = []
        for part in "key", "value":
            name = f"past_key_values.{layer}.{part}present.{layer}.{part}"
            v = variable(name, [-1, -1, width])
            past = op.gather(read(v, empty, f"{layer}.{part}.read"), beam, axis, name=f"{layer}.{part}.beam")
            new = op.matmul(t, weights(width, width), False, False, name=f"{layer}.{part}")
            kept.append(op.concat([past, new], 1, name=f"{layer}.{part}.concat"))
            sinks.append(op.assign(kept[-1], v, name=f"{layer}.{part}.store"))
        t = attention(t, op.add(kept[0], kept[1], name=f"{layer}.mixed"), layer, width)
    save(directory, "speaks", [op.matmul(t, weights(width, words), False, False, name="logits")], sinks, [ids, positions, beam])


if __name__ == "__main__":
    for write in loop, branches, decoder, grows, counts, speaks:
        write(Path(sys.argv[1]))
