#!/usr/bin/env python3
"""nets.py - random networks, what devrun computes beside what OpenVINO's CPU plugin computes in f32.

Usage: nets.py [--seeds A-B | --found] [--codes] [--bin DIR] [--keep DIR] [--how NAME,...] [--times N] [--no-shrink]

Each seed is a network of 4 to about 20 operators (nets_ops.py), of kinds for which the executor of cores has
layouts, fusions and in-place ways of its own.  It runs as it usually does, and in N of the other ways of HOWS at
random, or in those that --how names.  Each output must be within 1e-4 of its scale, or, where last bits decide,
within four times what OpenVINO's moves by when other last bits are read.  OpenVINO has errors of its own: what
differs must differ from what it computes one operator at a time, too, and networks on which it fails do not count.
One that is wrong is written to DIR (--keep); then its operators are left out as long as it stays wrong, and what
is left is printed.  Exit status 1 when one was wrong.

With --codes they are quantised networks (nets_codes.py) in the ways of CODES_HOWS, and what is right is what our own
f32 computes: within 1e-2 of it in the root of the mean square, or four times as far as outputs move when all values
between move by last bits, and by 2^-11 what Gelu, Swish and Sigmoid make for the first input of others, as single
values then lie on the other side between two levels.  Weights in few bits have
rows quantised as they come; there values between move by 1 %.
"""
import argparse
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import openvino as ov
import openvino.opset15 as op

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "oracle")]
import nets_codes
from nets_ops import CHANNELS, KINDS, convolution
from oracle import EXACT, SCALE_TOL, largest, load, moved, nearby

MOST_ELEMENTS = 60000
COARSE = ("Gelu", "Swish", "Sigmoid")
NOISE = 0.01    # tensors smaller than that are what is left of differences
CORE = "cpu:%d" % min(os.sched_getaffinity(0))
SETTINGS = {**EXACT, "INFERENCE_NUM_THREADS": 1}


@functools.cache
def core():
    return ov.Core()


class How:
    """A way to run: devices, options of devrun and ir2dag, environment, tolerance."""

    def __init__(self, devices=CORE, options=(), env=None, graph=(), method="single", tolerance=SCALE_TOL):
        self.devices, self.options, self.env, self.graph = devices, list(options), env or {}, list(graph)
        self.method, self.tolerance = method, tolerance


HOWS = {
    "default": How(),
    "pixels": How(env={"HSDAG_PIXELS": "1"}),
    "planes": How(env={"HSDAG_PIXELS": "0"}),
    "level1": How(env={"HSDAG_CPU_LEVEL": "1"}),
    "level3": How(env={"HSDAG_CPU_LEVEL": "3"}),
    "level1-pixels": How(env={"HSDAG_CPU_LEVEL": "1", "HSDAG_PIXELS": "1"}),
    "unfused": How(options=["--fuse", "none"]),
    "sets": How(options=["--fuse", "sets"]),
    "cuts": How(options=["--fuse", "cuts"], devices=CORE + ",cpu", method="random"),
    "threads": How(devices="cpu"),
    "threads-pixels": How(devices="cpu", env={"HSDAG_PIXELS": "1"}),
    "placed": How(devices=CORE + ",cpu", method="random"),
    "placed-pixels": How(devices=CORE + ",cpu", method="random", env={"HSDAG_PIXELS": "1"}),
    "tight": How(options=["--tight"]),
    "again": How(options=["--warmup", "1"]),
    "folded": How(graph=["--constants", "fold"]),
    "apart": How(graph=["--no-colocate"], devices=CORE + ",cpu", method="random"),
    "bf16": How(devices=CORE + "/precision=bf16", tolerance=0.1),
    "bf16-products": How(devices=CORE + "/precision=bf16", env={"HSDAG_BF16_PRODUCTS": "1"}, tolerance=0.1),
}

INT8 = "/precision=int8"
CODES_HOWS = {
    "int8": How(devices=CORE + INT8, tolerance=0.01),
    "int8-threads": How(devices="cpu" + INT8, tolerance=0.01),
    "int8-placed": How(devices="cpu:0%s,cpu:1,cpu:1%s" % (INT8, INT8), method="random", tolerance=0.01),
    "int8-level3": How(devices=CORE + INT8, env={"HSDAG_CPU_LEVEL": "3"}, tolerance=0.01),
    "int8-level1": How(devices=CORE + INT8, env={"HSDAG_CPU_LEVEL": "1"}, tolerance=0.01),
    "int8-unfused": How(devices=CORE + INT8, options=["--fuse", "none"], tolerance=0.01),
    "int8-tight": How(devices=CORE + INT8, options=["--tight"], tolerance=0.01),
    "int8-again": How(devices=CORE + INT8, options=["--warmup", "1"], tolerance=0.01),
    "int8-cuts": How(devices="cpu:0%s,cpu:1%s" % (INT8, INT8), options=["--fuse", "cuts"], method="random", tolerance=0.01),
    "int8-sets": How(devices=CORE + INT8, options=["--fuse", "sets"], tolerance=0.01),
    "int8-folded": How(devices=CORE + INT8, graph=["--constants", "fold"], tolerance=0.01),
    "int8-apart": How(devices="cpu:0,cpu:1" + INT8, graph=["--no-colocate"], method="random", tolerance=0.01),
    "int8-pixels": How(devices=CORE + INT8, env={"HSDAG_PIXELS": "1"}, tolerance=0.01),
    "int8-planes": How(devices=CORE + INT8, env={"HSDAG_PIXELS": "0"}, tolerance=0.01),
}


class Unfit(Exception):
    """An operator that is too large or that does not fit."""


# ---- networks ----

def floats(node):
    """Its outputs, but MaxPool's indices."""
    return [o for o in node.outputs() if o.get_element_type() == ov.Type.f32]


class Step:
    def __init__(self, label, inputs, make, first):
        self.label, self.inputs, self.make, self.first = label, inputs, make, first


class Net:
    """Values, each with its shape; each step makes one or more of them of earlier ones."""

    def __init__(self, seed):
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.steps, self.shape, self.step_of = [], [], []

    def any(self, *of):
        if not of:
            raise Unfit
        return of[int(self.rng.integers(len(of)))]

    def chance(self, p):
        return self.rng.random() < p

    def values(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def weights(self, fan_in, *shape):
        if np.prod(shape) > 1e5:
            raise Unfit
        return (self.values(*shape) / np.sqrt(fan_in)).astype(np.float32)

    def parameter(self, shape):
        self.steps.append(Step("Parameter", [], None, len(self.shape)))
        self.shape.append(tuple(shape))
        self.step_of.append(self.steps[-1])

    def add(self, label, inputs, make):
        """A step that make(*inputs) builds; its first value."""
        inputs = [int(v) for v in inputs]
        node = make(*[op.parameter(self.shape[v]) for v in inputs])
        shapes = [tuple(o.shape) for o in floats(node)]
        sizes = [int(np.prod(s)) for s in shapes]
        if min(sizes) == 0 or max(sizes) > MOST_ELEMENTS or max(map(len, shapes)) > 6:
            raise Unfit
        step = Step(label, inputs, make, len(self.shape))
        self.steps.append(step)
        self.shape += shapes
        self.step_of += [step] * len(shapes)
        return step.first


def start(net):
    """Its first input."""
    n = net.any(1, 1, 2, 3)
    c = net.any(*CHANNELS)
    way = net.any("image", "image", "image", "image", "line", "cube", "tokens", "matrix")
    if way == "image":
        most = net.any(8, 14, 30)
        return n, c, *[1 if net.chance(0.15) else int(v) for v in net.rng.integers(1, most + 1, 2)]
    if way == "line":
        return n, c, net.any(1, 5, 16, 31, 64)
    if way == "cube":
        return n, c, *net.rng.integers(1, 8, 3).tolist()
    return (n, net.any(1, 5, 16, 49, 64), c) if way == "tokens" else (net.any(1, 4, 17, 32), c)


def generate(seed, kinds=KINDS, first=convolution, start=start):
    """(network, its results)"""
    net = Net(seed)
    net.parameter(start(net))
    if net.chance(0.15):
        net.parameter(net.shape[0] if net.chance(0.5) else start(net))
    weight = np.array([w for w, _ in kinds], float) * net.rng.choice([0.2, 1, 1, 4], len(kinds))
    want, x = net.any(*range(4, 19)), 0
    for _ in range(4 * want):
        if len(net.steps) >= want + 1:
            break
        if net.chance(0.2):
            x = int(net.rng.integers(len(net.shape)))
        make = kinds[net.rng.choice(len(kinds), p=weight / weight.sum())][1]
        if x == 0 and net.chance(0.5):       # before it nothing has a layout of its own
            make = first
        try:
            y = make(net, x)
        except (Unfit, RuntimeError):        # RuntimeError: OpenVINO's
            y = None
        x = x if y is None else y
    read = {v for s in net.steps for v in s.inputs}
    results = [v for v in range(len(net.shape)) if v not in read and net.step_of[v].make]
    results += [v for v in sorted(read) if net.step_of[v].make and net.chance(0.06)]
    return net, results


def quantised(seed):
    """As generate, of nets_codes.py."""
    return generate(seed, nets_codes.CODES, nets_codes.convolution, nets_codes.start)


class Form:
    """Of a network: its results, values that are inputs of their own, and values in whose place others are."""

    def __init__(self, net, results, cut=(), same=None):
        self.net, self.results, self.cut, self.same = net, list(results), frozenset(cut), same or {}

    def at(self, v):
        while v in self.same:
            v = self.same[v]
        return v

    def needed(self):
        """Steps, and values that are inputs, in order."""
        steps, inputs, todo = {}, set(), [self.at(v) for v in self.results]
        while todo:
            v = todo.pop()
            step = self.net.step_of[v]
            if v in self.cut or step.make is None:
                inputs.add(v)
            elif step.first not in steps:
                steps[step.first] = step
                todo += [self.at(u) for u in step.inputs]
        return [steps[k] for k in sorted(steps)], sorted(inputs)

    def model(self):
        steps, inputs = self.needed()
        made, parameters = {}, []
        for v in inputs:
            p = op.parameter(self.net.shape[v], name="v%d" % v)
            parameters.append(p)
            made[v] = p.output(0)
        for s in steps:
            node = s.make(*[made[self.at(u)] for u in s.inputs])
            node.set_friendly_name("s%d" % s.first)
            for i, o in enumerate(floats(node)):
                made.setdefault(s.first + i, o)
        results = []
        for v in self.results:
            results.append(op.result(made[self.at(v)]))
            results[-1].set_friendly_name("r%d" % v)
        return ov.Model(results, parameters, "net%d" % self.net.seed)

    def given(self):
        """{name: array} of the inputs."""
        draw = lambda v: np.random.default_rng([self.net.seed, v]).standard_normal(self.net.shape[v]).astype(np.float32)
        return {"v%d" % v: draw(v) for v in self.needed()[1]}

    def text(self):
        shape = lambda v: "v%d%s" % (v, list(self.net.shape[v]))
        steps, inputs = self.needed()
        lines = ["  input %s" % shape(v) for v in inputs]
        for s in steps:
            made = [shape(v) for v in range(len(self.net.shape)) if self.net.step_of[v] is s]
            lines.append("  %s = %s (%s)" % (", ".join(made), s.label, ", ".join(shape(self.at(v)) for v in s.inputs)))
        return "\n".join(lines + ["  results: " + ", ".join("r%d = v%d" % (v, self.at(v)) for v in self.results)])


# ---- comparison ----

def program(command, data, how):
    """Its standard output; RuntimeError: it failed, or said something."""
    p = subprocess.run(command, input=data, capture_output=True, env={**os.environ, **how.env}, timeout=120)
    if p.returncode != 0 or p.stderr:
        text = p.stderr.decode(errors="replace").strip()
        raise RuntimeError("%s: status %d: %s" % (os.path.basename(command[0]), p.returncode, text))
    return p.stdout


class Case:
    """A form, written to a directory, with OpenVINO's answers."""

    def __init__(self, form, work, binaries, codes=False):
        self.form, self.work, self.bin, self.streams, self.codes = form, work, binaries, {}, codes
        self.xml = os.path.join(work, "net.xml")
        self.model = form.model()
        ov.serialize(self.model, self.xml)
        self.inputs = form.given()
        self.save_inputs()
        self.want = self.answers(self.model, self.inputs) if not codes else self.run(How())
        for v in form.results:
            if self.want["r%d" % v].shape != form.net.shape[v]:
                raise RuntimeError("OpenVINO's v%d has another shape than OpenVINO says" % v)

    def save_inputs(self):
        directory = os.path.join(self.work, "in")
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        with open(os.path.join(directory, "index.tsv"), "w", encoding="utf-8") as f:
            for i, (name, x) in enumerate(self.inputs.items()):
                np.save(os.path.join(directory, "%d.npy" % i), x)
                f.write("%d.npy\t%s\t%s\t%s\n" % (i, name, x.dtype, list(x.shape)))

    def answers(self, model, given):
        """OpenVINO's for the form's results."""
        compiled = core().compile_model(model, "CPU", SETTINGS)
        request = compiled.create_infer_request()
        request.infer({p: given[p.get_node().get_friendly_name()] for p in compiled.inputs})
        names = ["r%d" % v for v in self.form.results]
        return {n: np.array(request.get_tensor(compiled.outputs[i]).data) for i, n in enumerate(names)}

    def placed(self, how):
        """The stream with the graph and a placement; made once for all ways that want the same."""
        key = how.devices, how.method, *how.graph
        if key not in self.streams:
            graph = program([self.bin + "/ir2dag", *how.graph, self.xml], b"", how)
            self.streams[key] = program([self.bin + "/placebase", "--seed", str(self.form.net.seed + 1), how.method,
                                         "-D", how.devices], graph, how)
        return self.streams[key]

    def run(self, how):
        """Our answers; RuntimeError: a program failed."""
        out = os.path.join(self.work, "out")
        shutil.rmtree(out, ignore_errors=True)
        program([self.bin + "/devrun", "-D", how.devices, "--runs", "1", "--warmup", "0", "--no-reference",
                 "--allow-shared", "--inputs", os.path.join(self.work, "in"), "--outputs", out, "-o", os.devnull,
                 *how.options], self.placed(how), how)
        return load(out) if os.path.exists(out) else {}

    def one_by_one(self, tries=4, near=nearby, moved=moved, coarse=0):
        """OpenVINO's answers where each operator is a model of its own, and {name: how far they move, of their
        scale, when last bits of what operators read are others}; coarse: when that part is, of what is right to 11 bits alone."""
        form, rng = self.form, np.random.default_rng(1)
        values = [{int(name[1:]): x for name, x in self.inputs.items()} for _ in range(1 + tries)]
        for s in form.needed()[0]:
            parameters = [op.parameter(form.net.shape[v]) for v in s.inputs]
            outputs = floats(s.make(*[p.output(0) for p in parameters]))
            one = ov.Model([op.result(o) for o in outputs], parameters, "one")
            try:
                compiled = core().compile_model(one, "CPU", SETTINGS)
            except RuntimeError:    # some FakeQuantize, and weights in few bits
                compiled = nets_codes.referenced(one)
            for i, value in enumerate(values):
                given = {j: value[form.at(v)] for j, v in enumerate(s.inputs)}
                if i and coarse and form.net.step_of[form.at(s.inputs[0])].label.startswith(COARSE):
                    given[0] = given[0] * (1 + coarse * rng.uniform(-1, 1, given[0].shape)).astype(given[0].dtype)
                got = compiled(near(given, rng) if i else given)
                value.update((s.first + k, np.array(got[k])) for k in range(len(outputs)))
        found = [{"r%d" % v: value[form.at(v)] for v in form.results} for value in values]
        return found[0], {n: max(moved(f[n], x) for f in found[1:]) for n, x in found[0].items()}

    def dynamic(self):
        """Has it weights in few bits that rows may meet that are quantised as they come?"""
        return any("MatMul" in s.label and (" zero " in s.label) for s in self.form.needed()[0])

    def wrong(self, how):
        """What is wrong when it runs so, as (kind, text); None: nothing."""
        try:
            have = self.run(how)
        except RuntimeError as e:
            return "failed", str(e)
        except subprocess.TimeoutExpired as e:
            return "failed", str(e)
        if set(have) != set(self.want):
            return "failed", "outputs %s instead of %s" % (sorted(have), sorted(self.want))
        over = beyond(have, self.want, how)
        if over and how in CODES_HOWS.values():
            near = nets_codes.shaken if self.dynamic() else nets_codes.nudged
            far = lambda a, b: distance(a, b, how)
            unsure = self.one_by_one(tries=16, near=near, moved=far, coarse=2**-11)[1]
            over = {n: x for n, x in over.items() if x > 4 * unsure[n]}
        elif over and how.tolerance == SCALE_TOL:
            want, unsure = self.one_by_one()
            again = beyond(have, want, how)
            over = {n: x for n, x in over.items() if x > 4 * unsure[n] and n in again}
        if not over:
            return None
        return "wrong", "; ".join("%s is %.1e of scale off" % x for x in sorted(over.items(), key=lambda x: -x[1]))


def beyond(have, want, how):
    """{name: distance} where it is too large."""
    far = {n: distance(have[n], want[n], how) if np.isfinite(have[n]).all() else np.inf for n in want}
    return {n: x for n, x in far.items() if x > how.tolerance}


def distance(have, want, how):
    """In units of scale; of a low precision the root of the mean square."""
    if have.shape != want.shape or how.tolerance == SCALE_TOL:
        return moved(have, want) * min(1.0, largest(want) / NOISE)
    size = np.sqrt(np.mean(want.astype(np.float64)**2))
    return np.sqrt(np.mean((have.astype(np.float64) - want)**2)) / max(size, NOISE)


def tame(case):
    return all(np.isfinite(x).all() and np.abs(x).max(initial=0) < 1e5 for x in case.want.values())


# ---- shrinking ----

def smaller(form):
    """Forms with less, the most promising first."""
    net = form.net
    if len(form.results) > 1:
        for v in form.results:
            yield Form(net, [v], form.cut, form.same)
        for v in form.results:
            yield Form(net, [r for r in form.results if r != v], form.cut, form.same)
    steps = form.needed()[0]
    for s in reversed(steps):
        made = [v for v in range(len(net.shape)) if net.step_of[v] is s]
        if any(form.at(r) in made for r in form.results) and s.inputs:
            less = [r for r in form.results if form.at(r) not in made]
            yield Form(net, dict.fromkeys(less + s.inputs), form.cut, form.same)
    for s in steps:
        made = [v for v in range(len(net.shape)) if net.step_of[v] is s]
        yield Form(net, form.results, form.cut | set(made), form.same)
    for s in reversed(steps):
        for v in s.inputs:
            if net.shape[v] == net.shape[s.first]:
                yield Form(net, form.results, form.cut, {**form.same, s.first: v})
    for s in reversed(steps):
        for v in s.inputs:          # another value of the same shape: fewer branches
            for u in range(form.at(v)):
                if net.shape[u] == net.shape[v] and form.at(u) != form.at(v) and u not in form.same:
                    yield Form(net, form.results, form.cut, {**form.same, form.at(v): u})


def size(form):
    steps, inputs = form.needed()
    return len(steps), len(form.results), len(inputs)


def shrink(case, how, kind, seconds=60):
    """The smallest form found that fails likewise, and its text."""
    best, found, end = case.form, None, time.monotonic() + seconds
    again = True
    while again and time.monotonic() < end:
        again = False
        for form in smaller(best):
            if size(form) >= size(best) or time.monotonic() > end:
                continue
            try:
                if not form.needed()[0]:
                    continue
                w = Case(form, case.work, case.bin, case.codes).wrong(how)
            except RuntimeError:
                continue
            if w and w[0] == kind:
                best, found, again = form, w, True
                break
    return best, found


# ---- all ----

def found_networks(args):
    """Those of nets_found.py."""
    import nets_found                   # it needs what is here
    return nets_found.FOUND_CODES if args.codes else nets_found.FOUND


def from_file(number, args):
    """(network, its results) of nets_found.py."""
    net = Net(number)
    return net, found_networks(args)[number](net)


def check(seed, args):
    """Was the network of this seed right?  None: it does not count."""
    try:
        net = from_file(seed, args) if args.found else quantised(seed) if args.codes else generate(seed)
        case = Case(Form(*net), args.work, args.bin, args.codes)
    except RuntimeError:        # OpenVINO's, of some graphs that are right
        if args.found:
            raise
        return None
    if not case.want or not tame(case):
        return None
    hows = CODES_HOWS if args.codes else HOWS
    names = [n for n in hows if n not in ("default", "int8") and not n.startswith("bf16")]
    names = args.how or ["int8" if args.codes else "default"] + np.random.default_rng([seed, 1]).permutation(names)[:args.times].tolist()
    for name in names:
        w = case.wrong(hows[name])
        if not w:
            continue
        print("seed %d, %s: %s" % (seed, name, w[1]), flush=True)
        if args.keep:
            keep(case, args.keep, "%d-%s" % (seed, name))
        if args.shrink:
            form, less = shrink(case, hows[name], w[0])
            print(form.text() + ("\n  " + less[1] if less else ""), flush=True)
            if args.keep:
                keep(Case(form, args.work, args.bin, args.codes), args.keep, "%d-%s-small" % (seed, name))
        return False
    return True


def some_seeds(seeds, args):
    """Verdicts of the first of them: all before one on which OpenVINO crashes, and that one, which does not count."""
    end, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        for seed in seeds:
            os.write(write, {None: b"-", True: b"y", False: b"n"}[check(seed, args)])
        os._exit(0)
    os.close(write)
    with os.fdopen(end, "rb") as f:
        verdicts = [{b"-": None, b"y": True, b"n": False}[bytes([c])] for c in f.read()]
    status = os.waitpid(child, 0)[1]
    if len(verdicts) < len(seeds):
        print("seed %d: the comparison itself ends with status %d" % (seeds[len(verdicts)], status), flush=True)
        verdicts.append(None)
    return verdicts


def keep(case, directory, name):
    os.makedirs(directory, exist_ok=True)
    for end in (".xml", ".bin"):
        shutil.copy(case.xml[:-4] + end, os.path.join(directory, name + end))
    shutil.copytree(os.path.join(case.work, "in"), os.path.join(directory, name + ".in"), dirs_exist_ok=True)


def main():
    ap = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    ap.add_argument("--seeds", default="1-200", metavar="A-B")
    ap.add_argument("--found", action="store_true", help="the networks of nets_found.py in place of random ones")
    ap.add_argument("--codes", action="store_true", help="quantised networks, in int8")
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--keep", metavar="DIR", help="write networks that are wrong there")
    ap.add_argument("--how", type=lambda s: s.split(","), metavar="NAME,...", help="of " + ", ".join([*HOWS, *CODES_HOWS]))
    ap.add_argument("--times", type=int, default=2, help="ways beside the usual one (default: 2)")
    ap.add_argument("--shrink", action=argparse.BooleanOptionalAction, default=True)
    args = ap.parse_args()
    unknown = [name for name in args.how or [] if name not in (CODES_HOWS if args.codes else HOWS)]
    if unknown:
        ap.error("--how: no such way: " + ", ".join(unknown))
    first, last = (int(v) for v in (args.seeds.split("-") * 2)[:2])
    if args.found:
        first, last = 0, len(found_networks(args)) - 1
    verdicts = []
    with tempfile.TemporaryDirectory() as args.work:
        while first + len(verdicts) <= last:
            verdicts += some_seeds(range(first + len(verdicts), last + 1), args)
    wild = verdicts.count(None)
    more = ", %d left out" % wild if wild else ""
    print("%d networks, %d wrong%s" % (len(verdicts) - wild, verdicts.count(False), more))
    return 1 if False in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
