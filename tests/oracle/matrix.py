#!/usr/bin/env python3
"""Operators by element types: the cases of parity_op.py in every type that they are defined on, with static shapes, with dims and
with ranks that are found while the model runs.

    matrix.py BIN DIR [--cases N] [--types T,...] [--ops NAME,...] [--every N] [--shapes static,dims,ranks] [--jobs N] [--report FILE]

Each case is a model of its own.  What `devrun support` refuses is counted by its reason; what it accepts must run, and give what
OpenVINO gives: its CPU plugin in f32, or its reference implementations (Model.evaluate), which agree with the specification where
the plugin does not; it is the oracle of static shapes for all of them.  UNDEFINED says where
OpenVINO is no oracle.  Operators of lib/op/oplist.h without a case are named.  Exit status 1: something was wrong, or crashed, or
was refused after it had been accepted."""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import zlib

import numpy as np

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
# Where OpenVINO 2026.4.1 is no oracle: operators (or how their cases' labels begin), types, why.
UNDEFINED = [
    (("Acos", "Asin", "Atanh", "Acosh", "Log", "Tan"), INTEGERS, "NaN and infinity are no integers"),
    (("SquaredDifference", "ReduceL2", "ReduceSum", "ReduceL1", "ReduceProd", "ReduceMean"), BYTES, "the plugin limits what is within it to 8 bits"),
    (("Einsum",), INTEGERS, "sums beyond the type: the plugin limits, ours wrap"),
    (("select pdpd",), INTEGERS, "the plugin and the reference lay the condition along other dims than with f32"),
    (("a third of a dim",), tuple(TYPES), "a quotient of constants is rounded down where it is folded, and cut off at run time"),
    (("matmul",), BYTES, "a product beyond the type, and a bias: the plugin limits their sum, ours the product first"),
    (("IsFinite", "IsInf", "ErfInv"), ("f64",), "the plugin makes the greatest f32 of an infinity"),
    (("MaxPool", "Proposal"), ("bf16",), "the plugin leaves the rounding out, and with it equal elements"),
    (("AdaptiveAvgPool", "MVN"), INTEGERS, "defined on real numbers; the plugin's integers are no means"),
]


def operators(root):
    """The types of oplist.h."""
    with open(os.path.join(root, "lib/op/oplist.h")) as f:
        return re.findall(r'^\tX\([A-Z0-9_]+, "(\w+)"', f.read().split("define OP_NAMES_ONLY")[0], re.M)


class Typed(parity_op.Cases):
    """The cases of a family, their real numbers in another type, each as a model of its own."""

    def __init__(self, name, kind, shapes, most):
        super().__init__(name)
        self.kind, self.shapes, self.most, self.seen, self.made = kind, shapes, most, collections.Counter(), []

    def retyped(self, a):
        a = np.asarray(a)
        if a.dtype != np.float32:
            return a
        if self.kind == "boolean":
            return a > 0
        to = TYPES[self.kind]
        if self.kind in ("bf16", "f32", "f16", "f64"):
            return a if to is None else a.astype(to)
        a = np.round(np.nan_to_num(a, posinf=9, neginf=-9) * (10 if a.size and np.abs(a).max() <= 2 else 1))
        if self.kind[0] == "u":
            a = np.abs(a)
        limit = np.iinfo(to)
        return np.clip(a, max(limit.min, -1000), min(limit.max, 1000)).astype(to)

    def const(self, value, dtype=None):
        a = np.asarray(value, dtype=dtype)
        b = self.retyped(a)
        if self.kind == "bf16" and a.dtype == np.float32:
            return self.ov.op.Constant(self.ov.Type.bf16, self.ov.Shape(a.shape), a.ravel().tolist())
        return self.op.constant(b)

    def add(self, label, build, *arrays, want=None):
        op, ov = self.op, self.ov
        if not any(a.dtype == np.float32 for a in arrays):
            if self.kind not in ("f32",):
                return           # its types are what it says
        params, nodes, values, shapes = [], [], [], []
        try:
            for i, a in enumerate(arrays):
                b = self.retyped(a)
                p = op.parameter(list(b.shape), dtype=b.dtype.type, name="p%d" % i)
                params.append(p)
                values.append(b)
                node = p
                if self.shapes != "static":
                    rank = len(b.shape)
                    s = op.parameter(ov.PartialShape([rank if self.shapes == "dims" else -1]), np.int64, name="s%d" % i)
                    shapes.append("s%d=%d" % (i, rank))
                    params.append(s)
                    values.append(np.array(b.shape, np.int64))
                    node = op.reshape(p, s, False)
                nodes.append(op.convert(node, "bf16") if self.kind == "bf16" and a.dtype == np.float32 else node)
            made = build(*nodes)
            kinds = {n.get_type_name() for n in ov.Model([op.result(o) for o in made.outputs()], params, "m").get_ops()}
            kind = made.get_type_name()
            if kind in ("Convert", "Relu", "Add") and len(kinds) > 4:
                kind = label.split()[0]
            if self.seen[kind] >= self.most:
                return
            outs = [op.convert(o, "f32") if o.get_element_type() == ov.Type.bf16 else o for o in made.outputs()]
            results = [op.result(o) for o in outs]
            for i, r in enumerate(results):
                r.set_friendly_name("r%d" % i)
            model = ov.Model(results, params, "m")
        except Exception:
            return               # OpenVINO does not define it
        self.seen[kind] += 1
        self.made.append((kind, label, model, values, ";".join(shapes)))


def reference(core, model, values):
    """What OpenVINO says: [plugin's results or None, reference implementations' or None]."""
    import openvino as ov
    both = []
    try:
        c = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
        got = c(values)
        both.append([np.array(got[o]) for o in c.outputs])
    except Exception:
        both.append(None)
    try:
        out = [ov.Tensor(o.get_element_type(), o.get_shape()) for o in model.outputs]
        good = model.evaluate(out, [ov.Tensor(np.ascontiguousarray(a)) for a in values])
        both.append([np.array(t.data) for t in out] if good else None)
    except Exception:
        both.append(None)
    return both


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


def devrun(bins, path, shapes):
    """(status, reason): refused by support, or what the run said."""
    sh = "--shape '%s'" % shapes if shapes else ""
    graph = "%s/ir2dag %s %s/model.xml -o %s/g.mp" % (bins, sh, path, path)
    r = subprocess.run(graph, shell=True, capture_output=True, text=True, timeout=120)
    if r.returncode:
        return ("refused" if r.returncode == 3 else "crash", r.stderr.strip())
    r = subprocess.run("%s/devrun support -D cpu:0 %s/g.mp" % (bins, path), shell=True, capture_output=True, text=True, timeout=120)
    if r.returncode or " 0 run nowhere" not in r.stdout:
        why = re.search(r"not on cpu:0: (.*?), layer", r.stdout)
        if not why and r.returncode not in (0, 3):
            return "crash", r.stderr.strip()
        return "refused", why.group(1) if why else r.stderr.strip()
    run = ("set -o pipefail; %s/placebase single -D cpu:0 %s/g.mp | %s/devrun -D cpu:0 --runs 1 --warmup 0 --no-reference --inputs %s/in "
           "--outputs %s/out -o %s/run.mp") % (bins, path, bins, path, path, path)
    r = subprocess.run(["bash", "-c", run], capture_output=True, text=True, timeout=120)
    if r.returncode == 0 and not os.path.exists(path + "/out/index.tsv"):
        r = subprocess.run("%s/recdump -k run --tsv reason %s/run.mp" % (bins, path), shell=True, capture_output=True, text=True, timeout=60)
        return "failed", r.stdout.strip()
    return ("ran", "") if r.returncode == 0 else ("failed" if r.returncode in (1, 3) else "crash", "%d %s" % (r.returncode, r.stderr.strip()[-300:]))


def one(bins, path, case):
    kind, label, elem, shapes, give, want = case
    status, why = devrun(bins, path, give)
    why = why.replace(path, "")
    if status == "ran":
        with open(path + "/out/index.tsv") as f:
            files = [line.split("\t")[0] for line in f]
        got = [np.load(path + "/out/" + f) for f in files if f.endswith(".npy")]
        known = [w for w in want if w is not None]
        wrong = [unlike(got, w, elem) for w in known]
        if not known:
            status = "no oracle"
        elif all(wrong) and any(elem in types and (kind in ops or label.startswith(ops)) for ops, types, _ in UNDEFINED):
            status = "undefined"
        elif all(wrong):
            status, why = "wrong", wrong[0]
        else:
            status = "right"
    return kind, label, elem, shapes, status, why


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("bins")
    ap.add_argument("dir")
    ap.add_argument("--cases", type=int, default=1)
    ap.add_argument("--types", default=",".join(TYPES))
    ap.add_argument("--ops", default="")
    ap.add_argument("--every", type=int, default=1)
    ap.add_argument("--shapes", default="static,dims,ranks")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--report")
    a = ap.parse_args()
    import openvino as ov
    core = ov.Core()
    for m in (parity_grid, parity_rare, parity_types):
        m.families(parity_op.family)
    only = set(a.ops.lower().split(",")) - {""}
    cases, met, n = [], set(), 0
    for elem in a.types.split(","):
        for shapes in a.shapes.split(","):
            for name, f in parity_op.FAMILIES.items():
                if name in LATER:
                    continue
                t = Typed(name, elem, shapes, a.cases)
                try:
                    f(t)
                except Exception:
                    pass         # a family that cannot go on in this type
                for kind, label, model, values, give in t.made:
                    n += 1
                    if (only and kind.lower() not in only) or zlib.crc32((kind + label).encode()) % a.every:
                        continue
                    path = os.path.join(a.dir, str(n))
                    os.makedirs(path + "/in", exist_ok=True)
                    ov.save_model(model, path + "/model.xml", compress_to_fp16=False)
                    with open(path + "/in/index.tsv", "w") as index:
                        for i, v in enumerate(values):
                            np.save("%s/in/%d.npy" % (path, i), v)
                            index.write("%d.npy\t%s\n" % (i, model.inputs[i].get_node().get_friendly_name()))
                    still = model
                    if shapes != "static":     # the plugin refuses open ranks: dims are told by the values
                        still = None
                    cases.append((path, [kind, label, elem, shapes, give, still, values,
                                         zlib.crc32(b"".join(v.tobytes() for v in values[::1 if shapes == "static" else 2]))]))
    done, static = [], {}
    for path, c in cases:
        if c[5] is not None:
            static[c[0], c[1], c[2], c[7]] = c[5] = reference(core, c[5], c[6])
    for path, c in cases:
        if c[3] != "static":
            c[5] = static.get((c[0], c[1], c[2], c[7]), [])
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for r in pool.map(lambda pc: one(a.bins, pc[0], pc[1][:6]) + (pc[0],), cases):
            done.append(r)
            met.add(r[0])
            if r[4] in ("wrong", "crash", "failed"):
                print("# %s %s (%s, %s): %s: %s [%s]" % (r[4], r[0], r[1], r[2], r[3], r[5].replace("\n", " "), os.path.basename(r[6])), flush=True)
    count = collections.Counter(r[4] for r in done)
    bad = [r for r in done if r[4] in ("wrong", "crash", "failed")]
    if a.report:
        reasons = collections.Counter((r[5][:120], r[0]) for r in done if r[4] == "refused")
        with open(a.report, "w") as f:
            for (why, kind), k in sorted(reasons.items()):
                f.write("%d\t%s\t%s\n" % (k, kind, why))
    if not only and a.every == 1:
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        print("# without a case: " + " ".join(o for o in operators(root) if o.lower() not in {m.lower() for m in met}))
    print("%s %d cases of %d operators: %s" % ("not ok" if bad else "ok", len(done), len(met), ", ".join("%d %s" % (k, s) for s, k in sorted(count.items()))))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
