#!/usr/bin/env python3
"""models.py - whole models, devrun beside OpenVINO in f32, on one core and on all: a table that goes on where it stopped.

Each model's rows are a file of DIR, named after the programs that made it, and are not made again.  A model of DIR/models
that is missing is exported first (export_models.py, by --export-python).  Ratios are medians of pairs of bursts (exec.py).

Usage: models.py [options] [NAME or MODEL.xml]...
"""
import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys

import exec as pairs
import export_models

HERE = os.path.dirname(os.path.abspath(__file__))


def digest_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:12]


def model_file(args, name):
    """The path of a model, exported where it is missing; None: it cannot be."""
    if name.endswith(".xml"):
        return name
    path = "%s/models/%s.xml" % (args.dir, name)
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        p = subprocess.run([args.export_python, HERE + "/export_models.py", name, path], capture_output=True, text=True)
        if p.returncode != 0:
            last = (p.stderr.strip().splitlines() or ["no message"])[-1]
            print("models.py: error: %s is not exported: %s" % (name, last[:200]), file=sys.stderr)
            return None
    return path


def measure(args, path):
    """{threads: [our ms, OpenVINO's ms, ratio, low, high]}"""
    bench, rows = pairs.Bench(args, path), {}
    try:
        for threads in sorted({1, bench.cores}):
            device = "cpu:0" if threads == 1 else "cpu"
            ours, theirs, ratios = pairs.pairs(bench.ours(device), bench.theirs(threads), args.pairs)
            rows[threads] = [1e3 * ours, 1e3 * theirs, statistics.median(ratios), *pairs.interval(ratios)]
    finally:
        bench.close()
    return rows


def print_table(found):
    threads = sorted({int(t) for rows in found.values() for t in rows})
    print("| model |" + "".join(" ms, %d thread%s | OpenVINO | ratio |" % (t, "s"[:t > 1]) for t in threads))
    print("|---|" + "---|---|---|" * len(threads))
    for name, rows in sorted(found.items(), key=lambda item: -item[1][str(threads[0])][2]):
        cells = ["%.3g | %.3g | %.2f" % tuple(rows[str(t)][:3]) if str(t) in rows else "- | - | -" for t in threads]
        print("| %s | %s |" % (name, " | ".join(cells)))
    print()
    for t in threads:
        ratios = sorted(rows[str(t)][2] for rows in found.values() if str(t) in rows)
        print("%d thread%s: %d models, median ratio %.2f, %d at 1.0 or below, worst %.2f"
              % (t, "s"[:t > 1], len(ratios), statistics.median(ratios), sum(r <= 1 for r in ratios), ratios[-1]))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--dir", default="build/bench-models")
    ap.add_argument("--export-python", default=sys.executable, help="has torch, torchvision, timm, transformers, openvino")
    ap.add_argument("--pairs", type=int, default=7)
    ap.add_argument("--burst", type=float, default=0.15, help="seconds")
    ap.add_argument("model", nargs="*", help="(default: those of export_models.py)")
    args = ap.parse_args()
    cache = "%s/cache/%s" % (args.dir, digest_of(args.bin + "/devrun"))
    os.makedirs(cache, exist_ok=True)
    found, bad = {}, 0
    for model in args.model or export_models.names():
        name = os.path.basename(model).removesuffix(".xml")
        kept = "%s/%s.json" % (cache, name)
        if not os.path.exists(kept):
            try:
                path = model_file(args, model)
                if not path:
                    bad += 1
                    continue
                rows = measure(args, path)
            except (RuntimeError, OSError) as e:
                print("models.py: error: %s: %s" % (name, str(e)[-200:]), file=sys.stderr)
                bad += 1
                continue
            with open(kept + ".part", "w", encoding="utf-8") as f:
                json.dump(rows, f)
            os.replace(kept + ".part", kept)
        with open(kept, encoding="utf-8") as f:
            found[name] = json.load(f)
    if found:
        print_table(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
