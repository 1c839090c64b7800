"""nets_found.py - networks that were wrong once, for nets.py --found: what it was made for, what it has found; and some that the
rest of the suite does not meet.  Each function gives the values of a Net that are its results.  FOUND_CODES: quantised ones."""
import numpy as np
import openvino.opset15 as op

from nets_ops import i64, same_convolution

FOUND, FOUND_CODES = [], []


def found(f):
    FOUND.append(f)
    return f


def found_codes(f):
    FOUND_CODES.append(f)
    return f


def constant(net, *shape):
    c = net.values(*shape)
    return lambda: op.constant(c)


@found
def tokens_of_planes(net):
    """A transposition of what lies in pixels, then an element-wise step: elements stayed where they were."""
    net.parameter((2, 5, 6, 7))
    c = constant(net, 1, 1, 9)
    y = same_convolution(net, 0, 9, 3)
    y = net.add("Reshape [0, 0, -1]", [y], lambda p: op.reshape(p, i64([0, 0, -1]), True))
    y = net.add("Transpose [0, 2, 1]", [y], lambda p: op.transpose(p, i64([0, 2, 1])))
    return [net.add("Add x, constant", [y], lambda p: op.add(p, c()))]


def of_more_dims(net, shape, *other):
    """What lies in pixels, and a constant that gives it one dim more: channels were taken for others."""
    net.parameter(shape)
    c = constant(net, *other)
    y = same_convolution(net, 0, 8, 1)
    return [net.add("Add x, constant%s" % list(other), [y], lambda p: op.add(p, c()))]


@found
def five_dims(net):
    return of_more_dims(net, (1, 4, 5, 6), 1, 1, 1, 1, 1)


@found
def four_dims(net):
    return of_more_dims(net, (1, 4, 9), 1, 1, 1, 1)


@found
def sum_of_other_dims(net):
    """Two tensors of as many elements, one with a dim more."""
    net.parameter((1, 4, 5, 6))
    net.parameter((1, 1, 4, 5, 6))
    y, z = same_convolution(net, 0, 4, 1), same_convolution(net, 1, 1, 1)
    return [net.add("Add", [y, z], op.add), net.add("Multiply", [z, y], op.multiply)]


@found
def one_axis_resized(net):
    """The other axis keeps its size, whatever coordinates there are."""
    net.parameter((1, 16, 14, 5))
    y = net.add("Interpolate", [same_convolution(net, 0, 16, 1)], lambda p: op.interpolate(
        p, i64([14, 10]), "linear_onnx", "sizes", [0, 0], [0, 0], "tf_half_pixel_for_nn", "floor", False, -0.75,
        i64([2, 3])))
    return [net.add("Transpose [0, 2, 3, 1]", [y], lambda p: op.transpose(p, i64([0, 2, 3, 1])))]


@found
def one_pixel_of_tokens(net):
    """A depthwise convolution of tokens whose planes have one pixel, and something for each channel behind it."""
    net.parameter((3, 1, 1, 17))
    w, b = constant(net, 17, 1, 1, 1, 1), constant(net, 1, 17, 1, 1)
    y = net.add("Transpose [0, 3, 1, 2]", [0], lambda p: op.transpose(p, i64([0, 3, 1, 2])))
    y = net.add("GroupConvolution g17", [y], lambda p: op.group_convolution(p, w(), [1, 1], [0, 0], [0, 0], [1, 1]))
    return [net.add("Add bias", [y], lambda p: op.add(p, b()))]


@found
def images_of_few_pixels(net):
    """1x1 convolutions of many small images, which are convolved as one: a factor for each image, one for each pixel, a sum, and
    planes at both ends."""
    net.parameter((7, 12, 3, 2))
    grid = constant(net, 1, 1, 3, 2)
    x = net.add("Relu", [same_convolution(net, 0, 16, 1)], op.relu)
    y = same_convolution(net, x, 16, 1)
    image = net.add("ReduceMean", [y], lambda p: op.reduce_mean(p, i64([2, 3]), True))
    y = net.add("Multiply image", [y, same_convolution(net, image, 16, 1)], op.multiply)
    y = net.add("Add", [same_convolution(net, y, 16, 1), x], op.add)
    return [net.add("Multiply pixel", [same_convolution(net, y, 9, 1)], lambda p: op.multiply(p, grid())), y]


def product(net, x, n):
    w = net.values(n, net.shape[x][-1])
    return net.add("MatMul x, constant", [x], lambda p: op.matmul(p, op.constant(w), False, True))


@found
def heads_cut_out(net):
    """Queries, keys and values cut out of one product, by a split and by single indices: one copy each (cpu_moves.h)."""
    net.parameter((2, 7, 12))
    y = product(net, 0, 36)
    y = net.add("Reshape [0, 0, 3, 2, 6]", [y], lambda p: op.reshape(p, i64([0, 0, 3, 2, 6]), True))
    y = net.add("Transpose [2, 0, 3, 1, 4]", [y], lambda p: op.transpose(p, i64([2, 0, 3, 1, 4])))
    q, k, v = [net.add("Gather %d axis=0" % i, [y], lambda p, i=i: op.gather(p, i64(i), i64(0))) for i in (0, 1, -1)]
    y = net.add("ScaledDotProductAttention", [q, k, v], op.scaled_dot_product_attention)
    y = net.add("Split axis=1 2", [y], lambda p: op.split(p, i64(1), 2))
    parts = [net.add("Transpose [2, 0, 1, 3]", [y + i], lambda p: op.transpose(p, i64([2, 0, 1, 3]))) for i in range(2)]
    return [net.add("Subtract", parts, op.subtract)]


@found
def moved_backwards(net):
    """Slices from the end to the start, with views and transpositions between; what is cut is also read whole."""
    net.parameter((3, 5, 8))
    y = product(net, 0, 24)
    y = net.add("Slice -1..-6 by -2, 3..24 by 3", [y], lambda p: op.slice(p, i64([-1, 3]), i64([-6, 24]), i64([-2, 3]), i64([1, 2])))
    a = net.add("Transpose [2, 0, 1]", [y], lambda p: op.transpose(p, i64([2, 0, 1])))
    z = net.add("Reshape [7, -1]", [a], lambda p: op.reshape(p, i64([7, -1]), False))
    z = net.add("StridedSlice 6..1 by -1", [z], lambda p: op.strided_slice(p, i64([6, 0]), i64([1, 0]), i64([-1, 1]), [0, 1], [0, 1], [], [], []))
    return [net.add("Relu", [a], op.relu), net.add("Tanh", [z], op.tanh)]


@found
def branches_of_training(net):
    """Windows of 3x3 and 1x1 and the tensor times a factor a channel, added up: one convolution (group_merged.c); and one whose
    sum on the way has another reader, so that it is not."""
    net.parameter((1, 6, 7, 8))
    w3, w1, w5 = net.values(6, 6, 3, 3), net.values(6, 6, 1, 1), net.values(6, 1, 1, 5, 5)
    f, b = net.values(1, 6, 1, 1), net.values(1, 6, 1, 1)

    def conv(x, w, pad):
        make = op.group_convolution if len(w.shape) == 5 else op.convolution
        return net.add("conv %s" % list(w.shape), [x], lambda p: make(p, op.constant(w), [1, 1], [pad, pad], [pad, pad], [1, 1]))
    x = net.add("Relu", [0], op.relu)
    a = net.add("Add x, constant", [conv(x, w1, 0)], lambda p: op.add(p, op.constant(b)))
    y = net.add("Add", [a, net.add("Add x, constant", [conv(x, w3, 1)], lambda p: op.add(p, op.constant(f)))], op.add)
    y = net.add("Add", [net.add("Multiply x, constant", [x], lambda p: op.multiply(p, op.constant(f))), y], op.add)
    y = net.add("Relu", [y], op.relu)
    t = net.add("Add", [conv(y, w5, 2), net.add("Multiply x, constant", [y], lambda p: op.multiply(p, op.constant(b)))], op.add)
    z = net.add("Add", [t, conv(y, net.values(6, 1, 1, 3, 3), 1)], op.add)
    return [net.add("Abs", [t], op.abs), net.add("Relu", [z], op.relu)]


def heads(net, x, n, d):
    """Queries, keys and values of n heads of width d, cut out of one product."""
    y = product(net, x, 3 * n * d)
    y = net.add("Reshape [0, 0, 3, %d, %d]" % (n, d), [y], lambda p: op.reshape(p, i64([0, 0, 3, n, d]), True))
    y = net.add("Transpose [2, 0, 3, 1, 4]", [y], lambda p: op.transpose(p, i64([2, 0, 3, 1, 4])))
    return [net.add("Gather %d axis=0" % i, [y], lambda p, i=i: op.gather(p, i64(i), i64(0))) for i in range(3)]


@found
def attention_of_windows(net):
    """A factor of each head, a bias of each head, and a mask of each window, which meets another shape: one step (cpu_attended.h)."""
    net.parameter((4, 64, 24))
    q, k, v = heads(net, 0, 3, 16)
    f, bias, mask = abs(net.values(1, 3, 1, 1)) / 4, net.values(1, 3, 64, 64), net.values(1, 4, 1, 64, 64)
    mask[mask > 0.5] = -100
    y = net.add("MatMul False True", [q, k], lambda a, b: op.matmul(a, b, False, True))
    y = net.add("Multiply heads", [y], lambda p: op.multiply(p, op.constant(f)))
    y = net.add("Add bias", [y], lambda p: op.add(p, op.constant(bias)))
    y = net.add("Reshape [1, 4, 3, 64, 64]", [y], lambda p: op.reshape(p, i64([1, 4, 3, 64, 64]), False))
    y = net.add("Add mask", [y], lambda p: op.add(p, op.constant(mask)))
    y = net.add("Reshape [4, 3, 64, 64]", [y], lambda p: op.reshape(p, i64([4, 3, 64, 64]), False))
    y = net.add("Softmax -1", [y], lambda p: op.softmax(p, -1))
    y = net.add("MatMul False False", [y, v], lambda a, b: op.matmul(a, b, False, False))
    return [net.add("Transpose [0, 2, 1, 3]", [y], lambda p: op.transpose(p, i64([0, 2, 1, 3])))]


@found
def attention_of_turned_keys(net):
    """Keys in columns, scores divided, numbers for each query and for each key, of which one is computed; fewer keys than queries, more values."""
    net.parameter((2, 4, 96, 12))
    net.parameter((2, 1, 12, 70))
    net.parameter((70, 37))
    net.parameter((2, 4, 96, 1))
    b = net.values(1, 4, 1, 70)
    y = net.add("MatMul False False", [0, 1], lambda a, b: op.matmul(a, b, False, False))
    y = net.add("Divide x, 3", [y], lambda p: op.divide(p, op.constant(np.float32(3))))
    z = net.add("Tanh", [3], op.tanh)
    y = net.add("Add", [z, y], op.add)
    y = net.add("Add x, constant", [y], lambda p: op.add(p, op.constant(b)))
    y = net.add("Softmax 3", [y], lambda p: op.softmax(p, 3))
    return [net.add("MatMul False False", [y, 2], lambda a, b: op.matmul(a, b, False, False))]


@found
def scores_that_are_read(net):
    """What looks like an attention, whose weights are a result, too; and one over queries, not keys."""
    net.parameter((2, 3, 64, 8))
    y = net.add("MatMul False True", [0, 0], lambda a, b: op.matmul(a, b, False, True))
    w = net.add("Softmax -1", [y], lambda p: op.softmax(p, -1))
    y = net.add("MatMul False False", [w, 0], lambda a, b: op.matmul(a, b, False, False))
    z = net.add("MatMul False True", [y, 0], lambda a, b: op.matmul(a, b, False, True))
    z = net.add("Softmax -2", [z], lambda p: op.softmax(p, -2))
    z = net.add("MatMul False False", [z, y], lambda a, b: op.matmul(a, b, False, False))
    return [w, z]


def head(net, x, n, d):
    """n heads of width d of one product."""
    w = net.weights(net.shape[x][-1], n * d, net.shape[x][-1])
    y = net.add("MatMul x, constant", [x], lambda p: op.matmul(p, op.constant(w), False, True))
    y = net.add("Reshape [0, 0, %d, %d]" % (n, d), [y], lambda p: op.reshape(p, i64([0, 0, n, d]), True))
    return net.add("Transpose [0, 2, 1, 3]", [y], lambda p: op.transpose(p, i64([0, 2, 1, 3])))


@found
def attention_where_heads_lie(net):
    """Heads that are turned in front of an attention and behind it, with a mask of truth values; then with as many keys of something else,
    values wider than queries, and a result that is turned in another way (cpu_attended.h)."""
    net.parameter((2, 70, 24))
    net.parameter((2, 45, 24))
    mask = net.values(2, 1, 1, 70) > -0.5
    q, k, v = (head(net, 0, 3, 20) for _ in range(3))
    y = net.add("ScaledDotProductAttention mask", [q, k, v],
                lambda a, b, c: op.scaled_dot_product_attention(a, b, c, causal=False, attention_mask=op.constant(mask)))
    y = net.add("Transpose [0, 2, 1, 3]", [y], lambda p: op.transpose(p, i64([0, 2, 1, 3])))
    y = net.add("Reshape [0, 0, -1]", [y], lambda p: op.reshape(p, i64([0, 0, -1]), True))
    q, k, v = head(net, y, 2, 16), head(net, 1, 2, 16), head(net, 1, 2, 40)
    z = net.add("ScaledDotProductAttention", [q, k, v], op.scaled_dot_product_attention)
    z = net.add("Transpose [2, 0, 1, 3]", [z], lambda p: op.transpose(p, i64([2, 0, 1, 3])))
    q, k, v = head(net, 1, 2, 33), head(net, 1, 2, 33), head(net, 1, 2, 7)
    t = net.add("ScaledDotProductAttention causal", [q, k, v], lambda a, b, c: op.scaled_dot_product_attention(a, b, c, causal=True))
    return [z, net.add("Transpose [0, 1, 3, 2]", [t], lambda p: op.transpose(p, i64([0, 1, 3, 2])))]


def cut_in_three(net, y):
    """A part that a convolution reads, one that is added up and joined again, one that is read in planes."""
    lengths = [8, net.shape[y][1] - 15, 7]
    a = net.add("VariadicSplit axis=1 %s" % lengths, [y], lambda p: op.variadic_split(p, i64(1), i64(lengths)))
    z = net.add("Multiply", [a + 1, a + 1], op.multiply)
    joined = net.add("Concat", [a, z, same_convolution(net, a, 6, 3)], lambda *p: op.concat(list(p), 1))
    rows = net.add("Reshape [0, -1]", [a + 2], lambda p: op.reshape(p, i64([0, -1]), True))
    return [net.add("ReLU", [joined], op.relu), net.add("Sigmoid", [rows], op.sigmoid)]


@found
def pixels_cut(net):
    """Channels of what lies in pixels, split for readers in pixels and in planes; and for a gate that is fused with it."""
    net.parameter((2, 5, 6, 7))
    gate = net.add("Split axis=1 2", [same_convolution(net, 0, 12, 3)], lambda p: op.split(p, i64(1), 2))
    y = net.add("Multiply", [gate, net.add("Sigmoid", [gate + 1], op.sigmoid)], op.multiply)
    return cut_in_three(net, same_convolution(net, 0, 40, 1)) + [same_convolution(net, y, 4, 3)]


def map_of(net, x):
    """Means over channels, and what is made of them: one value a pixel."""
    return net.add("ReduceMean [1]", [x], lambda p: op.reduce_mean(p, i64([1]), True))


@found
def maps_of_pixels(net):
    """Norms of channels spelled out, gates of one channel that a convolution makes or a mean, of two images and of volumes."""
    net.parameter((2, 5, 6, 7))
    net.parameter((2, 5, 3, 4, 5))
    net.parameter((1, 5, 6, 7))
    results = []
    for x in (0, 1, 2):
        y = same_convolution(net, x, 12, 3)
        d = net.add("Subtract", [y, map_of(net, y)], op.subtract)
        v = map_of(net, net.add("Multiply", [d, d], op.multiply))
        b = constant(net, 12, *[1] * (len(net.shape[x]) - 2))
        z = net.add("Divide", [d, net.add("Sqrt", [v], op.sqrt)], op.divide)
        z = same_convolution(net, net.add("Multiply channels", [z], lambda p, b=b: op.multiply(p, b())), 8, 1)
        gate = net.add("Sigmoid", [same_convolution(net, z, 1, 3)], op.sigmoid)
        z = net.add("Multiply", [gate, z], op.multiply)
        lost = net.add("ReduceMean [1], dim lost", [z], lambda p: op.reduce_mean(p, i64([1]), False))
        results += [same_convolution(net, z, 4, 3), net.add("ReLU", [lost], op.relu)]
    return results


@found
def image_for_each_channel(net):
    """An image that volumes are added to: what are its channels are their planes."""
    net.parameter((1, 5, 6, 7))
    net.parameter((1, 3, 4, 6, 7))
    m, y = same_convolution(net, 0, 4, 3), same_convolution(net, 1, 8, 3)
    return [same_convolution(net, net.add("Add", [y, m], op.add), 4, 1), net.add("Multiply", [m, y], op.multiply)]


@found
def lines_made_longer(net):
    """Transposed convolutions of lines that are planes of one column, or volumes: their padding was that of the column."""
    net.parameter((1, 4, 9, 1))
    net.parameter((1, 3, 5, 1, 1))

    def longer(x, w, strides, pads, *more):
        make = op.group_convolution_backprop_data if len(w) > len(net.shape[x]) else op.convolution_backprop_data
        return net.add("deconv %s" % list(w), [x], lambda p, w=constant(net, *w): make(p, w(), strides, None, pads, pads, [1] * len(pads), "explicit", *more))
    return [longer(0, (4, 5, 4, 1), [2, 1], [1, 0]), longer(0, (4, 3, 5, 1), [2, 1], [2, 0], [1, 0]),
            longer(0, (2, 2, 3, 4, 1), [2, 1], [1, 0]), longer(1, (3, 2, 4, 1, 1), [2, 1, 1], [1, 0, 0])]


# ---- quantised ----

def quantised(net, x, low, high):
    limits = [np.float32(v).reshape([1] * len(net.shape[x])) for v in (low, high, low, high)]
    return net.add("FakeQuantize 256 %g %g" % (low, high), [x], lambda p: op.fake_quantize(p, *[op.constant(v) for v in limits], 256))


def coded_weights(net, *dims):
    """Codes of weights, with a scale for each output."""
    w = np.clip(np.round(net.values(*dims) * 40), -127, 127).astype(np.int8)
    scale = ((1 + np.arange(dims[0])) / dims[0] / 200).astype(np.float32).reshape(-1, *[1] * (len(dims) - 1))
    return lambda: op.multiply(op.convert(op.constant(w), "f32"), op.constant(scale))


def pixels_of_channels(net, x, n):
    """A convolution of codes."""
    x, w = quantised(net, x, -2, 1.984375), coded_weights(net, n, net.shape[x][1], 3, 3)
    return net.add("Convolution 3x3", [x], lambda p: op.convolution(p, w(), [1, 1], [1, 1], [1, 1], [1, 1]))


def pixels_of_codes(net, n):
    net.parameter((1, 5, 9, 7))
    return pixels_of_channels(net, 0, n)


def rms(net, x, way, gain, swap=False):
    """x by the root of the mean of its squares, as it is spelled out.  gain: the shape of a constant, or a value.  swap: the quotient is
    the other way round."""
    one = lambda v: op.constant(np.float32(v))
    if way % 2:
        y = net.add("Multiply x, x", [x, x], op.multiply)
    else:
        y = net.add("Power x, 2", [x], lambda p: op.power(p, one(2)))
    y = net.add("ReduceMean [-1] keep=True", [y], lambda p: op.reduce_mean(p, i64([-1]), True))
    y = net.add("Add x, 0.01", [y], lambda p: op.add(one(0.01), p) if way % 2 else op.add(p, one(0.01)))
    if way < 4:
        y = net.add("Sqrt", [y], op.sqrt)
    else:
        y = net.add("Power x, -0.5", [y], lambda p: op.power(p, one(-0.5)))
    if way < 2:
        y = net.add("Divide", [y, x] if swap else [x, y], op.divide)
    else:
        if way < 4:
            y = net.add("Divide 1, x", [y], lambda p: op.divide(one(1), p))
        y = net.add("Multiply", [x, y] if way % 2 else [y, x], op.multiply)
    if isinstance(gain, int):
        return net.add("Multiply", [y, gain], op.multiply)
    c = constant(net, *gain)
    return net.add("Multiply x, constant%s" % list(gain), [y], lambda p: op.multiply(c(), p) if way % 2 else op.multiply(p, c()))


@found
def rms_in_nodes(net):
    """RMS normalisation of rows, one behind the other; gains of the right shape and of others, and roots that something else reads."""
    net.parameter((2, 5, 24))
    net.parameter((24,))
    x = 0
    for way, gain in enumerate([(24,), (1, 1, 24), (1, 24), (1,), (24,), (5, 24), (2, 1, 1), 1, 1]):
        x = net.add("Add", [x, rms(net, x, way % 6, gain)], op.add)
    y = rms(net, x, 0, (24,))
    root = next(s.first for s in reversed(net.steps) if s.label == "Sqrt")
    return [y, rms(net, net.add("Subtract", [x, root], op.subtract), 3, (24,)), root, rms(net, net.add("Sigmoid", [y], op.sigmoid), 0, (24,), True)]


@found
def rms_of_planes(net):
    """The same over the last of two spatial dims, and over channels."""
    net.parameter((2, 5, 6, 24))
    x = rms(net, same_convolution(net, 0, 9, 3), 1, (24,))
    y = same_convolution(net, x, 24, 1)
    y = net.add("Transpose [0, 2, 3, 1]", [y], lambda p: op.transpose(p, i64([0, 2, 3, 1])))
    return [rms(net, y, 4, (1, 24))]


def blocks_of(net, x, convolution, quantise=lambda x: x):
    """DepthToSpace and SpaceToDepth between convolutions."""
    results = []
    for mode in "blocks_first", "depth_first":
        for b in 2, 3:
            y = quantise(convolution(x, 5 * b * b, 3))
            y = net.add("DepthToSpace %s" % mode, [y], lambda p, m=mode, b=b: op.depth_to_space(p, m, b))
            y = quantise(convolution(y, 7, 3))
            y = net.add("SpaceToDepth %s" % mode, [y], lambda p, m=mode, b=b: op.space_to_depth(p, m, b))
            results.append(convolution(y, 4, 1))
    return results


@found
def blocks_of_pixels(net):
    net.parameter((2, 8, 5, 8))
    y = net.add("DepthToSpace", [0], lambda p: op.depth_to_space(p, "blocks_first", 2))       # of what lies plain
    return [same_convolution(net, y, 3, 3)] + blocks_of(net, 0, lambda x, n, k: same_convolution(net, x, n, k))


@found
def blocks_of_cubes(net):
    net.parameter((1, 16, 2, 3, 4))
    x = same_convolution(net, 0, 24, 3)
    y = net.add("DepthToSpace", [x], lambda p: op.depth_to_space(p, "depth_first", 2))
    y = same_convolution(net, y, 5, 3)
    y = net.add("SpaceToDepth", [y], lambda p: op.space_to_depth(p, "blocks_first", 2))
    return [same_convolution(net, y, 3, 1)]


def rows_of(net, x, convolution, quantise=lambda x: x):
    """Slices, Splits and Concats of rows and columns between convolutions: halves with halos, boxes, steps, backwards."""
    rank, (h, w) = len(net.shape[x]), net.shape[x][-2:]
    y, results = quantise(convolution(x, 21, 3)), []
    cut = lambda x, a, b, step, axes: net.add("Slice %s:%s:%s of %s" % (a, b, step, axes), [x], lambda p: op.slice(
        p, i64(a), i64(b), i64(step), i64(axes)))
    join = lambda parts, axis: net.add("Concat axis=%d" % axis, parts, lambda *p: op.concat(list(p), axis))
    for axis, n in ((rank - 2, h), (rank - 1, w)):
        parts = [cut(y, [0], [n // 2 + 1], [1], [axis]), cut(y, [n // 2 - 2], [n], [1], [axis]), cut(y, [-3], [n + 9], [1], [axis - rank])]
        results.append(convolution(join([quantise(convolution(p, 5, 3)) for p in parts], axis - rank if axis == rank - 2 else axis), 4, 1))
        z = net.add("VariadicSplit axis=%d" % axis, [y], lambda p, axis=axis, n=n: op.variadic_split(p, i64(axis), i64([2, n - 3, 1])))
        results += [convolution(join([z, z + 2], axis), 4, 3), z + 1]       # of which one is read outside
    results.append(convolution(cut(y, [1, 2], [h - 1, w - 1], [1, 1], [rank - 2, rank - 1]), 4, 3))
    results.append(convolution(cut(y, [1, w], [h, -w - 1], [2, -1], [rank - 2, rank - 1]), 4, 3))
    begin, end, mask = [0] * (rank - 2) + [2, 1], [0] * (rank - 2) + [h, -1], [1] * (rank - 2) + [0, 0]
    results.append(convolution(net.add("StridedSlice", [y], lambda p: op.strided_slice(
        p, i64(begin), i64(end), i64([1] * rank), mask, mask)), 4, 1))
    return results


@found
def rows_of_pixels(net):
    net.parameter((2, 6, 9, 8))
    plain = net.add("Concat axis=2", [0, 0], lambda *p: op.concat(list(p), 2))
    mixed = net.add("Concat axis=3", [0, same_convolution(net, 0, 6, 3), 0], lambda *p: op.concat(list(p), 3))
    return [same_convolution(net, plain, 3, 3), same_convolution(net, mixed, 3, 3)] + rows_of(net, 0, lambda x, n, k: same_convolution(net, x, n, k))


@found
def rows_of_cubes(net):
    net.parameter((2, 16, 3, 7, 6))
    return rows_of(net, 0, lambda x, n, k: same_convolution(net, x, n, k))


@found_codes
def sum_and_its_codes(net):
    """Sums, the same with a bias, and codes of that are all read: what was added up was not where codes were made of it."""
    net.parameter((1, 24, 4, 2, 2))
    w, b = constant(net, 130, 24, 3, 1, 1), constant(net, 1, 130, 1, 1, 1)
    y = net.add("Convolution 3x1x1", [0], lambda p: op.convolution(p, w(), [1, 2, 2], [0, 0, 0], [0, 0, 0], [1, 1, 1]))
    z = net.add("Add bias", [y], lambda p: op.add(p, b()))
    a = net.add("Concat", [quantised(net, z, -8, 7.9375), y], lambda *p: op.concat(list(p), 1))
    return [net.add("Concat", [z, a], lambda *p: op.concat(list(p), 1))]


@found_codes
def lines_between_codes(net):
    """Codes, times and plus one constant a channel, limited or not, to other codes, of 20 channels and of 32; HSwish to codes;
    factors for each image."""
    results = []
    for n in (20, 32):
        x = quantised(net, pixels_of_codes(net, n), -3, 2.9765625)
        m, b = constant(net, 1, n, 1, 1), constant(net, 1, n, 1, 1)
        y = net.add("Multiply channels", [x], lambda p, m=m: op.multiply(p, m()))
        y = net.add("Add channels", [y], lambda p, b=b: op.add(p, b()))
        r = quantised(net, net.add("ReLU", [y], op.relu), 0, 4)
        s = quantised(net, net.add("HSwish", [pixels_of_codes(net, n)], op.hswish), -0.375, 3.609375)
        mean = net.add("ReduceMean [2, 3]", [r], lambda p: op.reduce_mean(p, i64([2, 3]), True))
        t = quantised(net, net.add("Multiply", [s, mean], op.multiply), -1, 0.9921875)
        w = coded_weights(net, 9, n, 1, 1)
        conv = lambda p, w=w: op.convolution(p, w(), [1, 1], [0, 0], [0, 0], [1, 1])
        results += [net.add("Convolution 1x1", [v], conv) for v in (r, s, t, quantised(net, y, -1.25, 2.734375))]
    return results


@found_codes
def products_of_columns(net):
    """Rows that lie in columns, of several matrices, at once as codes and as what becomes codes."""
    net.parameter((2, 70, 45))
    w = coded_weights(net, 33, 70)
    product = lambda p: op.matmul(p, w(), True, True)
    x = quantised(net, 0, -2, 2)
    m = constant(net, 1, 1, 45)
    y = quantised(net, net.add("Multiply", [x], lambda p: op.multiply(p, m())), -3, 3)
    return [net.add("MatMul x turned", [v], product) for v in (x, y)]


@found_codes
def codes_cut(net):
    """The same of codes."""
    return cut_in_three(net, quantised(net, pixels_of_codes(net, 40), -1, 2.984375))


@found_codes
def zeros_inside(net):
    """Codes whose zero is neither the first nor the middle one, and all that reads them; convolutions that make such codes."""
    grid = lambda x, scale, zero: quantised(net, x, -zero * scale, (255 - zero) * scale)
    net.parameter((2, 5, 9, 7))
    w = coded_weights(net, 24, 5, 3, 3)
    y = net.add("Convolution 3x3", [quantised(net, 0, -2, 1.984375)], lambda p: op.convolution(p, w(), [1, 1], [1, 1], [1, 1], [1, 1]))
    x = grid(y, 0.015625, 64)
    by = constant(net, 1, 24, 1, 1)
    readers = [
        net.add("MaxPool 3x3", [x], lambda p: op.max_pool(p, [1, 1], [1, 1], [1, 1], [1, 1], [3, 3])),
        net.add("AvgPool 3x3, padding counts", [x], lambda p: op.avg_pool(p, [2, 2], [1, 1], [1, 1], [3, 3], False)),
        net.add("AvgPool 3x3", [x], lambda p: op.avg_pool(p, [1, 1], [1, 1], [1, 1], [3, 3], True)),
        net.add("ReduceMean [2, 3]", [x], lambda p: op.reduce_mean(p, i64([2, 3]), True)),
        net.add("Pad 0", [x], lambda p: op.pad(p, i64([0, 0, 1, 2]), i64([0, 0, 0, 1]), "constant", op.constant(np.float32(0)))),
        net.add("Multiply channels", [x], lambda p: op.multiply(p, by())),
        net.add("Add", [x, grid(y, 0.03125, 100)], op.add),
        net.add("Concat", [x, x], lambda *p: op.concat(list(p), 1)),
    ]
    m, n = readers[0], net.add("MaxPool 5x5", [x], lambda p: op.max_pool(p, [1, 1], [1, 1], [2, 2], [2, 2], [5, 5]))
    readers += [
        quantised(net, net.add("Add", [m, n], op.add), -2, 1.984375),
        grid(net.add("Multiply channels", [n], lambda p: op.multiply(p, by())), 0.03125, 140),
        grid(net.add("Sigmoid", [m], op.sigmoid), 0.00390625, 0),
    ]
    halves = net.add("Split axis=1 2", [x], lambda p: op.split(p, i64(1), 2))
    results = []
    for r in [x, halves, halves + 1] + readers:
        n = net.shape[r][1]
        v = coded_weights(net, 16, n, 3, 3)
        z = net.add("Convolution 3x3", [r], lambda p, v=v: op.convolution(p, v(), [1, 1], [1, 1], [1, 1], [1, 1]))
        d = coded_weights(net, 16, 1, 1, 3, 3)
        z = net.add("GroupConvolution 3x3", [grid(z, 0.03125, 200)], lambda p, d=d: op.group_convolution(p, d(), [1, 1], [1, 1], [1, 1], [1, 1]))
        u = coded_weights(net, 3, 16, 1, 1)
        z = grid(net.add("ReLU", [z], op.relu), 0.03125, 30)
        results.append(net.add("Convolution 1x1", [z], lambda p, u=u: op.convolution(p, u(), [1, 1], [0, 0], [0, 0], [1, 1])))
    return results


@found_codes
def zeros_of_channels(net):
    """Depthwise convolutions of codes with a zero for each channel: padding is of these, on each side as much as is asked for."""
    net.parameter((2, 20, 11, 9))
    scale = (np.float32(1 / 64) * 2 ** (np.arange(20) % 3)).astype(np.float32)
    zero = (np.arange(20) * 13 % 256).astype(np.float32)
    limits = [v.reshape(1, 20, 1, 1).astype(np.float32) for v in (-zero * scale, (255 - zero) * scale)]
    each = lambda x: net.add("FakeQuantize of channels", [x], lambda p: op.fake_quantize(
        p, *[op.constant(v) for v in limits + limits], 256))
    results = []
    made = lambda: pixels_of_channels(net, 0, 20)
    once = same_convolution(net, 0, 20, 1)
    for x in (lambda: 0, lambda: once, made, lambda: net.add("ReLU", [made()], op.relu)):
        for k, s, lo, hi, d in ((3, 1, [1, 1], [1, 1], 1), (5, 2, [2, 1], [1, 2], 1), (3, 1, [0, 0], [0, 0], 1), (3, 1, [2, 2], [2, 2], 2),
                                (3, 2, [1, 0], [0, 1], 1)):
            w = coded_weights(net, 20, 1, 1, k, k)
            y = net.add("GroupConvolution %dx%d s%d p%s-%s d%d" % (k, k, s, lo, hi, d), [each(x())], lambda p, w=w, s=s, lo=lo, hi=hi, d=d:
                        op.group_convolution(p, w(), [s, s], lo, hi, [d, d]))
            results.append(same_convolution(net, y, 4, 1))
    return results


def convolution_of_codes(net, x, n, k):
    w = coded_weights(net, n, net.shape[x][1], k, k)
    return net.add("Convolution %dx%d" % (k, k), [x], lambda p: op.convolution(p, w(), [1, 1], [k // 2] * 2, [k // 2] * 2, [1, 1]))


@found_codes
def blocks_of_codes(net):
    net.parameter((2, 16, 6, 8))
    return blocks_of(net, quantised(net, 0, -2, 1.984375), lambda x, n, k: convolution_of_codes(net, x, n, k),
                     lambda x: quantised(net, x, -1, 2.984375))


@found_codes
def rows_of_codes(net):
    net.parameter((2, 16, 9, 8))
    return rows_of(net, quantised(net, 0, -2, 1.984375), lambda x, n, k: convolution_of_codes(net, x, n, k),
                   lambda x: quantised(net, x, -1, 2.984375))


@found_codes
def moved_grids(net):
    """What only moves values lies between a FakeQuantize and what multiplies codes."""
    net.parameter((4, 16, 6, 8))
    x = quantised(net, convolution_of_codes(net, quantised(net, 0, -2, 1.984375), 24, 3), -1, 2.984375)
    moved = [
        net.add("ShuffleChannels 3", [x], lambda p: op.shuffle_channels(p, 1, 3)),
        net.add("Tile [1, 1, 2, 1]", [x], lambda p: op.tile(p, i64([1, 1, 2, 1]))),
        net.add("Roll 2 by 3", [x], lambda p: op.roll(p, i64([3]), i64([2]))),
        net.add("BatchToSpace", [x], lambda p: op.batch_to_space(p, i64([1, 1, 2, 2]), i64([0, 0, 1, 0]), i64([0, 0, 0, 1]))),
    ]
    y = net.add("ReduceMax", [x], lambda p: op.reduce_max(p, i64([2, 3]), True))
    y = quantised(net, y, -1, 2.984375)
    moved.append(net.add("Broadcast", [y], lambda p: op.broadcast(p, i64([4, 24, 5, 5]))))
    return [convolution_of_codes(net, v, 16, 3) for v in moved]
