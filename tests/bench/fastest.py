#!/usr/bin/env python3
"""fastest.py - whole models in f32, devrun beside the fastest of OpenVINO, onnxruntime and LiteRT, on one core and on all.

Each runtime reads its own form of one model: .onnx is converted to IR for devrun and OpenVINO and run by onnxruntime as it is, .tflite
by LiteRT with XNNPACK.  All run bursts in turns; a ratio is devrun's median latency in a round over that of the runtime whose median over
all rounds is the least.  Before that, outputs are compared: where they differ by more than 1e-3 of their scale, the row says so.

Rows are kept in DIR/cache by devrun's bytes; what is there is not measured again.

Usage: fastest.py [options] NAME|MODEL.onnx[@SHAPES]|MODEL.tflite[@SHAPES]...
       names: export_models.py --list; shapes of inputs in order, where the model leaves them open: det.onnx@1,3,320,320;1,2 (else 1)
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import exec as bench
import models
import numpy as np
import openvino as ov

HERE = os.path.dirname(os.path.abspath(__file__))
SAME = 1e-3


class Timed:
    """What runs an inference when it is called."""

    def __init__(self, seconds, infer):
        self.seconds, self.infer = seconds, infer
        infer()

    def burst(self):
        times, end = [], time.perf_counter() + self.seconds
        while len(times) < 2 or time.perf_counter() < end:
            start = time.perf_counter()
            self.infer()
            times.append(time.perf_counter() - start)
        return statistics.median(times)


def onnxruntime(path, inputs, threads):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = {x.name: value for x, value in zip(session.get_inputs(), inputs)}
    return lambda: session.run(None, feed)


def litert(path, inputs, threads):
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(model_path=path, num_threads=threads)
    for x, value in zip(interpreter.get_input_details(), inputs):
        interpreter.resize_tensor_input(x["index"], value.shape)
    interpreter.allocate_tensors()
    for x, value in zip(interpreter.get_input_details(), inputs):
        interpreter.set_tensor(x["index"], value)
    outputs = [x["index"] for x in interpreter.get_output_details()]

    def infer():
        interpreter.invoke()
        return [interpreter.get_tensor(i) for i in outputs]
    return infer


OTHERS = {".onnx": ("onnxruntime", onnxruntime), ".tflite": ("LiteRT", litert)}


def as_ir(args, path, shapes):
    """The model as IR with static shapes, beside the others."""
    name = os.path.basename(path) + "-" + models.digest_of(path) + ("@" + shapes if shapes else "")
    out = "%s/models/%s.xml" % (args.dir, re.sub(r"[^A-Za-z0-9_-]", "_", name))
    if not os.path.exists(out):
        model = ov.convert_model(path)
        given = [[int(d) for d in s.split(",")] for s in shapes.split(";")] if shapes else []
        model.reshape({p: given[i] if i < len(given) else [1 if d.is_dynamic else d.get_length() for d in p.partial_shape]
                       for i, p in enumerate(model.inputs)})
        ov.save_model(model, out, compress_to_fp16=False)
    return out


def difference(args, b, xml, infer):
    """The largest of devrun's outputs from the other runtime's, of their scale."""
    with tempfile.TemporaryDirectory() as tmp:
        order = [p.get_node().get_friendly_name() for p in ov.Core().read_model(xml).inputs]
        for i, name in enumerate(order):
            np.save("%s/%d.npy" % (tmp, i), b.inputs[name])
        bench.pipe(["bash", "-o", "pipefail", "-c", '%s/placebase single -D cpu:0 | %s/devrun run -n 1 --no-reference -i %s --outputs %s/out -o /dev/null'
                    % (args.bin, args.bin, tmp, tmp)], b.data)
        worst = 0.0
        for i, theirs in enumerate(infer()):
            ours, theirs = np.load("%s/out/%d.npy" % (tmp, i)).astype(np.float64), np.asarray(theirs, np.float64)
            if ours.shape != theirs.shape:
                return float("inf")
            worst = max(worst, float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-30))) if ours.size else worst
    return worst


def measure(args, path, shapes):
    """{threads: {"ms": {runtime: ms}, "ratio": .., "low": .., "high": .., "fastest": name, "off": ..}}"""
    xml, (name, make) = as_ir(args, path, shapes), OTHERS[os.path.splitext(path)[1]]
    b, rows = bench.Bench(args, xml), {}
    inputs = [b.inputs[p.get_node().get_friendly_name()] for p in ov.Core().read_model(xml).inputs]
    try:
        for threads in sorted({1, b.cores}):
            infer = make(path, inputs, threads)
            sides = {"devrun": b.ours("cpu:0" if threads == 1 else "cpu"), "OpenVINO": b.theirs(threads), name: Timed(args.burst, infer)}
            took, order = {n: [] for n in sides}, list(sides)
            for _ in range(args.pairs):
                for n in order:
                    took[n].append(sides[n].burst())
                order = order[1:] + order[:1]
            ms = {n: 1e3 * statistics.median(t) for n, t in took.items()}
            best = min((n for n in sides if n != "devrun"), key=ms.get)
            ratios = [a / c for a, c in zip(took["devrun"], took[best])]
            low, high = bench.interval(ratios)
            rows[threads] = {"ms": ms, "ratio": statistics.median(ratios), "low": low, "high": high, "fastest": best,
                             "off": difference(args, b, xml, infer)}
    finally:
        b.close()
    return rows


def model_file(args, name):
    if os.path.splitext(name)[1] in OTHERS:
        return name
    path = "%s/models/%s.onnx" % (args.dir, name)
    if not os.path.exists(path):
        p = subprocess.run([args.export_python, HERE + "/export_models.py", name, path], capture_output=True, text=True)
        if p.returncode != 0:
            raise RuntimeError("not exported: " + (p.stderr.strip().splitlines() or ["no message"])[-1])
    return path


def print_table(found):
    for threads in sorted({int(t) for rows in found.values() for t in rows}):
        print("\n%d thread%s:\n" % (threads, "s"[:threads > 1]))
        print("| model | devrun, ms | OpenVINO | onnxruntime or LiteRT | of the fastest | interval | outputs off |\n|---|---|---|---|---|---|---|")
        table = {name: rows[str(threads)] for name, rows in found.items() if str(threads) in rows}
        for name, r in sorted(table.items(), key=lambda item: -item[1]["ratio"]):
            third = next(n for n in r["ms"] if n not in ("devrun", "OpenVINO"))
            print("| %s | %.3g | %.3g | %.3g (%s) | **%.2f** (%s) | %.2f .. %.2f | %s%.0e |"
                  % (name, r["ms"]["devrun"], r["ms"]["OpenVINO"], r["ms"][third], third, r["ratio"], r["fastest"], r["low"], r["high"],
                     "DIFFERS " * (not r["off"] <= SAME), r["off"]))
        ratios = sorted(r["ratio"] for r in table.values())
        print("\n%d models: median %.2f of the fastest, %.0f %% at 1.00 or below, %.0f %% at 1.15 or below, worst %.2f"
              % (len(ratios), statistics.median(ratios), 100 * np.mean([r <= 1 for r in ratios]), 100 * np.mean([r <= 1.15 for r in ratios]), ratios[-1]))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--dir", default="build/bench-fastest")
    ap.add_argument("--export-python", default=sys.executable, help="has torch, torchvision, timm, transformers, onnx, onnxscript")
    ap.add_argument("--pairs", type=int, default=7, help="rounds")
    ap.add_argument("--burst", type=float, default=0.15, help="seconds")
    ap.add_argument("model", nargs="+")
    args = ap.parse_args()
    cache = "%s/cache/%s" % (args.dir, models.digest_of(args.bin + "/devrun"))
    os.makedirs(cache, exist_ok=True)
    os.makedirs(args.dir + "/models", exist_ok=True)
    found, bad = {}, 0
    for model in args.model:
        name, (file, _, shapes) = os.path.basename(model), model.partition("@")
        try:
            file = model_file(args, file)
            kept = "%s/%s-%s-%d-%g.json" % (cache, name.replace("/", "_"), models.digest_of(file), args.pairs, args.burst)
            if not os.path.exists(kept):
                rows = measure(args, file, shapes)
                with open(kept + ".part", "w", encoding="utf-8") as f:
                    json.dump(rows, f)
                os.replace(kept + ".part", kept)
        except Exception as e:  # one model less, whatever a runtime does not like of it
            print("fastest.py: error: %s: %s" % (name, (str(e).strip().splitlines() or [type(e).__name__])[-1][:200]), file=sys.stderr)
            bad += 1
            continue
        with open(kept, encoding="utf-8") as f:
            found[name] = json.load(f)
    if found:
        print_table(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
