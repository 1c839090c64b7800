"""int8_nets.py - small networks with FakeQuantize: NAME.xml for each, in the current directory."""
import numpy as np

from tiny_ir import Model

rng = np.random.default_rng(6)


class Net:
    def __init__(self, name, shape):
        self.m, self.n = Model(name), 0
        self.at = self.x = self.m.layer("Parameter", "x", "f32", shape)

    def name(self, what):
        self.n += 1
        return f"{what}{self.n}"

    def add(self, kind, shape, *more, **data):
        self.at = self.m.layer(kind, self.name(kind), "f32", shape, self.at, *more, **data)
        return self

    def const(self, array, elem="f32"):
        return self.m.const(self.name("c"), elem, np.asarray(array, np.float32))

    def shape(self):
        return self.m.shape[self.at][1]

    def quantize(self, low, high, levels=256, out=None):
        limits = [self.const(v) for v in (low, high, *(out or (low, high)))]
        return self.add("FakeQuantize", self.shape(), *limits, levels=levels, auto_broadcast="numpy")

    def conv(self, cout, kernel=1, stride=1, pad=0, groups=0, bias=True, real=False):
        n, c, h, w = self.shape()
        dims = (groups, cout // groups, c // groups, kernel, kernel) if groups else (cout, c, kernel, kernel)
        values = rng.standard_normal(dims).astype(np.float32)
        if not real:
            high = np.abs(values).reshape(cout, -1).max(1).reshape(dims[:2 if groups else 1] + (1,) * (4 if not groups else 3))
            high = high[..., 0] if high.ndim > len(dims) else high
            values = np.round(values / high * 127) * (high / 127)
        out = (n, cout, (h + 2 * pad - kernel) // stride + 1, (w + 2 * pad - kernel) // stride + 1)
        two = lambda v: f"{v},{v}"
        self.add("GroupConvolution" if groups else "Convolution", out, self.const(values), strides=two(stride), dilations="1,1",
                 pads_begin=two(pad), pads_end=two(pad), auto_pad="explicit")
        if bias:
            self.add("Add", out, self.const(rng.standard_normal((1, cout, 1, 1)) * 3), auto_broadcast="numpy")
        return self

    def deconv(self, cout, kernel, stride, pad=0, extra=0):
        """A transposed convolution, whose weights have one grid an output channel."""
        n, c, h, w = self.shape()
        values = rng.standard_normal((c, cout, kernel, kernel)).astype(np.float32)
        high = np.abs(values).max((0, 2, 3), keepdims=True)
        two = lambda v: f"{v},{v}"
        out = (n, cout, *((v - 1) * stride + kernel - 2 * pad + extra for v in (h, w)))
        return self.add("ConvolutionBackpropData", out, self.const(np.round(values / high * 127) * (high / 127)), strides=two(stride),
                        dilations="1,1", pads_begin=two(pad), pads_end=two(pad), auto_pad="explicit", output_padding=two(extra))

    def result(self):
        self.m.result(self.at)

    def save(self):
        self.result()
        self.m.save()


Net("first", (1, 16, 9, 9)).quantize(-2.56, 2.54).conv(32, 3, pad=1).save()
Net("chain", (2, 16, 13, 11)).quantize(0, 3).conv(33, 3, 2, 1).add("ReLU", (2, 33, 7, 6)).quantize(0, 20).conv(48).quantize(-128, 127).conv(8).save()
Net("depth", (1, 40, 14, 14)).quantize(-2.56, 2.54).conv(40, 3, 1, 1, groups=40).add("Clamp", (1, 40, 14, 14), min=0.0, max=6.0).quantize(0, 6).conv(24).save()
Net("groups", (1, 32, 10, 10)).quantize(0, 3).conv(64, 3, 1, 1, groups=4).add("Sigmoid", (1, 64, 10, 10)).quantize(0, 1).conv(16, bias=False).save()

n = Net("residual", (1, 64, 14, 14))
n.quantize(-2.56, 2.54)
short = n.at
n.conv(64, 3, 1, 1).add("ReLU", (1, 64, 14, 14)).quantize(0, 40).conv(64).quantize(-256, 254)
n.add("Add", (1, 64, 14, 14), short).add("ReLU", (1, 64, 14, 14)).quantize(0, 200).conv(32, 1, 2).save()

n = Net("pooled", (1, 16, 20, 20))
n.quantize(0, 3).conv(32, 3, 1, 1).add("ReLU", (1, 32, 20, 20)).quantize(0, 15)
n.at = n.m.layer("MaxPool", "pool", "f32", (1, 32, 10, 10), n.at, kernel="3,3", strides="2,2", pads_begin="1,1", pads_end="0,0",
                 rounding_type="floor", auto_pad="explicit")
n.conv(40).add("AvgPool", (1, 40, 1, 1), kernel="10,10", strides="1,1", pads_begin="0,0", pads_end="0,0", rounding_type="floor",
               auto_pad="explicit", **{"exclude-pad": "true"}).save()

n = Net("joined", (2, 16, 9, 9))
start = n.quantize(0, 3).at
left = n.conv(24).add("ReLU", (2, 24, 9, 9)).at
n.at = start
n.conv(17, 3, 1, 1).add("ReLU", (2, 17, 9, 9))
n.at = n.m.layer("Concat", "concat", "f32", (2, 57, 9, 9), left, n.at, start, axis=1)
n.quantize(0, 15).conv(40).save()

Net("asymmetric", (1, 16, 9, 9)).quantize(-1, 2).conv(32, 3, pad=1).save()
Net("few", (1, 16, 9, 9)).quantize(0, 3, 16).conv(32, 3, pad=1).save()
Net("real", (1, 16, 9, 9)).quantize(0, 3).conv(32, 3, pad=1, real=True).save()
Net("none", (0, 16, 9, 9)).quantize(0, 3).conv(32, 3, pad=1).save()


def pool(n, kind, shape, kernel, stride, pad, exclude="true"):
    pair = lambda v: f"{v},{v}"
    return n.add(kind, shape, kernel=pair(kernel), strides=pair(stride), pads_begin=pair(pad), pads_end=pair(pad),
                 rounding_type="floor", auto_pad="explicit", **{"exclude-pad": exclude})


# Means of codes, quantized anew: of windows beside padding, which counts or does not, and of whole planes.
for name, exclude in (("mean", "true"), ("padded_mean", "false")):
    n = Net(name, (2, 3, 20, 20))
    n.quantize(-2.56, 2.54).conv(32, 3, 1, 1).add("ReLU", (2, 32, 20, 20)).quantize(0, 15)
    size, stride = (10, 2) if exclude == "true" else (20, 1)
    pool(n, "AvgPool", (2, 32, size, size), 3, stride, 1, exclude)
    n.quantize(0, 11.3).conv(40).save()
for name, keep in (("plane_mean", True), ("flat_mean", False)):
    n = Net(name, (2, 16, 9, 7))
    n.quantize(-2.56, 2.54).conv(150).add("ReLU", (2, 150, 9, 7)).quantize(0, 15)
    axes = n.m.const("axes", "i64", np.array([2, -1], np.int64))
    n.add("ReduceMean", (2, 150, 1, 1) if keep else (2, 150), axes, keep_dims="true" if keep else "false")
    (n.quantize(0, 3.7).conv(8) if keep else n).save()
Net("flat", (2, 16, 9, 7)).quantize(-1, 2).conv(32, bias=False).save()
Net("asymmetric_depth", (1, 40, 14, 14)).quantize(-0.2784, 4.4544).conv(40, 3, 1, 1, groups=40).save()
Net("rescaled", (1, 16, 9, 9)).quantize(-1, 2, out=(-2, 3)).conv(32, 3, pad=1).save()


def matmul(n, out, how="i8", turned=True, off=False, across=False):
    """A product with weights on one grid a column, or across them, one a row: as codes with scales, or as numbers."""
    shape = n.shape()
    codes = rng.integers(-127, 128, (out, shape[-1])).astype(np.int8)
    codes[:, 0] = 127
    scale = (0.001 + 0.02 * rng.random((out, 1))).astype(np.float32)
    if across:
        scale = (0.001 + 0.02 * rng.random((1, shape[-1]))).astype(np.float32)
    w = codes if turned else np.ascontiguousarray(codes.T)
    s = scale if turned else np.ascontiguousarray(scale.T)
    if how == "i8":
        c = n.m.const(n.name("c"), "i8", w)
        c = n.m.layer("Convert", n.name("wide"), "f32", w.shape, c, destination_type="f32")
        c = n.m.layer("Multiply", n.name("w"), "f32", w.shape, c, n.const(s), auto_broadcast="numpy")
    else:
        values = w.astype(np.float32) * s
        if off:
            values += np.float32(1e-3) * rng.standard_normal(values.shape).astype(np.float32)
        c = n.const(values)
    return n.add("MatMul", shape[:-1] + (out,), c, transpose_a="false", transpose_b="true" if turned else "false")


def bias(n):
    return n.add("Add", n.shape(), n.const(rng.standard_normal(n.shape()[-1:])), auto_broadcast="numpy")


# Products of tokens.  Zero may lie between two codes; a Transpose moves what lies on a grid; rows may be few.
n = Net("tokens", (1, 65, 96))
bias(matmul(n.quantize(-0.9509, 0.9434), 200)).add("Gelu", n.shape(), approximation_mode="ERF")
bias(matmul(n.quantize(-0.17, 2), 33)).save()
matmul(Net("between", (2, 40, 64)).quantize(-1, 1), 48, "f32").save()
matmul(Net("columns", (3, 30, 64)).quantize(-1, 2), 70, turned=False).save()
matmul(Net("column_numbers", (80, 61)).quantize(0, 2, 128), 70, "f32", turned=False).save()
n = Net("moved", (1, 4, 50, 32)).quantize(-1.2, 1.3)
n.at = n.m.layer("Transpose", "turn", "f32", (1, 50, 4, 32), n.at, n.m.const("order", "i64", np.array([0, 2, 1, 3], np.int64)))
n.at = n.m.layer("Reshape", "flat", "f32", (1, 50, 128), n.at, n.m.const("dims", "i64", np.array([1, 50, 128], np.int64)), special_zero="false")
matmul(n, 64).save()
matmul(Net("one_row", (1, 64)).quantize(-1, 1), 48).save()
matmul(Net("off_grid", (1, 64, 64)).quantize(-1, 1), 48, "f32", off=True).save()
# Rows of codes between products: two read them, one of which does not take codes; behind a norm; with fewer levels; and as an output.
n = Net("rows", (1, 65, 96))
start = bias(matmul(n.quantize(-0.9509, 0.9434), 200)).add("Gelu", n.shape(), approximation_mode="ERF").quantize(-0.17, 2).at
left = matmul(n, 40).at
n.at = start
n.at = n.m.layer("Concat", "concat", "f32", (1, 65, 73), left, matmul(n, 33, across=True).at, axis=2)
n.save()
n = Net("rows_of_norm", (2, 33, 96))
n.add("MVN", n.shape(), n.m.const("axes", "i64", np.array([-1], np.int64)), opset="opset6", normalize_variance="true", eps=1e-5, eps_mode="inside_sqrt")
matmul(bias(n).quantize(-1.9, 3.1), 70).save()
n = Net("rows_of_few", (1, 65, 96)).quantize(-0.9509, 0.9434)
matmul(matmul(n, 64).quantize(-3, 3.3, 64), 33).save()
n = Net("rows_out", (1, 65, 96)).quantize(-0.9509, 0.9434)
codes = matmul(n, 64).quantize(-30, 33).at
matmul(n, 33).result()
n.m.result(codes)
n.m.save()
# Depthwise convolutions with a range for each channel, from zero on or symmetric, as NNCF writes them.
for name, act, low in (("channels", "ReLU", 0), ("channels_signed", "Sigmoid", -128), ("channels_mixed", "ReLU", -100)):
    n = Net(name, (1, 16, 15, 13))
    n.quantize(-2.56, 2.54).conv(40, 1).add(act, (1, 40, 15, 13))
    step = (0.02 + 0.03 * rng.random((1, 40, 1, 1))).astype(np.float32)
    n.quantize(low * step, (low + 255) * step).conv(40, 3, 1, 1, groups=40).add("ReLU", (1, 40, 15, 13)).quantize(0, 30).conv(24).save()
n = Net("channels_input", (1, 24, 9, 9))
step = (0.01 + 0.01 * rng.random((1, 24, 1, 1))).astype(np.float32)
n.quantize(-128 * step, 127 * step).conv(24, 3, 1, 1, groups=24).save()

n = Net("one_grid", (1, 16, 9, 9))
start = n.quantize(0, 3).at
left = n.conv(24).add("ReLU", (1, 24, 9, 9)).quantize(0, 15).at
n.at = start
n.conv(17, 3, 1, 1).add("ReLU", (1, 17, 9, 9)).quantize(0, 15)
n.at = n.m.layer("Concat", "concat", "f32", (1, 41, 9, 9), left, n.at, axis=1)
n.conv(40, 3, 1, 1).save()
# Slices with padding, and more without, of a line whose zero is not code 0.
m = Model("asymmetric_line")
x = m.layer("Parameter", "x", "f32", (1, 384, 3000))
limits = [m.const(f"limit{i}", "f32", np.float32(v)) for i, v in enumerate((-1, 2, -1, 2))]
x = m.layer("FakeQuantize", "codes", "f32", (1, 384, 3000), x, *limits, levels=256, auto_broadcast="numpy")
w = rng.integers(-127, 128, (384, 384, 3)).astype(np.float32)
w[:, 0, 0] = 127
m.result(m.layer("Convolution", "conv", "f32", (1, 384, 1500), x, m.const("w", "f32", w / 100), strides="2", dilations="1", pads_begin="1",
                 pads_end="1", auto_pad="explicit"))
m.save()


def attended(name, rows, keys, heads, size, low, high, **data):
    """Attention by heads of queries and keys that lie on grids."""
    m = Model(name)
    order = m.const("order", "i64", np.array([0, 2, 1, 3], np.int64))
    inputs = []
    for what, n in (("q", rows), ("k", keys), ("v", keys)):
        at = m.layer("Parameter", what, "f32", (1, n, heads, size))
        if what != "v":
            limits = [m.const(f"{what}{i}", "f32", np.float32(v)) for i, v in enumerate((low, high, low, high))]
            at = m.layer("FakeQuantize", what + "_codes", "f32", (1, n, heads, size), at, *limits, levels=256, auto_broadcast="numpy")
        inputs.append(m.layer("Transpose", what + "_heads", "f32", (1, heads, n, size), at, order))
    m.result(m.layer("ScaledDotProductAttention", "attend", "f32", (1, heads, rows, size), *inputs, opset="opset13", **data))
    m.save()


attended("attended", 70, 130, 2, 24, -1.3, 1.7, causal="false")
attended("attended_causal", 50, 50, 1, 70, -2, 2, causal="true")
attended("attended_few", 1, 40, 3, 18, 0, 2, causal="false")

# Transposed convolutions: windows that meet, that overlap, whose padding is a code that is not 0.
Net("enlarged", (2, 16, 9, 7)).quantize(0, 3).deconv(24, 2, 2).quantize(-40, 39.6875).conv(8).save()
Net("overlapping", (1, 16, 8, 9)).quantize(-2.56, 2.54).deconv(24, 4, 2, 1).add("ReLU", (1, 24, 16, 18)).quantize(0, 51).conv(8).save()
Net("overlapping_off", (2, 16, 7, 6)).quantize(-1, 1.55).deconv(12, 5, 3, 2, 1).quantize(-20, 31).deconv(8, 3, 2).add("ReLU", (2, 8, 41, 35)).conv(8).save()

# Constants anywhere in the file, limits in 16 bits.
n = Net("unaligned", (1, 16, 9, 9))
n.m.const("odd", "i8", np.zeros(1, np.int8))
limits = []
for v in (-1, 2) * 2:
    half = n.m.const(n.name("c"), "f16", np.float16(v))
    limits.append(n.m.layer("Convert", n.name("wide"), "f32", (), half, destination_type="f32"))
n.add("FakeQuantize", n.shape(), *limits, levels=256, auto_broadcast="numpy").conv(40, 3, 1, 1).add("ReLU", (1, 40, 9, 9)).quantize(0, 15)
n.add("ReduceMean", (1, 40, 1, 1), n.m.const("axes", "i64", np.array([2, 3], np.int64)), keep_dims="true").quantize(0, 3.7).conv(8).save()
# The same codes in the file, with one zero, and with another.
n = Net("shared_codes", (1, 40, 64))
n.quantize(0, 3)
codes = n.m.const("codes", "u4", rng.integers(0, 256, (32, 32)).astype(np.uint8), (32, 64))
wide = n.m.layer("Convert", "codes_wide", "f32", (32, 64), codes, destination_type="f32")
x, scale, ways = n.at, n.const(0.1 + rng.random((32, 1))), []
for zero in (8, 3):
    w = n.m.layer("Subtract", n.name("w"), "f32", (32, 64), wide, n.const(zero), auto_broadcast="numpy")
    w = n.m.layer("Multiply", n.name("w"), "f32", (32, 64), w, scale, auto_broadcast="numpy")
    n.at = x
    ways.append(n.add("MatMul", (1, 40, 32), w, transpose_a="false", transpose_b="true").at)
n.at = n.m.layer("Concat", "concat", "f32", (1, 40, 64), *ways, axis=2)
n.save()
# Weights of two numbers that are not quite opposite, as limits in 16 bits make them: on no grid.
n = Net("nearly_opposite", (1, 64, 30)).quantize(0, 3)
w = np.where(rng.random((32, 64, 3)) < 0.5, np.float32(-0.1707902), np.float32(0.17077637))
n.add("Convolution", (1, 32, 30), n.const(w), strides="1", dilations="1", pads_begin="1", pads_end="1", auto_pad="explicit").save()
# Sums over the top code that 32 bits do not hold.
n = Net("deep", (1, 4000, 5, 5))
w = np.full((16, 4000, 5, 5), 0.01, np.float32)
n.add("Add", n.shape(), n.const(100.0), auto_broadcast="numpy").quantize(0, 3)
n.add("Convolution", (1, 16, 1, 1), n.const(w), strides="1,1", dilations="1,1", pads_begin="0,0", pads_end="0,0", auto_pad="explicit").save()
# Swish, and Gelu that a Multiply scales, in front of ranges; the first is on grids of codes alone, the second in a network of numbers, too.
n = Net("swished", (1, 24, 15, 13))
n.quantize(-2.56, 2.54).conv(40).add("Swish", (1, 40, 15, 13)).quantize(-0.32, 20.08).conv(40, 3, 1, 1, groups=40)
n.add("Swish", (1, 40, 15, 13)).quantize(-0.96, 60.24).conv(24).save()
n = Net("scaled", (1, 65, 96))
bias(matmul(n.quantize(-0.9509, 0.9434), 200)).add("Gelu", n.shape(), approximation_mode="ERF")
n.add("Multiply", n.shape(), n.const(0.5 + rng.random((1, 1, 200))), auto_broadcast="numpy").quantize(-0.17, 2)
matmul(n, 33).save()
# Not only a FakeQuantize reads it: exact.
n = Net("swished_read", (1, 24, 15, 13))
swish = n.quantize(-2.56, 2.54).conv(40).add("Swish", (1, 40, 15, 13)).at
n.quantize(-0.32, 20.08).conv(16).result()
n.m.result(swish)
n.m.save()

# Those whose Sigmoid, Swish and Gelu may be right to 11 bits alone, as what reads them rounds to 8.
ROUNDED = ["tokens", "rows", "groups", "channels_signed", "swished", "scaled"]
NAMES = ["nearly_opposite", "shared_codes", "deep", "unaligned", "enlarged", "overlapping", "overlapping_off", "mean", "padded_mean", "plane_mean", "flat_mean", "first", "chain", "depth", "groups", "residual", "pooled", "joined", "asymmetric", "few", "real", "none",
         "flat", "asymmetric_depth", "rescaled", "tokens", "between", "columns", "column_numbers", "moved", "one_row", "off_grid",
         "rows", "rows_of_norm", "rows_of_few", "rows_out",
         "channels", "channels_signed", "channels_mixed", "channels_input", "one_grid",
         "asymmetric_line", "attended", "attended_causal", "attended_few", "swished", "scaled", "swished_read"]
