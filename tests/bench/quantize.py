#!/usr/bin/env python3
"""quantize.py MODEL.xml OUT.xml - a model with FakeQuantize around its products, as NNCF places them.

Activations that Convolution, GroupConvolution and MatMul with constant weights read, and both inputs of an Add of two
activations, get one range for the whole tensor: 0 .. high, or symmetric with one level more below zero where some are
negative.  Weights get symmetric ranges for each output channel, 255 levels.  Ranges are those of one
random input (--seed), so that the model's numbers mean something even with random weights.

--nncf has NNCF do it (pip install nncf), as its users do: cnn or transformer, its two kinds of models; or weights alone, w8, w8s, w4
or w4s: 8 or 4 bits, without or with a sign.
"""
import argparse
import sys

import numpy as np
import openvino as ov
from openvino import opset13 as op

PRODUCTS = ("Convolution", "GroupConvolution", "MatMul")


def constant(node):
    """The value of a node that depends on constants alone, or None."""
    if node.get_type_name() == "Constant":
        return node.data.astype(np.float32)
    if node.get_type_name() == "Convert":
        return constant(node.input_value(0).get_node())
    return None


def draw(model, rng):
    """A random input by names."""
    feed = {}
    for x in model.inputs:
        shape = [d.get_length() if d.is_static else 1 for d in x.get_partial_shape()]
        real = x.get_element_type().is_real()
        mask = "mask" in x.get_any_name()
        feed[x.get_any_name()] = (rng.standard_normal(shape) if real else rng.integers(0, 2 if mask else 100, shape)).astype(
            x.get_element_type().to_dtype())
    return feed


def by_nncf(model, how, rng):
    import nncf
    if how in ("cnn", "transformer"):
        kind = nncf.ModelType.TRANSFORMER if how == "transformer" else None
        return nncf.quantize(model, nncf.Dataset([draw(model, rng) for _ in range(4)]), subset_size=4, model_type=kind)
    mode = "INT%s_%s" % (how[1], "SYM" if how.endswith("s") else "ASYM")
    return nncf.compress_weights(model, mode=nncf.CompressWeightsMode[mode])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--nncf", choices=("cnn", "transformer", "w8", "w8s", "w4", "w4s"))
    p.add_argument("model")
    p.add_argument("out")
    args = p.parse_args()
    model = ov.Core().read_model(args.model)
    rng = np.random.default_rng(args.seed)
    if args.nncf:
        ov.save_model(by_nncf(model, args.nncf, rng), args.out, compress_to_fp16=False)
        return 0
    ports, weights = [], []
    for node in model.get_ordered_ops():
        kind = node.get_type_name()
        if kind in PRODUCTS and constant(node.input_value(1).get_node()) is not None:
            ports.append(node.input(0))
            weights.append(node)
        elif kind == "Add" and all(constant(v.get_node()) is None for v in node.input_values()):
            ports += [node.input(0), node.input(1)]
    sources = {}
    for port in ports:
        source = port.get_source_output()
        key = source.get_node().get_friendly_name(), source.get_index()
        sources.setdefault(key, (source, []))[1].append(port)

    # Ranges, from one inference with more results.
    watched = ov.Model([s for s, _ in sources.values()], model.get_parameters(), "watched")
    compiled = ov.Core().compile_model(watched, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    values = compiled(draw(model, rng))
    for i, (source, readers) in enumerate(sources.values()):
        x = values[i]
        low, high = float(x.min()), float(np.abs(x).max()) or 1.0
        low = -high * 128 / 127 if low < 0 else 0.0
        quantized = op.fake_quantize(source, *(op.constant(np.float32(v)) for v in (low, high, low, high)), 256)
        for port in readers:
            port.replace_source_output(quantized.output(0))
    for node in weights:
        w = constant(node.input_value(1).get_node())
        if node.get_type_name() == "MatMul":
            axes = (1,) if node.get_attributes()["transpose_b"] else (0,)
            if w.ndim != 2:
                continue
        else:
            axes = tuple(range(1 + (node.get_type_name() == "GroupConvolution"), w.ndim))
        high = np.maximum(np.abs(w).max(axis=axes, keepdims=True), 1e-8).astype(np.float32)
        limits = [op.constant(v) for v in (-high, high, -high, high)]
        node.input(1).replace_source_output(op.fake_quantize(op.constant(w), *limits, 255).output(0))
    ov.save_model(model, args.out, compress_to_fp16=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
