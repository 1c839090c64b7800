#!/usr/bin/env python3
"""Operators by element types: the cases of parity_op.py in every type that they are defined on, with static shapes, with dims and
with ranks that are found while the model runs.

    matrix.py BIN DIR [--cases N] [--types T,...] [--ops NAME,...] [--every N] [--shapes static,dims,ranks] [--device NAME] [--jobs N]
              [--report FILE]

Each case is a model of its own.  What `devrun support` refuses is counted by its reason; what it accepts must run, and give what
OpenVINO's CPU plugin gives in f32 with static shapes, or its reference implementations (Model.evaluate) where the plugin refuses,
or where both refuse a type, what the plugin gives for the same numbers as f32, brought into the type.
NUMPY says where NumPy is the oracle instead, and why.  An operator of lib/graph/oplist.h that ran right in no case is a failure of a
run of all of them.  With --report a table of cases by type is printed.  Exit status 1: something was wrong, or crashed, or was
refused after it had been accepted, or has no case."""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import time
import zlib

import numpy as np

import matrix_cases
import matrix_edges
import parity_op
import parity_grid
import parity_rare
import parity_types

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": None, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
         "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "boolean": np.bool_}
TOLERANCE = {"f16": 4e-3, "bf16": 2e-2}
LATER = ("adapted", "few_bits", "to_few_bits", "sizes", "double", "wide", "conversions", "rounded", "einsum_types", "integers")

INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
BYTES = ("i8", "u8")
BAD = ("wrong", "crash", "failed")


def limited(x, kind):
    """What an operator on real numbers gives as integers: halves to even, bytes within their range, others wrap.  NaN where it is none."""
    if kind in BYTES:
        return np.clip(np.round(x), np.iinfo(TYPES[kind]).min, np.iinfo(TYPES[kind]).max)
    return np.where(np.isfinite(x), np.round(x), np.nan)


def whole(x, kind):
    return np.clip(x, np.iinfo(TYPES[kind]).min, np.iinfo(TYPES[kind]).max)


# Where OpenVINO 2026.4.1 is no oracle, NumPy is: operators (or how their cases' labels begin), types, the values by label, type and
# inputs (NaN in them: not compared), and why.
NUMPY = [
    (("Acos", "Asin", "Atanh"), ("u8",), lambda label, kind, x: limited(getattr(np, {"acos": "arccos", "asin": "arcsin", "atanh": "arctanh"}[
        label.split()[0]])(np.where(x == 1, np.nan if label[:5] == "atanh" else 1, x.astype(np.float64))), kind),
     "NaN and infinity are no integers: those elements are not compared"),
    (("SquaredDifference",), BYTES, lambda label, kind, a, b: whole((a.astype(np.int64) - b) ** 2, kind), "the plugin limits differences to 8 bits"),
    (("ReduceL2",), BYTES, lambda label, kind, x: np.trunc(np.sqrt((x.astype(np.float64) ** 2).sum(
        tuple(int(v) for v in label.split("[")[1].split("]")[0].split(",") if v), keepdims=label.endswith("True")))),
     "the plugin limits squares and sums to 8 bits"),
    (("Einsum",), BYTES, lambda label, kind, *x: np.einsum(label.split()[1], *x), "the plugin limits sums; nothing is said of them, ours wrap as NumPy's"),
    (("ErfInv",), ("f32", "f64"), lambda label, kind, x: np.array([parity_op.erf_inverse(float(v)) for v in x.ravel()]).reshape(x.shape),
     "the plugin is right to two digits beside 1, and makes the greatest f32 of infinity"),
    (("IsFinite",), ("f64",), lambda label, kind, x: np.isfinite(x), "the plugin makes the greatest f32 of infinity"),
    (("IsInf",), ("f64",), lambda label, kind, x: np.isinf(x), "the plugin makes the greatest f32 of infinity"),
    (("select pdpd (4,) -1",), INTEGERS, lambda label, kind, k, a, b: np.where(k, a, b),
     "the reference implementation lays the condition along other dims; the plugin takes it for wide integers"),
    (("matmul narrow (1300, 4, 4) +",), BYTES, lambda label, kind, x, w, b: whole(whole(x.astype(np.int64) @ w.astype(np.int64).T, kind) + b, kind), "the plugin limits the sum of product and bias, ours the product, which is a tensor of bytes, and the sum"),
]
# The same where dims or ranks are open.
NUMPY_OPEN = NUMPY + [
    (("a third of a dim",), tuple(TYPES), lambda label, kind, x: x[:, -2:], "-8 / 3 of constants is rounded down; at run time the plugin cuts it off, too"),
]
# Where it is none in a type, but is one for the same numbers in f32, which are brought into the type then, and why.
AS_F32 = {
    "ROIAlignRotated": (("bf16",), "the plugin gives zeros, and writes behind its tensors"),
    "AdaptiveAvgPool": (INTEGERS, "OpenVINO adds integers up in their own type and cuts the mean off"),
    "MVN": (INTEGERS, "OpenVINO subtracts a mean that it has made an integer"),
}
# Operators that every case has, or most.
NO_CASE = ("Parameter", "Result", "Const")


def operators(root):
    """The types of oplist.h."""
    with open(os.path.join(root, "lib/graph/oplist.h")) as f:
        return re.findall(r'^\tX\([A-Z0-9_]+, "(\w+)"', f.read().split("define OP_NAMES_ONLY")[0], re.M)


Case = collections.namedtuple("Case", "kind label model values shapes want data runs respell twin")


class Typed(parity_op.Cases):
    """The cases of a family, their real numbers in another type, each as a model of its own."""

    def __init__(self, name, kind, shapes, most):
        super().__init__(name)
        self.kind, self.shapes, self.most, self.seen, self.made = kind, shapes, most, collections.Counter(), []
        self.sinks = []              # build() puts what assigns variables there
        self.twin = False            # constants are f32, with the type's values

    def retyped(self, a):
        a = np.asarray(a)
        if a.dtype != np.float32:
            return a
        if self.kind == "boolean":
            return a > 0
        to = TYPES[self.kind]
        if self.kind == "bf16":          # nothing is left to round
            u = a.view(np.uint32)
            return np.where(np.isnan(a), a, ((u + 0x7fff + (u >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32)).reshape(a.shape)
        if self.kind in ("f32", "f16", "f64"):
            return a.astype(to)
        a = np.round(np.nan_to_num(a, posinf=9, neginf=-9) * (10 if a.size and np.abs(a).max() <= 2 else 1))
        if self.kind[0] == "u":
            a = np.abs(a)
        limit = np.iinfo(to)
        return np.clip(a, max(limit.min, -1000), min(limit.max, 1000)).astype(to)

    def const(self, value, dtype=None):
        a = np.asarray(value, dtype=dtype)
        b = self.retyped(a)
        if self.twin and a.dtype == np.float32:
            return self.op.constant(b.astype(np.float32))
        if self.kind == "bf16" and a.dtype == np.float32:
            return self.ov.op.Constant(self.ov.Type.bf16, self.ov.Shape(a.shape), a.ravel().tolist())
        return self.op.constant(b)

    def add(self, label, build, *arrays, want=None):
        if self.kind != "f32" and not any(a.dtype == np.float32 for a in arrays):
            return               # its types are what it says: matrix_cases.py has such operators in other types
        known = self.kind == "f32" or (label.startswith("grouped_matmul") and self.kind in ("f16", "bf16", "f64"))   # OpenVINO has no kernel
        self.make_case(label, build, arrays, want if known else None)

    def make_case(self, label, build, arrays, want=None, named=False, runs=1, respell=None):
        """runs: inferences in a row; respell: (type and opset as the file spells them, others in their place)."""
        op, ov = self.op, self.ov
        params, nodes, values, shapes, self.sinks = [], [], [], [], []
        random = self.rng.bit_generator.state
        try:
            for i, a in enumerate(arrays):
                b = self.retyped(a)
                p = op.parameter(list(b.shape), dtype=b.dtype.type, name="p%d" % i)
                params.append(p)
                values.append(b)
                node = p
                if self.shapes != "static" and not (b.ndim == 0 and b.dtype == bool):     # OpenVINO's If loses a condition of open rank
                    rank = len(b.shape)
                    s = op.parameter(ov.PartialShape([rank if self.shapes == "dims" else -1]), np.int64, name="s%d" % i)
                    shapes.append("s%d=%d" % (i, rank))
                    params.append(s)
                    values.append(np.array(b.shape, np.int64))
                    node = op.reshape(p, s, False)
                nodes.append(op.convert(node, "bf16") if self.kind == "bf16" and a.dtype == np.float32 else node)
            made = build(*nodes)
            outputs = made.outputs() if hasattr(made, "outputs") else [made]        # or one output of several
            made = outputs[0].get_node()
            kinds = {n.get_type_name() for n in ov.Model([op.result(o) for o in outputs], self.sinks, params, "m").get_ops()}
            kind = made.get_type_name()
            if named:
                kind = label.split()[0].replace("_", "")
            elif kind in ("Convert", "Relu", "Add") and len(kinds) > 4:
                kind = label.split()[0].replace("_", "")
            if not named and self.seen[kind] >= self.most:
                return
            outs = [op.convert(o, "f32") if o.get_element_type() == ov.Type.bf16 else o for o in outputs]
            results = [op.result(o) for o in outs]
            for i, r in enumerate(results):
                r.set_friendly_name("r%d" % i)
            model = ov.Model(results, self.sinks, params, "m")
        except Exception as e:
            self.refused = e     # OpenVINO does not define it
            return
        self.seen[kind] += 1
        self.made.append(Case(kind, label, model, values, ";".join(shapes), want, [self.retyped(a) for a in arrays], runs, respell,
                              None if self.kind in ("f32", "boolean") or want is not None else self.as_f32(build, arrays, random)))

    def as_f32(self, build, arrays, random):
        """The same case with the type's values as f32: a model, and its inputs; None where f32 has other rules."""
        after, self.rng.bit_generator.state, self.twin = self.rng.bit_generator.state, random, True
        data = [self.retyped(a).astype(np.float32) if np.asarray(a).dtype == np.float32 else self.retyped(a) for a in arrays]
        params = [self.op.parameter(list(a.shape), dtype=a.dtype.type) for a in data]
        try:
            made = build(*params)
            return self.ov.Model([self.op.result(o) for o in made.outputs()], params, "twin"), data
        except Exception:
            return None
        finally:
            self.rng.bit_generator.state, self.twin = after, False


class Fixed(Typed):
    """Cases of matrix_cases.py, which have their types from the start, and what NumPy makes of them."""

    def retyped(self, a):
        return np.asarray(a)

    def add(self, label, build, *arrays, want=None, runs=1, respell=None):
        before = len(self.made)
        self.make_case(label, build, arrays, want, named=True, runs=runs, respell=respell)
        if len(self.made) == before and self.shapes == "static":
            raise RuntimeError("%s of %s: OpenVINO refuses to make it" % (label, self.kind)) from self.refused


def oracle(core, c, elem):
    """What OpenVINO says of a case, in its type, or where it refuses that, of the type's values in f32."""
    import openvino as ov
    got = None if elem in AS_F32.get(c.kind, ((), ""))[0] else reference(core, c.model, c.values)
    if got is not None or not c.twin:
        return got
    got = reference(core, *c.twin)
    return got and [to_type(a, o.get_element_type().to_dtype() if o.get_element_type() != ov.Type.bf16 else np.float32)
                    for a, o in zip(got, c.model.outputs)]


def to_type(a, to):
    """Integers of real numbers: rounded, limited in 8 bits, else they wrap."""
    if np.dtype(to).kind not in "iu" or a.dtype.kind != "f":
        return a.astype(to)
    a = np.round(a.astype(np.float64))
    return np.clip(a, np.iinfo(to).min, np.iinfo(to).max).astype(to) if np.dtype(to).itemsize == 1 else a.astype(np.int64).astype(to)


def reference(core, model, values):
    """What OpenVINO's plugin says, or its reference implementations where it refuses; None: neither."""
    import openvino as ov
    try:
        c = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
        got = c(values)
        return [np.array(got[o]) for o in c.outputs]
    except Exception:
        pass
    try:
        out = [ov.Tensor(o.get_element_type(), o.get_shape()) for o in model.outputs]
        good = model.evaluate(out, [ov.Tensor(np.ascontiguousarray(a)) for a in values])
        return [np.array(t.data) for t in out] if good else None
    except Exception:
        return None


def by_numpy(kind, label, elem, shapes, model, data):
    """The values by NumPy where OpenVINO is no oracle, else None."""
    for ops, types, f, _ in NUMPY if shapes == "static" else NUMPY_OPEN:
        if elem in types and (kind in ops or label in ops):
            inputs = list(data)
            if label.startswith("matmul"):     # its constants: weights, bias
                inputs += sorted((n.data for n in model.get_ops() if n.get_type_name() == "Constant" and n.data.dtype.kind in "iu" and n.data.itemsize == 1),
                                 key=lambda a: -a.ndim)
            return f(label, elem, *inputs)
    return None


def unlike_number(got, want, kind):
    """Beside what NumPy says: NaN in integers is not compared, and integers are taken in their type, f32 and f64 to 1e-6."""
    if got.shape != want.shape:
        return "shape %s, not %s" % (got.shape, want.shape)
    if got.dtype.kind in "iu" and want.dtype.kind == "f":
        known = ~np.isnan(want)
        want = np.where(known, want, 0).astype(np.int64)
        got = np.where(known, got, 0)
    if got.dtype.kind == "f":
        return None if np.allclose(got, want, rtol=TOLERANCE.get(kind, 2e-6), atol=TOLERANCE.get(kind, 1e-20), equal_nan=True) else "%s, not %s" % (got.ravel()[:9], want.ravel()[:9])
    want = want.astype(got.dtype)
    j = np.flatnonzero(got.ravel() != want.ravel())
    return "%d of %d: %s, not %s" % (len(j), got.size, got.ravel()[j][:5], want.ravel()[j][:5]) if len(j) else None


def unlike(got, want, kind):
    if len(got) != len(want):
        return "%d results, not %d" % (len(got), len(want))
    for i, (a, b) in enumerate(zip(got, want)):
        if a.shape != b.shape:
            return "output %d: shape %s, not %s" % (i, a.shape, b.shape)
        if a.dtype != b.dtype:
            return "output %d: type %s, not %s" % (i, a.dtype, b.dtype)
        if not np.issubdtype(b.dtype, np.floating):
            if not np.array_equal(a, b):
                j = np.flatnonzero(a.ravel() != b.ravel())
                return "output %d: %d of %d integers: %s, not %s" % (i, len(j), a.size, a.ravel()[j][:5], b.ravel()[j][:5])
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        finite = np.isfinite(b)
        if not np.array_equal(np.isfinite(a), finite):
            return "output %d: %s where %s" % (i, a[np.isfinite(a) != finite][:3], b[np.isfinite(a) != finite][:3])
        scale = np.abs(b[finite]).max(initial=1e-30)
        far = np.abs(a[finite] - b[finite]).max(initial=0)
        if far > TOLERANCE.get(kind, 2e-5) * scale:
            return "output %d: off by %.1e of the scale" % (i, far / scale)
    return None


def devrun(bins, path, shapes, runs, device):
    """(status, reason): refused by support, or what the run said."""
    sh = "--shape '%s'" % shapes if shapes else ""
    graph = "%s/ir2dag %s %s/model.xml -o %s/g.mp" % (bins, sh, path, path)
    r = subprocess.run(graph, shell=True, capture_output=True, text=True, timeout=120)
    if r.returncode:
        return ("refused" if r.returncode == 3 else "crash", r.stderr.strip())
    r = subprocess.run("%s/devrun support -D %s %s/g.mp" % (bins, device, path), shell=True, capture_output=True, text=True, timeout=120)
    if r.returncode or " 0 run nowhere" not in r.stdout:
        why = re.search(r"not on %s: (.*?), layer" % re.escape(device), r.stdout)
        if not why and r.returncode not in (0, 3):
            return "crash", r.stderr.strip()
        return "refused", why.group(1) if why else r.stderr.strip()
    run = ("set -o pipefail; %s/placebase single -D %s %s/g.mp | %s/devrun -D %s --runs %d --keep-state --warmup 0 --no-reference --inputs %s/in "
           "--outputs %s/out -o %s/run.mp") % (bins, device, path, bins, device, runs, path, path, path)
    r = subprocess.run(["bash", "-c", run], capture_output=True, text=True, timeout=120)
    if r.returncode == 0 and not os.path.exists(path + "/out/index.tsv"):
        r = subprocess.run("%s/recdump -k run --tsv reason %s/run.mp" % (bins, path), shell=True, capture_output=True, text=True, timeout=60)
        return "failed", r.stdout.strip()
    return ("ran", "") if r.returncode == 0 else ("failed" if r.returncode in (1, 3) else "crash", "%d %s" % (r.returncode, r.stderr.strip()[-300:]))


def one(bins, device, path, case):
    kind, label, elem, shapes, give, want, runs = case
    status, why = devrun(bins, path, give, runs, device)
    why = why.replace(path, "")
    if status == "ran":
        with open(path + "/out/index.tsv") as f:
            files = [line.split("\t")[0] for line in f]
        got = [np.load(path + "/out/" + f) for f in files if f.endswith(".npy")]
        if isinstance(want, np.ndarray):
            wrong = unlike_number(got[0], want, elem) if len(got) == 1 else "%d results" % len(got)
        else:       # the plugin, or the reference implementations where it refuses
            wrong = unlike(got, want, elem) if want is not None else None
        status, why = ("no oracle", "") if want is None else ("wrong", wrong) if wrong else ("right", "")
    return kind, label, elem, shapes, status, why


def all_cases(elem, shapes, most, kept=[]):
    """Every case of a type.  Models are kept to the end: OpenVINO 2026.4.1 frees some memory of theirs twice when they go before."""
    for name, f in parity_op.FAMILIES.items():
        t = Typed(name, elem, shapes, most)
        kept.append(t)
        try:
            if name not in LATER:
                f(t)
        except Exception:
            if elem == "f32":    # the others: a family that cannot go on in this type
                raise
        yield from t.made
    for f in matrix_cases.FAMILIES + matrix_edges.FAMILIES:
        t = Fixed(f.__name__, elem, shapes, most)
        kept.append(t)
        f(t, elem, TYPES[elem])
        yield from t.made


def save(path, c):
    """A case's model and inputs."""
    import openvino as ov
    os.makedirs(path + "/in", exist_ok=True)
    ov.save_model(c.model, path + "/model.xml", compress_to_fp16=False)
    if c.respell:
        with open(path + "/model.xml") as f:
            text = f.read()
        with open(path + "/model.xml", "w") as f:
            f.write(text.replace(*c.respell))
    with open(path + "/in/index.tsv", "w") as index:
        for i, v in enumerate(c.values):
            np.save("%s/in/%d.npy" % (path, i), v)
            index.write("%d.npy\t%s\n" % (i, c.model.inputs[i].get_node().get_friendly_name()))


def untouched(done):
    """Operators of the table that ran right in no case."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    right = {r[0].lower() for r in done if r[4] == "right"}
    return [o for o in operators(root) if o not in NO_CASE and o.lower() not in right]


def say(text):
    print(time.strftime("%H:%M:%S ") + text, file=sys.stderr, flush=True)


def print_table(done):
    """Cases by type and shapes, and what became of them."""
    states = ("right", "refused", "no oracle", "wrong", "failed", "crash")
    print("type     shapes   cases " + " ".join("%9s" % s for s in states))
    rows = collections.Counter((r[2], r[3], r[4]) for r in done)
    for elem in TYPES:
        for shapes in ("static", "dims", "ranks"):
            n = [rows[elem, shapes, s] for s in states]
            if sum(n):
                print("%-8s %-7s %6d " % (elem, shapes, sum(n)) + " ".join("%9d" % k for k in n))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("bins")
    ap.add_argument("dir")
    ap.add_argument("--cases", type=int, default=1)
    ap.add_argument("--types", default=",".join(TYPES))
    ap.add_argument("--ops", default="")
    ap.add_argument("--every", type=int, default=1)
    ap.add_argument("--shapes", default="static,dims,ranks")
    ap.add_argument("--device", default="cpu:0")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--report")
    a = ap.parse_args()
    import openvino as ov
    core = ov.Core()
    np.seterr(all="ignore")      # what is no number is not compared
    for m in (parity_grid, parity_rare, parity_types):
        m.families(parity_op.family)
    only = set(a.ops.lower().split(",")) - {""}
    cases, static, n = [], {}, 0
    for elem in a.types.split(","):
        for shapes in a.shapes.split(","):
            begin = len(cases)
            for c in all_cases(elem, shapes, a.cases):
                n += 1
                if (only and c.kind.lower() not in only) or zlib.crc32((c.kind + c.label).encode()) % a.every:
                    continue
                path = os.path.join(a.dir, str(n))
                save(path, c)
                told = by_numpy(c.kind, c.label, elem, shapes, c.model, c.data)
                key = c.label, elem, zlib.crc32(b"".join(v.tobytes() for v in c.data))
                want = told if c.want is None or told is not None else np.asarray(c.want)
                if shapes == "static":           # the plugin refuses open ranks: dims are told by the values
                    static[key] = want if want is not None else oracle(core, c, elem)
                    want = static[key]
                cases.append((path, [c.kind, c.label, elem, shapes, c.shapes, want, c.runs], key))
            say("%d cases of %s, %s" % (len(cases) - begin, elem, shapes))
    done, begin = [], time.monotonic()
    for path, c, key in cases:
        if c[5] is None:
            c[5] = static.get(key)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for r in pool.map(lambda pc: one(a.bins, a.device, pc[0], pc[1]) + (pc[0],), cases):
            done.append(r)
            if r[4] in BAD:
                print("# %s %s (%s, %s): %s: %s [%s]" % (r[4], r[0], r[1], r[2], r[3], r[5].replace("\n", " "), os.path.basename(r[6])), flush=True)
            if len(done) % 500 == 0:
                past = time.monotonic() - begin
                say("%d of %d run, %.0f minutes left" % (len(done), len(cases), past / len(done) * (len(cases) - len(done)) / 60))
    missing = [] if only or a.every > 1 or set(a.types.split(",")) != set(TYPES) else untouched(done)
    if missing:
        print("# ran right in no case: " + " ".join(missing))
    if a.report:
        print_table(done)
        reasons = collections.Counter((r[5][:120], r[0]) for r in done if r[4] == "refused")
        reasons.update(("no oracle: %s, %s" % (r[1], r[2]), r[0]) for r in done if r[4] == "no oracle")
        with open(a.report, "w") as f:
            for (why, kind), k in sorted(reasons.items()):
                f.write("%d\t%s\t%s\n" % (k, kind, why))
    count = collections.Counter(r[4] for r in done)
    bad = missing or any(r[4] in BAD for r in done)
    print("%s %d cases of %d operators: %s" % ("not ok" if bad else "ok", len(done), len({r[0] for r in done}),
                                               ", ".join("%d %s" % (k, s) for s, k in sorted(count.items()))))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
