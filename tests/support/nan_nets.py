"""nan_nets.py - what may be fused, and the same unfused: heads.xml, acts.xml and fused.xml in the current directory, with inputs that are
not numbers in in/.

heads.xml has the output of every head (a convolution, a product, ...), acts.xml every activation of each of these as its input, fused.xml
both at once. In the order of results: fused.xml's are those of acts.xml.
    not_numbers(acts, fused) - names of results that have NaN in other places, or other values
"""
import os

import numpy as np

from tiny_ir import Model

rng = np.random.default_rng(3)
IMAGE, ROWS, FEW = (1, 16, 12, 12), (40, 64), (2, 64)


def weights(*shape):
    return (rng.standard_normal(shape) * 0.3).astype(np.float32)


def window(kind, w, stride=1, pad=0):
    k = w.shape[-1]
    size = (12 + 2 * pad - k) // stride + 1
    out = (1, w.shape[0] * (w.shape[1] if kind == "GroupConvolution" else 1), size, size)

    def add(m, name, x):
        return m.layer(kind, name, "f32", out, x, m.const(name + ".w", "f32", w), strides=f"{stride},{stride}", dilations="1,1",
                       pads_begin=f"{pad},{pad}", pads_end=f"{pad},{pad}", auto_pad="explicit")
    return "image", out, add


def product(rows, n, bias):
    w, b = weights(64, n), weights(n)

    def add(m, name, x):
        y = m.layer("MatMul", name, "f32", (rows[0], n), x, m.const(name + ".w", "f32", w), transpose_a="false", transpose_b="false")
        return m.layer("Add", name + ".sum", "f32", (rows[0], n), y, m.const(name + ".b", "f32", b)) if bias else y
    return "rows" if rows == ROWS else "few", (rows[0], n), add


def simple(kind, out, **data):
    return "image", out, lambda m, name, x: m.layer(kind, name, "f32", out, x, **data)


HEADS = {
    "conv1": window("Convolution", weights(32, 16, 1, 1)), "conv3": window("Convolution", weights(16, 16, 3, 3), pad=1),
    "conv3s2": window("Convolution", weights(24, 16, 3, 3), stride=2, pad=1), "conv5": window("Convolution", weights(8, 16, 5, 5), pad=2),
    "depth": window("GroupConvolution", weights(16, 1, 1, 3, 3), pad=1), "depth_s2": window("GroupConvolution", weights(16, 1, 1, 3, 3), stride=2, pad=1),
    "groups": window("GroupConvolution", weights(4, 8, 4, 3, 3), pad=1),
    "product": product(ROWS, 48, False), "product_bias": product(ROWS, 48, True), "few": product(FEW, 48, False), "narrow": product(ROWS, 3, True),
    "mean": simple("AvgPool", (1, 16, 12, 12), strides="1,1", pads_begin="1,1", pads_end="1,1", kernel="3,3", auto_pad="explicit",
                   rounding_type="floor", **{"exclude-pad": "true"}),
}
PARAMETERS = {"image": IMAGE, "rows": ROWS, "few": FEW}


def unary(kind, **data):
    return lambda m, name, x: m.layer(kind, name, "f32", m.shape[x][1], x, **data)


def with_constants(kind, *values, opset="opset1", **data):
    def add(m, name, x):
        more = [m.const(f"{name}.{i}", "f32", np.float32(v)) for i, v in enumerate(values)]
        return m.layer(kind, name, "f32", m.shape[x][1], x, *more, opset=opset, **data)
    return add


def channels(kind, after=None):
    """A constant of each channel, or column, and perhaps ReLU."""
    def add(m, name, x):
        shape = m.shape[x][1]
        value = np.linspace(-1, 1, shape[1], dtype=np.float32).reshape((1, -1) + (1,) * (len(shape) - 2))
        y = m.layer(kind, name, "f32", shape, x, m.const(name + ".c", "f32", value), auto_broadcast="numpy")
        return after(m, name + ".after", y) if after else y
    return add


ACTS = {
    "relu": unary("ReLU"), "clamp": unary("Clamp", min="0", max="6"), "clamp_low": unary("Clamp", min="-1", max="0.5"),
    "prelu": with_constants("PReLU", [0.2]), "elu": unary("Elu", alpha="1.0"), "sigmoid": unary("Sigmoid"), "tanh": unary("Tanh"),
    "swish": unary("Swish", opset="opset4"), "hswish": unary("HSwish", opset="opset4"), "hsigmoid": unary("HSigmoid", opset="opset5"),
    "gelu": unary("Gelu", opset="opset7", approximation_mode="ERF"), "gelu_tanh": unary("Gelu", opset="opset7", approximation_mode="TANH"),
    "mish": unary("Mish", opset="opset4"), "softplus": unary("SoftPlus", opset="opset4"), "exp": unary("Exp"), "abs": unary("Abs"),
    "sqrt": unary("Sqrt"), "sign": unary("Sign"), "hard": with_constants("HardSigmoid", 0.2, 0.5),
    "min": with_constants("Minimum", 0.3, auto_broadcast="numpy"), "max": with_constants("Maximum", 0.3, auto_broadcast="numpy"),
    "power": with_constants("Power", 2, auto_broadcast="numpy"), "quantize": with_constants("FakeQuantize", -1, 1, -1, 1, levels="256"),
    "sum": channels("Add"), "sum_relu": channels("Add", unary("ReLU")), "scale_clamp": channels("Multiply", unary("Clamp", min="0", max="1")),
    "sum_gelu": channels("Add", unary("Gelu", opset="opset7", approximation_mode="ERF")), "sum_hswish": channels("Add", unary("HSwish", opset="opset4")),
    "sum_swish": channels("Add", unary("Swish", opset="opset4")), "min_relu": lambda m, name, x: unary("ReLU")(m, name + ".after", ACTS["min"](m, name, x)),
}
NAMES = [f"{h}.{a}" for h in HEADS for a in ACTS]


def write():
    heads, acts, fused = Model("heads"), Model("acts"), Model("fused")
    at = {m: {p: m.layer("Parameter", p, "f32", s) for p, s in PARAMETERS.items()} for m in (heads, fused)}
    ys = {h: acts.layer("Parameter", h, "f32", out) for h, (_, out, _) in HEADS.items()}
    for h, (of, _, add) in HEADS.items():
        heads.result(add(heads, h, at[heads][of]))
        for a, act in ACTS.items():
            acts.result(act(acts, f"{h}.{a}", ys[h]))
            fused.result(act(fused, f"{h}.{a}", add(fused, f"{h}.{a}.head", at[fused][of])))
    for m in (heads, acts, fused):
        m.save()
    os.makedirs("in", exist_ok=True)
    for i, shape in enumerate(PARAMETERS.values()):
        x = rng.uniform(-2, 2, shape).astype(np.float32)
        flat = x.reshape(-1)
        flat[[5, flat.size // 2]] = np.nan, np.inf      # the rest of the image is far from both
        np.save(f"in/{i}.npy", x)


def not_numbers(acts, fused, tolerance):
    bad, seen = [], 0
    for i, name in enumerate(NAMES):
        a, b = (np.load(f"{d}/{i}.npy").astype(np.float64) for d in (acts, fused))
        seen += np.isnan(a).sum()
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(invalid="ignore"):
            same |= np.abs(a - b) <= tolerance * max(1, np.abs(a[np.isfinite(a)]).max(initial=0))
        if a.shape != b.shape or not same.all():
            bad.append(f"{name}: {b[~same].ravel()[:4]} instead of {a[~same].ravel()[:4]}")
    assert seen > len(NAMES)
    return bad
