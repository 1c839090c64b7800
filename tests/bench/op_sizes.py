#!/usr/bin/env python3
"""op_sizes.py MODEL.xml... > op_sizes.jsonl - operators and sizes for ops.py, as models have them (op_model.py).

Of each operator the sizes of all models, and of op_usual.py for operators that none of them has, are sorted by the elements that
they read and write; --most of them stay, spread over that order.  Constants are folded first, shapes that are not known are left
out.  Needs OpenVINO's Python package.
"""
import argparse
import collections
import json
import os
import sys
import tempfile

import openvino as ov
from openvino import passes

import op_model
import op_usual

MANY = {"Convolution": 4, "MatMul": 4, "GroupConvolution": 2, "Transpose": 2, "Add": 2, "Multiply": 2}      # times --most


def folded(model):
    manager = passes.Manager()
    manager.register_pass(passes.ConstantFolding())
    manager.run_passes(model)
    return model


def lines_of(model, name):
    with tempfile.TemporaryDirectory() as tmp:
        ov.serialize(folded(model), tmp + "/m.xml", tmp + "/m.bin")
        yield from op_model.Reader(tmp + "/m.xml", name).operators()


def key(line):
    return json.dumps([line["op"], line["data"], [(v.get("elem"), v.get("dims"), "const" in v or "values" in v, v.get("same"))
                                                  for v in line["in"]]])


def spread(lines, most):
    """The largest and others, evenly over the order by size."""
    lines = sorted(lines, key=op_model.work, reverse=True)
    n = len(lines)
    if n <= most:
        return lines
    return [lines[round(i * (n - 1) / most * 0.9)] for i in range(most)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--most", type=int, default=5, help="sizes of an operator")
    ap.add_argument("model", nargs="*")
    args = ap.parse_args()
    found, usual = collections.defaultdict(dict), collections.defaultdict(dict)
    for xml in args.model:
        name = os.path.splitext(os.path.basename(xml))[0]
        try:
            model = ov.Core().read_model(xml)
        except RuntimeError as e:
            print("op_sizes.py: '%s': %s" % (xml, str(e).split("\n")[0]), file=sys.stderr)
            continue
        for line in lines_of(model, name):
            found[line["op"]].setdefault(key(line), line)
    for name, model in op_usual.models():
        for line in lines_of(model, name):
            usual[line["op"]].setdefault(key(line), line)
    for op, lines in usual.items():
        found[op].update(lines if len(found[op]) < args.most else {})
    for op in sorted(found):
        for line in spread(found[op].values(), args.most * MANY.get(op, 1)):
            print(json.dumps(line, separators=(",", ":")))


if __name__ == "__main__":
    main()
