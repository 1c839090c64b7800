#!/usr/bin/env python3
"""Compile a model in OpenVINO as a placement says, and time it.

usage: apply_affinity.py MODEL.xml PLACEMENT.json

PLACEMENT.json is what `placeout --format affinity --map cpu=CPU,cl:0.0=GPU` writes: {friendly
name: device}.  To use it in a program of your own, copy `compile_placed`."""
import json, sys, time
import numpy as np
import openvino as ov


def compile_placed(core, model, affinity, config={}):
    """A CompiledModel of `model` whose operations run where affinity[friendly name] says."""
    for op in model.get_ops():
        op.get_rt_info()["affinity"] = affinity[op.get_friendly_name()]
    devices = sorted(set(affinity.values()))
    return core.compile_model(model, "HETERO:" + ",".join(devices), config)


def main(xml, placement):
    core = ov.Core()
    with open(placement) as f:
        affinity = json.load(f)
    compiled = compile_placed(core, core.read_model(xml), affinity)
    inputs = [np.zeros(list(p.get_shape()), p.get_element_type().to_dtype())
              for p in compiled.inputs]
    times = []
    for _ in range(10):
        start = time.perf_counter()
        compiled(inputs)
        times.append(1e3 * (time.perf_counter() - start))
    print("%d subgraphs, median of 10: %.3f ms"
          % (compiled.get_property("HETERO_NUMBER_OF_SUBMODELS"), sorted(times)[5]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
