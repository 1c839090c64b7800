"""make.py [DIR] - the example models, as they lie beside this file: NAME.xml and NAME.bin.xz.  Needs OpenVINO's Python package.

layers    four layers of LSTM cells over 16 steps: a layer can begin a step when the one below has ended it
branches  a small network for images of 96x96 whose blocks have four branches each

Weights are drawn from three values, so that the archives are small.  What is computed means nothing; it takes as long as with any others."""
import lzma
import pathlib
import sys

import numpy as np
import openvino as ov
from openvino import opset13 as op

RNG = np.random.default_rng(1)


def weights(*shape):
    """Of a variance that keeps the size of what goes through."""
    fan_in = int(np.prod(shape[1:]))
    return op.constant((RNG.choice([-1.0, 0.0, 0.0, 1.0], shape) * np.sqrt(2 / fan_in)).astype(np.float32))


def named(node, name):
    node.set_friendly_name(name)
    return node


def layers(n_layers=4, steps=16, width=256):
    x = op.parameter([1, steps, width], np.float32, name="tokens")
    x.output(0).set_names({"tokens"})
    at = [named(op.squeeze(s, [1]), "token/%d" % i) for i, s in enumerate(op.split(x, 1, steps).outputs())]
    zeros = op.constant(np.zeros((1, width), np.float32))
    for layer in range(n_layers):
        h, c = zeros, zeros
        w, r, b = weights(4 * width, width), weights(4 * width, width), weights(4 * width, 1)
        b = op.constant(np.zeros(4 * width, np.float32))
        for i in range(steps):
            cell = named(op.lstm_cell(at[i], h, c, w, r, b, width), "layer/%d/step/%d" % (layer, i))
            h, c = cell.output(0), cell.output(1)
            at[i] = h
    y = named(op.softmax(op.matmul(at[-1], weights(1000, width), False, True), 1), "probabilities")
    y.output(0).set_names({"probabilities"})
    return ov.Model([y], [x], "layers")


def convolution(x, n_in, n_out, size, name, stride=1):
    w = weights(n_out, n_in, size, size)
    pad = size // 2
    return named(op.relu(op.convolution(x, w, [stride] * 2, [pad] * 2, [pad] * 2, [1, 1])), name)


def branches(blocks=5, width=96):
    x = op.parameter([1, 3, 96, 96], np.float32, name="image")
    x.output(0).set_names({"image"})
    y = convolution(x, 3, 32, 3, "stem/a", 2)
    y, n = convolution(y, 32, width, 3, "stem/b", 2), width
    for k in range(blocks):
        at = "block/%d/" % k
        a = convolution(y, n, 32, 1, at + "one")
        b = convolution(convolution(y, n, 32, 1, at + "three/reduce"), 32, 48, 3, at + "three")
        c = convolution(convolution(y, n, 16, 1, at + "five/reduce"), 16, 32, 5, at + "five")
        d = op.max_pool(y, [1, 1], [1, 1], [1, 1], [1, 1], [3, 3]).output(0)
        d = convolution(d, n, 32, 1, at + "pool")
        y, n = named(op.concat([a, b, c, d], 1), at + "joined"), 144
    y = op.matmul(op.reduce_mean(y, [2, 3], False), weights(100, n), False, True)
    y = named(op.softmax(y, 1), "classes")
    y.output(0).set_names({"classes"})
    return ov.Model([y], [x], "branches")


def main():
    to = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for model in layers(), branches():
        xml = to / (model.friendly_name + ".xml")
        ov.save_model(model, xml, compress_to_fp16=False)
        raw = xml.with_suffix(".bin")
        raw.with_suffix(".bin.xz").write_bytes(lzma.compress(raw.read_bytes(), preset=9))
        raw.unlink()


if __name__ == "__main__":
    main()
