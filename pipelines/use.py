"""use.py [INPUT.npy]... - run the placement beside this file in OpenVINO.  Inputs are the model's, in its order; ones without."""
import json, pathlib, sys
import numpy as np
import openvino as ov

here, core = pathlib.Path(__file__).resolve().parent, ov.Core()
affinity, model = json.loads((here / "affinity.json").read_text()), core.read_model(here / "model.xml")
here_are = {a.split(".")[0] for a in core.available_devices}
for name, d in affinity.items():     # what this machine lacks, its CPU plays
    affinity[name] = "CPU" if d.split(".")[0] in {"GPU", "NPU"} - here_are else d
inputs = [np.load(f) for f in sys.argv[1:]] or [
    np.ones([d.get_length() if d.is_static else 1 for d in p.partial_shape], p.element_type.to_dtype()) for p in model.inputs]
try:
    for op in model.get_ops():
        op.get_rt_info()["affinity"] = affinity[op.get_friendly_name()]
    outputs = list(core.compile_model(model, "HETERO:" + ",".join(sorted(set(affinity.values()))))(inputs).values())
except RuntimeError as e:     # it does not take some placements: the segments, one after another
    print("HETERO refuses:", str(e).strip().splitlines()[-1])
    index, made = json.loads((here / "segments/index.json").read_text()), {-1: inputs}
    for i, s in enumerate(index["segments"]):
        part = core.compile_model(core.read_model(here / "segments" / s["file"], here / "model.bin"), s["device"] if s["device"] in affinity.values() else "CPU")
        made[i] = list(part([made[x["segment"]][x["output"]] for x in s["inputs"]]).values())
    outputs = [made[x["segment"]][x["output"]] for x in index["outputs"]]
for port, value in zip(model.outputs, outputs):
    print(port.any_name if port.names else port.node.friendly_name, value.shape, value.ravel()[:4])
