#!/usr/bin/env python3
"""distances.py - how far a precision is from f32 on whole models, beside OpenVINO at the same precision.

One inference each on cpu:0, on cpu:0/precision=P and on ov:CPU:0/precision=P (for int8 ov:CPU:0, which computes FakeQuantize in
integers on its own account), with the same inputs.  A distance is the norm of
the difference to cpu:0's outputs over their norm, the largest of all outputs.  A ratio above --most fails.

Usage: distances.py [options] MODEL.xml...
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tiles

tiles.hide_when_broken()
import numpy as np
import openvino as ov

from exec import pipe


def outputs(args, data, device, directory):
    """The outputs of one inference, in the order of the model's results."""
    placed = pipe([args.bin + "/placebase", "single", "-D", device], data)
    os.mkdir(directory)
    pipe([args.bin + "/devrun", "--no-reference", "--runs", "1", "--outputs", directory, "-o", os.devnull], placed)
    names = sorted((n for n in os.listdir(directory) if n.endswith(".npy")), key=lambda n: int(n[:-4]))
    return [np.load(directory + "/" + n).astype(np.float64).ravel() for n in names]


def distance(exact, other):
    return max(float(np.linalg.norm(b - a) / max(np.linalg.norm(a), 1e-30)) for a, b in zip(exact, other, strict=True))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--precision", default="bf16")
    ap.add_argument("--most", type=float, default=1.5, help="times OpenVINO's distance")
    ap.add_argument("model", nargs="+")
    args = ap.parse_args()
    os.environ.setdefault("HSDAG_OPENVINO", os.path.dirname(ov.__file__))
    worse = 0
    print("%-30s %10s %10s %7s" % ("model", "ours", "OpenVINO", "ratio"), flush=True)
    for xml in args.model:
        data = pipe([args.bin + "/ir2dag", xml])
        with tempfile.TemporaryDirectory() as tmp:
            exact, ours, theirs = (outputs(args, data, device, "%s/%d" % (tmp, i)) for i, device in enumerate(
                ["cpu:0", "cpu:0/precision=" + args.precision, "ov:CPU:0" + ("" if args.precision == "int8" else "/precision=" + args.precision)]))
        a, b = distance(exact, ours), distance(exact, theirs)
        worse += not a <= args.most * b
        print("%-30s %10.2e %10.2e %7.2f" % (os.path.splitext(os.path.basename(xml))[0], a, b, a / max(b, 1e-30)), flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
