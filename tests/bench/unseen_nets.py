"""unseen_nets.py - networks that nobody has placed yet, as OpenVINO's IR with drawn weights.

    python tests/bench/unseen_nets.py KIND FILE.xml [--seed N]

KIND is one of
    nmtL      an encoder and a decoder of L layers of LSTM cells with attention, unrolled: nmt8
    towersB   B branches of convolutions of unlike depth into two recurrent directions: towers3
Sizes (width, words, sentences; channels, depths) are drawn from the seed, so that each seed is another network of the
kind.  Needs OpenVINO's Python and numpy."""
import argparse, re, sys

import numpy as np
import openvino as ov
from openvino import opset13 as op


class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def weights(self, *shape):
        return op.constant((self.rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32))

    def pick(self, *of):
        return int(self.rng.choice(of))


def cell(m, x, state, size, weights):
    """One LSTM cell in plain operators, as exporters unroll it; weights are shared by all steps."""
    h, c = state
    w, r, b = weights
    gates = op.add(op.add(op.matmul(x, w, False, True), op.matmul(h, r, False, True)), b)
    f, i, g, o = op.split(gates, op.constant(1), 4).outputs()
    c = op.add(op.multiply(op.sigmoid(f), c), op.multiply(op.sigmoid(i), op.tanh(g)))
    h = op.multiply(op.sigmoid(o), op.tanh(c))
    return h.output(0), c.output(0)


def lstm_weights(m, size):
    return m.weights(4 * size, size), m.weights(4 * size, size), m.weights(1, 4 * size)


def unrolled(m, steps, layers, size, zero, attend=None):
    weights = [lstm_weights(m, size) for _ in range(layers)]
    state, out = [(zero, zero)] * layers, []
    for x in steps:
        for k in range(layers):
            state[k] = cell(m, x, state[k], size, weights[k])
            x = op.add(state[k][0], x).output(0) if k > 1 else state[k][0]     # residual from the third layer on
        out.append(attend(x) if attend else x)
    return out


def nmt(m, layers):
    sentences, words, size, vocabulary = m.pick(4, 8, 12), m.pick(8, 10, 12), m.pick(96, 128, 160, 192), 2000
    ids = [op.parameter([sentences, words], np.int32, name=n) for n in ("source", "target")]
    zero = op.constant(np.zeros((sentences, size), np.float32)).output(0)

    def embedded(x):
        e = op.gather(m.weights(vocabulary, size), x, op.constant(0))
        return [op.squeeze(t, op.constant([1])).output(0) for t in op.split(e, op.constant(1), words).outputs()]

    memory = unrolled(m, embedded(ids[0]), layers, size, zero)
    keys = op.concat([op.unsqueeze(h, op.constant([1])) for h in memory], 1).output(0)
    query, mixed = m.weights(size, size), m.weights(size, 2 * size)

    def attend(h):
        q = op.unsqueeze(op.matmul(h, query, False, True), op.constant([1]))
        score = op.softmax(op.matmul(q, keys, False, True), 2)
        seen = op.squeeze(op.matmul(score, keys, False, False), op.constant([1]))
        return op.tanh(op.matmul(op.concat([seen, h], 1), mixed, False, True)).output(0)

    outs = unrolled(m, embedded(ids[1]), layers, size, zero, attend)
    all_words = op.concat([op.unsqueeze(h, op.constant([1])) for h in outs], 1)
    return ov.Model([op.matmul(all_words, m.weights(vocabulary, size), False, True)], ids, "nmt%d" % layers)


def towers(m, branches):
    image = op.parameter([1, 3, 96, 96], np.float32, name="image")
    ends = []
    for _ in range(branches):
        x, channels = image.output(0), 3
        for depth in range(m.pick(3, 4, 5)):
            wide, k = m.pick(32, 48, 64), m.pick(1, 3, 5)
            w = op.constant((m.rng.standard_normal((wide, channels, k, k)) / (k * np.sqrt(channels))).astype(np.float32))
            stride = [2, 2] if depth < 2 else [1, 1]
            x = op.relu(op.convolution(x, w, stride, [k // 2] * 2, [k // 2] * 2, [1, 1])).output(0)
            channels = wide
        ends.append(op.reduce_mean(x, op.constant([2]), False).output(0))     # one step a column
    size = m.pick(64, 96)
    both = op.concat(ends, 1)
    steps = [op.squeeze(t, op.constant([2])) for t in op.split(both, op.constant(2), 24).outputs()]
    w = m.weights(size, both.get_output_shape(0)[1])
    steps = [op.matmul(t, w, False, True).output(0) for t in steps]
    zero = op.constant(np.zeros((1, size), np.float32)).output(0)
    there, back = unrolled(m, steps, 1, size, zero), unrolled(m, steps[::-1], 1, size, zero)[::-1]
    rows = [op.concat([a, b], 1) for a, b in zip(there, back)]
    return ov.Model([op.matmul(op.concat(rows, 0), m.weights(50, 2 * size), False, True)], [image], "towers%d" % branches)


KINDS = {"nmt": nmt, "towers": towers}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind")
    p.add_argument("file")
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    kind = re.fullmatch(r"(nmt|towers)([1-9][0-9]?)", o.kind) or sys.exit("unseen_nets.py: unknown kind '%s'" % o.kind)
    ov.save_model(KINDS[kind[1]](Maker(o.seed), int(kind[2])), o.file, compress_to_fp16=False)


if __name__ == "__main__":
    main()
