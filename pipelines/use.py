"""use.py [INPUT.npy]... - run the placement beside this file in OpenVINO.  Inputs are the model's, in its order, and once more for
each further inference in a row (models with variables); ones without."""
import json, pathlib, sys
import numpy as np
import openvino as ov

here, core = pathlib.Path(__file__).resolve().parent, ov.Core()
affinity, model = json.loads((here / "affinity.json").read_text()), core.read_model(here / "model.xml")
here_are = {a.split(".")[0] for a in core.available_devices}
for name, d in affinity.items():     # what this machine lacks, its CPU plays
    affinity[name] = "CPU" if d.split(".")[0] in {"GPU", "NPU"} - here_are else d


def draw(port):     # of beams each is its own row
    dims = [d.get_length() if d.is_static else 1 for d in port.partial_shape]
    beam = "beam" in " ".join(port.names or {port.node.friendly_name}) and dims
    return (np.arange(dims[-1]) if beam else np.ones(dims)).astype(port.element_type.to_dtype())


def heterogeneous():     # a request keeps the model's variables; its reset_state() begins anew
    for op in model.get_ops():
        op.get_rt_info()["affinity"] = affinity[op.get_friendly_name()]
    request = core.compile_model(model, "HETERO:" + ",".join(sorted(set(affinity.values())))).create_infer_request()
    return lambda values: list(request.infer(values).values())


def segments():     # one after another
    index = json.loads((here / "segments/index.json").read_text())
    parts = [core.compile_model(core.read_model(here / "segments" / s["file"], here / "model.bin"),
                                s["device"] if s["device"] in affinity.values() else "CPU").create_infer_request()
             for s in index["segments"]]

    def run(values):
        made = {-1: values}
        for i, s in enumerate(index["segments"]):
            made[i] = list(parts[i].infer([made[x["segment"]][x["output"]] for x in s["inputs"]]).values())
        return [made[x["segment"]][x["output"]] for x in index["outputs"]]
    return run


files, n = sys.argv[1:], len(model.inputs)
if files and (n == 0 or len(files) % n):
    sys.exit("use.py: the model has %d inputs; that many files are wanted, or a multiple of it" % n)
steps = [[np.load(f) for f in files[i:i + n]] for i in range(0, len(files), n)] if files else [[draw(p) for p in model.inputs]]
if (any(op.get_type_name() == "ReadValue" and op.get_output_partial_shape(0).is_dynamic for op in model.get_ops())
        and not any(p.partial_shape.is_dynamic for p in model.inputs)):
    told = "variables grow, but the inputs' lengths are fixed here: right for the first inference after a reset only; the guide " \
           "(place a model: it has state) makes a pair with open lengths"
    if len(steps) > 1:
        sys.exit("use.py: " + told)
    print(told, file=sys.stderr)
try:
    run = heterogeneous()
    outputs = [run(values) for values in steps]
except RuntimeError as e:     # it does not take some placements
    print("HETERO refuses:", str(e).strip().splitlines()[-1])
    run = segments()
    outputs = [run(values) for values in steps]
for of_one in outputs:
    for port, value in zip(model.outputs, of_one):
        print(port.any_name if port.names else port.node.friendly_name, value.shape, value.ravel()[:4])
