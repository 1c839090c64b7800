"""op_usual.py - one-operator models of usual sizes, for operators that the models of op_sizes.py may not have."""
import numpy as np
import openvino as ov
from openvino import opset13, opset16
from openvino.utils.node_factory import NodeFactory

F32, I32, I64 = np.float32, np.int32, np.int64
IMAGE, DEEP, TOKENS = (1, 64, 112, 112), (1, 256, 28, 28), (1, 128, 768)


class Cases:
    def __init__(self):
        self.rng = np.random.default_rng(1)
        self.models = []

    def const(self, value, dtype=I64):
        return opset13.constant(np.asarray(value, dtype=dtype))

    def weights(self, *shape):
        return self.const(self.rng.uniform(-1, 1, shape), F32)

    def make(self, kind, inputs, opset="opset16", **attributes):
        return NodeFactory(opset).create(kind, [n.output(0) for n in inputs], attributes)

    def add(self, name, build, *inputs):
        """build(*parameters) gives a node; inputs: a shape (f32) or (shape, type)."""
        inputs = [i if len(i) == 2 and isinstance(i[0], tuple) else (i, F32) for i in inputs]
        p = [opset13.parameter(list(s), dtype=t) for s, t in inputs]
        made = build(*p)
        self.models.append(("usual " + name, ov.Model([opset13.result(o) for o in made.outputs()], p, "usual")))


def elementwise(c):
    o = opset13
    for name in ("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceiling", "cos", "cosh", "erf", "exp", "floor", "hsigmoid",
                 "hswish", "log", "mish", "negative", "relu", "sigmoid", "sign", "sin", "sinh", "softplus", "softsign", "sqrt", "tan",
                 "tanh", "is_finite", "is_inf", "is_nan"):
        c.add(name, getattr(o, name), IMAGE)
    c.add("clamp", lambda x: o.clamp(x, 0.0, 6.0), IMAGE)
    c.add("elu", lambda x: o.elu(x, 1.0), IMAGE)
    for mode in ("erf", "tanh"):
        c.add("gelu " + mode, lambda x: o.gelu(x, mode), (1, 128, 3072))
    c.add("swish", o.swish, IMAGE)
    c.add("hard_sigmoid", lambda x: o.hard_sigmoid(x, c.const(0.2, F32), c.const(0.5, F32)), IMAGE)
    c.add("selu", lambda x: o.selu(x, c.const(1.6, F32), c.const(1.05, F32)), IMAGE)
    for mode in ("half_to_even", "half_away_from_zero"):
        c.add("round", lambda x: o.round(x, mode), IMAGE)
    c.add("prelu", lambda x: o.prelu(x, c.weights(64)), IMAGE)
    c.add("logical_not", o.logical_not, (IMAGE, np.bool_))
    c.add("bitwise_not", o.bitwise_not, (IMAGE, I32))
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "mod", "floor_mod", "squared_difference", "equal",
                 "not_equal", "greater", "greater_equal", "less", "less_equal"):
        c.add(name, getattr(o, name), IMAGE, IMAGE)
        c.add(name + " of channels", lambda x: getattr(o, name)(x, c.const(c.rng.uniform(0.5, 2, (1, 64, 1, 1)), F32)), IMAGE)
        c.add(name + " i64", getattr(o, name), ((1, 128, 128), I64), ((1, 128, 1), I64))
    for name in ("logical_and", "logical_or", "logical_xor"):
        c.add(name, getattr(o, name), ((1, 1, 384, 384), np.bool_), ((1, 1, 1, 384), np.bool_))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"):
        c.add(name, lambda a, b: c.make("".join(w.title() for w in name.split("_")), [a, b]), ((256, 1024), I32), ((256, 1024), I32))
    for a, b in (("f32", I64), ("i64", F32), ("f32", np.uint8), ("u8", F32), ("f16", F32), ("f32", np.float16), ("boolean", F32)):
        c.add("convert", lambda x: o.convert(x, a), (IMAGE, b))
    c.add("convert_like", lambda x: o.convert_like(x, c.weights(1)), (IMAGE, I32))
    c.add("select", o.select, ((1, 1, 384, 384), np.bool_), (1, 12, 384, 384), (1,))
    c.add("select", o.select, (IMAGE, np.bool_), IMAGE, IMAGE)
    for s in ((1,), (1, 64, 1, 1)):
        k = lambda v: c.const(np.full(s, v), F32)
        c.add("fake_quantize", lambda x: o.fake_quantize(x, k(-1.0), k(1.0), k(-1.0), k(1.0), 256), IMAGE)
    c.add("fake_convert", lambda x: o.fake_convert(x, c.const([1.0], F32)), IMAGE)


def reductions(c):
    o = opset13
    for name in ("mean", "sum", "max", "min", "prod", "l1", "l2"):
        for shape, axes in ((IMAGE, [2, 3]), (TOKENS, [-1]), (IMAGE, [1]), (IMAGE, [0, 1, 2, 3])):
            c.add("reduce_" + name, lambda x: getattr(o, "reduce_" + name)(x, c.const(axes), True), shape)
    for name in ("reduce_logical_and", "reduce_logical_or"):
        c.add(name, lambda x: getattr(o, name)(x, c.const([1]), True), ((128, 768), np.bool_))
    c.add("cum_sum", lambda x: o.cumsum(x, c.const(1)), ((1, 512, 64)))
    c.add("cum_sum i64", lambda x: o.cumsum(x, c.const(1)), ((8, 512), I64))
    for axis in (1, -1):
        c.add("softmax", lambda x: o.softmax(x, axis), (1, 12, 384, 384))
        c.add("log_softmax", lambda x: o.log_softmax(x, axis), (64, 1000))
    c.add("log_softmax", lambda x: o.log_softmax(x, -1), (1, 32, 32000))
    c.add("mvn", lambda x: o.mvn(x, c.const([-1]), True, 1e-5, "inside_sqrt"), TOKENS)
    c.add("mvn", lambda x: o.mvn(x, c.const([2, 3]), True, 1e-5, "inside_sqrt"), IMAGE)
    c.add("lrn", lambda x: o.lrn(x, c.const([1]), 1e-4, 0.75, 1.0, 5), (1, 96, 55, 55))
    for axes in ([1], [-1], [1, 2, 3]):
        c.add("normalize_l2", lambda x: o.normalize_l2(x, c.const(axes), 1e-9, "max"), (1, 512, 38, 38))
    c.add("batch_norm", lambda x: o.batch_norm_inference(x, *[c.const(np.linspace(0.5, 1.5, 64), F32) for _ in range(4)], 1e-5), IMAGE)
    c.add("group_norm", lambda x: o.group_normalization(x, c.weights(320), c.weights(320), 32, 1e-5), (1, 320, 64, 64))
    c.add("grn", lambda x: ov.opset1.grn(x, 1e-3), DEEP)


def windows(c):
    o = opset16
    for shape, out, k, s in (((1, 3, 224, 224), 64, 7, 2), ((1, 64, 56, 56), 64, 3, 1), ((1, 256, 56, 56), 64, 1, 1),
                             ((1, 512, 7, 7), 512, 3, 1), ((1, 128, 28, 28), 128, 3, 2)):
        c.add("conv", lambda x: o.convolution(x, c.weights(out, shape[1], k, k), [s, s], [k // 2] * 2, [k // 2] * 2, [1, 1]), shape)
    for shape, k, s in (((1, 96, 112, 112), 3, 2), ((1, 144, 56, 56), 3, 1), ((1, 96, 56, 56), 7, 1), ((1, 576, 14, 14), 5, 1)):
        c.add("depthwise", lambda x: o.group_convolution(x, c.weights(shape[1], 1, 1, k, k), [s, s], [k // 2] * 2, [k // 2] * 2, [1, 1]), shape)
    for shape, out, k in (((1, 64, 56, 56), 32, 2), ((1, 256, 14, 14), 128, 4), ((1, 32, 64, 64), 1, 4)):
        c.add("deconv", lambda x: o.convolution_backprop_data(x, c.weights(shape[1], out, k, k), [2, 2], pads_begin=[(k - 2) // 2] * 2,
              pads_end=[(k - 2) // 2] * 2), shape)
    c.add("group deconv", lambda x: o.group_convolution_backprop_data(x, c.weights(64, 1, 1, 4, 4), [2, 2], pads_begin=[1, 1],
          pads_end=[1, 1]), (1, 64, 40, 40))
    c.add("deconv 3d", lambda x: o.convolution_backprop_data(x, c.weights(64, 32, 2, 2, 2), [2, 2, 2]), (1, 64, 8, 16, 16))
    c.add("deconv 1d", lambda x: o.convolution_backprop_data(x, c.weights(256, 128, 16), [8], pads_begin=[4], pads_end=[4]), (1, 256, 400))
    c.add("conv 3d", lambda x: o.convolution(x, c.weights(64, 64, 3, 3, 3), [1] * 3, [1] * 3, [1] * 3, [1] * 3), (1, 64, 8, 28, 28))
    c.add("conv 1d", lambda x: o.convolution(x, c.weights(384, 80, 3), [1], [1], [1], [1]), (1, 80, 3000))
    for k, s, p, shape in ((3, 2, 1, IMAGE), (2, 2, 0, IMAGE), (5, 1, 2, (1, 256, 13, 13))):
        c.add("max_pool", lambda x: o.max_pool(x, [s, s], [1, 1], [p, p], [p, p], [k, k]), shape)
        c.add("avg_pool", lambda x: o.avg_pool(x, [s, s], [p, p], [p, p], [k, k], True), shape)
    c.add("max_pool 3d", lambda x: o.max_pool(x, [2] * 3, [1] * 3, [0] * 3, [0] * 3, [2] * 3), (1, 64, 16, 56, 56))
    for size in ([1, 1], [7, 7]):
        c.add("adaptive_avg_pool", lambda x: o.adaptive_avg_pool(x, c.const(size)), DEEP)
        c.add("adaptive_max_pool", lambda x: o.adaptive_max_pool(x, c.const(size), "i32"), DEEP)
    c.add("deformable_convolution", lambda x, f: o.deformable_convolution(
        x, f, c.weights(64, 64, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], None, "EXPLICIT", 1, 1, True), (1, 64, 56, 56), (1, 18, 56, 56))
    c.add("binary_convolution", lambda x: c.make("BinaryConvolution", [x, o.convert(c.const(c.rng.integers(0, 2, (64, 64, 3, 3)), I32), "u1")],
          "opset1", strides=[1, 1], pads_begin=[1, 1], pads_end=[1, 1], dilations=[1, 1], mode="xnor-popcount", pad_value=0.0,
          auto_pad="explicit"), (1, 64, 28, 28))
    c.add("extract_image_patches", lambda x: o.extract_image_patches(x, [3, 3], [1, 1], [1, 1], "same_upper"), (1, 64, 28, 28))
    c.add("col2im", lambda x: o.col2im(x, c.const([28, 28]), c.const([2, 2]), strides=[2, 2]), (1, 256, 196))


def products(c):
    o = opset16
    for m, k, n in ((128, 768, 768), (128, 768, 3072), (1, 4096, 1000), (1, 2048, 32000), (196, 384, 1152)):
        c.add("matmul", lambda x: o.matmul(x, c.weights(n, k), False, True), (1, m, k))
    c.add("matmul scores", lambda a, b: o.matmul(a, b, False, True), (1, 12, 128, 64), (1, 12, 128, 64))
    for l, s, h in ((128, 128, 12), (1, 512, 16), (577, 577, 12)):
        c.add("attention", lambda q, k, v: o.scaled_dot_product_attention(q, k, v, causal=False), (1, h, l, 64), (1, h, s, 64), (1, h, s, 64))
    c.add("einsum", lambda a, b: o.einsum([a, b], "bhid,bhjd->bhij"), (1, 8, 128, 64), (1, 8, 128, 64))
    c.add("einsum", lambda a, b: o.einsum([a, b], "bhwc,hkc->bhwk"), (32, 14, 14, 64), (14, 14, 64))
    c.add("inverse", lambda x: c.make("Inverse", [x], adjoint=False), (64, 4, 4))
    for t, i, h in ((50, 256, 256), (100, 512, 512)):
        z, n = c.const([t], I32), {"LSTM": 4, "GRU": 3, "RNN": 1}
        c.add("lstm_sequence", lambda x, a, b: o.lstm_sequence(x, a, b, z, c.weights(1, 4 * h, i), c.weights(1, 4 * h, h), c.weights(1, 4 * h),
              h, "forward"), (1, t, i), (1, 1, h), (1, 1, h))
        c.add("gru_sequence", lambda x, a: o.gru_sequence(x, a, z, c.weights(2, 3 * h, i), c.weights(2, 3 * h, h), c.weights(2, 4 * h), h,
              "bidirectional", linear_before_reset=True), (1, t, i), (1, 2, h))
        c.add("rnn_sequence", lambda x, a: o.rnn_sequence(x, a, z, c.weights(1, h, i), c.weights(1, h, h), c.weights(1, h), h, "forward"),
              (1, t, i), (1, 1, h))
        c.add("lstm_cell", lambda x, a, b: o.lstm_cell(x, a, b, c.weights(4 * h, i), c.weights(4 * h, h), c.weights(4 * h), h),
              (1, i), (1, h), (1, h))
        c.add("gru_cell", lambda x, a: o.gru_cell(x, a, c.weights(3 * h, i), c.weights(3 * h, h), c.weights(3 * h), h), (1, i), (1, h))
        c.add("rnn_cell", lambda x, a: o.rnn_cell(x, a, c.weights(h, i), c.weights(h, h), c.weights(h), h, ["tanh"], [], []), (1, i), (1, h))


def movement(c):
    o, i64 = opset16, c.const
    for shape, perm in (((1, 128, 12, 64), [0, 2, 1, 3]), (IMAGE, [0, 2, 3, 1]), ((1, 56, 56, 96), [0, 3, 1, 2]), ((768, 3072), [1, 0]),
                        ((1, 8, 7, 8, 7, 96), [0, 1, 3, 2, 4, 5])):
        c.add("transpose", lambda x: o.transpose(x, i64(perm)), shape)
    c.add("concat", lambda a, b: o.concat([a, b], 1), IMAGE, IMAGE)
    c.add("concat", lambda a, b: o.concat([a, b], -1), (1, 8400, 4), (1, 8400, 80))
    c.add("concat cache", lambda a, b: o.concat([a, b], 2), (1, 16, 511, 64), (1, 16, 1, 64))
    c.add("split", lambda x: o.split(x, i64(1), 2), IMAGE)
    c.add("split", lambda x: o.split(x, i64(2), 3), (1, 128, 2304))
    c.add("variadic_split", lambda x: o.variadic_split(x, i64(-1), i64([4, 1, 80])), (1, 25200, 85))
    c.add("slice", lambda x: o.slice(x, i64([0]), i64([2**31]), i64([2]), i64([2])), IMAGE)
    c.add("slice", lambda x: o.slice(x, i64([64]), i64([128]), i64([1]), i64([3])), (1, 12, 128, 128))
    c.add("strided_slice", lambda x: o.strided_slice(x, i64([0, 0, 1, 1]), i64([0, 0, 0, 0]), i64([1, 1, 2, 2]), [1, 1, 0, 0], [1, 1, 1, 1]), IMAGE)
    for mode in ("constant", "reflect", "edge"):
        c.add("pad", lambda x: o.pad(x, i64([0, 0, 3, 3]), i64([0, 0, 3, 3]), mode, c.const(0, F32)), IMAGE)
    c.add("broadcast", lambda x: o.broadcast(x, i64([1, 64, 112, 112])), (1, 64, 1, 1))
    c.add("broadcast", lambda x: o.broadcast(x, i64([1, 4, 8, 512, 64])), (1, 4, 1, 512, 64))
    c.add("tile", lambda x: o.tile(x, i64([1, 1, 4, 1])), (1, 16, 64, 64))
    c.add("tile", lambda x: o.tile(x, i64([1, 128, 1])), (1, 1, 768))
    for axes, shift in (([1, 2], [-3, -3]), ([2], [5])):
        c.add("roll", lambda x: o.roll(x, i64(shift), i64(axes)), (1, 56, 56, 96))
    c.add("reverse", lambda x: c.make("Reverse", [x, i64([1])], "opset1", mode="index"), (1, 128, 512))
    c.add("reverse_sequence", lambda x: o.reverse_sequence(x, i64([50, 100, 80, 20]), 0, 1), (4, 100, 512))
    for mode in ("blocks_first", "depth_first"):
        c.add("depth_to_space", lambda x: o.depth_to_space(x, mode, 2), (1, 256, 64, 64))
        c.add("space_to_depth", lambda x: o.space_to_depth(x, mode, 2), (1, 3, 416, 416))
    c.add("batch_to_space", lambda x: o.batch_to_space(x, i64([1, 1, 2, 2]), i64([0] * 4), i64([0] * 4)), (4, 64, 28, 28))
    c.add("space_to_batch", lambda x: o.space_to_batch(x, i64([1, 1, 2, 2]), i64([0, 0, 1, 1]), i64([0, 0, 1, 1])), (1, 64, 56, 56))
    c.add("shuffle_channels", lambda x: o.shuffle_channels(x, 1, 2), (1, 232, 14, 14))
    c.add("one_hot", lambda x: o.one_hot(x, i64(1000), c.const(1, F32), c.const(0, F32), -1), ((1, 128), I64))
    c.add("gather embedding", lambda i: o.gather(c.weights(30522, 768), i, i64(0)), ((1, 128), I64))
    c.add("gather", lambda x, i: o.gather(x, i, i64(1)), (1, 8400, 84), ((300,), I64))
    c.add("gather last", lambda x, i: o.gather(x, i, i64(2)), (1, 64, 4096), ((1024,), I64))
    c.add("gather_elements", lambda x, i: o.gather_elements(x, i, -1), (1, 12, 128, 256), ((1, 12, 128, 128), I64))
    c.add("gather_nd", lambda x, i: o.gather_nd(x, i), (1000, 256), ((300, 1), I64))
    c.add("gather_tree", lambda a, b: c.make("GatherTree", [a, b, c.const([50, 50], I32), c.const(1, I32)], "opset1"),
          ((50, 2, 4), I32), ((50, 2, 4), I32))
    c.add("scatter_update", lambda x, u: o.scatter_update(x, i64([511]), u, i64(2)), (1, 16, 512, 64), (1, 16, 1, 64))
    c.add("scatter_nd_update", lambda x, i, u: o.scatter_nd_update(x, i, u), (1, 128, 768), ((64, 2), I64), (64, 768))
    for r in ("none", "sum"):
        c.add("scatter_elements_update", lambda x, i, u: o.scatter_elements_update(x, i, u, i64(1), r), (1000, 256), ((1000, 64), I64), (1000, 64))
    c.add("slice_scatter", lambda x, u: o.slice_scatter(x, u, i64([64]), i64([128]), i64([1]), i64([2])), (1, 16, 512, 64), (1, 16, 64, 64))
    for k, shape in ((5, (1, 1000)), (300, (1, 8400)), (50, (1, 32000)), (100, (80, 1000))):
        c.add("topk", lambda x: o.topk(x, i64(k), -1, "max", "value"), shape)
    c.add("non_zero", lambda x: o.non_zero(x), ((128, 768), np.bool_))
    c.add("identity", lambda x: c.make("Identity", [x]), IMAGE)


def images(c):
    o, i64 = opset16, c.const
    for mode, coord, shape, size in (("nearest", "asymmetric", (1, 256, 26, 26), [52, 52]), ("linear_onnx", "half_pixel", (1, 21, 65, 65), [513, 513]),
                                     ("linear_onnx", "align_corners", (1, 256, 32, 32), [64, 64]), ("cubic", "half_pixel", (1, 3, 224, 224), [448, 448]),
                                     ("linear", "half_pixel", (1, 3, 480, 640), [224, 224])):
        c.add("interpolate " + mode, lambda x: o.interpolate(x, i64(size), mode, "sizes", [0] * 4, [0] * 4, coord, axes=i64([2, 3])), shape)
    c.add("interpolate linear 3d", lambda x: o.interpolate(x, i64([16, 64, 64]), "linear_onnx", "sizes", [0] * 5, [0] * 5, "half_pixel",
                                                           axes=i64([2, 3, 4])), (1, 32, 8, 32, 32))
    c.add("interpolate pillow", lambda x: o.interpolate(x, i64([224, 224]), "bicubic_pillow", "sizes", [0] * 4, [0] * 4, "half_pixel",
                                                        axes=i64([2, 3])), (1, 3, 480, 640))
    for mode in ("bilinear", "nearest", "bicubic"):
        c.add("grid_sample " + mode, lambda x, g: o.grid_sample(x, g, {"align_corners": False, "mode": mode, "padding_mode": "zeros"}),
              (1, 32, 100, 100), (1, 300, 16, 2))
    c.add("reorg_yolo", lambda x: o.reorg_yolo(x, [2]), (1, 64, 26, 26))
    c.add("region_yolo", lambda x: o.region_yolo(x, 4, 20, 5, True, [0, 1, 2], 1, 3, [1.0] * 10), (1, 125, 13, 13))
    c.add("region_yolo", lambda x: o.region_yolo(x, 4, 80, 9, False, [0, 1, 2], 1, 3, [1.0] * 18), (1, 255, 52, 52))
    for layout in ("nv12", "i420"):
        for color in ("rgb", "bgr"):
            c.add("%s_to_%s" % (layout, color), getattr(o, "%s_to_%s" % (layout, color)), ((1, 720, 640, 1), np.uint8))


def detectors(c):
    o, i64 = opset13, c.const
    f = lambda v: c.const(v, F32)
    c.add("nms", lambda b, s: o.non_max_suppression(b, s, i64(200), f(0.5), f(0.3)), (1, 1917, 4), (1, 90, 1917))
    c.add("nms", lambda b, s: o.non_max_suppression(b, s, i64(300), f(0.45), f(0.25)), (1, 8400, 4), (1, 1, 8400))
    c.add("nms_rotated", lambda b, s: c.make("NMSRotated", [b, s, i64(100), f(0.5), f(0.3)], "opset13", sort_result_descending=True), (1, 1000, 5), (1, 4, 1000))
    c.add("matrix_nms", lambda b, s: o.matrix_nms(b, s, "score", False, "i32", 0.3, 100, 100, -1, "linear", 2.0, 0.1, True),
          (1, 1000, 4), (1, 20, 1000))
    c.add("multiclass_nms", lambda b, s: o.multiclass_nms(b, s, None, "score", False, "i64", 0.5, 0.3, 100, 100, -1, True, 1.0),
          (1, 1000, 4), (1, 20, 1000))
    n, classes = 1917, 91
    a = dict(background_label_id=0, top_k=100, keep_top_k=[100], code_type="caffe.PriorBoxParameter.CENTER_SIZE", share_location=True,
             nms_threshold=0.6, confidence_threshold=0.3, clip_after_nms=False, clip_before_nms=False, decrease_label_id=False,
             normalized=True, input_height=1, input_width=1, variance_encoded_in_target=False, objectness_score=0.0)
    c.add("detection_output", lambda l, s, p: ov.opset8.detection_output(l, s, p, a), (1, n * 4), (1, n * classes), (1, 2, n * 4))
    c.add("prior_box", lambda x: ov.opset8.prior_box(x, i64([300, 300]),
          dict(min_size=[60.0], max_size=[111.0], aspect_ratio=[2.0, 3.0], flip=True, offset=0.5, step=16.0, variance=[0.1, 0.1, 0.2, 0.2])), ((2,), I64))
    c.add("roi_align", lambda p, r: o.roi_align(p, r, c.const(np.zeros(300), I32), 7, 7, 2, 0.25, "avg", "half_pixel"), (1, 256, 50, 68), (300, 4))
    c.add("roi_align_rotated", lambda p, r: opset16.roi_align_rotated(p, r, c.const(np.zeros(100), I32), 7, 7, 2, 0.25, True), (1, 256, 50, 68), (100, 5))
    c.add("roi_pooling", lambda p, r: o.roi_pooling(p, r, [7, 7], 0.0625, "max"), (1, 512, 38, 50), (300, 5))
    c.add("psroi_pooling", lambda p, r: o.psroi_pooling(p, r, 21, 7, 0.0625, 7, 7, "average"), (1, 1029, 38, 38), (300, 5))
    c.add("deformable_psroi_pooling", lambda p, r: c.make("DeformablePSROIPooling", [p, r], "opset1", output_dim=np.int64(8),
          spatial_scale=0.0625, group_size=np.int64(7), mode="bilinear_deformable", spatial_bins_x=np.int64(4), spatial_bins_y=np.int64(4),
          trans_std=0.1, part_size=np.int64(7)), (1, 392, 38, 38), (300, 5))
    p = dict(base_size=np.uint32(16), pre_nms_topn=np.uint32(6000), post_nms_topn=np.uint32(300), nms_thresh=0.7, feat_stride=np.uint32(16),
             min_size=np.uint32(16), ratio=[0.5, 1.0, 2.0], scale=[8.0, 16.0, 32.0], framework="")
    c.add("proposal", lambda s, d: ov.opset4.proposal(s, d, f([600.0, 800.0, 1.0]), p), (1, 18, 38, 50), (1, 36, 38, 50))
    c.add("generate_proposals", lambda i, an, d, s: ov.opset9.generate_proposals(i, an, d, s, 1.0, 0.7, 1000, 300), (1, 3), (50, 68, 3, 4),
          (1, 12, 50, 68), (1, 3, 50, 68))
    k = lambda name, inputs, **a: c.make("ExperimentalDetectron" + name, inputs, "opset6", **a)
    c.add("detectron_proposals", lambda i, an, d, s: k("GenerateProposalsSingleImage", [i, an, d, s], min_size=0.0, nms_threshold=0.7,
          post_nms_count=300, pre_nms_count=1000), (3,), (10200, 4), (12, 50, 68), (3, 50, 68))
    c.add("detectron_detection_output", lambda r, d, s, i: k("DetectionOutput", [r, d, s, i], class_agnostic_box_regression=False,
          deltas_weights=[10.0, 10.0, 5.0, 5.0], max_delta_log_wh=4.135, max_detections_per_image=100, nms_threshold=0.5, num_classes=81,
          post_nms_count=2000, score_threshold=0.05), (300, 4), (300, 324), (300, 81), (1, 3))
    c.add("detectron_top_rois", lambda r, s: k("TopKROIs", [r, s], max_rois=300), (1000, 4), (1000,))
    c.add("detectron_prior_grid", lambda r, x, i: k("PriorGridGenerator", [r, x, i], flatten=True, h=0, w=0, stride_x=16.0, stride_y=16.0),
          (3, 4), (1, 256, 50, 68), (1, 3, 800, 1088))
    c.add("detectron_roi_features", lambda r, a, b: k("ROIFeatureExtractor", [r, a, b], output_size=7, sampling_ratio=2,
          pyramid_scales=[4, 8], aligned=False), (300, 4), (1, 256, 100, 136), (1, 256, 50, 68))


def sequences(c):
    o, i64 = opset16, c.const
    c.add("bucketize", lambda x: o.bucketize(x, c.const(np.linspace(-1, 1, 32), F32), "i64"), (128, 768))
    c.add("search_sorted", lambda s, v: o.search_sorted(s, v, True), (1024,), (16384,))
    c.add("unique", lambda x: o.unique(x), ((4096,), I64))
    table = c.weights(10000, 64)
    c.add("bag offsets", lambda i: o.embedding_bag_offsets_sum(table, i, i64(np.arange(0, 2048, 8))), ((2048,), I64))
    c.add("bag offsets mean", lambda i: o.embedding_bag_offsets(table, i, i64(np.arange(0, 2048, 8)), reduction="mean"), ((2048,), I64))
    c.add("bag packed", lambda i: o.embedding_bag_packed_sum(table, i), ((256, 8), I64))
    c.add("bag packed mean", lambda i: o.embedding_bag_packed(table, i, reduction="mean"), ((256, 8), I64))
    c.add("segments", lambda i: o.embedding_segments_sum(table, i, i64(np.repeat(np.arange(256), 8)), i64(256)), ((2048,), I64))
    c.add("segment_max", lambda x: o.segment_max(x, i64(np.repeat(np.arange(256), 8)), i64(256), "ZERO"), (2048, 64))
    c.add("sparse_fill_empty_rows", lambda v: o.sparse_fill_empty_rows(v, i64([512, 9]), i64([[i, 0] for i in range(0, 512, 2)]), c.const(-1, F32)), (256,))
    c.add("ctc_greedy", lambda p: o.ctc_greedy_decoder(p, c.const(np.ones((100, 1)), F32), True), (100, 1, 96))
    c.add("ctc_greedy_seq_len", lambda p: o.ctc_greedy_decoder_seq_len(p, c.const([100], I32), c.const(95, I32), True), (1, 100, 96))
    c.add("ctc_loss", lambda p: o.ctc_loss(p, c.const([100], I32), c.const(c.rng.integers(0, 95, (1, 100)), I32), c.const([30], I32), c.const(95, I32)), (1, 100, 96))
    c.add("dft", lambda x: o.dft(x, i64([1, 2])), (1, 128, 768, 2))
    c.add("idft", lambda x: o.idft(x, i64([1])), (80, 1024, 2))
    c.add("rdft", lambda x: o.rdft(x, i64([2, 3])), (1, 64, 56, 56))
    c.add("irdft", lambda x: o.irdft(x, i64([2, 3])), (1, 64, 56, 29, 2))
    c.add("stft", lambda x: o.stft(x, c.weights(400), i64(400), i64(160), False), (1, 16000))
    c.add("istft", lambda x: c.make("ISTFT", [x, c.const(np.ones(400), F32), i64(400), i64(160)], center=False, normalized=False), (1, 201, 98, 2))
    c.add("random_uniform", lambda: o.random_uniform(i64([128, 768]), c.const(0, F32), c.const(1, F32), "f32", 1, 2))
    c.add("multinomial", lambda p: o.multinomial(p, i64([16]), "i64", True, False, 1, 2), (4, 1000))


def models():
    """(name, model) of every case"""
    c = Cases()
    for family in (elementwise, reductions, windows, products, movement, images, detectors, sequences):
        family(c)
    yield from c.models
