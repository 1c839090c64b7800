"""oracle.py - OpenVINO's answers in f32 for parity.py: outputs and inner tensors of a model for each of
its input sets, how far they move when the inputs move in their last bits, and whether devrun's agree.
"""
import os

import numpy as np
import openvino as ov

import stream

SCALE_TOL, CHANGE_TOL = 1e-4, 1e-3
ROUNDING = 2.0**-18    # of the scale: 32 units in the last place of f32
# f32 and the graph as it is written: without the plugin's int8 rewriting of quantised models.
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "LP_TRANSFORMS_MODE": "NO",
         "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0, "KV_CACHE_PRECISION": "f32"}
# Where a last bit may decide: between two levels, the order of two scores, which boxes survive.
DECIDING = {"FakeQuantize", "TopK", "NonMaxSuppression", "NonZero"}


class Wrong(Exception):
    """Values or shapes that are not OpenVINO's."""


def indexed(directory):
    """(fields of the line, array) for each line of index.tsv."""
    with open(os.path.join(directory, "index.tsv"), encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    return [(fields, np.load(os.path.join(directory, fields[0]))) for fields in lines]


def load(directory):
    """{layer name: array} from a directory with an index.tsv."""
    return {fields[1]: array for fields, array in indexed(directory)}


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
        deciding = any(op.get_type_name() in DECIDING for op in every_op(model))
        for port in ports.values():      # one Result each, also where there is one already
            model.add_results([ov.opset13.result(port)])
        compiled = core.compile_model(model, "CPU", EXACT)
        names = [p.get_node().get_friendly_name() for p in compiled.outputs[:n]]
        self.values, moves = [], []
        for directory in self.model.inputs:
            given = load(directory)
            request = compiled.create_infer_request()
            request.infer({p: given[p.get_node().get_friendly_name()] for p in compiled.inputs})
            got = [np.array(request.get_tensor(p).data) for p in compiled.outputs]
            moves.append(self.last_bits(request, compiled, given, got) if deciding else [0.0] * len(got))
            self.values.append((dict(zip(names, got[:n])), dict(zip(ports, got[n:]))))
        slack = [4 * max(x) for x in zip(*moves)]
        self.allowed = {**dict(zip(names, slack)), **dict(zip(ports, slack[n:]))}

    @staticmethod
    def last_bits(request, compiled, given, got):
        """Largest differences of all outputs when the inputs change by up to 4 units in the last place:
        infinite where a shape does."""
        worst, rng = [0.0] * len(got), np.random.default_rng(1)
        for _ in range(4):
            for p in compiled.inputs:
                x = given[p.get_node().get_friendly_name()]
                if x.dtype.kind == "f":
                    x = (x * (1 + rng.integers(-4, 5, x.shape) * 2.0**-23)).astype(x.dtype)
                request.set_tensor(p, ov.Tensor(np.ascontiguousarray(x)))
            request.infer()
            for i, p in enumerate(compiled.outputs):
                other = np.array(request.get_tensor(p).data)
                if other.shape != got[i].shape:
                    worst[i] = np.inf
                elif other.size:
                    moved = np.abs(other.astype(np.float64) - got[i].astype(np.float64))
                    worst[i] = max(worst[i], float(np.nan_to_num(moved).max()))
        return worst

    def find(self, model):
        """{key: port of the model}; nodes of one name in the order of their layer ids."""
        by_name = {}
        for op in model.get_ordered_ops():
            by_name.setdefault(op.get_friendly_name(), []).append(op)
        graph = self.model.head()
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


def every_op(model):
    """The operations of a model and of all bodies in it."""
    for op in model.get_ops():
        yield op
        if hasattr(op, "get_function") and op.get_type_name() in ("If", "Loop", "TensorIterator"):
            for i in range(2 if op.get_type_name() == "If" else 1):
                yield from every_op(op.get_function(i) if op.get_type_name() == "If" else op.get_function())


# ---- comparison ----

class Errors:
    """Of many tensors: the largest error in units of scale and of change, how many there were, how
    many were excused because OpenVINO's own answer turns on last bits, and what is wrong."""

    def __init__(self):
        self.worst, self.n, self.excused, self.wrong = [0.0, 0.0], 0, 0, []

    def add(self, name, have, want, other, allowed):
        """have: devrun's; want: OpenVINO's; other: OpenVINO's for the other input set."""
        self.n += 1
        if have.shape != want.shape:
            if allowed < np.inf:
                raise Wrong(f"'{name}' has shape {list(have.shape)} instead of {list(want.shape)}")
            self.excused += 1
            return
        kind = want.dtype.kind
        have, want = have.astype(np.float64), want.astype(np.float64)
        same = (have == want) | (np.isnan(have) & np.isnan(want))
        if same.all():
            return
        if not np.isfinite(have[~same]).all() or np.isnan(want[~same]).any():
            raise Wrong(f"'{name}' is {have[~same][0]} instead of {want[~same][0]}")
        finite = np.isfinite(want)
        error = np.abs(have - want)[~same].max()
        scale = np.abs(want[finite]).max(initial=0)
        change = np.abs(want - other)[finite].max(initial=0) if want.shape == other.shape else np.inf
        if kind == "f":
            change = max(change, ROUNDING / CHANGE_TOL * scale)
        parts = [error / size if size > 0 else np.inf for size in (scale, change)]
        beyond = [p / t for p, t in zip(parts, (SCALE_TOL, CHANGE_TOL))]
        if max(beyond) > 1 and error <= allowed:
            self.excused += 1
            return
        self.worst = [max(x) for x in zip(self.worst, parts)]
        over, part, what = max(zip(beyond, parts, ("scale", "change")))
        if over > 1:
            self.wrong.append((over, f"{part:.1e} of {what} at '{name}'"))


def check(model, p):
    """(errors of the outputs, errors at the boundaries) over both input sets."""
    got = [model.run(p, i) for i in range(2)]
    keys = [(f[1], int(f[3]), int(f[4])) for f, _ in got[0][1]]
    model.oracle = model.oracle or Oracle(model)
    model.oracle.want(keys)
    allowed = model.oracle.allowed
    outer, inner = Errors(), Errors()
    for i, (outputs, across) in enumerate(got):
        (expected, inside), (other, beside) = model.oracle.values[i], model.oracle.values[1 - i]
        if set(outputs) != set(expected):
            raise Wrong(f"outputs {sorted(outputs)} instead of {sorted(expected)}")
        for name, want in expected.items():
            outer.add(name, outputs[name], want, other[name], allowed[name])
        for fields, array in across:
            key = fields[1], int(fields[3]), int(fields[4])
            if key in inside:
                inner.add(key[0], array, inside[key], beside[key], allowed[key])
    return outer, inner
