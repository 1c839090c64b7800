#!/usr/bin/env python3
"""parity.py - what devrun computes against what OpenVINO's CPU plugin computes in f32.

For each model, with two sets of inputs, and each placement: every element of every output, and of
every tensor that crosses devices, must be within 1e-4 of that tensor's scale, and within 1e-3 of
how much it changes between the two inputs (without the second bound a wrong kernel hides behind
weights that forget the input; where these let it change less than f32 can tell, the bound is 4e-6 of
the scale).  Where a last bit decides (levels of FakeQuantize, order of TopK, boxes that
NonMaxSuppression keeps), a tensor may differ by four times what OpenVINO's own moves by when the
inputs change by up to 32 units in the last place; how many needed that is printed.

Usage: parity.py [options] MODEL...     all placements on each model
       parity.py [options] CASE...      one placement each
MODEL is DIR/MODEL.xml with its .bin (tests/support/models.sh), or a path to an .xml.  CASE is
MODEL@DEVICES[@SEED]: on one device, or every set at random on several:
  resnet50@cpu:0
  nmt2@cpu:0,cl:0.0:1-1@7
All placements are: all cores; every OpenCL device and ov:CPU (with all cores for what these cannot
run); --random N over --devices, in turn a device for every set, for random runs of sets (long
segments), and for the sets of each of a few slices, most on one device; and runs of sets on a core,
OpenVINO's plugin and OpenCL.
Inputs are random unless --inputs gives them, once or twice, as devrun's --inputs takes them (a directory
with 0.npy, 1.npy, ...) or as the .npy of a model's only input.
Prints one line per model and placement, and a summary; exit status 1 when one is wrong, 2 when one
could not be run.
"""
import argparse
import io
import os
import shutil
import subprocess
import sys
import time

import msgpack
import numpy as np
import openvino as ov

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import stream
from oracle import Wrong, check, indexed, load

INPUT_SEEDS = (1, 2)
PLUGIN = "ov:CPU%s/LP_TRANSFORMS_MODE=NO"     # the graph as it is written, as oracle.py's EXACT


class NotRun(Exception):
    """A program refused, with its message."""


def pipe(command, data=b""):
    p = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 0:
        text = p.stderr.decode(errors="replace").strip()
        raise NotRun(text.splitlines()[-1] if text else "%s: status %d" % (command[0], p.returncode))
    return p.stdout


def records(data):
    return list(msgpack.Unpacker(io.BytesIO(data), max_buffer_size=2**30))


# ---- placements ----

class Placement:
    def __init__(self, label, devices, how, seed=1):
        self.label, self.devices, self.how, self.seed = label, devices, how, seed

    def sets(self, mask):
        """(n_sets) device of every set, which the device can run."""
        n, k = mask.shape
        rng = np.random.default_rng(self.seed)
        if self.how == "single":
            wish = np.zeros(n, int)
        elif self.how == "sets":
            wish = rng.integers(0, k, n)
        elif self.how == "runs":
            cuts = np.sort(rng.choice(n, size=min(n, 3 + int(rng.integers(0, 12))), replace=False))
            wish = rng.integers(0, k, len(cuts) + 1)[np.searchsorted(cuts, np.arange(n), side="right")]
        else:
            home = rng.integers(0, k, 6)[np.arange(n) * 6 // n]
            wish = np.where(rng.random(n) < 0.85, home, rng.integers(0, k, n))
        able = mask[np.arange(n), wish] > 0
        return np.where(able, wish, mask.argmax(1)).astype(np.uint16)


def machine(binaries, plugin):
    """(devices to try alone, three devices to mix, a mixture with OpenVINO's plugin) of this machine."""
    lines = pipe([binaries + "/devrun", "--list"]).decode().splitlines()
    names = [line.split()[0] for line in lines]
    cl = [n for n in names if n.startswith("cl:") and n.count(":") == 1]
    cores = [n for n in ("cpu:0", "cpu:1") if n in names]
    mixed = []
    for name in cl[:1]:
        pocl = any(line.startswith(name + " ") and "PoCL" in line for line in lines)
        mixed.append(name + ":1" if pocl and "cpu:1" in names else name)
    plugin = plugin and "ov:CPU" in names
    return (cl + [PLUGIN % ""] * plugin, ",".join(cores + mixed),
            ",".join(cores[:1] + [PLUGIN % ":0"] + mixed) if plugin else None)


def short(devices):
    """Names without options."""
    return ",".join(name.split("/")[0] for name in devices.split(","))


def plan(args):
    alone, mix, with_plugin = machine(args.bin, args.plugin)
    mix = args.devices or mix
    ways = ("sets", "runs", "slices")
    several = [(ways[i % 3], args.seed + i, mix) for i in range(args.random)]
    if with_plugin and args.random and not args.devices:
        several.append(("runs", args.seed + args.random, with_plugin))
    return ([Placement("cpu", "cpu", "single")] + [Placement(short(d), d + ",cpu", "single") for d in alone] +
            [Placement("%s %d over %s" % (how, seed, short(d)), d, how, seed) for how, seed, d in several])


# ---- a model ----

class Model:
    """A model with two input sets, and OpenVINO's answers to them."""

    def __init__(self, name, args):
        self.args = args
        self.xml = name if name.endswith(".xml") else os.path.join(args.dir, name + ".xml")
        self.name = os.path.splitext(os.path.basename(name))[0]
        shape = args.shape or default_shape(self.xml)
        self.shape = shape
        self.graph = pipe([args.bin + "/ir2dag", *(["--shape", shape] if shape else []), self.xml])
        self.inputs = [self.given(i) for i in range(2)]
        self.masks, self.oracle = {}, None

    def given(self, i):
        """The directory with the inputs of set i, its index.tsv included."""
        directory = os.path.join(self.args.work, f"{self.name}.in{i + 1}")
        shutil.rmtree(directory, ignore_errors=True)
        command = [self.args.bin + "/devrun", "-D", "cpu", "--seed", str(INPUT_SEEDS[i]), "--save-inputs",
                   directory, "-o", os.devnull]
        own = self.args.inputs[i] if i < len(self.args.inputs) else None
        if own and own.endswith(".npy"):
            only = directory + ".only"
            os.makedirs(only, exist_ok=True)
            shutil.copy(own, os.path.join(only, "0.npy"))
            own = only
        pipe(command + (["--inputs", own] if own else []), self.graph)
        if not own:
            tame(directory)
        return directory

    def head(self):
        return stream.first(records(self.graph), "graph")

    def mask(self, devices):
        if devices not in self.masks:
            probe = records(pipe([self.args.bin + "/devrun", "--probe", "--allow-shared", "-D", devices],
                                 self.graph))
            devs = stream.first(probe, "devs")
            self.masks[devices] = devs["names"], stream.array(devs["mask"])
        return self.masks[devices]

    def placed(self, p):
        """The graph and the placement, as a stream's bytes; sets away from a single device."""
        names, mask = self.mask(p.devices)
        device = p.sets(mask)
        path = os.path.join(self.args.work, self.name + ".place.mp")
        graph = [r for r in records(self.graph) if r[0] != "end"]
        stream.write(path, graph + [["place", {
            "graph": stream.first(graph, "graph")["digest"], "episode": 0, "step": 0, "sample": 0,
            "source": "parity", "devices": names, "device": stream.tensor(device)}]])
        with open(path, "rb") as f:
            return f.read(), int((device != 0).sum()) if p.how == "single" else 0

    def run(self, p, which):
        """(outputs, boundaries as (fields, array))"""
        work = self.args.work
        out, across = (os.path.join(work, f"{self.name}.{d}") for d in ("out", "across"))
        for d in (out, across):
            shutil.rmtree(d, ignore_errors=True)
        data, self.away = self.placed(p)
        command = [self.args.bin + "/devrun", "--runs", "1", "--warmup", "0", "--no-reference",
                   "--allow-shared", "--outputs", out, "--inputs", self.inputs[which]]
        several = "," in p.devices
        if several:
            command += ["--boundaries", across]
        run = stream.first(records(pipe(command, data)), "run")
        if not run["ok"]:
            raise NotRun(run["reason"])
        return load(out), indexed(across) if several else []


def default_shape(xml):
    """For inputs of dynamic shape: one of what comes first; of everything else 16, of images 64."""
    items = []
    for port in ov.Core().read_model(xml).inputs:
        shape = port.get_partial_shape()
        if shape.is_dynamic and not shape.rank.is_dynamic:
            many = 64 if len(shape) >= 3 and port.get_element_type().is_real() else 16
            dims = [d.get_length() if d.is_static else 1 if i == 0 else many for i, d in enumerate(shape)]
            items.append(port.get_node().get_friendly_name() + "=" + ",".join(map(str, dims)))
    return ";".join(items)


def tame(directory):
    """What random integers cannot be: masks of ones, positions that ascend, beams that exist."""
    for fields, array in indexed(directory):
        name = fields[1]
        if "attention_mask" in name:
            array[...] = 1
        elif "position_ids" in name:
            array[...] = np.arange(array.shape[-1])
        elif "beam_idx" in name:
            array[...] = np.arange(array.shape[0])
        else:
            continue
        np.save(os.path.join(directory, fields[0]), array)


# ---- the table ----

COLUMNS = "%-24s %-44s %9s %9s %6s %9s %9s %6s  %s"
OK, WRONG, NOT_RUN = range(3)


class Table:
    """One row a placement; a summary of the models and of what went wrong at the end."""

    def __init__(self):
        self.rows = []      # (model, label, verdict, worst of outputs, seconds, text)
        self.print("model", "placement", "scale", "change", "inner", "scale", "change", "s", "")

    @staticmethod
    def print(*cells):
        print((COLUMNS % cells).rstrip(), flush=True)

    def add(self, model, label, verdict, seconds, text, outer=None, inner=None):
        cells = ["-"] * 5
        if outer:
            cells[:2] = ["%.1e" % x for x in outer.worst]
        if inner and inner.n:
            cells[2:] = [str(inner.n // 2)] + ["%.1e" % x for x in inner.worst]
        self.print(model, label, *cells, "%.1f" % seconds, text)
        self.rows.append((model, label, verdict, outer.worst if outer else [0.0, 0.0], seconds, text))

    def summary(self):
        """Prints it; the exit status."""
        print("\n%-24s %9s %9s %9s %9s %7s" % ("model", "right", "wrong", "not run", "of scale", "s"))
        for name in dict.fromkeys(r[0] for r in self.rows):
            mine = [r for r in self.rows if r[0] == name]
            n = [sum(r[2] == v for r in mine) for v in (OK, WRONG, NOT_RUN)]
            print("%-24s %9d %9d %9d %9.1e %7.0f" %
                  (name, *n, max(r[3][0] for r in mine), sum(r[4] for r in mine)))
        for r in self.rows:
            if r[2] != OK:
                print("%s, %s: %s" % (r[0], r[1], r[5]))
        n = [sum(r[2] == v for r in self.rows) for v in (OK, WRONG, NOT_RUN)]
        print("%d placements agree with OpenVINO, %d do not, %d were not run (1e-4 of scale, 1e-3 of change)"
              % tuple(n))
        return 1 if n[WRONG] else 2 if n[NOT_RUN] else 0


def run_case(table, model, p):
    start = time.monotonic()
    outer = inner = None
    try:
        outer, inner = check(model, p)
        wrong = list(dict.fromkeys(text for _, text in sorted(outer.wrong + inner.wrong, reverse=True)))[:3]
        verdict, text = (WRONG, "WRONG: " + "; ".join(wrong)) if wrong else (OK, "ok")
        excused = outer.excused + inner.excused
        if excused:
            text += " (%d of %d turn on last bits: %.1e of scale)" % (len(excused), outer.n + inner.n,
                                                                      max(excused))
        if not model.oracle.steady:
            text += " (OpenVINO's second inference differs from its first, which is compared)"
    except Wrong as e:
        verdict, text = WRONG, "WRONG: %s" % e
    except (NotRun, RuntimeError) as e:      # RuntimeError: OpenVINO's
        verdict, text = NOT_RUN, "not run: " + " ".join(str(e).split())
    label = p.label + (" (%d sets on cpu)" % model.away if verdict == OK and model.away else "")
    table.add(model.name, label, verdict, time.monotonic() - start, text, outer, inner)


def cases(words, args):
    """(model, [placements]) of the command line."""
    for word in words:
        name, *rest = word.split("@")
        if rest:
            seed = int(rest[1]) if len(rest) > 1 else 1
            how = "sets" if "," in rest[0] else "single"
            yield name, [Placement("@".join(rest), rest[0], how, seed)]
        else:
            yield name, plan(args)


def run_all(args, table):
    model, of = None, None
    for name, placements in cases(args.case, args):
        start = time.monotonic()
        try:
            if of != name:
                model, of = None, name
                model = Model(name, args)
                if model.shape:
                    print("%s: with %s" % (model.name, model.shape))
        except (NotRun, RuntimeError) as e:
            table.add(os.path.basename(name), "-", NOT_RUN, time.monotonic() - start,
                      "not run: " + " ".join(str(e).split()) +
                      ("; SHAPE= or --shape gives others" if "with these shapes" in str(e) else ""))
            of = None
            continue
        for p in placements:
            run_case(table, model, p)


def main():
    ap = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--dir", default="build/models")
    ap.add_argument("--work", default="build/parity")
    ap.add_argument("--random", type=int, default=6, help="random placements per model")
    ap.add_argument("--devices", help="what they mix (default: two cores and an OpenCL device)")
    ap.add_argument("--plugin", action=argparse.BooleanOptionalAction, default=True,
                    help="OpenVINO's plugin as a device too")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--shape", help="shapes for dynamic inputs, as in ir2dag --shape")
    ap.add_argument("--inputs", action="append", default=[], metavar="DIR|FILE.npy",
                    help="the model's inputs; a second one for the second set")
    ap.add_argument("case", nargs="+", help="MODEL or MODEL@DEVICES[@SEED]")
    args = ap.parse_args()
    os.makedirs(args.work, exist_ok=True)
    os.environ.setdefault("HSDAG_OPENVINO", sys.prefix)     # the one that is compared with
    table = Table()
    try:
        run_all(args, table)
    except KeyboardInterrupt:
        table.summary()
        return 130
    return table.summary()


if __name__ == "__main__":
    sys.exit(main())
