"""bf16_nets.py - small networks whose products a device may compute in bf16: NAME.xml for each, in the current directory."""
import numpy as np

from tiny_ir import Model

rng = np.random.default_rng(5)


def weights(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def conv(name, x, w, out, spatial=2, stride=1, pad=(0, 0), dilation=1, group=False, post=()):
    m = Model(name)
    at = m.layer("Parameter", "x", "f32", x)
    weight = m.const("w", "f32", weights(*w))
    at = m.layer("GroupConvolution" if group else "Convolution", "conv", "f32", out, at, weight,
                 strides=",".join([str(stride)] * spatial), dilations=",".join([str(dilation)] * spatial),
                 pads_begin=",".join([str(pad[0])] * spatial), pads_end=",".join([str(pad[1])] * spatial), auto_pad="explicit")
    if post:
        bias = m.const("b", "f32", weights(1, out[1], *[1] * spatial))
        at = m.layer("Add", "bias", "f32", out, at, bias)
        at = m.layer(post[0], "act", "f32", out, at)
    m.result(at)
    m.save()


def matmul(name, a, b, out, turn_a=False, turn_b=False, constant=True):
    m = Model(name)
    x = m.layer("Parameter", "x", "f32", a)
    y = m.const("w", "f32", weights(*b)) if constant else m.layer("Parameter", "y", "f32", b)
    at = m.layer("MatMul", "product", "f32", out, x, y, transpose_a=str(turn_a).lower(), transpose_b=str(turn_b).lower())
    m.result(m.layer("Add", "bias", "f32", out, at, m.const("b", "f32", weights(out[-1]))))
    m.save()


conv("c1x1", (1, 64, 14, 14), (96, 64, 1, 1), (1, 96, 14, 14), post=("ReLU",))
conv("c3x3", (2, 19, 17, 13), (35, 19, 3, 3), (2, 35, 17, 13), pad=(1, 1), post=("Sigmoid",))
conv("stem", (1, 3, 65, 47), (16, 3, 7, 7), (1, 16, 33, 24), stride=2, pad=(3, 3))
conv("uneven", (1, 8, 30, 31), (24, 8, 4, 4), (1, 24, 14, 15), stride=2, pad=(1, 0), dilation=1)
conv("wide", (1, 16, 40, 40), (16, 16, 3, 3), (1, 16, 40, 40), pad=(4, 4), dilation=4)
conv("groups", (1, 32, 20, 20), (4, 12, 8, 3, 3), (1, 48, 20, 20), pad=(1, 1), group=True, post=("ReLU",))
conv("depth", (1, 64, 28, 28), (64, 1, 1, 3, 3), (1, 64, 28, 28), pad=(1, 1), group=True)
conv("depth_volume", (1, 32, 5, 9, 9), (32, 1, 1, 3, 3, 3), (1, 32, 5, 9, 9), spatial=3, pad=(1, 1), group=True)
conv("depth_twice", (1, 32, 9, 9), (32, 2, 1, 3, 3), (1, 64, 9, 9), pad=(1, 1), group=True, post=("ReLU",))
conv("line", (1, 16, 400), (32, 16, 5), (1, 32, 400), spatial=1, pad=(2, 2))
conv("volume", (1, 8, 7, 12, 12), (16, 8, 3, 3, 3), (1, 16, 7, 12, 12), spatial=3, pad=(1, 1))
conv("pixel", (1, 512, 1, 1), (700, 512, 1, 1), (1, 700, 1, 1), post=("ReLU",))
conv("rest", (1, 2048, 13, 40), (64, 2048, 1, 1), (1, 64, 13, 40))  # cut into 4 slices, the last would be of one row
conv("none", (0, 64, 14, 14), (96, 64, 1, 1), (0, 96, 14, 14))
matmul("tall", (197, 100), (100, 131), (197, 131))
matmul("turned", (3, 37, 64), (96, 64), (3, 37, 96), turn_b=True)
matmul("left", (64, 50), (64, 96), (50, 96), turn_a=True)
matmul("few", (2, 512), (512, 300), (2, 300))
matmul("pairs", (2, 3, 33, 40), (2, 3, 40, 65), (2, 3, 33, 65), constant=False)
matmul("keys", (2, 3, 33, 64), (1, 3, 47, 64), (2, 3, 33, 47), turn_b=True, constant=False)
matmul("empty", (0, 100), (100, 131), (0, 131))
matmul("hollow", (50, 0), (0, 131), (50, 131), constant=False)


def attend(name, rows, keys, size, values):
    """Attention of odd sizes, with a mask."""
    m = Model(name)
    x = [m.layer("Parameter", n, "f32", (2, 3, *shape)) for n, shape in
         (("query", (rows, size)), ("key", (keys, size)), ("value", (keys, values)))]
    mask = m.const("mask", "f32", np.where(rng.random((rows, keys)) < 0.2, -np.inf, 0).astype(np.float32))
    m.result(m.layer("ScaledDotProductAttention", "attend", "f32", (2, 3, rows, values), *x, mask, causal="false"))
    m.save()


attend("attend", 101, 51, 33, 35)
attend("attend_long", 13, 300, 64, 64)
attend("attend_few", 16, 16, 6, 6)


def layer_of(m):
    """layer(kind, shape, *inputs, **data) with names of its own, and conv(x, shape of x, cout, kernel)."""
    names = iter(range(1000))
    layer = lambda kind, shape, *x, **data: m.layer(kind, f"{kind}{next(names)}", "f32", shape, *x, **data)

    def conv_of(x, shape, cout, kernel=1):
        n, c, h, w = shape
        at = layer("Convolution", (n, cout, h, w), x, m.const(f"w{next(names)}", "f32", weights(cout, c, kernel, kernel) / c ** 0.5),
                   strides="1,1", dilations="1,1", pads_begin=f"{kernel // 2},{kernel // 2}", pads_end=f"{kernel // 2},{kernel // 2}",
                   auto_pad="explicit")
        return layer("ReLU", (n, cout, h, w), at)
    return layer, conv_of


def joined(name, plain_end):
    """Two convolutions' outputs, a pooled one and the input itself, joined twice; then a convolution, or none."""
    m, x = Model(name), (2, 24, 15, 17)
    layer, conv_of = layer_of(m)
    start = m.layer("Parameter", "x", "f32", x)
    a, b = conv_of(start, x, 40), conv_of(start, x, 19, 3)
    pool = layer("MaxPool", (2, 40, 15, 17), a, strides="1,1", kernel="3,3", pads_begin="1,1", pads_end="1,1", rounding_type="floor",
                 auto_pad="explicit")
    both = layer("Concat", (2, 59, 15, 17), a, b, axis=1)
    at = layer("Concat", (2, 123, 15, 17), both, pool, start, axis=-3)
    if not plain_end:
        at = layer("Multiply", (2, 123, 15, 17), at, m.const("scale", "f32", weights(1, 123, 1, 1)))
        at = conv_of(layer("ReLU", (2, 123, 15, 17), at), (2, 123, 15, 17), 32)
    m.result(at)
    m.save()


def sliced(name, plain_end):
    """Two convolutions' outputs, joined; some of the channels, by Slice, all of these by StridedSlice, then a convolution, or
    none; and rows, which are no channels."""
    m, x = Model(name), (2, 24, 15, 17)
    layer, conv_of = layer_of(m)
    start = m.layer("Parameter", "x", "f32", x)
    ints = lambda n, *values: m.const(n, "i64", np.array(values, np.int64))
    a, b = conv_of(start, x, 40), conv_of(start, x, 19, 3)
    both = layer("Concat", (2, 59, 15, 17), a, b, axis=1)
    some = layer("Slice", (2, 33, 15, 17), both, ints("from", 5), ints("to", 38), ints("step", 1), ints("axis", 1))
    at = layer("StridedSlice", (2, 33, 15, 17), some, ints("begin", 0, 0), ints("end", 0, 33), ints("strides", 1, 1),
               begin_mask="1,0", end_mask="1,0", new_axis_mask="", shrink_axis_mask="", ellipsis_mask="")
    if not plain_end:
        at = conv_of(at, (2, 33, 15, 17), 32)
        rows = layer("Slice", (2, 32, 7, 17), at, ints("from2", 14), ints("to2", 0), ints("step2", -2), ints("axis2", 2))
        at = conv_of(rows, (2, 32, 7, 17), 16)
    m.result(at)
    m.save()


def squeezed(name, images):
    """Channels weighed by what their means say, as MobileNet-v3 and EfficientNet do it."""
    m, x = Model(name), (images, 16, 14, 13)
    layer, conv_of = layer_of(m)
    at = conv_of(m.layer("Parameter", "x", "f32", x), x, 72, 3)
    mean = layer("ReduceMean", (images, 72, 1, 1), at, m.const("axes", "i64", np.array([2, 3])), keep_dims="true")
    gate = layer("Sigmoid", (images, 72, 1, 1), conv_of(conv_of(mean, (images, 72, 1, 1), 300), (images, 300, 1, 1), 72))
    at = layer("Multiply", (images, 72, 14, 13), at, gate)
    m.result(conv_of(at, (images, 72, 14, 13), 24))
    m.save()


def strip(name):
    """Images of one row of tiles of minimal filtering, so that threads can only share channels: limits, a sum, an operator of its own."""
    m, x = Model(name), (1, 64, 2, 47)
    layer, conv_of = layer_of(m)

    def three(tag, at, cin, cout):
        return layer("Convolution", (1, cout, 2, 47), at, m.const(tag, "f32", weights(cout, cin, 3, 3) / (9 * cin) ** 0.5), strides="1,1",
                     dilations="1,1", pads_begin="1,1", pads_end="1,1", auto_pad="explicit")
    start = layer("ReLU", x, conv_of(m.layer("Parameter", "x", "f32", x), x, 64))
    at = layer("ReLU", (1, 160, 2, 47), three("wider", start, 64, 160))
    at = layer("Add", x, three("narrower", at, 160, 64), start)
    at = layer("Sigmoid", x, three("same", layer("ReLU", x, at), 64, 64))
    m.result(conv_of(at, x, 24))
    m.save()


def halves(name):
    """Images of one pixel: one slice, of which threads can only share channels."""
    m = Model(name)
    _, conv_of = layer_of(m)
    at = m.layer("Parameter", "x", "f32", (1, 256, 1, 1))
    for cin, cout in ((256, 512), (512, 704), (704, 640), (640, 20)):
        at = conv_of(at, (1, cin, 1, 1), cout)
    m.result(at)
    m.save()


def limited(name, unary, *more, **data):
    """What MobileNets repeat: wider, depthwise, narrower, each but the last with an operator behind it, and the sum with the input.  more:
    constants that the operator reads."""
    m, x, wide = Model(name), (2, 24, 15, 17), (2, 72, 15, 17)
    layer, conv_of = layer_of(m)
    more = [m.const(f"more{i}", "f32", c) for i, c in enumerate(more)]
    start = conv_of(m.layer("Parameter", "x", "f32", x), x, 24)
    at = layer("Convolution", wide, start, m.const("wider", "f32", weights(72, 24, 1, 1)), strides="1,1", dilations="1,1",
               pads_begin="0,0", pads_end="0,0", auto_pad="explicit")
    at = layer(unary, wide, at, *more, **data)
    at = layer("GroupConvolution", wide, at, m.const("depthwise", "f32", weights(72, 1, 1, 3, 3)), strides="1,1", dilations="1,1",
               pads_begin="1,1", pads_end="1,1", auto_pad="explicit")
    at = layer(unary, wide, at, *more, **data)
    at = layer("Convolution", x, at, m.const("narrower", "f32", weights(24, 72, 1, 1)), strides="1,1", dilations="1,1",
               pads_begin="0,0", pads_end="0,0", auto_pad="explicit")
    m.result(conv_of(layer("Add", x, at, start), x, 16))
    m.save()


def pooled(name, x, kernel, stride, pad):
    """A convolution, the largest and the means of windows, padded, and convolutions behind them; two or three spatial dims."""
    m, dims, sizes = Model(name), len(x) - 2, x[2:]
    layer, _ = layer_of(m)
    text = lambda v: ",".join(str(i) for i in v)

    def conv_of(tag, at, shape, cout):
        out = (shape[0], cout, *shape[2:])
        w = m.const(f"w_{tag}", "f32", weights(cout, shape[1], *[1] * dims) / shape[1] ** 0.5)
        at = layer("Convolution", out, at, w, strides=text([1] * dims), dilations=text([1] * dims), pads_begin=text([0] * dims),
                   pads_end=text([0] * dims), auto_pad="explicit")
        return layer("ReLU", out, at), out

    at, wide = conv_of("start", m.layer("Parameter", "x", "f32", x), x, 40)
    small = (x[0], 40, *[(n + 2 * p - k) // s + 1 for n, k, s, p in zip(sizes, kernel, stride, pad)])
    data = dict(strides=text(stride), kernel=text(kernel), pads_begin=text(pad), pads_end=text(pad), rounding_type="floor",
                auto_pad="explicit")
    pools = [layer("MaxPool", small, at, **data)]
    pools += [layer("AvgPool", small, at, **{"exclude-pad": exclude}, **data) for exclude in ("true", "false")]
    ends = [conv_of(f"end{i}", pool, small, 16)[0] for i, pool in enumerate(pools)]
    m.result(layer("Concat", (x[0], 48, *small[2:]), *ends, axis=1))
    m.save()


def meant(name, x):
    """A convolution, the means of its volumes, and both multiplied."""
    m, shape, mean = Model(name), (x[0], 40, *x[2:]), (x[0], 40, 1, 1, 1)
    layer, _ = layer_of(m)
    w = m.const("w", "f32", weights(40, x[1], 1, 1, 1) / x[1] ** 0.5)
    at = layer("Convolution", shape, m.layer("Parameter", "x", "f32", x), w, strides="1,1,1", dilations="1,1,1", pads_begin="0,0,0",
               pads_end="0,0,0", auto_pad="explicit")
    at = layer("ReLU", shape, at)
    means = layer("ReduceMean", mean, at, m.const("axes", "i64", np.array([2, 3, -1], np.int64)), keep_dims="true")
    m.result(layer("Multiply", shape, at, layer("Sigmoid", mean, means)))
    m.save()


meant("meant_volume", (2, 24, 5, 9, 7))
limited("clamped", "Clamp", min="-0.5", max="1.5")
limited("hswish", "HSwish")
limited("leaky", "PReLU", np.array([0.1], np.float32))
joined("joined", False)
joined("joined_plain", True)
sliced("sliced", False)
sliced("sliced_plain", True)
squeezed("squeezed", 1)
squeezed("squeezed_two", 2)

def recurrent(name, kind, steps=0, batch=2, n=24, wide=33, direction="forward", **data):
    """A cell, or a sequence of steps; their weights are small enough that states do not saturate."""
    m, gates = Model(name), {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    each = (2 if direction == "bidirectional" else 1,) if steps else ()
    state = (batch,) + each + (n,)
    at = m.layer("Parameter", "x", "f32", (batch,) + (steps,) * (steps > 0) + (wide,))
    at = [at] + [m.const(f"state{i}", "f32", weights(*state) / 2) for i in range(1 + (kind == "LSTM"))]
    if steps:
        at.append(m.const("lengths", "i64", np.maximum(np.arange(steps, steps - batch, -1), 0)))
        data["direction"] = direction
    rows = (gates + (data.get("linear_before_reset") == "true")) * n
    at += [m.const("w", "f32", weights(*each, gates * n, wide) / 6), m.const("r", "f32", weights(*each, gates * n, n) / 5),
           m.const("b", "f32", weights(*each, rows) / 4)]
    out = (batch,) + each + (steps,) * (steps > 0) + (n,)
    also = [state] * ((kind == "LSTM") + (steps > 0))
    m.result(m.layer(kind + ("Sequence" if steps else "Cell"), "cell", "f32", out, *at, also=also, hidden_size=n,
                     activations={"LSTM": "sigmoid,tanh,tanh", "GRU": "sigmoid,tanh", "RNN": "tanh"}[kind], clip="0.0", **data))
    m.save()


RECURRENT = ["lstm", "lstm_rows", "gru_rows", "lstm_cell", "gru", "gru_reset", "gru_cell", "rnn", "rnn_cell"]
recurrent("lstm", "LSTM", 20, 3, 40, direction="bidirectional")
recurrent("lstm_rows", "LSTM", 9, 11, 40, direction="bidirectional")
recurrent("gru_rows", "GRU", 6, 17, linear_before_reset="false")
recurrent("lstm_cell", "LSTM", batch=5)
recurrent("gru", "GRU", 9, linear_before_reset="false")
recurrent("gru_reset", "GRU", 15, 1, 64, 200, direction="bidirectional", linear_before_reset="true")
recurrent("gru_cell", "GRU", linear_before_reset="true")
recurrent("rnn", "RNN", 6, direction="reverse")
recurrent("rnn_cell", "RNN", batch=1)

m = Model("found")  # its rows are known only while running
at = m.layer("NonZero", "nonzero", "i64", (2, -1), m.layer("Parameter", "x", "f32", (40, 40)), output_type="i64")
at = m.layer("Convert", "real", "f32", (2, -1), at, destination_type="f32")
at = m.layer("MatMul", "product", "f32", (-1, 200), at, m.const("w", "f32", weights(2, 200)), transpose_a="true", transpose_b="false")
m.result(at)
m.save()

def turned_tokens(name, pixels_too):
    """Tokens to planes, a convolution, and back to tokens, seen in three and in four dims; the planes are read as planes, too, or not."""
    m, x, y = Model(name), (2, 24, 12, 14), (2, 33, 12, 14)
    layer, conv_of = layer_of(m)
    ints = lambda n, *values: m.const(n, "i64", np.array(values, np.int64))
    at = layer("Transpose", (2, 24, 168), m.layer("Parameter", "x", "f32", (2, 168, 24)), ints("in_order", 0, 2, 1))
    planes = layer("Reshape", x, at, ints("in_shape", *x), special_zero="false")
    at = conv_of(planes, x, 33)
    back = layer("Transpose", (2, 12, 14, 33), at, ints("order", 0, 2, 3, 1))
    again = conv_of(layer("Transpose", y, back, ints("again", 0, 3, 1, 2)), y, 33)
    flat = layer("Reshape", (2, 33, 168), again, ints("shape", 2, 33, -1), special_zero="false")
    last = layer("Transpose", (2, 168, 33), flat, ints("last", 0, 2, 1))
    m.result(layer("Add", (2, 168, 33), last, m.const("shift", "f32", weights(1, 1, 33))))
    if pixels_too:
        m.result(layer("Reshape", (2, 33 * 12, 14), at, ints("rows", 2, 33 * 12, 14), special_zero="false"))
        m.result(layer("Reshape", (24, 2, 168), planes, ints("mixed", 24, 2, 168), special_zero="false"))
    m.save()


def stacked(name):
    """Einsum of queries and keys, and of what they make and values, by heads and windows."""
    m, q = Model(name), (2, 5, 21, 3, 10)
    x = [m.layer("Parameter", n, "f32", shape) for n, shape in (("q", q), ("k", (2, 5, 17, 3, 10)), ("v", (2, 5, 17, 3, 9)))]
    at = m.layer("Einsum", "scores", "f32", (2, 5, 3, 21, 17), *x[:2], equation="bwihd,bwjhd->bwhij", opset="opset7")
    m.result(m.layer("Einsum", "mix", "f32", (2, 5, 3, 21, 9), at, x[2], equation="bwhij,bwjhd->bwhid", opset="opset7"))
    m.save()


def weighed(name):
    """Einsum of tokens by heads and weights, and of what it makes and others."""
    m = Model(name)
    x = m.layer("Parameter", "x", "f32", (2, 37, 40))
    at = m.layer("Einsum", "heads", "f32", (2, 37, 3, 9), x, m.const("w", "f32", weights(40, 3, 9)), equation="btc,chd->bthd", opset="opset7")
    m.result(m.layer("Einsum", "all", "f32", (2, 37, 50), at, m.const("v", "f32", weights(3, 9, 50)), equation="bthd,hdc->btc", opset="opset7"))
    m.save()


def few_bits(name, elem, k, n, rows, group=0):
    """Weights as codes of 8 or 4 bits with a scale, and without a sign a zero, for each column, or for each group of rows."""
    m = Model(name)
    shape = (n, k // group, group) if group else (n, k)
    part = (n, k // group, 1) if group else (n, 1)
    count = n * k // (2 if elem == "u4" else 1)
    codes = rng.integers(0, 256, count).astype(np.uint8)
    at = m.layer("Convert", "wide", "f32", shape, m.const("codes", elem, codes, shape), destination_type="f32")
    if elem != "i8":
        zero = m.const("zero", "f32", rng.integers(6, 10, part).astype(np.float32) * (16 if elem == "u8" else 1))
        at = m.layer("Subtract", "centred", "f32", shape, at, zero)
    at = m.layer("Multiply", "scaled", "f32", shape, at, m.const("scale", "f32", rng.random(part).astype(np.float32)))
    if group:
        at = m.layer("Reshape", "joined", "f32", (n, k), at, m.const("dims", "i64", np.array([n, k], np.int64)), special_zero="false")
    x = m.layer("Parameter", "x", "f32", (2, rows, k))
    at = m.layer("MatMul", "product", "f32", (2, rows, n), x, at, transpose_a="false", transpose_b="true")
    m.result(m.layer("Add", "bias", "f32", (2, rows, n), at, m.const("b", "f32", weights(n))))
    m.save()


def resized(name):
    """A convolution's planes, larger and smaller by several rules, and convolutions behind them."""
    m, x, y = Model(name), (2, 8, 9, 11), (2, 40, 9, 11)
    layer, conv_of = layer_of(m)
    at, ends = conv_of(m.layer("Parameter", "x", "f32", x), x, 40), []
    for mode, coord, h, w in (("linear_onnx", "pytorch_half_pixel", 18, 25), ("cubic", "half_pixel", 18, 25),
                              ("nearest", "asymmetric", 18, 25), ("linear_onnx", "align_corners", 9, 11)):
        sizes = m.const(f"sizes{len(ends)}", "i64", np.array([h, w], np.int64))
        axes = m.const(f"axes{len(ends)}", "i64", np.array([2, 3], np.int64))
        large = layer("Interpolate", (2, 40, h, w), at, sizes, axes, mode=mode, shape_calculation_mode="sizes",
                      coordinate_transformation_mode=coord, nearest_mode="floor", antialias="false", pads_begin="0,0,0,0",
                      pads_end="0,0,0,0", cube_coeff="-0.75", opset="opset11")
        if (h, w) != (9, 11):
            ends.append(conv_of(large, (2, 40, h, w), 16))
        else:
            m.result(conv_of(large, (2, 40, h, w), 16))
    m.result(layer("Concat", (2, 48, 18, 25), *ends, axis=1))
    m.save()


def normed(name, x, plain_end):
    """Norms of planes, one by one behind convolutions, and what element-wise operators make of them: scaled, shifted, leaked,
    subtracted either way, read on the way; one to three spatial dims."""
    m, dims, wide = Model(name), len(x) - 2, (x[0], 42, *x[2:])
    layer, _ = layer_of(m)
    text = lambda v: ",".join([str(v)] * dims)
    names = iter(range(100))

    def const(*shape):
        return m.const(f"c{next(names)}", "f32", 1 + weights(*shape) / 3)

    def conv_of(at, cin):
        w = m.const(f"w{next(names)}", "f32", weights(42, cin, *[1] * dims) / cin ** 0.5)
        return layer("Convolution", wide, at, w, strides=text(1), dilations=text(1), pads_begin=text(0), pads_end=text(0),
                     auto_pad="explicit")

    def mvn(at, *axes, **data):
        return layer("MVN", wide, at, m.const(f"axes{next(names)}", "i64", np.array(axes, np.int64)), normalize_variance="true",
                     eps="1e-5", eps_mode="inside_sqrt", opset="opset6", **data)

    planes = range(2, 2 + dims)
    at = conv_of(m.layer("Parameter", "x", "f32", x), x[1])
    at = mvn(at, *planes)
    at = layer("Add", wide, layer("Multiply", wide, at, const(1, 42, *[1] * dims)), const(1, 42, *[1] * dims))
    a = conv_of(layer("PReLU", wide, at, m.const("slope", "f32", np.array([0.1], np.float32))), 42)
    b = layer("GroupNormalization", wide, a, const(42), const(42), num_groups="6", epsilon="1e-5", opset="opset12")
    c = conv_of(layer("Swish", wide, b, opset="opset4"), 42)
    d = mvn(conv_of(c, 42), 1, *planes)
    per_channel = lambda kind, at: layer(kind, wide, at, const(1, 42, *[1] * dims))
    less = per_channel("Multiply", layer("Subtract", wide, d, b))
    e = conv_of(layer("ReLU", wide, layer("Add", wide, a, less)), 42)
    turned = layer("Subtract", wide, c, e)              # behind e's convolution, which is taken off
    f = layer("Subtract", wide, conv_of(turned, 42), c)
    read = layer("Clamp", wide, layer("Add", wide, f, d), min="-1", max="0.75")
    again = per_channel("Add", per_channel("Multiply", read))
    at = layer("Add", wide, conv_of(read, 42), conv_of(again, 42))
    if not plain_end:
        at = conv_of(layer("GroupNormalization", wide, at, const(42), const(42), num_groups="1", epsilon="1e-5", opset="opset12"), 42)
    else:
        at = layer("GroupNormalization", wide, at, const(42), const(42), num_groups="42", epsilon="1e-5", opset="opset12")
    m.result(at)
    m.save()


def enlarged(name, x, kernel, stride=None, pads=None, extra=None):
    """A convolution, a transposed one, and what both make of it; one to three spatial dims.  Without stride (pads, both sides, and output
    padding) its windows meet without overlap."""
    m, dims = Model(name), len(x) - 2
    layer, _ = layer_of(m)
    text = lambda v: ",".join(str(i) for i in v)
    ones, zeros = text([1] * dims), text([0] * dims)
    stride, pads, extra = stride or kernel, pads or (0,) * dims, extra or (0,) * dims
    large = tuple((n - 1) * s + k - 2 * p + e for n, k, s, p, e in zip(x[2:], kernel, stride, pads, extra))

    def conv_of(tag, at, cin, shape):
        w = m.const(f"w_{tag}", "f32", weights(shape[1], cin, *[1] * dims) / cin ** 0.5)
        return layer("Convolution", shape, at, w, strides=ones, dilations=ones, pads_begin=zeros, pads_end=zeros, auto_pad="explicit")

    at = conv_of("start", m.layer("Parameter", "x", "f32", x), x[1], (x[0], 21, *x[2:]))
    at = layer("ReLU", (x[0], 21, *x[2:]), at)
    for i, cout in enumerate((17, 33)):
        w = m.const(f"up{i}", "f32", weights(21, cout, *kernel) / 5)
        up = layer("ConvolutionBackpropData", (x[0], cout, *large), at, w, strides=text(stride), dilations=ones, pads_begin=text(pads),
                   pads_end=text(pads), auto_pad="explicit", output_padding=text(extra))
        if i:
            up = layer("Add", (x[0], cout, *large), up, m.const("bias", "f32", weights(1, cout, *[1] * dims)))
        m.result(conv_of(f"end{i}", layer("ReLU", (x[0], cout, *large), up), cout, (x[0], 16, *large)))
    m.save()


enlarged("enlarged", (2, 8, 13, 17), (2, 2))
enlarged("enlarged_apart", (1, 8, 30, 31), (3, 2))
enlarged("enlarged_volume", (2, 5, 4, 9, 11), (2, 2, 2))
OVERLAPPING = {"overlapping": ((2, 8, 13, 17), (4, 4), (2, 2), (1, 1)), "overlapping_uneven": ((2, 8, 11, 9), (5, 3), (3, 2), (2, 1), (1, 1)),
               "overlapping_cut": ((1, 8, 7, 30), (9, 7), (3, 3), (4, 4)), "overlapping_line": ((2, 8, 61), (16,), (8,), (4,)),
               "overlapping_volume": ((1, 5, 5, 9, 11), (4, 3, 2), (2, 1, 2), (1, 1, 0)), "overlapping_slow": ((1, 8, 12, 14), (3, 3), (1, 1), (0, 1))}
for name, sizes in OVERLAPPING.items():
    enlarged(name, *sizes)
normed("normed", (2, 8, 19, 23), False)
normed("normed_plain", (1, 9, 40, 41), True)
normed("normed_volume", (2, 5, 4, 9, 11), False)
normed("normed_line", (2, 8, 301), False)
pooled("pooled_beside", (2, 8, 9, 17), (3, 5), (1, 1), (1, 2))
pooled("pooled", (2, 8, 15, 17), (3, 3), (2, 2), (1, 1))
pooled("pooled_apart", (1, 8, 13, 40), (2, 3), (3, 4), (0, 1))
pooled("pooled_volume", (2, 8, 7, 12, 13), (3, 3, 3), (1, 2, 1), (1, 1, 1))
turned_tokens("tokens", False)
turned_tokens("tokens_too", True)
resized("resized")
strip("strip")
halves("halves")
stacked("stacked")
weighed("weighed")
few_bits("codes8", "i8", 300, 70, 23)
few_bits("codes8_zero", "u8", 129, 33, 60)
few_bits("codes4", "u4", 160, 100, 30, group=32)
# One dimension of a stack of products is 0.
for name, a, b, out in (("no_columns", (2, 8, 4), (2, 4, 0), (2, 8, 0)), ("no_depth", (2, 8, 0), (2, 0, 4), (2, 8, 4)),
                        ("no_rows", (2, 0, 4), (2, 4, 8), (2, 0, 8)), ("no_stack", (0, 2, 8, 4), (1, 2, 4, 5), (0, 2, 8, 5))):
    matmul(name, a, b, out, constant=False)

NAMES = ["c1x1", "c3x3", "stem", "uneven", "wide", "groups", "depth", "depth_volume", "depth_twice", "line", "volume", "pixel", "halves", "rest", "attend", "attend_long", "attend_few", "none", "tall", "turned", "left",
         "few", "pairs", "keys", "empty", "hollow", "no_columns", "no_depth", "no_rows", "no_stack", "found",
         "joined", "joined_plain", "sliced", "sliced_plain", "squeezed", "squeezed_two",
         "clamped", "hswish", "leaky", "enlarged", "enlarged_apart", "enlarged_volume", "normed", "normed_plain", "normed_volume", "normed_line", "pooled", "pooled_beside", "pooled_apart", "pooled_volume", "meant_volume",
         "tokens", "tokens_too", "resized", "strip", "stacked", "weighed", "codes8", "codes8_zero", "codes4"] + list(OVERLAPPING) + RECURRENT
