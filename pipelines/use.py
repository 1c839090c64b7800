"""use.py [INPUT.npy]... - run the placement beside this file in OpenVINO.  Inputs are the model's, in its order, and once more for
each further inference in a row (models with variables, several shapes); ones without.  Of several placements (shapes.json) each
inference has the one that is the fastest with the shapes of its inputs."""
import json, pathlib, sys
import numpy as np
import openvino as ov
from openvino.passes import ConstantFolding, Manager

here, core = pathlib.Path(__file__).resolve().parent, ov.Core()
model = core.read_model(here / "model.xml")
table = json.loads((here / "shapes.json").read_text()) if (here / "shapes.json").exists() else None
here_are = {a.split(".")[0] for a in core.available_devices}


def draw(port, shape):     # of beams each is its own row
    dims = [1 if d is None or d < 0 else d for d in shape or []]
    beam = "beam" in " ".join(port.names or {port.node.friendly_name}) and dims
    return (np.arange(dims[-1]) if beam else np.ones(dims)).astype(port.element_type.to_dtype())


def choose(shapes):     # as a case, else by the sum of all dims
    size = sum(map(sum, shapes))
    return ([c for c in table["cases"] if c["inputs"] == shapes] or [r for r in table["ranges"] if size < r["to"]]
            or table["ranges"][-1:] or [table["otherwise"]])[0]


def load(shapes):     # the placement's folder, its affinities, and the model with these shapes
    number = choose(shapes)["placement"] if table else 1
    folder = here if number == 1 else here / f"placement.{number}"
    affinity, model = json.loads((folder / "affinity.json").read_text()), core.read_model(folder / "model.xml", here / "model.bin")
    for name, d in affinity.items():     # what this machine lacks, its CPU plays
        affinity[name] = "CPU" if d.split(".")[0] in {"GPU", "NPU"} - here_are else d
    if table:     # constants that OpenVINO makes of shapes are where they are read
        model.reshape(dict(enumerate(shapes)))
        fold = Manager()
        fold.register_pass(ConstantFolding())
        fold.run_passes(model)
        for op in model.get_ops():
            for reader in (i.get_node() for o in op.outputs() for i in o.get_target_inputs()):
                affinity.setdefault(op.get_friendly_name(), affinity.get(reader.get_friendly_name()))
    return folder, affinity, model


def heterogeneous(folder, affinity, model):     # a request keeps the model's variables; its reset_state() begins anew
    for op in model.get_ops():
        op.get_rt_info()["affinity"] = affinity[op.get_friendly_name()]
    request = core.compile_model(model, "HETERO:" + ",".join(sorted(set(affinity.values())))).create_infer_request()
    return [request], lambda values: list(request.infer(values).values())


def segments(folder, affinity, model):     # one after another
    index = json.loads((folder / "segments/index.json").read_text())
    parts = [core.compile_model(core.read_model(folder / "segments" / s["file"], here / "model.bin"),
                                s["device"] if s["device"] in affinity.values() else "CPU").create_infer_request()
             for s in index["segments"]]

    def run(values):
        made = {-1: values}
        for i, s in enumerate(index["segments"]):
            made[i] = list(parts[i].infer([made[x["segment"]][x["output"]] for x in s["inputs"]]).values())
        return [made[x["segment"]][x["output"]] for x in index["outputs"]]
    return parts, run


def infer(steps, how):     # variables go along from one placement to the next
    made, before, outputs = {}, [], []
    for values in steps:
        shapes = [list(v.shape) for v in values]
        key = str(shapes) if table else ""
        if key not in made:
            made[key] = how(*load(shapes))
        requests, run = made[key]
        states = {s.name: s.state for r in before for s in r.query_state()} if requests is not before else {}
        for s in (s for r in requests for s in r.query_state() if s.name in states):
            s.state = states[s.name]
        before = requests
        outputs.append(run(values))
    return outputs


files, n = sys.argv[1:], len(model.inputs)
if files and (n == 0 or len(files) % n):
    sys.exit("use.py: the model has %d inputs; that many files are wanted, or a multiple of it" % n)
first = table["cases"][0]["inputs"] if table else [[d.get_length() if d.is_static else 1 for d in p.partial_shape] for p in model.inputs]
steps = [[np.load(f) for f in files[i:i + n]] for i in range(0, len(files), n)] if files else [list(map(draw, model.inputs, first))]
if (any(op.get_type_name() == "ReadValue" and op.get_output_partial_shape(0).is_dynamic for op in model.get_ops())
        and not any(p.partial_shape.is_dynamic for p in model.inputs)):
    told = "variables grow, but the inputs' lengths are fixed here: right for the first inference after a reset only; the guide " \
           "(place a model: it has state) makes a pair with open lengths"
    if len(steps) > 1:
        sys.exit("use.py: " + told)
    print(told, file=sys.stderr)
try:
    outputs = infer(steps, heterogeneous)
except RuntimeError as e:     # it does not take some placements
    print("HETERO refuses:", str(e).strip().splitlines()[-1])
    outputs = infer(steps, segments)
for values, of_one in zip(steps, outputs):
    if table:
        c = choose([list(v.shape) for v in values])
        print("%s: placement %d (%s)" % (";".join(str(list(v.shape)) for v in values), c["placement"], c["by"]))
    for port, value in zip(model.outputs, of_one):
        print(port.any_name if port.names else port.node.friendly_name, value.shape, value.ravel()[:4])
