"""oracle.py - OpenVINO's answers in f32 for parity.py: outputs and inner tensors of a model for each of
its input sets, how far they move when the inputs move in their last bits, and whether devrun's agree.
"""
import functools
import os

import numpy as np
import openvino as ov

import stream

SCALE_TOL, CHANGE_TOL = 1e-4, 1e-3
ROUNDING = 2.0**-18    # of the scale: 32 units in the last place of f32
# f32 and the graph as it is written: without the plugin's int8 rewriting of quantised models.
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "LP_TRANSFORMS_MODE": "NO",
         "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0, "KV_CACHE_PRECISION": "f32"}

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
        self.model, self.keys, self.values, self.steady = model, [], None, True

    def want(self, keys):
        new = [k for k in dict.fromkeys(keys) if k not in self.keys]
        if new or self.values is None:
            self.keys += new
            self.infer()

    def compile(self):
        """(compiled model, [name or key of every output])"""
        core = ov.Core()
        model = core.read_model(self.model.xml)
        ports, n = self.find(model), len(model.outputs)
        for port in ports.values():      # one Result each, also where there is one already
            model.add_results([ov.opset13.result(port)])
        compiled = core.compile_model(model, "CPU", EXACT)
        return compiled, [p.get_node().get_friendly_name() for p in compiled.outputs[:n]] + list(ports)

    def infer(self):
        """Each set's values are those of a first inference where a second one gives others (seen in
        the plugin with dynamic shapes)."""
        compiled, keys = self.compile()
        values, self.moves = [], None
        for directory in self.model.inputs:
            if values and not self.steady:
                compiled, keys = self.compile()
            request = compiled.create_infer_request()
            got = answers(compiled, request, load(directory))
            if not values:
                again = answers(compiled, request, load(directory))
                self.steady = max(map(moved, again, got), default=0) < SCALE_TOL / 10
            values.append(dict(zip(keys, got)))
        self.values = values

    def allowed(self, key):
        """What the tensor may differ by where a last bit decides: four times what it moves by when the
        inputs change by up to 32 units in the last place."""
        if self.moves is None:
            self.moves = {}
            compiled, keys = self.compile()
            rng = np.random.default_rng(1)
            for directory, values in zip(self.model.inputs, self.values):
                request = compiled.create_infer_request()
                for _ in range(4):
                    for key_, x in zip(keys, answers(compiled, request, nearby(load(directory), rng))):
                        far = moved(x, values[key_]) * largest(values[key_])
                        self.moves[key_] = max(self.moves.get(key_, 0.0), far)
        return 4 * self.moves[key]

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


def answers(compiled, request, given):
    """Of one inference with variables at their initial values."""
    request.reset_state()
    request.infer({p: given[p.get_node().get_friendly_name()] for p in compiled.inputs})
    return [np.array(request.get_tensor(p).data) for p in compiled.outputs]


def nearby(given, rng):
    """Inputs with other last bits."""
    def near(x):
        if x.dtype.kind != "f":
            return x
        return (x * (1 + rng.integers(-32, 33, x.shape) * 2.0**-23)).astype(x.dtype)
    return {name: near(x) for name, x in given.items()}


def largest(x):
    x = np.abs(x[np.isfinite(x)].astype(np.float64))
    return x.max(initial=0) or 1.0


def moved(x, y):
    """Largest difference in units of y's scale; infinite for other shapes."""
    if x.shape != y.shape:
        return np.inf
    far = np.abs(x.astype(np.float64) - y.astype(np.float64))
    return np.nan_to_num(far).max(initial=0) / largest(y)


# ---- comparison ----

class Errors:
    """Of many tensors: the largest error in units of scale and of change, how many there were, how
    many were excused because OpenVINO's own answer turns on last bits, and what is wrong."""

    def __init__(self):
        self.worst, self.n, self.wrong = [0.0, 0.0], 0, []
        self.excused = []       # error of each in units of scale

    def add(self, name, have, want, other, allowed):
        """have: devrun's; want: OpenVINO's; other: OpenVINO's for the other input set; allowed(): what
        last bits change."""
        self.n += 1
        if have.shape != want.shape:
            if allowed() < np.inf:
                raise Wrong(f"'{name}' has shape {list(have.shape)} instead of {list(want.shape)}")
            self.excused.append(np.inf)
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
        if max(beyond) > 1 and error <= allowed():
            self.excused.append(parts[0])
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
    outer, inner = Errors(), Errors()
    for i, (outputs, across) in enumerate(got):
        expected, other = model.oracle.values[i], model.oracle.values[1 - i]
        names = {k for k in expected if isinstance(k, str)}
        if set(outputs) != names:
            raise Wrong(f"outputs {sorted(outputs)} instead of {sorted(names)}")
        found = [(outer, name, outputs[name]) for name in sorted(names)]
        found += [(inner, (f[1], int(f[3]), int(f[4])), x) for f, x in across]
        for errors, key, have in found:
            if key in expected:
                errors.add(key if isinstance(key, str) else key[0], have, expected[key], other[key],
                           functools.partial(model.oracle.allowed, key))
    return outer, inner
