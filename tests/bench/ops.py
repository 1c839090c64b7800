#!/usr/bin/env python3
"""ops.py - one-operator models, devrun beside OpenVINO in pairs, one thread and as many as there are cores.

The operators and sizes are lines of op_sizes.jsonl (op_sizes.py), and of op_found.jsonl, chains that were slow once (hunt.py).  A row has our time in microseconds, OpenVINO's, and their
ratio, for one thread and for all: of --pairs bursts of each side in turn the fastest one, as other programs only add to times.  What a model of one tiny operator takes is taken off both times: our executor,
and OpenVINO's infer() with Python in front of it.  Convolutions and products of OpenVINO reorder their inputs and outputs here, and
do not in whole models.  Operators that end below --least microseconds on both sides are not judged.

Usage: ops.py [options] [OPERATOR...]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import exec as pairs
import hunt_nets
import op_model

HERE = os.path.dirname(os.path.abspath(__file__))
FORMAT = "%-26s %-44s %9s %9s %6s %9s %9s %6s  %s"
TINY = {"op": "Relu", "set": "opset1", "data": {}, "in": [{"elem": "f32", "dims": [1]}], "out": [["f32", [1]]], "model": ""}


def read_lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(text) for text in f]


def label(line):
    shapes = ["x".join(map(str, v["dims"])) or "1" for v in line["in"] if "dims" in v and "values" not in v]
    return " ".join(shapes)[:44]


def burst_pairs(a, b, n):
    """(seconds of a, of b, ratios)"""
    x, y = [], []
    for i in range(n):
        first, second = ((a, x), (b, y)) if i % 2 == 0 else ((b, y), (a, x))
        for side, times in (first, second):
            times.append(side.burst())
    return x, y


class Case:
    """Both sides of a line, by number of threads."""

    def __init__(self, args, line, tmp):
        self.args = args
        self.xml = tmp + "/m.xml"
        values = (hunt_nets if "steps" in line else op_model).write(line, self.xml)
        os.makedirs(tmp + "/in", exist_ok=True)
        with open(tmp + "/in/index.tsv", "w", encoding="utf-8") as f:
            for name, array in values.items():
                np.save("%s/in/%s.npy" % (tmp, name), array)
                f.write("%s.npy\t%s\t%s\t%s\n" % (name, name, array.dtype, list(array.shape)))
        self.values, self.inputs = values, tmp + "/in"
        self.graph = pairs.records(pairs.pipe([args.bin + "/ir2dag", self.xml]))

    def measure(self, device, threads, precision="f32"):
        ours = pairs.Ours(self.args, self.graph, device, inputs=self.inputs)
        try:
            theirs = pairs.Theirs(self.args, self.xml, self.values, threads, precision)
            x, y = burst_pairs(ours, theirs, self.args.pairs)
            theirs.close()
        finally:
            ours.close()
        return x, y


def ratio_of(x, y, tiny):
    """Microseconds of both and the ratio, without what a tiny model takes."""
    a, b = max(min(x) - tiny[0], 2e-7), max(min(y) - tiny[1], 2e-7)
    return 1e6 * a, 1e6 * b, a / b


def summary(what, rows, least):
    judged = [r for r in rows if max(r[1], r[2]) >= least]
    if not judged:
        return
    ratios = sorted(r[3] for r in judged)
    slow = [r for r in ratios if r > 1.5]
    print("%s: %d rows above %g us, median ratio %.2f, %d (%.0f %%) above 1.5, the worst:"
          % (what, len(judged), least, statistics.median(ratios), len(slow), 100 * len(slow) / len(judged)))
    for r in sorted(judged, key=lambda r: -r[3])[:10]:
        print("    %6.2f  %9.1f us  %s" % (r[3], r[1], r[0]))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--sizes", nargs="+", default=[HERE + "/op_sizes.jsonl", HERE + "/op_found.jsonl"])
    ap.add_argument("--pairs", type=int, default=5)
    ap.add_argument("--burst", type=float, default=0.02, help="seconds")
    ap.add_argument("--least", type=float, default=20, help="microseconds")
    ap.add_argument("--threads", default="1,%d" % len(os.sched_getaffinity(0)))
    ap.add_argument("--part", default="0/1", help="I/N: every N-th line from line I on")
    ap.add_argument("operator", nargs="*")
    args = ap.parse_args()
    first, step = map(int, args.part.split("/"))
    lines = [line for path in args.sizes for line in read_lines(path)]
    lines = [l for l in lines if not args.operator or set(l["op"].split("+")) & set(args.operator)][first::step]
    threads = sorted({int(t) for t in args.threads.split(",")})
    devices = {t: "cpu:0" if t == 1 else "cpu:0-%d" % (t - 1) for t in threads}
    print(FORMAT % ("operator", "inputs", "us", "OpenVINO", "ratio", "us", "OpenVINO", "ratio", "from"), flush=True)
    rows, tiny, bad = {t: [] for t in threads}, {}, 0
    for line in [TINY] + lines:
        with tempfile.TemporaryDirectory() as tmp:
            fields = []
            try:
                case = Case(args, line, tmp)
                for t in threads:
                    x, y = case.measure(devices[t], t)
                    if line is TINY:
                        tiny[t] = min(x), min(y)
                        fields += ["%.1f" % (1e6 * v) for v in tiny[t]] + ["-"]
                        continue
                    us, other, ratio = ratio_of(x, y, tiny[t])
                    rows[t].append(("%s %s (%s)" % (line["op"], label(line), line["model"]), us, other, ratio))
                    fields += ["%.1f" % us, "%.1f" % other, "%.2f" % ratio]
            except (RuntimeError, ValueError, KeyError, IndexError, TypeError, hunt_nets.Unfit, subprocess.SubprocessError) as e:
                print("%-26s %-44s failed: %s" % (line["op"], label(line), " ".join(str(e).split())[-200:]), flush=True)
                bad += 1
                continue
            fields += ["-"] * (6 - len(fields))
            print(FORMAT % (line["op"] if line is not TINY else "(taken off)", label(line), *fields[:6], line["model"]), flush=True)
    for t in threads:
        summary("%d thread%s" % (t, "s"[:t > 1]), rows[t], args.least)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
