#!/usr/bin/env python3
"""The architectures of transformers, made small, with drawn weights: what devrun computes beside OpenVINO.

    architectures.py [--bin DIR] [--devices LIST]... WORK [NAME...]

NAME is one of transformers' model types (default: all).  A model is traced with inputs that are drawn, read by ir2dag with their shapes,
and run once on each LIST of devices (default: cpu:0, and cpu:0,cpu:1), in a random placement where there are several.  Prints a row
for each: the largest difference of outputs, of their scale, by list; what the program said instead; or why there is no model, which
is no failure: many configurations do not survive being made small.  Exit status 1 where outputs differ by more than 1e-4, or a
program fails.  WORK/NAME keeps model, inputs, outputs and log, and row.json, with which a name is not run again.

Models that draw random numbers, or are so deep in rounding that PyTorch's own f32 is as far from its f64, differ and are no
errors: look at WORK/NAME before you believe a row.
"""
import argparse
import contextlib
import inspect
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np

SAME, LIMIT_S = 1e-4, 400
# What is larger is made so small; each name is a key of some configurations.
SIZES = dict(vocab_size=120, hidden_size=32, d_model=32, n_embd=32, embed_dim=32, dim=32, hidden_dim=32, embedding_size=24, projection_dim=24,
             intermediate_size=48, ffn_dim=48, d_ff=48, encoder_ffn_dim=48, decoder_ffn_dim=48, moe_intermediate_size=24, head_dim=8, d_kv=8,
             num_attention_heads=4, n_head=4, num_heads=4, n_heads=4, encoder_attention_heads=4, decoder_attention_heads=4, num_key_value_heads=2,
             num_hidden_layers=2, n_layer=2, n_layers=2, num_layers=2, encoder_layers=2, decoder_layers=2, num_encoder_layers=2,
             num_decoder_layers=2, num_experts=4, num_local_experts=4, n_routed_experts=4, moe_num_experts=4, num_experts_per_tok=2, n_group=1,
             topk_group=1, first_k_dense_replace=1, image_size=64, img_size=64, max_position_embeddings=128, n_positions=128, kv_lora_rank=16,
             q_lora_rank=16, qk_nope_head_dim=8, qk_rope_head_dim=8, v_head_dim=8, num_labels=5)
TOKENS = "pad_token_id bos_token_id eos_token_id decoder_start_token_id image_token_id audio_token_id image_token_index".split()


def parts(config):
    """The configurations within one."""
    return [v for v in vars(config).values() if hasattr(v, "model_type") and hasattr(v, "to_dict")]


def shrink(config, seen=()):
    for key, value in SIZES.items():
        old = getattr(config, key, None)
        if isinstance(old, int) and not isinstance(old, bool) and old > value:
            with contextlib.suppress(Exception):
                setattr(config, key, value)
    for key in TOKENS:
        old = getattr(config, key, None)
        if old is not None and not (isinstance(old, int) and old < 100):
            with contextlib.suppress(Exception):
                setattr(config, key, 1)
    layers = getattr(config, "num_hidden_layers", None)
    if isinstance(getattr(config, "layer_types", None), list) and isinstance(layers, int):
        config.layer_types = config.layer_types[-layers:]
    for part in parts(config):
        if id(part) not in seen:
            shrink(part, (*seen, id(part)))
    return config


def draw_inputs(config, takes):
    import torch

    def find(*keys, default):
        for c in (config, *parts(config)):
            for value in (getattr(c, k, None) for k in keys):
                if isinstance(value, (list, tuple)) and value:
                    value = value[0]
                if isinstance(value, int):
                    return value
        return default

    pixels, channels = find("image_size", "img_size", default=64), find("num_channels", "in_channels", default=3)
    ids = torch.randint(3, min(find("vocab_size", default=100), 100), (1, 12))
    values = {"input_ids": ids, "decoder_input_ids": ids[:, :6], "pixel_values": torch.rand(1, channels, pixels, pixels),
              "pixel_values_videos": torch.rand(1, find("num_frames", "frames_per_clip", default=4), 3, pixels, pixels),
              "input_features": torch.rand(1, find("num_mel_bins", "feature_size", default=80), 2 * find("max_source_positions", default=50)),
              "input_values": torch.rand(1, 4000), "bbox": torch.randint(0, 90, (1, 12, 4)).sort(-1)[0]}
    if "input_ids" in takes:
        values["attention_mask"] = torch.ones_like(ids)
    return {name: values[name] for name in takes if name in values}


def tensors(x):
    import torch
    if isinstance(x, torch.Tensor):
        return [x]
    if hasattr(x, "keys"):
        return [t for k in x.keys() if k not in ("past_key_values", "loss") for t in tensors(x[k])]
    return [t for v in x for t in tensors(v)] if isinstance(x, (list, tuple)) else []


def export(name, to):
    import openvino as ov
    import torch
    import transformers
    torch.manual_seed(0)
    config = shrink(transformers.CONFIG_MAPPING[name]())
    config.use_cache, config.return_dict = False, True
    model = transformers.AutoModel.from_config(config).eval()
    inputs = draw_inputs(config, inspect.signature(model.forward).parameters)

    class Flat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.m = model

        def forward(self, *args):
            return tuple(tensors(self.m(**dict(zip(inputs, args))))[:8])

    with torch.no_grad():
        traced = ov.convert_model(Flat(), example_input=tuple(inputs.values()))
    ov.save_model(traced, to / "model.xml", compress_to_fp16=False)
    (to / "in").mkdir(exist_ok=True)
    for i, (port, value) in enumerate(zip(traced.inputs, inputs.values(), strict=True)):
        np.save(to / f"in/{i}.npy", value.numpy().astype(port.get_element_type().to_dtype()))


def difference(got, expected):
    """Of the output's scale; what else is wrong as text."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype}{list(got.shape)}, OpenVINO {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind != "f":
        return 0.0 if (got == expected).all() else f"{(got != expected).sum()} of {expected.size} integers differ"
    if (np.isfinite(got) != np.isfinite(expected)).any():
        return "NaN or infinity in other places"
    finite = np.isfinite(expected)
    scale = float(np.abs(expected[finite]).max(initial=0)) or 1.0
    return float(np.abs(got[finite].astype(np.float64) - expected[finite]).max(initial=0)) / scale


def run(to, devices, shapes, expected):
    place = "random -n 1 --draw uniform --seed 3" if "," in devices else "single"
    command = (f"rm -rf out; ir2dag model.xml --shape '{shapes}' | devrun probe -D {devices} | placebase {place} | "
               "devrun run --no-reference --allow-shared -n 1 --warmup 0 -i in --outputs out -o run.mp && recdump -k run --tsv ok,reason run.mp")
    p = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=to, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       errors="replace", timeout=LIMIT_S)
    with open(to / "log", "a", encoding="utf-8") as f:
        f.write(f"$ {command}\n{p.stdout}")
    last = p.stdout.strip().rpartition("\n")[2]
    if p.returncode or not last.startswith("true"):
        return last[:300] or f"status {p.returncode}"
    found = [difference(np.load(to / f"out/{i}.npy"), e) for i, e in enumerate(expected)]
    return next((x for x in found if isinstance(x, str)), max(found, default=0.0))


def check(to, lists):
    import openvino as ov
    core = ov.Core()
    model = core.read_model(to / "model.xml")
    values = [np.load(to / f"in/{i}.npy") for i in range(len(model.inputs))]
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    expected = [x.copy() for x in core.compile_model(model, "CPU", config)(values).values()]
    shapes = ";".join("%s=%s" % (p.get_friendly_name(), ",".join(map(str, v.shape))) for p, v in zip(model.get_parameters(), values) if v.ndim)
    return {devices: run(to, devices, shapes, expected) for devices in lists}


def trace_masks():
    """Masks that tracing cannot follow (vmap) are made by broadcasting."""
    from transformers import masking_utils

    def broadcast(function, bh_indices=True):
        return lambda b, h, q, k: function(b[:, None, None, None], h[None, :, None, None], q[None, None, :, None], k[None, None, None, :])
    masking_utils._vmap_for_bhqkv = broadcast
    masking_utils.TransformGetItemToIndex = contextlib.nullcontext


def one(name, to, lists):
    """In a process of its own: exports and checks, and writes the row."""
    log = os.open(to / "export.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        if not (to / "in").exists():
            export(name, to)
        row = check(to, lists)
    except BaseException as e:
        traceback.print_exc()
        row = {"none": f"{type(e).__name__}: {e}".strip().rpartition("\n")[2][:200]}
    (to / "row.json").write_text(json.dumps(row))
    os._exit(0)


def row_of(name, to, lists):
    if not (to / "row.json").exists():
        to.mkdir(parents=True, exist_ok=True)
        child, began = os.fork(), time.monotonic()
        if child == 0:
            one(name, to, lists)
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            time.sleep(0.1)
            if time.monotonic() - began > LIMIT_S:
                os.kill(child, signal.SIGKILL)
        if not (to / "row.json").exists():
            (to / "row.json").write_text(json.dumps({"none": "the process that exports and checks was ended"}))
    return json.loads((to / "row.json").read_text())


def main():
    import transformers
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin")
    p.add_argument("--devices", action="append")
    p.add_argument("work", type=Path)
    p.add_argument("names", nargs="*")
    a = p.parse_intermixed_args()
    if a.bin:
        os.environ["PATH"] = os.path.abspath(a.bin) + ":" + os.environ["PATH"]
    lists = a.devices or ["cpu:0", "cpu:0,cpu:1"]
    trace_masks()
    counts = {"alike": 0, "wrong": 0, "no model": 0}
    for name in a.names or sorted(transformers.CONFIG_MAPPING.keys()):
        row = row_of(name, a.work.resolve() / name, lists)
        kind = "no model" if "none" in row else "alike" if all(isinstance(x, float) and x <= SAME for x in row.values()) else "wrong"
        counts[kind] += 1
        print(f"{name:28} {kind:9}", *(f"{k} {v:.0e}" if isinstance(v, float) else f"{k}: {v}" for k, v in row.items()), flush=True)
    print(", ".join(f"{n} {k}" for k, n in counts.items()))
    sys.exit(counts["wrong"] > 0)


if __name__ == "__main__":
    main()
