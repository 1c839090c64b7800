"""affinity.py MODEL.xml PLACEMENT.json - does OpenVINO take the placement?

Compiles the model for the devices CPU and CPUB, which are both the CPU plugin, split as the
placement says, and compares its outputs with those of the whole model on CPU.  Prints the number
of subgraphs and the largest difference relative to the outputs' scale."""
import json, sys
import numpy as np
import openvino as ov


def compile_placed(core, model, affinity, config):
    for op in model.get_ops():
        op.get_rt_info()["affinity"] = affinity[op.get_friendly_name()]
    return core.compile_model(model, "HETERO:" + ",".join(sorted(set(affinity.values()))), config)


xml, placement = sys.argv[1:]
core = ov.Core()
core.register_plugin("openvino_intel_cpu_plugin", "CPUB")
exact = {"INFERENCE_PRECISION_HINT": "f32"}
whole = core.compile_model(core.read_model(xml), "CPU", exact)
with open(placement) as f:
    affinity = json.load(f)
parts = compile_placed(core, core.read_model(xml), affinity, {"DEVICE_PROPERTIES": {"CPU": exact, "CPUB": exact}})

rng = np.random.default_rng(1)
def random_input(port):
    shape, dtype = list(port.get_shape()), port.get_element_type().to_dtype()
    return rng.integers(0, 50, shape).astype(dtype) if dtype.kind in "iu" else rng.standard_normal(shape).astype(dtype)

inputs = {p.get_any_name(): random_input(p) for p in whole.inputs}
want, got = whole(inputs), parts(inputs)
worst = max(float(np.abs(w - g).max() / max(np.abs(w).max(), 1e-30)) for w, g in zip(want.values(), got.values()))
print("subgraphs", parts.get_property("HETERO_NUMBER_OF_SUBMODELS"))
print("difference %.3g" % worst)
sys.exit(not (parts.get_property("HETERO_NUMBER_OF_SUBMODELS") >= 2 and worst <= 1e-4))
