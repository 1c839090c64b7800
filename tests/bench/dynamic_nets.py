"""dynamic_nets.py - eight networks with open dims, as OpenVINO's IR with drawn weights, and what shapes come in.

    python tests/bench/dynamic_nets.py FOLDER [NAME...]

Writes FOLDER/NAME.xml and .bin, and NAME.tsv: shapes and how often they come, as `ir2dag --shapes` takes them.  The names:
    encoder      a transformer's encoder, four layers: texts of 4 to 512 tokens
    decoder      a causal one that reads a whole prompt, with rotary positions: 8 to 1,024 tokens
    translator   encoder and decoder with attention across: both lengths, which are alike
    tagger       two LSTMs in opposite directions over a sequence: 4 to 128 steps
    speech       convolutions in time, then attention: 50 to 1,600 frames
    detector     an image in three scales, features added from coarse to fine: 128 to 768 pixels
    ranker       tables of features, a cross network and a deep one: batches of 1 to 4,096
    experts      a gate and four dense experts, summed by its weights: 1 to 512 rows
Needs OpenVINO's Python and numpy."""
import os
import sys

import numpy as np
import openvino as ov
from openvino import opset13 as op

i64 = lambda *v: op.constant(np.array(v, np.int64))


class Maker:
    """Weights are drawn; of images and sequences too, whatever their length."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def weights(self, *shape):
        return op.constant((self.rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32))

    def dense(self, x, size, out):
        return op.add(op.matmul(x, self.weights(out, size), False, True), self.weights(1, out)).output(0)

    def norm(self, x):
        return op.mvn(x, i64(-1), True, 1e-5, "inside_sqrt").output(0)

    def convolution(self, x, channels, out, k, stride=1):
        dims = len(k)
        w = op.constant((self.rng.standard_normal((out, channels, *k)) / np.sqrt(channels * np.prod(k))).astype(np.float32))
        pad = [i // 2 for i in k]
        return op.relu(op.convolution(x, w, [stride] * dims, pad, pad, [1] * dims)).output(0)

    def attention(self, x, memory, size, heads, mask=None, turn=None):
        def split(t):
            t = op.reshape(t, i64(0, 0, heads, size // heads), True)
            return op.transpose(t, i64(0, 2, 1, 3)).output(0)
        q, k, v = split(self.dense(x, size, size)), split(self.dense(memory, size, size)), split(self.dense(memory, size, size))
        if turn:
            q, k = turn(q), turn(k)
        score = op.multiply(op.matmul(q, k, False, True), np.float32((size // heads) ** -0.5))
        if mask is not None:
            score = op.add(score, mask)
        y = op.transpose(op.matmul(op.softmax(score, -1), v, False, False), i64(0, 2, 1, 3))
        return self.dense(op.reshape(y, i64(0, 0, size), True).output(0), size, size)

    def feed(self, x, size, wide, act=op.gelu):
        h = self.dense(x, size, wide)
        return self.dense((act(h, "erf") if act is op.gelu else act(h)).output(0), wide, size)

    def block(self, x, size, heads, wide, memory=None, mask=None, turn=None):
        n = self.norm(x)
        x = op.add(x, self.attention(n, n, size, heads, mask, turn)).output(0)
        if memory is not None:
            x = op.add(x, self.attention(self.norm(x), memory, size, heads)).output(0)
        return op.add(x, self.feed(self.norm(x), size, wide)).output(0)

    def embedded(self, ids, words, size):
        return op.gather(self.weights(words, size), ids, op.constant(0)).output(0)


def tokens(name):
    return op.parameter([1, -1], np.int32, name=name)


def length_of(x, axis=1):
    return op.gather(op.shape_of(x), i64(axis), op.constant(0))


def causal_mask(ids):
    n = op.squeeze(length_of(ids), i64(0))
    at = op.range(op.constant(np.int64(0)), n, op.constant(np.int64(1)), "i64")
    later = op.greater(op.unsqueeze(at, i64(0)), op.unsqueeze(at, i64(1)))
    return op.select(later, op.constant(np.float32(-1e4)), op.constant(np.float32(0))), at


def encoder(m):
    ids = tokens("ids")
    x = m.embedded(ids, 8000, 384)
    for _ in range(4):
        x = m.block(x, 384, 6, 1536)
    return [m.dense(op.reduce_mean(x, i64(1), False).output(0), 384, 16)], [ids]


def decoder(m):
    ids = tokens("ids")
    mask, at = causal_mask(ids)
    angle = op.matmul(op.unsqueeze(op.convert(at, "f32"), i64(1)), op.constant(1e4 ** (-np.arange(0, 1, 1 / 32, np.float32))[None]), False, False)
    angle = op.concat([angle, angle], 1)
    cos, sin = op.cos(angle), op.sin(angle)

    def turn(t):
        a, b = op.split(t, op.constant(3), 2).outputs()
        return op.add(op.multiply(t, cos), op.multiply(op.concat([op.negative(b), a], 3), sin)).output(0)

    x = m.embedded(ids, 8000, 512)
    for _ in range(4):
        x = m.block(x, 512, 8, 1408, mask=mask, turn=turn)
    last = op.gather(x, i64(-1), op.constant(1))
    return [m.dense(op.squeeze(last, i64(1)).output(0), 512, 8000)], [ids]


def translator(m):
    source, target = tokens("source"), tokens("target")
    memory = m.embedded(source, 6000, 256)
    for _ in range(3):
        memory = m.block(memory, 256, 4, 1024)
    mask, _ = causal_mask(target)
    x = m.embedded(target, 6000, 256)
    for _ in range(3):
        x = m.block(x, 256, 4, 1024, memory=memory, mask=mask)
    return [m.dense(x, 256, 6000)], [source, target]


def tagger(m):
    ids = tokens("ids")
    size, x, n = 256, m.embedded(ids, 5000, 256), None
    n = op.broadcast(length_of(ids), i64(1))
    for layer in range(2):
        inside = size if layer == 0 else 2 * size
        zero = op.constant(np.zeros((1, 1, size), np.float32))
        ends = [op.lstm_sequence(x, zero, zero, n, m.weights(1, 4 * size, inside), m.weights(1, 4 * size, size),
                                 op.constant(np.zeros((1, 4 * size), np.float32)), size, way).output(0) for way in ("forward", "reverse")]
        x = op.concat([op.squeeze(y, i64(1)) for y in ends], 2).output(0)
    return [m.dense(x, 2 * size, 40)], [ids]


def speech(m):
    sound = op.parameter([1, 80, -1], np.float32, name="sound")
    x = m.convolution(m.convolution(sound, 80, 256, [3], 2), 256, 256, [3], 2)
    x = op.transpose(x, i64(0, 2, 1)).output(0)
    for _ in range(4):
        x = m.block(x, 256, 4, 1024)
        between = op.transpose(m.norm(x), i64(0, 2, 1)).output(0)
        x = op.add(x, op.transpose(m.convolution(between, 256, 256, [5]), i64(0, 2, 1))).output(0)
    return [m.dense(x, 256, 1000)], [sound]


def detector(m):
    image = op.parameter([1, 3, -1, -1], np.float32, name="image")
    x = m.convolution(image, 3, 32, [3, 3], 2)
    scales = []
    for wide, before in ((64, 32), (128, 64), (256, 128), (256, 256)):
        x = m.convolution(m.convolution(x, before, wide, [3, 3], 2), wide, wide, [3, 3])
        scales.append(m.convolution(x, wide, 96, [1, 1]))
    top, outs = scales.pop(), []
    while True:
        outs += [m.convolution(m.convolution(top, 96, 96, [3, 3]), 96, k, [3, 3]) for k in (24, 16)]
        if not scales:
            return outs, [image]
        fine = scales.pop()
        size = op.gather(op.shape_of(fine), i64(2, 3), op.constant(0))
        grown = op.interpolate(top, size, "nearest", "sizes", axes=i64(2, 3), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        top = op.add(fine, grown).output(0)


def ranker(m):
    ids, dense = op.parameter([-1, 26], np.int32, name="ids"), op.parameter([-1, 13], np.float32, name="dense")
    e = op.reshape(m.embedded(ids, 20000, 32), i64(0, 26 * 32), True).output(0)
    x0 = op.concat([e, m.dense(dense, 13, 64)], 1).output(0)
    size, cross, deep = 26 * 32 + 64, x0, x0
    for _ in range(3):
        cross = op.add(op.multiply(x0, m.dense(cross, size, size)), cross).output(0)
    for inside, wide in ((size, 1024), (1024, 512), (512, 256)):
        deep = op.relu(m.dense(deep, inside, wide)).output(0)
    return [op.sigmoid(m.dense(op.concat([cross, deep], 1).output(0), size + 256, 1))], [ids, dense]


def experts(m):
    x = rows = op.parameter([-1, 256], np.float32, name="rows")
    for _ in range(3):
        gate = op.split(op.softmax(m.dense(x, 256, 4), -1), op.constant(1), 4).outputs()
        mixed = [op.multiply(g, m.feed(x, 256, 1024)) for g in gate]
        x = m.norm(op.add(op.add(op.add(mixed[0], mixed[1]), op.add(mixed[2], mixed[3])), x).output(0))
    return [m.dense(x, 256, 64)], [rows]


def lengths(low, high, median, form, n=40):
    """Lengths as they come in, log-normal between low and high, and how often of 10,000."""
    at = np.unique(np.round(np.geomspace(low, high, n)).astype(int))
    often = np.exp(-0.5 * (np.log(at / median) / 0.8) ** 2)
    return [(form(int(k)), max(1, round(w))) for k, w in zip(at, 1e4 * often / often.sum())]


# Each network, and the shapes that come in.
NETS = {
    "encoder": (encoder, lengths(4, 512, 40, "ids=1,{0}".format)),
    "decoder": (decoder, lengths(8, 1024, 128, "ids=1,{0}".format)),
    "translator": (translator, lengths(4, 256, 24, "source=1,{0};target=1,{0}".format)),
    "tagger": (tagger, lengths(4, 128, 20, "ids=1,{0}".format)),
    "speech": (speech, lengths(50, 1600, 300, "sound=1,80,{0}".format)),
    "detector": (detector, lengths(4, 24, 10, lambda k: "image=1,3,%d,%d" % (32 * k, 32 * k))),
    "ranker": (ranker, lengths(1, 4096, 64, "ids={0},26;dense={0},13".format)),
    "experts": (experts, lengths(1, 512, 16, "rows={0},256".format)),
}


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(NETS)
    for name in names:
        make, shapes = NETS[name] if name in NETS else sys.exit("dynamic_nets.py: no network '%s'; there are %s" % (name, " ".join(NETS)))
        outs, ins = make(Maker(1))
        ov.save_model(ov.Model(outs, ins, name), os.path.join(folder, name + ".xml"), compress_to_fp16=False)
        with open(os.path.join(folder, name + ".tsv"), "w", encoding="utf-8") as f:
            f.writelines("%s\t%d\n" % s for s in shapes)


if __name__ == "__main__":
    main()
