#!/usr/bin/env python3
"""parity.py - what devrun computes against what OpenVINO's CPU plugin computes in f32.

For each model, with two sets of random inputs, and each placement: every element of
every output must be within 1e-4 of the output's scale, and within 1e-3 of how much the output
changes between the two inputs (without the second bound a wrong kernel hides behind
weights that forget the input).

Usage: parity.py [--bin build/bin] [--dir build/models] CASE...
CASE is MODEL@DEVICES[@SEED]: DIR/MODEL.xml with its .bin (tests/models.sh) on one device, or
placed at random on several:
  resnet50@cpu:0
  nmt2@cpu:0,cl:0.0:1-1@7
Prints one line per case; exit status 1 when one is wrong.
"""
import argparse
import os
import subprocess
import sys

import numpy as np
import openvino as ov

SCALE_TOL, CHANGE_TOL = 1e-4, 1e-3
INPUT_SEEDS = (1, 2)


class Model:
    """A model with two input sets and OpenVINO's answers to them."""

    def __init__(self, name, args):
        self.name, self.args = name, args
        self.xml = os.path.join(args.dir, name + ".xml")
        self.graph = subprocess.run([args.bin + "/ir2dag", self.xml], check=True,
                                    stdout=subprocess.PIPE).stdout
        self.inputs = [os.path.join(args.work, f"{name}.in{s}") for s in INPUT_SEEDS]
        self.expected = None

    def pipe(self, command, data):
        p = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode != 0:
            raise RuntimeError(p.stderr.decode(errors="replace").strip())
        return p.stdout

    def place(self, devices, seed):
        method = ["single:" + devices] if "," not in devices else ["random", "--draw", "uniform"]
        return self.pipe([self.args.bin + "/placebase", *method, "-D", devices, "--seed", str(seed)],
                         self.graph)

    def run(self, devices, seed, which):
        out = os.path.join(self.args.work, f"{self.name}.out")
        command = [self.args.bin + "/devrun", "--runs", "1", "--warmup", "0", "--no-reference",
                   "--seed", str(INPUT_SEEDS[which]), "--outputs", out]
        if not os.path.isdir(self.inputs[which]):
            command += ["--save-inputs", self.inputs[which]]
        else:
            command += ["--inputs", self.inputs[which]]
        stream = self.pipe(command, self.place(devices, seed))
        if b"reason" in stream:
            raise RuntimeError("not run: " + str(stream[stream.index(b"reason"):][:300]))
        return load(out)

    def oracle(self):
        if self.expected is None:
            core = ov.Core()
            compiled = core.compile_model(core.read_model(self.xml), "CPU",
                                          {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
            self.expected = [self.infer(compiled, d) for d in self.inputs]
        return self.expected

    @staticmethod
    def infer(compiled, directory):
        values = load(directory)
        feed = {port: values[port.get_node().get_friendly_name()] for port in compiled.inputs}
        answer = compiled.create_infer_request().infer(feed)
        return {port.get_node().get_friendly_name(): np.array(value) for port, value in answer.items()}


def load(directory):
    """{layer name: array} from a directory with an index.tsv."""
    values = {}
    with open(os.path.join(directory, "index.tsv"), encoding="utf-8") as f:
        for line in f:
            file, name, _ = line.rstrip("\n").split("\t")
            values[name] = np.load(os.path.join(directory, file))
    return values


def compare(got, expected, other):
    """Largest error in units of both tolerances, over all outputs: (of scale, of change)."""
    worst = [0.0, 0.0]
    if set(got) != set(expected):
        raise RuntimeError(f"outputs {sorted(got)} instead of {sorted(expected)}")
    for name, want in expected.items():
        have = got[name].reshape(want.shape).astype(np.float64)
        if not np.isfinite(have).all():
            raise RuntimeError(f"output '{name}' is not finite")
        error = np.abs(have - want).max(initial=0)
        for i, size in enumerate((np.abs(want).max(initial=0),
                                  np.abs(want.astype(np.float64) - other[name]).max(initial=0))):
            if error > 0:
                worst[i] = max(worst[i], error / size if size > 0 else np.inf)
    return worst


def check(model, devices, seed):
    """One case: both input sets.  (error of scale, error of change)."""
    got = [model.run(devices, seed, i) for i in range(2)]
    expected = model.oracle()
    errors = [compare(got[i], expected[i], expected[1 - i]) for i in range(2)]
    return [max(e[i] for e in errors) for i in range(2)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--dir", default="build/models")
    ap.add_argument("--work", default="build/parity")
    ap.add_argument("case", nargs="+", help="MODEL@DEVICES[@SEED]")
    args = ap.parse_args()
    os.makedirs(args.work, exist_ok=True)
    models, bad = {}, 0
    for case in args.case:
        name, devices, seed = (case.split("@") + ["1"])[:3]
        try:
            if name not in models:
                models.clear()
                models[name] = Model(name, args)
            scale, change = check(models[name], devices, int(seed))
            ok = scale <= SCALE_TOL and change <= CHANGE_TOL
            text = f"error {scale:.1e} of scale, {change:.1e} of change"
        except (RuntimeError, subprocess.CalledProcessError) as e:
            ok, text = False, str(e)
        bad += not ok
        print(f"{'ok' if ok else 'WRONG'} {case}: {text}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
