#!/usr/bin/env python3
"""parity.py - what devrun computes against what OpenVINO's CPU plugin computes in f32.

For each model, with two sets of random inputs, and each placement: every element of
every output, and of every tensor that crosses devices, must be within 1e-4 of that tensor's
scale, and within 1e-3 of how much it changes between the two inputs (without the second
bound a wrong kernel hides behind weights that forget the input; where these let it change less
than f32 can tell, the bound is 4e-6 of the scale).  Where a model rounds to levels (FakeQuantize),
a last bit may decide between two of them: such models may differ by four times what
OpenVINO's own answer differs by when its inputs change in their last bits.

Usage: parity.py [options] MODEL...     all placements of --plan on each model
       parity.py [options] CASE...      one placement each
MODEL is DIR/MODEL.xml with its .bin (tests/models.sh), or a path to an .xml.  CASE is
MODEL@DEVICES[@SEED]: on one device, or every set at random on several:
  resnet50@cpu:0
  nmt2@cpu:0,cl:0.0:1-1@7
All placements are: all cores; every OpenCL device (with all cores for what it cannot run); and
--random N over --devices, in turn a device for every set, for random runs of sets (long
segments), and for the sets of each of a few slices, most on one device.
Prints one line per model and placement, and a summary; exit status 1 when one is wrong.
"""
import argparse
import os
import shutil
import subprocess
import sys

import msgpack
import numpy as np
import openvino as ov

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stream

SCALE_TOL, CHANGE_TOL = 1e-4, 1e-3
ROUNDING = 2.0**-18    # of the scale: 32 units in the last place of f32
INPUT_SEEDS = (1, 2)
# f32 and the graph as it is written: without the plugin's int8 rewriting of quantised models.
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "LP_TRANSFORMS_MODE": "NO",
         "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0, "KV_CACHE_PRECISION": "f32"}


# ---- files ----

def load(directory):
    """{layer name: array} from a directory with an index.tsv."""
    return {fields[1]: array for fields, array in indexed(directory)}


def indexed(directory):
    """(fields of the line, array) for each line of index.tsv."""
    with open(os.path.join(directory, "index.tsv"), encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    return [(fields, np.load(os.path.join(directory, fields[0]))) for fields in lines]


def pipe(command, data=b""):
    p = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 0:
        text = p.stderr.decode(errors="replace").strip()
        raise RuntimeError(text.splitlines()[-1] if text else "%s: status %d" % (command[0], p.returncode))
    return p.stdout


def records(data):
    return list(msgpack.Unpacker(__import__("io").BytesIO(data), max_buffer_size=2**30))


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


def machine(binaries):
    """(OpenCL devices, three devices to mix) of this machine."""
    lines = pipe([binaries + "/devrun", "--list"]).decode().splitlines()
    names = [line.split()[0] for line in lines]
    cl = [n for n in names if n.startswith("cl:") and n.count(":") == 1]
    mix = [n for n in ("cpu:0", "cpu:1") if n in names]
    for name in cl[:1]:
        pocl = any(line.startswith(name + " ") and "PoCL" in line for line in lines)
        mix.append(name + ":1" if pocl and "cpu:1" in names else name)
    return cl, ",".join(mix)


def plan(args):
    cl, mix = machine(args.bin)
    mix = args.devices or mix
    ways = ("sets", "runs", "slices")
    return ([Placement("cpu", "cpu", "single")] +
            [Placement(d, d + ",cpu", "single") for d in cl] +
            [Placement("%s %d over %s" % (ways[i % 3], args.seed + i, mix), mix, ways[i % 3], args.seed + i)
             for i in range(args.random)])


# ---- a model ----

class Model:
    """A model with two input sets, and OpenVINO's answers to them."""

    def __init__(self, name, args):
        self.args = args
        self.xml = name if name.endswith(".xml") else os.path.join(args.dir, name + ".xml")
        self.name = os.path.splitext(os.path.basename(name))[0]
        shape = args.shape or default_shape(self.xml)
        shape = ["--shape", shape] if shape else []
        self.graph = pipe([args.bin + "/ir2dag", *shape, self.xml])
        self.inputs = [os.path.join(args.work, f"{self.name}.in{s}") for s in INPUT_SEEDS]
        for directory, seed in zip(self.inputs, INPUT_SEEDS):
            shutil.rmtree(directory, ignore_errors=True)
            pipe([args.bin + "/devrun", "-D", "cpu", "--seed", str(seed), "--save-inputs", directory,
                  "-o", os.devnull], self.graph)
            tame(directory)
        self.masks, self.oracle = {}, None

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
        """(outputs, boundaries as (fields, array), run record)"""
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
            raise RuntimeError("not run: " + run["reason"])
        return load(out), indexed(across) if several else [], run


def default_shape(xml):
    """For inputs of dynamic shape: one of what comes first, 16 of everything else."""
    items = []
    for port in ov.Core().read_model(xml).inputs:
        shape = port.get_partial_shape()
        if shape.is_dynamic and not shape.rank.is_dynamic:
            dims = [d.get_length() if d.is_static else 1 if i == 0 else 16 for i, d in enumerate(shape)]
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


# ---- the oracle ----

class Oracle:
    """OpenVINO's outputs and inner tensors for each input set; compiled again when new ones are wanted."""

    def __init__(self, model):
        self.model, self.keys, self.values = model, [], None

    def want(self, keys):
        new = [k for k in dict.fromkeys(keys) if k not in self.keys]
        if new or self.values is None:
            self.keys += new
            self.infer()

    def infer(self):
        core = ov.Core()
        model = core.read_model(self.model.xml)
        ports, n = self.find(model), len(model.outputs)
        for port in ports.values():      # one Result each, also where there is one already
            model.add_results([ov.opset13.result(port)])
        compiled = core.compile_model(model, "CPU", EXACT)
        self.values, self.slack = [], []
        for directory in self.model.inputs:
            given = load(directory)
            request = compiled.create_infer_request()
            request.infer({p: given[p.get_node().get_friendly_name()] for p in compiled.inputs})
            got = [np.array(request.get_tensor(p).data) for p in compiled.outputs]
            if any(op.get_type_name() == "FakeQuantize" for op in model.get_ops()):
                self.slack.append(self.last_bits(request, compiled, given, got))
            else:
                self.slack.append([0.0] * len(got))
            outputs = {p.get_node().get_friendly_name(): x for p, x in zip(compiled.outputs[:n], got)}
            self.values.append((outputs, dict(zip(ports, got[n:]))))
        slack = [4 * max(x) for x in zip(*self.slack)]
        names = [p.get_node().get_friendly_name() for p in compiled.outputs[:n]]
        self.allowed = {**dict(zip(names, slack)), **dict(zip(ports, slack[n:]))}

    @staticmethod
    def last_bits(request, compiled, given, got):
        """Largest differences of all outputs when the inputs change in their last bits."""
        worst, rng = [0.0] * len(got), np.random.default_rng(1)
        for _ in range(3):
            for p in compiled.inputs:
                x = given[p.get_node().get_friendly_name()]
                if x.dtype.kind == "f":
                    x = (x * (1 + rng.choice([-1, 1], x.shape) * 2.0**-23)).astype(x.dtype)
                request.set_tensor(p, ov.Tensor(np.ascontiguousarray(x)))
            request.infer()
            for i, p in enumerate(compiled.outputs):
                other = np.array(request.get_tensor(p).data)
                if other.shape == got[i].shape and other.dtype.kind == "f" and other.size:
                    worst[i] = max(worst[i], float(np.abs(other - got[i]).max()))
        return worst

    def find(self, model):
        """{key: port of the model}; nodes of one name in the order of their layer ids."""
        by_name = {}
        for op in model.get_ordered_ops():
            by_name.setdefault(op.get_friendly_name(), []).append(op)
        graph = stream.first(records(self.model.graph), "graph")
        ids = {}
        for name, layer in sorted(zip(graph["node_name"], stream.array(graph["id"]).tolist()),
                                  key=lambda x: x[1]):
            ids.setdefault(name, []).append(layer)
        ports = {}
        for name, layer, port in self.keys:
            ops = by_name.get(name, [])
            at = ids[name].index(layer)
            if len(ops) == len(ids[name]) and port < len(ops[at].outputs()):
                ports[name, layer, port] = ops[at].output(port)
        return ports


# ---- comparison ----

def difference(name, have, want, other, allowed, worst, wrong):
    """Largest error in units of scale and of change, into worst; what is too large, into wrong."""
    if have.size != want.size:
        raise RuntimeError(f"'{name}' has shape {list(have.shape)} instead of {list(want.shape)}")
    kind = want.dtype.kind
    have, want = have.reshape(want.shape).astype(np.float64), want.astype(np.float64)
    same = (have == want) | (np.isnan(have) & np.isnan(want))
    if same.all():
        return
    if not np.isfinite(have[~same]).all():
        raise RuntimeError(f"'{name}' is not finite")
    finite = np.isfinite(want)
    error = np.abs(have - want)[~same].max()
    scale = np.abs(want[finite]).max(initial=0)
    change = np.abs(want - other)[finite].max(initial=0) if want.shape == other.shape else np.inf
    if kind == "f":
        change = max(change, ROUNDING / CHANGE_TOL * scale)
    for i, (size, tolerance, what) in enumerate(((scale, SCALE_TOL, "scale"), (change, CHANGE_TOL, "change"))):
        part = error / size if size > 0 else np.inf
        worst[i] = max(worst[i], part)
        if part > tolerance and error > allowed:
            wrong.append((part / tolerance, f"{part:.1e} of {what} at '{name}'"))


def check(model, p):
    """Both input sets: (errors of the outputs, errors at the boundaries, number of these, the
    worst of what is wrong)."""
    got = [model.run(p, i) for i in range(2)]
    keys = [(f[1], int(f[3]), int(f[4])) for f, _ in got[0][1]]
    if model.oracle is None:
        model.oracle = Oracle(model)
    model.oracle.want(keys)
    allowed = model.oracle.allowed
    outer, inner, n, wrong = [0.0, 0.0], [0.0, 0.0], 0, []
    for i, (outputs, across, _) in enumerate(got):
        (expected, inside), (other, beside) = model.oracle.values[i], model.oracle.values[1 - i]
        if set(outputs) != set(expected):
            raise RuntimeError(f"outputs {sorted(outputs)} instead of {sorted(expected)}")
        for name, want in expected.items():
            difference(name, outputs[name], want, other[name], allowed[name], outer, wrong)
        for fields, array in across:
            key = fields[1], int(fields[3]), int(fields[4])
            if key in inside:
                n += i == 0
                difference(key[0], array, inside[key], beside[key], allowed[key], inner, wrong)
    return outer, inner, n, [text for _, text in sorted(wrong, reverse=True)[:3]]


# ---- the table ----

COLUMNS = "%-24s %-44s %9s %9s %6s %9s %9s  %s"


def row(name, label, outer=None, inner=None, n=0, verdict=""):
    cells = ["%.1e" % part for part in outer] if outer else ["-", "-"]
    cells += [str(n)] + ["%.1e" % part for part in inner] if n else ["-", "-", "-"]
    print(COLUMNS % (name, label, *cells, verdict), flush=True)


def run_case(model, p):
    """Prints the row; was it right?"""
    try:
        outer, inner, n, wrong = check(model, p)
    except RuntimeError as e:
        row(model.name, p.label, verdict="WRONG: " + str(e))
        return False
    label = p.label + (" (%d sets on cpu)" % model.away if model.away else "")
    row(model.name, label, outer, inner, n, "WRONG: " + "; ".join(wrong) if wrong else "ok")
    return not wrong


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


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--dir", default="build/models")
    ap.add_argument("--work", default="build/parity")
    ap.add_argument("--random", type=int, default=6, help="random placements per model")
    ap.add_argument("--devices", help="what they mix (default: two cores and an OpenCL device)")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--shape", help="shapes for dynamic inputs, as in ir2dag --shape")
    ap.add_argument("case", nargs="+", help="MODEL or MODEL@DEVICES[@SEED]")
    args = ap.parse_args()
    os.makedirs(args.work, exist_ok=True)
    print(COLUMNS % ("model", "placement", "of scale", "of change", "inner", "of scale", "of change", ""))
    model, good, bad = None, 0, 0
    for name, placements in cases(args.case, args):
        try:
            if model is None or model.name != os.path.splitext(os.path.basename(name))[0]:
                model = Model(name, args)
        except RuntimeError as e:
            row(os.path.basename(name), "-", verdict="WRONG: " + str(e))
            bad, model = bad + 1, None
            continue
        for p in placements:
            ok = run_case(model, p)
            good, bad = good + ok, bad + (not ok)
    print("%d placements agree with OpenVINO, %d do not (1e-4 of scale, 1e-3 of change)" % (good, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
